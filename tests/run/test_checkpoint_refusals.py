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


def with_one_label_corrected():
    X, y = data()
    y[17] = -y[17]
    return tether.GLM(X, y, loss="logistic", l2=0.05)


def with_one_number_corrected():
    X, y = data()
    X[3, 2] = np.nextafter(X[3, 2], 9.0)
    return tether.GLM(X, y, loss="logistic", l2=0.05)


OTHER_RUNS = {
    "method": ({"method": "dp-asvrg"}, "another method", "DelayedASVRG"),
    "setting": ({"method": DelayedSVRG(interval=2)}, "another method", "interval=2"),
    "seed": ({"seed": 7}, "another seed", "seed 0 there, 7 here"),
    "loss": ({"objective": glm(loss="squared")}, "other data", "objective"),
    "a label": ({"objective": with_one_label_corrected()}, "other data", "objective"),
    "a number": ({"objective": with_one_number_corrected()}, "other data", "objective"),
    "kind": (
        {"objective": tether.Quadratic(factors=data()[0]), "method": "nesterov"},
        "other data",
        "objective",
    ),
    "ridge": ({"objective": glm(l2=0.06)}, "other data", "objective"),
    "size": ({"objective": tether.GLM(*data(29), loss="logistic", l2=0.05)}, "another ", "n_samples"),
}


@pytest.mark.parametrize("label", OTHER_RUNS)
def test_the_checkpoint_of_another_run_is_refused(path, label):
    options, who, detail = OTHER_RUNS[label]
    with pytest.raises(ValueError, match="belongs to " + who) as error:
        run(path, **options)
    assert detail in message_of(error) and str(path) in message_of(error)


#: With all settings given the method is the same, so that the problem alone differs.
FIXED = DelayedSVRG(interval=5, stage_length=10, step_size=0.1, batch_size=2, convexity=0.05, output="last")


def test_a_saved_solution_is_no_checkpoint_and_is_kept(tmp_path):
    path = run(None).save(tmp_path / "sol.npz")
    before = path.read_bytes()
    with pytest.raises(ValueError, match="is a saved solution") as error:
        run(path)
    assert "delete" not in message_of(error) and path.read_bytes() == before


OTHER_PROBLEMS = {
    "n_samples 30 there, 29 here": {"objective": tether.GLM(*data(29), loss="logistic", l2=0.05)},
    "dim 5 there, 4 here": {
        "objective": tether.GLM(*data(dim=4), loss="logistic", l2=0.05),
        "constraint": affine(dim=4),
    },
}


@pytest.mark.parametrize("difference", OTHER_PROBLEMS)
def test_the_checkpoint_of_another_problem_names_the_difference(tmp_path, difference):
    path = tmp_path / "run.npz"
    run(path, method=FIXED)
    with pytest.raises(ValueError, match="belongs to another problem") as error:
        run(path, method=FIXED, **OTHER_PROBLEMS[difference])
    assert difference in message_of(error)
    assert "delete it or choose another path" in message_of(error)


@pytest.mark.parametrize("other", [affine(right=2.0), affine(seed=2)], ids=["b", "A"])
def test_other_equations_are_another_constraint(tmp_path, other):
    path = tmp_path / "run.npz"
    run(path, method=FIXED)
    with pytest.raises(ValueError, match="belongs to another constraint"):
        run(path, method=FIXED, constraint=other)


def test_the_best_point_of_a_checkpoint_is_measured_again_before_it_is_believed(tmp_path):
    def function(scale):
        glm = tether.GLM(*data(), loss="logistic", l2=0.05)
        return Unstable(glm, scale)

    class Unstable(tether.Objective):
        """A function that is not what its digest says."""

        def __init__(self, glm, scale):
            self.glm, self.scale, self.n_samples, self.dim = glm, scale, glm.n_samples, glm.dim

        def evaluate(self, x):
            value, gradient, _ = self.glm.evaluate(x)
            return tether.objectives.Evaluation(self.scale * value, self.scale * gradient)

        def batch_gradient(self, x, batch, anchor=None, slopes=None):
            return self.scale * self.glm.batch_gradient(x, batch, anchor)

        @property
        def smoothness(self):
            return self.glm.smoothness

        def digest(self):
            return "the same"

    run(tmp_path / "run.npz", function(1.0), method="nesterov")
    with pytest.raises(ValueError, match="belongs to other data: F = "):
        run(tmp_path / "run.npz", function(1.001), method="nesterov")


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


EDITS = {
    "a leaf less": lambda header: header["leaves"].pop(next(iter(header["leaves"]))),
    "another kind": lambda header: header["leaves"].update({"run.counts": "none"}),
    "an identity of another type": lambda header: header["identity"].update(seed="zero"),
    "another identity": lambda header: header["identity"].update(n_samples=31),
    "no identity": lambda header: header.pop("identity"),
    "no seal": lambda header: header.pop("seal"),
    "a list": lambda header: header.update(leaves=[]),
}


@pytest.mark.parametrize("label", EDITS)
def test_an_edited_header_is_refused_in_our_words(path, label):
    edit_header(path, EDITS[label])
    with pytest.raises(ValueError, match="not a readable checkpoint of tether") as error:
        run(path)
    assert "delete it or choose another path" in message_of(error)


def test_an_edited_number_is_refused(path):
    with np.load(path) as file:
        arrays = dict(file)
    arrays["run.seconds"] = np.array(0.0)
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="changed after it was written"):
        run(path)


def test_what_a_killed_run_left_is_swept_up(tmp_path):
    left, other = tmp_path / "run.npz.ab12_xyz.part", tmp_path / "other.npz.ab12_xyz.part"
    for file in (left, other):
        file.write_bytes(b"half of it")
    run(tmp_path / "run.npz")
    assert sorted(file.name for file in tmp_path.iterdir()) == [other.name, "run.npz"]


@pytest.mark.parametrize(
    ("name", "words"), [("a" * 300, "300 bytes"), ("a\0b", "NUL"), ("a\ud800", "no file name can have")]
)
def test_a_name_that_no_file_can_have_is_refused_before_any_work(tmp_path, name, words):
    with pytest.raises(ValueError, match=words) as error:
        tether.solve(Untouchable(), checkpoint=str(tmp_path / name))
    assert message_of(error).startswith("checkpoint ")


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
