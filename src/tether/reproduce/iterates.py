"""The iterate x_t of a method, as the paper writes it, beside the point that the method would answer with."""

from functools import singledispatch
from typing import Any

from tether.arrays import Array
from tether.methods.delayed_asvrg import DelayedASVRGState
from tether.methods.delayed_sgd import DelayedSGDState
from tether.methods.delayed_svrg import DelayedSVRGState


@singledispatch
def iterate_of(state: Any, answer: Array) -> Array:
    """Return the last projected iterate; methods that answer with theirs have no other."""
    return answer


@iterate_of.register(DelayedSGDState)
@iterate_of.register(DelayedSVRGState)
def _walker(state: DelayedSGDState | DelayedSVRGState, answer: Array) -> Array:
    return state.x


@iterate_of.register
def _accelerated(state: DelayedASVRGState, answer: Array) -> Array:
    """x = anchor + theta (u - anchor) within a stage; a stage begins at its anchor."""
    anchor = state.anchored.anchor
    return anchor + state.momentum * (state.u - anchor) if state.anchored.step else anchor
