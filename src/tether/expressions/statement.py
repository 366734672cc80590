"""Comparisons of linear forms as rows: lower <= row x <= upper."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from tether.expressions.form import Each, combined, second_pattern
from tether.expressions.grammar import Comparison, read_statement
from tether.expressions.lookup import ONE, Lookup
from tether.expressions.place import Place
from tether.expressions.tokens import Token, quoted
from tether.inputs import LARGEST_NUMBER, InfeasibleError


class Sides(NamedTuple):
    """What a form may be, at least and at most; None where there is no limit."""

    lower: Fraction | None
    upper: Fraction | None

    def within(self, other: "Sides") -> "Sides":
        """Return what both allow."""
        lower = [side for side in (self.lower, other.lower) if side is not None]
        upper = [side for side in (self.upper, other.upper) if side is not None]
        return Sides(max(lower, default=None), min(upper, default=None))

    def hold(self, value: Fraction) -> bool:
        """Say whether a value is between them."""
        return (self.lower is None or self.lower <= value) and (self.upper is None or value <= self.upper)


class Row(NamedTuple):
    """lower <= sum_j terms[j] x_j <= upper."""

    terms: Mapping[int, float]
    lower: float
    upper: float
    label: str  # an expression of this row alone


class _Piece(NamedTuple):
    """One comparison, its variables on one side and a number on the other."""

    terms: Mapping[int, Fraction]
    sides: Sides
    place: Place

    def with_next(self, other: "_Piece") -> "_Piece":
        """Return what two neighbours in a chain say of the same form."""
        return _Piece(self.terms, self.sides.within(other.sides), self.place._replace(end=other.place.end))


def rows_of(text: str, lookup: Lookup) -> list[Row]:
    """Return the rows of a statement; none if it is true whatever x is, an error if it never is."""
    comparisons = read_statement(text, lookup)
    _require_one_way(comparisons)
    each = _pattern(comparisons)
    if each is None:
        return [_row(piece, piece.place.words) for piece in _pieces(comparisons)]
    rows = list[Row]()
    for j in each.variables:
        own = _pieces([_at(comparison, j) for comparison in comparisons])
        rows += [_row(piece, _spoken(piece.place, each.token, lookup.names[j])) for piece in own]
    return rows


def _spoken(place: Place, pattern: Token, name: str) -> str:
    """Return the words of a place with the name of a variable instead of a pattern."""
    start, end = (min(max(end, place.start), place.end) for end in pattern.place[1:])
    shown = quoted(name) if start < end else ""
    return place.text[place.start : start] + shown + place.text[end : place.end]


def _require_one_way(comparisons: list[Comparison]) -> None:
    """Refuse a chain that rises and falls, as a <= b >= c."""
    directed = [comparison.sign for comparison in comparisons if comparison.sign.word != "=="]
    for sign in directed:
        if sign.word != directed[0].word:
            raise sign.place.error(
                f"a chain goes one way, and this one began with {directed[0].word!r}; write two expressions."
            )


def _pattern(comparisons: list[Comparison]) -> Each | None:
    """Return the word that stands for several variables, of which a statement has one at most."""
    forms = [comparisons[0].left, *(comparison.right for comparison in comparisons)]
    found = [form.each for form in forms if form.each is not None]
    if len(found) > 1:
        raise second_pattern(found[0].token, found[1].token)
    return found[0] if found else None


def _at(comparison: Comparison, variable: int) -> Comparison:
    return comparison._replace(left=comparison.left.at(variable), right=comparison.right.at(variable))


def _pieces(comparisons: list[Comparison]) -> list[_Piece]:
    """Return what a chain says; neighbours that limit the same form are one piece."""
    pieces = list[_Piece]()
    for comparison in comparisons:
        piece = _piece(comparison)
        if not piece.terms:
            _require_true(piece, comparison)
        elif pieces and pieces[-1].terms == piece.terms:
            pieces[-1] = pieces[-1].with_next(piece)
        else:
            pieces.append(piece)
    for piece in pieces:
        lower, upper = piece.sides
        if lower is not None and upper is not None and lower > upper:
            raise piece.place.error(
                f"this is never true: {float(lower):g} is more than {float(upper):g}.", InfeasibleError
            )
    return pieces


def _piece(comparison: Comparison) -> _Piece:
    """Return a comparison with all variables on the side that has some already: on the left if both do."""
    left, right = comparison.left, comparison.right
    flipped = left.is_number
    form = combined([(-ONE, left), (ONE, right)] if flipped else [(ONE, left), (-ONE, right)])
    value, word = -form.constant, comparison.sign.word
    if word == "==":
        return _Piece(form.terms, Sides(value, value), comparison.place)
    at_most = (word == "<=") != flipped
    sides = Sides(None, value) if at_most else Sides(value, None)
    return _Piece(form.terms, sides, comparison.place)


def _require_true(piece: _Piece, comparison: Comparison) -> None:
    if not piece.sides.hold(Fraction(0)):
        raise comparison.sign.place.error(
            "this comparison has no variable left and is never true.", InfeasibleError
        )


def _row(piece: _Piece, label: str) -> Row:
    place, (lower, upper) = piece.place, piece.sides
    terms = {j: _float(place, coefficient) for j, coefficient in piece.terms.items()}
    low = -math.inf if lower is None else _float(place, lower)
    high = math.inf if upper is None else _float(place, upper)
    return Row(terms, low, high, label)


def _float(place: Place, value: Fraction) -> float:
    if abs(value) > LARGEST_NUMBER:
        raise place.error(f"a number becomes larger than {LARGEST_NUMBER:g}; choose other units.")
    return float(value)
