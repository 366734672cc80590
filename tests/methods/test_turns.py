"""What methods that take turns hand on, and when a turn is worth it."""

import numpy as np

from tether.methods.auto import Auto
from tether.methods.pairs import Pairs
from tether.methods.reasons import Reason, Running


def test_curvature_that_was_learned_is_handed_on(strongly_convex):
    algorithm = strongly_convex.prepare(Auto())
    rng, dim = np.random.default_rng(0), strongly_convex.objective.dim
    pairs = Pairs.none(dim)
    for step, change in rng.standard_normal((3, 2, dim)):
        pairs = pairs.followed_by(step, change, 2.0 * change, memory=5)
    state = algorithm.start(np.zeros(dim))
    state = state._replace(lbfgs=state.lbfgs._replace(pairs=pairs))
    for running, inner in (
        (Running.LBFGS, lambda state: state.lbfgs),
        (Running.NEWTON, lambda state: state.newton.inner),
    ):
        begun = inner(algorithm._begin(state, running, Reason.QUICKER))
        assert begun.gradient is None
        for found, expected in zip(begun.pairs, pairs._replace(images=pairs.changes), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_a_trial_has_to_be_worth_it_and_a_method_that_was_quicker_does_not(strongly_convex):
    algorithm = strongly_convex.prepare(Auto())
    trials = 3.0 * algorithm._trial(Running.LBFGS)
    assert algorithm._is_worth(Running.LBFGS, np.inf, 0.1, left=trials + 1.0)
    assert not algorithm._is_worth(Running.LBFGS, np.inf, 0.1, left=trials - 1.0)
    assert algorithm._is_worth(Running.LBFGS, 0.2, 0.1, left=1.0)
    assert not algorithm._is_worth(Running.LBFGS, 0.05, 0.1, left=100.0)
