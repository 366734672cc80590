"""Losses that a user might write: one from scratch, two that change a built-in loss."""

import numpy as np

from tether.objectives.losses import Logistic, Loss, Squared

from .formulas import FORMULAS


class LogCosh(Loss):
    """log cosh(z - y)."""

    name = "log-cosh"
    curvature = 1.0

    def prepare(self, y):
        return np.asarray(y, dtype=np.float64)

    def values(self, z, y):
        return FORMULAS["log-cosh"].values(z, y)

    def slopes(self, z, y):
        return FORMULAS["log-cosh"].slopes(z, y)

    def curvatures(self, z, y):
        return FORMULAS["log-cosh"].curvatures(z, y)


class Expectile(Squared):
    """(z - y)^2 / 2 where z is too large, a fifth of it where z is too small."""

    name = "expectile"

    def values(self, z, y):
        return FORMULAS["expectile"].values(z, y)

    def slopes(self, z, y):
        return FORMULAS["expectile"].slopes(z, y)

    def curvatures(self, z, y):
        return FORMULAS["expectile"].curvatures(z, y)


class Tempered(Logistic):
    """The logistic loss at temperature 2."""

    name = "tempered"
    curvature = 0.125

    def values(self, z, y):
        return FORMULAS["tempered"].values(z, y)

    def slopes(self, z, y):
        return FORMULAS["tempered"].slopes(z, y)

    def curvatures(self, z, y):
        return FORMULAS["tempered"].curvatures(z, y)


OWN = {"log-cosh": LogCosh(), "expectile": Expectile(), "tempered": Tempered()}
