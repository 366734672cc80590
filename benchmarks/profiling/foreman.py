"""Gives orders to a worker and starts another one where it hangs or dies."""

import json
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
STARTING = 300.0  # seconds


class Foreman:
    """Owns one worker at a time, on some of the cores."""

    def __init__(self, cores: int | None, repeats: int) -> None:
        self._cores, self._repeats = cores, repeats
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()

    def order(self, problem: str, solver: str, limit: float, target: float | None = None) -> dict[str, Any]:
        """Have one pair measured; return the facts of the problem and the record."""
        process = self._worker()
        assert process.stdin is not None
        words = {
            "problem": problem,
            "solver": solver,
            "limit": limit,
            "target": target,
            "repeats": self._repeats,
        }
        print(json.dumps(words), file=process.stdin, flush=True)
        allowed = STARTING
        try:
            while (line := self._lines.get(timeout=allowed)) is not None:
                message = json.loads(line)
                if message["event"] == "done":
                    return message
                allowed = message["seconds"]
        except queue.Empty:
            self.dismiss()
            return {
                "facts": None,
                "record": {"end": "late", "limit": limit, "reason": "stopped from outside"},
            }
        self.dismiss()
        return {"facts": None, "record": {"end": "failed", "reason": "the process died"}}

    def dismiss(self) -> None:
        """End the worker."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _worker(self) -> "subprocess.Popen[str]":
        if self._process is None:
            command = [sys.executable, "-m", "profiling.worker", str(self._cores or "")]
            self._process = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            self._lines = queue.Queue()
            threading.Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True).start()
        return self._process


def _read(stream: Any, lines: "queue.Queue[str | None]") -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)
