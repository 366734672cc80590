"""Scikit-learn estimators whose coefficients keep to linear constraints."""

from tether.estimators.glm import ConstrainedGLM

__all__ = ["ConstrainedGLM"]
