"""The collection of problems, and the runner that judges solvers on it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import approx_fprime

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
if str(BENCHMARKS) not in sys.path:
    sys.path.append(str(BENCHMARKS))

import collection  # noqa: E402
from profiling import ratios  # noqa: E402
from profiling.generators import Recipe  # noqa: E402
from profiling.measure import Terms, goal_of, measured  # noqa: E402
from profiling.optimum import optimum  # noqa: E402
from profiling.pieces import Pieces  # noqa: E402

QUICK = {  # a few numbers of each kind of source: a change of them would be another problem
    "dense 100 x 5": "55746579a98073e8",
    "breast cancer raw": "87fd788df9ed2e68",
    "calibration 2,000 x 10": "6e16c4d77c809cd0",
}


def test_names_are_unique_and_there_are_many():
    names = [record.name for record in collection.RECORDS]
    assert len(set(names)) == len(names) >= 60


def test_both_halves_have_their_share():
    halves = [record.half for record in collection.RECORDS]
    split = sum(half in collection.HALVES for half in halves)
    assert min(halves.count(half) for half in collection.HALVES) >= 0.4 * split


def test_a_problem_is_in_one_half():
    parts = [collection.chosen(half) for half in (*collection.HALVES, collection.ASIDE, collection.LAST)]
    names = [record.name for part in parts for record in part]
    assert all(parts) and sorted(names) == sorted(record.name for record in collection.chosen("both"))


def test_a_draw_is_the_problem_of_its_number():
    names = [record.name for record in collection.random_records(0, 60)]
    assert len(set(names)) == 60
    assert {word for name in names for word in name.split() if word in ("dense", "sparse", "grid", "roads")}
    again = collection.record_of(names[3])
    assert again.name == names[3] and again.half == collection.RANDOM
    assert again.build().digest() == collection.record_of("draw 3: whatever it is called").build().digest()


def test_every_loss_and_form_is_there():
    recipes = [record.build for record in collection.RECORDS if isinstance(record.build, Recipe)]
    losses = {"logistic", "squared", "multinomial", "huber", "poisson"}
    assert {recipe.loss for recipe in recipes if recipe.each is None} == losses
    assert {recipe.loss for recipe in recipes if recipe.each is not None} == losses
    assert min(recipe.p for recipe in recipes) == 5 and max(recipe.p for recipe in recipes) == 50_000
    assert min(recipe.n for recipe in recipes) == 100 and max(recipe.n for recipe in recipes) == 500_000
    assert max(recipe.conditioning for recipe in recipes) == 1e10


@pytest.mark.parametrize(
    "record", [record for record in collection.RECORDS if record.quick], ids=lambda record: record.name
)
def test_small_problems_are_feasible_and_their_gradients_right(record):
    pieces = record.build()
    x = np.random.default_rng(0).standard_normal(pieces.dim) / np.sqrt(pieces.dim)
    x /= 1.0 if pieces.is_quadratic else max(1.0, float(np.abs(pieces.predictions(x)).max()))
    direction = np.random.default_rng(1).standard_normal(pieces.dim) * np.linalg.norm(x) / np.sqrt(pieces.dim)
    slope = approx_fprime(np.zeros(1), lambda t: pieces.value(x + t[0] * direction), 1e-7)[0]
    assert slope == pytest.approx(pieces.gradient(x) @ direction, rel=1e-4, abs=1e-6)
    objective, constraint = pieces.objective(), pieces.constraint()
    assert objective.value(x) == pytest.approx(pieces.value(x), rel=1e-12)
    assert objective.gradient(x) == pytest.approx(pieces.gradient(x), rel=1e-9, abs=1e-12)
    if constraint is not None:
        assert pieces.violation(constraint.project(x)) < 1e-10


@pytest.mark.parametrize("name", QUICK)
def test_seeds_fix_the_problems(name):
    (record,) = collection.chosen(only=[name], quick=True)
    assert record.build().digest() == QUICK[name]


@pytest.mark.slow
def test_every_problem_from_generators_and_scikit_learn_builds(monkeypatch):
    for publisher in ("TETHER_OPENML", "TETHER_LIBSVM"):
        monkeypatch.setenv(publisher, "http://127.0.0.1:9")  # tests download nothing
    built = 0
    for record in collection.RECORDS:
        try:
            pieces = record.build()
        except FileNotFoundError:  # other data is not part of the repository
            continue
        assert np.isfinite(pieces.value(np.zeros(pieces.dim))), record.name
        built += 1
    assert built >= 60


def test_the_optimum_is_that_of_a_linear_system(tmp_path, monkeypatch):
    monkeypatch.setattr("profiling.optimum.CACHE", tmp_path)
    rng = np.random.default_rng(3)
    G, q, A = rng.standard_normal((6, 6)), rng.standard_normal(6), rng.standard_normal((2, 6))
    P = G @ G.T + np.eye(6)
    found = optimum("tiny", Pieces(loss="quadratic", P=P, q=q, A=A, b=np.ones(2)))
    system = np.block([[P, A.T], [A, np.zeros((2, 2))]])
    x = np.linalg.solve(system, np.concatenate([-q, np.ones(2)]))[:6]
    assert found["value"] == pytest.approx(x @ P @ x / 2 + q @ x, abs=1e-12)
    assert len(found["witnesses"]) == 3 and found["doubt"] < 1e-12


@pytest.mark.parametrize("name", ["tether lbfgs", "tether auto", "scipy L-BFGS-B", "null-space newton"])
def test_a_solver_that_reaches_the_target_has_a_true_gap_below_it(name, tmp_path, monkeypatch):
    from profiling.contestants import contestants

    monkeypatch.setattr("profiling.optimum.CACHE", tmp_path)
    pieces = Recipe("poisson", 200, 6, 99, equations=2, size=1.0)()
    goal = goal_of(pieces, optimum("tiny", pieces), 1e-6)
    record = measured(contestants()[0][name], goal, Terms(limit=60.0, repeats=2))
    assert record["end"] == "reached" and record["gap"] <= 1.0 and record["projections"] >= 1


@pytest.mark.slow
def test_the_runner_writes_results_that_can_be_compared(tmp_path):
    store = tmp_path / "results.json"
    words = [
        "--only",
        "dense 100 x 5",
        "--methods",
        "lbfgs",
        "auto",
        "--store",
        str(store),
        "--docs",
        str(tmp_path),
    ]
    words += ["--compare", str(store)]
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "profiles.py"), *words],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONWARNINGS": "default"},
    )
    entry = json.loads(store.read_text())["problems"]["dense 100 x 5"]
    assert entry["solvers"]["tether auto"]["end"] == "reached"
    assert "| dense 100 x 5 | tether lbfgs | 1.00x | 1.00x |" in done.stdout
    assert "| dense 100 x 5 | 100 | 5 | 0 |" in (tmp_path / "profiles.md").read_text()
    assert (tmp_path / f"profiles-{entry['half']}-seconds.svg").exists()


def _entry(**seconds: float) -> dict:
    kinds = {"auto": "tether", "lbfgs": "tether", "newton": "tether"}
    return {
        "half": "open",
        "solvers": {
            f"tether {name}" if name in kinds else name: {
                "family": kinds.get(name, "peer"),
                "end": "reached" if np.isfinite(time) else "late",
                "seconds": time,
            }
            for name, time in seconds.items()
        },
    }


def test_goals_are_shares_of_the_problems():
    problems = {str(k): _entry(auto=1.0, lbfgs=1.0, newton=2.0, glum=2.0) for k in range(9)}
    problems["slow"] = _entry(auto=3.0, lbfgs=3.0, newton=1.0, glum=2.5)
    met = {goal.words: (goal.met, goal.numbers) for goal in ratios.goals(problems)}
    assert met["auto at most 1.2x the best explicit method on 90%"] == (True, "9 of 10 (90%)")
    assert met["auto never above 2x the best explicit method"] == (False, "worst 3x, 1 above")
    assert met["auto at most 1.1x L-BFGS on 95%"] == (True, "10 of 10 (100%)")
    assert met["auto ahead of every peer on 85%"] == (True, "9 of 10 (90%)")
    assert met["auto never more than 1.5x behind a peer"] == (True, "worst 1.2x, 0 above")


def test_a_solver_that_fails_is_behind_and_one_that_was_not_asked_is_not():
    entry = _entry(auto=np.inf, lbfgs=1.0, glum=np.inf)
    assert ratios.against(entry, ["tether lbfgs"])[0] == np.inf
    assert ratios.against(entry, ["glum"])[0] == np.inf and np.isnan(ratios.against(entry, ["osqp"])[0])
    assert ratios.against(_entry(auto=1.0, glum=np.inf), ["glum"])[0] == 0.0
    profile = ratios.profile({"one": entry}, "seconds")
    assert profile == {"tether auto": [np.inf], "tether lbfgs": [1.0], "glum": [np.inf]}
