"""Ctrl-C: the run ends, and nothing that was found is lost."""

import importlib.util
import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import tether
from tether import Status
from tether.methods import NAMES


class Interruptible:
    """Least squares whose gradient presses Ctrl-C at its n-th call."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self.X, self.y = rng.standard_normal((30, 4)), rng.standard_normal(30)
        self.calls, self.fatal = 0, None
        gram = self.X.T @ self.X / 30
        full = float(np.linalg.eigvalsh(gram)[-1])
        rows = float((self.X**2).sum(axis=1).max())
        mu = float(np.linalg.eigvalsh(gram)[0])
        self.objective = tether.FiniteSum(
            self.gradient,
            self.value,
            30,
            4,
            smoothness=tether.Smoothness(rows, full, mu),
            hessian=lambda x, batch: self.X[batch].T @ self.X[batch] / len(batch),
        )
        assert self.objective.smoothness.convexity == mu  # looks at the gradient a few times, before any run

    def gradient(self, x, batch):
        self.calls += 1
        if self.calls == self.fatal:
            raise KeyboardInterrupt
        rows = self.X[batch]
        return rows.T @ (rows @ x - self.y[batch]) / len(batch)

    def value(self, x, batch):
        return 0.5 * float(np.mean((self.X[batch] @ x - self.y[batch]) ** 2))


CONSTRAINT = tether.Affine(np.array([[1.0, 1.0, 1.0, 1.0], [1.0, -1.0, 0.0, 0.0]]), [1.0, 0.5])


@pytest.mark.parametrize("calls", [1, 2, 37, 100])
@pytest.mark.parametrize("name", sorted({*NAMES, "auto"}))
def test_ctrl_c_in_the_middle_of_a_round_returns_the_best_point_before_it(name, calls):
    source = Interruptible()
    source.fatal = source.calls + calls
    sol = tether.solve(source.objective, CONSTRAINT, name, tol=0.0, max_rounds=150)
    assert sol.status is Status.INTERRUPTED or source.calls < source.fatal
    assert CONSTRAINT.residual(sol.x) < 1e-12
    assert sol.fun == source.value(sol.x, np.arange(30)) <= np.nanmin(sol.history["value"]) + 1e-13


@pytest.mark.parametrize("name", sorted({*NAMES, "auto"}))
def test_an_interrupted_run_goes_on_from_its_checkpoint_bit_for_bit(name, tmp_path):
    def run(source, checkpoint):
        return tether.solve(source.objective, CONSTRAINT, name, tol=0.0, max_rounds=12, checkpoint=checkpoint)

    source, path = Interruptible(), tmp_path / "run.npz"
    source.fatal = source.calls + (3 if name in ("auto", "newton") else 9)  # these are done early
    assert run(source, path).status is Status.INTERRUPTED
    resumed, whole = run(source, path), run(Interruptible(), None)
    np.testing.assert_array_equal(resumed.x, whole.x)
    np.testing.assert_array_equal(resumed.history["value"], whole.history["value"])
    assert resumed.counts == whole.counts and resumed.status is whole.status


def test_ctrl_c_in_the_callback_returns_the_best_point():
    def callback(result):
        if result.nit >= 6:
            raise KeyboardInterrupt

    objective = Interruptible().objective
    sol = tether.solve(objective, CONSTRAINT, "p-svrg", tol=0.0, callback=callback)
    assert sol.status is Status.INTERRUPTED and sol.message.startswith("interrupted")
    assert sol.fun == pytest.approx(objective.value(sol.x), rel=1e-14) and CONSTRAINT.residual(sol.x) < 1e-12


SCRIPT = """
import json, signal, sys
import numpy as np
import tether

signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent in the background ignores it
rng = np.random.default_rng(0)
X = rng.standard_normal((200, 4))
objective = tether.Quadratic(factors=X, linear=np.ones(4))
constraint = tether.Affine(np.ones((1, 4)), [1.0])

def run(checkpoint, max_rounds, callback=None):
    method = tether.methods.DelayedSGD(interval=5)
    return tether.solve(objective, constraint, method, tol=0.0, max_rounds=max_rounds, callback=callback,
                        checkpoint=checkpoint)

def say_when_ready(result):
    if result.nit == 20:
        print("ready", flush=True)

if __name__ == "__main__":
    sol = run(sys.argv[1], 10_000_000, say_when_ready)
    rounds = int(sol.history["rounds"][-1])
    print(json.dumps([sol.status.name, sol.residual, sol.fun, sol.x.tolist(), rounds]), flush=True)
"""


def test_a_real_sigint_ends_a_long_run_cleanly_and_it_can_be_resumed(tmp_path):
    script, path = tmp_path / "long_run.py", tmp_path / "run.npz"
    script.write_text(SCRIPT)
    child = subprocess.Popen(
        [sys.executable, str(script), str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=300)
    finally:
        child.kill()
    assert child.returncode == 0 and err == ""
    status, residual, value, x, rounds = json.loads(out)
    assert status == "INTERRUPTED" and residual < 1e-12

    spec = importlib.util.spec_from_file_location("long_run", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.objective.value(np.array(x)) == value
    resumed, whole = module.run(path, rounds + 20), module.run(None, rounds + 20)
    np.testing.assert_array_equal(resumed.x, whole.x)
    assert resumed.counts == whole.counts
