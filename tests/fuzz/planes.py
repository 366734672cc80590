"""Random constraints, each with its equations written out."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import null_space
from scipy.optimize import LinearConstraint
from scipy.sparse.linalg import aslinearoperator

import tether

from .reference import Plane


@dataclass(frozen=True)
class Drawn:
    constraint: Any  # as the library gets it
    plane: Plane
    words: str
    own_normal: bool = False  # multipliers are the normal part of the gradient itself

    def normal(self, multipliers):
        """Return the vector that multipliers stand for."""
        return multipliers if self.own_normal else self.plane.A.T @ multipliers


def draw_constraint(rng, dim, reach):
    """Return a constraint on so many variables; its feasible set comes as near to 0 as ``reach``."""
    kind = rng.choice(list(KINDS), p=list(SHARES))
    return KINDS[kind](rng, dim, reach)


def _none(rng, dim, reach):
    given = None if rng.random() < 0.7 else tether.Unconstrained()
    return Drawn(given, Plane(np.zeros((0, dim)), np.zeros(0)), "no constraint")


def _affine(rng, dim, reach):
    rank = int(rng.integers(1, dim + 1)) if rng.random() < 0.4 else int(rng.integers(1, 1 + min(dim, 4)))
    A = rng.standard_normal((rank, dim))
    if rng.random() < 0.4:
        A *= rng.random(A.shape) < 0.5
    if rng.random() < 0.5:
        A *= 10.0 ** rng.uniform(-2, 2, (rank, 1))
    if rng.random() < 0.4:
        A = np.vstack([A, rng.standard_normal((int(rng.integers(1, 4)), rank)) @ A])
    if rng.random() < 0.05:
        A = np.vstack([A, np.zeros(dim)])
    A = A[rng.permutation(len(A))]
    zero = rng.random() < 0.4
    b = np.zeros(len(A)) if zero else A @ (reach * _unit(rng, dim))
    form, given = _form(rng, A, b, zero)
    return Drawn(given, Plane(A, b), f"{form} of {len(A)} x {dim}, {'b = 0' if zero else 'b != 0'}")


def _form(rng, A, b, zero):
    form = rng.choice(["dense", "sparse", "operator", "scipy"], p=[0.5, 0.25, 0.15, 0.1])
    if form == "scipy":
        return "LinearConstraint", LinearConstraint(A, b, b)
    matrix = {"dense": A, "sparse": sp.csr_array(A), "operator": aslinearoperator(A)}[form]
    return f"Affine {form}", tether.Affine(matrix) if zero else tether.Affine(matrix, b)


def _flow(rng, dim, reach):
    nodes = int(rng.integers(2, dim + 2))
    tails = rng.integers(0, nodes, dim)
    heads = (tails + rng.integers(1, nodes, dim)) % nodes
    A = np.zeros((nodes, dim))
    A[tails, np.arange(dim)] = 1.0
    A[heads, np.arange(dim)] = -1.0
    flow = np.zeros(dim) if rng.random() < 0.4 else reach * _unit(rng, dim)
    supply = A @ flow
    return Drawn(
        tether.Flow(np.column_stack([tails, heads]), supply),
        Plane(A, supply),
        f"Flow of {nodes} nodes, {dim} edges",
    )


def _range(rng, dim, reach):
    columns = int(rng.integers(1, dim + 1))
    D = rng.standard_normal((dim, columns))
    if rng.random() < 0.3:
        D = np.column_stack([D, D @ rng.standard_normal((columns, 1))])
    outside = null_space(D.T, rcond=1e-10).T
    sparse = rng.random() < 0.3
    given = tether.Range(sp.csr_array(D) if sparse else D)
    words = f"Range {'sparse' if sparse else 'dense'} of {dim} x {D.shape[1]}"
    return Drawn(given, Plane(outside, np.zeros(len(outside))), words, own_normal=True)


def _consensus(rng, dim, reach):
    blocks = int(rng.choice([n for n in range(1, dim + 1) if dim % n == 0]))
    differences = np.eye(blocks)[1:] - np.eye(blocks)[0]
    A = np.kron(differences, np.eye(dim // blocks))
    return Drawn(
        tether.Consensus(blocks), Plane(A, np.zeros(len(A))), f"Consensus of {blocks}", own_normal=True
    )


def _unit(rng, dim):
    v = rng.standard_normal(dim)
    return v / np.linalg.norm(v)


KINDS = {"none": _none, "affine": _affine, "flow": _flow, "range": _range, "consensus": _consensus}
SHARES = (0.15, 0.55, 0.1, 0.1, 0.1)
