"""The line that moves while a run is under way."""

import math
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from tether.kernels.watch import compilations
from tether.run.history import Row


class Reporter(Protocol):
    """Something that is told about every round."""

    def begin(self, name: str) -> None:
        """Hear that a run starts."""

    def update(self, row: Row, fraction: float) -> None:
        """Hear about a round."""

    def end(self, message: str) -> None:
        """Hear why the run stopped."""


class Silent:
    """Reports nothing."""

    def begin(self, name: str) -> None:
        """Do nothing."""

    def update(self, row: Row, fraction: float) -> None:
        """Do nothing."""

    def end(self, message: str) -> None:
        """Do nothing."""


@contextmanager
def progress(shown: bool, name: str) -> Iterator[Reporter]:
    """Report a run on the terminal, or not at all; what interrupts it is said too."""
    reporter: Reporter = Live() if shown else Silent()
    reporter.begin(name)
    try:
        yield reporter
    except BaseException:
        reporter.end("the run ended with an error")
        raise


class Live:
    """A progress bar on the terminal and a last line that stays."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[status]}"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._watch = ExitStack()
        self._task: TaskID | None = None
        self._name = ""
        self._shown = 0.0
        self._value = math.nan
        self._gap = math.nan

    def begin(self, name: str) -> None:
        """Show the bar."""
        self._name = name
        self._bar.start()
        self._task = self._bar.add_task(name, total=1.0, status="starting")
        self._watch.enter_context(compilations(self._announce))

    def _announce(self) -> None:
        assert self._task is not None
        self._bar.update(self._task, status="compiling, once for problems of this kind")

    def update(self, row: Row, fraction: float) -> None:
        """Move the bar, a few times a second."""
        if not math.isnan(row.value):
            self._value, self._gap = row.value, row.gap
        now = time.monotonic()
        if self._task is None or now - self._shown < 0.1:
            return
        self._shown = now
        self._bar.update(self._task, completed=fraction, status=self._status(row))

    def end(self, message: str) -> None:
        """Replace the bar by one line."""
        self._watch.close()
        self._bar.stop()
        self._console.print(f"{self._name}: {message}", highlight=False, markup=False, soft_wrap=True)

    def _status(self, row: Row) -> str:
        parts = [f"round {row.rounds}", f"passes {row.passes:.1f}"]
        if not math.isnan(self._value):
            parts.append(f"F {self._value:.8g}")
        if not math.isnan(self._gap):
            parts.append(f"gap <= {self._gap:.1e}")
        return "  ".join(parts)
