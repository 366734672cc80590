"""The prox on a chain: the kernel against a plain twin, and what the answers look like."""

import numpy as np
import pytest
from scipy import sparse

from tether.constraints import Affine, Unconstrained
from tether.kernels.chain import chain_prox
from tether.polyhedral import Pieces, Polyhedral
from tether.prox import Prox
from tether.prox.program import Quadratic
from tether.prox.total_variation import TotalVariation


def twin(z, t, down, up, pieces):
    """Johnson's dynamic programming by its definition: derivatives from scratch, roots by bisection."""
    bound = 10 * (1 + np.abs(z).max() + np.sum(t) * (np.sum(down) + np.sum(up) + 5))

    def derivative(k, x):
        if x < pieces.lower[k]:
            return -np.inf
        if x > pieces.upper[k]:
            return np.inf
        slope = pieces.right[k] if x > 0.0 else -pieces.left[k]
        own = (x - z[k]) / t[k] + slope
        return own if k == 0 else own + min(max(derivative(k - 1, x), -down[k - 1]), up[k - 1])

    def root(k, target):
        low, high = -bound, bound
        for _ in range(200):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if derivative(k, middle) < target else (low, middle)
        return high

    x = np.empty(len(z))
    x[-1] = root(len(z) - 1, 0.0)
    for k in range(len(z) - 2, -1, -1):
        x[k] = min(max(x[k + 1], root(k, -down[k])), root(k, up[k]))
    return x


@pytest.mark.parametrize("seed", range(60))
def test_the_kernel_is_its_twin(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(1, 9))
    z, t = 2 * rng.normal(size=p), 10 ** rng.uniform(-1, 1, p)
    down, up = rng.random((2, p - 1)) * (rng.random((2, p - 1)) < 0.8)
    pieces = Pieces.of(p)
    if seed % 2:
        pieces = pieces.plus(Pieces.of(p, left=rng.random(p), right=rng.random(p)))
    if seed % 3:
        pieces = pieces.plus(Pieces.of(p, rng.choice([-1.0, 0.0, 0.2], p), rng.choice([0.2, 0.5, 1.0], p)))
    x = np.empty(p)
    chain_prox(z, t, down, up, tuple(pieces), x)
    np.testing.assert_allclose(x, twin(z, t, down, up, pieces), atol=1e-9)


def differences(p, weight=1.0):
    return sparse.diags_array(
        [-weight * np.ones(p - 1), weight * np.ones(p - 1)], offsets=[0, 1], shape=(p - 1, p), format="csr"
    )


def chain(p, lam, pieces=None, **walls):
    return Polyhedral(pieces or Pieces.of(p), differences(p), Pieces.of(p - 1, **walls, left=lam, right=lam))


def test_neighbours_that_share_a_value_share_it_exactly():
    rng = np.random.default_rng(0)
    z = np.repeat([0.0, 3.0, -1.0], 50) + 0.005 * rng.normal(size=150)
    found = Prox(Unconstrained(), chain(150, 1.0)).at(z, np.ones(150))
    assert len(np.unique(found.point)) == 3
    assert np.count_nonzero(np.diff(found.point)) == 2


def test_a_strong_penalty_leaves_the_weighted_mean():
    rng = np.random.default_rng(1)
    z, t = rng.normal(size=40), 10 ** rng.uniform(-1, 1, 40)
    found = Prox(Unconstrained(), chain(40, 1e3)).at(z, t)
    np.testing.assert_allclose(found.point, np.full(40, np.sum(z / t) / np.sum(1 / t)), atol=1e-13)


def test_a_monotone_chain_is_isotonic_regression():
    sklearn = pytest.importorskip("sklearn.isotonic")
    rng = np.random.default_rng(2)
    z, t = np.linspace(0, 2, 200) + rng.normal(size=200), 10 ** rng.uniform(-1, 1, 200)
    found = Prox(Unconstrained(), chain(200, 0.0, lower=0.0)).at(z, t)
    expected = sklearn.isotonic_regression(z, sample_weight=1 / t)
    np.testing.assert_allclose(found.point, expected, atol=1e-12)
    assert np.all(np.diff(found.point) >= 0.0)


@pytest.mark.parametrize("lam", [0.1, 10.0, 1000.0])
def test_a_long_chain_is_solved_to_rounding(lam):
    p, rng = 100_000, np.random.default_rng(3)
    z, t = np.cumsum(0.1 * rng.normal(size=p)) + rng.normal(size=p), 10 ** rng.uniform(-1, 1, p)
    psi = chain(p, lam, Pieces.of(p, -5.0, 5.0, 0.1, 0.2))
    found = Prox(Unconstrained(), psi).at(z, t)
    pull = (found.point - z) / t + psi.subgradient(found.duals)
    assert np.abs(pull).max() <= 1e-13 * (1e3 + lam + np.abs(z / t).max())
    assert psi.misfit(found.point, found.duals) == 0.0
    assert 1 < len(np.unique(found.point)) < p


def algorithm(constraint, psi):
    return type(Prox(constraint, psi)._algorithm)


def test_what_is_no_chain_is_a_quadratic_program():
    D, free = differences(5).toarray(), Pieces.of(5)
    rows = Pieces.of(4, left=1.0, right=1.0)
    assert algorithm(Unconstrained(), Polyhedral(free, D, rows)) is TotalVariation
    assert algorithm(Unconstrained(), Polyhedral(free, D[::-1].copy(), rows)) is TotalVariation
    assert algorithm(Affine(np.ones(5)), Polyhedral(free, D, rows)) is Quadratic
    assert algorithm(Unconstrained(), Polyhedral(free, D[[0, 0, 1, 2]], rows)) is Quadratic
    assert algorithm(Unconstrained(), Polyhedral(free, D[:, [0, 2, 1, 3, 4]], rows)) is Quadratic
    assert (
        algorithm(Unconstrained(), Polyhedral(free, np.diff(np.eye(5), 2, axis=0), rows.some(slice(3))))
        is Quadratic
    )
    assert algorithm(Unconstrained(), Polyhedral(free, D, Pieces.of(4, upper=0.5))) is Quadratic
    assert algorithm(Unconstrained(), Polyhedral(Pieces.of(5, 0.0), D, Pieces.of(4, 0.0))) is Quadratic
