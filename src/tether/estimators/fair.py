"""Logistic regression whose scores hardly depend on sensitive attributes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from tether.estimators.fitting import Plan
from tether.estimators.logistic import LogisticEstimator
from tether.estimators.restrictions import Restrictions
from tether.estimators.rows import Block
from tether.estimators.sensitive import Sensitive, attributes
from tether.estimators.table import Table
from tether.estimators.variables import Variables, column_place
from tether.inputs import nonnegative, switch


class FairLogisticRegression(LogisticEstimator):
    """Logistic regression with a band for the covariance between scores and sensitive attributes.

    |cov(s, x'b)| <= covariance_threshold for every sensitive attribute s, a linear constraint: for a small
    threshold the mean score is about the same in all groups (demographic parity).

    Parameters
    ----------
    sensitive_cols : list of str or int, optional
        The columns of X with sensitive attributes, by name or number. Or give `fit` sensitive_features.
    covariance_threshold : float
        How large a covariance may be; 0 for none at all.
    train_sensitive_cols : bool
        Whether sensitive columns are used in the model as well.
    C, penalty, l1_ratio, class_weight
        As for `ConstrainedLogisticRegression`.
    fit_intercept, constraints, method, tol, max_iter, max_seconds, random_state
        As for `ConstrainedGLM`.

    Attributes
    ----------
    covariances_ : dict
        The covariance of each sensitive attribute with the score, in the data that was fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.estimators import FairLogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(0, 2, 500)
    >>> X = rng.standard_normal((500, 3)) + group[:, None]
    >>> y = X.sum(axis=1) + rng.standard_normal(500) > 1.5
    >>> free = FairLogisticRegression(covariance_threshold=100.0).fit(X, y, sensitive_features=group)
    >>> fair = FairLogisticRegression(covariance_threshold=0.1).fit(X, y, sensitive_features=group)
    >>> [round(model.covariances_["sensitive"], 3) for model in (free, fair)]
    [1.162, 0.1]

    References
    ----------
    Zafar, Valera, Rodriguez & Gummadi, "Fairness constraints: mechanisms for fair classification", 2017.
    """

    def __init__(
        self,
        sensitive_cols: Any = None,
        *,
        covariance_threshold: float = 0.1,
        train_sensitive_cols: bool = False,
        C: float = 1.0,
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
        self.sensitive_cols = sensitive_cols
        self.covariance_threshold = covariance_threshold
        self.train_sensitive_cols = train_sensitive_cols
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, sensitive_features: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The data.
        y : array of shape (n_samples,)
            The classes.
        sample_weight : array of shape (n_samples,), optional
            Weights >= 0.
        sensitive_features : array or DataFrame of shape (n_samples,) or (n_samples, k), optional
            Sensitive attributes that are no columns of X; of text, one for each value.
        """
        table = super()._table(X, y, sample_weight)
        table = table._replace(sensitive=self._sensitive(table, sensitive_features))
        fitted = self._solve(table)
        self._learn(fitted)
        assert table.sensitive is not None
        scores = (table.sensitive.centred(table) @ self.coef_.T).tolist()
        self.covariances_ = {
            name: score[0] if len(score) == 1 else score
            for name, score in zip(table.sensitive.names, scores, strict=True)
        }
        return self

    def _table(self, X: Any, y: Any, sample_weight: Any) -> Table:
        table = super()._table(X, y, sample_weight)
        return table._replace(sensitive=self._sensitive(table, None))

    def _sensitive(self, table: Table, features: Any) -> Sensitive:
        if (features is None) == (self.sensitive_cols is None):
            raise ValueError(
                "sensitive_cols must name columns of X, or fit must be given sensitive_features, one of the "
                f"two; got {'neither' if features is None else 'both'}."
            )
        if features is not None:
            return attributes(features, table.n_samples)
        places = [
            column_place("sensitive_cols", column, table.columns) for column in _listed(self.sensitive_cols)
        ]
        columns = table.X[:, places]
        values = columns.toarray() if sparse.issparse(columns) else columns
        return Sensitive(np.asarray(values, dtype=float), tuple(table.columns[j] for j in places), places)

    def _plan(self, table: Table, variables: Variables) -> Plan:
        plan = super()._plan(table, variables)
        sensitive, band = table.sensitive, nonnegative("covariance_threshold", self.covariance_threshold)
        assert sensitive is not None
        rows = sensitive.centred(table)
        if variables.intercept:
            rows = np.column_stack([rows, np.zeros(len(rows))])
        labels = tuple(f"|cov({name}, score)| <= {band:g}" for name in sensitive.names)
        sides = np.full(len(rows), -band), np.full(len(rows), band)
        found = plan.restrictions.with_block(Block(sparse.csr_array(rows), *sides, labels))
        if sensitive.places and not switch("train_sensitive_cols", self.train_sensitive_cols):
            found = _without(found, sensitive.places)
        return replace(plan, restrictions=found)


def _without(restrictions: Restrictions, places: Sequence[int]) -> Restrictions:
    """Return restrictions under which some columns have no effect."""
    count = len(restrictions.variables.columns)
    if len(set(places)) == count:
        raise ValueError(
            f"sensitive_cols must leave columns to learn from, got all of them (n_features = {count}); set "
            "train_sensitive_cols=True."
        )
    free = np.full(count, np.inf)
    free[list(places)] = 0.0
    return restrictions.within(-free, free)


def _listed(columns: Any) -> list[Any]:
    return [columns] if isinstance(columns, str | int | np.integer) else list(columns)
