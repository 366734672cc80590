"""A checkpoint of another run, a damaged file, a place that cannot be written: one sentence each."""

import io
import json

import numpy as np
import pytest

import tether
from tether.methods import DelayedSVRG


def data(n=30, dim=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, dim)), np.where(rng.random(n) < 0.5, 1.0, -1.0)


def affine(right=1.0, dim=5, seed=1):
    return tether.Affine(np.random.default_rng(seed).standard_normal((2, dim)), [right, -0.5])


def run(path, objective=None, constraint=None, method="dp-svrg", **options):
    objective = tether.GLM(*data(), loss="logistic", l2=0.05) if objective is None else objective
    constraint = affine() if constraint is None else constraint
    return tether.solve(
        objective, constraint, method, checkpoint=path, **{"max_rounds": 6, "tol": 0.0, **options}
    )


@pytest.fixture
def path(tmp_path):
    """The checkpoint of a run."""
    run(tmp_path / "run.npz")
    return tmp_path / "run.npz"


def message_of(error):
    assert "\n" not in str(error.value)
    return str(error.value)


def glm(**options):
    return tether.GLM(*data(), **{"loss": "logistic", "l2": 0.05, **options})


OTHER_RUNS = {
    "method": ({"method": "dp-asvrg"}, "another method", "DelayedASVRG"),
    "setting": ({"method": DelayedSVRG(interval=2)}, "another method", "interval=2"),
    "seed": ({"seed": 7}, "another seed", "seed 0 there, 7 here"),
    "labels": ({"objective": glm(loss="squared")}, "another ", ""),
    "data": (
        {"objective": tether.Quadratic(factors=data()[0]), "method": "nesterov"},
        "another ",
        "",
    ),
    "ridge": ({"objective": glm(l2=0.06)}, "another ", ""),
    "size": ({"objective": tether.GLM(*data(29), loss="logistic", l2=0.05)}, "another ", ""),
}


@pytest.mark.parametrize("label", OTHER_RUNS)
def test_the_checkpoint_of_another_run_is_refused(path, label):
    options, who, detail = OTHER_RUNS[label]
    with pytest.raises(ValueError, match="belongs to " + who) as error:
        run(path, **options)
    assert detail in message_of(error) and str(path) in message_of(error)


#: With all settings given the method is the same, so that the problem alone differs.
FIXED = DelayedSVRG(interval=5, stage_length=10, step_size=0.1, batch_size=2, convexity=0.05, output="last")

OTHER_PROBLEMS = {
    "n_samples 30 there, 29 here": {"objective": tether.GLM(*data(29), loss="logistic", l2=0.05)},
    "dim 5 there, 4 here": {
        "objective": tether.GLM(*data(dim=4), loss="logistic", l2=0.05),
        "constraint": affine(dim=4),
    },
    "(value ": {"objective": glm(l2=0.5)},
    "(slope ": {"objective": tether.GLM(data()[0], -data()[1], loss="logistic", l2=0.05)},
    "(projection ": {"constraint": affine(right=2.0)},
}


@pytest.mark.parametrize("difference", OTHER_PROBLEMS)
def test_the_checkpoint_of_another_problem_names_the_difference(tmp_path, difference):
    path = tmp_path / "run.npz"
    run(path, method=FIXED)
    with pytest.raises(ValueError, match="belongs to another problem") as error:
        run(path, method=FIXED, **OTHER_PROBLEMS[difference])
    expected = difference if difference != "(slope " else r"(value |(slope "
    assert any(part in message_of(error) for part in expected.split("|"))
    assert "delete it or choose another path" in message_of(error)


def test_other_rows_of_the_constraint_are_another_problem(tmp_path):
    path = tmp_path / "run.npz"
    run(path, method=FIXED)
    with pytest.raises(ValueError, match="belongs to another problem"):
        run(path, method=FIXED, constraint=affine(seed=2))


def test_a_refused_checkpoint_is_left_as_it_was(path):
    before = path.read_bytes()
    with pytest.raises(ValueError, match="another seed"):
        run(path, seed=1)
    assert path.read_bytes() == before


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match="not a readable checkpoint of tether") as error:
        run(path)
    assert "delete it or choose another path" in message_of(error)


def test_a_damaged_file_is_refused(path):
    content = bytearray(path.read_bytes())
    place = content.index('"leaves'.encode("utf-32-le"))
    content[place] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(ValueError, match="not a readable checkpoint of tether"):
        run(path)


def npy():
    buffer = io.BytesIO()
    np.save(buffer, np.ones(3))
    return buffer.getvalue()


FOREIGN = {
    "text": lambda path: path.write_text("once upon a time\nthere was a file\n"),
    "array": lambda path: path.write_bytes(npy()),
    "pickle": lambda path: np.savez(path, header=np.array([{}], dtype=object)),
    "arrays": lambda path: np.savez(path, weights=np.ones(3)),
    "header of something else": lambda path: np.savez(path, header=np.array("[1, 2]")),
    "header without a run": lambda path: np.savez(path, header=np.array(json.dumps({"format": 1}))),
}


@pytest.mark.parametrize("label", FOREIGN)
def test_a_foreign_file_is_refused_and_kept(tmp_path, label):
    path = tmp_path / "run.npz"
    FOREIGN[label](path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="not a readable checkpoint of tether") as error:
        run(path)
    assert str(path) in message_of(error) and path.read_bytes() == before


def edit_header(path, change):
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(str(arrays["header"]))
    change(header)
    np.savez(path, **{**arrays, "header": np.array(json.dumps(header))})


def test_a_format_of_the_future_is_refused(path):
    edit_header(path, lambda header: header.update(format=99))
    with pytest.raises(ValueError, match="format 99"):
        run(path)


def test_a_state_with_a_missing_part_is_refused(path):
    edit_header(path, lambda header: header["leaves"].pop("run.state.anchored.anchor"))
    with pytest.raises(ValueError, match="not a readable checkpoint") as error:
        run(path)
    assert "run.state.anchored.anchor" in message_of(error)


class Untouchable(tether.Objective):
    """An objective that must not be worked on."""

    n_samples, dim = 3, 5

    def evaluate(self, x):
        raise AssertionError("work was done")

    def batch_gradient(self, x, batch, anchor=None, slopes=None):
        raise AssertionError("work was done")

    @property
    def smoothness(self):
        raise AssertionError("work was done")


def test_a_folder_or_a_missing_folder_is_refused_before_any_work(tmp_path):
    for place in (tmp_path, tmp_path / "nowhere" / "run.npz", ""):
        with pytest.raises(ValueError, match=r"checkpoint .* cannot be written") as error:
            tether.solve(Untouchable(), checkpoint=place)
        assert "existing, writable folder" in message_of(error)
    assert list(tmp_path.iterdir()) == []
