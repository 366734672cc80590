"""The words of a parser: commands, their options, and what may follow each."""

import argparse
from collections.abc import Iterator
from typing import NamedTuple


class Word(NamedTuple):
    """An option, or what follows a command: its name, what it says of itself, and what it takes."""

    name: str  # empty for what has none
    help: str
    takes: str  # how the value is called; empty if it takes none
    choices: tuple[str, ...]  # of the value
    file: bool  # whether the value may be a file
    repeated: bool


class Command(NamedTuple):
    """A command, or an act of one: what it says of itself, its options, and its acts."""

    name: str
    help: str
    options: tuple[Word, ...]
    arguments: tuple[Word, ...]
    acts: tuple["Command", ...]


def commands_of(parser: argparse.ArgumentParser) -> tuple[Command, ...]:
    """Return the commands of a parser."""
    return tuple(_commands(parser))


def _commands(parser: argparse.ArgumentParser) -> Iterator[Command]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, own in action.choices.items():
                yield _command(name, helps.get(name, ""), own)


def _command(name: str, words: str, parser: argparse.ArgumentParser) -> Command:
    own = [action for action in parser._actions if not isinstance(action, argparse._SubParsersAction)]
    options = tuple(_word(action, action.option_strings[-1]) for action in own if action.option_strings)
    arguments = tuple(_word(action, "") for action in own if not action.option_strings)
    return Command(name, words, options, arguments, tuple(_commands(parser)))


def _word(action: argparse.Action, name: str) -> Word:
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest
    takes = "" if action.nargs == 0 else metavar
    choices = tuple(map(str, action.choices or ()))
    file = bool(takes) and not choices and ("FILE" in takes or action.dest in ("folder", "output"))
    return Word(name, action.help or "", takes, choices, file, isinstance(action, argparse._AppendAction))
