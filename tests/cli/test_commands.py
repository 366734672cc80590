"""The command line, as a person types it."""

import pytest

import tether
from tether import demo
from tether.cli import main
from tether.report import plot_convergence
from tether.run.solution import Counts, History, Row


def test_theory_prints_every_method_and_a_recommendation(capsys):
    assert main(["theory", "--kappa", "1e4", "--n", "1e5", "--eps", "1e-6"]) == 0
    out = capsys.readouterr().out
    for name in ("proxskip-svrg", "dp-asvrg", "p-svrg", "nesterov", "projected-gradient"):
        assert name in out
    assert "Fewest projections:" in out and "Fewest gradients:" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["theory", "--kappa", "0.5", "--n", "100"], "kappa"),
        (["theory", "--kappa", "10", "--n", "1.5"], "--n"),
        (["theory", "--n", "10"], "--kappa"),
        (["demo", "--output", "no-such-folder"], "--output"),
        (["fly"], "fly"),
    ],
)
def test_a_wrong_word_ends_in_one_sentence_and_code_two(words, said, capsys):
    try:
        code = main(words)
    except SystemExit as leaving:
        code = leaving.code
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert code == 2 and said in last and "Traceback" not in last


def test_version_is_the_packages(capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["--version"])
    assert leaving.value.code == 0 and tether.__version__ in capsys.readouterr().out


def test_the_demo_prints_a_row_a_method_and_draws_a_picture(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(demo, "SECONDS", 0.4)
    assert main(["demo", "--output", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    for name in (
        "P-SGD",
        "DP-SGD",
        "P-SVRG",
        "DP-SVRG",
        "DP-ASVRG",
        "ProxSkip",
        "Nesterov",
        "L-BFGS",
        "auto",
    ):
        assert f"\n{name} " in out
    picture = (tmp_path / "tether-demo.png").read_bytes()
    assert picture.startswith(b"\x89PNG") and len(picture) > 20_000


def test_a_plot_with_unmeasured_rows_is_written_in_the_format_of_its_name(tmp_path):
    rows = [
        Row(*Counts(0, 0, 1, 1, 10), 1.0, 0.1, 2.0, 1.0),
        Row(*Counts(5, 0, 2, 2, 15), 1.5, 0.2, float("nan"), float("nan")),
        Row(*Counts(5, 1, 3, 3, 25), 2.5, 0.3, 1.5, 0.5),
    ]
    path = plot_convergence({"run": History(rows)}, tmp_path / "run.svg", best=1.0, against="passes")
    assert path == tmp_path / "run.svg" and path.read_text().startswith("<?xml")
