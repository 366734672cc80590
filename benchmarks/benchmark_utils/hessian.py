"""Hessian-vector products of a problem, for solvers of second order; each counts as a pass."""

import numpy as np
from scipy.sparse.linalg import LinearOperator
from scipy.special import softmax

import tether
from benchmark_utils.solver import Iterative


def hessian_at(solver: Iterative, objective: tether.Objective, x: np.ndarray) -> LinearOperator:
    """Return v -> (grad^2 F(x)) v."""
    quadratic = isinstance(objective, tether.Quadratic)
    product = _of_quadratic(objective) if quadratic else _of_model(objective, x)

    def counted(v: np.ndarray) -> np.ndarray:
        solver.passes += 1
        return product(v.ravel())

    return LinearOperator((objective.dim, objective.dim), matvec=counted, rmatvec=counted, dtype=np.float64)


def _of_quadratic(objective):
    return lambda v: objective.gradient(v) - objective.linear


def _of_model(objective, x):
    design, shape = objective.design, (-1, objective.n_outputs)
    several = objective.n_outputs > 1
    z = design.predict(x.reshape(shape) if several else x)
    weight = softmax(z, axis=1) if several else objective.loss.curvatures(z, objective.y)

    def product(v):
        u = design.predict(v.reshape(shape) if several else v)
        u = weight * (u - (weight * u).sum(axis=1, keepdims=True)) if several else weight * u
        return design.combine(u).ravel() / objective.n_samples + objective.l2 * v

    return product
