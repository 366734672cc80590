"""The Flower engine on a grid that hands messages straight to the client app."""

import logging

import numpy as np
import pytest

flwr = pytest.importorskip("flwr")

from flwr.app import Context, Error, Message, RecordDict  # noqa: E402

import tether  # noqa: E402
from tether.engines.base import WorkerError  # noqa: E402
from tether.engines.flower import Flower, client_app  # noqa: E402
from tether.engines.flower.messages import unpack  # noqa: E402
from tether.engines.flower.orders import Order, Privacy  # noqa: E402
from tether.engines.flower.privacy import epsilon  # noqa: E402
from tether.methods import Anderson, DelayedSGD, DelayedSVRG, ProxSkip, ProxSkipSVRG, Scaffold  # noqa: E402

SIZES, DIM = (30, 20, 45), 3


@pytest.fixture(autouse=True)
def identity(monkeypatch):
    """Make this process the server of run 1, as Flower's launcher would."""
    from flwr.supercore.task_identity import TaskIdentity

    for name in ("_task_id", "_run_id", "_node_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)


def data(k: int):
    rng = np.random.default_rng([11, k])
    X = rng.standard_normal((SIZES[k], DIM))
    return X, X @ rng.standard_normal(DIM) + rng.standard_normal(SIZES[k])


def local(k: int) -> tether.GLM:
    return tether.GLM(*data(k), "squared", l2=0.1)


@pytest.fixture
def federation() -> tether.Federation:
    return tether.Federation([local(k) for k in range(len(SIZES))])


class Wire:
    """A grid of nodes in this process; ``absent`` nodes never answer."""

    def __init__(self, n=3, load=lambda context: local(context.node_config["partition-id"]), **config):
        self.app, self.n = client_app(load), n
        self.contexts = {
            100 + k: Context(1, 100 + k, {"partition-id": k, **config}, RecordDict(), {}) for k in range(n)
        }
        self.absent: set[int] = set()
        self.seen: list[tuple[int, Message, Message | None]] = []
        self.waiting: dict[str, Message] = {}

    def get_node_ids(self):
        return sorted(set(self.contexts) - {100 + k for k in self.absent})

    def push_messages(self, messages):
        names = []
        for number, message in enumerate(messages):
            name = f"{len(self.seen)}-{number}"
            names.append(name)
            node = message.metadata.dst_node_id
            if node - 100 in self.absent:
                continue
            message.metadata._message_id = name  # as the link would
            try:
                answer = self.app(message, self.contexts[node])
            except Exception as error:
                answer = Message(Error(code=1, reason=str(error)), reply_to=message)
            self.seen.append((node - 100, message, answer))
            self.waiting[name] = answer
        return names

    def pull_messages(self, names):
        return [self.waiting.pop(name) for name in list(names) if name in self.waiting]

    def forget(self, k: int) -> None:
        self.contexts[100 + k].state.clear()


def run(wire, method, timeout=1.0, quorum=None, privacy=None, **settings):
    engine = Flower(wire, wire.n, quorum=quorum, timeout=timeout, privacy=privacy)
    return tether.solve(engine.introduce(), None, method, engine=engine, **settings)


METHODS = [
    "dp-sgd",
    "dp-svrg",
    "dp-asvrg",
    "proxskip",
    "skip",
    "lbfgs",
    "nesterov",
    Scaffold(full_gradients=True),
    Anderson(DelayedSVRG()),
]


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_messages_change_nothing(federation, method):
    here = tether.solve(federation, method=method, tol=0, max_rounds=12)
    there = run(Wire(), method, tol=0, max_rounds=12)
    np.testing.assert_allclose(there.x, here.x, rtol=0, atol=1e-13)
    assert there.counts.rounds == here.counts.rounds and there.counts.steps == here.counts.steps


def test_only_vectors_of_the_models_length_and_numbers_leave_a_node():
    wire = Wire()
    run(wire, "skip", tol=1e-8, max_rounds=10)
    for k, _, answer in wire.seen:
        X, y = data(k)
        values = {float(v) for v in np.concatenate([X.ravel(), y])}
        for name, array in answer.content["vectors"].items():
            assert array.numpy().shape == (DIM,), name
            assert not values & set(array.numpy().tolist())
        numbers = answer.content.get("numbers", {})
        assert not values & {float(v) for v in numbers.values() if isinstance(v, float)}


def test_bytes_are_those_of_the_messages():
    wire = Wire()
    sol = run(wire, "lbfgs", tol=1e-8)
    sizes = [sum(part.count_bytes() for part in answer.content.values()) for _, _, answer in wire.seen]
    assert 0 < sol.counts.sent <= sum(sizes)
    assert sol.counts.sent > sol.counts.rounds * wire.n * DIM * 8


def test_walks_go_on_with_a_quorum_and_the_duals_still_sum_to_zero(caplog):
    wire = Wire()
    engine = Flower(wire, wire.n, quorum=2, timeout=0.2)
    problem = tether.engines.Problem(engine.introduce(), tether.Unconstrained())
    method = ProxSkip(interval=5).prepare(engine.facts(problem))
    state, ledger = method.start(np.zeros(DIM)), engine.blank(problem)
    for turn in range(9):
        wire.absent = {turn % 3} if turn % 2 else set()
        reply, ledger = engine.exchange(problem, method.ask(state), ledger)
        state = method.tell(state, reply)
    wire.absent = set()
    duals = []
    for k in range(3):  # an order brings the node's memory up to date
        engine.exchange(problem, method.ask(state), ledger)
        duals.append(_dual_after(wire, k))
    assert "goes on without workers" in caplog.text
    np.testing.assert_allclose(np.sum(duals, axis=0), 0, atol=1e-12)
    assert np.abs(duals).max() > 0.01


def _dual_after(wire, k):
    from tether.engines.flower.client import _memory, _read

    order = next(
        unpack(message.content, "order", Order)
        for node, message, _ in reversed(wire.seen)
        if node == k and "order.run" in message.content["numbers"]
    )
    notebook = _read(wire.contexts[100 + k], k)
    return (notebook.memory if notebook.version == order.expects else _memory(order, notebook)).duals[-1]


def test_fewer_than_the_quorum_stop_the_run_and_leave_a_valid_checkpoint(tmp_path):
    path, wire = tmp_path / "run.npz", Wire()
    whole = run(Wire(), "skip", tol=0, max_rounds=14)

    def leave(state):
        if state.nit == 6:
            wire.absent = {0, 2}

    with pytest.raises(WorkerError, match="checkpoint is valid"):
        run(wire, "skip", timeout=0.2, quorum=2, tol=0, max_rounds=14, checkpoint=path, callback=leave)
    wire.absent = set()
    resumed = run(wire, "skip", quorum=2, tol=0, max_rounds=14, checkpoint=path)
    np.testing.assert_array_equal(resumed.x, whole.x)


def test_a_missing_gradient_is_replaced_by_the_last_known_one_and_nothing_is_certified(caplog):
    wire = Wire()

    def leave(state):
        wire.absent = {1} if state.nit >= 3 else set()

    sol = run(wire, "lbfgs", timeout=0.1, quorum=2, tol=1e-10, max_rounds=9, callback=leave)
    assert "stand in for workers 1" in caplog.text
    assert not sol.success


def test_a_worker_that_never_sent_a_gradient_cannot_be_replaced(federation):
    wire = Wire()
    engine = Flower(wire, wire.n, quorum=1, timeout=0.1)
    far = engine.introduce()
    wire.absent = {2}
    with pytest.raises(WorkerError, match="workers 2"):
        tether.solve(far, None, "lbfgs", engine=engine)


@pytest.mark.parametrize("method", ["skip", "proxskip", Scaffold(full_gradients=True)], ids=str)
def test_a_worker_that_lost_its_memory_makes_the_method_start_anew(federation, method, caplog):
    wire = Wire()
    best = tether.solve(federation, method="lbfgs", tol=1e-12).fun

    def forget(state):
        if state.nit == 5:
            wire.forget(1)

    sol = run(wire, method, tol=1e-9, max_rounds=3000, callback=forget)
    assert "came back without its memory" in caplog.text
    assert sol.success and sol.fun - best < 1e-8


def test_methods_without_private_memory_do_not_notice(caplog):
    wire = Wire()
    run(wire, "lbfgs", tol=1e-8, callback=lambda state: wire.forget(1))
    assert "memory" not in caplog.text


def test_a_memory_folder_outlasts_node_and_server(tmp_path, caplog):
    wire, path = Wire(**{"memory-dir": str(tmp_path / "node")}), tmp_path / "run.npz"
    whole = run(Wire(), "skip", tol=0, max_rounds=12)
    run(wire, "skip", tol=0, max_rounds=6, checkpoint=path)
    for k in range(wire.n):
        wire.forget(k)
    resumed = run(wire, "skip", tol=0, max_rounds=12, checkpoint=path)
    np.testing.assert_array_equal(resumed.x, whole.x)
    assert "memory" not in caplog.text


def test_a_run_does_not_take_another_runs_memory(tmp_path, caplog):
    wire = Wire(**{"memory-dir": str(tmp_path)})
    first = run(wire, "skip", tol=0, max_rounds=6)
    again = run(wire, "skip", tol=0, max_rounds=6)
    np.testing.assert_array_equal(first.x, again.x)


def test_float32_uploads_keep_single_precision(federation):
    wire = Wire()
    best = tether.solve(federation, method="lbfgs", tol=1e-13)
    sol = run(wire, "proxskip", privacy=Privacy(single=True), tol=0, max_rounds=150)
    types = {
        a.dtype for _, _, m in wire.seen for n, a in m.content["vectors"].items() if n.startswith("point")
    }
    assert types == {"float32"}
    assert 1e-10 < np.abs(sol.x - best.x).max() < 1e-5


def test_clipping_bounds_what_a_walk_reveals():
    wire, clip = Wire(), 0.01
    run(wire, "proxskip", privacy=Privacy(clip=clip), max_rounds=5)
    for _, message, answer in wire.seen:
        if "point0" not in answer.content.get("vectors", {}):
            continue
        start = unpack(message.content, "order", Order).descend.start
        change = answer.content["vectors"]["point0"].numpy() - start
        assert np.linalg.norm(change) <= clip * (1 + 1e-9)
        assert np.isnan(answer.content["numbers"]["upload.value"])  # losses stay at home


def test_noise_has_the_given_size_and_two_runs_differ():
    privacy = Privacy(clip=1e-9, noise=1e9)
    ends = [run(Wire(), ProxSkip(interval=1), privacy=privacy, max_rounds=3).x for _ in range(2)]
    assert not np.array_equal(*ends)
    assert 0.05 < np.std(ends) < 5


def test_private_runs_refuse_methods_that_need_gradients():
    for method in ("dp-svrg", DelayedSGD()):
        with pytest.raises(ValueError, match="covers walks only"):
            run(Wire(), method, privacy=Privacy(clip=1.0), max_rounds=200)


def test_a_node_that_comes_back_with_other_data_is_not_taken(caplog):
    sizes = dict.fromkeys(range(3), 20)

    def load(context):
        k = context.node_config["partition-id"]
        X, y = data(k)
        return tether.GLM(X[: sizes[k]], y[: sizes[k]], "squared", l2=0.1)

    wire = Wire(load=load)
    engine = Flower(wire, 3, quorum=2, timeout=0.2)
    far = engine.introduce()
    sizes[1] = 5
    wire.app = client_app(load)  # a new process
    wire.contexts[201] = wire.contexts.pop(101)
    engine._look_around()
    assert "worker 1 came back with other data" in caplog.text
    assert far.n_samples == 60 and 1 not in engine._nodes


def test_the_last_measurement_does_without_a_lost_memory(federation):
    wire = Wire()

    def forget(state):
        if state.nit == 6:
            wire.forget(1)
            raise StopIteration

    sol = run(wire, "proxskip", tol=0, max_rounds=50, callback=forget)
    np.testing.assert_allclose(sol.fun, federation.value(sol.x))


def test_epsilon_grows_with_rounds_and_falls_with_noise():
    pytest.importorskip("dp_accounting")
    assert epsilon(1.0, 1, 1e-5) < epsilon(1.0, 10, 1e-5)
    assert epsilon(4.0, 10, 1e-5) < epsilon(1.0, 10, 1e-5)
    # One Gaussian mechanism of noise s obeys the bound of moments, eps <= 1/(2 s^2) + sqrt(2 log(1/delta))/s.
    assert epsilon(2.0, 1, 1e-5) <= 1 / 8 + np.sqrt(2 * np.log(1e5)) / 2


# --- wrong calls -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("quorum", [0, 4])
def test_a_quorum_larger_than_the_federation_is_refused(quorum):
    with pytest.raises(ValueError, match="quorum"):
        Flower(Wire(), 3, quorum=quorum)


def test_workers_that_do_not_come_are_named():
    wire = Wire()
    wire.absent = {1}
    with pytest.raises(WorkerError, match="missing: 1"):
        Flower(wire, 3, timeout=0.2).introduce()


def test_different_dimensions_are_refused_by_worker():
    def load(context):
        k = context.node_config["partition-id"]
        return tether.Quadratic(matrix=np.eye(2 + (k == 1)), linear=np.zeros(2 + (k == 1)))

    with pytest.raises(ValueError, match="worker 1 has 3"):
        Flower(Wire(load=load), 3, timeout=1.0).introduce()


def test_a_node_that_cannot_load_its_data_says_why(caplog):
    def load(context):
        raise FileNotFoundError("no file of measurements here")

    with caplog.at_level(logging.WARNING), pytest.raises(WorkerError, match="0 of 3"):
        Flower(Wire(load=load), 3, timeout=0.3).introduce()
    assert caplog.text.count("no file of measurements here") == 3  # once a node


def test_what_a_worker_said_instead_of_an_answer_is_in_the_error():
    def load(context):
        def gradient(x, batch):
            if len(batch) == 4 and context.node_config["partition-id"] == 1:
                raise OSError("disk of measurements is full")
            return np.zeros(2)

        return tether.FiniteSum(gradient, lambda x, batch: 0.0, n_samples=4, dim=2, smoothness=1.0)

    with pytest.raises(WorkerError, match="worker 1 said: disk of measurements is full"):
        run(Wire(load=load), "lbfgs", timeout=0.2)


def test_a_nan_loss_names_the_worker():
    def load(context):
        k = context.node_config["partition-id"]

        def value(x, batch):
            return np.nan if k == 2 and len(batch) == 4 else 0.0

        return tether.FiniteSum(lambda x, batch: np.zeros(2), value, n_samples=4, dim=2, smoothness=1.0)

    with pytest.raises(ValueError, match="worker 2"):
        run(Wire(load=load), "lbfgs")


def test_private_memory_never_travels():
    wire = Wire()
    run(wire, ProxSkipSVRG(), tol=0, max_rounds=6)
    for _, _, answer in wire.seen:
        assert set(answer.content["vectors"]) <= {"point0", "point1", "direction", "hello"}
