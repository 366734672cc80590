"""Generalised linear models: a loss of linear predictions, averaged over the rows of a data matrix.

The gradient of sample i is slope_i a_i, so the N slopes of a full pass are all that an anchor has to keep:
with them a variance-reduced step costs what a plain stochastic step costs.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from tether.arrays import Array, Indices
from tether.inputs import matrix, nonnegative, vector
from tether.objectives.base import Evaluation, Kind, Objective, Smoothness
from tether.objectives.design import COMPILE_FROM, Rows, as_design
from tether.objectives.losses import Labels, Loss, Squared, as_loss
from tether.objectives.spectrum import (
    gram_is_affordable,
    gram_matrix,
    largest_eigenvalue,
    smallest_gram_eigenvalue,
)
from tether.objectives.walk import Walk, Walked, walk_in_numpy

if TYPE_CHECKING:
    from tether.objectives.compiled import Compiled

_GRAM_WIDTH = 500  # columns up to which the smallest eigenvalue of the Gram matrix is computed
_SPECTRAL_TOLERANCE = 0.03  # a larger L_F costs methods less than the passes that would make it smaller
_CURVATURE_MARGIN = 4.0  # on curvatures that are estimated at a point


class Coefficients(NamedTuple):
    """The parameters of a linear model, taken apart."""

    coef: Array  # (d,) or (d, K)
    intercept: float | Array | None  # a number, (K,), or None without an intercept


@final
class GLM(Objective):
    r"""A generalised linear model with ridge penalty.

    .. math:: F(x) = \frac1N \sum_{i=1}^N w_i \, \mathrm{loss}(\langle a_i, x\rangle, y_i)
              + \frac{\ell_2}{2} \|x\|^2

    With K classes, x is ``W.ravel()`` for W of shape (d, K) and :math:`\langle a_i, x\rangle` is
    :math:`W^\top a_i`.

    Parameters
    ----------
    X : array or sparse matrix of shape (N, d)
        The rows a_i. C-contiguous float32 and float64 arrays, memory maps and CSR matrices are used as
        they are; anything else is converted once. Products are taken in the precision of X.
    y : array of shape (N,)
        Labels: 0 and 1 (or -1 and 1) for "logistic", class numbers 0 to K - 1 for "multinomial", counts
        for "poisson", real numbers otherwise.
    loss : str or Loss
        "logistic", "squared" (with the factor 1/2), "multinomial", "huber", "poisson", or a loss object.
    l2 : float
        The weight of the ridge penalty. F is l2-strongly convex.
    fit_intercept : bool
        Append a constant 1 to every row: one more coefficient (or row of W), the last. It is penalised like
        the rest, so that F stays strongly convex.
    sample_weight : array of shape (N,), optional
        Weights >= 0; they are divided by their mean, so a weight of 2 counts a sample twice. Their sum says
        how much this objective counts among the workers of a federation.

    Notes
    -----
    The slopes that `evaluate` keeps are the derivatives of the loss in the prediction, (N,) or (N, K),
    without the sample weights.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.objectives import GLM
    >>> X = np.array([[1.0, 2.0], [2.0, 0.0], [0.0, 1.0]])
    >>> objective = GLM(X, [1, 0, 1], loss="logistic", l2=0.1)
    >>> round(objective.value(np.zeros(2)), 4)
    0.6931
    >>> objective.smoothness.convexity
    0.1

    References
    ----------
    Li & Zhang, "Delayed Projection Techniques for Linearly Constrained Problems", section 7.
    """

    anchored_price = 1
    _eager = False  # compile whatever the size

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: str | Loss = "logistic",
        *,
        l2: float = 0.0,
        fit_intercept: bool = False,
        sample_weight: Any = None,
    ) -> None:
        self.loss = as_loss(loss)
        self.l2 = nonnegative("l2", l2)
        self.fit_intercept = bool(fit_intercept)
        data = matrix("X", X)
        self.n_samples = data.shape[0]
        self.y = self.loss.prepare(y)
        _require_length("y", self.y, self.n_samples)
        self.weights, self._mass = None, float(self.n_samples)
        if sample_weight is not None:
            given = _weights(sample_weight, self.n_samples)
            self.weights, self._mass = given / given.mean(), float(given.sum())
        self.n_outputs = self.loss.n_outputs(self.y)
        self.design = as_design(data, one_output=self.n_outputs == 1, ones=self.fit_intercept)
        self.dim = self.design.width * self.n_outputs

    def evaluate(self, x: Array) -> Evaluation:
        """Return F(x), its gradient and the slopes of all samples, in one pass."""
        return self.evaluate_in_numpy(x) if self._compiled is None else self._compiled.evaluate(x)

    def evaluate_in_numpy(self, x: Array) -> Evaluation:
        """Return what `evaluate` returns, without compiled code."""
        z = self.design.predict(self._shaped(x))
        slopes = self.loss.slopes(z, self.y)
        weighted = slopes if self.weights is None else slopes * _column(self.weights, slopes)
        gradient = self.design.combine(weighted).ravel() / self.n_samples + self.l2 * x
        return Evaluation(self._value(z, x), gradient, slopes)

    def descend(self, walk: Walk) -> Walked:
        """Walk E steps off the constraint, in compiled code where the data is large enough."""
        if self._compiled is None or not self._compiled.serves(walk):
            return walk_in_numpy(self, walk)
        return self._compiled.descend(walk)

    def value(self, x: Array) -> float:
        """Return F(x) without its gradient."""
        return self._value(self.design.predict(self._shaped(x)), x)

    def batch_gradient(
        self, x: Array, batch: Indices | None, anchor: Array | None = None, slopes: Array | None = None
    ) -> Array:
        """Return grad f_B(x), less grad f_B(anchor) when an anchor is given; one product if it has slopes."""
        if batch is None and anchor is None:
            return self.evaluate(x).gradient
        rows: Rows = self.design if batch is None else self.design.take(batch)
        y, weights = _of(self.y, batch), _of(self.weights, batch)
        change = self.loss.slopes(rows.predict(self._shaped(x)), y)
        if anchor is not None:
            if slopes is None:
                change -= self.loss.slopes(rows.predict(self._shaped(anchor)), y)
            else:
                change -= _of(slopes, batch)
        change /= len(change)  # here, because a batch is shorter than the gradient
        if weights is not None:
            change *= _column(weights, change)
        gradient = rows.combine(change).ravel()
        if self.l2:
            gradient += self.l2 * (x if anchor is None else x - anchor)
        return gradient

    @cached_property
    def smoothness(self) -> Smoothness:
        """The constants of F; estimates at two points for the Poisson loss, whose curvature is unbounded."""
        curvature, exact = _curvature(self.loss, self.y, self.weights)
        norms = self.design.squared_norms()
        if self.weights is not None:
            norms *= self.weights
        largest = largest_eigenvalue(self._covariance, self.design.width, _SPECTRAL_TOLERANCE)
        spectral = min(largest, float(norms.mean()))
        convexity = self.l2
        if self._gram is not None:
            convexity += smallest_gram_eigenvalue(self._gram, self.n_samples)
        maximum, full = curvature * float(norms.max()) + self.l2, curvature * spectral + self.l2
        return Smoothness(maximum, min(full, maximum), convexity, exact)

    @cached_property
    def _gram(self) -> Array | None:
        """The weighted Gram matrix of least squares, where it is small and cheap."""
        if not isinstance(self.loss, Squared) or not gram_is_affordable(self.design, _GRAM_WIDTH):
            return None
        return gram_matrix(self.design, self.weights)

    def hessian(self) -> tuple[Any, Array] | None:
        """Return H and g of a small least-squares problem; None for all others."""
        if self._gram is None:
            return None
        y = self.y if self.weights is None else self.y * self.weights
        return self._gram + self.l2 * np.eye(self.dim), -self.design.combine(y) / self.n_samples

    def kind(self) -> Kind:
        """Return the loss with its settings, l2, and what decides on the shape of x."""
        own = {"l2": self.l2, "fit_intercept": self.fit_intercept, "n_outputs": self.n_outputs}
        return super().kind() | self.loss.kind() | own

    def unpack(self, x: Array) -> Coefficients:
        """Return the coefficients, (d,) or (d, K), and the intercept apart from each other."""
        shaped = self._shaped(x.copy())
        if not self.fit_intercept:
            return Coefficients(shaped, None)
        last = shaped[-1]
        return Coefficients(shaped[:-1], float(last) if self.n_outputs == 1 else last)

    @property
    def mass(self) -> float:
        """The samples, or the sum of their weights."""
        return self._mass

    @cached_property
    def natural_batch(self) -> int:
        """One to a few samples where steps are compiled, more where they are interpreted."""
        if self._compiled is None:
            return super().natural_batch
        return self._compiled.natural_batch

    @cached_property
    def sample_work(self) -> float:
        """What a sample of a step takes, compiled or interpreted."""
        return super().sample_work if self._compiled is None else self._compiled.sample_work

    @cached_property
    def _compiled(self) -> "Compiled | None":
        """The kernels for this data; None while it is too small to be worth compiling for."""
        if self.design.n_entries < COMPILE_FROM and not self._eager:
            return None
        from tether.objectives.compiled import Model, compile_model  # numba takes its time to import

        loss, weights = self.loss, self.weights
        model = Model(loss.code, loss.parameter, self.y, weights, self.n_outputs, self.l2)
        return compile_model(self.design, model)

    def compile(self) -> None:
        """Use the kernels whatever the size of the data."""
        self._eager = True
        for known in ("_compiled", "_squares", "natural_batch", "sample_work"):
            self.__dict__.pop(known, None)

    def _shaped(self, x: Array) -> Array:
        return x if self.n_outputs == 1 else x.reshape(self.design.width, self.n_outputs)

    def _value(self, z: Array, x: Array) -> float:
        losses = self.loss.values(z, self.y)
        if self.weights is not None:
            losses *= self.weights
        return float(losses.mean()) + 0.5 * self.l2 * float(x @ x)

    def _covariance(self, x: Array) -> Array:
        """Return (1/N) X^T diag(w) X x."""
        if self._gram is not None:
            return self._gram @ x
        if self._squares is not None:  # half of the gradient of sum_i w_i <a_i, x>^2
            return self._squares.pass_over(x)[2] / (2 * self.n_samples)
        z = self.design.predict(x)
        return self.design.combine(z if self.weights is None else z * self.weights) / self.n_samples

    @cached_property
    def _squares(self) -> "Compiled | None":
        """The kernels for squares: one pass on all cores instead of two products."""
        if self._compiled is None:
            return None
        from tether.objectives.compiled import FACTOR, Model, compile_model

        return compile_model(self.design, Model(FACTOR, 0.0, np.zeros(self.n_samples), self.weights, 1, 0.0))


def _of(numbers: NDArray[Any] | None, batch: Indices | None) -> Any:
    return numbers if numbers is None or batch is None else numbers.take(batch, axis=0)


def _column(weights: Array, slopes: Array) -> Array:
    """Return one weight a sample in a shape that multiplies its slopes."""
    return weights if slopes.ndim == 1 else weights[:, None]


def _curvature(loss: Loss, y: Labels, weights: Array | None) -> tuple[float, bool]:
    """Return a bound on the loss's second derivative, or an estimate at the best constant and at 0."""
    if np.isfinite(loss.curvature):
        return loss.curvature, True
    mean = float(np.average(y, weights=weights))
    constants = [0.0, np.log(mean)] if mean > 0.0 else [0.0]
    largest = max(float(loss.curvatures(np.full(1, z), y[:1])[0]) for z in constants)
    return _CURVATURE_MARGIN * largest, False


def _require_length(name: str, array: NDArray[Any], length: int) -> None:
    if len(array) != length:
        raise ValueError(
            f"{name} must have one entry for each of the {length} rows of X, got {len(array)} entries."
        )


def _weights(sample_weight: Any, n_samples: int) -> Array:
    weights = vector("sample_weight", sample_weight)
    _require_length("sample_weight", weights, n_samples)
    if weights.min() < 0.0 or weights.max() == 0.0:
        raise ValueError(
            f"sample_weight must be >= 0 and not all zero, got {weights.min():g} to {weights.max():g}."
        )
    return weights
