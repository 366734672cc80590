"""Run the benchmark and write a table of time, projections and passes to a gap.

    python table.py --problems small a8a --solvers tether scipy --limit 60 --output table.md

Every pair of problem and solver runs in a process of its own. `benchopt run` on this folder draws curves of
the same solvers; this script is for numbers.
"""

import argparse
import json
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from benchmark_utils.catalogue import ROOT, catalogue
from benchmark_utils.report import machine, report, summary

ORDER = ["small", "text dense", "text sparse", "synthetic", "mnist", "a8a", "lcqp", "poisson"]
STORE = ROOT / ".cache" / "results.json"


def main() -> None:
    """Measure what was asked for and print all that is known."""
    words = _arguments()
    solvers, missing = catalogue("solvers", "Solver")
    for name, reason in missing.items():
        print(f"{name}: left out, {reason}", file=sys.stderr)
    chosen = [name for name in solvers if not words.solvers or any(word in name for word in words.solvers)]
    chosen.sort(key=lambda name: name != "tether lbfgs")  # the yardstick first
    results = json.loads(STORE.read_text()) if STORE.exists() and words.keep else {}
    for problem in [] if words.render else words.problems:
        for solver in chosen:
            print(f"{problem}: {solver} ...", end=" ", file=sys.stderr, flush=True)
            record = measure(problem, solver, words.repetitions, words.limit)
            print(record["end"], file=sys.stderr)
            results.setdefault(problem, {})[solver] = record
            STORE.parent.mkdir(exist_ok=True)
            STORE.write_text(json.dumps(results))
    shown = {problem: results[problem] for problem in ORDER if problem in results}
    text = machine() + summary(shown) + report(shown, after_setup=words.after_setup)
    print(text)
    if words.output:
        Path(words.output).write_text(text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--problems", nargs="+", default=ORDER, choices=ORDER, metavar="NAME", help="all if left out"
    )
    parser.add_argument("--solvers", nargs="+", metavar="WORD", help="those whose names contain a word")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one run")
    parser.add_argument("--keep", action="store_true", help="add to the results of earlier calls")
    parser.add_argument("--render", action="store_true", help="measure nothing, print earlier results")
    parser.add_argument("--after-setup", action="store_true", help="leave set-up out of the times")
    parser.add_argument("--output", help="also write the table to this file")
    words = parser.parse_args()
    words.keep = words.keep or words.render
    return words


def measure(problem: str, solver: str, repetitions: int, limit: float) -> dict[str, Any]:
    """Return the points of one pair and how it ended: done, skip, failed or limit."""
    command = [sys.executable, str(ROOT / "measure.py"), problem, solver, str(repetitions), str(limit)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    record: dict[str, Any] = {"points": [], "end": "died", "reason": "the process died", "limit": limit}
    lines: queue.Queue[str | None] = queue.Queue()
    threading.Thread(target=_read, args=(process.stdout, lines), daemon=True).start()
    allowed = 120.0
    try:
        while (line := lines.get(timeout=allowed)) is not None:
            message = json.loads(line)
            event = message.pop("event")
            if event == "allow":
                allowed = message["seconds"]
            elif event == "point":
                record["points"].append(message)
            else:
                record.update(end=event, reason=message.get("reason", ""))
    except queue.Empty:
        record.update(end="limit", reason=f"more than {limit:g} s")
    process.kill()
    process.wait()
    return record


def _read(stream: Any, lines: "queue.Queue[str | None]") -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)


if __name__ == "__main__":
    main()
