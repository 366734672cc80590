"""Settings that were left open: practical defaults from the constants of a problem.

A batch gradient is about L(b)-smooth, and a variance-reduced walk of one pass bears steps of about
1/(L_F + 5.5 L_max/b): that is about 1/(6 L_max) for single samples and 1/L_F for large batches.
"""

import math
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, Literal, NamedTuple

import numpy as np

from tether.arrays import Array
from tether.methods.pace import GROWTH, Pace
from tether.methods.schedule import Interval, as_interval
from tether.problem import Facts

Rule = Literal["practical", "theory"]
DEAR = 2.0  # times the work of the steps between two rounds, from where on a round is worth a risk


def check_settings(method: Any) -> None:
    """Refuse settings that no run could use, naming the setting."""
    values = {setting.name: getattr(method, setting.name) for setting in fields(method)}
    for setting in fields(method):
        if values[setting.name] is None and setting.default not in (None, MISSING):
            raise ValueError(f"{setting.name} must not be None; leave it out for {setting.default!r}.")
    if values.get("interval") is not None:  # as a value that can be hashed and compared
        object.__setattr__(method, "interval", as_interval(values["interval"]))
    for name, value in values.items():
        if value is not None and name in _RULES:
            valid, needed = _RULES[name]
            if not valid(value):
                raise ValueError(f"{name} must be {needed}, got {value!r}.")


def check_growth(method: Any) -> None:
    """Refuse an interval that is given or proven and shall change nevertheless."""
    if (method.growth or 1) > 1 and (isinstance(method.interval, tuple) or method.parameters == "theory"):
        raise ValueError(
            'growth must be 1 with projection times or parameters="theory", which fix the interval, '
            f"got {method.growth!r}."
        )


def _is_whole(value: Any, least: int = 1) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= least


def _is_number(value: Any) -> bool:
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return real and 0 <= float(value) < math.inf


_WHOLE = (_is_whole, "a whole number of at least 1")
_POSITIVE = (lambda value: _is_number(value) and value > 0, "a positive number")
_NONNEGATIVE = (_is_number, "a number that is not negative")
_SWITCH = (lambda value: isinstance(value, bool | np.bool_), "True or False")
_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("stage_length", "batch_size", "memory", "restart", "stages", "keep", "growth"), _WHOLE),
    **dict.fromkeys(("step_size", "smoothness", "strength"), _POSITIVE),
    **dict.fromkeys(("convexity", "decay", "damping", "floor"), _NONNEGATIVE),
    **dict.fromkeys(("random", "replacement", "renew", "full_gradients"), _SWITCH),
    "seed": (lambda value: _is_whole(value, 0), "a whole number of at least 0"),
    "momentum": (
        lambda value: _is_number(value) and 0 < value <= 1,
        "a number in (0, 1] (1 switches it off)",
    ),
    **dict.fromkeys(
        ("participation", "server_step"),
        (lambda value: _is_number(value) and 0 < value <= 1, "a number in (0, 1]"),
    ),
    "parameters": (lambda value: value in ("practical", "theory"), '"practical" or "theory"'),
}


def batch_or_default(batch_size: int | None, facts: Facts) -> int:
    """Return b, by default the batch size at which the objective's steps are efficient."""
    return min(facts.natural_batch if batch_size is None else batch_size, facts.local_samples)


def steps_per_pass(batch_size: int, facts: Facts) -> int:
    """Return the steps of b samples that make a pass."""
    return math.ceil(facts.local_samples / batch_size)


def walking_step(batch_size: int, facts: Facts) -> float:
    """Return a step size that variance-reduced walks of about a pass bear in practice."""
    constants = facts.smoothness
    spread = 0.0 if batch_size >= facts.local_samples else 5.5 * constants.maximum / batch_size
    return 1.0 / _positive(constants.full + spread)


def walking_interval(step_size: float, length: int, facts: Facts) -> int:
    """Return E for walks whose drift nobody learns: they stay stable for about 2/(eta L_F) steps."""
    reach = 2.0 / (step_size * _positive(facts.smoothness.full))
    return max(1, min(length, round(min(reach, length))))


class Reach(NamedTuple):
    """The E to begin with, the factor by which it changes on the way, and its lower end."""

    interval: Interval
    growth: int
    shortest: int


def reach(method: Any, step_size: float, batch_size: int, length: int, facts: Facts) -> Reach:
    """Fill an open interval: a safe length; where rounds are dear, a whole stage, as long as F falls."""
    if method.interval is not None or method.parameters == "theory":
        return Reach(method.interval or length, method.growth or 1, method.shortest or 1)
    safe = walking_interval(step_size, length, facts)
    if facts.round_work <= DEAR * safe * batch_size:
        return Reach(safe, method.growth or 1, safe)
    return Reach(length, method.growth or GROWTH, safe)


def first_pace(method: Any, start: tuple[Array, ...]) -> Pace:
    """Return the pace that a prepared method begins with."""
    interval = method.interval if isinstance(method.interval, int) else method.stage_length
    return Pace(interval, method.growth, method.shortest, method.stage_length, np.stack(start))


def _positive(constant: float) -> float:
    # A linear objective has no curvature: any step is as good as another.
    return constant if constant > 0 else 1.0
