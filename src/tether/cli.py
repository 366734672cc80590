"""The command line: tether demo | theory."""

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tether import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; wrong input ends in one sentence."""
    options = _parser().parse_args(arguments)
    console = Console()
    try:
        options.run(options, console)
    except (ValueError, OSError) as error:
        print(f"tether {options.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tether", description="Linearly constrained finite sums with delayed projections."
    )
    parser.add_argument("--version", action="version", version=f"tether {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    demo = commands.add_parser("demo", help="every method on handwritten digits with 20 constraints")
    demo.add_argument("--output", type=Path, default=Path(), help="folder for the picture (default: here)")
    demo.set_defaults(run=_demo)
    theory = commands.add_parser("theory", help="what the theorems promise for a problem of your size")
    theory.add_argument("--kappa", type=float, required=True, help="condition number L/mu")
    theory.add_argument("--n", type=_whole, required=True, help="number of samples N, for example 1e5")
    theory.add_argument("--eps", type=float, default=1e-6, help="accuracy F(x) - F* (default 1e-6)")
    theory.set_defaults(run=_theory)
    return parser


def _whole(text: str) -> int:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not number.is_integer():
        raise argparse.ArgumentTypeError(f"{text} is not a whole number; write for example 100000 or 1e5")
    return int(number)


def _demo(options: argparse.Namespace, console: Console) -> None:
    from tether import demo

    if not options.output.is_dir():
        raise ValueError(f"--output must be an existing folder, got {str(options.output)!r}.")
    demo.run(console, options.output)


def _theory(options: argparse.Namespace, console: Console) -> None:
    from tether import theory

    rows = theory.comparison_table(options.kappa, options.n, options.eps)
    table = Table(box=None, pad_edge=False)
    table.add_column("method", no_wrap=True)
    for heading in ("E", "m", "T", "S", "P", "G"):
        table.add_column(heading, justify="right")
    for row in sorted(rows, key=lambda row: row.projections):
        stage = "-" if row.stage_length is None else f"{row.stage_length:,}"
        work = (row.steps, row.stages, row.projections, row.gradients)
        table.add_row(
            row.method, f"{row.interval:,}", stage, *(f"{number:.1e}" if number else "-" for number in work)
        )
    console.print(
        f"To F(x) - F* <= {options.eps:g} with kappa = {options.kappa:g} and N = {options.n:,}\n"
        "(orders of magnitude, all constants set to 1; E: steps between projections,\n"
        "m: steps a stage, T: steps, S: stages, P: projections, G: gradients):\n",
        highlight=False,
    )
    console.print(table)
    setting = theory.Setting.conditioned(options.kappa, options.n, options.eps)
    console.print()
    for goal in ("projections", "gradients"):
        best = theory.recommend(setting, goal)
        stage = "" if best.stage_length is None else f", m = {best.stage_length:,}"
        console.print(f"Fewest {goal}: {best.method}, E = {best.interval:,}{stage}.", highlight=False)
