"""Lassos of differences: coefficients that are equal to their neighbours, or whatever D makes of them."""

from typing import Any

import numpy as np

from tether.estimators.fitting import Plan
from tether.estimators.regressors import LinearRegressor
from tether.estimators.table import Table
from tether.estimators.variables import Variables, column_place
from tether.inputs import nonnegative, shown
from tether.objectives.losses import Squared
from tether.penalties import differences, graph_differences


class FusedLasso(LinearRegressor):
    """Least squares whose neighbouring coefficients tend to be equal.

    ||y - X b||^2 / (2 N) + alpha (sum |b_i - b_j| + sparsity ||b||_1), the first sum over neighbours.

    Parameters
    ----------
    alpha : float
        The weight of the penalty.
    sparsity : float
        The weight of the l1 norm of the coefficients themselves, in units of alpha.
    edges : list of pairs, optional
        Which columns are neighbours, by name or by number; by default each is one of the next.
    fit_intercept, constraints, method, tol, max_iter, max_seconds, random_state
        As for `ConstrainedGLM`.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.estimators import FusedLasso
    >>> y = np.array([1.0, 1.2, 0.8, 5.0, 5.3, 4.7])
    >>> FusedLasso(alpha=0.05, fit_intercept=False).fit(np.eye(6), y).coef_.round(3)
    array([1.1, 1.1, 1.1, 4.9, 4.9, 4.9])

    References
    ----------
    Tibshirani, Saunders, Rosset, Zhu & Knight, "Sparsity and smoothness via the fused lasso", 2005.
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        sparsity: float = 0.0,
        edges: Any = None,
        fit_intercept: bool = True,
        constraints: Any = None,
        method: Any = "auto",
        tol: float = 1e-18,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        random_state: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.sparsity = sparsity
        self.edges = edges
        self.fit_intercept = fit_intercept
        self.constraints = constraints
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.random_state = random_state

    def _plan(self, table: Table, variables: Variables) -> Plan:
        alpha, count = nonnegative("alpha", self.alpha), len(variables.columns)
        l1: list[tuple[Any, Any]] = [(alpha * nonnegative("sparsity", self.sparsity), None)]
        if self.edges is not None:
            l1.append((alpha, graph_differences(self._places(variables), count)))
        elif count > 1:
            l1.append((alpha, differences(count)))
        return Plan(Squared(), self._restrictions(variables), np.zeros(count), l1)

    def _places(self, variables: Variables) -> list[list[int]]:
        """Return edges by the numbers of their columns."""
        pairs = self.edges.tolist() if isinstance(self.edges, np.ndarray) else self.edges
        if not isinstance(pairs, list | tuple) or not all(_is_pair(edge) for edge in pairs):
            raise TypeError(
                f"edges must be a list of pairs of columns, by name or number, got {shown(self.edges)}."
            )
        return [[column_place("edges", end, variables.columns) for end in edge] for edge in pairs]


class GeneralizedLasso(LinearRegressor):
    """Least squares with an l1 penalty of linear functions of the coefficients.

    ||y - X b||^2 / (2 N) + alpha ||D b||_1: of D = None it is the lasso, of differences the fused lasso, of
    the differences on a graph or a picture total variation.

    Parameters
    ----------
    D : array, sparse matrix or DataFrame of shape (k, n_features), optional
        The linear functions; the columns of a data frame are matched by name, and may be some of all.
    alpha : float
        The weight of the penalty.
    fit_intercept, constraints, method, tol, max_iter, max_seconds, random_state
        As for `ConstrainedGLM`.

    Examples
    --------
    >>> import numpy as np, tether
    >>> from tether.estimators import GeneralizedLasso
    >>> y = np.array([0.0, 1.1, 1.9, 3.0, 2.1, 0.9, 0.0])
    >>> bends = tether.differences(7, order=2)
    >>> GeneralizedLasso(bends, alpha=0.02, fit_intercept=False).fit(np.eye(7), y).coef_.round(2)
    array([0.07, 1.02, 1.98, 2.93, 1.98, 1.  , 0.02])

    References
    ----------
    Tibshirani & Taylor, "The solution path of the generalized lasso", 2011.
    """

    def __init__(
        self,
        D: Any = None,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        constraints: Any = None,
        method: Any = "auto",
        tol: float = 1e-18,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        random_state: int | None = None,
    ) -> None:
        self.D = D
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.constraints = constraints
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.random_state = random_state

    def _plan(self, table: Table, variables: Variables) -> Plan:
        matrix = None if self.D is None else variables.rows("D", self.D)
        l1 = [(nonnegative("alpha", self.alpha), matrix)]
        return Plan(Squared(), self._restrictions(variables), np.zeros(len(variables.columns)), l1)


def _is_pair(edge: Any) -> bool:
    return isinstance(edge, list | tuple) and len(edge) == 2
