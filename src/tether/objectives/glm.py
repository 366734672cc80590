"""Generalised linear models: a loss of linear predictions, averaged over the rows of a data matrix.

The gradient of sample i is slope_i a_i, so the N slopes of a full pass are all that an anchor has to keep:
with them a variance-reduced step costs what a plain stochastic step costs.
"""

import copy
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from tether import threads
from tether.arrays import Array, Indices
from tether.curvature import KRONECKER, SecondOrder
from tether.digest import digest_of
from tether.inputs import sized_matrix, switch
from tether.lazy import lazy
from tether.names import Labels, column_names
from tether.objectives.base import Evaluation, Expansion, Kind, Objective, Smoothness, require_form
from tether.objectives.design import COMPILE_FROM, Rows, as_design
from tether.objectives.glm_curvature import (
    LinearModel,
    curvature_among,
    curvature_of,
    expansion_of,
    fall_of,
    model_of,
    product_of_some,
    quadratic_of,
    reach_of,
    second_order_of,
)
from tether.objectives.glm_data import (
    Called,
    Coefficients,
    as_offset,
    chosen,
    column,
    fitting,
    require_length,
    shifted,
    variable_labels,
    variable_names,
    weights_and_mass,
)
from tether.objectives.losses import Loss, as_loss
from tether.objectives.losses.checks import check_loss, fingerprint
from tether.objectives.losses.curvature import largest_curvature
from tether.objectives.losses.kernel_codes import coded, is_built_in, values_and_slopes
from tether.objectives.losses.majorised import Majorised
from tether.objectives.recession import products_of, separation
from tether.objectives.ridge import as_ridge
from tether.objectives.second_moment import SecondMoment
from tether.objectives.shares import Shares, shares_of
from tether.objectives.smoothness import (
    LARGEST_CONSTANT,
    Constants,
    Contrast,
    OpenSmoothness,
    require_moderate,
)
from tether.objectives.walk import Walk, Walked, walk_in_numpy

if TYPE_CHECKING:
    from tether.objectives.compiled import Compiled


_LAZY_NAMES = (
    "smoothness",
    "second_order",
    "reach",
    "majorised",
    "shares",
    "natural_batch",
    "sample_work",
    "_largest_curvature",
    "_model",
    "_moment",
    "_convexity",
    "_compiled",
    "_quadratic",
)


@final
class GLM(Objective):
    r"""A generalised linear model with ridge penalty.

    .. math:: F(x) = \frac1N \sum_{i=1}^N w_i \, \mathrm{loss}(\langle a_i, x\rangle + o_i, y_i)
              + \frac12 \sum_j \ell_j x_j^2

    With K classes, x is ``W.ravel()`` for W of shape (d, K) and :math:`\langle a_i, x\rangle` is
    :math:`W^\top a_i`.

    Parameters
    ----------
    X : array or sparse matrix of shape (N, d)
        The rows a_i. C-contiguous float32 and float64 arrays, memory maps and CSR matrices are used as
        they are; anything else is converted once. Products are taken in the precision of X, and what
        certificates say is as exact as they are.
    y : array of shape (N,)
        Labels: 0 and 1 (or -1 and 1) for "logistic", class numbers 0 to K - 1 for "multinomial", shares of
        successes for "binomial", counts for "poisson", amounts above 0 for "gamma", from 0 on for "tweedie",
        real numbers otherwise.
    loss : str or Loss
        "logistic", "squared" (with the factor 1/2), "multinomial", "huber", "poisson", "binomial", "gamma",
        "tweedie", "quantile-smoothed", an object of a class in `tether.objectives.losses` with other settings
        than the usual ones, or one of a class of your own that derives from `tether.Loss`.
    l2 : float or array of shape (p,)
        The weight of the ridge penalty, for all coefficients or for each, an intercept last; at least 0. F is
        min(l2)-strongly convex if the loss is convex. A series with the names of the columns is matched by
        name.
    fit_intercept : bool
        Append a constant 1 to every row: one more coefficient (or row of W), the last. It is penalised like
        the rest, so that F stays strongly convex, unless l2 says otherwise.
    sample_weight : array of shape (N,), optional
        Weights >= 0; they are divided by their mean, so a weight of 2 counts a sample twice. Their sum says
        how much this objective counts among the workers of a federation.
    n_classes : int, optional
        K for "multinomial". By default the labels tell; give it where some class may have no sample, as on
        one worker of a federation.
    offset : array of shape (N,), optional
        What is added to the predictions: o_i, of models with one output. For counts over different times it
        is the logarithm of the time.

    Notes
    -----
    The slopes that `evaluate` keeps are the derivatives of the loss in the prediction, (N,) or (N, K),
    without the sample weights.

    Compiled code is for the built-in losses. Every other loss runs in NumPy, whatever the size of the data.
    Its functions are compared with each other on some labels when the model is built.

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
    eager = False  # compile whatever the size

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: str | Loss = "logistic",
        *,
        l2: Any = 0.0,
        fit_intercept: bool = False,
        sample_weight: Any = None,
        n_classes: int | None = None,
        offset: Any = None,
    ) -> None:
        self.loss = as_loss(loss, n_classes)
        self.fit_intercept = switch("fit_intercept", fit_intercept)
        data, self._squares = sized_matrix("X", X)
        self.n_samples = data.shape[0]
        self.y = np.asarray(self.loss.prepare(y))
        require_length("y", self.y, self.n_samples)
        self.weights, self._mass = weights_and_mass(sample_weight, self.n_samples)
        self.n_outputs = fitting(self.loss.n_outputs(self.y), data.shape[1])
        self.offset = as_offset(offset, self.n_samples, self.n_outputs)
        self.proven_convex = is_built_in(self.loss)
        floors = self.loss.floors(self.y) if self.proven_convex else -np.inf
        self.floor = float(floors if np.ndim(floors) == 0 else np.average(floors, weights=self.weights))
        self._nonconvexity = "" if self.proven_convex else check_loss(self.loss, self.y, self.n_outputs)
        self.design = as_design(data, one_output=self.n_outputs == 1, ones=self.fit_intercept)
        self.dim = self.design.width * self.n_outputs
        self._called = Called(column_names(X))
        self.names = variable_names(self._called.columns, self.fit_intercept, self.n_outputs)
        self.ridge = as_ridge(l2, self.design.width, self.n_outputs, self.names)

    @property
    def l2(self) -> float | Array:
        """The weight of the ridge penalty; an array where coefficients have weights of their own."""
        return self.ridge.weights

    def with_names(self, columns: Any, classes: Any = None) -> "GLM":
        """Return the same model with names for the columns of X and, if there are several, for its classes.

        Examples
        --------
        >>> import numpy as np, tether
        >>> objective = tether.GLM(np.eye(2), [0.0, 1.0], "squared").with_names(["age", "income"])
        >>> tether.solve(objective, "age == income").x.round(6)
        array([0.5, 0.5])
        """
        other, width = copy.copy(self), self.design.width - self.fit_intercept
        other._called = Called.checked(columns, classes, width, self.n_outputs)
        other.names = variable_names(other._called.columns, self.fit_intercept, self.n_outputs)
        return other

    def with_rows(self, X: Any, *, ones: bool = False) -> "GLM":
        """Return the model of the same samples with other columns, which share the ridge of the first.

        Behind them is a column of ones if asked, with the ridge that it has.
        """
        other = self._copy()
        data, other._squares = sized_matrix("X", X)
        require_length("X", data, self.n_samples)
        other.fit_intercept, other.names, other._called = ones, None, Called()
        other.design = as_design(data, one_output=self.n_outputs == 1, ones=ones)
        other.dim = other.design.width * self.n_outputs
        other.ridge = self.ridge.among(other.dim, kept=self.n_outputs if ones else 0)
        return other

    def evaluate(self, x: Array) -> Evaluation:
        """Return F(x), its gradient and the slopes of all samples, in one pass."""
        return self.evaluate_in_numpy(x) if self._compiled is None else self._compiled.evaluate(x)

    def evaluate_in_numpy(self, x: Array) -> Evaluation:
        """Return what `evaluate` returns, without compiled code."""
        z = shifted(self.design.predict(self._shaped(x)), self.offset)
        losses, slopes = values_and_slopes(self.loss, z, self.y)
        weighted = slopes if self.weights is None else slopes * column(self.weights, slopes)
        gradient = self.design.combine(weighted).ravel() / self.n_samples + self.l2 * x
        return Evaluation(self._mean(losses, x), gradient, slopes)

    def expansion(self, x: Array) -> Expansion:
        """Return F, its gradient and its Hessian, of little data from one look at all predictions."""
        if self._compiled is not None or self.n_outputs > 1:
            return super().expansion(x)
        return expansion_of(self._model, x)

    def descend(self, walk: Walk) -> Walked:
        """Walk E steps off the constraint, in compiled code where the data is large enough."""
        walker = self._walker
        if walker is None or not walker.serves(walk):
            return walk_in_numpy(self, walk)
        return walker.descend(walk)

    def value(self, x: Array) -> float:
        """Return F(x) without its gradient."""
        z = shifted(self.design.predict(self._shaped(x)), self.offset)
        return self._mean(self.loss.values(z, self.y), x)

    def batch_gradient(
        self, x: Array, batch: Indices | None, anchor: Array | None = None, slopes: Array | None = None
    ) -> Array:
        """Return grad f_B(x), less grad f_B(anchor) when an anchor is given; one product if it has slopes."""
        if batch is None and anchor is None:
            return self.evaluate(x).gradient
        rows: Rows = self.design if batch is None else self.design.take(batch)
        y, weights, offset = (chosen(numbers, batch) for numbers in (self.y, self.weights, self.offset))
        change = self._slopes(shifted(rows.predict(self._shaped(x)), offset), y)
        if anchor is not None:
            if slopes is None:
                change -= self.loss.slopes(shifted(rows.predict(self._shaped(anchor)), offset), y)
            else:
                change -= chosen(slopes, batch)
        change /= len(change)  # here, because a batch is shorter than the gradient
        if weights is not None:
            change *= column(weights, change)
        gradient = rows.combine(change).ravel()
        if self.ridge.largest:
            gradient += self.l2 * (x if anchor is None else x - anchor)
        return gradient

    @property
    def nonconvexity(self) -> str:
        """What shows that a user's loss is not convex; empty where nothing does."""
        return self._nonconvexity

    @lazy
    def smoothness(self) -> Smoothness:
        """The constants of F; estimates at two predictions for a loss whose curvature is unbounded."""
        curvature, exact = self._largest_curvature
        largest = min(self._moment.largest(), self._moment.lengths.mean)
        full = min(curvature * largest + self.ridge.largest, self._largest_smoothness)
        return Smoothness(self._largest_smoothness, full, min(self._convexity, full), exact)

    def constants(self) -> Constants:
        """Return the same constants; what takes eigenvalues of the data is left open."""
        if not self._is_surely_moderate:
            require_moderate("X", self._largest_smoothness)
        mu = None if self.loss.convexity > 0.0 else self._convexity
        return OpenSmoothness(
            mu=mu,
            find=lambda: self.smoothness,
            exact=self._largest_curvature[1],
            known=True,
            find_mu=lambda: self._convexity,
            find_most=lambda: self._mean_smoothness,
            find_maximum=lambda: self._largest_smoothness,
        )

    @property
    def _is_surely_moderate(self) -> bool:
        """Whether L_max is far from overflow by the size of all data, without a look at its rows."""
        heaviest = 1.0 if self.weights is None else float(self.weights.max())
        bound = self._largest_curvature[0] * heaviest * (self._squares + self.fit_intercept)
        return bound + self.ridge.largest <= LARGEST_CONSTANT

    @property
    def _largest_smoothness(self) -> float:
        """L_max."""
        return self._largest_curvature[0] * self._moment.lengths.largest + self.ridge.largest

    @property
    def _mean_smoothness(self) -> float:
        """A bound on L_F: the trace bounds the largest eigenvalue."""
        return self._largest_curvature[0] * self._moment.lengths.mean + self.ridge.largest

    @lazy
    def shares(self) -> Shares | None:
        """Those of rows much longer than the others."""
        return shares_of(
            self._largest_curvature[0] * self._weighted_norms(), self._weighted, self.ridge.largest
        )

    @lazy
    def _largest_curvature(self) -> tuple[float, bool]:
        """A bound on the second derivative of the loss and True, or an estimate and False."""
        return largest_curvature(self.loss, self.y, self.weights, self.n_outputs, self.offset)

    def _weighted(self, weights: Array) -> "GLM":
        other = self._copy()
        other.weights = weights if self.weights is None else self.weights * weights
        return other

    def _copy(self) -> "GLM":
        """Return a copy that computes its constants anew."""
        other = copy.copy(self)
        for name in _LAZY_NAMES:
            other.__dict__.pop(name, None)
        return other

    def _weighted_norms(self) -> Array:
        """Return w_i ||a_i||^2."""
        norms = self._moment.squares
        return norms if self.weights is None else norms * self.weights

    @lazy
    def _convexity(self) -> float:
        """The strong convexity of F: that of the penalty, and what the loss and the data make certain."""
        curved = self.loss.convexity
        learned = curved * self._moment.smallest() if curved else 0.0
        return self.ridge.smallest + learned if self.convex else 0.0

    @lazy
    def _model(self) -> LinearModel:
        """What second derivatives depend on."""
        return model_of(self)

    @lazy
    def _moment(self) -> SecondMoment:
        """(1/N) X^T diag(w) X."""
        curved, compiled = self.loss.convexity > 0.0, self._compiled is not None
        return SecondMoment(self.design, self.weights, smallest=curved, compiled=compiled)

    def kind(self) -> Kind:
        """Return the loss with its settings, l2, and what decides on the shape of x."""
        own: Kind = {
            "l2": self.ridge.setting,
            "fit_intercept": self.fit_intercept,
            "n_outputs": self.n_outputs,
        }
        return super().kind() | self.loss.kind() | own

    @property
    def words(self) -> str:
        """The model and its settings."""
        model = self.loss.words or f"a linear model with the loss {type(self.loss).__name__}"
        return f"{model} with {self.ridge.words}" if self.ridge.largest else model

    @property
    def labels(self) -> Labels:
        """The names of the columns, where they have some, also with several outputs."""
        return variable_labels(self._called, self.fit_intercept, self.n_outputs, self.dim)

    def hessian(self) -> tuple[Any, Array] | None:
        """Return H and g of a small problem with a quadratic loss; None for all others."""
        return self._quadratic

    @lazy
    def _quadratic(self) -> tuple[Array, Array] | None:
        quadratic = self.loss.quadratic and self.n_outputs == 1
        moment = self._moment.matrix if quadratic else None
        return None if moment is None else quadratic_of(self._model, moment)

    @lazy
    def second_order(self) -> SecondOrder:
        """What second derivatives cost: all of them, those of one output, or the diagonal."""
        longest = 0.0 if self.loss.quadratic else self._moment.lengths.longest  # or of no use
        return second_order_of(self._model, longest)

    @property
    def contrast(self) -> Contrast:
        """L_max over mu N, the largest mean square of a column over the median, and how even rows are."""
        mu = self.ridge.smallest
        passes = self._largest_smoothness / (mu * self.n_samples) if mu > 0.0 else math.inf
        return Contrast(passes, self._moment)

    @lazy
    def reach(self) -> Array | None:
        """How fast second derivatives fall along each variable."""
        return reach_of(self._model)

    def fall(self, v: Array) -> float:
        """Return at most by what the logarithm of any sample's second derivative falls along v."""
        return fall_of(self._model, v, self._moment.lengths.longest)

    def curvature(self, x: Array, form: str, batch: Indices | None = None) -> Array:
        """Return the second derivatives of the losses' mean, and l2, at x."""
        require_form(self, form)
        return curvature_of(self._model, x, form, batch)

    def curvature_of_some(
        self, x: Array, form: str, share: float, seed: Sequence[int]
    ) -> tuple[Array, float]:
        """Return second derivatives from a share of the samples; for G and S of those that are curved."""
        if form != KRONECKER:
            return super().curvature_of_some(x, form, share, seed)
        require_form(self, form)
        return product_of_some(self._model, x, share, np.random.default_rng(seed))

    def curvature_among(self, x: Array, chosen: Indices, batch: Indices | None = None) -> Array:
        """Return the triangle of the Hessian of some variables, of a model with one output."""
        return curvature_among(self._model, x, chosen, batch)

    @lazy
    def majorised(self) -> Objective | None:
        """The same model with curvatures of parabolas above the loss."""
        if not self.second_order.majorised:
            return None
        other = self._copy()
        other.loss = Majorised(self.loss)
        return other

    def direction_of_fall(self, x: Array, way: Array, equations: Any) -> Array | None:
        """Return a direction that separates the data."""
        if self.ridge.smallest > 0.0:
            return None
        products = products_of(self.design, self.loss, self.y, self.n_outputs, self.weights)
        settled = None if self.ridge.uniform else self.ridge.settled
        return separation(products, equations, x, way, settled)

    def unpack(self, x: Array) -> Coefficients:
        """Return the coefficients, (d,) or (d, K), and the intercept apart from each other."""
        shaped = self._shaped(x.copy())
        if not self.fit_intercept:
            return Coefficients(shaped, None)
        last = shaped[-1]
        return Coefficients(shaped[:-1], float(last) if self.n_outputs == 1 else last)

    @property
    def single(self) -> bool:  # type: ignore[override]
        """Whether the data, and so products with it, are in single precision."""
        return self.design.single

    @property
    def mass(self) -> float:
        """The samples, or the sum of their weights."""
        return self._mass

    @lazy
    def natural_batch(self) -> int:
        """One to a few samples where steps are compiled, more where they are interpreted."""
        walker = self._walker
        return super().natural_batch if walker is None else walker.natural_batch

    @lazy
    def sample_work(self) -> float:
        """What a sample of a step takes, compiled or interpreted."""
        walker = self._walker
        return super().sample_work if walker is None else walker.sample_work

    @property
    def _walker(self) -> "Compiled | None":
        """The kernels, if they can take steps with this ridge."""
        return self._compiled if self._compiled is not None and self._compiled.walks else None

    @lazy
    def _compiled(self) -> "Compiled | None":
        """The kernels for this data; None for losses without, and for data not worth compiling for."""
        known = coded(self.loss)
        if known is None or (self.design.n_entries < COMPILE_FROM and not self.eager):
            return None
        with threads.importing:  # numba takes its time
            from tether.objectives.compiled import Model, compile_model

        model = Model(*known, self.y, self.weights, self.offset, self.n_outputs, self.ridge)
        return compile_model(self.design, model)

    def compile(self) -> None:
        """Use the kernels whatever the size of the data."""
        self.eager = True
        for name in ("_compiled", "_model", "_moment", "natural_batch", "sample_work", "shares"):
            self.__dict__.pop(name, None)

    def digest(self) -> str:
        """Return a hexadecimal digest of data and settings."""
        loss = repr(self.loss) if is_built_in(self.loss) else fingerprint(self.loss, self.y, self.n_outputs)
        settings = loss, self.l2, self.fit_intercept, self.n_outputs
        shifts = () if self.offset is None else ("offset", self.offset)
        return digest_of("GLM", *self.design.arrays, self.y, self.weights, *settings, *shifts)

    def _shaped(self, x: Array) -> Array:
        return x if self.n_outputs == 1 else x.reshape(self.design.width, self.n_outputs)

    def _slopes(self, z: Array, y: NDArray[Any]) -> Array:
        """Return the slopes in an array of their own: a user's loss may hand out the same buffer twice."""
        return np.array(self.loss.slopes(z, y), dtype=np.float64)

    def _mean(self, losses: Array, x: Array) -> float:
        """Return F at x, given the losses of all samples."""
        losses = np.asarray(losses, dtype=np.float64)
        if self.weights is not None:
            losses = losses * self.weights
        return float(losses.sum()) / self.n_samples + self.ridge.value(x)
