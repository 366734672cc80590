"""tether theory: what the theorems promise."""

import argparse
from typing import Any

from rich.console import Console
from rich.table import Table

from tether.cli.words import whole


def add(commands: Any) -> None:
    """Add the command to the parser."""
    theory = commands.add_parser("theory", help="what the theorems promise for a problem of your size")
    theory.add_argument("--kappa", type=float, required=True, help="condition number L/mu")
    theory.add_argument("--n", type=whole, required=True, help="number of samples N, for example 1e5")
    theory.add_argument("--eps", type=float, default=1e-6, help="accuracy F(x) - F* (default 1e-6)")
    theory.set_defaults(run=_theory)


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
