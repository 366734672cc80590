"""Hear of compilations, which take seconds; a kernel that is read from disk is not one."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def compilations(tell: Callable[[], None]) -> Iterator[None]:
    """Call ``tell`` whenever a compilation begins, in the thread that compiles."""
    if "numba" not in sys.modules:  # and so nothing here is compiled
        yield
        return
    from numba.core import event

    class Ear(event.Listener):
        def on_start(self, event: object) -> None:
            tell()

        def on_end(self, event: object) -> None:
            """Leave the line to the next round."""

    with event.install_listener("numba:compile", Ear()):
        yield
