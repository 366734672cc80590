"""Targets that name a class: which classes there are among all processes, and their numbers."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tether.cli.solve.ranks import Ranks

OF_CLASSES = ("logistic", "multinomial")  # losses whose target names a class
MOST_CLASSES = 1_000  # a target with more values is a measurement
SHOWN_CLASSES = 5


class Classes(NamedTuple):
    """The values of a target in their order: numbers, or texts."""

    values: tuple[Any, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """What they are called."""
        return tuple(value if isinstance(value, str) else f"{value:.12g}" for value in self.values)

    def numbers(self, target: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of the class of each row."""
        return np.searchsorted(np.array(self.values), target).astype(np.int64)


def classes_of(target: NDArray[Any], loss: str, ranks: Ranks) -> Classes | None:
    """Return the classes of all rows for a loss of classes; None for others, which need numbers."""
    if loss not in OF_CLASSES:
        ranks.all_do(lambda: _require_numbers(target, loss))
        return None
    own = ranks.all_do(lambda: _values(target, loss))
    found = Classes(tuple(sorted(set[Any]().union(*ranks.hear(own)))))
    ranks.all_do(lambda: _require_enough(found, loss))
    return found


def _require_numbers(target: NDArray[Any], loss: str) -> None:
    if target.dtype.kind not in "biuf":
        raise ValueError(
            f"the target holds texts such as {str(target[0])!r}, --loss {loss} needs numbers; use --loss "
            "logistic or multinomial for classes."
        )


def _values(target: NDArray[Any], loss: str) -> list[Any]:
    if target.dtype.kind == "f" and not np.isfinite(target).all():
        row = int(np.flatnonzero(~np.isfinite(target))[0])
        raise ValueError(f"the target has no value in row {row + 1}; impute it or leave out the row.")
    found: list[Any] = np.unique(target).tolist()
    if len(found) > MOST_CLASSES:
        raise ValueError(
            f"the target has {len(found)} different values, too many for the classes of --loss {loss}; use "
            "--loss squared, huber or poisson for measurements and counts."
        )
    return found


def _require_enough(found: Classes, loss: str) -> None:
    labels = found.labels
    shown = ", ".join(labels[:SHOWN_CLASSES]) + (", ..." if len(labels) > SHOWN_CLASSES else "")
    if len(labels) < 2:
        raise ValueError(f"the target is always {shown}; --loss {loss} needs two classes at least.")
    if loss == "logistic" and len(labels) > 2:
        raise ValueError(
            f"the target has {len(labels)} classes ({shown}), --loss logistic takes two; use --loss "
            "multinomial."
        )
