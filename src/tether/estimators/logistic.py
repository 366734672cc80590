"""Classifiers with constraints: logistic regression of two classes or several."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.special import expit, log_softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets

from tether.arrays import Array
from tether.estimators.base import LinearEstimator, Path
from tether.estimators.fitting import Fitted, Plan
from tether.estimators.penalties import elastic_net
from tether.estimators.table import Table, checked_table
from tether.estimators.variables import Variables
from tether.inputs import positive, shown
from tether.objectives.losses import Logistic, Loss, Multinomial

PENALTIES = ("l2", "l1", "elasticnet", None)


class LogisticEstimator(ClassifierMixin, LinearEstimator):
    """What classifiers by logistic regression share."""

    C: float
    penalty: str | None
    l1_ratio: float
    class_weight: Any

    def _table(self, X: Any, y: Any, sample_weight: Any) -> Table:
        table = checked_table(self, X, y, sample_weight)
        check_classification_targets(table.y)
        self.classes_, places = np.unique(table.y, return_inverse=True)
        weights = table.weights
        if self.class_weight is not None:
            own = compute_sample_weight(self.class_weight, table.y)
            weights = own if weights is None else own * weights
        _require_two_classes(places, weights)
        several = tuple(map(str, self.classes_)) if len(self.classes_) > 2 else ()
        return table._replace(y=places, weights=weights, classes=several)

    def _plan(self, table: Table, variables: Variables) -> Plan:
        loss: Loss = Multinomial(len(table.classes)) if table.classes else Logistic()
        if self.penalty not in PENALTIES:
            raise ValueError(f'penalty must be "l2", "l1", "elasticnet" or None, got {shown(self.penalty)}.')
        share = {"l2": 0.0, "l1": 1.0}.get(str(self.penalty), self.l1_ratio)
        weights = elastic_net(variables.columns, self._strength / table.mass, share)
        return Plan(loss, self._restrictions(variables), weights.l2, [(weights.l1, None)])

    @property
    def _strength(self) -> float:
        """What the penalty weighs beside the sum of losses."""
        inverse = np.inf if self.penalty is None else self.C
        return 0.0 if inverse == np.inf else 1.0 / positive("C", inverse)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The data.
        y : array of shape (n_samples,)
            The classes.
        sample_weight : array of shape (n_samples,), optional
            Weights >= 0.
        """
        self._learn(self._solve(self._table(X, y, sample_weight)))
        return self

    def _shaped(self, fitted: Fitted) -> tuple[Array, Array]:
        coef, intercept = super()._shaped(fitted)
        return np.atleast_2d(coef), np.atleast_1d(intercept)

    def decision_function(self, X: Any) -> Array:
        """Return the linear predictors: (n,) of two classes, else (n, n_classes)."""
        z = self._linear(X)
        return z[:, 0] if z.shape[1] == 1 else z

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the probabilities of the classes, in the order of ``classes_``."""
        z = self.decision_function(X)
        if z.ndim == 1:
            z = np.column_stack([np.zeros_like(z), z])
        return np.asarray(log_softmax(z, axis=1))

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes, in the order of ``classes_``."""
        z = self.decision_function(X)
        return np.column_stack([expit(-z), expit(z)]) if z.ndim == 1 else np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Any:
        """Return the most probable classes."""
        z = self.decision_function(X)
        return self.classes_[(z > 0.0).astype(int) if z.ndim == 1 else z.argmax(axis=1)]

    def path(self, X: Any, y: Any, Cs: Sequence[float], sample_weight: Any = None) -> Path:
        """Return the models for several C, each begun where the one before ended."""
        return self._along(self._table(X, y, sample_weight), "C", Cs)


class ConstrainedLogisticRegression(LogisticEstimator):
    """Logistic regression with constraints, in the words of scikit-learn's LogisticRegression.

    The objective is C sum_i w_i loss_i + ||b||^2 / 2 for penalty="l2", or with ||b||_1 for "l1", or with
    l1_ratio ||b||_1 + (1 - l1_ratio) ||b||^2 / 2 for "elasticnet", or with nothing for None. Several classes
    have a coefficient each (multinomial).

    Parameters
    ----------
    C : float
        The inverse of the weight of the penalty; infinite for none.
    penalty : "l2", "l1", "elasticnet" or None
        What is added; None for standard errors.
    l1_ratio : float
        The share of the l1 term of "elasticnet".
    class_weight : dict or "balanced", optional
        Factors of the weights of samples, by class.
    fit_intercept, constraints, method, tol, max_iter, max_seconds, random_state
        As for `ConstrainedGLM`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    coef_, intercept_ : array of shape (1, n_features) and (1,), or (n_classes, n_features) and (n_classes,)
        The coefficients of the second of two classes, or of each.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from tether.estimators import ConstrainedLogisticRegression
    >>> data = load_breast_cancer(as_frame=True)
    >>> X = data.data[["mean radius", "mean texture", "mean smoothness"]]
    >>> model = ConstrainedLogisticRegression(constraints=["'mean radius' == 2 * 'mean texture'"])
    >>> model.fit(X, data.target).coef_.round(3)
    array([[-0.709, -0.355, -0.987]])
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        penalty: str | None = "l2",
        l1_ratio: float = 0.0,
        class_weight: Any = None,
        fit_intercept: bool = True,
        constraints: Any = None,
        method: Any = "auto",
        tol: float = 1e-18,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        random_state: int | None = None,
    ) -> None:
        self.C = C
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.constraints = constraints
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.random_state = random_state


def _require_two_classes(places: Any, weights: Array | None) -> None:
    counted = places if weights is None else places[weights > 0.0]
    if len(np.unique(counted)) < 2:
        raise ValueError(
            "y must hold at least two classes, with samples of positive weight, got one class only; there is "
            "nothing to tell apart."
        )
