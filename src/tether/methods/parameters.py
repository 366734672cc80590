"""Settings that were left open: practical defaults from the constants of a problem.

A batch gradient is about L(b)-smooth, and a variance-reduced walk of one pass bears steps of about
1/(L_F + 4 L_max/b): that is 1/(4 L_max) for single samples and 1/L_F for large batches.
"""

import math
from typing import Any, Literal

import numpy as np

from tether.conversation import Facts
from tether.methods.schedule import as_interval

Rule = Literal["practical", "theory"]


def check_settings(method: Any) -> None:
    """Refuse settings that no run could use, naming the setting."""
    values = vars(method)
    if values.get("interval") is not None:  # as a value that can be hashed and compared
        object.__setattr__(method, "interval", as_interval(values["interval"]))
    for name in ("stage_length", "batch_size", "memory", "restart"):
        value = values.get(name)
        if value is not None and (not isinstance(value, int | np.integer) or value < 1):
            raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")
    for name in ("step_size", "smoothness", "strength"):
        value = values.get(name)
        if value is not None and (not isinstance(value, int | float | np.number) or not 0 < value < math.inf):
            raise ValueError(f"{name} must be a positive number, got {value!r}.")
    for name in ("convexity", "decay"):
        value = values.get(name)
        if value is not None and (
            not isinstance(value, int | float | np.number) or not 0 <= value < math.inf
        ):
            raise ValueError(f"{name} must not be negative, got {value!r}.")
    theta = values.get("momentum")
    if theta is not None and not 0 < theta <= 1:
        raise ValueError(f"momentum must lie in (0, 1], got {theta!r}: 1 switches it off.")
    rule = values.get("parameters", "practical")
    if rule not in ("practical", "theory"):
        raise ValueError(f'parameters must be "practical" or "theory", got {rule!r}.')


def batch_or_default(batch_size: int | None, facts: Facts) -> int:
    """Return b: at least a hundred steps a pass, at most 128 samples a step."""
    if batch_size is None:
        return max(1, min(128, facts.n_samples // 100))
    return min(batch_size, facts.n_samples)


def steps_per_pass(batch_size: int, facts: Facts) -> int:
    """Return the steps of b samples that make a pass."""
    return math.ceil(facts.n_samples / batch_size)


def walking_step(batch_size: int, facts: Facts) -> float:
    """Return a step size that variance-reduced walks of about a pass bear in practice."""
    constants = facts.smoothness
    spread = 0.0 if batch_size >= facts.n_samples else 4.0 * constants.maximum / batch_size
    return 1.0 / _positive(constants.full + spread)


def _positive(constant: float) -> float:
    # A linear objective has no curvature: any step is as good as another.
    return constant if constant > 0 else 1.0
