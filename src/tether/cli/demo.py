"""tether demo: every method on handwritten digits."""

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console

from tether.extras import extra


def add(commands: Any) -> None:
    """Add the command to the parser."""
    demo = commands.add_parser("demo", help="every method on handwritten digits with 20 constraints")
    demo.add_argument("--output", type=Path, default=Path(), help="folder for the picture (default: here)")
    demo.set_defaults(run=_demo)


def _demo(options: argparse.Namespace, console: Console) -> None:
    demo = extra("demo", "tether.demo")
    if not options.output.is_dir():
        raise ValueError(f"--output must be an existing folder, got {str(options.output)!r}.")
    demo.run(console, options.output)
