"""Which variables the words of an expression mean."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from tether.expressions.form import Each, Form
from tether.expressions.tokens import Kind, Token
from tether.names import INTERCEPT, nearest

ONE = Fraction(1)


class Lookup:
    """The variables by name.

    Intercepts are meant only where they are named: ``sum``, ``all`` and patterns leave them out.

    Parameters
    ----------
    names : sequence of str
        The names of the variables in their order.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._place = {name: j for j, name in enumerate(self.names)}

    @cached_property
    def coefficients(self) -> tuple[int, ...]:
        """The variables that are no intercepts."""
        return tuple(j for j, name in enumerate(self.names) if not is_intercept(name))

    @cached_property
    def _doubles(self) -> set[str]:
        return {name for name, count in Counter(self.names).items() if count > 1}

    def variable(self, token: Token) -> Form:
        """Return the variable of a name, or refuse one that is no variable's or several variables'."""
        name = token.word
        if name not in self._place:
            raise token.place.error(f"{name!r} is no variable; {nearest(name, self.names)}{_also(token)}.")
        if name in self._doubles:
            raise token.place.error(f"{name!r} is the name of more than one variable; rename one of them.")
        return Form(terms={self._place[name]: ONE})

    def every(self, token: Token) -> Form:
        """Return the word that stands for all variables, or for those whose names begin alike."""
        return Form(each=Each(token, self._matching(token), ONE))

    def total(self) -> Form:
        """Return the sum of all variables but intercepts."""
        return Form(terms=dict.fromkeys(self.coefficients, ONE))

    def is_name(self, word: str) -> bool:
        """Say whether a variable has this name."""
        return word in self._place

    def _matching(self, token: Token) -> tuple[int, ...]:
        if token.kind is not Kind.PATTERN:
            return self.coefficients
        found = tuple(j for j in self.coefficients if self.names[j].startswith(token.word))
        if not found:
            raise token.place.error(
                f"no variable has a name that begins with {token.word!r}; {nearest(token.word, self.names)}."
            )
        return found


def is_intercept(name: str) -> bool:
    """Say whether a name is that of an intercept: ``intercept``, or ``intercept[class]`` of many."""
    return name == INTERCEPT or name.startswith(f"{INTERCEPT}[")


def _also(token: Token) -> str:
    """Return what a name may have been meant for otherwise."""
    after = token.place.text[token.place.end :]
    if token.kind is Kind.NAME and after.startswith("*"):
        return f"; a pattern has a blank behind its star, '{token.word}* '"
    return ""
