"""Everything that was given as a list of sides, a^T x >= beta or a^T x = beta, and how to speak of them."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from tether.arrays import Array
from tether.constraints import Affine, Flow
from tether.constraints.algebra.consistency import listed
from tether.feasible.given import Given

EQUATION, LOWER, UPPER, LOWER_BOUND, UPPER_BOUND = "equation", "lower", "upper", "lower bound", "upper bound"
BOUNDS = (LOWER_BOUND, UPPER_BOUND)
SHOWN_TERMS = 4  # of a row
SHOWN_BOUNDS = 5  # of a group
SHOWN_SIDES = 6
RELATIONS = {EQUATION: "=", LOWER: ">=", UPPER: "<="}


class Side(NamedTuple):
    """One side of a row, or of the bounds of a variable."""

    kind: str
    number: int  # of a row among those of all LinearConstraints, of a variable, or of an equation of a plane
    plane: int | None = None  # which plane, for its equations


def sentence(given: Given, sides: Sequence[Side]) -> str:
    """Return what is wrong with sides that contradict each other."""
    ordered = sorted(sides, key=lambda side: _order(given, side))
    words: list[str] = []
    for kind, group in groupby(ordered, key=lambda side: side.kind if side.kind in BOUNDS else ""):
        own = list(group)
        words += [_bounds(given, kind, own)] if kind else [_row(given, side) for side in own[:SHOWN_SIDES]]
        if not kind and len(own) > SHOWN_SIDES:
            words.append(f"{len(own) - SHOWN_SIDES} more rows")
    verb = "contradict each other" if len(sides) > 1 else "cannot be met"
    return f"the constraints {verb}: {listed(words, 0)}; relax or drop one of them."


def _order(given: Given, side: Side) -> tuple[int, int, int]:
    """Return what sides are sorted by: rows as they were given, then bounds."""
    if side.kind in BOUNDS:
        return 1 + BOUNDS.index(side.kind), 0, side.number
    if side.plane is not None:
        return 0, given.planes[side.plane].item, side.number
    return 0, -1 if given.rows is None else int(given.rows.item[side.number]), side.number


def _row(given: Given, side: Side) -> str:
    if side.plane is not None:
        return _equation(given, side)
    rows = given.rows
    assert rows is not None
    k = side.number
    equal = rows.lower[k] == rows.upper[k]
    value = rows.upper[k] if side.kind == UPPER else rows.lower[k]
    relation = RELATIONS[EQUATION if equal else side.kind]
    if rows.label[k]:
        return str(rows.label[k])
    said = _sum(given, rows.matrix[[k]], relation, value)
    return f"row {rows.row[k]} of {given.called(int(rows.item[k]))} ({said})"


def _equation(given: Given, side: Side) -> str:
    assert side.plane is not None
    plane = given.planes[side.plane]
    where, constraint = given.called(plane.item), plane.constraint
    if constraint.equations is None:
        return f"{where}, {constraint!r}"
    matrix, right = constraint.equations
    if plane.labels:
        return str(plane.labels[side.number])
    said = _sum(given, matrix[[side.number]], "=", right[side.number])
    if not plane.whole:
        return f"the total of {where} ({said})"
    if isinstance(constraint, Flow):
        unit = np.eye(1, len(right), side.number)[0]
        return f"the balance of node {np.argmax(constraint.multipliers_of(unit))} of {where} ({said})"
    row = "row" if isinstance(constraint, Affine) else "equation"
    return f"{row} {side.number} of {where} ({said})"


def _sum(given: Given, row: Any, relation: str, value: float) -> str:
    """Return one row in words, as 2 a - b >= 3."""
    entries = row.toarray().ravel() if hasattr(row, "toarray") else np.ravel(row)
    places = np.flatnonzero(entries)
    words = ""
    for j in places[:SHOWN_TERMS]:
        sign = ("-" if entries[j] < 0.0 else "") if not words else (" - " if entries[j] < 0.0 else " + ")
        size = abs(entries[j])
        words += sign + ("" if size == 1.0 else f"{size:.6g} ") + given.variable(int(j))
    if len(places) > SHOWN_TERMS:
        words += f" + ... of {len(places)} variables"
    return f"{words or '0'} {relation} {value:.6g}"


def _bounds(given: Given, kind: str, sides: Sequence[Side]) -> str:
    assert given.box is not None
    walls: Array = given.box.lower if kind == LOWER_BOUND else given.box.upper
    shown, more = sides[:SHOWN_BOUNDS], max(0, len(sides) - SHOWN_BOUNDS)
    names = listed([given.variable(side.number) for side in shown], more)
    values = ", ".join(f"{walls[side.number]:.6g}" for side in shown) + (", ..." if more else "")
    return f"the {kind}{'s' if len(sides) > 1 else ''} of {names} ({values})"
