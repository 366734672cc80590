"""Scikit-learn's own checks."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tether.estimators import (
    ConstrainedGLM,
    ConstrainedLasso,
    ConstrainedLogisticRegression,
    ConstrainedPoisson,
    ConstrainedRidge,
    FairLogisticRegression,
    FusedLasso,
    GeneralizedLasso,
    LogContrastRegressor,
    NonNegativeRegressor,
)


@pytest.mark.filterwarnings("ignore:Can't check dok sparse")
@parametrize_with_checks([ConstrainedGLM(), ConstrainedLogisticRegression()])
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


# Without a ridge, data with more columns than rows, as in these checks, has no one solution for bounds.
OTHERS = [
    ConstrainedGLM("poisson", alpha=0.1),
    ConstrainedGLM("gamma", alpha=0.1, constraints="sum == 0"),
    ConstrainedGLM("huber", alpha=0.1, lower_bounds=-1.0),
    ConstrainedRidge(),
    ConstrainedLasso(),
    ConstrainedPoisson(),
    ConstrainedLogisticRegression(penalty="l1"),
    FairLogisticRegression([0], train_sensitive_cols=True, covariance_threshold=0.5),
    FusedLasso(alpha=0.1),
    GeneralizedLasso(alpha=0.1),
    LogContrastRegressor(alpha=0.1, pseudo_count=0.5),
    NonNegativeRegressor(alpha=0.1),
    NonNegativeRegressor(alpha=0.1, total=1.0),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Can't check dok sparse")
@parametrize_with_checks(OTHERS)
def test_scikit_learns_checks_pass_for_all(estimator, check):
    check(estimator)
