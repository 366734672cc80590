"""The command line: tether demo | theory | flower."""

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
    _add_flower(commands.add_parser("flower", help="start a federation of machines with Flower"))
    return parser


def _add_flower(flower: argparse.ArgumentParser) -> None:
    acts = flower.add_subparsers(dest="act", required=True, metavar="act")
    init = acts.add_parser("init", help="write an app that runs, to put your data in")
    init.add_argument("folder", type=Path, help="a new folder")
    init.set_defaults(run=_flower_init)
    keys = acts.add_parser("keys", help="make certificates and node keys to try TLS on this machine")
    keys.add_argument("folder", type=Path, help="a new folder")
    keys.add_argument("--nodes", type=_whole, default=2, help="number of nodes (default 2)")
    keys.set_defaults(run=_flower_keys)


def _whole(text: str) -> int:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not number.is_integer():
        raise argparse.ArgumentTypeError(f"{text} is not a whole number; write for example 100000 or 1e5")
    return int(number)


def _demo(options: argparse.Namespace, console: Console) -> None:
    try:
        from tether import demo
    except ModuleNotFoundError as error:
        raise ValueError(f"{error.name} is missing; pip install 'tether[demo]'.") from error

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


def _flower_init(options: argparse.Namespace, console: Console) -> None:
    try:
        from tether.engines.flower.starter import init
    except ModuleNotFoundError as error:
        raise ValueError(_without_flower(error)) from error
    init(options.folder)
    console.print(f"Wrote {options.folder}: read its README.md, then put your data into client_app.py.")


def _flower_keys(options: argparse.Namespace, console: Console) -> None:
    try:
        from tether.engines.flower.keys import make_keys
    except ModuleNotFoundError as error:
        raise ValueError(_without_flower(error)) from error
    make_keys(options.folder, options.nodes)
    console.print(f"Wrote {options.folder}: ca.crt, server.pem, server.key, node0, node0.pub and so on.")


def _without_flower(error: ModuleNotFoundError) -> str:
    return f"{error.name} is missing; pip install 'tether[flower]'."
