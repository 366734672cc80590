"""tether flower: start a federation of machines."""

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console

from tether.cli.words import whole
from tether.extras import extra


def add(commands: Any) -> None:
    """Add the command to the parser."""
    flower = commands.add_parser("flower", help="start a federation of machines with Flower")
    acts = flower.add_subparsers(dest="act", required=True, metavar="act")
    init = acts.add_parser("init", help="write an app that runs, to put your data in")
    init.add_argument("folder", type=Path, help="a new folder")
    init.set_defaults(run=_flower_init)
    keys = acts.add_parser("keys", help="make certificates and node keys to try TLS on this machine")
    keys.add_argument("folder", type=Path, help="a new folder")
    keys.add_argument("--nodes", type=whole, default=2, help="number of nodes (default 2)")
    keys.set_defaults(run=_flower_keys)


def _flower_init(options: argparse.Namespace, console: Console) -> None:
    extra("flower", "tether.engines.flower.starter").init(options.folder)
    console.print(f"Wrote {options.folder}: read its README.md, then put your data into client_app.py.")


def _flower_keys(options: argparse.Namespace, console: Console) -> None:
    extra("flower", "tether.engines.flower.keys").make_keys(options.folder, options.nodes)
    console.print(f"Wrote {options.folder}: ca.crt, server.pem, server.key, node0, node0.pub and so on.")
