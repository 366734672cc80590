"""What users give `Separable`, turned into numbers or arrays of one length."""

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from tether.arrays import Array
from tether.inputs import LARGEST_DATUM, number, numbers, shown, vector
from tether.objectives.domain import Domain
from tether.objectives.scalars import FUNCTIONS, Own, PerVariable, ScalarFunction

Given = Mapping[str, Any]


def common_length(given: Given, dim: int | None) -> int:
    """Return p, the length of the arrays among the arguments, or refuse arrays of two lengths."""
    name, length = "dim", dim
    for other, value in given.items():
        if value is None or np.ndim(_array(other, value)) == 0:
            continue
        found = len(numbers(other, value))
        if length is not None and found != length:
            said = f"dim = {length}" if name == "dim" else f"{name} has {length}"
            raise ValueError(f"{other} must have one number for each variable: {said}, got {found}.")
        name, length = other, found
    if not length:
        raise ValueError("dim must be given where no weights or parameters are arrays; dim=p says how many.")
    return length


def per_variable(
    name: str, value: Any, dim: int, *, above: float = -math.inf, least: float = -math.inf
) -> PerVariable:
    """Return one number for all variables or an array of p, all within bounds; or refuse them."""
    if np.ndim(_array(name, value)) == 0:
        return number(name, value, above=above, least=least, most=LARGEST_DATUM)
    array = vector(name, value, dim).copy()
    wrong = np.flatnonzero(~((array > above) & (array >= least)))
    if len(wrong):
        bound = f"> {above:g}" if above > -math.inf else f">= {least:g}"
        raise ValueError(f"{name} must be {bound}, got {array[wrong[0]]:g} at [{wrong[0]}].")
    return array


def check_words(phi: Any, parameters: Given) -> None:
    """Refuse a phi that is neither a name nor three functions, and parameters that it does not have."""
    if isinstance(phi, str) and phi in FUNCTIONS:
        known = fields(FUNCTIONS[phi])  # type: ignore[arg-type]
    elif isinstance(phi, tuple | list) and len(phi) == 3 and all(map(callable, phi)):
        known = ()
    else:
        raise ValueError(
            f"phi must be one of {', '.join(map(repr, FUNCTIONS))} or three functions (phi, dphi, d2phi), "
            f"got {_shown(phi)}."
        )
    names = [field.name for field in known]
    stranger = next((name for name in parameters if name not in names), None)
    if stranger is not None:
        has = f"which has {', '.join(names)}" if names else "functions of your own: build it in"
        raise ValueError(f"{stranger} is no parameter of phi = {_shown(phi)}, {has}.")
    for field in known:
        if field.default is MISSING and parameters.get(field.name) is None:
            raise ValueError(f"{field.name} must be given for phi = {phi!r}, got nothing.")


def _shown(phi: Any) -> str:
    return f"a {type(phi).__name__} of {len(phi)}" if isinstance(phi, tuple | list) else shown(phi)


def as_function(phi: Any, parameters: Given, dim: int) -> ScalarFunction:
    """Return the function with a name and its parameters, or a user's own."""
    if not isinstance(phi, str):
        return Own(*phi)
    function = FUNCTIONS[phi]
    return function(
        **{
            name: per_variable(name, value, dim, **function.limits.get(name, {}))
            for name, value in parameters.items()
        }
    )


def ends(lower: Any, upper: Any, dim: int, function: ScalarFunction) -> Domain:
    """Return the domain: what the user says, within what the function itself allows."""
    low, high = _end("lower", lower, dim), _end("upper", upper, dim)
    low = np.maximum(low, function.least)
    wrong = np.flatnonzero(np.broadcast_to(~np.less(low, high), dim))
    if len(wrong):
        j = wrong[0]
        one, other = (float(np.broadcast_to(end, dim)[j]) for end in (low, high))
        raise ValueError(f"upper must be above lower, got {other:g} where lower = {one:g} at [{j}].")
    return Domain(_plain(low), _plain(high), function.closed)


def as_start(initial: Any, function: ScalarFunction, domain: Domain, dim: int) -> Array:
    """Return where runs start: inside the domain."""
    if initial is None:
        return domain.inward(np.broadcast_to(np.asarray(function.start(), dtype=np.float64), dim).copy())
    start = per_variable("initial", initial, dim)
    start = np.broadcast_to(np.asarray(start), dim).copy()
    if not domain.holds_inside(start):
        j = int(np.flatnonzero(~((start > domain.lower) & (start < domain.upper)))[0])
        raise ValueError(f"initial must be inside the domain of phi, got {start[j]:g} at [{j}].")
    return start


def _end(name: str, value: Any, dim: int) -> Any:
    array = numbers(name, value)
    if array.ndim > 1 or (array.ndim == 1 and len(array) != dim):
        raise ValueError(f"{name} must be a number or have shape ({dim},), got shape {array.shape}.")
    with np.errstate(over="ignore"):
        array = array.astype(np.float64)
    if np.isnan(array).any():
        raise ValueError(f"{name} must hold numbers, infinite ones included, got nan.")
    return array


def _plain(end: Any) -> PerVariable:
    return float(end) if np.ndim(end) == 0 else np.asarray(end)


def _array(name: str, value: Any) -> Any:
    """Return a number as it is, to be checked where it is used, and anything else as an array of numbers."""
    plain = value is None or (np.isscalar(value) and not isinstance(value, str | bytes))
    return value if plain else numbers(name, value)
