"""Second derivatives of linear models: weighted sums of products of their rows.

With one output the Hessian is (1/N) sum_i w_i c_i a_i a_i^T + l2 I with the curvatures c_i of the loss. With
K outputs each sample has a K x K matrix B_i instead of c_i. Then either all is kept, or only
G = (1/N) sum_i w_i trace(B_i) a_i a_i^T and S = (1/N) sum_i w_i B_i, with the mean of a ridge whose numbers
differ, or the diagonal.
"""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tether.arrays import Array, Indices
from tether.curvature import DIAGONAL, FULL, SecondOrder, diagonal_places, packed, unpacked
from tether.objectives.design import Design
from tether.objectives.glm_data import chosen, column, shifted
from tether.objectives.gram import Summed, gram_triangle, is_separable, square_sums, summed
from tether.objectives.losses import Loss
from tether.objectives.losses.majorised import is_majorised
from tether.objectives.losses.probe import has_hessians, inside
from tether.objectives.prices import (
    price_of_diagonal,
    price_of_hessian,
    price_of_kronecker,
    work_of_gradient,
)
from tether.objectives.ridge import Ridge

if TYPE_CHECKING:
    from tether.objectives.glm import GLM

_BLOCK_NUMBERS = 1 << 21  # of the K x K matrices of samples that are looked at together


class LinearModel(NamedTuple):
    """(1/N) sum_i w_i loss(a_i^T x + o_i, y_i) + ridge(x), as far as second derivatives go."""

    design: Design
    loss: Loss
    y: NDArray[Any]
    weights: Array | None
    offset: Array | None
    n_outputs: int
    ridge: Ridge
    convex: bool
    compiled: bool  # use kernels whatever the size of the data

    @property
    def dim(self) -> int:
        """The number of variables."""
        return self.design.width * self.n_outputs

    def at(self, x: Array, batch: Indices | None) -> "Predicted":
        """Return the samples of a batch, or all, with their predictions and their shares of the mean."""
        y, weights, offset = (chosen(numbers, batch) for numbers in (self.y, self.weights, self.offset))
        z = shifted(self._products(x, batch), offset)
        shares = np.full(len(z), 1.0 / len(z)) if weights is None else weights / len(z)
        return Predicted(self, z, y, shares, batch)

    def curved_at(self, x: Array, batch: Indices | None) -> "Predicted":
        """Return what second derivatives at x take: those of a quadratic loss are the same everywhere."""
        return self.at(np.zeros_like(x) if self.loss.quadratic else x, batch)

    def _products(self, x: Array, batch: Indices | None) -> Array:
        """Return X x, at zero without a look at the data."""
        several = () if self.n_outputs == 1 else (self.n_outputs,)
        if not x.any():
            return np.zeros((self.design.n_samples if batch is None else len(batch), *several))
        rows = self.design if batch is None else self.design.take(batch)
        return rows.predict(x.reshape(-1, *several))


def model_of(glm: "GLM") -> LinearModel:
    """Return what second derivatives of a model depend on."""
    samples = glm.design, glm.loss, glm.y, glm.weights, glm.offset, glm.n_outputs
    return LinearModel(*samples, ridge=glm.ridge, convex=glm.convex, compiled=glm.eager)


class Predicted(NamedTuple):
    """Some samples of a model at a point."""

    model: LinearModel
    z: Array
    y: NDArray[Any]
    shares: Array  # w_i / n
    batch: Indices | None

    def curvatures(self) -> Array:
        """Return the second derivatives of the losses, of several outputs the diagonals, with the shares."""
        found = np.array(self.model.loss.curvatures(self.z, self.y), dtype=np.float64)
        found *= column(self.shares, found)
        return found

    def blocks(self, begin: int, end: int) -> Array:
        """Return the matrices of second derivatives of some samples, with the shares."""
        found = self.model.loss.hessians(self.z[begin:end], self.y[begin:end])
        return np.asarray(found, dtype=np.float64) * self.shares[begin:end, None, None]

    def triangle(self, factors: Array) -> Array:
        """Return the triangle of the sum of c_i a_i a_i^T over all these samples."""
        some = summed(self.model.design, factors, self.batch)
        return gram_triangle(some, compiled=self.model.compiled)


def curvature_of(model: LinearModel, x: Array, form: str, batch: Indices | None) -> Array:
    """Return the second derivatives of the model at x in one of the forms that it has."""
    with np.errstate(all="ignore"):  # curvatures far off may be infinite: the sums say so
        return _curvature_of(model, x, form, batch)


def _curvature_of(model: LinearModel, x: Array, form: str, batch: Indices | None) -> Array:
    here = model.curved_at(x, batch)
    if form == DIAGONAL:
        some = summed(model.design, here.curvatures(), batch)
        return square_sums(some, compiled=model.compiled).ravel() + model.ridge.weights
    if form == FULL:
        full = here.triangle(here.curvatures()) if model.n_outputs == 1 else _outputs_in_full(here)
        full[diagonal_places(model.dim)] += model.ridge.weights
        return full
    return _kronecker(here)


def curvature_among(model: LinearModel, x: Array, chosen: Indices, batch: Indices | None) -> Array:
    """Return the triangle of the Hessian of some variables, of a model with one output."""
    with np.errstate(all="ignore"):
        here = model.curved_at(x, batch)
        some = summed(model.design.among(chosen), here.curvatures(), batch)
        triangle = gram_triangle(some, compiled=model.compiled)
        triangle[diagonal_places(len(chosen))] += np.broadcast_to(model.ridge.weights, len(x))[chosen]
        return triangle


def _kronecker(here: Predicted) -> Array:
    model, k = here.model, here.model.n_outputs
    outputs, traces = np.zeros((k, k)), np.empty(len(here.z))
    for begin, end in _pieces(here):
        blocks = here.blocks(begin, end)
        outputs += blocks.sum(axis=0)
        traces[begin:end] = np.einsum("nkk->n", blocks)
    return np.concatenate([here.triangle(traces), packed(outputs), [model.ridge.mean]])


def _outputs_in_full(here: Predicted) -> Array:
    """Return the Hessian over W.ravel(): for every pair of outputs one sum over the rows."""
    model, k, d = here.model, here.model.n_outputs, here.model.design.width
    hessian = np.zeros((d, k, d, k))
    for begin, end in _pieces(here):
        blocks = here.blocks(begin, end)
        rows = slice(begin, end) if here.batch is None else here.batch[begin:end]
        for one in range(k):
            for other in range(one + 1):
                some = Summed(model.design, rows, np.ascontiguousarray(blocks[:, one, other]))
                pair = unpacked(gram_triangle(some, compiled=model.compiled))
                hessian[:, one, :, other] += pair
                if other < one:
                    hessian[:, other, :, one] += pair
    return packed(hessian.reshape(d * k, d * k))


def _pieces(here: Predicted) -> list[tuple[int, int]]:
    """Cut samples into ranges whose matrices fit into memory together."""
    n, step = len(here.z), max(1, _BLOCK_NUMBERS // here.model.n_outputs**2)
    return [(begin, min(begin + step, n)) for begin in range(0, n, step)]


def quadratic_of(model: LinearModel, moment: Array) -> tuple[Array, Array]:
    """Return H and g of a model with a quadratic loss from the mean of w_i a_i a_i^T."""
    here = model.at(np.zeros(model.dim), None)
    slopes = here.shares * np.asarray(model.loss.slopes(here.z, here.y), dtype=np.float64)
    hessian = model.loss.curvature * moment
    hessian[np.diag_indices(model.dim)] += model.ridge.weights
    return hessian, model.design.combine(slopes)


def reach_of(model: LinearModel) -> Array | None:
    """Return by column how fast second derivatives fall along it, of a model with one output.

    They do by the rate of the loss times the largest entry of the column.
    """
    rate = float(model.loss.concordance)
    if model.n_outputs > 1 or not model.convex or not 0.0 < rate < math.inf:
        return None
    return rate * model.design.largest()


def second_order_of(model: LinearModel, longest: float) -> SecondOrder:
    """Return what second derivatives of the model cost, and how fast they fall if no row is longer than that.

    R is that of the loss times the length of the longest row; the ridge only helps.
    """
    design, outputs = model.design, model.n_outputs
    known = outputs == 1 or has_hessians(model.loss, inside(model.loss, np.zeros((1, outputs))), model.y[:1])
    rate = 0.0 if model.loss.quadratic else float(model.loss.concordance)
    return SecondOrder(
        full=price_of_hessian(design, outputs) if known else math.inf,
        kronecker=price_of_kronecker(design, outputs) if known and outputs > 1 else math.inf,
        diagonal=price_of_diagonal(design),
        outputs=outputs,
        concordance=rate * longest if model.convex and math.isfinite(rate) else math.inf,
        separable=outputs == 1 and is_separable(design),
        majorised=outputs == 1 and model.convex and is_majorised(model.loss),
        among=design.n_entries / max(1, design.n_samples * design.width) if outputs == 1 else math.inf,
        work=work_of_gradient(design, outputs),
    )
