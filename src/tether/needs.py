"""What a method may rely on, and the one check before a run that it can.

A method declares its needs. An objective, a constraint and an engine declare what they lack, each with the
words that go into the error. So a combination that cannot work ends in one sentence, before any work is done.
"""

from collections.abc import Collection, Mapping
from enum import Enum


class Need(Enum):
    """Something that a method cannot do without."""

    PLANE = "a constraint made of equations"
    GRADIENTS = "full gradients and losses"
    AVERAGES = "averages of walks"


def check_needs(method: str, needs: Collection[Need], *lacking: Mapping[Need, str]) -> None:
    """Raise a ValueError if a method needs what the problem or the engine lacks."""
    for lacks in filter(None, lacking):
        for need in Need:
            if need in needs and need in lacks:
                raise ValueError(f"method {method} needs {need.value}: {lacks[need]}")
