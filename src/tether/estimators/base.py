"""What all estimators share: fitting through `tether.solve`, and what is left behind after it."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tether.arrays import Array
from tether.estimators.fitting import Accuracy, Fitted, Plan, fit
from tether.estimators.restrictions import Restrictions, Variables, restricted
from tether.estimators.table import Table, checked_rows
from tether.feasible import Multipliers
from tether.inputs import switch


class LinearEstimator(BaseEstimator):
    """A linear model with constraints; subclasses say what is minimised.

    Attributes
    ----------
    coef_, intercept_
        What was fitted, in scikit-learn's shapes.
    n_features_in_, feature_names_in_
        The columns.
    n_iter_ : int
        The rounds of the method.
    gap_ : float or None
        A bound on how far the objective is above its least value.
    multipliers_ : dict
        By what constraints say: how much the objective would rise with their right-hand sides.
    active_ : list of str
        The inequalities and bounds that hold as equations.
    solution_ : Solution
        The solution with its history.
    """

    constraints: Any
    fit_intercept: bool
    method: Any
    tol: float
    max_iter: int | None
    max_seconds: float | None
    random_state: Any

    @abstractmethod
    def _plan(self, table: Table, variables: Variables) -> Plan:
        """Return what is minimised over the coefficients of a table."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fit(self, table: Table, classes: tuple[str, ...] = (), start: Array | None = None) -> Fitted:
        """Fit a table, and keep what there is to say of it."""
        variables = Variables(table.columns, switch("fit_intercept", self.fit_intercept), classes)
        fitted = fit(table, self._plan(table, variables), self._accuracy(), start)
        self._learn(fitted)
        return fitted

    def _accuracy(self) -> Accuracy:
        seed = 0 if self.random_state is None else self.random_state
        return Accuracy(self.method, self.tol, self.max_iter, self.max_seconds, seed)

    def _restrictions(self, variables: Variables) -> Restrictions:
        """Return what the parameters say of coefficients."""
        return restricted(Restrictions(variables), self.constraints)

    def _learn(self, fitted: Fitted) -> None:
        solution = fitted.solution
        self.solution_, self.objective_, self._fitted = solution, fitted.objective, fitted
        self._loss = fitted.objective.loss
        self.n_iter_ = max(1, solution.counts.rounds)
        self.gap_ = solution.gap
        self.multipliers_ = named_multipliers(fitted)
        self.active_ = active_labels(fitted)

    def _linear(self, X: Any) -> Array:
        """Return X times the coefficients and the intercept, (n,) or (n, K)."""
        check_is_fitted(self)
        found = checked_rows(self, X) @ np.asarray(self.coef_).T
        return np.asarray(found + self.intercept_)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the data behind: it would travel with every pickle."""
        state = super().__getstate__().copy()
        for name in ("objective_", "_fitted"):
            state.pop(name, None)
        return state


def named_multipliers(fitted: Fitted) -> dict[str, float]:
    """Return the multipliers of rows and bounds by what they say."""
    rows, found = fitted.restrictions.rows, fitted.solution.multipliers
    if found is None:
        return {}
    beside = isinstance(found, Multipliers)
    of_rows = found.inequalities if isinstance(found, Multipliers) else found
    named = dict[str, float]()
    if rows is not None and of_rows is not None:
        named |= dict(zip(rows.labels, of_rows[: len(rows.labels)].tolist(), strict=True))
    if beside and isinstance(found, Multipliers) and found.bounds is not None:
        bounds = found.bounds
        named |= {label: float(bounds[j]) for j, label in fitted.restrictions.bound_labels().items()}
    return named


def active_labels(fitted: Fitted) -> list[str]:
    """Return what the inequalities and bounds say that hold as equations."""
    rows, active = fitted.restrictions.rows, fitted.solution.active
    if active is None:
        return []
    found = list[str]()
    if rows is not None and active.inequalities is not None:
        held = (active.inequalities[: len(rows.labels)] != 0) & ~rows.equations
        found += [label for label, holds in zip(rows.labels, held, strict=True) if holds]
    if active.bounds is not None:
        places = fitted.restrictions.bound_labels()
        found += [label for j, label in places.items() if active.bounds[j] != 0]
    return found
