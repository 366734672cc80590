"""Compiled loops: arrays and scalars in, arrays out, no objects.

Every kernel is a module-level ``njit`` function that is cached on disk, runs without the interpreter's lock,
and has a plain NumPy twin in `tether.objectives` as its test oracle. A loss is an integer code, because
functions as arguments would defeat the cache.
"""
