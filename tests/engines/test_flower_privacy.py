"""What is done to uploads: clipping, noise and its account, single precision and its certificate."""

import json

import numpy as np
import pytest

pytest.importorskip("flwr")

import tether
from tether.engines.base import WorkerError
from tether.engines.flower import Flower
from tether.engines.flower.messages import Privacy, Task
from tether.engines.flower.privacy import Releases, epsilon
from tether.engines.flower.records import unpack
from tether.methods import DelayedSGD, ProxSkip
from tether.needs import Need, check_needs
from tether.requests import Gradient

NOISY = Privacy(clip=1.0, noise=2.0)


def released(wire):
    """Return how many walks each node has answered."""
    walkers = [k for k, _, answer in wire.seen if "point0" in answer.content.get("vectors", {})]
    return [walkers.count(k) for k in range(wire.n)]


def test_clipping_bounds_what_a_walk_reveals(nodes):
    wire, clip = nodes(), 0.01
    wire.solve("proxskip", privacy=Privacy(clip=clip), max_rounds=5)
    for _, message, answer in wire.seen:
        if "point0" not in answer.content.get("vectors", {}):
            continue
        start = unpack(message.content, "task", Task).descend.start
        change = answer.content["vectors"]["point0"].numpy() - start
        assert np.linalg.norm(change) <= clip * (1 + 1e-9)
        assert np.isnan(answer.content["numbers"]["upload.value"])  # losses stay at home


def test_noise_has_the_given_size_and_two_runs_differ(nodes):
    privacy = Privacy(clip=1e-9, noise=1e9)
    ends = [nodes().solve(ProxSkip(interval=1), privacy=privacy, max_rounds=3).x for _ in range(2)]
    assert not np.array_equal(*ends)
    assert 0.05 < np.std(ends) < 5


def test_private_runs_refuse_methods_that_need_gradients(nodes):
    for method in ("dp-svrg", DelayedSGD()):
        with pytest.raises((ValueError, WorkerError), match="covers walks only"):
            nodes().solve(method, privacy=Privacy(clip=1.0), max_rounds=200)


def test_what_privacy_withholds_is_declared(nodes):
    engine = Flower(nodes(), 3, privacy=Privacy(clip=1.0))
    assert set(engine.lacks) == {Need.GRADIENTS, Need.AVERAGES}
    for need in engine.lacks:
        with pytest.raises(ValueError, match=r'DelayedSVRG needs .*covers walks only; choose "proxskip"'):
            check_needs("DelayedSVRG", {need}, engine.lacks)
    assert not Flower(nodes(), 3, privacy=Privacy(single=True)).lacks


def test_a_private_solution_says_that_nothing_was_measured(nodes):
    sol = nodes().solve("proxskip", privacy=Privacy(clip=1.0), max_rounds=3)
    assert sol.gap is None and np.isnan(sol.fun)
    assert "F(x)  not measured" in str(sol) and "mu = 0" not in str(sol) and "nan" not in str(sol)


# --- the account of privacy ------------------------------------------------------------------------------


def test_epsilon_grows_with_uploads_and_falls_with_noise():
    pytest.importorskip("dp_accounting")
    assert epsilon(1.0, 0, 1e-5) == 0
    assert epsilon(1.0, 1, 1e-5) < epsilon(1.0, 10, 1e-5)
    assert epsilon(4.0, 10, 1e-5) < epsilon(1.0, 10, 1e-5)
    # One Gaussian mechanism of noise s obeys the bound of moments, eps <= 1/(2 s^2) + sqrt(2 log(1/delta))/s.
    assert epsilon(2.0, 1, 1e-5) <= 1 / 8 + np.sqrt(2 * np.log(1e5)) / 2


def test_epsilon_is_that_of_the_worker_that_was_asked_most():
    pytest.importorskip("dp_accounting")
    releases = Releases(3, 2.0)
    for workers in ([0, 1, 2], [1], [1, 2]):
        releases.count(workers)
    assert releases.epsilon(1e-5) == epsilon(2.0, 3, 1e-5)


def test_walks_of_a_round_that_failed_are_counted(nodes, tmp_path):
    wire, path = nodes(), tmp_path / "run.npz"
    plan = {"privacy": NOISY, "max_rounds": 7, "checkpoint": path, "timeout": 0.2}

    def leave(state):
        wire.absent = {2} if state.nit == 4 else set()

    with pytest.raises(WorkerError, match="fewer than the quorum"):
        wire.solve("proxskip", releases=Releases(3, 2.0, path), callback=leave, **plan)
    wire.absent = set()
    again = Releases(3, 2.0, path)
    sol = wire.solve("proxskip", releases=again, **plan)
    assert sol.counts.rounds == 7  # the first is the projection of the starting point
    assert again.counts == released(wire) == [7, 7, 6]


def test_walks_that_a_dead_server_never_saw_are_counted(nodes, tmp_path):
    path = tmp_path / "run.npz"

    class Cut(nodes):
        def pull_messages(self, names):
            if max(released(self)) == 2:
                raise SystemError("power cut")
            return super().pull_messages(names)

    wire = Cut()
    with pytest.raises(SystemError):
        wire.solve("proxskip", privacy=NOISY, releases=Releases(3, 2.0, path), checkpoint=path)
    assert Releases(3, 2.0, path).counts == released(wire) == [2, 2, 2]


def test_walks_are_counted_when_a_worker_lost_its_memory(nodes):
    wire, releases = nodes(), Releases(3, 2.0)

    def forget(state):
        if state.nit == 3:
            wire.forget(1)

    wire.solve("proxskip", privacy=NOISY, releases=releases, max_rounds=6, callback=forget)
    assert released(wire)[0] == 6  # five rounds, one of them twice
    assert all(counted >= sent for counted, sent in zip(releases.counts, released(wire), strict=True))


def test_a_worker_that_is_absent_is_not_charged(nodes):
    wire, releases = nodes(), Releases(3, 2.0)

    def leave(state):
        wire.absent = {2}

    wire.solve("proxskip", quorum=2, privacy=NOISY, releases=releases, max_rounds=5, callback=leave)
    assert releases.counts == [4, 4, 1]


def test_a_private_checkpoint_without_its_account_is_refused(tmp_path):
    path = tmp_path / "run.npz"
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=r"run\.npz\.releases.*put it back"):
        Releases(3, 2.0, path)


@pytest.mark.parametrize("text", ["", "[]", '{"noise": 2.0}', '{"noise": 2.0, "releases": ["many"]}'])
def test_a_damaged_account_is_refused(tmp_path, text):
    (tmp_path / "run.npz.releases").write_text(text)
    with pytest.raises(ValueError, match="is damaged"):
        Releases(3, 2.0, tmp_path / "run.npz")


@pytest.mark.parametrize(("workers", "noise"), [(2, 2.0), (3, 1.0)])
def test_an_account_of_another_federation_is_refused(tmp_path, workers, noise):
    record = {"noise": 2.0, "releases": [1, 1, 1]}
    (tmp_path / "run.npz.releases").write_text(json.dumps(record))
    with pytest.raises(ValueError, match=r"3 workers with noise=2, this run has"):
        Releases(workers, noise, tmp_path / "run.npz")


# --- single precision ------------------------------------------------------------------------------------


def test_float32_uploads_keep_single_precision(nodes, federation):
    wire = nodes()
    best = tether.solve(federation, method="lbfgs", tol=1e-13)
    sol = wire.solve("proxskip", privacy=Privacy(single=True), tol=0, max_rounds=150)
    types = {
        a.dtype for _, _, m in wire.seen for n, a in m.content["vectors"].items() if n.startswith("point")
    }
    assert types == {"float32"}
    assert 1e-10 < np.abs(sol.x - best.x).max() < 1e-5


def opposites(size, rest):
    """Return a load of two nodes whose gradients are large and cancel but for a rest."""

    def load(context):
        sign = 1.0 - 2.0 * context.node_config["partition-id"]
        linear = sign * size * np.array([1.0, -3.0]) + np.array([rest, 0.0])
        return tether.Quadratic(matrix=np.eye(2), linear=linear)

    return load


@pytest.mark.parametrize(("size", "rest"), [(1.0, 1e-9), (1e6, 1e-3), (1e-44, 2e-46)])
def test_a_gradient_that_single_precision_hides_is_in_the_certificate(nodes, size, rest):
    wire = nodes(2, load=opposites(size, rest))
    engine = Flower(wire, 2, privacy=Privacy(single=True))
    problem = tether.engines.Problem(engine.introduce(), tether.Unconstrained())
    reply, _ = engine.exchange(problem, Gradient(np.zeros(2)), engine.blank(problem))
    assert not reply.gradient.any()  # nothing of it arrived
    assert np.sqrt(reply.certificate) >= rest
    assert np.sqrt(reply.certificate) <= 1e-6 * size + 1e-40


def test_the_certified_gap_of_a_float32_run_is_a_bound(nodes):
    size, rest = 1e3, 1e-6
    wire = nodes(2, load=opposites(size, rest))
    sol = wire.solve("lbfgs", privacy=Privacy(single=True), tol=0, max_rounds=8)
    # F(x) = ||x||^2 + rest x_0 has its minimum -rest^2/4 at (-rest/2, 0).
    true = float((sol.x[0] + rest / 2) ** 2 + sol.x[1] ** 2)
    assert 0 < true <= sol.gap < 1e-6
