"""Words of the command line that several commands read."""

import argparse
import math
from collections.abc import Sequence

#: Options whose value may begin with a minus.
MAY_BE_NEGATIVE = ("--expr", "--lower", "--upper", "--at-least", "--at-most")


def joined(arguments: Sequence[str]) -> list[str]:
    """Return the words of a command line, values that begin with a minus joined to their options.

    argparse would take ``-x1`` or ``-inf`` for an option of its own.

    Examples
    --------
    >>> joined(["solve", "--expr", "-x1<=1", "--lower", "-inf"])
    ['solve', '--expr=-x1<=1', '--lower=-inf']
    """
    words = list[str]()
    for word in arguments:
        if words and words[-1] in MAY_BE_NEGATIVE and word.startswith("-") and not word.startswith("--"):
            words[-1] += f"={word}"
        else:
            words.append(word)
    return words


def whole(text: str) -> int:
    """Return a whole number, which may be written as 1e5."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not number.is_integer():
        raise argparse.ArgumentTypeError(f"{text} is not a whole number; write for example 100000 or 1e5")
    return int(number)
