"""Long rows in shares: the same sum, the same optimum, and steps that fit the mean row."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

import tether
from tether.engines import Problem
from tether.methods import Anderson, ProxSkipSVRG
from tether.objectives import shares
from tether.objectives.shares import share_counts
from tether.objectives.walk import Walk, walk_in_numpy
from tether.polyhedral import Pieces
from tether.problem import Cut

P = 40
A = np.random.default_rng(3).standard_normal((3, P))


def web(seed=0, n=4_000, dtype=np.float64, **settings):
    """Return a model of sparse binary rows, a few of them very long, with few positive labels."""
    rng = np.random.default_rng(seed)
    lengths = np.minimum(1 + rng.geometric(0.5, n), P)
    lengths[rng.choice(n, n // 100, replace=False)] = P - 5
    keys = rng.gumbel(size=(n, P)) - 0.8 * np.log1p(np.arange(P))
    ranks = np.argsort(np.argsort(-keys, axis=1), axis=1)
    X = sparse.csr_array((ranks < lengths[:, None]).astype(dtype))
    y = rng.random(n) < expit(X @ rng.standard_normal(P) - 2.5)
    return tether.GLM(X, y, "logistic", l2=settings.pop("l2", 0.1 / n), **settings)


def pages(seed=0, n=20_000, columns=250):
    """Return sparse binary rows of very unequal lengths, with topics, and few positive labels."""
    rng = np.random.default_rng(seed)
    lengths = np.clip(np.round(rng.lognormal(2.0, 0.8, n)), 1, 114)
    popular = 2 * rng.standard_normal((8, columns))[rng.integers(8, size=n)] - 0.5 * np.log1p(
        np.arange(columns)
    )
    ranks = np.argsort(np.argsort(-popular - rng.gumbel(size=(n, columns)), axis=1), axis=1)
    X = sparse.csr_array((ranks < lengths[:, None]).astype(float))
    return X, rng.random(n) < expit(0.7 * X @ rng.standard_normal(columns) - 5.0)


@pytest.fixture(autouse=True)
def small_sums_too(monkeypatch):
    monkeypatch.setattr(shares, "FEW_SAMPLES", 0)


@pytest.fixture(scope="module", params=[0, 1], ids=["seed 0", "seed 1"])
def web_pages(request):
    return pages(request.param)


def factors(seed=0, n=300):
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((n, 6))
    C[:5] *= 12
    return tether.Quadratic(factors=C, linear=rng.standard_normal(6))


def multinomial():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((300, 4))
    X[:6] *= 10
    return tether.GLM(X, rng.integers(3, size=300), "multinomial", l2=0.01, fit_intercept=True)


def weighted_samples():
    weights = np.ones(400)
    weights[:4] = 50.0
    X = np.random.default_rng(6).standard_normal((400, 5))
    return tether.GLM(X, X[:, 0], "squared", l2=0.1, sample_weight=weights)


OBJECTIVES = {"web": web, "factors": factors, "multinomial": multinomial, "weights": weighted_samples}


@pytest.fixture(params=list(OBJECTIVES))
def objective(request):
    return OBJECTIVES[request.param]()


def flagship(**settings):
    return Anderson(ProxSkipSVRG(renew=True, **settings))


def test_a_pass_over_the_shares_has_the_mean_gradient(objective):
    shares, rng = objective.shares, np.random.default_rng(0)
    x, anchor = 0.1 * rng.standard_normal((2, objective.dim))
    seen = objective.evaluate(anchor)
    change = shares.walker.batch_gradient(x, shares.order, anchor, seen.slopes)
    np.testing.assert_allclose(change, objective.gradient(x) - seen.gradient, rtol=0, atol=1e-12)


def test_every_sample_has_a_share_and_all_together_at_most_two(objective):
    counts = np.bincount(objective.shares.order, minlength=objective.n_samples)
    assert counts.min() == 1 and counts.max() > 2
    assert len(objective.shares.order) <= 2 * objective.n_samples


def test_no_share_is_more_curved_than_its_constant(objective):
    shares, rng = objective.shares, np.random.default_rng(1)
    worst = 0.0
    for i in np.argsort(-np.bincount(shares.order))[:20]:
        x, anchor = 1e-3 * rng.standard_normal((2, objective.dim))
        change = shares.walker.batch_gradient(x, np.array([i]), anchor)
        worst = max(worst, np.linalg.norm(change) / np.linalg.norm(x - anchor))
    assert worst <= shares.largest * (1 + 1e-9)
    assert shares.largest < 0.5 * objective.smoothness.maximum


def test_rows_alike_have_no_shares():
    X = np.random.default_rng(0).standard_normal((500, 300))
    assert tether.GLM(X, X[:, 0], "squared").shares is None
    assert tether.Quadratic(factors=X).shares is None
    assert tether.Quadratic(matrix=np.eye(3)).shares is None
    assert share_counts(np.zeros(4)) is None


@pytest.mark.parametrize("batch_size", [1, 4])
def test_compiled_walks_over_shares_are_those_of_numpy(batch_size):
    objective = web(n=600)
    objective.compile()
    walker, order = objective.shares.walker, objective.shares.order
    rng = np.random.default_rng(2)
    anchor = rng.standard_normal(P)
    seen = objective.evaluate(anchor)
    batches = rng.permutation(order)[: 200 * batch_size].reshape(-1, batch_size)
    walk = Walk(anchor, len(batches), 0.02, batches, shift=seen.gradient, anchor=anchor, slopes=seen.slopes)
    compiled = walker.descend(walk).end
    assert np.linalg.norm(compiled - anchor) > 1e-3
    np.testing.assert_allclose(compiled, walk_in_numpy(walker, walk).end, rtol=0, atol=1e-12)
    walk = walk._replace(pieces=Pieces.of(P, -0.5, 1.0, 0.01, 0.02))
    compiled = walker.descend(walk).end
    assert walker._compiled.serves(walk) and np.isin(compiled, [-0.5, 0.0, 1.0]).any()
    np.testing.assert_allclose(compiled, walk_in_numpy(walker, walk).end, rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("batch_size", [1, 3])
def test_shares_halve_the_projections(web_pages, dtype, batch_size):
    X, y = web_pages
    objective = tether.GLM(X.astype(dtype), y, l2=0.1 / len(y))
    constraint = tether.Affine(np.random.default_rng(3).standard_normal((10, X.shape[1])))
    plain = tether.Serial().facts(Problem(objective, constraint))._replace(cut=Cut)
    step = ProxSkipSVRG(batch_size=batch_size).prepare(plain).step_size
    one_each = tether.solve(objective, constraint, flagship(batch_size=batch_size, step_size=step), tol=1e-6)
    shared = tether.solve(objective, constraint, flagship(batch_size=batch_size), tol=1e-6)
    assert one_each.success and shared.success
    assert abs(shared.fun - one_each.fun) <= 1e-6
    assert 2 * shared.counts.projections <= one_each.counts.projections
    assert shared.counts.gradients < 0.75 * one_each.counts.gradients


@pytest.mark.parametrize("seed", [0, 1])
def test_walks_too_long_for_a_well_conditioned_problem_are_shortened(seed):
    objective = web(seed, n=10_000)
    objective.compile()
    found = tether.solve(objective, tether.Affine(A), "skip", tol=1e-6)
    assert found.success and found.counts.projections <= 20
    assert found.counts.steps < 0.6 * found.counts.stages * len(objective.shares.order)


def test_the_same_seed_gives_the_same_iterates_and_another_one_others():
    runs = [tether.solve(web(), tether.Affine(A), "skip", seed=s, tol=0, max_rounds=6).x for s in (1, 1, 2)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert np.linalg.norm(runs[0] - runs[2]) > 0


def test_a_given_step_size_theory_and_coins_see_every_sample_once():
    facts = tether.Serial().facts(Problem(web(), tether.Affine(A)))
    assert facts.draws > facts.n_samples
    for given in ({"step_size": 0.1}, {"parameters": "theory"}, {"random": True}, {"batch_size": 4_000}):
        algorithm = ProxSkipSVRG(**given).prepare(facts)
        assert not algorithm.shares and algorithm.stage_length * algorithm.batch_size == 4_000
    assert ProxSkipSVRG(parameters="theory").prepare(facts).step_size == pytest.approx(
        1 / (6 * facts.smoothness.maximum)
    )
    shared = ProxSkipSVRG(batch_size=1).prepare(facts)
    assert shared.shares and shared.stage_length == facts.draws


def test_workers_cut_their_own_rows_and_find_the_pooled_optimum():
    parts = [web(seed, n=size) for seed, size in ((0, 3_000), (1, 5_000), (2, 900))]
    even = [tether.GLM(part.design.matrix, part.y, "logistic", l2=1e-4) for part in parts]
    federation = tether.Federation(even)
    assert len({len(part.shares.order) / part.n_samples for part in even}) == 3
    found = tether.solve(federation, tether.Affine(A), "skip", tol=1e-8)
    pooled = tether.GLM(
        sparse.vstack([part.design.matrix for part in even]),
        np.concatenate([part.y for part in even]),
        l2=1e-4,
    )
    best = tether.solve(pooled, tether.Affine(A), "lbfgs", tol=1e-10)
    assert found.success and best.success
    assert pooled.value(found.x) - best.fun <= 1e-8
    assert found.counts.rounds <= 60
