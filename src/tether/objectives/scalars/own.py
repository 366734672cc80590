"""A user's phi, phi' and phi'', compared with each other before they are believed."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from tether.arrays import Array, Indices
from tether.objectives.domain import Domain
from tether.objectives.scalars.base import PerVariable, ScalarFunction

_NAMES = ("phi", "phi'", "phi''")
_SCALES = (0.01, 0.1, 1.0)  # of the surroundings that are tried
_STEPS = (1e-4, 1e-6)  # of differences: one of them agrees if no kink is near
_TOLERANCE = 1e-3  # relative, of such a difference
_DIGITS = 1e-14  # of phi: what rounding may hide of it
_FLAT = 1e-9  # of the largest phi'': a smaller negative one may be rounding

Map = Callable[[Array], Any]


class Probe(NamedTuple):
    """Some points, and what the three functions say there."""

    x: Array
    values: Array
    slopes: Array
    curvatures: Array


@final
@dataclass(frozen=True)
class Own(ScalarFunction):
    """Three functions that take all p variables and return p numbers each."""

    name = "own"
    convex = False  # nobody has proven it

    phi: Map
    slope: Map
    curvature: Map
    home: PerVariable = 0.0

    def values_and_slopes(self, x: Array) -> tuple[Array, Array]:
        """Return phi(x) and phi'(x)."""
        return _numbers(0, self.phi, x), _numbers(1, self.slope, x)

    def curvatures(self, x: Array) -> Array:
        """Return phi''(x)."""
        return _numbers(2, self.curvature, x)

    def slopes_of(self, x: Array, some: Indices) -> Array:
        """Return phi'(x) of some variables: the functions know no parts."""
        return _numbers(1, self.slope, x)[some]

    def spread(self, lower: PerVariable, upper: PerVariable) -> tuple[PerVariable, PerVariable]:
        """Return 0 and infinity: nothing is known."""
        return 0.0, math.inf

    def start(self) -> PerVariable:
        """Return 0."""
        return self.home

    @property
    def parameters(self) -> dict[str, PerVariable]:
        """None by name."""
        return {}

    def checked(self, home: Array, domain: Domain) -> str:
        """Refuse functions that are not derivatives of each other; return what shows that phi is not convex.

        They are looked at around a point of the domain.
        """
        seen = ""
        with np.errstate(all="ignore"):
            self._require_finite(home)
            for x in _surroundings(home, domain):
                probe = self._probed(x)
                self._require_parts(probe, home)
                self._require_derivatives(probe)
                seen = seen or _negative_curvature(probe)
        return seen

    def fingerprint(self, home: Array, domain: Domain) -> tuple[str, ...]:
        """Return what the functions say around a point, rounded to 10 digits."""
        with np.errstate(all="ignore"):
            probes = [self._probed(x) for x in (home, *_surroundings(home, domain))]
        sums = (part @ np.cos(np.arange(len(part))) for probe in probes for part in probe[1:])
        return tuple(f"{number:.9e}" for number in sums)

    def _probed(self, x: Array) -> Probe:
        return Probe(x, *self.values_and_slopes(x), self.curvatures(x))

    def _require_finite(self, home: Array) -> None:
        for name, numbers in zip(_NAMES, self._probed(home)[1:], strict=True):
            bad = np.flatnonzero(~np.isfinite(numbers))
            if len(bad):
                j = bad[0]
                raise ValueError(
                    f"{name} must be finite inside the domain, got {numbers[j]} at x[{j}] = {home[j]:g}; "
                    "give lower and upper, between which it is, or initial."
                )

    def _require_parts(self, probe: Probe, home: Array) -> None:
        """Refuse a function whose j-th number rests on other variables than x_j."""
        mixed = np.where(np.arange(len(home)) % 2, probe.x, home)
        kept = np.flatnonzero(np.arange(len(home)) % 2)
        for name, one, other in zip(_NAMES, probe[1:], self._probed(mixed)[1:], strict=True):
            if not np.allclose(one[kept], other[kept], rtol=1e-9, atol=0.0, equal_nan=True):
                raise ValueError(
                    f"{name} must act on each variable alone, but what it returns for x[1] changes with "
                    "x[0]; return one number for each variable."
                )

    def _require_derivatives(self, probe: Probe) -> None:
        for k, function in enumerate((self.phi, self.slope)):
            parts = probe[1 + k], probe[2 + k]
            wrong = np.ones(len(probe.x), dtype=bool)
            for step in _STEPS:
                wrong &= _differs(k, function, probe.x, step, parts)
            if wrong.any():
                j = int(np.flatnonzero(wrong)[0])
                raise ValueError(
                    f"{_NAMES[k + 1]} must be the derivative of {_NAMES[k]}, but at x[{j}] = {probe.x[j]:g} "
                    f"it says {parts[1][j]:g} where differences of {_NAMES[k]} give "
                    f"{_difference(k, function, probe.x, _STEPS[0])[0][j]:g}."
                )


def _difference(k: int, function: Map, x: Array, step: float) -> tuple[Array, Array]:
    """Return the slope between two neighbours of x, and their distance."""
    reach = step * np.maximum(np.abs(x), step)
    above, below = x + reach, x - reach
    width = above - below
    return (_numbers(k, function, above) - _numbers(k, function, below)) / width, width


def _differs(k: int, function: Map, x: Array, step: float, parts: tuple[Array, Array]) -> Any:
    """Say where differences of a function contradict its derivative by more than rounding."""
    values, slopes = parts
    found, width = _difference(k, function, x, step)
    slack = _TOLERANCE * (np.abs(found) + np.abs(slopes)) + _DIGITS * np.abs(values) / width
    return np.abs(found - slopes) > slack  # false where anything is not finite


def _negative_curvature(probe: Probe) -> str:
    finite = probe.curvatures[np.isfinite(probe.curvatures)]
    if not len(finite) or not finite.min() < -_FLAT * np.abs(finite).max():
        return ""
    j = int(np.nanargmin(probe.curvatures))
    return f"phi'' = {probe.curvatures[j]:.3g} at x[{j}] = {probe.x[j]:.3g}"


def _surroundings(home: Array, domain: Domain) -> list[Array]:
    """Return points around home, inside the domain."""
    rng = np.random.default_rng(0)
    size = np.maximum(np.abs(home), 1.0)
    shifts = (scale * size * rng.standard_normal(len(home)) for scale in _SCALES)
    return [domain.inward(home + shift) for shift in shifts]


def _numbers(k: int, function: Map, x: Array) -> Array:
    """Return what a user's function returns as one float a variable, or refuse it."""
    try:
        numbers = np.array(function(x), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{_NAMES[k]} must take an array of {len(x)} numbers and return as many, but it does not: {error}"
        ) from error
    if numbers.ndim == 0:  # a constant curvature, for one
        numbers = np.full(len(x), float(numbers))
    if numbers.shape != x.shape:
        raise ValueError(
            f"{_NAMES[k]} must return one number for each of the {len(x)} variables, got shape "
            f"{numbers.shape}."
        )
    return numbers
