"""Stop, save, reload, continue: nothing changes."""

import subprocess
import sys
import time

import numpy as np
import pytest

import tether
from tether import Status
from tether.methods import (
    LBFGS,
    NAMES,
    Anderson,
    DelayedASVRG,
    DelayedSGD,
    DelayedSVRG,
    Newton,
    ProxSkip,
    ProxSkipSVRG,
    Regularised,
)

METHODS = {
    **{name: name for name in ("auto", *NAMES)},
    "sgd, last iterate": DelayedSGD(interval=3, stage_length=10, output="last", decay=0.01),
    "svrg, several legs": DelayedSVRG(interval=4, stage_length=11, batch_size=3),
    "svrg, uneven times": DelayedSVRG(interval=(1, 2, 5, 9), stage_length=11, anchor="last"),
    "asvrg, restarts": DelayedASVRG(interval=4, stage_length=11, restart=2, first_step="coupled"),
    "proxskip, random": ProxSkip(interval=4, random=True),
    "proxskip-svrg, several legs": ProxSkipSVRG(interval=4, stage_length=11),
    "proxskip-svrg, random": ProxSkipSVRG(interval=4, stage_length=11, random=True),
    "anderson of svrg": Anderson(DelayedSVRG()),
    "anderson of asvrg": Anderson(DelayedASVRG(interval=9), memory=3),
    "anderson, too large a step": Anderson(ProxSkipSVRG(interval=9, step_size=2.0), memory=2),
    "newton, every time": Newton(refresh=1),
    "newton, every third time": Newton(refresh=3),
    "newton, some samples": Newton(sample=0.5),
    "newton, diagonal": Newton(curvature="diagonal"),
    "regularised svrg": Regularised(DelayedSVRG()),
    "regularised lbfgs": Regularised(LBFGS()),
    "regularised proxskip-svrg": Regularised(ProxSkipSVRG(interval=9)),
    "regularised anderson": Regularised(Anderson(ProxSkipSVRG())),
}


def problem(l2=0.05, seed=0, n=30):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    return tether.GLM(X, np.where(rng.random(n) < 0.5, 1.0, -1.0), loss="logistic", l2=l2)


def constraint(right=1.0):
    return tether.Affine(np.random.default_rng(1).standard_normal((2, 5)), [right, -0.5])


def run(method="dp-svrg", checkpoint=None, max_rounds=30, **options):
    options = {"tol": 0.0, **options}
    return tether.solve(
        problem(), constraint(), method, checkpoint=checkpoint, max_rounds=max_rounds, **options
    )


def stop_every(calls):
    """A callback that stops the run at its n-th call."""
    seen = []

    def callback(result):
        seen.append(result.nit)
        if len(seen) == calls:
            raise StopIteration

    return callback


def assert_same(one, other):
    np.testing.assert_array_equal(one.x, other.x)
    assert (one.fun, one.gap, one.status, one.counts) == (other.fun, other.gap, other.status, other.counts)
    for column in set(one.history.columns) - {"seconds"}:
        np.testing.assert_array_equal(one.history[column], other.history[column])


@pytest.mark.parametrize("label", METHODS)
def test_a_run_cut_by_its_budget_goes_on_bit_for_bit(label, tmp_path):
    method, path = METHODS[label], tmp_path / "run.npz"
    whole = run(method)
    for budget in (7, 8, 19):
        assert run(method, path, budget).status in (Status.MAX_ROUNDS, whole.status)
    assert_same(run(method, path), whole)


@pytest.mark.slow
@pytest.mark.parametrize("label", METHODS)
def test_a_run_stopped_after_every_request_goes_on_bit_for_bit(label, tmp_path):
    method, path = METHODS[label], tmp_path / "run.npz"
    whole = run(method, max_rounds=18)
    for _ in range(400):
        sol = run(method, path, 18, callback=stop_every(1))
        if sol.status is not Status.CALLBACK:
            break
    assert_same(run(method, path, 18), whole)


def test_the_history_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "run.npz"
    first = run(checkpoint=path, max_rounds=11)
    second = run(checkpoint=path, max_rounds=21)
    kept = len(first.history) - 1  # without the closing measurement, which is no part of the run
    for column in first.history.columns:
        np.testing.assert_array_equal(second.history[column][:kept], first.history[column][:kept])
    assert (np.diff(second.history["rounds"]) >= 0).all() and (np.diff(second.history["seconds"]) >= 0).all()
    assert second.seconds > first.seconds


@pytest.mark.parametrize(
    ("method", "options", "status"),
    [
        ("dp-svrg", {"tol": 1e-4}, Status.CONVERGED),
        ("dp-asvrg", {"tol": 1e-4}, Status.CONVERGED),
        ("skip", {"tol": 1e-4}, Status.CONVERGED),
        ("nesterov", {"max_rounds": 8}, Status.MAX_ROUNDS),
        ("p-svrg", {"max_passes": 3}, Status.MAX_PASSES),
        ("lbfgs", {"max_rounds": 5000}, Status.EXHAUSTED),
    ],
)
def test_the_checkpoint_of_a_finished_run_answers_at_once(method, options, status, tmp_path):
    path = tmp_path / "run.npz"
    options = {"max_rounds": 2000, **options}
    first = run(method, path, **options)
    assert first.status is status

    def no_more(result):
        raise AssertionError("the run went on")

    again = run(method, path, callback=no_more, **options)
    assert_same(again, first)


def test_the_checkpoint_of_a_run_that_rounding_ended_answers_at_once(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    y = rng.poisson(np.exp(X @ [0.3, -0.2, 0.5, 0.0]))
    model, path = tether.GLM(X, y, "poisson", l2=1e-3), tmp_path / "run.npz"
    first, again = (tether.solve(model, None, "newton", tol=0.0, checkpoint=path) for _ in range(2))
    assert first.status is again.status is Status.EXHAUSTED
    assert_same(again, first)


def test_a_finished_run_goes_on_when_more_accuracy_is_asked_for(tmp_path):
    path = tmp_path / "run.npz"
    rough = run("nesterov", path, tol=1e-2, max_rounds=500)
    fine = run("nesterov", path, tol=1e-9, max_rounds=500)
    assert rough.success and fine.success and fine.counts.rounds > rough.counts.rounds
    assert_same(fine, run("nesterov", tol=1e-9, max_rounds=500))


def test_a_checkpoint_leaves_one_file_without_pickles(tmp_path):
    path = tmp_path / "run.npz"
    run("skip", path)
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]
    with np.load(path, allow_pickle=False) as file:
        assert {"header", "history", "run.state.inner.x", "run.counts.rounds"} <= set(file)


def test_a_checkpoint_keeps_its_name_whatever_the_suffix(tmp_path):
    path = tmp_path / "my run"
    run("nesterov", str(path), 5)
    assert [file.name for file in tmp_path.iterdir()] == ["my run"]


def test_saving_every_few_seconds_writes_before_the_end(tmp_path, monkeypatch):
    path, seen = tmp_path / "run.npz", []
    monkeypatch.setattr(tether.Engine, "save_every", 0.0)
    run("nesterov", path, 6, callback=lambda result: seen.append(path.exists()))
    assert seen == [False, True, True, True, True]


def test_a_full_disk_costs_neither_the_run_nor_the_older_checkpoint(tmp_path, monkeypatch, caplog):
    path = tmp_path / "run.npz"
    run("nesterov", path, 6)
    before = path.read_bytes()

    def full(file, **arrays):
        file.write(b"half of it")
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez", full)
    assert run("nesterov", path, 12).counts.rounds >= 12
    assert "could not be written: no space left" in caplog.text
    assert path.read_bytes() == before and [file.name for file in tmp_path.iterdir()] == ["run.npz"]


KILLED = """
import importlib.util, sys
import tether
spec = importlib.util.spec_from_file_location("checkpoints", sys.argv[1])
checkpoints = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checkpoints)
tether.Engine.save_every = 0.0
print("ready", flush=True)
checkpoints.run("p-svrg", sys.argv[2], 10_000_000)
"""


def _stamp(path):
    return path.stat().st_mtime_ns if path.exists() else None


def test_a_run_killed_while_it_saves_goes_on_bit_for_bit(tmp_path):
    path = tmp_path / "run.npz"
    rounds = []
    for delay in (0.05, 0.15, 0.25):
        before = _stamp(path)
        child = subprocess.Popen(
            [sys.executable, "-c", KILLED, __file__, str(path)], stdout=subprocess.PIPE, text=True
        )
        try:
            assert child.stdout.readline() == "ready\n"
            deadline = time.monotonic() + 300
            while _stamp(path) == before and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(delay)
        finally:
            child.kill()  # SIGKILL: no handler runs
            child.wait(timeout=300)
            child.stdout.close()
        with np.load(path, allow_pickle=False) as file:
            rounds.append(int(file["run.counts.rounds"]))
    assert rounds[0] < rounds[1] < rounds[2]
    assert_same(run("p-svrg", path, rounds[-1] + 40), run("p-svrg", None, rounds[-1] + 40))
