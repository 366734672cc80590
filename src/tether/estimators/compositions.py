"""Regression on parts of a whole: microbiomes, budgets, recipes, soils."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from tether.arrays import Array
from tether.estimators.fitting import Plan
from tether.estimators.penalties import elastic_net
from tether.estimators.regressors import LinearRegressor
from tether.estimators.restrictions import Restrictions
from tether.estimators.rows import expressed
from tether.estimators.table import Table
from tether.estimators.variables import Variables
from tether.inputs import positive
from tether.objectives.losses import Squared


class LogContrastRegressor(LinearRegressor):
    """Log-contrast regression of compositional data: on logarithms of X, with coefficients that sum to 0.

    Then a row means the same whatever its parts sum up to: only their ratios count. The objective is
    ||y - log(X) b||^2 / (2 N) + alpha (l1_ratio ||b||_1 + (1 - l1_ratio) ||b||^2 / 2).

    Parameters
    ----------
    alpha : float
        The weight of the penalty.
    l1_ratio : float
        The share of the l1 term; 1 chooses among the parts.
    pseudo_count : float, optional
        What is added to all parts before the logarithm, where some are 0. Without one they are refused.
    fit_intercept, constraints, method, tol, max_iter, max_seconds, random_state
        As for `ConstrainedGLM`; constraints hold beside the sum.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.estimators import LogContrastRegressor
    >>> rng = np.random.default_rng(0)
    >>> parts = rng.dirichlet(np.ones(4), size=300)
    >>> y = 2.0 * np.log(parts[:, 0] / parts[:, 1]) + 0.1 * rng.standard_normal(300)
    >>> model = LogContrastRegressor(alpha=0.1).fit(parts, y)
    >>> model.coef_.round(2), bool(np.allclose(model.predict(parts), model.predict(1000 * parts)))
    (array([ 1.94, -1.94,  0.  ,  0.  ]), True)

    References
    ----------
    Lin, Shi, Feng & Li, "Variable selection in regression with compositional covariates", 2014.
    """

    def __init__(
        self,
        alpha: float = 0.0,
        *,
        l1_ratio: float = 1.0,
        pseudo_count: float | None = None,
        fit_intercept: bool = True,
        constraints: Any = None,
        method: Any = "auto",
        tol: float = 1e-18,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        random_state: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.pseudo_count = pseudo_count
        self.fit_intercept = fit_intercept
        self.constraints = constraints
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.random_state = random_state

    def _table(self, X: Any, y: Any, sample_weight: Any) -> Table:
        table = super()._table(X, y, sample_weight)
        return table._replace(X=logarithms(self, table.X, self.pseudo_count))

    def _rows(self, X: Any) -> Array:
        return logarithms(self, super()._rows(X), self.pseudo_count)

    def _plan(self, table: Table, variables: Variables) -> Plan:
        weights = elastic_net(variables.columns, self.alpha, self.l1_ratio)
        return Plan(Squared(), self._restrictions(variables), weights.l2, [(weights.l1, None)])

    def _restrictions(self, variables: Variables) -> Restrictions:
        balance = expressed(variables, "constraints", "sum == 0")
        return super()._restrictions(variables).with_block(balance)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def logarithms(estimator: BaseEstimator, X: Any, pseudo_count: Any) -> Array:
    """Return the logarithms of parts, or refuse those that have none."""
    parts = X.toarray() if sparse.issparse(X) else X
    if pseudo_count is not None:
        parts = parts + positive("pseudo_count", pseudo_count)
    if parts.min() <= 0.0:
        if parts.min() < 0.0:
            raise ValueError(
                f"Negative values in data passed to {type(estimator).__name__}: X must hold parts of a "
                f"whole, which are positive, got {parts.min():g}."
            )
        raise ValueError(
            "X must hold positive parts of a whole, got 0, which has no logarithm; give a pseudo_count, for "
            "example half of the smallest part that can be measured."
        )
    return np.log(parts)
