"""tether solve gives what tether.solve gives, from files to files."""

import csv
import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint

import tether

COLUMNS = ["age_30", "age_40", "age_50", "income"]
TARGET = ("--target", "y", "--columns", "age_*,income")


def glm(sample, target="y", loss="logistic", **settings):
    return tether.GLM(sample[COLUMNS], sample[target].to_numpy(), loss, **settings)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--data", "t.csv", *TARGET), True),
        (("--data", "t.parquet", *TARGET), True),
        (("--data", "t.npz"), True),
        (("--data", "t.svm"), False),
        (("--data", "X.mtx", "--target", "y.txt"), False),
    ],
)
def test_every_format_gives_the_same_coefficients(words, named, tether_solve, sample):
    told = tether_solve("--l2", "0.01", "--intercept", "--tol", "1e-10", data=words)
    same = tether.solve(glm(sample, l2=[0.01, 0.01, 0.01, 0.01, 0], fit_intercept=True), tol=1e-10)
    assert told.code == 0 and told.err == "" and told.answer["status"] == "converged"
    np.testing.assert_allclose(told.answer["x"], same.x, atol=1e-5)
    assert told.answer["names"] == (
        [*COLUMNS, "intercept"] if named else ["x1", "x2", "x3", "x4", "intercept"]
    )
    assert (
        told.answer["gap"] <= 1e-10 and told.answer["classes"] == [0, 1] and told.answer["n_samples"] == 120
    )


def test_expressions_matrices_bounds_and_penalties_hold_together(tether_solve, sample, folder):
    (folder / "rules.txt").write_text("# what we know\nage_50 <= 0.6  # from above\n\n")
    told = tether_solve(
        *("--l2", "0.01", "--tol", "1e-10", "--constraints", "A.mtx", "--rhs", "b.txt"),
        *("--expr", "-2*age_30 <= -0.2", "--expr-file", "rules.txt", "--lower", "-inf", "--upper", "0.7"),
        *("--penalty", "l1(income)=0.01,fused=0.02"),
        data=("--data", "t.npz"),
    )
    same = tether.solve(
        glm(sample, l2=0.01),
        [
            tether.Affine([[1, -1, 0, 0], [0, 0, 1, 1]], [0.0, 0.5]),
            Bounds([0.1, -np.inf, -np.inf, -np.inf], [0.7, 0.7, 0.6, 0.7]),
        ],
        penalty=[tether.L1(0.01, weights=[0, 0, 0, 1]), tether.L1(0.02, tether.differences(4))],
        tol=1e-10,
    )
    np.testing.assert_allclose(told.answer["x"], same.x, atol=1e-5)
    answer = told.answer
    assert answer["rows"]["inequalities"] == ["-2*age_30 <= -0.2", "age_50 <= 0.6"]
    assert len(answer["multipliers"]["equalities"]) == 2 and len(answer["multipliers"]["penalty"]) == 7


def test_inequalities_come_from_files_by_name_or_by_place(tether_solve, sample, folder):
    (folder / "G.csv").write_text("income,age_30\n1,1\n")
    named = tether_solve(
        *("--l2", "0.1", "--intercept", "--inequalities", "G.csv", "--at-least", "0.2", "--at-most", "0.4"),
        data=("--data", "t.npz"),
    )
    (folder / "G.txt").write_text("1 0 0 1\n")
    placed = tether_solve(
        *("--l2", "0.1", "--intercept", "--inequalities", "G.txt", "--at-least", "0.2", "--at-most", "0.4")
    )
    same = tether.solve(
        glm(sample, l2=[0.1, 0.1, 0.1, 0.1, 0], fit_intercept=True),
        LinearConstraint([[1, 0, 0, 1, 0]], 0.2, 0.4),
    )
    np.testing.assert_allclose(named.answer["x"], same.x, atol=1e-4)
    np.testing.assert_allclose(placed.answer["x"], same.x, atol=1e-4)


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_weights_are_a_column_or_a_file(loss, tether_solve, sample, folder):
    by_column = tether_solve(
        *("--target", "number", "--weights", "years", "--loss", loss, "--columns", "age_*,income"),
        data=("--data", "t.csv"),
    )
    np.savetxt(folder / "w.txt", sample["years"])
    by_file = tether_solve(
        *("--target", "number", "--weights", "w.txt", "--loss", loss, "--columns", "age_*,income"),
        data=("--data", "t.csv"),
    )
    same = tether.solve(glm(sample, "number", loss, sample_weight=sample["years"].to_numpy()))
    np.testing.assert_allclose(by_column.answer["x"], same.x, atol=1e-5)
    assert by_column.answer["x"] == by_file.answer["x"]


def test_an_offset_is_added_to_predictions(tether_solve, sample, folder):
    np.savetxt(folder / "log.txt", np.log(sample["years"]))
    told = tether_solve(
        *("--target", "count", "--loss", "poisson", "--offset", "log.txt", "--intercept", "--l2", "0.1"),
        *("--columns", "age_*,income", "--tol", "1e-10"),
        data=("--data", "t.csv"),
    )
    objective = glm(
        sample,
        "count",
        "poisson",
        l2=[0.1, 0.1, 0.1, 0.1, 0.0],
        fit_intercept=True,
        offset=np.log(sample["years"].to_numpy()),
    )
    np.testing.assert_allclose(told.answer["x"], tether.solve(objective, tol=1e-10).x, atol=1e-4)


def test_a_column_is_meant_before_a_file_of_its_name(tether_solve, folder):
    (folder / "y").write_text("1\n2\n")
    assert tether_solve(*TARGET, "--l2", "0.1", data=("--data", "t.csv")).code == 0


def test_counts_and_classes_have_their_losses(tether_solve, sample):
    data = ("--data", "t.csv", "--columns", "age_*,income")
    counts = tether_solve("--target", "count", "--loss", "poisson", "--l2", "0.1", data=data)
    np.testing.assert_allclose(
        counts.answer["x"], tether.solve(glm(sample, "count", "poisson", l2=0.1)).x, atol=1e-4
    )
    kinds = tether_solve(
        *("--target", "kind", "--loss", "multinomial", "--l2", "0.1", "--expr", "sum(age_30*) == 0"),
        *("--expr", "income[good] <= -0.3", "--intercept", "--penalty", "trend(age_*)=0.01"),
        data=data,
    )
    assert kinds.answer["classes"] == ["bad", "fair", "good"]
    x = dict(zip(kinds.answer["names"], kinds.answer["x"], strict=True))
    assert abs(x["age_30[bad]"] + x["age_30[fair]"] + x["age_30[good]"]) < 1e-9 and x["income[good]"] <= -0.3
    assert list(x)[-1] == "intercept[good]" and len(kinds.answer["multipliers"]["penalty"]) == 3


def test_two_labels_of_any_kind_are_two_classes_the_second_being_one(tether_solve, sample, folder):
    np.savetxt(folder / "labels.txt", np.where(sample["y"], "yes", "no"), fmt="%s")
    np.savetxt(folder / "numbers.txt", np.where(sample["y"], 7, 3))
    plain = tether_solve("--l2", "0.1")
    for name, classes in (("labels.txt", ["no", "yes"]), ("numbers.txt", [3, 7])):
        told = tether_solve("--l2", "0.1", "--target", name)
        assert told.answer["classes"] == classes
        np.testing.assert_allclose(told.answer["x"], plain.answer["x"], atol=1e-12)


def test_names_may_be_given_in_words_or_in_a_file(tether_solve, folder):
    (folder / "names.txt").write_text("a\nb\nc d\ne\n")
    told = tether_solve("--l2", "0.1", "--names", "names.txt", "--expr", "'c d' == 0.25")
    assert told.answer["names"] == ["a", "b", "c d", "e"] and abs(told.answer["x"][2] - 0.25) < 1e-12
    assert tether_solve("--l2", "1", "--names", "a,b,c,e").answer["names"] == ["a", "b", "c", "e"]


def test_the_solution_is_written_for_programs_for_tables_and_for_readers(tether_solve, folder):
    told = tether_solve("--l2", "0.1", "--expr", "x1 <= 0.1", "--out", "coef.npz", "--report", "report.html")
    sol = tether.load("coef.npz")
    assert told.code == 0 and sol.x.tolist() == told.answer["x"] and sol.problem.variables.at(0) == "x1"
    page = (folder / "report.html").read_text()
    assert page.startswith("<!doctype html>") and "x1 &lt;= 0.1" in page
    tether_solve("--l2", "0.1", "--expr", "x1 <= 0.1", "--out", "coef.csv")
    with open("coef.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["name", "value"] and [float(value) for _, value in rows[1:]] == told.answer["x"]


def test_a_run_goes_on_from_its_checkpoint(tether_solve):
    words = ("--l2", "1e-3", "--method", "dp-svrg", "--tol", "1e-9", "--checkpoint", "run.npz")
    first = tether_solve(*words, "--max-passes", "4")
    assert first.code == 4 and first.answer["status"] == "max_passes"
    last = tether_solve(*words, "--max-passes", "400")
    straight = tether_solve(*words[:-2], "--max-passes", "400")
    assert last.code == 0 and last.answer["x"] == straight.answer["x"]


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        (("--l2", "0.1"), 0, "converged"),
        (("--l2", "1e-4", "--max-rounds", "2", "--method", "nesterov"), 4, "max_rounds"),
        (("--l2", "1e-4", "--max-passes", "1.5", "--method", "dp-svrg"), 4, "max_passes"),
        (("--l2", "1e-4", "--max-seconds", "1e-9", "--method", "dp-sgd"), 4, "max_seconds"),
        (("--l2", "0.1", "--tol", "1e-300", "--method", "lbfgs"), 4, "exhausted"),
        (("--expr", "sum == 0"), 0, "converged"),
    ],
)
def test_the_exit_code_says_how_it_ended(words, code, status, tether_solve):
    told = tether_solve(*words)
    assert (told.code, told.answer["status"], told.answer["exit_code"]) == (code, status, code)
    assert len(told.answer["x"]) == 4 and told.answer["success"] == (code == 0)


def test_separable_data_without_l2_has_no_answer(tether_solve, folder):
    (folder / "s.svm").write_text("1 1:1\n0 1:-1\n1 1:2\n0 1:-2\n")
    told = tether_solve(data=("--data", "s.svm"))
    assert told.code == 3 and told.answer["status"] == "diverged" and "no minimum" in told.answer["message"]


def test_the_text_for_people_lists_coefficients_and_what_holds(tether_solve):
    told = tether_solve("--l2", "0.1", "--expr", "age_30 <= 0.1", json=False, data=("--data", "t.npz"))
    assert told.code == 0
    for words in ("Solved: F(x) is certainly within", "age_30 <= 0.1", "upper side holds", "classes: 0, 1"):
        assert words in told.out
    assert "certificate is within tolerance" in told.err  # progress is not the result


def test_the_command_is_there_as_a_person_types_it(folder):
    words = ["-m", "tether", "solve", "--data", "t.svm", "--l2", "0.1", "--expr", "x1 + x2 == 1"]
    words += ["--max-rounds", "1", "--method", "nesterov", "--json"]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    told = json.loads(done.stdout)  # progress is elsewhere
    assert done.returncode == told["exit_code"] == 4 and "max_rounds is used up" in done.stderr


@pytest.mark.slow
def test_an_interrupted_run_returns_its_best_point(folder):
    rng = np.random.default_rng(0)
    np.savez("long.npz", X=rng.standard_normal((20_000, 50)), y=rng.integers(0, 2, 20_000))
    words = ["solve", "--data", "long.npz", "--l2", "1e-9", "--method", "dp-sgd", "--json"]
    words += ["--tol", "1e-14", "--max-seconds", "600", "--checkpoint", "run.npz"]
    listen = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # workers of tests do not
    )
    command = f"{listen}; import sys; from tether.cli import main; sys.exit(main())"
    job = subprocess.Popen(
        [sys.executable, "-c", command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        while job.poll() is None and not (folder / "run.npz").exists():  # which is written after some seconds
            time.sleep(0.1)
        job.send_signal(signal.SIGINT)
        out, _ = job.communicate(timeout=300)
    finally:
        job.kill()
    told = json.loads(out)
    assert job.returncode == 4 and told["status"] == "interrupted" and len(told["x"]) == 50


def test_the_help_teaches(tether_solve):
    told = tether_solve("--help", json=False, data=())
    assert told.code == 0
    for words in ("examples:", "exit codes:", "--expr", "mpiexec -n 4", "constraints:", "x1 + x2 == 1"):
        assert words in told.out


def test_what_cannot_be_written_is_in_the_exit_code_that_is_printed(tether_solve, monkeypatch):
    def full(self, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tether.Solution, "save", full)
    told = tether_solve("--l2", "0.1", "--out", "x.npz")
    assert told.code == told.answer["exit_code"] == 2 and told.answer["success"]
    assert "no space left on device; it is printed above" in told.err
