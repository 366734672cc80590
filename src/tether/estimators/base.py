"""What all estimators share: fitting through `tether.solve`, and what is left behind after it."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from tether.arrays import Array
from tether.estimators.fitting import Accuracy, Fitted, Plan, fit, seed_of
from tether.estimators.named import active_labels, named_multipliers
from tether.estimators.restrictions import Restrictions, restricted
from tether.estimators.table import Table, checked_rows
from tether.estimators.variables import Variables
from tether.inference import Inference, Summary, infer
from tether.inputs import switch, vector


class Path(NamedTuple):
    """Models along a parameter, each begun where the one before ended.

    Attributes
    ----------
    values : ndarray, shape (k,)
        Of the parameter, in the order in which they were given.
    coefs, intercepts : ndarray
        One model after the other, in the shapes of ``coef_`` and ``intercept_``.
    objectives : ndarray, shape (k,)
        The objective of each model.
    gaps : list of float or None
        Bounds on how far it is above the least.
    n_iters : ndarray of int, shape (k,)
        Rounds.
    """

    values: Array
    coefs: Array
    intercepts: Array
    objectives: Array
    gaps: list[float | None]
    n_iters: Array


class LinearEstimator(BaseEstimator):
    """A linear model with constraints; subclasses say what is minimised."""

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

    def _solve(self, table: Table, start: Array | None = None) -> Fitted:
        """Return the model for a table."""
        variables = Variables(table.columns, switch("fit_intercept", self.fit_intercept), table.classes)
        seed = seed_of(self.random_state)
        self._response = table.response
        accuracy = Accuracy(self.method, self.tol, self.max_iter, self.max_seconds, seed)
        return fit(table, self._plan(table, variables), accuracy, start)

    def _restrictions(self, variables: Variables) -> Restrictions:
        """Return what the parameters say of coefficients."""
        return restricted(Restrictions(variables), self.constraints)

    def _learn(self, fitted: Fitted) -> None:
        """Keep what there is to say of a model."""
        solution = fitted.solution
        self.solution_, self.objective_, self._fitted = solution, fitted.objective, fitted
        self._loss = fitted.objective.loss
        self.n_iter_ = max(1, solution.counts.rounds)
        self.gap_ = solution.gap
        self.multipliers_ = named_multipliers(fitted)
        self.active_ = active_labels(fitted)
        self.coef_, self.intercept_ = self._shaped(fitted)

    def _shaped(self, fitted: Fitted) -> tuple[Any, Any]:
        """Return coefficients and intercept: (p,) and a number, or (K, p) and (K,)."""
        weights, one = fitted.weights, fitted.objective.n_outputs == 1
        inner, last = (weights[:-1], weights[-1]) if self.fit_intercept else (weights, 0.0 * weights[-1])
        return (inner[:, 0].copy(), float(last[0])) if one else (inner.T.copy(), last.copy())

    def _along(self, table: Table, parameter: str, values: Sequence[float]) -> Path:
        """Return the models for values of a parameter, each begun where the one before ended."""
        models, start = list[LinearEstimator](), None
        given = vector(f"{parameter}s", values).tolist()
        if not given:
            raise ValueError(f"{parameter}s must hold at least one number, got none.")
        for value in given:
            model = clone(self).set_params(**{parameter: value})
            fitted = model._solve(table, start)
            model._learn(fitted)
            models.append(model)
            start = fitted.solution.x
        return Path(
            values=np.asarray(values, dtype=float),
            coefs=np.array([model.coef_ for model in models]),
            intercepts=np.array([model.intercept_ for model in models]),
            objectives=np.array([model.solution_.fun for model in models]),
            gaps=[model.gap_ for model in models],
            n_iters=np.array([model.n_iter_ for model in models]),
        )

    def inference(
        self,
        cov_type: str = "nonrobust",
        *,
        groups: Any = None,
        expected_information: bool = False,
        use_t: bool | None = None,
    ) -> Inference:
        """Return standard errors, tests and criteria, as `tether.inference.infer` does.

        They are refused under a penalty, and while inequalities hold as equations.
        """
        check_is_fitted(self)
        if not hasattr(self, "_fitted"):
            raise ValueError("inference needs the data, which a pickled estimator left behind; fit it again.")
        return infer(
            self.objective_,
            self.solution_,
            self._fitted.restrictions.for_solve(),
            cov_type=cov_type,
            groups=groups,
            expected_information=expected_information,
            use_t=use_t,
            response=self._response,
        )

    def summary(self, cov_type: str = "nonrobust", *, groups: Any = None, alpha: float = 0.05) -> Summary:
        """Return the table of coefficients, standard errors and tests; print it."""
        return self.inference(cov_type, groups=groups).summary(alpha)

    def _linear(self, X: Any) -> Array:
        """Return X times the coefficients and the intercept, (n,) or (n, K)."""
        check_is_fitted(self)
        return np.asarray(self._rows(X) @ np.asarray(self.coef_).T + self.intercept_)

    def _rows(self, X: Any) -> Any:
        """Return rows to predict for, as they are multiplied by the coefficients."""
        return checked_rows(self, X)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the data behind: it would travel with every pickle."""
        state: dict[str, Any] = super().__getstate__().copy()
        for name in ("objective_", "_fitted"):
            state.pop(name, None)
        return state
