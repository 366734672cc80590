"""Workers in one process are the stacked problem with the consensus set, nothing else."""

import numpy as np
import pytest

import tether
from tether.engines.sampling import Stream, batches
from tether.methods import Anderson, DelayedASVRG, DelayedSGD, DelayedSVRG, ProxSkip, ProxSkipSVRG, Scaffold
from tether.objectives.base import Evaluation, Objective, Smoothness
from tether.objectives.walk import Walked

N_WORKERS, DIM = 3, 4


def data(seed: int, size: int = 40):
    rng = np.random.default_rng([7, seed])
    X = rng.standard_normal((size, DIM)) * np.linspace(1.0, 2.0, DIM)
    return X, X @ rng.standard_normal(DIM) + rng.standard_normal(size)


def local(seed: int, size: int = 40, l2: float = 0.1) -> tether.GLM:
    return tether.GLM(*data(seed, size), "squared", l2=l2)


@pytest.fixture
def federation() -> tether.Federation:
    return tether.Federation([local(k) for k in range(N_WORKERS)])


@pytest.fixture
def unequal() -> tether.Federation:
    return tether.Federation([local(k, size) for k, size in enumerate((10, 35, 80))])


def optimum(federation, constraint=None):
    """Return the minimiser from the normal equations of all data, with A x = b if given."""
    total = federation.n_samples
    H = sum(one.design.matrix.T @ one.design.matrix for one in federation.objectives) / total
    H = H + federation.objectives[0].l2 * np.eye(DIM)
    g = sum(one.design.matrix.T @ one.y for one in federation.objectives) / total
    if constraint is None:
        return np.linalg.solve(H, g)
    A, b = constraint
    m = len(b)
    system = np.block([[H, A.T], [A, np.zeros((m, m))]])
    return np.linalg.solve(system, np.concatenate([g, b]))[:DIM]


class Stacked(Objective):
    """sum_k f_k(x_k): every block walks on its own samples."""

    def __init__(self, federation: tether.Federation, seed: int) -> None:
        self.parts, self.seed = federation.workers, seed
        self.n_samples = self.parts[0].n_samples
        self.dim = len(self.parts) * DIM
        self._smoothness = federation.smoothness

    def blocks(self, x):
        return x.reshape(len(self.parts), DIM)

    def evaluate(self, x):
        each = [part.evaluate(block) for part, block in zip(self.parts, self.blocks(x), strict=True)]
        return Evaluation(sum(e.value for e in each), np.concatenate([e.gradient for e in each]))

    def batch_gradient(self, x, batch, anchor=None, slopes=None):
        raise AssertionError("blocks walk on their own batches")

    @property
    def smoothness(self) -> Smoothness:
        return self._smoothness

    def descend(self, walk):
        ends, totals, weight = [], [], 0.0
        for k, part in enumerate(self.parts):
            block = slice(k * DIM, (k + 1) * DIM)
            b = None if walk.batches is None else walk.batches.shape[1]
            stream = Stream(self.seed, k, part.n_samples, replacement=False)
            drawn, _ = batches(stream, clock=walk.clock, steps=walk.steps, batch_size=b)
            anchor = None if walk.anchor is None else walk.anchor[block]
            average = walk.averaging
            own = walk._replace(
                start=walk.start[block],
                batches=drawn,
                anchor=anchor,
                shift=None if walk.shift is None else walk.shift[block],
                slopes=None if anchor is None else part.evaluate(anchor).slopes,
                averaging=None if average is None else average._replace(total=average.total[block]),
            )
            walked = part.descend(own)
            ends.append(walked.end)
            if walked.averaging is not None:
                totals.append(walked.averaging.total)
                weight = walked.averaging.weight
        summed = None
        if walk.averaging is not None:
            summed = walk.averaging._replace(total=np.concatenate(totals), weight=weight)
        return Walked(np.concatenate(ends), summed, walk.steps)


@pytest.mark.parametrize(
    "method",
    [
        DelayedSVRG(interval=5, stage_length=20, step_size=0.05, batch_size=4, convexity=0.1),
        DelayedSVRG(interval=20, stage_length=20, step_size=0.03, batch_size=4, convexity=0.1, anchor="last"),
        DelayedASVRG(interval=5, stage_length=20, step_size=0.05, batch_size=4, convexity=0.1),
    ],
)
def test_local_svrg_is_delayed_svrg_on_the_stacked_problem_bit_for_bit(federation, method):
    seed = 3
    ours = tether.iterate(federation, None, method, seed=seed)
    theirs = tether.iterate(Stacked(federation, seed), tether.Consensus(N_WORKERS), method, seed=seed)
    for _, mine, stacked in zip(range(25), ours, theirs, strict=False):
        np.testing.assert_array_equal(np.tile(mine.x, N_WORKERS), stacked.x)
        assert mine.counts.rounds == stacked.counts.rounds


@pytest.mark.parametrize(
    "method",
    [
        "dp-svrg",
        "dp-asvrg",
        "proxskip",
        "proxskip-svrg",
        "skip",
        "lbfgs",
        "nesterov",
        "auto",
        Anderson(DelayedSVRG()),
        Anderson(DelayedASVRG()),
        Scaffold(full_gradients=True, interval=5),
    ],
    ids=str,
)
def test_every_exact_method_finds_the_pooled_optimum_of_unequal_workers(unequal, method):
    sol = tether.solve(unequal, method=method, tol=1e-11, max_passes=20_000)
    assert sol.success
    np.testing.assert_allclose(sol.x, optimum(unequal), atol=1e-5)


@pytest.mark.parametrize("method", ["dp-svrg", "proxskip", "skip", "lbfgs", "nesterov"])
def test_a_constraint_binds_the_common_model(unequal, method):
    A, b = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 1.0, -1.0, 2.0]]), np.array([1.0, 0.5])
    sol = tether.solve(unequal, tether.Affine(A, b), method, tol=1e-11, max_passes=20_000)
    assert sol.success and sol.residual < 1e-12
    np.testing.assert_allclose(sol.x, optimum(unequal, (A, b)), atol=1e-5)


def test_the_gap_bounds_the_true_gap(unequal):
    best = unequal.value(optimum(unequal))
    for method in ("skip", "proxskip", "lbfgs"):
        sol = tether.solve(unequal, method=method, tol=1e-4)
        assert 0 <= sol.fun - best <= sol.gap


def test_one_local_step_is_distributed_gradient_descent(federation):
    method = ProxSkip(interval=1, step_size=0.1)
    moments = tether.iterate(federation, None, method)
    x, taken = np.zeros(DIM), 0
    while taken < 6:
        moment = next(moments)
        if moment.counts.steps > taken:
            x, taken = x - 0.1 * federation.gradient(x), taken + 1
            np.testing.assert_allclose(moment.x, x, atol=1e-14)


def test_local_sgd_stalls_where_workers_differ_and_variance_reduction_does_not(federation):
    best = federation.value(optimum(federation))
    full = DelayedSGD(interval=10, stage_length=10, batch_size=40, step_size=0.1)
    stalled = tether.solve(federation, method=full, tol=0, max_rounds=400).fun - best
    exact = tether.solve(federation, method="dp-svrg", tol=1e-13, max_rounds=2000).fun - best
    assert stalled > 1e-4 and exact < 1e-10


def test_scaffold_follows_its_published_formulas(federation):
    K, eta, share = 4, 0.02, 2 / 3
    method = Scaffold(interval=K, step_size=eta, server_step=0.5, full_gradients=True, participation=share)
    moments = tether.iterate(federation, None, method, seed=5)
    x, c = np.zeros(DIM), np.zeros(DIM)
    own = np.zeros((N_WORKERS, DIM))
    clock = 0
    next(moments)  # F at the start
    for _ in range(6):
        rng = np.random.default_rng([5, N_WORKERS, clock])
        chosen = sorted(rng.choice(N_WORKERS, 2, replace=False))
        ends, changes = [], []
        for k in chosen:
            y = x.copy()
            for _ in range(K):
                y = y - eta * (federation.workers[k].gradient(y) - own[k] + c)
            new = own[k] - c + (x - y) / (K * eta)
            ends.append(y)
            changes.append(new - own[k])
            own[k] = new
        x = x + 0.5 * (np.mean(ends, axis=0) - x)
        c = c + len(chosen) / N_WORKERS * np.mean(changes, axis=0)
        clock += K
        moment = next(moments)
        while moment.counts.steps != clock:
            moment = next(moments)
        np.testing.assert_allclose(moment.state.x, x, atol=1e-13)
        np.testing.assert_allclose(moment.state.control, c, atol=1e-12)
        np.testing.assert_allclose(moment.state.control, own.mean(axis=0), atol=1e-12)


def test_partial_participation_asks_the_given_share_of_workers():
    federation = tether.Federation([local(k) for k in range(10)])
    sol = tether.solve(federation, method=DelayedSGD(participation=0.3), tol=0, max_rounds=20)
    sent = sol.history.workers["sent"]
    walks = np.diff(sol.history["steps"], prepend=0) > 0
    assert (np.isfinite(sent[walks]).sum(axis=1) == 3).all()
    assert np.isfinite(sent[walks]).any(axis=0).all()


def test_history_has_each_workers_loss_and_bytes(unequal):
    sol = tether.solve(unequal, method="lbfgs", tol=1e-6)
    reports = sol.history.workers
    measured = np.isfinite(sol.history["value"])
    np.testing.assert_allclose(reports["value"][measured].mean(axis=1), sol.history["value"][measured])
    assert (reports["seconds"][measured] > 0).all()
    vectors = sol.counts.rounds - 1
    assert sol.counts.received == vectors * N_WORKERS * DIM * 8
    assert sol.counts.sent == np.nansum(reports["sent"]) >= sol.counts.received


def test_a_checkpoint_resumes_bit_for_bit(unequal, tmp_path):
    path, method = tmp_path / "run.npz", "skip"
    whole = tether.solve(unequal, method=method, tol=0, max_rounds=20)
    tether.solve(unequal, method=method, tol=0, max_rounds=8, checkpoint=path)
    resumed = tether.solve(unequal, method=method, tol=0, max_rounds=20, checkpoint=path)
    np.testing.assert_array_equal(whole.x, resumed.x)
    np.testing.assert_array_equal(whole.history.workers["value"], resumed.history.workers["value"])


def test_a_checkpoint_of_other_workers_is_refused(federation, tmp_path):
    path = tmp_path / "run.npz"
    tether.solve(federation, method="skip", tol=0, max_rounds=4, checkpoint=path)
    fewer = tether.Federation([local(0, 80), local(1)])
    with pytest.raises(ValueError, match="belongs to another"):
        tether.solve(fewer, method="skip", checkpoint=path)


@pytest.mark.slow
def test_many_small_workers_share_compiled_steps():
    federation = tether.Federation([local(k, 50) for k in range(1000)])
    assert all(one._compiled is not None for one in federation.objectives)
    sol = tether.solve(federation, method="skip", tol=1e-6)
    assert sol.success
    np.testing.assert_allclose(sol.x, optimum(federation), atol=1e-2)


def test_a_pooled_batch_gradient_is_the_mean_over_its_samples(unequal):
    x, batch = np.ones(DIM), np.array([0, 9, 10, 50, 124])
    single = [unequal.batch_gradient(x, np.array([i])) for i in batch]
    np.testing.assert_allclose(unequal.batch_gradient(x, batch), np.mean(single, axis=0))
    everything = unequal.batch_gradient(x, np.arange(unequal.n_samples))
    np.testing.assert_allclose(everything, unequal.gradient(x))


def test_sample_weights_count_between_workers():
    parts = [data(k) for k in range(2)]
    weights = [np.full(len(parts[0][1]), 1.0), np.full(len(parts[1][1]), 9.0)]
    workers = [
        tether.GLM(X, y, "squared", l2=0.1, sample_weight=w) for (X, y), w in zip(parts, weights, strict=True)
    ]
    X, y = (np.concatenate(column) for column in zip(*parts, strict=True))
    pooled = tether.GLM(X, y, "squared", l2=0.1, sample_weight=np.concatenate(weights))
    federation, x = tether.Federation(workers), np.ones(DIM)
    np.testing.assert_allclose(federation.value(x), pooled.value(x))
    everything = federation.batch_gradient(x, np.arange(len(y)))
    np.testing.assert_allclose(everything, pooled.gradient(x))
    found = tether.solve(federation, method="lbfgs", tol=1e-12).x
    np.testing.assert_allclose(found, tether.solve(pooled, method="lbfgs", tol=1e-12).x, atol=1e-6)


# --- wrong calls -----------------------------------------------------------------------------------------


def test_a_worker_whose_loss_is_nan_is_named(federation):
    def value(x, batch):
        return 0.0 if len(batch) == 1 else np.nan  # passes the first look at one sample

    broken = tether.FiniteSum(
        gradient=lambda x, batch: np.zeros(DIM), value=value, n_samples=5, dim=DIM, smoothness=1.0
    )
    with pytest.raises(ValueError, match="worker 1"):
        tether.solve(tether.Federation([federation.objectives[0], broken]), method="lbfgs")


@pytest.mark.parametrize(
    ("objectives", "error", "words"),
    [
        ([], ValueError, "at least one"),
        ("abc", TypeError, "worker 0"),
        (local(0), TypeError, "list"),
        ([local(0), 3], TypeError, "worker 1"),
        ([local(0), tether.GLM(np.eye(2), [1.0, 2.0], "squared", l2=0.1)], ValueError, "worker 1 has 2"),
    ],
)
def test_wrong_workers_are_refused_by_name(objectives, error, words):
    with pytest.raises(error, match=words):
        tether.Federation(objectives)


def test_the_engine_of_workers_needs_a_federation():
    with pytest.raises(TypeError, match="Federation"):
        tether.solve(local(0), engine=tether.engines.Workers())


@pytest.mark.parametrize("share", [0.0, 1.5, -1, "half"])
def test_participation_is_a_share(share):
    with pytest.raises(ValueError, match="participation"):
        DelayedSGD(participation=share)


def test_anderson_refuses_scaffold():
    with pytest.raises(TypeError, match="stage-wise"):
        Anderson(Scaffold())


def test_proxskip_svrg_learns_duals_that_sum_to_zero(unequal):
    engine = tether.engines.Workers()
    problem = tether.engines.Problem(unequal, tether.Unconstrained())
    method = ProxSkipSVRG().prepare(engine.facts(problem))
    state, memory = method.start(np.zeros(DIM)), engine.blank(problem)
    for _ in range(12):
        reply, memory = engine.exchange(problem, method.ask(state), memory)
        state = method.tell(state, reply)
    duals = np.array([one.duals[-1] for one in memory])
    assert np.abs(duals).max() > 0.1
    np.testing.assert_allclose(duals.sum(axis=0), 0, atol=1e-12)


class Boastful(tether.Objective):
    """A worker's objective that reports a loss of its choice."""

    def __init__(self, objective, boast):
        self.objective, self.boast = objective, boast
        self.n_samples, self.dim = objective.n_samples, objective.dim

    @property
    def smoothness(self):
        return self.objective.smoothness

    def evaluate(self, x):
        value, gradient, _ = self.objective.evaluate(x)
        return Evaluation(value + self.boast, gradient)

    def batch_gradient(self, x, batch, anchor=None, slopes=None):
        return self.objective.batch_gradient(x, batch, anchor)


@pytest.mark.parametrize("method", ["lbfgs", "skip", "dp-svrg"])
def test_one_worker_cannot_choose_what_tol_means(method):
    rng = np.random.default_rng(0)
    workers = []
    for k in range(3):
        X = rng.standard_normal((40, 3))
        local = tether.GLM(X, X @ np.ones(3) + k, "squared", l2=0.1)
        workers.append(Boastful(local, -1e6 if k == 1 else 0.0))
    sol = tether.solve(tether.Federation(workers), method=method, tol=1e-6, max_rounds=500)
    honest = tether.Federation([worker.objective for worker in workers])
    best = tether.solve(honest, method="lbfgs", tol=1e-12)
    assert sol.success and honest.value(sol.x) - best.fun <= 1e-5
