"""Saved solutions: everything that a report shows comes back, and nothing but a solution is read."""

import json

import numpy as np
import pandas
import pytest
from scipy.optimize import Bounds, LinearConstraint

import tether
from tether.run.saved import plain, rebuilt
from tether.run.statement import Statement

RNG = np.random.default_rng(0)
X = pandas.DataFrame(RNG.standard_normal((200, 4)), columns=["age", "height", "rooms", "floor"])
Y = np.where(X["age"] - X["rooms"] + RNG.standard_normal(200) > 0, 1, -1)
BUDGET = pandas.DataFrame(np.ones((1, 4)), index=["budget"], columns=X.columns)


def planes():
    return tether.solve(tether.GLM(X, Y, l2=0.01), tether.Affine(BUDGET, 1.0))


def beyond_planes():
    rows = LinearConstraint(np.diff(np.eye(4), axis=0)[:2], 0.0, np.inf)
    sets = [tether.Affine(BUDGET, 1.0), rows, Bounds(-1.0, 0.3)]
    return tether.solve(tether.GLM(X, Y, l2=0.01), sets, penalty=tether.L1(0.01))


def federation():
    parts = tether.splits.iid(200, n_workers=3)
    numbers = X.to_numpy()
    workers = [tether.GLM(numbers[part], Y[part], l2=0.01) for part in parts]
    return tether.solve(tether.Federation(workers), method="dp-svrg", max_rounds=8)


def without_a_gap():
    return tether.solve(tether.GLM(X, Y), method="nesterov", max_rounds=4)


def without_a_minimum():
    objective = tether.Quadratic(matrix=np.diag([1.0, 0.0]), linear=np.array([0.0, -1.0]))
    return tether.solve(objective, tether.NonNegative())


MAKERS = (planes, beyond_planes, federation, without_a_gap, without_a_minimum)


@pytest.fixture(scope="module", params=MAKERS, ids=lambda make: make.__name__)
def pair(request, tmp_path_factory):
    sol = request.param()
    path = sol.save(tmp_path_factory.mktemp("saved") / "run.npz")
    return sol, tether.load(path)


def test_everything_that_is_printed_comes_back(pair):
    sol, again = pair
    assert str(again) == str(sol) and repr(again) == repr(sol)
    assert again._repr_html_() == sol._repr_html_()


def test_every_field_comes_back(pair):
    sol, again = pair
    for name in (
        "fun",
        "gap",
        "residual",
        "status",
        "message",
        "counts",
        "seconds",
        "method",
        "solver",
        "doubt",
    ):
        assert getattr(again, name) == getattr(sol, name), name
    np.testing.assert_array_equal(again.x, sol.x)
    assert again.problem == sol.problem and again.decisions == sol.decisions
    for name in ("multipliers", "active", "ray"):
        one, other = getattr(sol, name), getattr(again, name)
        assert type(one) is type(other)
        for here, there in zip(_parts(one), _parts(other), strict=True):
            np.testing.assert_array_equal(here, there)


def _parts(value):
    return [value] if isinstance(value, np.ndarray) else value or []


def test_the_history_comes_back(pair):
    sol, again = pair
    assert len(again.history) == len(sol.history)
    for name, column in sol.history.to_dict().items():
        np.testing.assert_array_equal(again.history[name], column)
        assert again.history[name].dtype == column.dtype
    assert again.history.workers.keys() == sol.history.workers.keys()
    for name, table in sol.history.workers.items():
        np.testing.assert_array_equal(again.history.workers[name], table)


def test_a_loaded_solution_is_a_start(pair):
    sol, again = pair
    if sol.problem.n_workers == 1 and len(sol.x) == 4 and not sol.problem.inequalities:
        warm = tether.solve(tether.GLM(X, Y, l2=0.01), x0=again, method="lbfgs")
        assert warm.success


def test_saving_replaces_an_older_file_and_leaves_nothing_else(tmp_path):
    sol = planes()
    sol.save(tmp_path / "run.npz")
    sol.save(str(tmp_path / "run.npz"))
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]


def refusal(path):
    with pytest.raises(ValueError) as error:
        tether.load(path)
    message = str(error.value)
    assert "\n" not in message and message.endswith(".") and str(path) in message
    return message


def test_a_checkpoint_is_no_solution_and_the_refusal_says_what_to_do(tmp_path):
    path = tmp_path / "run.npz"
    tether.solve(tether.GLM(X, Y, l2=0.01), method="dp-svrg", max_rounds=4, checkpoint=path)
    message = refusal(path)
    assert "checkpoint of a run" in message and "sol.save" in message


FOREIGN = {
    "text": lambda path: path.write_text("once upon a time\n"),
    "empty": lambda path: path.write_bytes(b""),
    "pickle": lambda path: np.savez(path, header=np.array([{}], dtype=object)),
    "arrays": lambda path: np.savez(path, weights=np.ones(3)),
    "header of something else": lambda path: np.savez(path, header=np.array("[1, 2]")),
    "header of nothing": lambda path: np.savez(path, header=np.array("{}")),
}


@pytest.mark.parametrize("label", FOREIGN)
def test_a_foreign_file_is_refused_in_a_sentence_without_words_of_numpy(tmp_path, label):
    path = tmp_path / "run.npz"
    FOREIGN[label](path)
    message = refusal(path)
    assert "not a solution that tether can read" in message
    assert "pickle" not in message and "allow_" not in message


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_a_truncated_file_is_refused(tmp_path, share):
    path = planes().save(tmp_path / "run.npz")
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert "not a solution that tether can read" in refusal(path)


def change(path, header=lambda header: None, **arrays):
    with np.load(path) as file:
        kept = dict(file)
    read = json.loads(str(kept["header"]))
    header(read)
    np.savez(path, **{**kept, **arrays, "header": np.array(json.dumps(read))})


def test_an_edited_number_is_refused(tmp_path):
    path = planes().save(tmp_path / "run.npz")
    change(path, x=np.zeros(4))
    assert "changed after it was written" in refusal(path)


def test_an_edited_header_is_refused(tmp_path):
    path = planes().save(tmp_path / "run.npz")
    change(path, lambda header: header.update(gap=0.0))
    assert "changed after it was written" in refusal(path)


def test_a_format_of_the_future_is_refused(tmp_path):
    path = planes().save(tmp_path / "run.npz")
    change(path, lambda header: header.update(format=99))
    assert "format 99" in refusal(path)


def test_a_saved_solution_is_no_checkpoint(tmp_path):
    path = planes().save(tmp_path / "run.npz")
    with pytest.raises(ValueError, match="is a saved solution, not the checkpoint of a run"):
        tether.solve(tether.GLM(X, Y, l2=0.01), method="dp-svrg", checkpoint=path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_samples", "many"),
        ("n_samples", True),
        ("restrictions", [1]),
        ("variables", None),
        ("objective", 3),
    ],
)
def test_a_statement_of_other_types_is_refused(name, value):
    stated = plain(planes().problem)
    assert rebuilt(Statement, stated) == planes().problem
    with pytest.raises(TypeError):
        rebuilt(Statement, {**stated, name: value})
