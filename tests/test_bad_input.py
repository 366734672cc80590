"""Mistakes at the border: one sentence each, which names the argument."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

import tether
from tether.methods import (
    LBFGS,
    Anderson,
    DelayedASVRG,
    DelayedSGD,
    DelayedSVRG,
    Nesterov,
    ProxSkip,
    ProxSkipSVRG,
    Regularised,
)

RNG = np.random.default_rng(0)
OBJECTIVE = tether.GLM(RNG.standard_normal((20, 4)), RNG.standard_normal(20), loss="squared", l2=0.1)
CONSTRAINT = tether.Affine(np.ones((1, 4)), [1.0])
NAN, INF = float("nan"), float("inf")


def assert_one_sentence(caught, *words):
    message = str(caught.value)
    assert "\n" not in message and message.endswith(".") and message.count(". ") == 0
    assert all(word in message for word in words), message
    assert caught.value.__context__ is None or isinstance(caught.value.__cause__, Exception)


def kind(value):
    """A test's label without addresses, so that parallel runs collect the same names."""
    return type(value).__name__


def refused(error, call, *words):
    with pytest.raises(error) as caught:
        call()
    assert_one_sentence(caught, *words)


# --- solve -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", [None, 3, np.ones((3, 3)), "glm", tether.GLM, [OBJECTIVE]], ids=kind)
def test_what_is_no_objective_is_refused(objective):
    refused(TypeError, lambda: tether.solve(objective), "objective", f"got {type(objective).__name__}")


@pytest.mark.parametrize(
    ("constraint", "said"),
    [
        (np.ones((1, 4)), "an array of shape (1, 4)"),
        (tether.Affine, "<class 'tether.constraints.affine.Affine'>"),
        ((1, 2), "constraint[0]"),
    ],
)
def test_what_is_no_constraint_is_refused(constraint, said):
    refused(TypeError, lambda: tether.solve(OBJECTIVE, constraint), "constraint", said)


def test_a_constraint_of_another_dimension_is_refused():
    narrow = tether.Affine(np.ones((1, 3)), [1.0])
    refused(ValueError, lambda: tether.solve(OBJECTIVE, narrow), "constraint", "length 3", "4 variables")
    refused(ValueError, lambda: tether.solve(OBJECTIVE, tether.Consensus(3)), "Consensus(3)", "length 4")


def test_a_method_for_planes_refuses_an_inequality():
    row = LinearConstraint(np.ones((1, 4)), 0.0, 1.0)
    refused(ValueError, lambda: tether.solve(OBJECTIVE, row, "lbfgs"), "bounds, inequalities or penalties")


@pytest.mark.parametrize("method", ["dp-svrgg", "", None, 3, DelayedSVRG, ["dp-svrg"]], ids=kind)
def test_an_unknown_method_is_refused_with_the_known_names(method):
    refused(
        ValueError,
        lambda: tether.solve(OBJECTIVE, method=method),
        "method",
        "auto, skip, p-sgd, dp-sgd",
        f"got {method!r}",
    )


@pytest.mark.parametrize("seed", [-1, 1.0, True, None, "0", np.float64(2), NAN], ids=repr)
def test_a_seed_that_is_not_a_whole_number_from_zero_on_is_refused(seed):
    refused(ValueError, lambda: tether.solve(OBJECTIVE, seed=seed), "seed", repr(seed))


@pytest.mark.parametrize("tol", [-1e-9, NAN, INF, "1e-6", [1e-6], True], ids=repr)
@pytest.mark.parametrize("name", ["tol", "rtol"])
def test_a_tolerance_that_is_not_a_number_from_zero_on_is_refused(name, tol):
    refused(ValueError, lambda: tether.solve(OBJECTIVE, **{name: tol}), name, repr(tol))


@pytest.mark.parametrize("budget", [0, -3, NAN, "5", True, [4]], ids=repr)
@pytest.mark.parametrize("name", ["max_passes", "max_rounds", "max_seconds"])
def test_a_budget_that_is_not_positive_is_refused(name, budget):
    refused(ValueError, lambda: tether.solve(OBJECTIVE, **{name: budget}), name, repr(budget))


STARTS = {
    "too short": ([1.0, 2.0], "(4,)"),
    "matrix": (np.ones((4, 1)), "(4, 1)"),
    "number": (3.0, "shape ()"),
    "nan": ([1.0, NAN, 0.0, 0.0], "finite"),
    "infinite": (np.full(4, INF), "finite"),
    "text": ("abcd", "real numbers"),
    "ragged": ([[1.0], [1.0, 2.0]], "unequal length"),
    "complex": (np.ones(4) * 1j, "real numbers"),
    "objects": ([None] * 4, "real numbers"),
}


@pytest.mark.parametrize("label", STARTS)
def test_a_start_that_is_no_finite_vector_of_the_right_length_is_refused(label):
    x0, word = STARTS[label]
    refused(ValueError, lambda: tether.solve(OBJECTIVE, CONSTRAINT, x0=x0), "x0", word)


def test_a_solution_of_another_problem_is_no_start():
    other = tether.solve(tether.Quadratic(matrix=np.eye(3)), None, "nesterov")
    refused(ValueError, lambda: tether.solve(OBJECTIVE, x0=other), "x0", "(4,)", "(3,)")


def test_a_callback_an_engine_and_a_checkpoint_of_the_wrong_type_are_refused():
    refused(TypeError, lambda: tether.solve(OBJECTIVE, callback=3), "callback", "got 3")
    refused(TypeError, lambda: tether.solve(OBJECTIVE, engine="mpi"), "engine", "got 'mpi'")
    refused(TypeError, lambda: tether.solve(OBJECTIVE, checkpoint=3), "checkpoint", "got 3")


# --- settings of methods ---------------------------------------------------------------------------------

WHOLE = [0, -2, 1.5, 3.0, "3", True, NAN, [2, 1]]
POSITIVE = [0, -0.1, NAN, INF, "fast", True, 1j]
NOT_NEGATIVE = [-0.1, NAN, INF, "slow", True]
SETTINGS = [
    *[
        (cls, "interval", value)
        for cls in (DelayedSGD, DelayedSVRG, DelayedASVRG)
        for value in [*WHOLE, [], [0, 1]]
    ],
    *[(cls, "interval", value) for cls in (ProxSkip, ProxSkipSVRG) for value in [*WHOLE, [1, 2]]],
    *[
        (cls, "stage_length", v)
        for cls in (DelayedSGD, DelayedSVRG, DelayedASVRG, ProxSkipSVRG)
        for v in WHOLE
    ],
    *[(cls, "batch_size", v) for cls in (DelayedSGD, DelayedSVRG, DelayedASVRG, ProxSkipSVRG) for v in WHOLE],
    *[(DelayedASVRG, name, value) for name in ("restart", "stages") for value in WHOLE],
    *[(LBFGS, "memory", value) for value in WHOLE],
    *[
        (cls, "step_size", value)
        for cls in (DelayedSGD, DelayedSVRG, DelayedASVRG, ProxSkip, ProxSkipSVRG)
        for value in POSITIVE
    ],
    *[(cls, "smoothness", value) for cls in (Nesterov, LBFGS) for value in POSITIVE],
    *[(DelayedASVRG, "momentum", value) for value in [0, -0.5, 1.01, NAN, "0.9", True]],
    *[(DelayedSGD, "decay", value) for value in [*NOT_NEGATIVE, None]],
    *[(cls, "convexity", v) for cls in (DelayedSGD, DelayedSVRG, DelayedASVRG) for v in NOT_NEGATIVE],
    *[(cls, "seed", value) for cls in (ProxSkip, ProxSkipSVRG) for value in [-1, 1.5, "0", True]],
    *[(cls, "random", value) for cls in (ProxSkip, ProxSkipSVRG) for value in ["no", 1, None]],
    *[
        (cls, "replacement", v)
        for cls in (DelayedSGD, DelayedSVRG, DelayedASVRG, ProxSkipSVRG)
        for v in ["no", 0]
    ],
    *[
        (cls, "parameters", v)
        for cls in (DelayedSGD, DelayedSVRG, DelayedASVRG, ProxSkipSVRG)
        for v in ["best", 1]
    ],
    *[(cls, "output", value) for cls in (DelayedSGD, DelayedSVRG) for value in ["first", None, 1]],
    *[(DelayedSVRG, "anchor", value) for value in ["first", None]],
    *[(DelayedASVRG, "first_step", value) for value in ["last", None]],
    (DelayedSGD, "interval", None),
]


@pytest.mark.parametrize(("cls", "name", "value"), SETTINGS)
def test_a_setting_that_no_run_could_use_is_refused(cls, name, value):
    refused(ValueError, lambda: cls(**{name: value}), name)


@pytest.mark.parametrize(
    "inner", [DelayedSGD(), ProxSkip(), Nesterov(), LBFGS(), "dp-svrg", DelayedSVRG, None]
)
def test_only_stage_wise_methods_can_be_extrapolated(inner):
    refused(TypeError, lambda: Anderson(inner), "method must be stage-wise", "DelayedSVRG", repr(inner))


def test_methods_around_methods_check_their_own_settings():
    refused(ValueError, lambda: Anderson(DelayedSVRG(), memory=0), "memory")
    refused(ValueError, lambda: Anderson(DelayedSVRG(), damping=-1.0), "damping")
    refused(ValueError, lambda: Regularised(LBFGS(), strength=0.0), "strength")
    refused(ValueError, lambda: Regularised(LBFGS(), floor=NAN), "floor")
    for inner in ("lbfgs", LBFGS, None, Regularised(LBFGS())):
        refused(TypeError, lambda inner=inner: Regularised(inner), "method must be another method")


def test_numpy_numbers_are_numbers():
    method = DelayedASVRG(
        interval=np.int64(3), stage_length=np.int32(6), step_size=np.float32(0.1), momentum=1
    )
    tether.solve(OBJECTIVE, method=DelayedSVRG(interval=np.array([1, 3, 4])), max_rounds=3)
    assert tether.solve(OBJECTIVE, method=method, seed=np.int64(1), max_rounds=np.int64(3)).counts.rounds >= 3


# --- objectives given by functions -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (np.zeros(3), "(3,)"),
        (np.zeros((1, 4)), "(1, 4)"),
        (0.0, "()"),
        (None, "object"),
        (np.zeros(4, dtype=int), "int64"),
    ],
)
def test_a_gradient_of_the_wrong_shape_is_refused_when_the_objective_is_made(answer, word):
    refused(
        ValueError,
        lambda: tether.FiniteSum(lambda x, batch: answer, lambda x, batch: 0.0, n_samples=5, dim=4),
        "gradient(x, batch)",
        "4 floats",
        word,
    )


def test_a_gradient_that_changes_its_shape_during_the_run_is_refused_too():
    def gradient(x, batch):
        return x if len(batch) <= 2 else np.append(x, 0.0)

    objective = tether.FiniteSum(gradient, lambda x, batch: 0.0, n_samples=5, dim=4, smoothness=1.0)
    refused(ValueError, lambda: tether.solve(objective), "gradient(x, batch)", "(5,)")
