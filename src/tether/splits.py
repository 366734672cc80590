"""Who holds which sample: ways to divide a data set over the workers of a federation.

A split is at heart one vector, the owner of each sample. It is returned as a list of index arrays, one a
worker: sorted, disjoint, none empty, together all samples. So ``X[part], y[part]`` is a worker's data. The
same arguments and seed give the same split.
"""

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tether.objectives.inputs import positive_integer
from tether.objectives.walk import Array, Indices

__all__ = ["Description", "by_column", "by_label", "describe", "dirichlet", "iid"]

_SHOWN = 12  # a table with more classes than this tells only how many each worker holds
_EVEN = 1e100  # shares drawn with a larger alpha are equal to the last bit; its multiples could overflow


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
            if len(self.labels) > _SHOWN:
                columns.append(["classes", *np.count_nonzero(table, axis=1)])
            else:
                columns += [[label, *column] for label, column in zip(self.labels, table.T, strict=True)]
        return _aligned(columns)


def iid(n_samples: int, n_workers: int, seed: int = 0) -> list[Indices]:
    """Deal the samples out at random; the sizes differ by at most one.

    Parameters
    ----------
    n_samples : int
        N.
    n_workers : int
        n, at most N.
    seed : int
        Seed of the shuffle.

    Examples
    --------
    >>> [len(part) for part in iid(10, 4)]
    [3, 3, 2, 2]
    """
    n_samples = positive_integer("n_samples", n_samples)
    n_workers, rng = _workers(n_workers, n_samples), _generator(seed)
    return _parts(rng.permutation(np.arange(n_samples) % n_workers), n_workers)


def by_label(y: ArrayLike, n_workers: int, classes_each: int | None = None, seed: int = 0) -> list[Indices]:
    """Give each worker samples of few classes.

    Without ``classes_each`` the samples are sorted by label and cut into n pieces of equal size, up to one
    sample. With it no worker sees more than that many classes: larger classes are cut into more pieces, and
    the pieces of a class go to different workers, drawn among those that hold the fewest classes.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The labels, numbers or strings.
    n_workers : int
        n, at most the number of samples.
    classes_each : int, optional
        The most classes a worker may see; n times this must not be below the number of classes.
    seed : int
        Seed of the shuffles inside the classes and of the draw of the workers.

    References
    ----------
    McMahan et al., Communication-efficient learning of deep networks from decentralized data, 2017.

    Examples
    --------
    >>> y = ["cat", "dog", "cat", "dog", "dog", "cat"]
    >>> [part.tolist() for part in by_label(y, 2)]
    [[0, 2, 5], [1, 3, 4]]
    """
    labels, codes = _labels("y", y)
    n_workers, rng = _workers(n_workers, len(codes)), _generator(seed)
    members = [rng.permutation(group) for group in _parts(codes, len(labels))]
    if classes_each is None:
        owner = np.empty_like(codes)
        owner[np.concatenate(members)] = np.arange(len(codes)) * n_workers // len(codes)
    else:
        owner = _few_classes(members, n_workers, positive_integer("classes_each", classes_each), rng)
    return _parts(owner, n_workers)


def dirichlet(y: ArrayLike, n_workers: int, alpha: float, seed: int = 0) -> list[Indices]:
    """Divide every class by shares drawn from a Dirichlet distribution.

    A worker gets its share of a class rounded down or up, at random and right on average. A small alpha
    can leave workers without any sample: each then takes one, at random, from the worker that has the most.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The labels, numbers or strings; put a continuous y into bins first.
    n_workers : int
        n, at most the number of samples.
    alpha : float
        The concentration, above 0: near 0 a class belongs to a single worker, 1 draws uniformly among all
        shares, large values give everyone the same mixture.
    seed : int
        Seed of the shares and of the shuffles inside the classes.

    References
    ----------
    Yurochkin et al., Bayesian nonparametric federated learning of neural networks, 2019.

    Examples
    --------
    >>> y = np.repeat([0, 1], 50)
    >>> describe(dirichlet(y, 5, alpha=1e6), y).counts.tolist()
    [[10, 10], [10, 10], [10, 10], [10, 10], [10, 10]]
    """
    labels, codes = _labels("y", y)
    n_workers, rng = _workers(n_workers, len(codes)), _generator(seed)
    concentration = np.full(n_workers, _concentration(alpha))
    owner = np.empty_like(codes)
    for group in _parts(codes, len(labels)):
        counts = _rounded(rng.dirichlet(concentration) * len(group), len(group), rng)
        owner[rng.permutation(group)] = np.repeat(np.arange(n_workers), counts)
    _feed_the_empty(owner, n_workers, rng)
    return _parts(owner, n_workers)


def by_column(column: ArrayLike) -> list[Indices]:
    """Make one worker of each distinct value: a hospital, a device, a user.

    Parameters
    ----------
    column : array-like of shape (n_samples,)
        Where each sample comes from, numbers or strings.

    Returns
    -------
    list of ndarray
        One index array a value, in sorted order: ``np.unique(column)`` names the workers.

    Examples
    --------
    >>> hospital = ["Oslo", "Bern", "Oslo", "Lima"]
    >>> for name, part in zip(np.unique(hospital), by_column(hospital)):
    ...     print(name, part)
    Bern [1]
    Lima [3]
    Oslo [0 2]
    """
    values, codes = _labels("column", column)
    return _parts(codes, len(values))


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
    groups = _indices(parts)
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    if y is None:
        return Description(sizes)
    labels, codes = _labels("y", y)
    _require_inside(groups, len(codes))
    counts = np.array([np.bincount(codes[group], minlength=len(labels)) for group in groups])
    overall = counts.sum(axis=0) / sizes.sum()
    distances = np.abs(counts / sizes[:, None] - overall).sum(axis=1) / 2
    return Description(sizes, labels, counts, distances)


def _parts(owner: Indices, n_workers: int) -> list[Indices]:
    """Return the samples of each owner; the stable sort leaves them in order."""
    sizes = np.bincount(owner, minlength=n_workers)
    return np.split(np.argsort(owner, kind="stable"), np.cumsum(sizes)[:-1])


def _few_classes(
    members: list[Indices], n_workers: int, classes_each: int, rng: np.random.Generator
) -> Indices:
    """Hand the pieces of each class to the workers with the fewest classes, so their numbers stay level."""
    sizes = np.array([len(group) for group in members])
    pieces = _pieces(sizes, n_workers, classes_each)
    owner = np.empty(sizes.sum(), dtype=np.int64)
    load = np.zeros(n_workers, dtype=np.int64)
    for k in rng.permutation(len(members)):
        chosen = np.lexsort((rng.random(n_workers), load))[: pieces[k]]
        load[chosen] += 1
        owner[members[k]] = np.resize(chosen, sizes[k])
    return owner


def _pieces(sizes: Indices, n_workers: int, classes_each: int) -> Indices:
    """Return into how many pieces each class is cut: again and again the one with the largest pieces."""
    if len(sizes) > n_workers * classes_each:
        needed = math.ceil(len(sizes) / n_workers)
        raise ValueError(
            f"classes_each must be at least {needed} to place {len(sizes)} classes on {n_workers} workers, "
            f"got {classes_each}; raise it or use more workers."
        )
    most = np.minimum(sizes, n_workers)
    pieces = np.ones_like(sizes)
    for _ in range(min(n_workers * classes_each, most.sum()) - len(sizes)):
        pieces[np.argmax(np.where(pieces < most, sizes / pieces, 0.0))] += 1
    return pieces


def _rounded(shares: Array, total: int, rng: np.random.Generator) -> Indices:
    """Round shares down or up so that they keep their sum; the common random offset keeps their means."""
    ends = np.minimum(np.floor(np.cumsum(shares[:-1]) + rng.random()), total)
    return np.diff(ends, prepend=0, append=total).astype(np.int64)


def _feed_the_empty(owner: Indices, n_workers: int, rng: np.random.Generator) -> None:
    sizes = np.bincount(owner, minlength=n_workers)
    for worker in np.flatnonzero(sizes == 0):
        largest = np.argmax(sizes)
        owner[rng.choice(np.flatnonzero(owner == largest))] = worker
        sizes[largest] -= 1


def _aligned(columns: list[list[Any]]) -> str:
    texts = [[str(cell) for cell in column] for column in columns]
    padded = [[text.rjust(max(map(len, column))) for text in column] for column in texts]
    return "\n".join("  ".join(row).rstrip() for row in zip(*padded, strict=True))


def _workers(n_workers: int, n_samples: int) -> int:
    n_workers = positive_integer("n_workers", n_workers)
    if n_workers > n_samples:
        raise ValueError(
            f"n_workers must not exceed the number of samples, "
            f"got {n_workers} workers for {n_samples} samples; use fewer workers."
        )
    return n_workers


def _generator(seed: int) -> np.random.Generator:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed must be a whole number of at least 0, got {seed!r}.")
    return np.random.default_rng(seed)


def _concentration(alpha: Any) -> float:
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0 < float(alpha) < math.inf:
        raise ValueError(f"alpha must be a finite number above 0, got {alpha!r}; try 0.5.")
    return min(float(alpha), _EVEN)


def _labels(name: str, value: Any) -> tuple[NDArray[Any], Indices]:
    """Return the distinct values in sorted order and, for each sample, the number of its value."""
    array = _array(name, value)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}; pass a single column.")
    if not len(array):
        raise ValueError(f"{name} must hold one value a sample, got none; pass at least one sample.")
    for i, entry in enumerate(value.tolist() if hasattr(value, "tolist") else value):
        if _is_missing(entry):
            raise ValueError(f"{name}[{i}] is missing ({entry}); drop the sample or fill in a value.")
    try:
        labels, codes = np.unique(array, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"{name} mixes kinds that have no order; convert it to strings.") from error
    return labels, codes


def _array(name: str, value: Any) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be an array of single values, got rows of unequal length.") from error


def _is_missing(entry: Any) -> bool:
    try:
        return entry is None or bool(entry != entry)
    except TypeError:  # pandas.NA answers neither yes nor no
        return True


def _indices(parts: Any) -> list[Indices]:
    if not isinstance(parts, Iterable):
        raise ValueError(f"parts must be a list of index arrays, one a worker, got {parts!r}.")
    groups = [_array(f"parts[{k}]", part) for k, part in enumerate(parts)]
    if not groups:
        raise ValueError("parts must hold at least one worker's index array, got none.")
    for k, group in enumerate(groups):
        if group.ndim != 1 or not group.size or group.dtype.kind not in "iu":
            raise ValueError(
                f"parts[{k}] must be a one-dimensional, non-empty array of sample numbers, "
                f"got shape {group.shape} of {group.dtype}; pass one index array a worker."
            )
    return groups


def _require_inside(groups: list[Indices], n_samples: int) -> None:
    for k, group in enumerate(groups):
        for wrong in group[(group < 0) | (group >= n_samples)]:
            raise ValueError(
                f"parts[{k}] holds {wrong} but y has {n_samples} samples; pass the y that was divided."
            )
