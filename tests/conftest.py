"""What holds for all tests: they do not depend on how fast a machine is, nor on their order."""

from itertools import chain, zip_longest
from zlib import crc32

import numpy as np
from hypothesis import HealthCheck, settings

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_collection_modifyitems(items):
    """Begin with tests that take minutes, each with a short one, which is how they are dealt to processes."""
    long = [item for item in items if item.get_closest_marker("minutes")]
    short = [item for item in items if not item.get_closest_marker("minutes")]
    pairs = zip_longest(long, short[: len(long)])
    items[:] = [item for item in chain.from_iterable(pairs) if item is not None] + short[len(long) :]


def pytest_runtest_setup(item):
    """Have every test draw the same numbers, whichever tests of its file ran before it."""
    drawn = getattr(getattr(item, "module", None), "RNG", None)
    if isinstance(drawn, np.random.Generator):
        drawn.bit_generator.state = np.random.default_rng(crc32(item.name.encode())).bit_generator.state
