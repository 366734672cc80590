"""Nodes that are broken or dishonest: their messages are refused by name, and what they can do is bounded."""

import logging

import numpy as np
import pytest

pytest.importorskip("flwr")

from flwr.app import Array, ConfigRecord, Error, Message
from flwr.common.constant import ErrorCode

import tether
from tether.engines.base import WorkerError
from tether.engines.flower import Flower, client_app
from tether.methods import Anderson, DelayedSGD, ProxSkip, ProxSkipSVRG, Scaffold
from tether.requests import Descend, Dual, Gradient
from tether.run.solution import Status

DIM = 3


def spoiled(nodes, spoil, kind="train", times=1000):
    """Return nodes of which worker 1 changes its answers."""

    class Spoiled(nodes):
        left = times

        def push_messages(self, messages):
            names = super().push_messages(messages)
            for name, message in zip(names, messages, strict=True):
                metadata = message.metadata
                if metadata.dst_node_id == 101 and metadata.message_type.startswith(kind) and self.left:
                    self.left -= 1
                    spoil(self.waiting[name].content)
            return names

    return Spoiled()


def vector(name, value):
    def spoil(content):
        content["vectors"][name] = Array(np.asarray(value))

    return spoil


def number(name, value):
    def spoil(content):
        content["numbers"][name] = value

    return spoil


def without(record, name=None):
    def spoil(content):
        content.pop(record) if name is None else content[record].pop(name)

    return spoil


def raw(data):
    def spoil(content):
        content["vectors"]["direction"] = Array("float64", (DIM,), "numpy.ndarray", data)

    return spoil


def promise(count):
    """Bytes of a vector whose header promises more numbers than follow."""
    data = Array(np.zeros(DIM)).data
    return data.replace(b"(3,)", f"({count},)".encode(), 1)


GRADIENTS = {
    "broadcast": (vector("direction", [1.0]), r"shape \(1,\)"),
    "huge": (vector("direction", np.zeros(3_000_000)), "24000128 bytes"),
    "missing": (without("vectors", "direction"), "0 gradients where 0 and 1"),
    "surplus": (vector("more", np.zeros(DIM)), "'more' that nobody asked for"),
    "a point": (vector("point0", np.zeros(DIM)), "1 points"),
    "nan": (vector("direction", [0.0, np.nan, 0.0]), "NaN, infinite or too large"),
    "inf": (vector("direction", [0.0, np.inf, 0.0]), "NaN, infinite or too large"),
    "1e300": (vector("direction", [0.0, 1e300, 0.0]), "NaN, infinite or too large"),
    "float32": (vector("direction", np.zeros(DIM, np.float32)), "type float32"),
    "text": (vector("direction", ["a", "b", "c"]), "type <U1"),
    "no numpy": (raw(b"words"), "not in NumPy's format"),
    "promise": (raw(promise(10**12)), r"shape \(1000000000000,\)"),
    "cut": (raw(Array(np.zeros(DIM)).data[:-1]), "23 bytes"),
    "steps": (number("upload.steps", 7), "7 steps where 0"),
    "gradients": (number("upload.gradients", -1), "gradients = -1"),
    "many gradients": (number("upload.gradients", 10**12), "component gradients"),
    "misfit": (number("upload.misfit", -1.0), "misfit = -1"),
    "scale": (number("upload.scale", -1.0), "scale = -1"),
    "value": (number("upload.value", float("nan")), "a loss of nan"),
    "infinite": (number("upload.value", float("inf")), "a loss of inf"),
    "words": (number("upload.value", "low"), "upload.value as str where float"),
    "list": (number("upload.value", [1.0]), "upload.value as list"),
    "no value": (without("numbers", "upload.value"), "upload.value as NoneType"),
    "no numbers": (without("numbers"), "without its record 'numbers'"),
    "no vectors": (without("vectors"), "without its record 'vectors'"),
    "lost": (number("answer.lost", True), "lost memory, though it was asked for none"),
}

WALKS = {
    "broadcast": (vector("point0", [1.0]), r"shape \(1,\)"),
    "missing": (without("vectors", "point0"), "0 points"),
    "surplus": (vector("point1", np.zeros(DIM)), "2 points"),
    "a gradient": (vector("direction", np.zeros(DIM)), "1 gradients"),
    "nan": (vector("point0", np.full(DIM, np.nan)), "NaN, infinite or too large"),
    "steps": (number("upload.steps", 1), "1 steps where"),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_a_bad_gradient_is_asked_for_again_and_then_named_with_its_fault(nodes, name):
    spoil, words = GRADIENTS[name]
    wire = spoiled(nodes, spoil)
    with pytest.raises(WorkerError, match=f"worker 1 .*{words}.*checkpoint is valid"):
        wire.solve("lbfgs", timeout=3600.0)  # nobody waits for a worker that has answered
    assert [k for k, *_ in wire.seen[3:]].count(1) == 3  # after the introductions


@pytest.mark.parametrize("name", WALKS)
def test_a_bad_walk_is_named_with_its_fault(nodes, name):
    spoil, words = WALKS[name]

    def walks_only(content):
        if "point0" in content["vectors"]:
            spoil(content)

    wire = spoiled(nodes, walks_only)
    with pytest.raises(WorkerError, match=f"fewer than the quorum.*worker 1 .*{words}"):
        wire.solve("proxskip", timeout=3600.0)


@pytest.mark.parametrize("name", GRADIENTS)
def test_a_fault_that_does_not_come_back_changes_nothing(nodes, name):
    sol = spoiled(nodes, GRADIENTS[name][0], times=2).solve("lbfgs", tol=0, max_rounds=5)
    np.testing.assert_array_equal(sol.x, nodes().solve("lbfgs", tol=0, max_rounds=5).x)


def test_wrong_json_of_a_node_is_not_even_read(nodes):
    def spoil(content):
        content["kinds"] = ConfigRecord({"kinds": "{", "same": "["})

    sol = spoiled(nodes, spoil).solve("skip", tol=0, max_rounds=4)
    np.testing.assert_array_equal(sol.x, nodes().solve("skip", tol=0, max_rounds=4).x)


def test_the_last_gradient_stands_in_for_a_bad_one(nodes, caplog):
    rounds = [0]

    def spoil(content):
        if rounds[-1] >= 3:
            vector("direction", [1.0])(content)

    callback = lambda state: rounds.append(state.nit)  # noqa: E731
    sol = spoiled(nodes, spoil).solve("lbfgs", quorum=2, tol=1e-10, max_rounds=9, callback=callback)
    assert "stand in for workers 1" in caplog.text and not sol.success


def test_a_walk_goes_on_without_a_bad_one(nodes, caplog):
    def spoil(content):
        if "point0" in content["vectors"]:
            vector("point0", [1.0])(content)

    spoiled(nodes, spoil).solve("proxskip", quorum=2, tol=0, max_rounds=4)
    assert "goes on without workers 1" in caplog.text


def test_walks_that_overflow_on_all_nodes_are_a_divergence_and_nobodys_fault(nodes):
    sol = nodes().solve(DelayedSGD(step_size=1e200, interval=10))
    assert sol.status is Status.DIVERGED


# --- what lies can do ------------------------------------------------------------------------------------


def exchange(wire, request, **settings):
    engine = Flower(wire, wire.n, timeout=5.0, **settings)
    problem = tether.engines.Problem(engine.introduce(), tether.Unconstrained())
    return engine.exchange(problem, request, engine.blank(problem))[0]


def test_a_loss_of_minus_a_million_leaves_the_meaning_of_tol(nodes):
    request = Gradient(np.zeros(DIM))
    honest, lied = exchange(nodes(), request), exchange(spoiled(nodes, number("upload.value", -1e6)), request)
    assert lied.value < -1e5
    assert lied.size <= honest.work.workers[:, 0].max()


def test_a_norm_of_a_billion_leaves_the_meaning_of_tol(nodes):
    request = Gradient(np.zeros(DIM), tangent=False, dual=Dual())
    honest = exchange(nodes(), request)
    lied = exchange(spoiled(nodes, number("upload.scale", 1e9)), request)
    assert lied.scale <= honest.work.workers[:, 1].max()


def test_a_gradient_beyond_the_bound_is_cut_and_certifies_nothing(nodes, caplog):
    lie = vector("direction", [0.0, 1e9, 0.0])
    lied = exchange(spoiled(nodes, lie), Gradient(np.zeros(DIM)), max_change=1e3)
    others = exchange(spoiled(nodes, vector("direction", np.zeros(DIM))), Gradient(np.zeros(DIM)))
    np.testing.assert_allclose(lied.gradient, others.gradient + np.array([0.0, 1e3 / 3, 0.0]))
    assert not lied.complete and others.complete
    assert "the gradient of worker 1 exceeds max_change" in caplog.text


def test_a_walk_beyond_the_bound_is_cut(nodes, caplog):
    walk = Descend(np.full(DIM, 5.0), steps=2, step_size=1e-3, batch_size=None)
    lied = exchange(spoiled(nodes, vector("point0", [5.0, 5.0, 1e9])), walk, max_change=1.0)
    still = exchange(spoiled(nodes, vector("point0", walk.start)), walk)
    np.testing.assert_allclose(lied.end, still.end + np.array([0.0, 0.0, 1 / 3]))
    assert "the change of worker 1 exceeds max_change" in caplog.text


def test_nothing_within_the_bound_changes(nodes, caplog):
    sol = nodes().solve("skip", tol=0, max_rounds=6, max_change=1e6)
    np.testing.assert_array_equal(sol.x, nodes().solve("skip", tol=0, max_rounds=6).x)
    assert "max_change" not in caplog.text


METHODS = [ProxSkip(interval=5), Scaffold(full_gradients=True), Anderson(ProxSkipSVRG(renew=True))]


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_honest_nodes_learn_from_what_the_bound_left_of_their_walks(nodes, method, caplog):
    """Duals that learnt from the uncut walks would no longer sum to what the server assumes."""
    wire = nodes()
    engine = Flower(wire, wire.n, max_change=0.05)
    problem = tether.engines.Problem(engine.introduce(), tether.Unconstrained())
    method = method.prepare(engine.facts(problem))
    state, table = method.start(np.zeros(DIM)), engine.blank(problem)
    for _ in range(9):
        reply, table = engine.exchange(problem, method.ask(state), table)
        state = method.tell(state, reply)
    engine.exchange(problem, Gradient(np.zeros(DIM), tangent=False, dual=Dual()), table)  # settles
    duals = [wire.kept(k).memory.duals[-1] for k in range(wire.n)]
    control = getattr(state, "control", np.zeros(DIM))  # SCAFFOLD's c is the mean of its c_k
    assert "exceeds max_change" in caplog.text and np.abs(duals).max() > 1e-3
    np.testing.assert_allclose(np.mean(duals, axis=0), control, atol=1e-12)


@pytest.mark.parametrize("bound", [-1.0, np.inf, np.nan])
def test_a_bound_that_is_none_is_refused(nodes, bound):
    with pytest.raises(ValueError, match="max_change"):
        Flower(nodes(), 3, max_change=bound)


# --- introductions ---------------------------------------------------------------------------------------


HELLOS = {
    "mass": (number("hello.card.mass", float("nan")), "worker 1 says mass = nan"),
    "weightless": (number("hello.card.mass", 0.0), "mass = 0"),
    "samples": (number("hello.card.n_samples", 0), "n_samples = 0"),
    "dim": (number("hello.card.dim", -3), "dim = -3"),
    "mu": (number("hello.card.smoothness.convexity", float("inf")), "convexity must be"),
    "mu > L": (number("hello.card.smoothness.convexity", 1e9), "convexity must be at most"),
    "draws": (number("hello.card.draws", 10**9), "says draws = 1000000000 for"),
    "most": (number("hello.card.most", -1.0), "says most = -1"),
    "share": (number("hello.card.share", float("nan")), "says share = nan"),
    "words": (number("hello.card.dim", "three"), "hello.card.dim as str"),
    "json": (number("hello.kind", "{"), "settings that cannot be read"),
    "no dict": (number("hello.kind", "[]"), "settings that cannot be read"),
    "deep": (number("hello.kind", "[" * 3000), "settings that cannot be read"),
    "escapes": (number("hello.kind", '{"l2": "\\u001b[31m"}'), "settings that cannot be read"),
    "names": (number("hello.names", '["a", 1.5, "c"]'), "names of variables that cannot be read"),
    "deep names": (number("hello.names", "[" * 3000), "names of variables that cannot be read"),
    "few names": (number("hello.names", '["a", "b"]'), "2 names for 3 variables"),
    "long names": (number("hello.names", f'["{"a" * 2000}", "b", "c"]'), "longer ones than 1000"),
    "no digest": (without("numbers", "hello.digest"), "hello.digest as NoneType"),
    "nothing": (without("numbers"), "without its record"),
}


@pytest.mark.parametrize("name", HELLOS)
def test_a_node_that_says_impossible_things_of_itself_is_refused_at_once(nodes, name):
    spoil, words = HELLOS[name]
    with pytest.raises(WorkerError, match=f"2 of 3 workers came; missing: 1 .*{words}"):
        Flower(spoiled(nodes, spoil, "query"), 3, timeout=3600.0).introduce()


def test_a_node_that_cannot_load_its_data_is_not_waited_for_and_says_why(nodes):
    def load(context):
        if context.node_config["partition-id"] == 1:
            raise FileNotFoundError("no file of measurements here")
        return nodes.load(context)

    cause = "worker 1 is not ready: FileNotFoundError: no file of measurements here"
    with pytest.raises(WorkerError, match=f"missing: 1 .*{cause}"):
        Flower(nodes(load=load), 3, timeout=3600.0).introduce()


def test_the_place_of_a_dead_node_that_is_still_listed_is_waited_for(nodes):
    class Listed(nodes):
        """Node 101 is dead; its successor comes when the link has said so."""

        def push_messages(self, messages):
            names = super().push_messages(messages)
            for name, message in zip(names, messages, strict=True):
                if message.metadata.dst_node_id == 101:
                    error = Error(code=ErrorCode.NODE_UNAVAILABLE, reason="node unavailable")
                    self.waiting[name] = Message(error, reply_to=message)
                    self.contexts[201] = self.contexts[101]
            return names

    wire = Listed()
    engine = Flower(wire, 3, timeout=30.0)
    engine.introduce()
    assert engine._roster.nodes == {0: 100, 1: 201, 2: 102}


def test_a_spare_node_that_is_broken_does_not_hinder(nodes):
    wire = nodes()
    wire.contexts[99] = type(wire.contexts[100])(1, 99, {}, wire.contexts[100].state, {})
    assert Flower(wire, 3, timeout=3600.0).introduce().n_samples == 95


def test_a_node_that_comes_back_broken_is_not_waited_for_and_says_why(nodes):
    broken = []

    def load(context):
        if broken and context.node_config["partition-id"] == 1:
            raise OSError("disk is gone")
        return nodes.load(context)

    wire = nodes(load=load)

    def restart(state):
        if state.nit == 3:
            broken.append(True)
            wire.app = client_app(load)
            wire.contexts[201] = wire.contexts.pop(101)

    with pytest.raises(WorkerError, match="worker 1 is not ready: OSError: disk is gone"):
        wire.solve("lbfgs", timeout=3600.0, tol=0, max_rounds=9, callback=restart)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"l2": 0.2}, "l2 is 0.1 on worker 0 and 0.2 on worker 2"),
        ({"loss": "huber"}, "loss is 'Squared' on worker 0 and 'Huber' on worker 2"),
    ],
)
def test_nodes_with_other_settings_are_refused_by_name(nodes, changes, words):
    def load(context):
        k = context.node_config["partition-id"]
        settings = {"loss": "squared", "l2": 0.1} | (changes if k == 2 else {})
        return tether.GLM(*nodes.data(k), **settings)

    with pytest.raises(ValueError, match=words):
        Flower(nodes(load=load), 3, timeout=5.0).introduce()


def test_a_node_that_comes_back_with_one_other_number_is_not_taken(nodes, caplog):
    correction = []

    def load(context):
        X, y = nodes.data(context.node_config["partition-id"])
        y[0] += sum(correction)
        return tether.GLM(X, y, "squared", l2=0.1)

    wire = nodes(load=load)
    engine = Flower(wire, 3, quorum=2, timeout=0.2)
    engine.introduce()
    correction.append(0.5)
    wire.app = client_app(load)  # a new process
    wire.contexts[201] = wire.contexts.pop(101)
    engine._roster.look_around()
    assert "worker 1 came back with other data" in caplog.text and 1 not in engine._roster.nodes


@pytest.mark.parametrize(
    ("value", "words"),
    [(np.full(DIM, np.nan), "a start with entries that are NaN"), (np.zeros(DIM + 1), r"shape \(4,\)")],
)
def test_a_start_that_is_none_is_refused(nodes, value, words):
    with pytest.raises(WorkerError, match=f"missing: 1 .*{words}"):
        Flower(spoiled(nodes, vector("initial", value), "query"), 3, timeout=3600.0).introduce()


def test_a_run_starts_where_the_nodes_models_start(nodes):
    def load(context):
        objective = nodes.load(context)
        objective.initial = np.arange(DIM) + 1.0
        return objective

    objective = Flower(nodes(load=load), 3).introduce()
    np.testing.assert_array_equal(objective.initial, [1.0, 2.0, 3.0])
    assert Flower(nodes(), 3).introduce().initial is None


def test_one_node_that_is_not_convex_leaves_no_certificate(nodes):
    wire = spoiled(nodes, number("hello.card.convex", False), "query")
    objective = Flower(wire, 3).introduce()
    assert "worker 1" in objective.nonconvexity and not objective.convex
    assert objective.smoothness.convexity == 0.0


# --- what is sent and said -------------------------------------------------------------------------------


def test_a_request_sends_each_vector_once(nodes):
    """The end of a walk is at once what settles a dual, the next anchor and the next start."""
    wire = nodes()
    wire.solve(ProxSkipSVRG(), tol=0, max_rounds=8)
    tasks = [message.content for _, message, _ in wire.seen if "task.run" in message.content["numbers"]]
    for task in tasks:
        assert len(task["vectors"]) == 1, list(task["vectors"])
    kinds = {"task.descend.steps" in task["numbers"] for task in tasks}
    assert kinds == {True, False}


def test_every_exchange_has_a_number_of_its_own_in_the_log(nodes, tmp_path, caplog):
    with caplog.at_level(logging.INFO, "tether"):
        nodes().solve(ProxSkip(interval=5), tol=0, max_rounds=5, checkpoint=tmp_path / "run.npz")
    numbers = [record.args[0] for record in caplog.records if record.msg.startswith("exchange")]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) > 8
