"""Tests of what a model was made to satisfy, and of whatever else one may ask of it."""

from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from tether.arrays import Array
from tether.inference.covariance import spectrum_on
from tether.inference.equations import Equations


class Evidence(NamedTuple):
    """A statistic that is chi-squared if the hypothesis is true."""

    hypothesis: str
    statistic: float
    df: int
    pvalue: float

    @classmethod
    def of(cls, hypothesis: str, statistic: float, df: int) -> "Evidence":
        """Return a test with its p-value; NaN where the data cannot speak against a hypothesis."""
        if df == 0:
            return cls(hypothesis, np.nan, 0, np.nan)
        statistic = max(statistic, 0.0)
        return cls(hypothesis, statistic, df, float(chi2.sf(statistic, df)))


class Relaxation(NamedTuple):
    """A constraint, or all of them, and the equations that are left without it.

    The degrees of freedom are the directions that the data determines then and the equations left out before:
    none of an equation that others imply, and none of one that only tells coefficients apart, as the sum of
    those of all levels of a category does.
    """

    hypothesis: str
    left: Equations
    df: int
    inverse: Array  # of the Hessian on the equations that are left


def relaxations(equations: Equations, hessian: Array) -> list[Relaxation]:
    """Return what is left without each row and, where there are several, without all."""
    free = len(hessian) - equations.rank
    sets = [(label, [k]) for k, label in enumerate(equations.labels)]
    if len(sets) > 1:
        sets.append(("all together", list(range(len(equations.labels)))))
    found = list[Relaxation]()
    for label, places in sets:
        left = equations.without(places)
        spectrum = spectrum_on(hessian, left)
        found.append(Relaxation(label, left, spectrum.rank - free, spectrum.inverse()))
    return found


def score_test(relaxed: Relaxation, score: Array, dispersion: float) -> Evidence:
    """Return Rao's test: how far the score is from zero where the constraint is dropped."""
    statistic = float(score @ relaxed.inverse @ score) / dispersion
    return Evidence.of(relaxed.hypothesis, statistic, relaxed.df)


def wald_test(hypothesis: str, rows: Equations, x: Array, covariance: Array) -> Evidence:
    """Return the test of R x = q by the covariance of x."""
    missed = rows.matrix @ x - rows.right
    spread = rows.matrix @ covariance @ rows.matrix.T
    values, vectors = np.linalg.eigh(0.5 * (spread + spread.T))
    seen = values > 1e-12 * max(float(np.abs(values).max(initial=0.0)), 1e-300)
    along = vectors[:, seen].T @ missed
    return Evidence.of(hypothesis, float(np.sum(np.square(along) / values[seen])), int(seen.sum()))
