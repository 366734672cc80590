"""The Flower engine on a grid that hands messages straight to the client app."""

import logging
import threading
import time

import numpy as np
import pandas
import pytest

flwr = pytest.importorskip("flwr")

import tether  # noqa: E402
from tether.engines import Problem, Workers  # noqa: E402
from tether.engines.base import WorkerError  # noqa: E402
from tether.engines.flower import Flower, client_app  # noqa: E402
from tether.methods import Anderson, DelayedSVRG, Newton, Scaffold  # noqa: E402
from tether.polyhedral import Pieces  # noqa: E402
from tether.requests import Descend, Dual  # noqa: E402

DIM = 3


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
    "newton",
    Newton(refresh=3, sample=0.5),
    Newton(curvature="diagonal"),
]


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_messages_change_nothing(nodes, federation, method):
    here = tether.solve(federation, method=method, tol=0, max_rounds=12)
    there = nodes().solve(method, tol=0, max_rounds=12)
    np.testing.assert_allclose(there.x, here.x, rtol=0, atol=1e-13)
    assert there.counts.rounds == here.counts.rounds and there.counts.steps == here.counts.steps


def test_only_vectors_of_the_models_length_and_numbers_leave_a_node(nodes):
    wire = nodes()
    wire.solve("skip", tol=1e-8, max_rounds=10)
    for k, _, answer in wire.seen:
        X, y = nodes.data(k)
        values = {float(v) for v in np.concatenate([X.ravel(), y])}
        for name, array in answer.content["vectors"].items():
            assert array.numpy().shape == (DIM,), name
            assert not values & set(array.numpy().tolist())
        numbers = answer.content.get("numbers", {})
        assert not values & {float(v) for v in numbers.values() if isinstance(v, float)}


@pytest.mark.parametrize(
    "columns", [["a, b", "", "ü  \t'x'"], [0, 1, 2], [7, "7x", 3], ["n" * 900, "b", "c"]]
)
def test_names_travel_so_that_a_constraint_finds_its_variables(nodes, columns):
    def load(context):
        X, y = nodes.data(context.node_config["partition-id"])
        return tether.GLM(pandas.DataFrame(X, columns=columns), y, "squared", l2=0.1)

    A = pandas.DataFrame([[1.0, 0.0, 0.0]], columns=columns[::-1])
    found = nodes(load=load).solve("lbfgs", constraint=tether.Affine(A, [5.0]), tol=1e-8)
    assert found.x[2] == pytest.approx(5.0)
    assert Flower(nodes(load=load), 3).introduce().names == tuple(map(str, columns))


def test_names_of_several_outputs_are_refused_from_afar_too(nodes):
    def load(context):
        X, _ = nodes.data(context.node_config["partition-id"])
        return tether.GLM(pandas.DataFrame(X, columns=list("abc")), np.arange(len(X)) % 2, "multinomial")

    A = pandas.DataFrame([np.eye(6)[0]], columns=list("zyxwvu"))
    with pytest.raises(ValueError, match=r"^A has names such as 'z'"):
        nodes(load=load).solve("lbfgs", constraint=tether.Affine(A, [5.0]))


def test_nodes_must_name_their_columns_alike_or_not_at_all(nodes):
    def load(context, last):
        k = context.node_config["partition-id"]
        X, y = nodes.data(k)
        columns = (["a", "b", "c"], None, last)[k]
        return tether.GLM(X if columns is None else pandas.DataFrame(X, columns=columns), y, "squared")

    same = Flower(nodes(load=lambda context: load(context, ["a", "b", "c"])), 3).introduce()
    assert same.names == ("a", "b", "c")
    with pytest.raises(
        ValueError, match="worker 0 has 'a', 'b', 'c' and worker 2 has 'b', 'a', 'c'; reorder"
    ):
        Flower(nodes(load=lambda context: load(context, ["b", "a", "c"])), 3).introduce()


def run_app(wire, **config):
    """Run the server app with a configuration."""
    from tether.flower import server_app

    settings = {"workers": 3, "timeout": 1.0, "tol": 0.0, "method": "proxskip"}
    named = {name.replace("_", "-"): value for name, value in config.items()}
    server_app()(wire, flwr.app.Context(1, 1, {}, flwr.app.RecordDict(), settings | named))


def test_the_run_configuration_sets_audits_and_budgets(nodes, caplog, monkeypatch):
    monkeypatch.setattr("tether.flower._listen", lambda: caplog.set_level(logging.INFO, "tether"))
    messages = []
    for audit in (0.0, 6.0, 2.0):
        wire, other = nodes(), nodes()
        run_app(wire, audit=audit, max_rounds=20)
        other.solve("proxskip", tol=0, audit=audit or None, max_rounds=20)
        assert len(wire.seen) == len(other.seen)
        messages.append(len(wire.seen))
    assert messages[0] < messages[1] < messages[2]
    run_app(nodes(), max_passes=4.0)
    assert "max_passes is used up" in caplog.text
    run_app(nodes(), max_seconds=1e-6)
    assert "max_seconds is used up" in caplog.text


def test_bytes_are_those_of_the_messages(nodes):
    wire = nodes()
    sol = wire.solve("lbfgs", tol=1e-8)
    sizes = [sum(part.count_bytes() for part in answer.content.values()) for _, _, answer in wire.seen]
    assert 0 < sol.counts.sent <= sum(sizes)
    assert sol.counts.sent > sol.counts.rounds * wire.n * DIM * 8


def test_fewer_than_the_quorum_stop_the_run_and_leave_a_valid_checkpoint(nodes, tmp_path):
    path, wire = tmp_path / "run.npz", nodes()
    whole = nodes().solve("skip", tol=0, max_rounds=14)

    def leave(state):
        if state.nit == 6:
            wire.absent = {0, 2}

    with pytest.raises(WorkerError, match="checkpoint is valid"):
        wire.solve("skip", timeout=0.2, quorum=2, tol=0, max_rounds=14, checkpoint=path, callback=leave)
    wire.absent = set()
    resumed = wire.solve("skip", quorum=2, tol=0, max_rounds=14, checkpoint=path)
    np.testing.assert_array_equal(resumed.x, whole.x)


def test_a_missing_gradient_is_replaced_by_the_last_known_one_and_nothing_is_certified(nodes, caplog):
    wire = nodes()

    def leave(state):
        wire.absent = {1} if state.nit >= 3 else set()

    sol = wire.solve("lbfgs", timeout=0.1, quorum=2, tol=1e-10, max_rounds=9, callback=leave)
    assert "stand in for workers 1" in caplog.text
    assert not sol.success


@pytest.mark.parametrize("request_number", [3, 4], ids=["gradient", "walk"])
def test_a_needed_worker_that_is_not_listed_is_waited_for(nodes, request_number):
    wire, calls = nodes(), []

    def leave(state):
        calls.append(state.nit)
        if len(calls) == request_number:
            wire.absent = {1}
            threading.Timer(0.6, wire.absent.clear).start()

    sol = wire.solve("skip", timeout=0.5, tol=0, max_rounds=6, callback=leave)  # the quorum is everybody
    np.testing.assert_array_equal(sol.x, nodes().solve("skip", tol=0, max_rounds=6).x)


@pytest.mark.parametrize("method", ["skip", "dp-svrg", "lbfgs", "nesterov", "auto"])
def test_stand_ins_do_not_spoil_a_run_that_is_complete_again(nodes, federation, method, caplog):
    wire, calls = nodes(), []

    def leave(state):
        calls.append(state.nit)
        first = 1 if method == "auto" else 4  # Newton's method is done early
        wire.absent = {2} if first <= len(calls) < first + 4 else set()

    sol = wire.solve(method, timeout=0.1, quorum=2, tol=1e-9, max_rounds=300, callback=leave)
    assert "stand in for workers 2" in caplog.text
    assert sol.success
    np.testing.assert_allclose(sol.x, tether.solve(federation, method="lbfgs", tol=1e-12).x, atol=1e-4)


def test_an_answer_to_the_first_asking_counts_when_the_node_was_asked_again(nodes):
    class Slow(nodes):
        """Worker 1's answer to a request arrives when it is asked the next time."""

        held = ()

        def push_messages(self, messages):
            names = super().push_messages(messages)
            for name, message in zip(names, messages, strict=True):
                metadata = message.metadata
                if (metadata.dst_node_id, metadata.message_type) == (101, "train.work"):
                    self.waiting |= dict(self.held)
                    self.held = [(name, self.waiting.pop(name))]
            return names

    sol = Slow().solve("lbfgs", timeout=0.1, tol=0, max_rounds=4)
    np.testing.assert_array_equal(sol.x, nodes().solve("lbfgs", tol=0, max_rounds=4).x)


def test_walks_without_which_there_is_no_quorum_are_awaited_and_asked_for_once(nodes):
    class Slow(nodes):
        """Answers take longer than the timeout."""

        def push_messages(self, messages):
            names = super().push_messages(messages)
            self.due = getattr(self, "due", {}) | dict.fromkeys(names, time.monotonic() + 0.3)
            return names

        def pull_messages(self, names):
            return super().pull_messages([name for name in names if time.monotonic() > self.due[name]])

    wire = Slow()
    sol = wire.solve("proxskip", timeout=0.2, tol=0, max_rounds=4)
    np.testing.assert_array_equal(sol.x, nodes().solve("proxskip", tol=0, max_rounds=4).x)
    walkers = [k for k, _, answer in wire.seen if "point0" in answer.content["vectors"]]
    assert sorted(walkers) == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_a_worker_that_never_sent_a_gradient_cannot_be_replaced(nodes):
    wire = nodes()
    engine = Flower(wire, wire.n, quorum=1, timeout=0.1)
    federation = engine.introduce()
    wire.absent = {2}
    with pytest.raises(WorkerError, match="workers 2"):
        tether.solve(federation, None, "lbfgs", engine=engine)


def test_a_node_that_comes_back_with_other_data_is_not_taken(nodes, caplog):
    sizes = dict.fromkeys(range(3), 20)

    def load(context):
        k = context.node_config["partition-id"]
        X, y = nodes.data(k)
        return tether.GLM(X[: sizes[k]], y[: sizes[k]], "squared", l2=0.1)

    wire = nodes(load=load)
    engine = Flower(wire, 3, quorum=2, timeout=0.2)
    federation = engine.introduce()
    sizes[1] = 5
    wire.app = client_app(load)  # a new process
    wire.contexts[201] = wire.contexts.pop(101)
    engine._roster.look_around()
    assert "worker 1 came back with other data" in caplog.text
    assert federation.n_samples == 60 and 1 not in engine._roster.nodes


# --- wrong calls -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("quorum", [0, 4])
def test_a_quorum_larger_than_the_federation_is_refused(nodes, quorum):
    with pytest.raises(ValueError, match="quorum"):
        Flower(nodes(), 3, quorum=quorum)


def test_workers_that_do_not_come_are_named(nodes):
    wire = nodes()
    wire.absent = {1}
    with pytest.raises(WorkerError, match="missing: 1"):
        Flower(wire, 3, timeout=0.2).introduce()


def test_different_dimensions_are_refused_by_worker(nodes):
    def load(context):
        k = context.node_config["partition-id"]
        return tether.Quadratic(matrix=np.eye(2 + (k == 1)), linear=np.zeros(2 + (k == 1)))

    with pytest.raises(ValueError, match="worker 1 has 3"):
        Flower(nodes(load=load), 3, timeout=1.0).introduce()


def test_a_node_that_cannot_load_its_data_says_why(nodes, caplog):
    def load(context):
        raise FileNotFoundError("no file of measurements here")

    with caplog.at_level(logging.WARNING), pytest.raises(WorkerError, match="0 of 3"):
        Flower(nodes(load=load), 3, timeout=0.3).introduce()
    assert caplog.text.count("no file of measurements here") == 3  # once a node


def test_what_a_worker_said_instead_of_an_answer_is_in_the_error(nodes):
    full = []

    def load(context):
        def gradient(x, batch):
            if full and context.node_config["partition-id"] == 1:
                raise OSError("disk of measurements is full")
            return np.zeros(2)

        return tether.FiniteSum(gradient, lambda x, batch: 0.0, n_samples=4, dim=2, smoothness=1.0)

    engine = Flower(nodes(load=load), 3, timeout=3600.0)
    objective = engine.introduce()
    full.append(True)
    with pytest.raises(WorkerError, match="worker 1 said: disk of measurements is full"):
        tether.solve(objective, None, "lbfgs", engine=engine)


def test_a_nan_loss_names_the_worker(nodes):
    def load(context):
        k = context.node_config["partition-id"]

        def value(x, batch):
            return np.nan if k == 2 and len(batch) == 4 else 0.0

        return tether.FiniteSum(lambda x, batch: np.zeros(2), value, n_samples=4, dim=2, smoothness=1.0)

    with pytest.raises(WorkerError, match="worker 2 sent a loss of nan"):
        nodes(load=load).solve("lbfgs")


def test_second_derivatives_leave_a_node_as_sums_only_and_only_when_they_are_new(nodes):
    wire = nodes()
    wire.solve(Newton(refresh=3), tol=0, max_rounds=8)
    sent = [
        {name: array.numpy().shape for name, array in answer.content["vectors"].items()}
        for _, _, answer in wire.seen
        if "direction" in answer.content["vectors"]
    ]
    triangles = [shapes for shapes in sent if "curvature" in shapes]
    assert all(shapes["curvature"] == (DIM * (DIM + 1) // 2,) for shapes in triangles)
    assert 0 < len(triangles) <= len(sent) / 2


def test_pieces_travel_with_a_walk_and_are_not_kept(nodes, federation):
    pieces = Pieces.of(
        DIM, lower=np.array([-np.inf, 0.1, -np.inf]), left=5.0, right=np.array([0.0, 0.2, 5.0])
    )
    request = Descend(np.array([0.5, 0.2, 0.0]), 6, 0.05, 2, dual=Dual(1.0), pieces=pieces)
    wire = nodes()
    engine, here = Flower(wire, wire.n), Workers()
    afar = Problem(engine.introduce(), tether.Unconstrained())
    near = Problem(federation, tether.Unconstrained())
    there, _ = engine.exchange(afar, request, engine.blank(afar))
    same, _ = here.exchange(near, request, here.blank(near))
    free, _ = here.exchange(near, request._replace(pieces=None), here.blank(near))
    np.testing.assert_allclose(there.end, same.end, rtol=0, atol=1e-14)
    assert there.end[2] == 0.0 and np.abs(there.end - free.end).max() > 0.01
    assert wire.kept(0).pending.descend.pieces is None
