"""tether report: a page about saved solutions."""

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console

from tether.extras import extra
from tether.run.saved import load


def add(commands: Any) -> None:
    """Add the command to the parser."""
    report = commands.add_parser("report", help="one HTML page about solutions that were saved")
    report.add_argument("solutions", nargs="+", type=Path, help="files that sol.save wrote, one for each run")
    report.add_argument(
        "--output", type=Path, default=Path("report.html"), help="the page (default report.html)"
    )
    report.add_argument("--title", help="its heading (default: what was solved)")
    report.add_argument("--best", type=float, help="the optimal value, where it is known: for true gaps")
    report.set_defaults(run=_report)


def _report(options: argparse.Namespace, console: Console) -> None:
    solutions = {name: load(path) for name, path in named(options.solutions).items()}
    pages = extra("report", "tether.report")
    path = pages.write_report(options.output, solutions, title=options.title, best=options.best)
    console.print(f"Wrote {path}: open it in a browser.", highlight=False, soft_wrap=True)


def named(paths: list[Path]) -> dict[str, Path]:
    """Return files by the shortest names that tell them apart: their own, or with folders before them."""
    for depth in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.with_suffix("").parts[-depth:]) for path in paths]
        if len(set(names)) == len(paths):
            return dict(zip(names, paths, strict=True))
    raise ValueError("solutions must be different files; each was to be named once.")
