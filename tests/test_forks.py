"""A process may fork while another of its threads solves: no child inherits a lock that nobody releases."""

import subprocess
import sys

import numpy as np
import pytest

from tether.lazy import lazy

# In a process of its own, because the threads of other tests would take part, and because of the hang.
BUSY = """
import multiprocessing, sys, threading, time
import numpy as np, tether

rng = np.random.default_rng(0)
rows, labels = rng.standard_normal((N_SAMPLES, 10)), rng.integers(0, 2, N_SAMPLES)
constraint = tether.Affine(np.ones((1, 10)), [1.0])
over = threading.Event()

def solve():
    objective = tether.GLM(rows, labels, l2=0.1)
    assert tether.solve(objective, constraint, "proxskip-svrg", max_rounds=3, tol=0.0).x.shape == (10,)

def work():
    while not over.is_set():
        solve()

busy = [threading.Thread(target=work) for _ in range(2)]
for thread in busy:
    thread.start()
hung = 0
for k in range(FORKS):
    child = multiprocessing.get_context("fork").Process(target=solve)
    child.start()
    child.join(60)
    if child.exitcode is None:
        hung += 1
        child.kill()
        child.join()
        break
    assert child.exitcode == 0, child.exitcode
over.set()
for thread in busy:
    thread.join()
print("children that hung:", hung)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("n_samples", "forks"), [(200, 40), (30_000, 8)], ids=["numpy", "compiled"])
def test_children_forked_while_others_solve_can_solve_too(n_samples, forks):
    script = BUSY.replace("N_SAMPLES", str(n_samples)).replace("FORKS", str(forks))
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=280)
    assert run.stdout == "children that hung: 0\n", run.stderr


def test_locks_that_are_held_at_a_fork_are_free_in_the_child():
    script = """
import os, threading, time
import tether.kernels.options
from numba.core.compiler_lock import global_compiler_lock
from tether.threads import _blas, importing, one_blas_thread

def hold():
    with _blas._lock, importing, global_compiler_lock:
        held.set()
        time.sleep(0.2)

held = threading.Event()
holder = threading.Thread(target=hold)
holder.start()
held.wait()
child = os.fork()
if child == 0:
    with one_blas_thread(), importing, global_compiler_lock:
        os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
holder.join()
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert run.stdout == "7\n", run.stderr


def test_a_child_forgets_who_wanted_one_blas_thread_in_its_parent():
    script = """
import os, threading
import numpy
from threadpoolctl import threadpool_limits
from tether.threads import _blas, one_blas_thread

def hold():
    with one_blas_thread():
        held.set()
        over.wait()

threadpool_limits(2, user_api="blas")
held, over = threading.Event(), threading.Event()
holder = threading.Thread(target=hold)
holder.start()
held.wait()
child = os.fork()
if child == 0:
    with one_blas_thread():
        inside = [library.get_num_threads() for library in _blas._libraries]
    after = [library.get_num_threads() for library in _blas._libraries]
    os._exit(7 if set(inside) == {1} and set(after) == {2} else 8)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
over.set()
holder.join()
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert run.stdout == "7\n", run.stderr


class Counted:
    def __init__(self):
        self.times = 0

    @lazy
    def number(self):
        """A number."""
        self.times += 1
        return np.float64(self.times)


def test_a_lazy_attribute_is_computed_once_and_can_be_forgotten():
    counted = Counted()
    assert counted.number == counted.number == 1.0
    del counted.__dict__["number"]
    assert counted.number == 2.0
    assert Counted.number.__doc__ == "A number."
