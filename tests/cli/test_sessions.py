"""The sessions of docs/command-line.md are what a person sees, up to the digits."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tether.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)


def sessions():
    """Yield the commands of the page with what they print."""
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            yield command, printed


def words_of(text):
    """Return a text without its digits, and without how many blanks are between words."""
    return [re.sub(r"-?\d[\d.,e+-]*", "#", line).split() for line in text.strip().splitlines()]


def run(command, capsys):
    """Run one line as a shell would: tether in this process, what it is piped into in another."""
    first, _, after = command.partition(" | ")
    words = shlex.split(first)
    if words[0] == "cat":
        return Path(words[1]).read_text()
    assert words[0] == "tether"
    main(words[1:])
    out, err = capsys.readouterr()
    if not after:
        return out + err
    program = [sys.executable, *shlex.split(after)[1:]]
    return subprocess.run(program, input=out, capture_output=True, text=True, check=True).stdout


def test_the_sessions_of_the_page_are_true(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    exec(compile(blocks("python")[0], str(PAGE), "exec"), {})
    found = list(sessions())
    assert len(found) == 5
    for command, printed in found:
        assert words_of(run(command, capsys)) == words_of(printed), command
    assert Path("tariff.npz").exists() and Path("tariff.html").exists()
