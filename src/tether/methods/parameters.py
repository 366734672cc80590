"""Settings of methods: what is refused, and what takes the place of those that were left open.

A batch gradient is about L(b)-smooth, and a variance-reduced walk of one pass bears steps of about
1/(L_F + 5.5 L_max/b): that is about 1/(6 L_max) for single samples and 1/L_F for large batches.
"""

import math
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from tether.inputs import LARGEST_INTEGER
from tether.methods.pace import GROWTH
from tether.methods.schedule import Interval, Times, as_interval
from tether.problem import Facts

Rule = Literal["practical", "theory"]
SLIGHT = 0.2  # of what a batch adds to L_F: then a bound on L_F does as well
COSTLY_ROUND = 2.0  # times the work of the steps between two rounds, from where on a round is worth a risk


def check_settings(method: Any) -> None:
    """Refuse settings that no run could use, naming the setting."""
    for setting in fields(method):
        name, value = setting.name, getattr(method, setting.name)
        if value is None:
            if setting.default not in (None, MISSING):
                raise ValueError(f"{name} must not be None; leave it out for {setting.default!r}.")
        elif name == "interval":
            as_interval(value)
        elif name in _RULES:
            valid, needed = _RULES[name]
            if not valid(value):
                raise ValueError(f"{name} must be {needed}, got {value!r}.")


def check_whole_interval(method: Any) -> None:
    """Refuse a set of projection times."""
    if method.interval is not None and not isinstance(as_interval(method.interval), int):
        name = type(method).__name__
        raise ValueError(f"interval of {name} must be a whole number, got {method.interval!r}.")


def check_choice(name: str, value: Any, *choices: str) -> None:
    """Refuse a word that is not one of a few."""
    if not _is_one_of(value, choices):
        words = " or ".join(f'"{choice}"' for choice in choices)
        raise ValueError(f"{name} must be {words}, got {value!r}.")


class Paced(Protocol):
    """The open settings that say how far walks go before they are projected."""

    @property
    def interval(self) -> Interval | None:
        """E."""
        ...

    @property
    def growth(self) -> int | None:
        """The factor by which E changes."""
        ...

    @property
    def parameters(self) -> Rule:
        """Which rule fills what is open."""
        ...


def check_growth(method: Paced) -> None:
    """Refuse an interval that is given or proven and shall change nevertheless."""
    times = method.interval is not None and not isinstance(as_interval(method.interval), int)
    fixed = times or method.parameters == "theory"
    if (method.growth or 1) > 1 and fixed:
        raise ValueError(
            'growth must be 1 with projection times or parameters="theory", which fix the interval, '
            f"got {method.growth!r}."
        )


def _is_whole(value: Any, least: int = 1) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and least <= int(value) <= LARGEST_INTEGER


def _is_number(value: Any) -> bool:
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    try:
        return real and 0 <= float(value) < math.inf
    except OverflowError:  # a whole number larger than any float
        return False


def _is_one_of(value: Any, choices: tuple[str, ...]) -> bool:
    return isinstance(value, str) and value in choices  # an array has no truth value


_WHOLE = (_is_whole, "a whole number from 1 to 2**63 - 1")
_POSITIVE = (lambda value: _is_number(value) and value > 0, "a positive number")
_NONNEGATIVE = (_is_number, "a number that is not negative")
_SWITCH = (lambda value: isinstance(value, bool | np.bool_), "True or False")
_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(
        ("stage_length", "batch_size", "memory", "restart", "stages", "growth", "refresh"), _WHOLE
    ),
    **dict.fromkeys(("step_size", "smoothness", "strength"), _POSITIVE),
    **dict.fromkeys(("convexity", "decay", "damping", "floor"), _NONNEGATIVE),
    **dict.fromkeys(("random", "replacement", "renew", "full_gradients"), _SWITCH),
    "seed": (lambda value: _is_whole(value, 0), "a whole number of at least 0"),
    "momentum": (
        lambda value: _is_number(value) and 0 < value <= 1,
        "a number in (0, 1] (1 switches it off)",
    ),
    **dict.fromkeys(
        ("participation", "server_step", "sample"),
        (lambda value: _is_number(value) and 0 < value <= 1, "a number in (0, 1]"),
    ),
    "parameters": (lambda value: _is_one_of(value, ("practical", "theory")), '"practical" or "theory"'),
}


def batch_or_default(batch_size: int | None, facts: Facts) -> int:
    """Return b, by default the batch size at which the objective's steps are efficient."""
    return int(min(facts.natural_batch if batch_size is None else batch_size, facts.local_samples))


def length_or_pass(stage_length: int | None, batch_size: int, facts: Facts) -> int:
    """Return m, by default the steps of b samples that make a pass."""
    return int(stage_length or math.ceil(facts.local_samples / batch_size))


def walking_step(batch_size: int, facts: Facts) -> float:
    """Return a step size that variance-reduced walks of about a pass bear in practice."""
    constants = facts.smoothness
    spread = 0.0 if batch_size >= facts.local_samples else 5.5 * constants.maximum / batch_size
    full = constants.most if constants.known and constants.most <= SLIGHT * spread else constants.full
    return 1.0 / positive(full + spread)


def walking_interval(step_size: float, length: int, facts: Facts) -> int:
    """Return E for walks whose drift nobody learns: they stay stable for about 2/(eta L_F) steps."""
    reach = 2.0 / (step_size * positive(facts.smoothness.full))
    return max(1, min(length, round(min(reach, length))))


class Reach(NamedTuple):
    """The E to begin with, the factor by which it changes on the way, and its lower end."""

    interval: Times
    growth: int
    shortest: int


def reach(method: Paced, step_size: float, batch_size: int, length: int, facts: Facts) -> Reach:
    """Fill an open interval: a safe length; where rounds cost much, a whole stage, as long as F falls."""
    if method.interval is not None or method.parameters == "theory":
        interval = length if method.interval is None else as_interval(method.interval)
        return Reach(interval, method.growth or 1, 1)
    safe = walking_interval(step_size, length, facts)
    if facts.round_work <= COSTLY_ROUND * safe * batch_size:
        return Reach(safe, method.growth or 1, safe)
    return Reach(length, method.growth or GROWTH, safe)


def smaller_step(step_size: float, default: float) -> str:
    """Say which step to try after walks of a fixed step have diverged."""
    better = default if default < step_size else step_size / 4
    return f"instead of step_size={step_size:g} try step_size={better:.2g} or a smaller interval"


def positive(constant: float) -> float:
    """Return a curvature, or 1 for a linear objective, which has none: any step is as good as another."""
    return float(constant) if constant > 0 else 1.0
