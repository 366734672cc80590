"""Comparisons of linear forms as rows: lower <= row x <= upper."""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

from tether.expressions.form import Each, combined, second_pattern
from tether.expressions.grammar import Comparison, read_statement
from tether.expressions.lookup import ONE, Lookup
from tether.expressions.place import Place
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


class _Piece(NamedTuple):
    """One comparison, its variables on one side and a number on the other."""

    terms: Mapping[int, Fraction]
    sides: Sides


def rows_of(text: str, lookup: Lookup) -> list[Row]:
    """Return the rows of a statement; none if it is true whatever x is, an error if it never is."""
    comparisons = read_statement(text, lookup)
    _require_one_way(comparisons)
    each, rows = _pattern(comparisons), list[Row]()
    for variable in (None,) if each is None else each.variables:
        rows += _chain(text, [_at(comparison, variable) for comparison in comparisons])
    return rows


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


def _at(comparison: Comparison, variable: int | None) -> Comparison:
    if variable is None:
        return comparison
    return comparison._replace(left=comparison.left.at(variable), right=comparison.right.at(variable))


def _chain(text: str, comparisons: list[Comparison]) -> Iterator[Row]:
    """Yield the rows of a chain; neighbours that limit the same form are one row."""
    pieces = list[_Piece]()
    for comparison in comparisons:
        piece = _piece(comparison)
        if not piece.terms:
            _require_true(piece, comparison)
        elif pieces and pieces[-1].terms == piece.terms:
            pieces[-1] = piece._replace(sides=pieces[-1].sides.within(piece.sides))
        else:
            pieces.append(piece)
    for piece in pieces:
        lower, upper = piece.sides
        if lower is not None and upper is not None and lower > upper:
            whole = Place(text, 0, len(text))
            raise whole.error(
                f"this is never true: {float(lower):g} is more than {float(upper):g}.", InfeasibleError
            )
        yield _row(text, piece)


def _piece(comparison: Comparison) -> _Piece:
    """Return a comparison with all variables on the side that has some already: on the left if both do."""
    left, right = comparison.left, comparison.right
    flipped = left.is_number
    form = combined([(-ONE, left), (ONE, right)] if flipped else [(ONE, left), (-ONE, right)])
    value, word = -form.constant, comparison.sign.word
    if word == "==":
        return _Piece(form.terms, Sides(value, value))
    at_most = (word == "<=") != flipped
    return _Piece(form.terms, Sides(None, value) if at_most else Sides(value, None))


def _require_true(piece: _Piece, comparison: Comparison) -> None:
    if not piece.sides.hold(Fraction(0)):
        raise comparison.sign.place.error(
            "this comparison has no variable left and is never true.", InfeasibleError
        )


def _row(text: str, piece: _Piece) -> Row:
    terms = {j: _float(text, coefficient) for j, coefficient in piece.terms.items()}
    lower = -math.inf if piece.sides.lower is None else _float(text, piece.sides.lower)
    upper = math.inf if piece.sides.upper is None else _float(text, piece.sides.upper)
    return Row(terms, lower, upper)


def _float(text: str, value: Fraction) -> float:
    if abs(value) > LARGEST_NUMBER:
        raise Place(text, 0, len(text)).error(
            f"a number becomes larger than {LARGEST_NUMBER:g}; choose other units."
        )
    return float(value)
