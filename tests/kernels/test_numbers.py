"""Numbers are read from text as Python reads them, to the last bit."""

import random
from decimal import Decimal, getcontext

import numpy as np
import pytest

from tether.io import numbers
from tether.io.numbers import numbers_in


def words(count, seed):
    """Yield numbers as people and programs write them."""
    rng = random.Random(seed)
    getcontext().prec = 60
    ways = (
        lambda: repr(rng.gauss(0, 1)),
        lambda: f"{rng.gauss(0, 1) * 10.0 ** rng.randint(-320, 300):.17g}",
        lambda: f"{rng.gauss(0, 1):.{rng.randint(0, 25)}e}",
        lambda: str(rng.randint(-(10 ** rng.randint(1, 25)), 10**20)),
        lambda: f"{rng.uniform(-1, 1):.{rng.randint(0, 20)}f}",
        lambda: middle(abs(rng.gauss(0, 1)) * 10.0 ** rng.randint(-5, 5)),
        lambda: middle(abs(rng.gauss(0, 1)))[:19],
        lambda: rng.choice(
            ["0", "-0", "+1", ".5", "5.", "1E-5", "-.5e+3", "000123.4500", "4.9e-324", "1e400"]
        ),
        lambda: rng.choice(["inf", "-inf", "1.7976931348623157e308", "2.2250738585072011e-308", "1e-400"]),
    )
    for _ in range(count):
        yield rng.choice(ways)()


def middle(number):
    """Return the middle of two neighbouring floats, with all its digits."""
    return str((Decimal(number) + Decimal(float(np.nextafter(number, np.inf)))) / 2)


@pytest.mark.parametrize("least", [0, 1 << 40], ids=["compiled", "numpy"])
def test_every_number_is_what_python_makes_of_it(least, monkeypatch):
    monkeypatch.setattr(numbers, "COMPILE_FROM", least)
    texts = list(words(5_000, seed=0))
    found = numbers_in("  ".join(texts).encode() + b"\n", b"")
    expected = np.array(list(map(float, texts)))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize("least", [0, 1 << 40], ids=["compiled", "numpy"])
@pytest.mark.parametrize(
    "text", [b"1 x", b"1 2_3", b"1e", b"--1", b"1..2", b"1e5e5", b".", b"+", b"0x10", b"1 2\x00"]
)
def test_what_is_no_number_is_noticed(text, least, monkeypatch):
    monkeypatch.setattr(numbers, "COMPILE_FROM", least)
    assert numbers_in(text, b":") is None


def test_separators_and_blanks_are_between_numbers(monkeypatch):
    monkeypatch.setattr(numbers, "COMPILE_FROM", 0)
    assert numbers_in(b"\t1 3:0.5,\r\n4::7 ", b":,").tolist() == [1, 3, 0.5, 4, 7]
    assert numbers_in(b" ", b"").tolist() == []


def test_many_odd_numbers_are_left_to_numpy(monkeypatch):
    monkeypatch.setattr(numbers, "COMPILE_FROM", 0)
    monkeypatch.setattr(numbers, "MOST_OTHERS", 3)
    assert numbers_in(b"1e-290 " * 5, b"").tolist() == [1e-290] * 5
