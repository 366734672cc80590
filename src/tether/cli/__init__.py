"""The command line: one file a command."""

import argparse
import sys
from collections.abc import Sequence

from rich.console import Console

from tether import __version__
from tether.cli import demo, flower, reproduce, theory

COMMANDS = (demo, reproduce, theory, flower)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; wrong input ends in one sentence."""
    options = _parser().parse_args(arguments)
    try:
        code = options.run(options, Console())
    except (ValueError, OSError) as error:
        print(f"tether {options.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return code or 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tether", description="Linearly constrained finite sums with delayed projections."
    )
    parser.add_argument("--version", action="version", version=f"tether {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for command in COMMANDS:
        command.add(commands)
    return parser
