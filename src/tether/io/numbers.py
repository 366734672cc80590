"""All numbers of a block of text at once: by compiled code where the block is long, else by NumPy."""

import warnings
from fractions import Fraction
from functools import cache

import numpy as np

from tether.arrays import Array

COMPILE_FROM = 1 << 22  # bytes of a block from which compiled code saves more time than it takes to load
MOST_OTHERS = 100_000  # numbers of a block that compiled code leaves to Python


def numbers_in(text: bytes, separators: bytes) -> Array | None:
    """Return the numbers of a text, with blanks or separators between them; None if it holds anything else.

    Examples
    --------
    >>> numbers_in(b"1 3:0.5 4:1e-3", b":")
    array([1.e+00, 3.e+00, 5.e-01, 4.e+00, 1.e-03])
    """
    return _compiled(text, separators) if len(text) >= COMPILE_FROM else _by_numpy(text, separators)


def _by_numpy(text: bytes, separators: bytes) -> Array | None:
    if b"_" in text:
        return None
    blank = text.translate(bytes.maketrans(separators, b" " * len(separators)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.fromstring(blank, sep=" ")
        except (ValueError, DeprecationWarning):
            return None


def _compiled(text: bytes, separators: bytes) -> Array | None:
    from tether.kernels.numbers import read_numbers

    separates = np.zeros(256, dtype=np.bool_)
    separates[list(b" \t\r\n\v\f" + separators)] = True
    values, others = np.empty(len(text) // 2 + 1), np.empty((MOST_OTHERS, 3), dtype=np.int64)
    count, left = read_numbers(np.frombuffer(text, dtype=np.uint8), separates, powers(), values, others)
    if left < 0:
        return _by_numpy(text, separators)
    for number, begin, end in others[:left].tolist():
        word = text[begin:end]
        try:
            values[number] = float(word)
        except ValueError:
            return None
        if b"_" in word:
            return None
    return values[:count].copy()


@cache
def powers() -> tuple[Array, Array]:
    """Return 10^e for e from -250 to 250 as a sum of two floats, the first being its rounding."""
    from tether.kernels.numbers import LARGEST_POWER

    exact = [Fraction(10) ** e for e in range(-LARGEST_POWER, LARGEST_POWER + 1)]
    high = [float(power) for power in exact]
    low = [float(power - Fraction(top)) for power, top in zip(exact, high, strict=True)]
    return np.array(high), np.array(low)
