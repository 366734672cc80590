"""BLAS stays on one thread while anybody wants that, and gets its threads back afterwards."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import tether
from tether import threads
from tether.threads import all_blas_threads, one_blas_thread


def blas():
    """The threads of each BLAS library by its file; other tests may have loaded some that know only one."""
    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    return {library["filepath"]: library["num_threads"] for library in libraries}


@pytest.fixture
def blas_threads(monkeypatch):
    """How many threads BLAS has now; it begins with two."""
    monkeypatch.setattr(threads, "_blas", threads._Blas())
    with threadpool_limits(2, user_api="blas"):
        ours = [path for path, number in blas().items() if number == 2]
        assert ours
        yield lambda: {number for path, number in blas().items() if path in ours}


def test_those_who_overlap_leave_blas_as_the_first_found_it(blas_threads):
    first, second = ExitStack(), ExitStack()
    first.enter_context(one_blas_thread())
    second.enter_context(one_blas_thread())
    first.close()
    assert blas_threads() == {1}, "the second still wants one"
    second.close()
    assert blas_threads() == {2}


def test_nested_use_ends_with_the_outermost(blas_threads):
    with one_blas_thread():
        with one_blas_thread():
            pass
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_the_threads_can_be_had_back_inside(blas_threads):
    with one_blas_thread(), one_blas_thread():
        with all_blas_threads():
            assert blas_threads() == {2}
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_one_who_wants_them_back_does_not_disturb_another(blas_threads):
    with one_blas_thread(), ThreadPoolExecutor(1) as pool:

        def inside():
            with one_blas_thread(), all_blas_threads():
                return blas_threads()

        assert pool.submit(inside).result() == {1}
    assert blas_threads() == {2}


def test_the_functions_of_the_user_have_all_threads(blas_threads):
    seen = []

    def gradient(x, batch):
        seen.append(blas_threads())
        return x

    objective = tether.FiniteSum(gradient, lambda x, batch: 0.5 * x @ x, 3, 2, smoothness=1.0, convexity=1.0)
    seen.clear()
    start = np.array([3.0, -2.0])
    tether.solve(objective, tether.Affine(np.ones((1, 2)), [1.0]), "dp-svrg", x0=start, tol=0, max_rounds=9)
    assert len(seen) > 5 and all(number == {2} for number in seen)


def test_an_error_inside_gives_the_threads_back(blas_threads):
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        raise ZeroDivisionError
    assert blas_threads() == {2}


def test_a_number_that_was_changed_in_between_is_found_anew(blas_threads):
    with one_blas_thread():
        pass
    with threadpool_limits(3, user_api="blas"):
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {3}


def test_runs_side_by_side_leave_blas_its_threads(blas_threads):
    rng = np.random.default_rng(0)
    objective = tether.GLM(rng.standard_normal((60, 4)), rng.standard_normal(60), "squared", l2=0.1)
    constraint = tether.Affine(np.ones((1, 4)), [1.0])

    def run(seed):
        return tether.solve(objective, constraint, "dp-svrg", tol=0.0, max_rounds=300, seed=seed).x

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(run, range(4)))
    assert blas_threads() == {2}
    np.testing.assert_array_equal(together, [run(seed) for seed in range(4)])
