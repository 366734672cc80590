"""The command line, as a person types it."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import tether
from tether import demo
from tether.cli import main
from tether.cli.report import named
from tether.report import plot_convergence
from tether.run.history import Counts, History, Row


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
        (["report"], "solutions"),
        (["report", "no-such-file.npz"], "no-such-file.npz"),
        (["report", "README.md"], "sol.save"),
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
    assert ">DP-ASVRG</td>" in (tmp_path / "tether-demo.html").read_text()


def test_a_plot_with_unmeasured_rows_is_written_in_the_format_of_its_name(tmp_path):
    rows = [
        Row(*Counts(0, 0, 1, 1, 10), 1.0, 0.1, 2.0, 1.0),
        Row(*Counts(5, 0, 2, 2, 15), 1.5, 0.2, float("nan"), float("nan")),
        Row(*Counts(5, 1, 3, 3, 25), 2.5, 0.3, 1.5, 0.5),
    ]
    path = plot_convergence({"run": History(rows)}, tmp_path / "run.svg", best=1.0, against="passes")
    assert path == tmp_path / "run.svg" and path.read_text().startswith("<?xml")


@pytest.fixture
def saved(tmp_path):
    """Two solutions on disk."""
    rng = np.random.default_rng(0)
    objective = tether.GLM(rng.standard_normal((60, 3)), np.arange(60) % 2, l2=0.1)
    names = ("lbfgs", "nesterov")
    return [tether.solve(objective, None, name).save(tmp_path / f"{name}.npz") for name in names]


def test_report_writes_one_page_about_saved_solutions(saved, tmp_path, capsys):
    page = tmp_path / "both.html"
    assert main(["report", *map(str, saved), "--output", str(page), "--title", "Two & more"]) == 0
    text = page.read_text()
    assert "<h1>Two &amp; more</h1>" in text and ">lbfgs</td>" in text and ">nesterov</td>" in text
    assert str(page) in capsys.readouterr().out.replace("\n", "")


def test_report_takes_a_known_optimum(saved, tmp_path):
    page = tmp_path / "one.html"
    assert main(["report", str(saved[0]), "--best", "0.5", "--output", str(page)]) == 0
    assert "true gap" in page.read_text()


def test_report_never_writes_over_a_saved_solution(saved, capsys):
    before = saved[0].read_bytes()
    assert main(["report", str(saved[0]), "--output", str(saved[0])]) == 2
    assert "must end in .html or .htm" in capsys.readouterr().err and saved[0].read_bytes() == before


def test_report_refuses_a_checkpoint_and_says_what_to_do(tmp_path, capsys):
    path = tmp_path / "run.npz"
    objective = tether.GLM(np.eye(20), np.arange(20) % 2, l2=0.1)
    tether.solve(objective, method="dp-svrg", max_rounds=4, checkpoint=path)
    assert main(["report", str(path), "--output", str(tmp_path / "page.html")]) == 2
    said = capsys.readouterr().err
    assert "checkpoint of a run" in said and "sol.save" in said and not (tmp_path / "page.html").exists()


def test_files_of_one_name_are_told_apart_by_their_folders():
    paths = [Path("a/x/run.npz"), Path("b/x/run.npz")]
    assert named(paths) == {"a/x/run": paths[0], "b/x/run": paths[1]}
    assert list(named([Path("a/one.npz"), Path("b/two.npz")])) == ["one", "two"]


def test_info_names_versions_threads_and_extras(capsys, monkeypatch):
    monkeypatch.setenv("TETHER_DATA", "/somewhere")
    assert main(["info"]) == 0
    out = capsys.readouterr().out
    for words in (
        "tether",
        tether.__version__,
        np.__version__,
        "threads",
        "TETHER_DATA",
        "/somewhere",
        "cores",
    ):
        assert words in out


def test_info_for_programs_is_json(capsys):
    assert main(["info", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["versions"]["numpy"] == np.__version__ and found["versions"]["tether"] == tether.__version__
    assert int(found["machine"]["cores"]) >= 1
    assert re.search(r"plotly \d", found["extras"]["report"]) and "dev" not in found["extras"]
