"""Names of variables: which column, row or entry belongs to which variable when tables come with labels.

Labels are those of data frames and series, found by what such tables can do, so that no package of theirs is
imported. The numbers 0, 1, 2, ... that a table has when nobody named anything mean something only beside a
table whose labels are other numbers, or these in another order; beside all else positions count.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from tether.arrays import Indices
from tether.inputs import plain_array, shown

Names = tuple[str, ...]
OBJECTIVE = "variable of the objective"
INTERCEPT = "intercept"
PER_OUTPUT: Names = ()  # of a model whose columns have names, each for several variables: none has its own
_SHOWN_NAMES = 5  # names listed when none is close


class Number(str):
    """A label that is a whole number."""

    __slots__ = ()


class Labels(NamedTuple):
    """What each of some variables or rows is called when it is shown.

    Examples
    --------
    >>> Labels("x", 3, ("age", "height", "intercept")).at(1), Labels("equation", 2, of="constraint[1]").at(0)
    ('height', 'equation 0 of constraint[1]')
    >>> plain, wide = Labels("x", 3, intercept=True), Labels("x", 6, outputs=3)
    >>> plain.at(1), plain.at(2), wide.at(5)
    ('x[1]', 'intercept', 'W[1, 2]')
    """

    word: str  # "x" for variables
    size: int  # how many there are
    names: Names | None = None  # of all, or of columns with several outputs each
    outputs: int = 1  # K: variables are W.ravel() for W of shape (d, K)
    intercept: bool = False  # whether the last of unnamed variables, or row of W, is one
    of: str = ""  # what the rows belong to, where that has to be said
    classes: Names | None = None  # what the outputs are called, if not by their numbers

    def at(self, k: int) -> str:
        """Return what number k is called."""
        place, output = divmod(k, self.outputs)
        name = self._name(place)
        if self.outputs == 1:
            return f"{name or f'x[{place}]'}{self.of and f' of {self.of}'}"
        shown = output if self.classes is None else self.classes[output]
        return f"{name}[{shown}]" if name else f"W[{place}, {shown}]"

    def _name(self, place: int) -> str:
        """Return the name that a variable, column or row has; empty for variables without."""
        if self.names is not None:
            return self.names[place]
        if self.intercept and (place + 1) * self.outputs == self.size:
            return INTERCEPT
        return "" if self.word == "x" else f"{self.word} {place}"


def column_names(table: Any) -> Names | None:
    """Return the labels of the columns of a data frame, of a series those of its entries; else None."""
    return _labels(table, "index" if getattr(table, "ndim", 2) == 1 else "columns")


def row_names(table: Any) -> Names | None:
    """Return the labels of the rows of a data frame or a series; else None."""
    return _labels(table, "index")


def counted(names: Names) -> bool:
    """Say whether names are the numbers 0, 1, 2, ... that nobody gave, an intercept behind them or not."""
    given = names[:-1] if names[-1:] == (INTERCEPT,) else names
    return all(isinstance(name, Number) for name in given) and given == tuple(map(str, range(len(given))))


def decide(own: Names | None, names: Names | None) -> bool:
    """Say whether an argument must be matched with names by its own; else it counts by position."""
    if own is None or names is None or own == names:
        return False
    if names == PER_OUTPUT:
        return not counted(own)
    if counted(own) or counted(names):
        numbers = {name for name in own if isinstance(name, Number)}
        return counted(own) != counted(names) and any(
            isinstance(name, Number) and name in numbers for name in names
        )
    return True


def places(argument: str, part: str, own: Names, names: Names, whole: str = OBJECTIVE) -> Indices:
    """Return where each of an argument's own names stands among names, or refuse strangers and doubles.

    ``part`` says what carries the names, as a column of A; ``whole`` says what it is matched with.
    """
    if names == PER_OUTPUT:
        raise ValueError(
            f"{argument} has names such as {own[0]!r}, but the objective has several variables for each "
            f"column of its data; pass {argument}.to_numpy(), in the order of W.ravel()."
        )
    place = {name: k for k, name in enumerate(names)}
    for name in own:
        if name not in place:
            raise ValueError(
                f"{argument} has the {part} {name!r}, which is no {whole}; {nearest(name, names)}."
            )
    for labels in (own, names):
        doubles = [name for name, count in Counter(labels).items() if count > 1 and name in own]
        if doubles:
            raise ValueError(
                f"{argument} cannot be aligned by name, because {doubles[0]!r} names more than one {part} or "
                f"{whole}; rename one or pass arrays."
            )
    return np.array([place[name] for name in own], dtype=np.int64)


def aligned_vector(value: Any, names: Names | None, argument: str = "x0", whole: str = OBJECTIVE) -> Any:
    """Return a vector in the order of names if it has names of its own, else as it is.

    Parameters
    ----------
    value : array_like or series
        The numbers; a series with labels has names.
    names : tuple of str or None
        The names in their order; None where there are none.
    argument, whole : str
        What the vector is called and what its entries are matched with, for errors.
    """
    own = row_names(value) if getattr(value, "ndim", 0) == 1 else None
    if own is None or names is None or not decide(own, names):
        return value
    place = places(argument, "entry", own, names, whole)
    require_all(argument, "entry", own, names, whole)
    return plain_array(argument, value)[np.argsort(place)]


def require_all(argument: str, part: str, own: Names, names: Names, whole: str = OBJECTIVE) -> None:
    """Refuse own names that leave some of the others out."""
    held = set(own)
    missing = [name for name in names if name not in held]
    if missing:
        raise ValueError(f"{argument} has no {part} {missing[0]!r}; give one for every {whole}.")


def nearest(name: str, names: Names) -> str:
    """Return which of the names may be meant by one that is none of them, in words for an error."""
    if not isinstance(name, Number):  # numbers that look alike are not alike
        alike = [other for other in names if other.casefold() == name.casefold()]
        close = alike or get_close_matches(name, names, n=1)
        if close:
            return f"perhaps {close[0]!r} is meant"
    return f"there are {few(names)}"


def as_names(argument: str, value: Any) -> Names:
    """Return labels as names, or refuse what is no sequence of labels."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"{argument} must be a list of names, got {shown(value)}.")
    return tuple(map(_label, value))


def common_names(known: Sequence[Names | None], worker: str = "worker") -> Names | None:
    """Return the names of the variables, which all workers that know some must share."""
    named = [(k, names) for k, names in enumerate(known) if names is not None]
    if not named:
        return None
    first, common = next(((k, names) for k, names in named if not counted(names)), named[0])
    for k, names in named:
        if decide(names, common):
            raise ValueError(
                f"objectives must name their columns alike, in the same order: {worker} {first} has "
                f"{few(common)} and {worker} {k} has {few(names)}; reorder or rename them."
            )
    return common


def written(names: Names | None) -> str:
    """Return names as a text that can be sent; `read_names` takes it back."""
    plain = [int(name) if isinstance(name, Number) else name for name in names or ()]
    return json.dumps(None if names is None else plain)


def read_names(text: str) -> Names | None:
    """Return the names that were written, or raise ValueError."""
    found = json.loads(text)
    if found is None:
        return None
    if not isinstance(found, list) or not all(type(label) in (int, str) for label in found):
        raise ValueError("names must be a list of words and numbers.")
    return tuple(map(_label, found))


def _labels(table: Any, attribute: str) -> Names | None:
    labels = getattr(table, attribute, None)
    if not hasattr(table, "to_numpy") or not isinstance(labels, Iterable):
        return None
    return tuple(map(_label, labels))


def _label(label: object) -> str:
    whole = isinstance(label, int | np.integer) and not isinstance(label, bool)
    return Number(label) if whole else str(label)


def few(names: Names) -> str:
    """Return the first of some names in words, and how many more there are."""
    listed = ", ".join(map(repr, names[:_SHOWN_NAMES]))
    more = len(names) - _SHOWN_NAMES
    return f"{listed} and {more} more" if more > 0 else listed
