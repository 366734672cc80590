"""Where results are: a file a finished run, so that an experiment that was stopped goes on from there."""

import csv
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tether.digest import digest_of
from tether.reproduce.task import FORMAT, Problem, Task, Trace


class Store:
    """A folder of results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs = folder / "runs"
        try:
            self._runs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(
                f"--output must be a folder that can be written to, got {str(folder)!r} ({error.strerror})."
            ) from error

    def find(self, task: Task) -> Trace | None:
        """Return what a run has left; None if it is still to be done."""
        path = self._place(task)
        if not path.exists():
            return None
        try:
            return Trace.read(path)
        except (KeyError, ValueError, TypeError) as error:
            raise ValueError(f"{path} is no readable run ({error}); delete it to run it again.") from error

    def keep(self, task: Task, trace: Trace) -> None:
        """Write a finished run down, whole or not at all."""
        part = self._place(task).with_suffix(f".{os.getpid()}.part")
        trace.write(part)
        os.replace(part, self._place(task))

    def find_optimum(self, problem: Problem) -> float | None:
        """Return F* if it is known."""
        path = self._optimum(problem)
        return float(json.loads(path.read_text())["value"]) if path.exists() else None

    def keep_optimum(self, problem: Problem, value: float, error: float) -> None:
        """Write F* down, and the bound on its error."""
        part = self._optimum(problem).with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps({"problem": repr(problem), "value": value, "error": error}))
        os.replace(part, self._optimum(problem))

    def write_table(self, name: str, headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
        """Write a table as CSV."""
        path = self.folder / f"{name}.csv"
        with path.open("w", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(headings)
            lines.writerows(rows)
        return path

    def _place(self, task: Task) -> Path:
        return self._runs / f"{task.digest()}.csv"

    def _optimum(self, problem: Problem) -> Path:
        return self._runs / f"optimum-{digest_of(FORMAT, repr(problem))}.json"
