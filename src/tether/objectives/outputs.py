"""Second derivatives of linear models with several outputs.

Each sample has a K x K matrix B_i of second derivatives, and the Hessian over W.ravel() is the sum of
(a_i a_i^T) (x) B_i. Where the entries of B_i are -u_k u_l, with such a diagonal that rows sum to 0, as those
of the multinomial loss are, all that is not on the diagonal is one product of the matrix with the rows
u_i (x) a_i, whatever K is, and the rest follows from it, with nothing that cancels.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from tether import threads
from tether.arrays import Array, Indices
from tether.curvature import packed, unpacked
from tether.objectives.gram import BLAS_WIDTH, Summed, gram_triangle, is_sparse

if TYPE_CHECKING:
    from tether.objectives.glm_curvature import Predicted

_BLOCK_NUMBERS = 1 << 21  # of the K x K matrices of samples that are looked at together
_ROWS_NUMBERS = 1 << 20  # of the rows u_i (x) a_i that are made together
_CAPPED = 4  # times that what is more than certain is shared among the others
_FEWEST_ROWS = 256  # of them that are made together


def in_full(here: "Predicted") -> Array:
    """Return the triangle of the Hessian over W.ravel(), without a ridge."""
    mixed = None if is_sparse(here.model.design) else here.mixed()
    hessian = _by_pairs(here) if mixed is None else _by_rows(here, mixed)
    return packed(hessian)


def as_product(here: "Predicted") -> tuple[Array, Array]:
    """Return the triangle of the sum of trace(B_i) a_i a_i^T, and the sum of the B_i."""
    mixed = here.mixed()
    traces, outputs = _by_blocks(here) if mixed is None else _by_mixed(here, mixed)
    return here.triangle(traces), outputs


def drawn_by_curvature(here: "Predicted", count: int, start: float) -> tuple[Indices, Array]:
    """Draw about so many samples, each as likely as the trace of its B_i is large, and one over how likely.

    Sums over these with these factors have the right expectation, and all have terms that are about as large.
    The samples stand in a row, each as long as it is likely; those are drawn in which ``start`` plus an
    integer falls (Madow 1949).
    """
    likely = np.maximum(here.curvatures().sum(axis=1), 0.0)
    for _ in range(_CAPPED):
        total = float(likely.sum())
        if not 0.0 < total < math.inf:
            return np.arange(len(likely)), np.ones(len(likely))
        likely = np.minimum(likely * (count / total), 1.0)
    ends = np.cumsum(likely) + start
    drawn = np.flatnonzero(np.floor(ends) > np.floor(np.concatenate([[start], ends[:-1]])))
    return drawn, 1.0 / likely[drawn]


def _by_mixed(some: "Predicted", mixed: Array) -> tuple[Array, Array]:
    """Return the traces, and the sum of all matrices, whose rows sum to 0."""
    outputs = -(mixed.T @ mixed)
    np.fill_diagonal(outputs, 0.0)
    np.fill_diagonal(outputs, -outputs.sum(axis=0))
    return some.curvatures().sum(axis=1), outputs


def _by_blocks(some: "Predicted") -> tuple[Array, Array]:
    """Return the traces, and the sum of all matrices, from the matrices."""
    k = some.model.n_outputs
    outputs, traces = np.zeros((k, k)), np.empty(len(some.z))
    for begin, end in _pieces(some):
        blocks = some.blocks(begin, end)
        outputs += blocks.sum(axis=0)
        traces[begin:end] = np.einsum("nkk->n", blocks)
    return traces, outputs


def _by_pairs(here: "Predicted") -> Array:
    """Return the Hessian: for every pair of outputs one sum over the rows."""
    model, k, d = here.model, here.model.n_outputs, here.model.design.width
    hessian = np.zeros((d, k, d, k))
    for begin, end in _pieces(here):
        blocks = here.blocks(begin, end)
        for one in range(k):
            for other in range(one + 1):
                factors = np.ascontiguousarray(blocks[:, one, other])
                some = Summed(model.design, here.rows(begin, end), factors)
                pair = unpacked(gram_triangle(some, compiled=model.compiled))
                hessian[:, one, :, other] += pair
                if other < one:
                    hessian[:, other, :, one] += pair
    return hessian.reshape(d * k, d * k)


def _by_rows(here: "Predicted", mixed: Array) -> Array:
    """Return the Hessian: the blocks of two outputs by one product, the others because all sum to 0."""
    k, d, n = here.model.n_outputs, here.model.design.width, len(here.z)
    step = max(_FEWEST_ROWS, _ROWS_NUMBERS // (k * d))

    def work(_: int, first: int, last: int) -> Array:
        """Sum the products of u_i (x) a_i with itself over a range."""
        total, room = np.zeros((k * d, k * d)), np.empty((min(step, last - first), k, d))
        for begin in range(first, last, step):
            end = min(begin + step, last)
            rows, u = here.model.design.block(here.rows(begin, end)), mixed[begin:end]
            beside = np.multiply(u[:, :, None], rows[:, None, :], out=room[: end - begin])
            flat = beside.reshape(end - begin, k * d)
            total += flat.T @ flat
        return total

    if k * d >= BLAS_WIDTH and not threads.all_taken():  # one sum, which takes memory, by all threads
        with threads.all_blas_threads():
            products = work(0, 0, n).reshape(k, d, k, d)
    else:
        with threads.one_blas_thread():
            sums = threads.share(work, n, max(1, min(threads.CORES, n // step)))
        products = sum(sums[1:], sums[0]).reshape(k, d, k, d)
    outputs = np.arange(k)
    products[outputs, :, outputs, :] = 0.0
    apart = products.sum(axis=2)
    hessian = np.negative(products, out=products)
    hessian[outputs, :, outputs, :] = apart
    return hessian.transpose(1, 0, 3, 2).reshape(d * k, d * k)


def _pieces(here: "Predicted") -> list[tuple[int, int]]:
    """Cut samples into ranges whose matrices fit into memory together."""
    n, step = len(here.z), max(1, _BLOCK_NUMBERS // here.model.n_outputs**2)
    return [(begin, min(begin + step, n)) for begin in range(0, n, step)]
