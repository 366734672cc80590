"""Methods beyond planes: which there are, that they agree, and what they leave exactly where it is."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint

import tether
from tether.feasible import as_feasible
from tether.methods import ProxSkip, ProxSkipSVRG
from tether.region import Region

N, P = 400, 12


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((N, P))
    y = np.where(X @ rng.standard_normal(P) + rng.standard_normal(N) > 0, 1.0, -1.0)
    A = rng.standard_normal((2, P))
    return X, y, A


@pytest.fixture(scope="module")
def objective(data):
    return tether.GLM(data[0], data[1], l2=0.05)


def regions(A):
    rows = LinearConstraint(np.abs(A), -np.inf, 0.8)
    return {
        "l1": (None, tether.L1(0.02)),
        "bounds": (Bounds(-0.2, 0.3), None),
        "equations and x >= 0": ([tether.Affine(np.abs(A), [1.0, 1.2]), tether.NonNegative()], None),
        "simplex": (tether.Simplex(), None),
        "inequalities": ([rows, Bounds(-0.5, 0.5)], None),
        "equations, bounds and l1": ([tether.Affine(A), Bounds(-0.3, 0.4)], tether.L1(0.01)),
        "differences": (None, tether.L1(0.02, tether.differences(P))),
        "all": (
            [tether.Affine(A[:1]), rows, Bounds(-0.5, 0.5)],
            [tether.L1(0.01), tether.L1(0.01, tether.differences(P))],
        ),
    }


CASES = list(regions(np.eye(2, P)))


@pytest.mark.parametrize("method", ["newton", "skip", "proxskip", "proxskip-svrg"])
@pytest.mark.parametrize("case", CASES)
def test_methods_agree(objective, data, case, method):
    constraint, penalty = regions(data[2])[case]
    best = tether.solve(objective, constraint, penalty=penalty, rtol=1e-10)
    found = tether.solve(objective, constraint, method, penalty=penalty, rtol=1e-7, max_passes=20_000)
    assert best.success and found.success, found.message
    assert -best.gap - 1e-12 <= found.fun - best.fun <= found.gap + 1e-12
    assert found.residual <= 1e-10


@pytest.mark.parametrize("method", ["dp-sgd", "p-sgd"])
@pytest.mark.parametrize("case", ["l1", "equations and x >= 0", "simplex", "differences"])
def test_plain_stochastic_steps_come_near(objective, data, case, method):
    constraint, penalty = regions(data[2])[case]
    best = tether.solve(objective, constraint, penalty=penalty, rtol=1e-10)
    found = tether.solve(objective, constraint, method, penalty=penalty, max_passes=8)
    assert found.fun - best.fun <= 0.15 * (best.history["value"][0] - best.fun)
    assert found.residual <= 1e-10


@pytest.mark.parametrize("method", ["lbfgs", "nesterov", "dp-svrg", "dp-asvrg", "scaffold"])
def test_methods_for_planes_say_so(objective, method):
    with pytest.raises(ValueError, match="needs a constraint made of equations: there are bounds"):
        tether.solve(objective, Bounds(0.0, 1.0), method)


@pytest.mark.parametrize("method", ["newton", "skip"])
def test_zeros_and_bounds_are_exact(objective, data, method):
    constraint, penalty = regions(data[2])["equations, bounds and l1"]
    sol = tether.solve(objective, constraint, method, penalty=penalty, rtol=1e-8, max_passes=20_000)
    near = [np.abs(sol.x - wall) < 1e-6 for wall in (-0.3, 0.0, 0.4)]
    assert sum(map(np.count_nonzero, near)) >= 3
    for wall, at in zip((-0.3, 0.0, 0.4), near, strict=True):
        assert np.all(sol.x[at] == wall)
    assert np.array_equal(sol.active.penalty, sol.x == 0.0)
    assert np.array_equal(sol.active.bounds, (sol.x == 0.4).astype(int) - (sol.x == -0.3))


def test_newton_converges_quadratically_once_the_face_stands_still(objective, data):
    constraint, penalty = regions(data[2])["all"]
    sol = tether.solve(objective, constraint, "newton", penalty=penalty, rtol=1e-13)
    best = sol.history["value"].min()
    falls = sol.history["value"] - best
    falls = falls[falls > 1e-14]
    assert len(sol.history) <= 12
    assert falls[-1] <= 10.0 * np.sqrt(falls[-2]) * falls[-2]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("method", ["newton", "skip", "proxskip"])
def test_a_federation_finds_what_one_machine_finds(data, case, method):
    X, y, A = data
    constraint, penalty = regions(A)[case]
    parts = np.array_split(np.argsort(y, kind="stable"), 3)
    workers = tether.Federation([tether.GLM(X[part], y[part], l2=0.05) for part in parts])
    alone = tether.solve(tether.GLM(X, y, l2=0.05), constraint, penalty=penalty, rtol=1e-10)
    found = tether.solve(workers, constraint, method, penalty=penalty, rtol=1e-7, max_passes=20_000)
    assert found.success, found.message
    assert -alone.gap - 1e-12 <= found.fun - alone.fun <= found.gap + 1e-12


@pytest.mark.parametrize("method", ["newton", ProxSkipSVRG(inside=True), "skip", ProxSkip()], ids=repr)
@pytest.mark.parametrize("case", ["l1", "all"])
def test_a_run_that_is_stopped_goes_on_bit_for_bit(objective, data, case, method, tmp_path):
    constraint, penalty = regions(data[2])[case]
    settings = {"penalty": penalty, "rtol": 1e-15}
    whole = tether.solve(objective, constraint, method, max_rounds=15, **settings)
    path = tmp_path / "run.npz"
    for rounds in range(1, 16):
        part = tether.solve(objective, constraint, method, checkpoint=path, max_rounds=rounds, **settings)
    assert part.status is whole.status
    assert np.array_equal(part.x, whole.x) and part.fun == whole.fun


@pytest.mark.parametrize("method", ["dp-sgd", "skip", "proxskip"])
def test_a_walk_out_of_all_bounds_leaves_the_best_point_before_it(method):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4)) * [1e4, 1.0, 1e2, 1e-3]
    objective = tether.GLM(X, rng.gamma(2.0, 1.0, 40), "gamma")
    rows = LinearConstraint(rng.standard_normal((2, 4)), -1.0, 1.0)
    sol = tether.solve(objective, [tether.Affine(np.ones((1, 4))), rows], method, max_passes=30)
    assert np.isfinite(sol.x).all() and sol.residual < 1e-9
    assert sol.fun <= objective.value(np.zeros(4)) * (1 + 1e-12)


def test_projections_of_what_is_not_finite_are_refused():
    region = Region(as_feasible(Bounds(0.0, 1.0), None, 2))
    for act in (region.project, lambda z: region.prox(z, np.ones(2))):
        with pytest.raises(ArithmeticError, match="must be finite"):
            act(np.array([0.5, np.nan]))
    assert np.isnan(region.lost.point).all()


def test_a_model_that_overflows_has_no_minimum_and_no_error():
    region = Region(as_feasible([Bounds(-np.inf, [0.0, np.inf])], None, 2))
    far, steep = np.array([-1e200, 1e200]), np.diag([1e200, 1e150])
    assert region.least(steep, far, np.ones(2), None) is None
    assert region.least(np.eye(2), np.ones(2), np.ones(2), None).point == pytest.approx([0.0, 0.0])


def test_rows_of_any_length_are_kept_to_by_newtons_method():
    rng = np.random.default_rng(18)
    X = rng.standard_normal((32, 5))
    objective = tether.GLM(X, X.sum(axis=1) + rng.standard_normal(32), "squared")
    G, sizes = rng.standard_normal((5, 5)), np.array([1e8, 1e-4, 1e3, 1e-6, 1.0])
    plain, uneven = (
        tether.solve(objective, LinearConstraint(size[:, None] * G, -np.inf, 0.1 * size), "newton", tol=1e-9)
        for size in (np.ones(5), sizes)
    )
    assert plain.success and uneven.success
    np.testing.assert_allclose(uneven.x, plain.x, atol=1e-7)
    np.testing.assert_allclose(
        sizes * uneven.multipliers.inequalities, plain.multipliers.inequalities, atol=1e-6
    )
