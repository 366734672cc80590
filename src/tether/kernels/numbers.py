"""Numbers out of text, rounded as they should be.

A number is w 10^e with a whole number w of up to 19 digits. Small ones are one exact product. For others w
and 10^e are sums of two floats each, and so is their product, to about 100 bits: its rounding to one float
is right unless it lies next to the middle of two. Those few, and all that is written otherwise, are left to
Python.

References
----------
Clinger, "How to read floating point numbers accurately" (1990); Dekker's product of two floats (1971).
"""

import math

import numpy as np

from tether.kernels.options import exact_inlined, exact_kernel

MOST_DIGITS = 19  # of w, which then fits into 64 bits
EXACT_POWER = 22  # 10^22 is a float
LARGEST_POWER = 250  # of 10, such that no part of a product overflows or vanishes
HALF_BITS = 134217729.0  # 2^27 + 1: splits a float into two halves
CLOSE = 2.0**-20  # to the middle of two floats, in units of the last bit

ZERO, NINE, DOT, PLUS, MINUS = ord("0"), ord("9"), ord("."), ord("+"), ord("-")
SMALL_E, LARGE_E = ord("e"), ord("E")


@exact_inlined
def _product(a, b):
    """Return a b as a sum of two floats."""
    p = a * b
    t = HALF_BITS * a
    a1 = t - (t - a)
    a2 = a - a1
    t = HALF_BITS * b
    b1 = t - (t - b)
    b2 = b - b1
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


@exact_kernel
def scaled(w, e, high, low):
    """Return w 10^e and whether that is certainly its rounding; high + low are the powers from -250 on."""
    if w == 0:
        return 0.0, True
    top = float(w)
    if w < 9007199254740992 and -EXACT_POWER <= e <= EXACT_POWER:
        power = high[abs(e) + LARGEST_POWER]
        return (top * power if e >= 0 else top / power), True
    if e < -LARGEST_POWER or e > LARGEST_POWER:
        return 0.0, False
    back = np.uint64(top)
    rest = float(w - back) if w >= back else -float(back - w)
    p, q = _product(top, high[e + LARGEST_POWER])
    q += top * low[e + LARGEST_POWER] + rest * high[e + LARGEST_POWER]
    value = p + q
    left = q - (value - p)
    fraction, exponent = math.frexp(value)
    unit = math.ldexp(1.0, exponent - 53)
    return value, fraction != 0.5 and abs(abs(left) - 0.5 * unit) > CLOSE * unit


@exact_kernel
def read_numbers(text, separates, powers, values, others):
    """Read the numbers of a text into values, and where those stand that Python has to read into others.

    Returns how many there are of both; the latter is -1 if others has no room for them.
    """
    high, low = powers
    count, left, place, end = 0, 0, 0, len(text)
    while True:
        while place < end and separates[text[place]]:
            place += 1
        if place == end:
            return count, left
        begin = place
        negative = text[place] == MINUS
        if negative or text[place] == PLUS:
            place += 1
        w, digits, e, seen, point = np.uint64(0), 0, 0, 0, False
        while place < end and ((ZERO <= text[place] <= NINE) or (text[place] == DOT and not point)):
            if text[place] == DOT:
                point = True
            else:
                digit = np.uint64(text[place] - ZERO)
                seen += 1
                if digits or digit:
                    digits += 1
                if digits <= MOST_DIGITS:
                    w = w * np.uint64(10) + digit
                if point:
                    e -= 1
            place += 1
        known = seen > 0 and digits <= MOST_DIGITS
        if known and place < end and (text[place] == SMALL_E or text[place] == LARGE_E):
            place += 1
            down = place < end and text[place] == MINUS
            if place < end and (down or text[place] == PLUS):
                place += 1
            power, written = 0, 0
            while place < end and ZERO <= text[place] <= NINE:
                power = min(10 * power + (text[place] - ZERO), 100000)
                written += 1
                place += 1
            known = written > 0
            e += -power if down else power
        known = known and (place == end or separates[text[place]])
        value = 0.0
        if known:
            value, known = scaled(w, e, high, low)
        while place < end and not separates[text[place]]:
            place += 1
        values[count] = -value if negative else value
        if not known:
            if left == len(others):
                return count, -1
            others[left, 0], others[left, 1], others[left, 2] = count, begin, place
            left += 1
        count += 1
