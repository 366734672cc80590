"""From files to an objective: rows, target, weights, and the names of coefficients."""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tether.cli.solve.classes import Classes, classes_of
from tether.cli.solve.ranks import Ranks
from tether.io import Choice, Data, Facts, columns_in, read_data, read_vector
from tether.io.formats import Format, format_of
from tether.names import Names, nearest
from tether.objectives import GLM


class Model(NamedTuple):
    """An objective, and what its target was made of."""

    objective: GLM
    columns: Names
    rows: int  # of all processes
    classes: Classes | None

    @property
    def intercepts(self) -> int:
        """How many of the last coefficients are intercepts."""
        return self.objective.n_outputs if self.objective.fit_intercept else 0

    @property
    def labels(self) -> Names:
        """What the coefficients are called."""
        labels = self.objective.labels
        return tuple(map(labels.at, range(labels.size)))


class Part(NamedTuple):
    """The rows of this process among all."""

    data: Data
    first: int
    total: int


def read_model(options: argparse.Namespace, ranks: Ranks) -> Model:
    """Return the objective of this process's rows."""
    aside = ranks.all_do(lambda: _columns_aside(options))
    part = _part(options, ranks, Choice(aside, options.columns or (), options.drop))
    target = ranks.all_do(lambda: _vector(options.target, "--target", "y", part, texts=True))
    if target is None:
        target = ranks.all_do(lambda: _own_target(options, part.data))
    classes = classes_of(target, options.loss, ranks)
    weights = ranks.all_do(lambda: _weights(options, part))
    offset = ranks.all_do(lambda: _vector(options.offset, "--offset", "offset", part))
    columns = ranks.all_do(lambda: _names(options, part.data))
    objective = ranks.all_do(
        lambda: _objective(options, part.data, _Given(target, weights, offset, classes, columns))
    )
    return Model(objective, columns, part.total, classes)


def _columns_aside(options: argparse.Namespace) -> tuple[str, ...]:
    """Return which of target, weights and offset are columns of the data; the others must be files."""
    held = columns_in(options.data)
    if options.target is None and format_of(options.data) in (Format.CSV, Format.PARQUET):
        raise ValueError(f"--target is missing: which column of {options.data} is y, or which file holds it.")
    named = {"--target": options.target, "--weights": options.weights, "--offset": options.offset}
    for option, name in named.items():
        if name is not None and name not in held and not Path(name).is_file():
            words = f"; {nearest(name, held)}" if held else ""
            raise ValueError(f"{option} {name} is neither a column of {options.data} nor a file{words}.")
    return tuple(dict.fromkeys(name for name in named.values() if name in held))


def _part(options: argparse.Namespace, ranks: Ranks, choice: Choice) -> Part:
    data = ranks.all_do(lambda: read_data(options.data, choice, ranks.share))
    own = data.facts
    heard = ranks.hear([own.rows, own.width, own.lowest, sorted(own.numeric)])
    facts = [Facts(rows, width, lowest, frozenset(numeric)) for rows, width, lowest, numeric in heard]
    rows = [one.rows for one in facts]
    return Part(data.among(facts), sum(rows[: ranks.share.number]), sum(rows))


def _vector(
    name: str | None, option: str, key: str, part: Part, *, texts: bool = False
) -> NDArray[Any] | None:
    """Return this process's entries of a column or of a file; None if none is named."""
    if name is None:
        return None
    if name in part.data.columns:
        found = part.data.columns[name]
        if found.dtype.kind not in "biuf" and not texts:
            raise ValueError(f"{option} {name} holds texts such as {str(found[0])!r}; numbers are needed.")
        return found
    found = read_vector(name, key, texts=texts)
    if len(found) != part.total:
        raise ValueError(f"{option} {name} has {len(found)} entries, the data has {part.total} rows.")
    return found[part.first : part.first + part.data.X.shape[0]]


def _weights(options: argparse.Namespace, part: Part) -> NDArray[Any] | None:
    found = _vector(options.weights, "--weights", "weights", part)
    if found is not None and not (np.isfinite(found).all() and found.min() >= 0.0 and found.max() > 0.0):
        low, high = found.min(), found.max()  # both are NaN where one entry is
        got = "NaN" if np.isnan(low) else f"some from {low:g} to {high:g}"
        raise ValueError(f"--weights must be finite numbers >= 0 and not all 0, got {got}.")
    return found


def _own_target(options: argparse.Namespace, data: Data) -> NDArray[Any]:
    if data.y is None:
        raise ValueError(
            f"--target is missing: {options.data} does not say what y is; give a file that does."
        )
    return data.y


def _names(options: argparse.Namespace, data: Data) -> Names:
    width = data.X.shape[1]
    if options.names is None:
        return data.names or tuple(f"x{j}" for j in range(1, width + 1))
    if Path(options.names).is_file():
        given = tuple(map(str, read_vector(options.names, "names", texts=True)))
    else:
        given = tuple(name.strip() for name in options.names.split(","))
    if len(given) != width:
        raise ValueError(f"--names gives {len(given)} names, the data has {width} columns.")
    for place, name in enumerate(given):
        if name in given[:place]:
            raise ValueError(f"--names gives {name!r} to more than one column; rename one of them.")
    return given


class _Given(NamedTuple):
    """What an objective is made of, beside the rows."""

    target: NDArray[Any]
    weights: NDArray[Any] | None
    offset: NDArray[Any] | None
    classes: Classes | None
    columns: Names


def _ridge(options: argparse.Namespace, width: int) -> Any:
    """Return the weight of the ridge; an intercept has none."""
    if not options.intercept or options.l2 <= 0.0:
        return options.l2
    return np.append(np.full(width, options.l2), 0.0)


def _objective(options: argparse.Namespace, data: Data, given: _Given) -> GLM:
    classes = given.classes if options.loss == "multinomial" else None
    objective = GLM(
        data.X,
        given.target if given.classes is None else given.classes.numbers(given.target),
        options.loss,
        l2=_ridge(options, data.X.shape[1]),
        fit_intercept=options.intercept,
        sample_weight=given.weights,
        offset=given.offset,
        n_classes=None if classes is None else len(classes.values),
    )
    return objective.with_names(given.columns, None if classes is None else classes.labels)
