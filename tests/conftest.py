"""What holds for all tests: they say nothing about how fast a machine is, and the longest ones come first."""

from itertools import chain, zip_longest

from hypothesis import HealthCheck, settings

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_collection_modifyitems(items):
    """Begin with tests that take minutes, each with a short one, which is how they are dealt to processes."""
    long = [item for item in items if item.get_closest_marker("minutes")]
    short = [item for item in items if not item.get_closest_marker("minutes")]
    pairs = zip_longest(long, short[: len(long)])
    items[:] = [item for item in chain.from_iterable(pairs) if item is not None] + short[len(long) :]
