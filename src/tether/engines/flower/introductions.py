"""What nodes say of themselves before a run: each for itself possible, all together one problem."""

import json
import math
from collections.abc import Sequence

from tether.engines.flower.messages import Hello
from tether.engines.flower.reading import BadAnswer, shown
from tether.names import Names, common_names, read_names
from tether.objectives.base import Kind
from tether.objectives.pool import check_kinds

LONGEST = 4000  # characters of settings
LONGEST_NAME = 1000  # characters of the name of a variable


def check_hello(hello: Hello) -> None:
    """Refuse numbers that no objective has."""
    card = hello.card
    counts = {"n_samples": card.n_samples, "dim": card.dim, "natural_batch": card.natural_batch}
    counts |= {"anchored_price": card.anchored_price, "compiled_batch": hello.compiled_batch}
    for name, count in counts.items():
        if count < 1:
            raise BadAnswer(f"worker {hello.partition} says {name} = {count}, which must be at least 1")
    prices = card.second_order[:3]
    if not all(price > 0.0 for price in prices) or not 1 <= card.second_order.outputs <= card.dim:
        raise BadAnswer(f"worker {hello.partition} says of its second derivatives what cannot be")
    if not 0 < card.mass < math.inf:
        raise BadAnswer(f"worker {hello.partition} says mass = {card.mass}, which must be positive")
    if card.draws and not card.n_samples <= card.draws <= 2 * card.n_samples:
        raise BadAnswer(f"worker {hello.partition} says draws = {card.draws} for {card.n_samples} samples")
    if not 0 <= card.most < math.inf:
        raise BadAnswer(
            f"worker {hello.partition} says most = {card.most}, which must be finite and not negative"
        )
    if not 0 <= card.share < math.inf:
        raise BadAnswer(f"worker {hello.partition} says share = {card.share}, which must not be negative")
    settings_of(hello)
    names_of(hello)


def check_agreement(hellos: Sequence[Hello]) -> None:
    """Refuse workers whose objectives do not add up to one, naming them."""
    check_kinds([settings_of(hello) for hello in hellos])
    common_names([names_of(hello) for hello in hellos])
    dim = hellos[0].card.dim
    for k, hello in enumerate(hellos):
        if hello.card.dim != dim:
            raise ValueError(
                f"workers must have one dimension: worker 0 has {dim}, worker {k} has {hello.card.dim}; "
                "give all nodes the same columns."
            )


def is_same(before: Hello, hello: Hello) -> bool:
    """Say whether a node is as it was: the same data and settings."""
    return (before.card[:3], *before[3:]) == (hello.card[:3], *hello[3:])


def settings_of(hello: Hello) -> Kind:
    """Return the settings that all workers must share."""
    try:
        found = json.loads(hello.kind) if len(hello.kind) <= LONGEST else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not all(map(_is_plain, [*found, *found.values()])):
        raise BadAnswer(f"worker {hello.partition} sent settings that cannot be read")
    return found


def names_of(hello: Hello) -> Names | None:
    """Return the names of the variables: one for each, or none of its own for any."""
    try:
        names = read_names(hello.names)
    except (ValueError, RecursionError) as error:
        raise BadAnswer(f"worker {hello.partition} sent names of variables that cannot be read") from error
    if names and (len(names) != hello.card.dim or max(map(len, names)) > LONGEST_NAME):
        raise BadAnswer(
            f"worker {hello.partition} sent {len(names)} names for {hello.card.dim} variables, or longer "
            f"ones than {LONGEST_NAME} characters"
        )
    return names


def _is_plain(word: object) -> bool:
    """Say whether a name or a setting may stand in an error of ours."""
    return word == shown(word) if isinstance(word, str) else isinstance(word, float | int)
