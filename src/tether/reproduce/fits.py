"""Powers: straight lines through logarithms, with an interval for their slope."""

import math
from typing import NamedTuple

import numpy as np
from scipy import stats

from tether.arrays import Array

UNCLEAR = 0.5  # half widths of intervals that say nothing


class Power(NamedTuple):
    """y ~ x^exponent, within an interval of 95%."""

    exponent: float
    half_width: float

    def __str__(self) -> str:
        width = f" ± {self.half_width:.2f}" if math.isfinite(self.half_width) else ""
        return f"{self.exponent:+.2f}{width}"


def power(x: Array, y: Array) -> Power:
    """Fit y = c x^a by least squares of logarithms; ``y`` may have a row a run."""
    rows = np.atleast_2d(y)
    across, up = np.tile(np.log(x), len(rows)), np.log(rows).ravel()
    spread = np.sum((across - across.mean()) ** 2)
    slope = float(np.sum((across - across.mean()) * up) / spread)
    left = up - up.mean() - slope * (across - across.mean())
    freedom = len(up) - 2
    if freedom < 1:
        return Power(slope, math.inf)
    error = math.sqrt(float(np.sum(left**2)) / freedom / float(spread))
    return Power(slope, float(stats.t.ppf(0.975, freedom)) * error)
