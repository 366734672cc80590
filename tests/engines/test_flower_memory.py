"""Private memory of Flower nodes: kept, lost, damaged, never sent."""

import os
import re
import time

import numpy as np
import pytest

pytest.importorskip("flwr")

import tether
from tether.engines.flower import Flower, node_memory
from tether.engines.flower.client import _caught_up, _memory
from tether.engines.flower.messages import Task
from tether.engines.flower.records import unpack
from tether.methods import Anderson, ProxSkip, ProxSkipSVRG, Scaffold
from tether.requests import Descend


@pytest.mark.parametrize(
    "method", [ProxSkip(interval=5), Anderson(ProxSkipSVRG()), Anderson(ProxSkipSVRG(renew=True))]
)
def test_walks_go_on_with_a_quorum_and_the_duals_still_sum_to_zero(nodes, caplog, method):
    wire = nodes()
    engine = Flower(wire, wire.n, quorum=2, timeout=0.2)
    problem = tether.engines.Problem(engine.introduce(), tether.Unconstrained())
    method = method.prepare(engine.facts(problem))
    state, table = method.start(np.zeros(3)), engine.blank(problem)
    walks = 0
    while walks < 8:  # the last one goes on without worker 1
        request = method.ask(state)
        walks += isinstance(request, Descend)
        wire.absent = {walks % 7} if walks % 3 and isinstance(request, Descend) else set()
        reply, table = engine.exchange(problem, request, table)
        state = method.tell(state, reply)
    wire.absent = set()
    for _ in range(2):  # a task brings the nodes' memory up to date, as often as it is given
        engine.exchange(problem, method.ask(state), table)
        duals = [_duals(wire, k) for k in range(3)]
    assert caplog.text.count("goes on without workers") >= 3
    np.testing.assert_allclose(np.sum(duals, axis=0), 0, atol=1e-12)
    assert np.abs(duals).max() > 0.01


def _duals(wire, k):
    """Return the duals with which a node worked on its last task."""
    task = next(
        unpack(message.content, "task", Task)
        for node, message, _ in reversed(wire.seen)
        if node == k and "task.run" in message.content["numbers"]
    )
    return _caught_up(task, _memory(task, node_memory.read(wire.contexts[100 + k], k, task.run))).duals


@pytest.mark.parametrize("first", [0, 1, 3])
def test_a_method_that_mixes_past_duals_does_without_walks_of_a_worker(nodes, federation, first, caplog):
    class Busy(nodes):
        """Worker 2 has no time for some walks."""

        walks = 0

        def push_messages(self, messages):
            walk = "task.descend.steps" in messages[0].content["numbers"]
            self.absent = {2} if walk and first <= self.walks < first + 3 else set()
            self.walks += walk
            return super().push_messages(messages)

        def get_node_ids(self):
            return sorted(self.contexts)

    best = tether.solve(federation, method="lbfgs", tol=1e-12).fun
    sol = Busy().solve("skip", timeout=0.1, quorum=2, tol=1e-9, max_rounds=300)
    assert caplog.text.count("goes on without workers 2") == 3 and "memory" not in caplog.text
    assert sol.success and sol.fun - best < 1e-8


@pytest.mark.parametrize("method", ["skip", "proxskip", Scaffold(full_gradients=True)], ids=str)
def test_a_worker_that_lost_its_memory_makes_the_method_start_anew(nodes, federation, method, caplog):
    wire = nodes()
    best = tether.solve(federation, method="lbfgs", tol=1e-12).fun

    def forget(state):
        if state.nit == 5:
            wire.forget(1)

    sol = wire.solve(method, tol=1e-9, max_rounds=3000, callback=forget)
    assert "came back without its memory" in caplog.text
    assert sol.success and sol.fun - best < 1e-8


def test_methods_without_private_memory_do_not_notice(nodes, caplog):
    wire = nodes()
    wire.solve("lbfgs", tol=1e-8, callback=lambda state: wire.forget(1))
    assert "memory" not in caplog.text


def test_a_memory_folder_outlasts_node_and_server(nodes, tmp_path, caplog):
    wire, path = nodes(**{"memory-dir": str(tmp_path / "node")}), tmp_path / "run.npz"
    whole = nodes().solve("skip", tol=0, max_rounds=12)
    wire.solve("skip", tol=0, max_rounds=6, checkpoint=path)
    for k in range(wire.n):
        wire.forget(k)
    resumed = wire.solve("skip", tol=0, max_rounds=12, checkpoint=path)
    np.testing.assert_array_equal(resumed.x, whole.x)
    assert "memory" not in caplog.text


def cut(path):
    path.write_bytes(path.read_bytes()[:-100])


def flip(path):
    content = bytearray(path.read_bytes())
    for place in range(len(content) // 2, len(content) // 2 + 64):  # a single byte may be one of padding
        content[place] ^= 0xFF
    path.write_bytes(content)


def replace(path):
    with path.open("wb") as file:
        np.savez(file, mine=np.zeros(3))


DAMAGES = [cut, flip, replace, lambda path: path.write_bytes(b""), lambda path: path.write_bytes(b"words")]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_memory_file_counts_as_lost(nodes, federation, tmp_path, caplog, damage):
    wire = nodes(**{"memory-dir": str(tmp_path)})
    best = tether.solve(federation, method="lbfgs", tol=1e-12).fun

    def spoil(state):
        if state.nit == 5:
            wire.forget(1)
            (path,) = tmp_path.glob("tether-memory-1-*.npz")
            damage(path)

    sol = wire.solve("skip", tol=1e-9, max_rounds=300, callback=spoil)
    assert len(re.findall(r"tether-memory-1-\w+\.npz is damaged", caplog.text)) == 1
    assert caplog.text.count("worker 1 came back without its memory") == 1
    assert sol.success and sol.fun - best < 1e-8


def test_a_node_that_lives_on_does_not_miss_a_damaged_memory_file(nodes, tmp_path, caplog):
    wire = nodes(**{"memory-dir": str(tmp_path)})
    whole = nodes().solve("skip", tol=0, max_rounds=8)
    spoil = lambda state: [cut(path) for path in tmp_path.iterdir()]  # noqa: E731
    spoiled = wire.solve("skip", tol=0, max_rounds=8, callback=spoil)
    np.testing.assert_array_equal(spoiled.x, whole.x)
    assert "is damaged" in caplog.text and "without its memory" not in caplog.text


def test_a_run_does_not_take_another_runs_memory(nodes, tmp_path, caplog):
    wire = nodes(**{"memory-dir": str(tmp_path)})
    first = wire.solve("skip", tol=0, max_rounds=6)
    again = wire.solve("skip", tol=0, max_rounds=6)
    np.testing.assert_array_equal(first.x, again.x)


def test_a_second_run_leaves_the_memory_of_the_first_alone(nodes, tmp_path, caplog):
    wire, path = nodes(**{"memory-dir": str(tmp_path / "node")}), tmp_path / "run.npz"
    whole = nodes().solve("skip", tol=0, max_rounds=12)
    wire.solve("skip", tol=0, max_rounds=6, checkpoint=path)
    wire.solve("skip", tol=0, max_rounds=4)  # another one in the same folder
    for k in range(wire.n):
        wire.forget(k)
    resumed = wire.solve("skip", tol=0, max_rounds=12, checkpoint=path)
    np.testing.assert_array_equal(resumed.x, whole.x)
    assert "memory" not in caplog.text


def test_memory_files_are_for_their_owner_from_the_first_byte(nodes, tmp_path, monkeypatch):
    modes = []

    def spy(file, **arrays):
        modes.append(os.fstat(file.fileno()).st_mode & 0o777)
        savez(file, **arrays)

    savez = np.savez
    monkeypatch.setattr(node_memory.np, "savez", spy)
    nodes(**{"memory-dir": str(tmp_path / "node")}).solve("skip", tol=0, max_rounds=4)
    files = list((tmp_path / "node").iterdir())
    assert len(files) == 3 and {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert set(modes) == {0o600} and (tmp_path / "node").stat().st_mode & 0o777 == 0o700


def test_memory_that_was_not_touched_for_a_month_is_removed_by_the_next_run(nodes, tmp_path):
    wire = nodes(**{"memory-dir": str(tmp_path)})
    wire.solve("skip", tol=0, max_rounds=4)
    old, recent, other = sorted(tmp_path.iterdir())  # of workers 0, 1, 2
    stranger = tmp_path / "tether-memory-0-of-mine"
    month = time.time() - node_memory.KEPT_SECONDS - 60
    stranger.write_text("")
    for path in (old, stranger):
        os.utime(path, (month, month))
    wire.solve("skip", tol=0, max_rounds=4)
    assert not old.exists() and recent.exists() and other.exists()
    assert stranger.exists()
    assert len(list(tmp_path.iterdir())) == 6


def test_a_server_cannot_choose_where_a_node_writes(nodes, tmp_path):
    context = nodes(**{"memory-dir": str(tmp_path)}).contexts[100]
    with pytest.raises(ValueError, match="32 hex digits"):
        node_memory.read(context, 0, "../../etc/passwd")


def test_the_last_measurement_does_without_a_lost_memory(nodes, federation):
    wire = nodes()

    def forget(state):
        if state.nit == 6:
            wire.forget(1)
            raise StopIteration

    sol = wire.solve("proxskip", tol=0, max_rounds=50, callback=forget)
    np.testing.assert_allclose(sol.fun, federation.value(sol.x))


def test_private_memory_never_travels(nodes):
    wire = nodes()
    wire.solve(ProxSkipSVRG(), tol=0, max_rounds=6)
    for _, _, answer in wire.seen:
        assert set(answer.content["vectors"]) <= {"point0", "point1", "direction", "hello"}
