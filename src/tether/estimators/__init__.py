"""Scikit-learn estimators whose coefficients keep to linear constraints."""

from tether.estimators.compositions import LogContrastRegressor
from tether.estimators.fair import FairLogisticRegression
from tether.estimators.fused import FusedLasso, GeneralizedLasso
from tether.estimators.glm import ConstrainedGLM
from tether.estimators.logistic import ConstrainedLogisticRegression
from tether.estimators.poisson import ConstrainedPoisson
from tether.estimators.regressors import ConstrainedLasso, ConstrainedRidge, NonNegativeRegressor
from tether.estimators.trend import TrendFilter

__all__ = [
    "ConstrainedGLM",
    "ConstrainedLasso",
    "ConstrainedLogisticRegression",
    "ConstrainedPoisson",
    "ConstrainedRidge",
    "FairLogisticRegression",
    "FusedLasso",
    "GeneralizedLasso",
    "LogContrastRegressor",
    "NonNegativeRegressor",
    "TrendFilter",
]
