"""Every experiment from its declaration to its files, at sizes that take a moment."""

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from tether.reproduce import command
from tether.reproduce.catalogue import EXPERIMENTS, Entry
from tether.reproduce.command import Order, reproduce
from tether.reproduce.experiment import Claim, Experiment, Judgement, Settings
from tether.reproduce.outputs import COLUMNS, outcome_of
from tether.reproduce.pool import Crew
from tether.reproduce.store import Store
from tether.reproduce.tables.horizons import Horizon
from tether.reproduce.tables.staged import convex, regularised, strong
from tether.reproduce.tables.sweep import Sweep, draw_all, growth, no_worse, table_of
from tether.reproduce.tables.table_1 import horizon

SETTINGS = Settings("digits", quick=True, seeds=2)


def carried_out(names, folder, docs=None):
    order = Order(names, SETTINGS, folder, jobs=1, docs=docs)
    said = io.StringIO()
    return reproduce(order, Console(width=120, file=said)), said.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where all tests of this file keep their runs, so that none is run twice."""
    return tmp_path_factory.mktemp("reproduction")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["figure-1", "figure-2", "figure-3"])
def test_a_figure_is_run_judged_drawn_and_written(tiny, folder, name):
    tmp_path = folder
    (outcome,), said = carried_out((name,), tmp_path)
    for claim in outcome.experiment.claims:
        assert claim.words.split(" (")[0][:20] in said
    assert {path.name for path in tmp_path.iterdir()} >= {
        *(f"{name}.{ending}" for ending in ("csv", "png", "svg")),
        *("claims.csv", "report.html", "runs"),
    }
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    with (tmp_path / f"{name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert {row["series"] for row in rows} == {series.key for series in outcome.experiment.series}
    assert {row["seed"] for row in rows} == {"0", "1"}
    assert all(float(row["iterate_gap"]) > -1e-9 for row in rows)
    with (tmp_path / "claims.csv").open(newline="") as file:
        verdicts = list(csv.DictReader(file))
    ours = [row["claim"] for row in verdicts if row["experiment"] == name]
    assert ours == [claim.words for claim in outcome.experiment.claims]
    assert {row["verdict"] for row in verdicts} <= {"holds here", "does not hold here", "cannot be told here"}
    assert outcome.experiment.title in (tmp_path / "report.html").read_text()


def test_the_lemma_holds_and_verdicts_of_other_experiments_stay(tiny, tmp_path):
    before = "experiment,claim,verdict,numbers\nlemma-6.1,old,holds here,1\nx,y,z,1\n"
    (tmp_path / "claims.csv").write_text(before)
    (outcome,), _ = carried_out(("lemma-6.1",), tmp_path)
    assert [verdict.holds for verdict in outcome.verdicts] == [True, True]
    with (tmp_path / "claims.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["experiment"] for row in rows] == ["lemma-6.1", "lemma-6.1", "x"]
    assert "old" not in {row["claim"] for row in rows}


def test_a_lemma_that_was_wrong_would_fail(tiny, monkeypatch):
    from tether.reproduce import lemma
    from tether.theory import WorkerHeterogeneity

    said = WorkerHeterogeneity.stacked
    monkeypatch.setattr(WorkerHeterogeneity, "stacked", lambda self: said(self)._replace(normal=1.0))
    experiment = lemma.lemma_6_1(SETTINGS)
    assert [verdict.holds for verdict in experiment.verdicts(None)] == [False, False]


def small_sweeps():
    return [
        Sweep("DP-SVRG, m = κE", "κ", tuple(strong("svrg", k, k, 4, 4 * k, 0.2) for k in (20, 40, 80))),
        Sweep("P-SVRG, μ = 0", "1/ε", tuple(convex("svrg", eps, 1, 16) for eps in (0.5, 0.3, 0.2))),
        Sweep("DP-ASVRG, μ = 0", "1/ε", tuple(convex("asvrg", eps, 2, 8) for eps in (0.5, 0.3, 0.2))),
        Sweep("regularised", "1/ε", tuple(regularised(eps, 1, 1) for eps in (0.5, 0.3, 0.2)), ("rounds",)),
        horizon("P-SGD", strong("svrg", 1, 20, 1, 1, 0.1).problem, 1, (64, 128, 256), 2, strongly=True),
    ]


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    sweeps = small_sweeps()
    experiment = Experiment(
        "small", "Small", tuple(series for sweep in sweeps for series in sweep.series()), tables=()
    )
    with Crew(Store(tmp_path_factory.mktemp("small")), jobs=1) as crew:
        return sweeps, crew.results_of(experiment, lambda task: None)


def test_sweeps_count_what_runs_to_a_gap_cost(swept):
    sweeps, results = swept
    first = sweeps[0]
    T, S, P, G = (first.counted(results, name)[0] for name in ("steps", "stages", "rounds", "gradients"))
    stage = 4 * first.values
    assert (stage * S <= T).all() and (stage * S >= 0.99 * T).all()  # a look comes a little late
    assert (np.abs(P - (1 + S + T / 4)) <= 2).all()  # the start, a gradient and m/E walks a stage
    assert (np.abs(G - (T + 256 * S)) <= 256).all()
    assert T[-1] > 1.5 * T[0]


def test_a_table_has_a_row_a_sweep_and_a_picture_a_panel(swept):
    from matplotlib.figure import Figure

    sweeps, results = swept
    table = table_of(sweeps, "Small")(results)
    assert [row[0] for row in table.rows] == [sweep.label for sweep in sweeps]
    assert all(len(row) == len(table.headings) for row in table.rows)
    figure = Figure()
    draw_all(sweeps)(results, figure)
    assert sum(axes.axison for axes in figure.axes) == len(sweeps)
    assert no_worse(sweeps[:1])(results).holds is not False


def made_up(curve, sweep, counts):
    """Results in which a sweep has counted what it is told to."""
    keys = [series.key for series in sweep.series()]
    return {key: curve(key, [[0.0]], rounds=[count]) for key, count in zip(keys, counts, strict=True)}


def test_powers_are_compared_with_those_of_the_prediction(curve):
    kappas = np.array([20.0, 40.0, 80.0, 160.0])
    sweep = Sweep("it", "κ", tuple(strong("svrg", k, k, 4, 4 * k, 0.2) for k in kappas), ("steps",))
    predicted = sweep.expected("steps")
    for counts, verdict in ((predicted, "agrees"), (predicted**0.5, "better"), (predicted**1.5, "worse")):
        results = made_up(curve, sweep, counts)
        assert sweep.fits(results)[0].verdict == verdict
        assert no_worse([sweep])(results).holds is (verdict != "worse")
    wild = made_up(curve, sweep, predicted * np.array([1, 9, 1, 9]))
    assert sweep.fits(wild)[0].verdict == "unclear" and no_worse([sweep])(wild).holds is None
    assert growth(sweep, "steps", 0.8, 1.2)(made_up(curve, sweep, kappas)).holds is True
    assert growth(sweep, "steps", 2.0, 3.0)(made_up(curve, sweep, kappas)).holds is False
    assert growth(sweep, "steps", 0.8, 1.2)(wild).holds is None


def test_a_gap_that_is_not_reached_is_worse(swept):
    sweeps, results = swept
    missed = [point._replace(target=1e-30) for point in sweeps[0].points]
    fit = replace(sweeps[0], points=tuple(missed)).fits(results)[0]
    assert fit.verdict == "worse" and fit.words.startswith("not reached")


def test_horizons_measure_what_is_left(swept):
    sweeps, results = swept
    sgd = sweeps[-1]
    assert isinstance(sgd, Horizon)
    gaps = sgd.gaps(results)
    assert (gaps > 0).all() and gaps[-1] < gaps[0]
    assert sgd.step_sizes[0] >= sgd.step_sizes[-1]
    for fit in sgd.fits(results):
        assert np.isfinite(fit.predicted)


COUNTED = [name for name in EXPERIMENTS if name.startswith(("table", "theorem", "speed"))]


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("quick", [True, False])
def test_declarations_name_every_run_once(name, quick):
    experiment = EXPERIMENTS[name].build(Settings("digits", quick))
    keys = [series.key for series in experiment.series]
    assert len(set(keys)) == len(keys)
    assert len({task.digest() for task in experiment.tasks()}) == len(experiment.tasks())
    assert experiment.claims and experiment.draw


def test_the_slips_are_shown_by_numbers(tmp_path):
    (outcome,), said = carried_out(("slips",), tmp_path)
    (table,) = outcome.tables
    assert len(table.rows) >= 10
    numbers = {row[0]: row[3] for row in table.rows}
    assert "‖Aᵀx‖ = 2.00 as printed, 0 corrected" in numbers["Equation (B), consensus constraint"]
    assert "printed: θ₀ = -1 and 0" in numbers["Algorithm 4 and the proof of Theorem 5.2, θ₀"]
    counted = numbers["Corollary 5.2, gradient complexity"]
    S, T, G = (int(re.search(rf"{name} = ([\d,]+)[,;]", counted)[1].replace(",", "")) for name in "STG")
    assert abs(G - S * (16 + 256)) <= 256 and T == 16 * S
    assert "slips" in said.lower()


def test_docs_are_rewritten_between_their_marks(monkeypatch, tmp_path):
    def small(settings):
        sweep = Sweep("it", "κ", (strong("asvrg", 20, 20, 1, 20, 0.5),))
        claim = Claim("it is small", lambda results: Judgement(True, "1 of 1"))
        draw = lambda results, figure: figure.subplots().plot([1, 2])  # noqa: E731
        return Experiment("small", "Small | it is", tuple(sweep.series()), (claim,), draw=draw, panels=())

    monkeypatch.setitem(EXPERIMENTS, "small", Entry("it", small))
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "paper.md").write_text("before\n<!-- reproduce small -->\nold\n<!-- end -->\nafter\n")
    carried_out(("small",), tmp_path, docs)
    text = (docs / "paper.md").read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "\nold" not in text
    assert "    tether reproduce small --data digits --quick --seeds 2\n" in text
    assert "![Small | it is](figures/small.png)" in text and (docs / "figures" / "small.svg").exists()
    assert "| it is small | holds here | 1 of 1 |" in text
    with pytest.raises(ValueError, match=r"has no block <!-- reproduce lemma-6\.1 -->"):
        carried_out(("lemma-6.1",), tmp_path, docs)
    with pytest.raises(ValueError, match="--docs must be a folder that holds"):
        carried_out(("small",), tmp_path, tmp_path)


def test_all_is_everything(monkeypatch):
    assert command.checked_names(["all"]) == tuple(EXPERIMENTS)
    assert command.checked_names(["table-1", "figure-1", "table-1"]) == ("table-1", "figure-1")


def test_an_outcome_without_runs_has_no_curves(tmp_path):
    experiment = Experiment("none", "None", ())
    with Crew(Store(tmp_path), jobs=1) as crew:
        outcome = outcome_of(experiment, crew.results_of(experiment, lambda task: None))
    assert outcome.verdicts == [] and outcome.tables == []
