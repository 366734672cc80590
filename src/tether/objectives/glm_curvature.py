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

from tether.arrays import Array, Indices, norm
from tether.curvature import DIAGONAL, FULL, SecondOrder, diagonal_places, packed
from tether.objectives.base import Expansion, some_of
from tether.objectives.design import BLOCK, Design
from tether.objectives.glm_data import chosen, column, shifted
from tether.objectives.gram import gram_of, gram_triangle, is_separable, square_sums, summed
from tether.objectives.losses import Loss
from tether.objectives.losses.kernel_codes import values_and_slopes
from tether.objectives.losses.majorised import is_majorised
from tether.objectives.losses.probe import has_hessians, inside
from tether.objectives.outputs import as_product, drawn_by_curvature, in_full
from tether.objectives.prices import (
    price_of_diagonal,
    price_of_hessian,
    price_of_kronecker,
    work_of_gradient,
)
from tether.objectives.ridge import Ridge

if TYPE_CHECKING:
    from tether.objectives.glm import GLM

LOOKS = 6  # samples that are looked at for each that second derivatives are taken of
MOST_COPIED = 0.2  # of all samples: to predict all takes less time than to copy the rows of more
ROUNDED = float(np.finfo(np.float32).eps)  # times columns, row and v: what a prediction may be off by


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

    @property
    def mixed(self) -> bool:
        """Whether mixed derivatives are products of numbers by output."""
        z = inside(self.loss, np.zeros((1, self.n_outputs)))
        return self.n_outputs > 1 and self.loss.mixed(z, self.y[:1]) is not None

    def at(self, x: Array, batch: Indices | None) -> "Predicted":
        """Return the samples of a batch, or all, with their predictions and their shares of the mean."""
        y, weights, offset = (chosen(numbers, batch) for numbers in (self.y, self.weights, self.offset))
        z = shifted(self.predict(x, batch), offset)
        shares = np.full(len(z), 1.0 / len(z)) if weights is None else weights / len(z)
        return Predicted(self, z, y, shares, batch)

    def curved_at(self, x: Array, batch: Indices | None) -> "Predicted":
        """Return what second derivatives at x take: those of a quadratic loss are the same everywhere."""
        return self.at(np.zeros_like(x) if self.loss.quadratic else x, batch)

    def predict(self, x: Array, batch: Indices | None) -> Array:
        """Return X x, at zero without a look at the data."""
        several = () if self.n_outputs == 1 else (self.n_outputs,)
        if not x.any():
            return np.zeros((self.design.n_samples if batch is None else len(batch), *several))
        if batch is None or len(batch) < MOST_COPIED * self.design.n_samples:
            rows = self.design if batch is None else self.design.take(batch)
            return rows.predict(x.reshape(-1, *several))
        return self.design.predict(x.reshape(-1, *several))[batch]  # a copy of the rows would take longer


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

    def mixed(self) -> Array | None:
        """Return the u_i whose -u_k u_l are the second derivatives in two outputs, with the shares."""
        found = self.model.loss.mixed(self.z, self.y)
        if found is None:
            return None
        return np.asarray(found, dtype=np.float64) * np.sqrt(self.shares)[:, None]

    def rows(self, begin: int, end: int) -> slice | Indices:
        """Return the numbers of some of these samples among all."""
        return slice(begin, end) if self.batch is None else self.batch[begin:end]

    def among(self, samples: Indices, factors: Array) -> "Predicted":
        """Return some of these samples, with their shares times factors."""
        batch = samples if self.batch is None else self.batch[samples]
        return Predicted(self.model, self.z[samples], self.y[samples], self.shares[samples] * factors, batch)

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
        full = here.triangle(here.curvatures()) if model.n_outputs == 1 else in_full(here)
        full[diagonal_places(model.dim)] += model.ridge.weights
        return full
    return _as_product(here)


def expansion_of(model: LinearModel, x: Array) -> Expansion:
    """Return F, its gradient and its Hessian at x, of a model with one output."""
    design, loss, y, weights, offset = model[:5]
    z = shifted(design.predict(x), offset)
    share = 1.0 / len(z) if weights is None else weights / len(z)
    losses, slopes = values_and_slopes(loss, z, y)
    value = float(losses.sum() / len(z) if weights is None else losses @ share)
    gradient = design.combine(share * slopes)

    def hessian() -> Array:
        curved = share * np.asarray(loss.curvatures(z, y), dtype=np.float64)
        found = gram_of(summed(design, curved), compiled=model.compiled)
        np.einsum("ii->i", found)[...] += model.ridge.weights
        return found

    return Expansion(value + model.ridge.value(x), gradient + model.ridge.gradient(x), hessian)


def product_of_some(
    model: LinearModel, x: Array, share: float, rng: np.random.Generator
) -> tuple[Array, float]:
    """Return G, S and s at x from about a share of the samples, and what they cost in gradients of one.

    Of as many as are worth looking at those that are curved are drawn: the others hardly count in a mean.
    """
    n, count = model.design.n_samples, max(1, math.ceil(share * model.design.n_samples))
    looked = None if LOOKS * count >= n else some_of(n, LOOKS * share, rng)
    with np.errstate(all="ignore"):
        here = model.at(x, looked)
        drawn, factors = drawn_by_curvature(here, count, float(rng.random()))
        found = _as_product(here.among(drawn, factors))
    return found, len(here.z) + len(drawn) * (
        price_of_kronecker(model.design, model.n_outputs, model.mixed) - 1.0
    )


def _as_product(here: Predicted) -> Array:
    features, outputs = as_product(here)
    return np.concatenate([features, packed(outputs), [here.model.ridge.mean]])


def curvature_among(model: LinearModel, x: Array, chosen: Indices, batch: Indices | None) -> Array:
    """Return the triangle of the Hessian of some variables, of a model with one output."""
    with np.errstate(all="ignore"):
        here = model.curved_at(x, batch)
        some = summed(model.design.among(chosen), here.curvatures(), batch)
        triangle = gram_triangle(some, compiled=model.compiled)
        triangle[diagonal_places(len(chosen))] += np.broadcast_to(model.ridge.weights, len(x))[chosen]
        return triangle


def quadratic_of(model: LinearModel, moment: Array) -> tuple[Array, Array]:
    """Return H and g of a model with a quadratic loss from the mean of w_i a_i a_i^T."""
    here = model.at(np.zeros(model.dim), None)
    slopes = here.shares * np.asarray(model.loss.slopes(here.z, here.y), dtype=np.float64)
    hessian = model.loss.curvature * moment
    np.einsum("ii->i", hessian)[...] += model.ridge.weights
    return hessian, combined_in_double(model.design, slopes)


def combined_in_double(design: Design, slopes: Array) -> Array:
    """Return X^T s of one output in double precision, whatever that of the data."""
    if not design.single:
        return design.combine(slopes)
    total, step = np.zeros(design.width), max(1, BLOCK // design.width)
    for first in range(0, design.n_samples, step):
        rows = slice(first, min(first + step, design.n_samples))
        total += slopes[rows] @ design.block(rows)
    return total


def reach_of(model: LinearModel) -> Array | None:
    """Return by column how fast second derivatives fall along it, of a model with one output.

    They do by the rate of the loss times the largest entry of the column.
    """
    rate = float(model.loss.concordance)
    if model.n_outputs > 1 or not model.convex or not 0.0 < rate < math.inf:
        return None
    return rate * model.design.largest()


def fall_of(model: LinearModel, v: Array, longest_row: float) -> float:
    """Return the rate of the loss times the longest change of a sample's predictions, rounding included."""
    rate = float(model.loss.concordance)
    if not model.convex or not math.isfinite(rate):
        return math.inf
    with np.errstate(all="ignore"):
        changes = model.predict(v, None)
        longest = np.abs(changes).max() if changes.ndim == 1 else np.linalg.norm(changes, axis=1).max()
    hidden = ROUNDED * model.design.width * longest_row * norm(v)
    return rate * (float(longest) + hidden) if np.isfinite(longest) else math.inf


def second_order_of(model: LinearModel, longest: float) -> SecondOrder:
    """Return what second derivatives of the model cost, and how fast they fall if no row is longer than that.

    R is that of the loss times the length of the longest row; the ridge only helps.
    """
    design, outputs = model.design, model.n_outputs
    known = outputs == 1 or has_hessians(model.loss, inside(model.loss, np.zeros((1, outputs))), model.y[:1])
    mixed = known and model.mixed
    rate = 0.0 if model.loss.quadratic else float(model.loss.concordance)
    return SecondOrder(
        full=price_of_hessian(design, outputs, mixed) if known else math.inf,
        kronecker=price_of_kronecker(design, outputs, mixed) if known and outputs > 1 else math.inf,
        diagonal=price_of_diagonal(design),
        outputs=outputs,
        concordance=rate * longest if model.convex and math.isfinite(rate) else math.inf,
        separable=outputs == 1 and is_separable(design),
        majorised=outputs == 1 and model.convex and is_majorised(model.loss),
        among=design.n_entries / max(1, design.n_samples * design.width) if outputs == 1 else math.inf,
        work=work_of_gradient(design, outputs),
    )
