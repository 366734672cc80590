"""Sets and penalties of all kinds that a prox is made for, drawn by a seed."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from tether.arrays import Array
from tether.constraints import Affine, Constraint, Flow, Range, Unconstrained
from tether.polyhedral import Pieces, Polyhedral


class Case(NamedTuple):
    """A plane, a psi, and somewhere to take the prox."""

    constraint: Constraint
    psi: Polyhedral
    z: Array
    t: Array


def bounds(rng, p):
    """Some variables with walls on one side, on both, or fixed; zero is often feasible but not always."""
    lower = np.where(rng.random(p) < 0.6, rng.choice([-1.0, -0.3, 0.0, 0.2], p), -np.inf)
    upper = np.where(rng.random(p) < 0.6, rng.choice([0.2, 0.5, 1.0], p), np.inf)
    return Pieces.of(p, lower, upper)


def kinks(rng, p):
    """Slopes that differ from variable to variable, and from side to side."""
    return Pieces.of(p, left=rng.random(p) * (rng.random(p) < 0.7), right=rng.random(p))


def scalars(rng, p):
    kind = rng.integers(4)
    nonnegative = Pieces.of(p, lower=0.0)
    return [nonnegative, bounds(rng, p), kinks(rng, p), bounds(rng, p).plus(kinks(rng, p))][kind]


def somewhere(rng, pieces):
    """A point between the walls, at some of them."""
    x = np.clip(rng.normal(size=pieces.size), pieces.lower, pieces.upper)
    wall = np.where(np.isfinite(pieces.lower), pieces.lower, x)
    return np.where(rng.random(pieces.size) < rng.choice([0.0, 0.5, 0.9]), wall, x)


def metric(rng, p):
    return 10 ** rng.uniform(-1, 1, p) if rng.random() < 0.7 else np.ones(p)


def target(rng, p):
    return rng.normal(size=p) * 10 ** rng.uniform(-1, 1)


def separable(rng):
    p = int(rng.integers(1, 20))
    return Case(Unconstrained(), Polyhedral.separable(scalars(rng, p)), target(rng, p), metric(rng, p))


def equations(rng, p, m, pieces):
    """Equations that somewhere between the walls are met; entries are often small whole numbers."""
    A = rng.normal(size=(m, p)) if rng.random() < 0.5 else rng.integers(-1, 2, (m, p)).astype(float)
    x = somewhere(rng, pieces)
    return A, A @ x


def one_equation(rng):
    p = int(rng.integers(1, 20))
    pieces = scalars(rng, p)
    A, b = (np.ones((1, p)), None) if rng.random() < 0.3 else equations(rng, p, 1, pieces)
    b = A @ somewhere(rng, pieces) if b is None else b
    return Case(Affine(A, b), Polyhedral.separable(pieces), target(rng, p), metric(rng, p))


def many_equations(rng):
    p = int(rng.integers(3, 30))
    pieces = scalars(rng, p)
    A, b = equations(rng, p, int(rng.integers(2, max(3, p // 2))), pieces)
    A = sparse.csr_array(A) if rng.random() < 0.5 else A
    return Case(Affine(A, b), Polyhedral.separable(pieces), target(rng, p), metric(rng, p))


def redundant_equations(rng):
    p = int(rng.integers(4, 20))
    pieces = scalars(rng, p)
    A, b = equations(rng, p, 2, pieces)
    mix = rng.integers(-1, 2, (4, 2)).astype(float)
    A, b = np.vstack([A, mix @ A]), np.concatenate([b, mix @ b])
    return Case(Affine(A, b), Polyhedral.separable(pieces), target(rng, p), metric(rng, p))


def vertex(rng):
    """So many equations, and walls, that few or no variables are free at the solution."""
    p = int(rng.integers(4, 12))
    pieces = Pieces.of(p, 0.0, rng.choice([1.0, np.inf], p))
    A, b = equations(rng, p, p - int(rng.integers(1, 3)), pieces)
    return Case(Affine(A, b), Polyhedral.separable(pieces), 5.0 * target(rng, p), metric(rng, p))


def network(rng):
    n, count = 6, 14
    tail = rng.integers(n, size=count)
    edges = np.column_stack([tail, (tail + rng.integers(1, n, size=count)) % n])
    pieces = Pieces.of(count, 0.0, rng.choice([1.0, 2.0, np.inf], count))
    flow = somewhere(rng, pieces)
    supply = np.bincount(edges[:, 0], flow, minlength=n) - np.bincount(edges[:, 1], flow, minlength=n)
    return Case(Flow(edges, supply), Polyhedral.separable(pieces), target(rng, count), metric(rng, count))


def differences(rng, p):
    """First differences with weights, some of them left out."""
    kept = np.flatnonzero(rng.random(p - 1) < rng.choice([0.8, 1.0]))
    kept = kept if len(kept) else np.array([0])
    weight = rng.choice([1.0, -2.0, 0.5], len(kept)) if rng.random() < 0.5 else np.ones(len(kept))
    row = np.arange(len(kept))
    entries = (np.r_[-weight, weight], (np.r_[row, row], np.r_[kept, kept + 1]))
    return sparse.csr_array(entries, shape=(len(kept), p))


def chain(rng):
    p = int(rng.integers(2, 25))
    D = differences(rng, p)
    rows = Pieces.of(D.shape[0], left=rng.random(D.shape[0]), right=2 * rng.random(D.shape[0]))
    pieces = Pieces.of(p) if rng.random() < 0.4 else scalars(rng, p)
    z = target(rng, p)
    return Case(
        Unconstrained(), Polyhedral(pieces, D, rows), np.round(z) if rng.random() < 0.3 else z, metric(rng, p)
    )


def monotone(rng):
    p = int(rng.integers(2, 25))
    D = differences(rng, p)
    rows = Pieces.of(D.shape[0], np.where(rng.random(D.shape[0]) < 0.7, 0.0, -np.inf), right=rng.random())
    pieces = Pieces.of(p) if rng.random() < 0.5 else kinks(rng, p)
    return Case(Unconstrained(), Polyhedral(pieces, D, rows), target(rng, p), metric(rng, p))


def rows_of(rng, p, x):
    """Inequalities that hold at x, at some of them with equality, and penalties of rows."""
    k = int(rng.integers(1, 8))
    K = rng.normal(size=(k, p)) * (rng.random((k, p)) < 0.6)
    gap = rng.random(k) * (rng.random(k) < 0.6)
    upper = np.where(rng.random(k) < 0.6, K @ x + gap, np.inf)
    lower = np.where(rng.random(k) < 0.4, K @ x - rng.random(k), -np.inf)
    slopes = rng.random(k) * (rng.random(k) < 0.4)
    return K if rng.random() < 0.5 else sparse.csr_array(K), Pieces.of(k, lower, upper, slopes, slopes)


def inequalities(rng):
    p = int(rng.integers(2, 15))
    pieces = scalars(rng, p)
    psi = Polyhedral(pieces, *rows_of(rng, p, somewhere(rng, pieces)))
    return Case(Unconstrained(), psi, target(rng, p), metric(rng, p))


def everything(rng):
    p = int(rng.integers(4, 15))
    pieces = scalars(rng, p)
    x = somewhere(rng, pieces)
    A = rng.normal(size=(int(rng.integers(1, 4)), p))
    psi = Polyhedral(pieces, *rows_of(rng, p, x))
    return Case(Affine(A, A @ x), psi, target(rng, p), metric(rng, p))


def span(rng):
    """Vectors D u, zero among them, between walls around zero."""
    p = int(rng.integers(4, 12))
    D = rng.normal(size=(p, int(rng.integers(1, 4))))
    D = sparse.csr_array(D) if rng.random() < 0.5 else D
    pieces = kinks(rng, p).plus(Pieces.of(p, -0.5, rng.choice([0.3, np.inf], p)))
    psi = Polyhedral.separable(pieces)
    if rng.random() < 0.5:
        psi = Polyhedral(pieces, *rows_of(rng, p, np.zeros(p)))
    return Case(Range(D), psi, target(rng, p), metric(rng, p))


KINDS = {
    kind.__name__: kind
    for kind in (
        *(separable, one_equation, many_equations, redundant_equations, vertex, network, chain, monotone),
        *(inequalities, everything, span),
    )
}


def draw(name, seed):
    """Return a case of a kind."""
    return KINDS[name](np.random.default_rng([seed, sorted(KINDS).index(name)]))
