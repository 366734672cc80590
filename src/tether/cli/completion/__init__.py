"""tether completion: a script that has a shell complete the words of the other commands."""

import argparse
from typing import Any

from rich.console import Console

EXAMPLES = """\
to try it, and to keep it:
  bash    source <(tether completion bash)
          tether completion bash > ~/.local/share/bash-completion/completions/tether
  zsh     source <(tether completion zsh)
          tether completion zsh > "${fpath[1]}/_tether"
  fish    tether completion fish | source
          tether completion fish > ~/.config/fish/completions/tether.fish"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    completion = commands.add_parser(
        "completion",
        help="a script that has your shell complete these commands",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    completion.set_defaults(run=_completion)


def _completion(options: argparse.Namespace, console: Console) -> None:
    from tether.cli import parser
    from tether.cli.completion.scripts import SCRIPTS
    from tether.cli.completion.words import commands_of

    print(SCRIPTS[options.shell](commands_of(parser())), end="")
