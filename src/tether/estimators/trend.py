"""Trends: a series with noise becomes a few straight pieces."""

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from tether.arrays import Array
from tether.estimators.base import LinearEstimator
from tether.estimators.fitting import Plan
from tether.estimators.monotonic import SIGNS
from tether.estimators.restrictions import Restrictions
from tether.estimators.rows import Block
from tether.estimators.table import Table
from tether.estimators.variables import Variables
from tether.inputs import nonnegative, positive_integer, shown
from tether.objectives.losses import Squared


class TrendFilter(RegressorMixin, LinearEstimator):
    """Trend filtering: a function of one variable, made of a few polynomial pieces that the data choose.

    sum_i w_i (y_i - f(x_i))^2 / (2 sum_i w_i) + alpha ||D f||_1 over the values of f at the different x_i. D
    takes differences of the given order, divided by distances: for order 1 the jumps of f, for 2 the changes
    of its slope, for 3 those of its curvature.

    Parameters
    ----------
    alpha : float
        The weight of the penalty: the larger, the fewer pieces.
    order : int
        1 for steps, 2 for straight lines, 3 for parabolas.
    monotonic : "increasing" or "decreasing", optional
        Whether f must only rise, or only fall.
    method, tol, max_iter, max_seconds, random_state
        As for `ConstrainedGLM`.

    Attributes
    ----------
    knots_, values_ : array
        The different x, sorted, and f there; between them f is interpolated, by steps for order 1 and by
        straight lines otherwise, and its last pieces go on beyond them.
    n_iter_, gap_, solution_
        As for `ConstrainedGLM`.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.estimators import TrendFilter
    >>> t = np.arange(9.0)
    >>> y = np.array([0.0, 1.1, 1.9, 3.0, 4.1, 3.0, 1.9, 1.1, 0.0])
    >>> trend = TrendFilter(alpha=0.02).fit(t, y)
    >>> trend.predict([3.5, 4.0, 10.0]).round(2)
    array([ 3.47,  3.96, -1.91])

    References
    ----------
    Tibshirani, "Adaptive piecewise polynomial estimation via trend filtering", 2014.
    """

    constraints = None
    fit_intercept = False

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        order: int = 2,
        monotonic: str | None = None,
        method: Any = "auto",
        tol: float = 1e-18,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        random_state: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.order = order
        self.monotonic = monotonic
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the trend.

        Parameters
        ----------
        X : array of shape (n_samples,) or (n_samples, 1)
            Where the data was seen, as times, in any order.
        y : array of shape (n_samples,)
            What was seen.
        sample_weight : array of shape (n_samples,), optional
            Weights >= 0.
        """
        x = _line(X, dtype=np.float64)
        responses = column_or_1d(check_array(y, ensure_2d=False, dtype=np.float64), warn=True)
        check_consistent_length(x, responses)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, x, dtype=np.float64, ensure_non_negative=True)
            seen = weights > 0.0
            x, responses, weights = x[seen], responses[seen], weights[seen]
        self.knots_, places = np.unique(x, return_inverse=True)
        rows = (np.ones(len(x)), (np.arange(len(x)), places))
        chosen = sparse.csr_array(rows, shape=(len(x), len(self.knots_)))
        names = tuple(f"f({knot:g})" for knot in self.knots_)
        self._learn(self._solve(Table(chosen, responses, names, weights)))
        self.values_ = self.__dict__.pop("coef_")
        del self.intercept_
        return self

    def _plan(self, table: Table, variables: Variables) -> Plan:
        matrix = divided_differences(self.knots_, positive_integer("order", self.order))
        l1 = [(nonnegative("alpha", self.alpha), matrix)] if matrix.shape[0] else []
        return Plan(Squared(), self._restrictions(variables), np.zeros(len(self.knots_)), l1)

    def _restrictions(self, variables: Variables) -> Restrictions:
        if self.monotonic is None:
            return Restrictions(variables)
        if self.monotonic not in SIGNS:
            raise ValueError(
                f'monotonic must be "increasing", "decreasing" or None, got {shown(self.monotonic)}.'
            )
        rises = divided_differences(self.knots_, 1) * SIGNS[self.monotonic]
        count, way = rises.shape[0], "<=" if self.monotonic == "increasing" else ">="
        pairs = zip(variables.columns[:-1], variables.columns[1:], strict=True)
        labels = tuple(f"{one} {way} {other}" for one, other in pairs)
        sides = np.zeros(count), np.full(count, np.inf)
        return Restrictions(variables).with_block(Block(rises, *sides, labels))

    def predict(self, X: Any) -> Array:
        """Return the trend at other places."""
        check_is_fitted(self)
        x, knots, values = _line(X, dtype=np.float64), self.knots_, self.values_
        if len(knots) == 1:
            return np.full(len(x), values[0])
        last = len(knots) - 1 if self.order == 1 else len(knots) - 2
        place = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, last)
        if self.order == 1:
            return np.asarray(values[place])
        slopes = np.diff(values) / np.diff(knots)
        return np.asarray(values[place] + slopes[place] * (x - knots[place]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = False
        return tags


def divided_differences(knots: Array, order: int) -> sparse.csr_array:
    """Return the differences of values at knots, each but the first taken of quotients of the one before.

    D_1 takes differences, D_{k+1} = D_1 diag(k / (x_{i+k} - x_i)) D_k (Tibshirani 2014, equation 27).

    Examples
    --------
    >>> divided_differences(np.array([0.0, 1.0, 3.0]), 2).toarray().tolist()
    [[1.0, -1.5, 0.5]]
    """
    found = _first(len(knots))
    for k in range(1, order):
        if found.shape[0] < 2:
            return sparse.csr_array((0, len(knots)))
        quotients = sparse.diags_array(k / (knots[k:] - knots[:-k]))
        found = sparse.csr_array(_first(found.shape[0]) @ quotients @ found)
    return found


def _first(count: int) -> sparse.csr_array:
    ones = np.ones(max(0, count - 1))
    return sparse.csr_array(sparse.diags_array([-ones, ones], offsets=[0, 1], shape=(len(ones), count)))


def _line(X: Any, dtype: Any) -> Array:
    """Return numbers in a row, of shape (n,) or (n, 1)."""
    x = check_array(X, ensure_2d=False, dtype=dtype, input_name="X")
    if not (x.ndim == 1 or (x.ndim == 2 and x.shape[1] == 1)):
        raise ValueError(f"X must hold one variable, of shape (n,) or (n, 1), got shape {x.shape}.")
    return np.asarray(x.reshape(-1))
