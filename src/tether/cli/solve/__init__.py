"""tether solve: a linear model under linear constraints, from files to coefficients.

The options are in `options`, one process or several in `ranks`; `model` reads the data and makes the
objective, `restrictions` reads constraints and penalties, `answer` prints and writes what came of it.
"""

import argparse
from typing import Any

from rich.console import Console

from tether.cli.solve.options import DESCRIPTION, EXAMPLES, add_options


def add(commands: Any) -> None:
    """Add the command to the parser."""
    solve = commands.add_parser(
        "solve",
        help="a linear model under linear constraints, from files",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(solve)
    solve.set_defaults(run=_solve)


def _solve(options: argparse.Namespace, console: Console) -> int:
    from tether.cli.solve.command import run

    return run(options)
