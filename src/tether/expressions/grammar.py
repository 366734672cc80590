"""The grammar, by recursive descent.

statement := sum (comparison sum)+
sum       := term (("+" | "-") term)*
term      := factor (("*" | "/") factor)*
factor    := ("+" | "-") factor | NUMBER | NAME | PATTERN | "all" | "(" sum ")"
           | "sum" [ "(" sum ("," sum)* ")" ]
"""

from fractions import Fraction
from typing import NamedTuple

from tether.expressions.form import Form, combined
from tether.expressions.lookup import ONE, Lookup
from tether.expressions.place import Place
from tether.expressions.tokens import ALL, RESERVED, SUM, Kind, Token, tokens_of
from tether.inputs import LARGEST_NUMBER, SMALLEST_NUMBER

DEEPEST = 100  # parentheses and signs within each other


class Comparison(NamedTuple):
    """left <= right, left >= right or left == right, and where it is written."""

    left: Form
    sign: Token
    right: Form
    place: Place


def read_statement(text: str, lookup: Lookup) -> list[Comparison]:
    """Return the comparisons of a statement, one for each neighbouring pair of a chain."""
    return _Reader(text, lookup).statement()


class _Reader:
    """Reads the words of one statement from left to right."""

    def __init__(self, text: str, lookup: Lookup) -> None:
        self._tokens = list(tokens_of(text))
        self._lookup, self._next, self._depth = lookup, 0, 0

    def statement(self) -> list[Comparison]:
        if self._word.kind is Kind.END:
            raise self._word.place.error("the expression is empty; write for example 'x1 + x2 == 1'.")
        start, left, found = self._word.place.start, self._sum(), list[Comparison]()
        while self._word.kind is Kind.COMPARISON:
            sign, middle = self._take(), self._word.place.start
            right = self._sum()
            place = sign.place._replace(start=start, end=self._tokens[self._next - 1].place.end)
            found.append(Comparison(left, sign, right, place))
            start, left = middle, right
        if self._word.kind is not Kind.END:
            raise self._unexpected("'+', '-', '*', '/' or a comparison")
        if not found:
            raise self._word.place.error("a comparison is missing: write '== 0', '<= 1' or the like.")
        return found

    def _sum(self) -> Form:
        parts = [(ONE, self._term())]
        while self._is("+", "-"):
            sign = ONE if self._take().word == "+" else -ONE
            parts.append((sign, self._term()))
        return parts[0][1] if len(parts) == 1 else combined(parts)

    def _term(self) -> Form:
        form = self._factor()
        while self._is("*", "/"):
            sign = self._take()
            other = self._factor()
            form = _product(form, sign, other) if sign.word == "*" else _quotient(form, sign, other)
        return form

    def _factor(self) -> Form:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._word.place.error(f"signs and parentheses are nested more than {DEEPEST} deep.")
        form = self._signed() if self._is("+", "-") else self._atom()
        self._depth -= 1
        return form

    def _signed(self) -> Form:
        sign = self._take()
        return self._factor().times(-ONE if sign.word == "-" else ONE)

    def _atom(self) -> Form:
        token = self._word
        if token.kind is Kind.NUMBER:
            return Form(_number(self._take()))
        if token.kind is Kind.NAME:
            return self._named(self._take())
        if token.kind is Kind.QUOTED:
            return self._lookup.variable(self._take())
        if token.kind is Kind.PATTERN:
            return self._lookup.every(self._take())
        if not self._is("("):
            raise self._unexpected("a number or a name")
        opened = self._take()
        form = self._sum()
        self._close(opened)
        return form

    def _named(self, token: Token) -> Form:
        """Return what a word means: a sum, all variables, or a variable."""
        called = self._is("(")
        if token.word == SUM and called:
            return self._total()
        if token.word in RESERVED and self._lookup.is_name(token.word):
            raise token.place.error(
                f"{token.word!r} is the name of a variable here, and a word for all of them; write it "
                "between quotes for the variable, or rename that."
            )
        if called:
            raise token.place.error(
                f"{token.word!r} is no function here: expressions are linear, {SUM}(a, b) is the only one."
            )
        if token.word == SUM:
            return self._lookup.total()
        return self._lookup.every(token) if token.word == ALL else self._lookup.variable(token)

    def _total(self) -> Form:
        """Return the sum of what stands between parentheses, of every variable that a pattern means."""
        opened = self._take()
        parts = [(ONE, _summed(self._sum()))]
        while self._is(","):
            self._take()
            parts.append((ONE, _summed(self._sum())))
        self._close(opened)
        return combined(parts)

    @property
    def _word(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        self._next += 1
        return self._tokens[self._next - 1]

    def _is(self, *signs: str) -> bool:
        return self._word.kind is Kind.SIGN and self._word.word in signs

    def _close(self, opened: Token) -> None:
        if self._word.kind in (Kind.END, Kind.COMPARISON):
            raise opened.place.error("a parenthesis is opened here and not closed.")
        if not self._is(")"):
            raise self._unexpected("'+', '-', '*', '/' or ')'")
        self._take()

    def _unexpected(self, wanted: str) -> ValueError:
        token = self._word
        if token.kind is Kind.END:
            return token.place.error(f"the expression ends where {wanted} must follow.")
        if token.kind in (Kind.NAME, Kind.QUOTED, Kind.PATTERN, Kind.NUMBER) or self._is("("):
            return token.place.error(
                f"{wanted} must stand before {token.place.words!r}; a product has a star, as 2*x, and a "
                "name with blanks is written between quotes."
            )
        return token.place.error(f"{token.place.words!r} stands where {wanted} must.")


def _number(token: Token) -> Fraction:
    size = float(token.word)
    if size > LARGEST_NUMBER or (size < SMALLEST_NUMBER and token.word.lower().split("e")[0].strip("0.")):
        raise token.place.error(
            f"numbers must be between {SMALLEST_NUMBER:g} and {LARGEST_NUMBER:g} in size; choose other units."
        )
    return Fraction(token.word)


def _product(left: Form, sign: Token, right: Form) -> Form:
    if left.is_number:
        return right.times(left.constant)
    if right.is_number:
        return left.times(right.constant)
    raise sign.place.error("a product of two variables is not linear; one of the factors must be a number.")


def _quotient(left: Form, sign: Token, right: Form) -> Form:
    if not right.is_number:
        raise sign.place.error(
            "dividing by a variable is not linear; multiply both sides by it, or divide by a number."
        )
    if right.constant == 0:
        raise sign.place.error("this divides by 0.")
    return left.times(1 / right.constant)


def _summed(form: Form) -> Form:
    """Return the sum over all variables that one word stands for."""
    if form.each is None:
        return form
    each = form.each
    parts = Form(terms=dict.fromkeys(each.variables, each.coefficient))
    count = Fraction(len(each.variables))
    return combined([(ONE, parts), (count, form._replace(each=None))])
