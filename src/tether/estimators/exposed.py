"""Models of responses that come with an offset or an exposure."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

from sklearn.base import RegressorMixin

from tether.arrays import Array
from tether.estimators.base import LinearEstimator, Path
from tether.estimators.deviance import explained
from tether.estimators.fitting import Plan
from tether.estimators.table import Table, checked_offset, checked_table, shifted, weights_of
from tether.estimators.variables import Variables


class ExposedEstimator(RegressorMixin, LinearEstimator):
    """A model of responses whose linear predictor may have an offset."""

    @property
    @abstractmethod
    def _log_link(self) -> bool:
        """Whether an exposure makes sense: means are its multiples."""

    @abstractmethod
    def _labelled(self, table: Table) -> Table:
        """Return a table with labels as the loss takes them."""

    @abstractmethod
    def _plan(self, table: Table, variables: Variables) -> Plan:
        """Return what is minimised over the coefficients of a table."""

    @abstractmethod
    def _means(self, z: Array) -> Array:
        """Return the means that linear predictors stand for."""

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, exposure: Any = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The data.
        y : array of shape (n_samples,)
            The responses.
        sample_weight : array of shape (n_samples,), optional
            Weights >= 0.
        offset : array of shape (n_samples,), optional
            What is added to the linear predictor.
        exposure : array of shape (n_samples,), optional
            For models with a logarithmic link the time, area or population that responses belong to: its
            logarithm is added to the linear predictor.
        """
        self._learn(self._solve(self._table(X, y, sample_weight, offset, exposure)))
        return self

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

    def linear_predictor(self, X: Any, offset: Any = None, exposure: Any = None) -> Array:
        """Return X b and the intercept, with the offset: (n,), or (n, n_classes) for several classes."""
        z = self._linear(X)
        return shifted(z, self._shifts(offset, exposure, len(z)))

    def predict(self, X: Any, offset: Any = None, exposure: Any = None) -> Array:
        """Return the means that the model predicts, for an exposure of 1 unless one is given.

        For "binomial" the probability of the second class (or of success), for "multinomial" those of all
        classes, for "quantile-smoothed" the quantile.
        """
        return self._means(self.linear_predictor(X, offset, exposure))

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, exposure: Any = None
    ) -> float:
        """Return D^2, the share of the deviance that is explained; R^2 for the normal family.

        It is compared with a model that has an intercept only, and the same offset and exposure.
        """
        z = self._linear(X)
        shifts, weights = self._shifts(offset, exposure, len(z)), weights_of(sample_weight, len(z))
        return explained(self._loss, z, self._learned_labels(y), weights, shifts)

    def _learned_labels(self, y: Any) -> Any:
        """Return labels as those that were fitted."""
        return y

    def _table(self, X: Any, y: Any, sample_weight: Any, offset: Any, exposure: Any) -> Table:
        table = self._labelled(checked_table(self, X, y, sample_weight))
        return table._replace(offset=self._shifts(offset, exposure, table.n_samples))

    def _shifts(self, offset: Any, exposure: Any, n_samples: int) -> Array | None:
        return checked_offset(offset, exposure, n_samples, self._log_link)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self._log_link
        return tags
