"""Which columns of a table are used, which are set aside and which are left out."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tether.names import Names, few, nearest


class Choice(NamedTuple):
    """Columns by name; a star stands for any signs in those that are used and those that are left out."""

    aside: tuple[str, ...] = ()  # such as the target
    used: tuple[str, ...] = ()  # all others, if none is named
    left_out: tuple[str, ...] = ()


class Chosen(NamedTuple):
    """Columns by number."""

    used: list[int]
    aside: list[int]


def chosen_columns(path: Path, names: Names, choice: Choice) -> Chosen:
    """Return which columns of a table are which, or refuse names that it does not have."""
    counts = Counter(names)
    aside = [_place(path, names, name) for name in choice.aside]
    out = matching(path, names, choice.left_out)
    wanted = matching(path, names, choice.used) if choice.used else range(len(names))
    others = {*out, *aside}
    used = [j for j in wanted if j not in others]
    for j in used + aside:
        if counts[names[j]] > 1:
            raise ValueError(f"{path} has more than one column {names[j]!r}; rename one of them.")
        if not names[j]:
            raise ValueError(
                f"{path}: column {j + 1} has no name, as the index that pandas writes; name it, or write the "
                "table without its index."
            )
    if not used:
        raise ValueError(f"{path} has no columns left for X; it has {few(names)}.")
    return Chosen(used, aside)


def _place(path: Path, names: Names, name: str) -> int:
    if name not in names:
        raise ValueError(f"{path} has no column {name!r}; {nearest(name, names)}.")
    return names.index(name)


def matching(path: Path | str, names: Names, patterns: Sequence[str]) -> list[int]:
    """Return the columns whose names are among the patterns, in their order."""
    for pattern in patterns:
        if not any(_fits(name, pattern) for name in names):
            raise ValueError(f"{path} has no column {pattern!r}; {nearest(pattern, names)}.")
    return [j for j, name in enumerate(names) if any(_fits(name, pattern) for pattern in patterns)]


def _fits(name: str, pattern: str) -> bool:
    if "*" not in pattern:
        return name == pattern
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name) is not None
