"""Shells complete what the parser knows."""

import shutil
import subprocess

import pytest

from tether.cli import main

CHECKS = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "-n"]}


def script(shell, capsys):
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", CHECKS)
def test_a_script_names_every_command_and_option_and_is_valid(shell, capsys, tmp_path):
    text = script(shell, capsys)
    option = "-l expr-file" if shell == "fish" else "--expr-file"
    for word in ("solve", "theory", "flower", "init", "completion", option, "multinomial", "dp-svrg"):
        assert word in text
    if shutil.which(shell):
        path = tmp_path / "script"
        path.write_text(text)
        subprocess.run([*CHECKS[shell], str(path)], check=True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["tether", "sol"], {"solve"}),
        (["tether", "solve", "--lo"], {"--loss", "--lower"}),
        (["tether", "solve", "--loss", "po"], {"poisson"}),
        (["tether", "solve", "--data", "tra"], {"train.svm"}),
        (["tether", "solve", "--tol", ""], set()),
        (["tether", "flower", "k"], {"keys"}),
        (["tether", "completion", "z"], {"zsh"}),
    ],
)
def test_bash_offers_what_may_follow(typed, offered, capsys, tmp_path):
    (tmp_path / "train.svm").touch()
    (tmp_path / "script").write_text(script("bash", capsys))
    words = " ".join(f"'{word}'" for word in typed)
    line = (
        f"source ./script; COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _tether; echo ${{COMPREPLY[@]}}"
    )
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == offered
