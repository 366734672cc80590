"""Which rows of a matrix are multiples of each other.

Rows are brought to the same length and sign, and multiplied with one random vector: parallel rows have the
same product, so that they stand side by side once products are sorted. Each is then compared with the first
of its kind, entry by entry.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from tether.arrays import Array, Indices

SAME_ENTRY = 1e-15  # difference of entries, at most 1, of rows that count as parallel
SAME_PRODUCT = 1e-13  # the same of products, of which many more numbers are sums
PROBE_SEED = 0


class Parallels(NamedTuple):
    """Row i is scale[i] times row leader[i], which is the first of its kind: its own leader, with scale 1."""

    leader: Indices
    scale: Array


def parallels(matrix: sparse.csr_array) -> Parallels:
    """Return the first row that each row is a multiple of; rows must not be empty."""
    count = matrix.shape[0]
    plain = Parallels(np.arange(count), np.ones(count))
    if count <= 1:
        return plain
    pivot = _pivots(matrix)
    unit = sparse.csr_array(sparse.diags_array(1.0 / pivot) @ matrix)
    leader = _checked(unit, _candidates(unit))
    return Parallels(leader, np.where(leader == plain.leader, 1.0, pivot / pivot[leader]))


def _pivots(matrix: sparse.csr_array) -> Array:
    """Return the largest entry of each row with the sign of its first."""
    starts = matrix.indptr[:-1]
    return np.maximum.reduceat(np.abs(matrix.data), starts) * np.sign(matrix.data[starts])


def _candidates(unit: sparse.csr_array) -> Indices:
    """Return for each row the first one whose product with a random vector is the same, or nearly so."""
    probe = np.random.default_rng(PROBE_SEED).standard_normal(unit.shape[1])
    product, width = unit @ probe, abs(unit) @ np.abs(probe)
    order = np.argsort(product, kind="stable")
    apart = np.diff(product[order]) > SAME_PRODUCT * width[order][1:]
    run = np.concatenate([[0], np.cumsum(apart)])
    first = np.full(run[-1] + 1, len(order))
    np.minimum.at(first, run, order)
    leader = np.empty_like(order)
    leader[order] = first[run]
    return leader


def _checked(unit: sparse.csr_array, leader: Indices) -> Indices:
    """Return leaders, of which those that differ from their row are dropped."""
    followers = np.flatnonzero(leader != np.arange(len(leader)))
    if len(followers) == 0:
        return leader
    difference = abs(unit[followers] - unit[leader[followers]])
    far = followers[difference.max(axis=1).toarray().ravel() > SAME_ENTRY]
    leader[far] = far
    return leader
