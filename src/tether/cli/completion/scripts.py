"""Scripts for three shells, made of the words of a parser."""

from collections.abc import Callable, Iterator, Sequence

from tether.cli.completion.words import Command, Word

HEAD = "# Completion of the command tether, written by `tether completion {}`.\n"


def bash(commands: Sequence[Command]) -> str:
    """Return a script for bash."""
    cases = "\n".join(_bash_command(command) for command in commands)
    return f"""{HEAD.format("bash")}
_tether() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local words="" files=no
  if ((COMP_CWORD == 1)); then
    words="{_names(commands)} --help --version"
  else
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
  fi
  if [[ $files == yes ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  fi
}}
complete -F _tether tether
"""


def _bash_command(command: Command) -> str:
    lines = [f"      {command.name})"]
    if command.acts:
        lines += [f'        if ((COMP_CWORD == 2)); then words="{_names(command.acts)}"; else files=yes; fi']
    else:
        lines += ['        case "$before" in', *_bash_values(command), "        esac"]
    return "\n".join([*lines, "        ;;"])


def _bash_values(command: Command) -> Iterator[str]:
    """Yield what may follow each option, and at last the options themselves."""
    for option in command.options:
        if option.takes:
            follow = "files=yes" if option.file else f'words="{" ".join(option.choices)}"'
            yield f"          {option.name}) {follow} ;;"
    others = [choice for word in command.arguments for choice in word.choices]
    names = " ".join([*others, *(option.name for option in command.options)])
    yield f'          *) words="{names}" ;;'


def zsh(commands: Sequence[Command]) -> str:
    """Return a script for zsh."""
    cases = "\n".join(f"    {command.name}) {_zsh_command(command)} ;;" for command in commands)
    return f"""#compdef tether
{HEAD.format("zsh")}
_tether() {{
  if ((CURRENT == 2)); then
    local -a commands=(
{_zsh_described(commands)}
    )
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
{cases}
  esac
}}

if [[ $funcstack[1] == _tether ]]; then _tether "$@"; else compdef _tether tether; fi
"""


def _zsh_command(command: Command) -> str:
    if command.acts:
        return f"_arguments '1:act:({_names(command.acts)})' '*:file:_files'"
    specs = [_zsh_spec(word) for word in (*command.options, *command.arguments)]
    return " \\\n      ".join(["_arguments", *specs])


def _zsh_spec(word: Word) -> str:
    action = "_files" if word.file else f"({' '.join(word.choices)})" if word.choices else ""
    if not word.name:
        return _quoted(f":{word.takes}:{action}")
    value = f":{_plain(word.takes)}:{action}" if word.takes else ""
    return _quoted(f"{'*' if word.repeated else ''}{word.name}[{_plain(word.help)}]{value}")


def _zsh_described(commands: Sequence[Command]) -> str:
    return "\n".join(f"      {_quoted(f'{command.name}:{_plain(command.help)}')}" for command in commands)


def fish(commands: Sequence[Command]) -> str:
    """Return a script for fish."""
    lines = [HEAD.format("fish"), "complete -c tether -f"]
    for command in commands:
        lines.append(
            f"complete -c tether -n __fish_use_subcommand -a {command.name} -d {_quoted(command.help)}"
        )
        here = f"complete -c tether -n '__fish_seen_subcommand_from {command.name}'"
        lines += [f"{here} {_fish_spec(word)}" for word in command.options if word.name.startswith("--")]
        lines += [f"{here} -a '{' '.join(word.choices)}'" for word in command.arguments if word.choices]
        lines += [f"{here} -a {act.name} -d {_quoted(act.help)}" for act in command.acts]
    return "\n".join(lines) + "\n"


def _fish_spec(word: Word) -> str:
    value = ""
    if word.takes:
        value = " -r -F" if word.file else f" -x -a '{' '.join(word.choices)}'" if word.choices else " -x"
    return f"-l {word.name[2:]}{value} -d {_quoted(word.help)}"


def _names(commands: Sequence[Command]) -> str:
    return " ".join(command.name for command in commands)


def _plain(text: str) -> str:
    """Return a text without what shells take for something else."""
    return text.replace("[", "(").replace("]", ")").replace(":", ";")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "’") + "'"


SCRIPTS: dict[str, Callable[[Sequence[Command]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
