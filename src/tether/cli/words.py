"""Words of the command line that several commands read."""

import argparse
import math


def whole(text: str) -> int:
    """Return a whole number, which may be written as 1e5."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not number.is_integer():
        raise argparse.ArgumentTypeError(f"{text} is not a whole number; write for example 100000 or 1e5")
    return int(number)
