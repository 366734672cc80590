"""Rates of counts, with constraints."""

from typing import Any

import numpy as np

from tether.arrays import Array
from tether.estimators.exposed import ExposedEstimator
from tether.estimators.fitting import Plan
from tether.estimators.penalties import factors
from tether.estimators.table import Table
from tether.estimators.variables import Variables
from tether.objectives.losses import Poisson


class ConstrainedPoisson(ExposedEstimator):
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

    @property
    def _log_link(self) -> bool:
        return True

    def _labelled(self, table: Table) -> Table:
        return table.with_numbers()

    def _plan(self, table: Table, variables: Variables) -> Plan:
        l2 = factors("alpha", self.alpha, variables.columns)
        return Plan(Poisson(), self._restrictions(variables), l2)

    def _means(self, z: Array) -> Array:
        return np.exp(z)
