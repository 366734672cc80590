"""The command line: one file a command."""

import argparse
import sys
from collections.abc import Sequence

from rich.console import Console

from tether import __version__
from tether.cli import completion, demo, flower, info, report, reproduce, solve, theory
from tether.cli.words import joined
from tether.extras import MissingExtra

COMMANDS = (demo, solve, reproduce, theory, report, flower, info, completion)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; wrong input ends in one sentence."""
    options = parser().parse_args(joined(sys.argv[1:] if arguments is None else arguments))
    try:
        code = options.run(options, Console())
    except (ValueError, OSError, MissingExtra) as error:
        print(f"tether {options.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return code or 0


def parser() -> argparse.ArgumentParser:
    """Return what reads the words of a command line."""
    words = argparse.ArgumentParser(
        prog="tether", description="Linearly constrained finite sums with delayed projections."
    )
    words.add_argument("--version", action="version", version=f"tether {__version__}")
    commands = words.add_subparsers(dest="command", required=True, metavar="command")
    for command in COMMANDS:
        command.add(commands)
    return words
