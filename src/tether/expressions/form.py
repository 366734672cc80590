"""Linear forms: a constant and coefficients of variables, in exact fractions.

Exact, so that ``0.1 + 0.2 == 0.3`` is true and ``x / 3 + x / 3 + x / 3 - x`` is zero.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

from tether.expressions.tokens import Token


class Each(NamedTuple):
    """A variable that stands for every one of some, one after the other."""

    token: Token  # where it is written
    variables: tuple[int, ...]
    coefficient: Fraction


class Form(NamedTuple):
    """constant + sum_j terms[j] x_j, and at most one variable that stands for several."""

    constant: Fraction = Fraction(0)
    terms: Mapping[int, Fraction] = {}
    each: Each | None = None

    @property
    def is_number(self) -> bool:
        """Whether no variable is left."""
        return not self.terms and self.each is None

    def times(self, factor: Fraction) -> "Form":
        """Return a multiple."""
        return combined([(factor, self)])

    def at(self, variable: int) -> "Form":
        """Return the form in which the variable that stands for several stands for this one."""
        if self.each is None:
            return self
        own = Form(terms={variable: self.each.coefficient})
        return combined([(Fraction(1), self._replace(each=None)), (Fraction(1), own)])


def combined(parts: Iterable[tuple[Fraction, Form]]) -> Form:
    """Return a sum of multiples of forms, without the variables that cancel."""
    constant, terms, each = Fraction(0), dict[int, Fraction](), None
    for factor, form in parts:
        constant += factor * form.constant
        for j, coefficient in form.terms.items():
            terms[j] = terms.get(j, Fraction(0)) + factor * coefficient
        if form.each is not None:
            if each is not None:
                raise second_pattern(each.token, form.each.token)
            each = form.each._replace(coefficient=factor * form.each.coefficient)
    return Form(constant, {j: coefficient for j, coefficient in terms.items() if coefficient}, each)


def second_pattern(first: Token, second: Token) -> ValueError:
    """Return what is wrong with two patterns in one statement."""
    return second.place.error(
        f"{first.place.words!r} already stands for several variables, one after the other, and an expression "
        f"has one such word only; sum({second.place.words}) is their sum."
    )
