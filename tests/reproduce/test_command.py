"""tether reproduce, as a person types it."""

import pytest

from tether.cli import main
from tether.reproduce.catalogue import EXPERIMENTS


def test_without_a_name_it_lists_what_there_is(capsys):
    assert main(["reproduce"]) == 0
    out = capsys.readouterr().out
    for name in (*EXPERIMENTS, "all"):
        assert f"\n{name} " in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["figur-1"], "there is no experiment 'figur-1'; did you mean 'figure-1'?"),
        (["theorem"], "did you mean 'theorems'?"),
        (["slips", "--seeds", "0"], "--seeds must be at least 1, got 0"),
        (["slips", "--jobs", "-1"], "--jobs must be at least 1, got -1"),
        (["slips", "--data", "cats"], "--data"),
    ],
)
def test_a_wrong_word_ends_in_one_sentence_and_code_two(words, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        code = main(["reproduce", *words])
    except SystemExit as leaving:
        code = leaving.code
    assert code == 2 and said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_to_is_said(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["reproduce", "slips", "--output", str(tmp_path / "file")]) == 2
    assert "--output must be a folder that can be written to" in capsys.readouterr().err


def test_data_that_is_not_there_is_said_in_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("TETHER_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("TETHER_OPENML", "http://127.0.0.1:9")
    code = main(["reproduce", "figure-1", "--output", str(tmp_path / "out"), "--jobs", "1"])
    said = capsys.readouterr().err
    assert code == 2 and "cannot be reached" in said and "set TETHER_DATA" in said and "Traceback" not in said


@pytest.mark.slow
@pytest.mark.minutes
@pytest.mark.timeout(3000)
def test_everything_runs_quickly(tmp_path, capsys):
    assert main(["reproduce", "all", "--quick", "--output", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    for name in EXPERIMENTS:
        assert (tmp_path / f"{name}.csv").exists()
    assert "holds here" in out and (tmp_path / "report.html").stat().st_size > 1e6
