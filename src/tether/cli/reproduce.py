"""tether reproduce: the paper's figures, tables and theorems, run again."""

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console

from tether.threads import CORES

DATA = ("mnist", "fashion", "digits")


def add(commands: Any) -> None:
    """Add the command to the parser."""
    reproduce = commands.add_parser(
        "reproduce", help="the paper's figures, tables and theorems, run again; without a name: what there is"
    )
    reproduce.add_argument("names", nargs="*", metavar="name", help="figure-1, table-3, theorems, ..., all")
    reproduce.add_argument("--data", choices=DATA, help="images (default mnist; digits with --quick)")
    reproduce.add_argument("--quick", action="store_true", help="smaller and shorter: two minutes for all")
    reproduce.add_argument("--seeds", type=int, help="runs of each line (default: each experiment's own)")
    reproduce.add_argument("--jobs", type=int, help="runs at a time (default: the cores there are)")
    reproduce.add_argument(
        "--output", type=Path, default=Path("reproduction"), help="folder for results (default: reproduction)"
    )
    reproduce.add_argument("--docs", type=Path, help="folder whose paper.md and figures are to be rewritten")
    reproduce.set_defaults(run=_reproduce)


def _reproduce(options: argparse.Namespace, console: Console) -> None:
    try:
        from tether.reproduce import command
        from tether.reproduce.experiment import Settings
    except ModuleNotFoundError as error:
        raise ValueError(f"{error.name} is missing; pip install 'tether[demo]'.") from error
    if not options.names:
        command.show_names(console)
        return
    for name in ("seeds", "jobs"):
        if getattr(options, name) is not None and getattr(options, name) < 1:
            raise ValueError(f"--{name} must be at least 1, got {getattr(options, name)}.")
    data = options.data or ("digits" if options.quick else "mnist")
    order = command.Order(
        command.checked_names(options.names),
        Settings(data, options.quick, options.seeds),
        options.output,
        options.jobs or CORES,
        options.docs,
    )
    command.reproduce(order, console)
