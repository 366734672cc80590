"""A x = b with b != 0 takes the iterates of the paper's shifted problem: x = y* + z with A z = 0."""

import numpy as np
import pytest

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

SHORT = {"interval": 3, "stage_length": 8, "batch_size": 2, "step_size": 0.3}
METHODS = [
    DelayedSGD(**SHORT),
    DelayedSVRG(**SHORT),
    DelayedASVRG(**SHORT, momentum=0.9),
    ProxSkip(interval=3),
    ProxSkipSVRG(**SHORT),
    Anderson(ProxSkipSVRG(**SHORT)),
    Regularised(DelayedSVRG(**SHORT), strength=0.5),
    Nesterov(),
    LBFGS(smoothness=1.0),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_the_iterates_are_those_of_the_homogeneous_problem(strongly_convex, converse, x0, method):
    problem = strongly_convex
    origin = np.linalg.lstsq(problem.matrix, problem.right)[0]
    shifted = tether.FiniteSum(
        gradient=lambda z, batch: problem.gradient(origin + z, batch),
        value=lambda z, batch: problem.value(origin + z, batch),
        n_samples=problem.objective.n_samples,
        dim=problem.objective.dim,
        smoothness=problem.objective.smoothness,
    )
    ours = converse(problem.objective, problem.constraint, method, x0)
    theirs = converse(shifted, tether.Affine(problem.matrix), method, x0 - origin)
    moved = 0.0
    for _ in range(25):
        x, z = next(ours).x, next(theirs).x
        np.testing.assert_allclose(x, origin + z, rtol=0, atol=1e-10)
        moved = max(moved, np.linalg.norm(x - problem.project(x0)))
    assert moved > 0.1
