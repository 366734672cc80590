"""Effects that only rise or only fall with a variable, whether it has one column or many."""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from tether.estimators.rows import Block
from tether.estimators.variables import Variables
from tether.expressions.tokens import quoted
from tether.inputs import shown
from tether.names import Names, nearest

SIGNS = {"increasing": 1.0, "decreasing": -1.0}
NUMBER = re.compile(r"(.*?[_\[])(-?\d+(?:\.\d+)?)\]?")
SEPARATORS = ("_", "[")  # between the name of a variable and a level or spline of it


def monotonic_rows(variables: Variables, monotonic: Any) -> Block:
    """Return the rows for {"age": "increasing", ...}.

    A column of that name has a coefficient of one sign. Several columns that begin with the name and an
    underscore, as those that encoders and splines make of a variable, have coefficients in the order of the
    numbers at their ends, or in this order where they end otherwise.
    """
    if not isinstance(monotonic, Mapping):
        raise TypeError(
            'monotonic_constraints must be a dictionary such as {"age": "increasing"}, got '
            f"{shown(monotonic)}."
        )
    pairs = [
        pair for name, way in monotonic.items() for pair in _pairs(variables, str(name), _sign(name, way))
    ]
    entries = [(k, j, sign) for k, (pair, _) in enumerate(pairs) for j, sign in pair]
    k, j, signs = zip(*entries, strict=True) if entries else ((), (), ())
    matrix = sparse.csr_array((np.array(signs, dtype=float), (k, j)), shape=(len(pairs), variables.width))
    ends = np.zeros(len(pairs)), np.full(len(pairs), np.inf)
    return Block(matrix, *ends, tuple(label for _, label in pairs))


def _sign(name: Any, way: Any) -> float:
    if way not in SIGNS:
        raise ValueError(
            f'monotonic_constraints of {name!r} must be "increasing" or "decreasing", got {shown(way)}.'
        )
    return SIGNS[way]


def _pairs(variables: Variables, name: str, sign: float) -> list[tuple[list[tuple[int, float]], str]]:
    """Return the entries of each row, and what it says."""
    columns = variables.columns
    if name in columns:
        way = ">=" if sign > 0.0 else "<="
        return [([(columns.index(name), sign)], f"{quoted(name)} {way} 0")]
    levels = _levels(columns, name)
    if len(levels) < 2:
        raise ValueError(
            f"monotonic_constraints has the name {name!r}, which is no column of X and begins the names of "
            f"no two; {nearest(name, columns)}."
        )
    way = "<=" if sign > 0.0 else ">="
    return [
        ([(one, -sign), (other, sign)], f"{quoted(columns[one])} {way} {quoted(columns[other])}")
        for one, other in pairwise(levels)
    ]


def _levels(columns: Names, name: str) -> list[int]:
    """Return where the columns of a variable are, by the numbers at their ends where all have one."""
    found = [j for j, column in enumerate(columns) if column.startswith(tuple(name + s for s in SEPARATORS))]
    ends = [NUMBER.fullmatch(columns[j]) for j in found]
    known = [end for end in ends if end is not None]
    if len(known) < len(found) or len({end[1] for end in known}) > 1:
        return found
    return [j for _, j in sorted(zip((float(end[2]) for end in known), found, strict=True))]
