"""An expression cut into words: numbers, names, patterns, signs and comparisons."""

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from tether.expressions.place import Place


class Kind(Enum):
    """What a word is."""

    NUMBER = auto()
    NAME = auto()
    QUOTED = auto()  # a name between quotes
    PATTERN = auto()  # the beginning of a name and a star
    SIGN = auto()
    COMPARISON = auto()
    END = auto()


class Token(NamedTuple):
    """A word, and where it stands."""

    kind: Kind
    word: str  # a name without its quotes, a pattern without its star
    place: Place


SUM, ALL = "sum", "all"  # words of the grammar
RESERVED = (SUM, ALL)
_NAME = r"[^\W\d][\w.:]*(?:\[[^\[\]'\"]*\])?"
_WORDS = re.compile(
    rf"""(?P<SPACE>\s+)
    | (?P<NUMBER>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
    | (?P<PATTERN>{_NAME}\*(?=\s|$|[),<>=!≤≥]))
    | (?P<NAME>{_NAME})
    | (?P<QUOTED>'(?:[^']|'')*'|"(?:[^"]|"")*")
    | (?P<COMPARISON><=|>=|==|=<|=>|!=|<|>|=|≤|≥|≠)
    | (?P<SIGN>[-+*/(),])""",
    re.VERBOSE,
)
_STARTED_BY_A_DIGIT = re.compile(r"[\d.][\w.:]*")
_SAME = {"=": "==", "≤": "<=", "≥": ">="}
_REFUSED = {
    "<": "'<' leaves out the boundary, where the minimum may be; write '<='.",
    ">": "'>' leaves out the boundary, where the minimum may be; write '>='.",
    "=<": "'=<' is no comparison; write '<='.",
    "=>": "'=>' is no comparison; write '>='.",
    "!=": "'!=' is not linear; write '==', '<=' or '>='.",
    "≠": "'≠' is not linear; write '==', '<=' or '>='.",
}
_HINTS = {
    "`": "a name with blanks or signs is written between quotes, as 'age group'.",
    "'": "a quote is opened here and not closed.",
    '"': "a quote is opened here and not closed.",
    "^": "powers are not linear.",
    "[": "brackets belong to a name, as in x[0]; a name with other signs is written between quotes.",
}


def tokens_of(text: str) -> Iterator[Token]:
    """Yield the words of an expression, at last its end; refuse what is no word."""
    place = 0
    while place < len(text):
        found = _WORDS.match(text, place)
        if found is None or found.lastgroup is None:
            raise _stranger(text, place)
        if found.lastgroup != "SPACE":
            yield _token(Kind[found.lastgroup], Place(text, place, found.end()))
        place = found.end()
    yield Token(Kind.END, "", Place(text, len(text), len(text)))


def quoted(name: str) -> str:
    """Return a name as it is written in an expression: between quotes where it would not be read as one."""
    plain = re.fullmatch(_NAME, name) is not None and name not in RESERVED
    return name if plain else "'" + name.replace("'", "''") + "'"


def _token(kind: Kind, place: Place) -> Token:
    word = place.words
    if kind is Kind.COMPARISON:
        if word in _REFUSED:
            raise place.error(_REFUSED[word])
        word = _SAME.get(word, word)
    elif kind is Kind.QUOTED:
        word = word[1:-1].replace(2 * word[0], word[0])
    elif kind is Kind.PATTERN:
        word = word[:-1]
    return Token(kind, word, place)


def _stranger(text: str, start: int) -> ValueError:
    """Return what is wrong with characters that are no word."""
    found = _STARTED_BY_A_DIGIT.match(text, start)
    if found is not None and len(found.group()) > 1:
        return Place(text, start, found.end()).error(
            f"{found.group()!r} is neither a number nor a name; write a product as 2*x, and a name that "
            "begins with a digit between quotes."
        )
    sign = text[start]
    hint = _HINTS.get(sign, "expressions are made of numbers, names, + - * / ( ) and == <= >=.")
    return Place(text, start, start + 1).error(f"{sign!r} cannot be read: {hint}")
