"""What nodes say of themselves before a run: each for itself possible, all together one problem."""

import json
import math
from collections.abc import Sequence

from tether.engines.flower.messages import Hello
from tether.engines.flower.reading import BadAnswer, shown

Settings = dict[str, str | float | int | bool]
LONGEST = 4000  # characters of settings


def check_hello(hello: Hello) -> None:
    """Refuse numbers that no objective has."""
    card, constants = hello.card, hello.card.smoothness
    counts = {"n_samples": card.n_samples, "dim": card.dim, "natural_batch": card.natural_batch}
    counts |= {"anchored_price": card.anchored_price, "compiled_batch": hello.compiled_batch}
    for name, count in counts.items():
        if count < 1:
            raise BadAnswer(f"worker {hello.partition} says {name} = {count}, which must be at least 1")
    numbers = {"mass": card.mass, "L_max": constants.maximum, "L_F": constants.full}
    for name, number in {**numbers, "mu": constants.convexity}.items():
        if not 0 <= number < math.inf or (name == "mass" and number == 0):
            raise BadAnswer(f"worker {hello.partition} says {name} = {number}, which must be positive")
    if constants.convexity > 1.001 * max(constants.maximum, constants.full):
        raise BadAnswer(f"worker {hello.partition} says that mu = {constants.convexity:g} exceeds its L")
    settings_of(hello)


def check_agreement(hellos: Sequence[Hello]) -> None:
    """Refuse workers whose objectives do not add up to one, naming them."""
    dims: list[Settings] = [{"dimension": hello.card.dim} for hello in hellos]
    for settings in (dims, [settings_of(hello) for hello in hellos]):
        for k, other in enumerate(settings):
            for name in sorted(settings[0].keys() | other.keys()):
                if settings[0].get(name) != other.get(name):
                    raise ValueError(
                        f"workers must agree on {shown(name)}: worker 0 has {_word(settings[0], name)}, "
                        f"worker {k} has {_word(other, name)}; give all nodes the same columns and settings."
                    )


def is_same(before: Hello, hello: Hello) -> bool:
    """Say whether a node is as it was: the same data and settings."""
    return (before.card[:3], before.digest, before.kind) == (hello.card[:3], hello.digest, hello.kind)


def settings_of(hello: Hello) -> Settings:
    """Return the settings that all workers must share."""
    try:
        found = json.loads(hello.kind) if len(hello.kind) <= LONGEST else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not all(isinstance(v, str | float | int) for v in found.values()):
        raise BadAnswer(f"worker {hello.partition} sent settings that cannot be read")
    return found


def _word(settings: Settings, name: str) -> str:
    return shown(repr(settings[name])) if name in settings else "none"
