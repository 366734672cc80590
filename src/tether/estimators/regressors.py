"""Regressors that predict X b: the familiar faces of least squares, with constraints."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from tether.arrays import Array
from tether.estimators.base import LinearEstimator, Path
from tether.estimators.fitting import Plan
from tether.estimators.penalties import factors
from tether.estimators.restrictions import Restrictions
from tether.estimators.table import Table, checked_table
from tether.estimators.variables import Variables
from tether.inputs import nonnegative, positive, switch
from tether.objectives.losses import Squared


class LinearRegressor(RegressorMixin, LinearEstimator):
    """A regressor of numbers, by least squares unless it says otherwise."""

    @abstractmethod
    def _plan(self, table: Table, variables: Variables) -> Plan:
        """Return what is minimised over the coefficients of a table."""

    def _table(self, X: Any, y: Any, sample_weight: Any) -> Table:
        return checked_table(self, X, y, sample_weight).with_numbers()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The data.
        y : array of shape (n_samples,)
            The responses.
        sample_weight : array of shape (n_samples,), optional
            Weights >= 0.
        """
        self._learn(self._solve(self._table(X, y, sample_weight)))
        return self

    def predict(self, X: Any) -> Array:
        """Return the predictions."""
        return self._linear(X)

    def path(self, X: Any, y: Any, alphas: Sequence[float], sample_weight: Any = None) -> Path:
        """Return the models for several alphas, each begun where the one before ended."""
        return self._along(self._table(X, y, sample_weight), "alpha", alphas)


class ConstrainedRidge(LinearRegressor):
    """Ridge regression with constraints: ||y - X b||^2 + alpha ||b||^2, as scikit-learn's Ridge.

    Parameters
    ----------
    alpha : float or array of shape (n_features,)
        The weight of the penalty, for all coefficients or for each.
    fit_intercept, constraints, method, tol, max_iter, max_seconds, random_state
        As for `ConstrainedGLM`.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.estimators import ConstrainedRidge
    >>> X, y = np.eye(3), np.array([1.0, 2.0, 6.0])
    >>> model = ConstrainedRidge(alpha=1.0, fit_intercept=False, constraints=["sum == 3"]).fit(X, y)
    >>> model.coef_.round(6)
    array([0. , 0.5, 2.5])
    """

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        constraints: Any = None,
        method: Any = "auto",
        tol: float = 1e-18,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        random_state: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.constraints = constraints
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.random_state = random_state

    def _plan(self, table: Table, variables: Variables) -> Plan:
        l2 = factors("alpha", self.alpha, variables.columns) / table.mass
        return Plan(Squared(), self._restrictions(variables), l2)


class ConstrainedLasso(LinearRegressor):
    """The lasso with constraints: ||y - X b||^2 / (2 N) + alpha ||b||_1, as scikit-learn's Lasso.

    Parameters
    ----------
    alpha : float or array of shape (n_features,)
        The weight of the penalty, for all coefficients or for each.
    positive : bool
        Whether coefficients must not be negative.
    fit_intercept, constraints, method, tol, max_iter, max_seconds, random_state
        As for `ConstrainedGLM`.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.estimators import ConstrainedLasso
    >>> X, y = 2.0 * np.eye(4), np.array([1.0, 2.0, 6.0, -7.0])
    >>> model = ConstrainedLasso(alpha=1.0, fit_intercept=False, constraints=["sum == 0"]).fit(X, y)
    >>> model.coef_.round(6)
    array([ 0.      ,  0.166667,  2.166667, -2.333333])
    """

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        positive: bool = False,
        fit_intercept: bool = True,
        constraints: Any = None,
        method: Any = "auto",
        tol: float = 1e-18,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        random_state: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.positive = positive
        self.fit_intercept = fit_intercept
        self.constraints = constraints
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.random_state = random_state

    def _plan(self, table: Table, variables: Variables) -> Plan:
        l1 = factors("alpha", self.alpha, variables.columns)
        return Plan(Squared(), self._restrictions(variables), np.zeros(len(l1)), [(l1, None)])

    def _restrictions(self, variables: Variables) -> Restrictions:
        found = super()._restrictions(variables)
        return found.within(0.0, np.inf) if switch("positive", self.positive) else found


class NonNegativeRegressor(LinearRegressor):
    """Least squares with coefficients >= 0, which may have to sum up to a total: shares, weights, mixtures.

    Parameters
    ----------
    alpha : float
        The weight of a ridge, alpha / 2 ||b||^2 beside the mean of (y - z)^2 / 2.
    total : float, optional
        What the coefficients sum up to.
    fit_intercept, constraints, method, tol, max_iter, max_seconds, random_state
        As for `ConstrainedGLM`.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.estimators import NonNegativeRegressor
    >>> X, y = np.eye(3), np.array([0.2, -1.0, 0.4])
    >>> NonNegativeRegressor(total=1.0, fit_intercept=False).fit(X, y).coef_.round(6)
    array([0.4, 0. , 0.6])
    """

    def __init__(
        self,
        alpha: float = 0.0,
        *,
        total: float | None = None,
        fit_intercept: bool = True,
        constraints: Any = None,
        method: Any = "auto",
        tol: float = 1e-18,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        random_state: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.total = total
        self.fit_intercept = fit_intercept
        self.constraints = constraints
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.random_state = random_state

    def _plan(self, table: Table, variables: Variables) -> Plan:
        l2 = np.full(len(variables.columns), nonnegative("alpha", self.alpha))
        return Plan(Squared(), self._restrictions(variables), l2)

    def _restrictions(self, variables: Variables) -> Restrictions:
        found = super()._restrictions(variables).within(0.0, np.inf)
        return found if self.total is None else found.summing_to(positive("total", self.total))
