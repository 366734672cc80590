"""What a split looks like: how large the workers are and how unlike their labels."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tether.arrays import Array, Indices
from tether.splits.inputs import coded, index_arrays

_SHOWN_CLASSES = 12  # a table with more classes than this tells only how many each worker holds


class Description(NamedTuple):
    """How large the workers are and how unlike their labels; ``print`` shows it as a table.

    Attributes
    ----------
    sizes : ndarray of shape (n_workers,)
        Samples of each worker.
    labels : ndarray of shape (n_classes,) or None
        The distinct labels in sorted order; None without y, like all that follows.
    counts : ndarray of shape (n_workers, n_classes) or None
        Samples of each worker with each label.
    distances : ndarray of shape (n_workers,) or None
        Total variation between the label distribution of a worker and that of all workers together: 0 means
        the same mixture, 1 nothing in common.
    """

    sizes: Indices
    labels: NDArray[Any] | None = None
    counts: Indices | None = None
    distances: Array | None = None

    def __str__(self) -> str:
        columns: list[list[Any]] = [
            ["worker", *range(len(self.sizes)), "all"],
            ["samples", *self.sizes, self.sizes.sum()],
        ]
        if self.labels is not None and self.counts is not None and self.distances is not None:
            columns.append(["distance", *(f"{distance:.3f}" for distance in self.distances), ""])
            table = np.vstack([self.counts, self.counts.sum(axis=0)])
            if len(self.labels) > _SHOWN_CLASSES:
                columns.append(["classes", *np.count_nonzero(table, axis=1)])
            else:
                columns += [[label, *column] for label, column in zip(self.labels, table.T, strict=True)]
        return _aligned(columns)


def describe(parts: Iterable[ArrayLike], y: ArrayLike | None = None) -> Description:
    """Tell how large the workers are and, given the labels, how far each is from the common mixture.

    Parameters
    ----------
    parts : list of index arrays
        The samples of each worker, from a function of this module or your own.
    y : array-like of shape (n_samples,), optional
        The labels of all samples.

    Returns
    -------
    Description

    Examples
    --------
    >>> y = ["cat", "dog", "cat", "dog", "cat", "cat"]
    >>> print(describe([[0, 1, 2, 3], [4, 5]], y))
    worker  samples  distance  cat  dog
         0        4     0.167    2    2
         1        2     0.333    2    0
       all        6              4    2
    """
    groups = index_arrays(parts)
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    if y is None:
        return Description(sizes)
    labels, codes = coded("y", y)
    _require_inside(groups, len(codes))
    counts = np.array([np.bincount(codes[group], minlength=len(labels)) for group in groups])
    overall = counts.sum(axis=0) / sizes.sum()
    distances = np.abs(counts / sizes[:, None] - overall).sum(axis=1) / 2
    return Description(sizes, labels, counts, distances)


def _require_inside(groups: list[Indices], n_samples: int) -> None:
    for k, group in enumerate(groups):
        for wrong in group[(group < 0) | (group >= n_samples)]:
            raise ValueError(
                f"parts[{k}] holds {wrong} but y has {n_samples} samples; pass the y that was divided."
            )


def _aligned(columns: list[list[Any]]) -> str:
    texts = [[str(cell) for cell in column] for column in columns]
    padded = [[text.rjust(max(map(len, column))) for text in column] for column in texts]
    return "\n".join("  ".join(row).rstrip() for row in zip(*padded, strict=True))
