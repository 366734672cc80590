"""Rates of counts, with constraints."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from tether.arrays import Array
from tether.estimators.base import LinearEstimator, Path
from tether.estimators.deviance import explained
from tether.estimators.fitting import Plan
from tether.estimators.penalties import factors
from tether.estimators.table import Table, checked_offset, checked_table, shifted, weights_of
from tether.estimators.variables import Variables
from tether.objectives.losses import Poisson


class ConstrainedPoisson(RegressorMixin, LinearEstimator):
    """Poisson regression with constraints: the mean of exp(z) - y z + alpha ||b||^2 / 2.

    These are the words and the penalty of scikit-learn's PoissonRegressor.

    Parameters
    ----------
    alpha : float or array of shape (n_features,)
        The weight of the ridge, for all coefficients or for each; 0 for standard errors.
    fit_intercept, constraints, method, tol, max_iter, max_seconds, random_state
        As for `ConstrainedGLM`.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.estimators import ConstrainedPoisson
    >>> X, years = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([10.0, 20.0, 10.0, 20.0])
    >>> model = ConstrainedPoisson(alpha=0.0).fit(X, [3, 5, 6, 18], exposure=years)
    >>> model.predict([[0.0], [1.0]], exposure=[100.0, 100.0]).round(4)
    array([26.6667, 80.    ])
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
        l2 = factors("alpha", self.alpha, variables.columns)
        return Plan(Poisson(), self._restrictions(variables), l2)

    def _table(self, X: Any, y: Any, sample_weight: Any, offset: Any, exposure: Any) -> Table:
        table = checked_table(self, X, y, sample_weight).with_numbers()
        return table._replace(offset=checked_offset(offset, exposure, table.n_samples, log_link=True))

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, exposure: Any = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The data.
        y : array of shape (n_samples,)
            Counts >= 0.
        sample_weight : array of shape (n_samples,), optional
            Weights >= 0.
        offset : array of shape (n_samples,), optional
            What is added to the linear predictor.
        exposure : array of shape (n_samples,), optional
            The time, area or population that counts belong to: its logarithm is added to the linear
            predictor.
        """
        self._learn(self._solve(self._table(X, y, sample_weight, offset, exposure)))
        return self

    def linear_predictor(self, X: Any, offset: Any = None, exposure: Any = None) -> Array:
        """Return the logarithms of the means."""
        z = self._linear(X)
        return shifted(z, checked_offset(offset, exposure, len(z), log_link=True))

    def predict(self, X: Any, offset: Any = None, exposure: Any = None) -> Array:
        """Return the expected counts, for an exposure of 1 unless one is given."""
        return np.exp(self.linear_predictor(X, offset, exposure))

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, exposure: Any = None
    ) -> float:
        """Return D^2, the share of the deviance that is explained.

        It is compared with a model that has an intercept only, and the same offset and exposure.
        """
        z = self._linear(X)
        shifts = checked_offset(offset, exposure, len(z), log_link=True)
        return explained(self._loss, z, y, weights_of(sample_weight, len(z)), shifts)

    def path(
        self,
        X: Any,
        y: Any,
        alphas: Sequence[float],
        sample_weight: Any = None,
        offset: Any = None,
        exposure: Any = None,
    ) -> Path:
        """Return the models for several alphas, each begun where the one before ended."""
        return self._along(self._table(X, y, sample_weight, offset, exposure), "alpha", alphas)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags
