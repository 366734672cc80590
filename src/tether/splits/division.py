"""The ways to divide: at random, by label, by shares of each label, by a column."""

import math

import numpy as np
from numpy.typing import ArrayLike

from tether.arrays import Array, Indices
from tether.inputs import number, positive_integer
from tether.splits.inputs import coded, generator, number_of_workers

_LARGEST_ALPHA = (
    1e100  # shares drawn with a larger alpha are equal to the last bit; its multiples could overflow
)


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
    n_workers, rng = number_of_workers(n_workers, n_samples), generator(seed)
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
    labels, codes = coded("y", y)
    n_workers, rng = number_of_workers(n_workers, len(codes)), generator(seed)
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
    >>> from tether.splits import describe, dirichlet
    >>> y = np.repeat([0, 1], 50)
    >>> describe(dirichlet(y, 5, alpha=1e6), y).counts.tolist()
    [[10, 10], [10, 10], [10, 10], [10, 10], [10, 10]]
    """
    labels, codes = coded("y", y)
    n_workers, rng = number_of_workers(n_workers, len(codes)), generator(seed)
    concentration = np.full(n_workers, min(number("alpha", alpha, above=0.0), _LARGEST_ALPHA))
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
    values, codes = coded("column", column)
    return _parts(codes, len(values))


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
