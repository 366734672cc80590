"""Random objectives, each with its formula for the reference."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

import tether
from tether.objectives.losses import Multinomial

from .data import Rows, draw_rows, draw_task
from .formulas import FORMULAS
from .own_losses import OWN
from .reference import Part, Sum

CURVATURE = {"logistic": 0.25, "squared": 1.0, "log-cosh": 1.0}


@dataclass(frozen=True)
class Drawn:
    objective: Any  # as the library gets it
    total: Sum
    words: str
    reach: float  # how far from 0 numbers stay harmless
    n_samples: int
    large: bool = field(default=False)


def draw_objective(rng):
    """Return an objective of a random kind and size."""
    large = rng.random() < 0.02
    kind = rng.choice(["glm", "own", "sum", "factors", "matrix"], p=[0.5, 0.1, 0.15, 0.15, 0.1])
    if kind == "matrix":
        return _matrices(rng)
    task = draw_task(rng, kind, large)
    if rng.random() < 0.25 and task.n_samples > 1:
        return _federation(rng, task)
    everything = np.arange(task.n_samples)
    return Drawn(_build(task, everything), Sum((_part(task, everything),)), task.words, *_sizes(task))


def _sizes(task):
    return task.reach, task.n_samples, task.rows.X.size >= 200_000


def _federation(rng, task):
    n_workers = int(rng.integers(2, 1 + min(5, task.n_samples)))
    split = str(rng.choice(["equal", "unequal", "by label"]))
    order = np.argsort(task.y, kind="stable") if split == "by label" else rng.permutation(task.n_samples)
    edges = np.arange(1, n_workers) * task.n_samples // n_workers
    if split != "equal":
        edges = np.sort(rng.choice(np.arange(1, task.n_samples), n_workers - 1, replace=False))
    groups = np.split(order, edges)
    federation = tether.Federation([_build(task, group) for group in groups])
    total = Sum(tuple(_part(task, group) for group in groups))
    words = f"federation of {n_workers} ({split}: {', '.join(str(len(g)) for g in groups)}); {task.words}"
    return Drawn(federation, total, words, *_sizes(task))


def _part(task, chosen):
    """Return what some samples add to F."""
    weights = np.ones(task.n_samples) if task.weights is None else task.weights
    share = weights[chosen].sum() / weights.sum()
    size = task.rows.X.shape[1] * task.outputs
    return Part(
        task.rows.X[chosen],
        task.y[chosen],
        weights[chosen] / weights.sum(),
        FORMULAS[task.formula],
        task.outputs,
        share * task.l2 * np.eye(size),
        share * (np.zeros(size) if task.linear is None else task.linear),
        share * task.constant,
        task.rows.unit,
    )


def _build(task, chosen):
    """Return the library's objective for some samples."""
    return {"sum": _finite_sum, "factors": _factors}.get(task.kind, _glm)(task, chosen)


def _glm(task, chosen):
    loss = OWN.get(task.formula, task.formula)
    if task.formula == "multinomial" and len(np.unique(task.y[chosen])) < task.outputs:
        loss = Multinomial(n_classes=task.outputs)
    weights = None if task.weights is None else task.weights[chosen]
    labels = (task.y > 0).astype(int) if task.zero_one else task.y
    return tether.GLM(
        task.rows.given[chosen],
        labels[chosen],
        loss,
        l2=task.l2,
        fit_intercept=task.rows.intercept,
        sample_weight=weights,
    )


def _factors(task, chosen):
    return tether.Quadratic(factors=task.rows.given[chosen], linear=task.linear, constant=task.constant)


def _finite_sum(task, chosen):
    X, y, l2, formula = task.rows.X[chosen], task.y[chosen], task.l2, FORMULAS[task.formula]
    n, p = X.shape

    def value(x, batch):
        return formula.values(X[batch] @ x, y[batch]).mean() + l2 / 2 * (x @ x)

    def gradient(x, batch):
        return X[batch].T @ formula.slopes(X[batch] @ x, y[batch]) / len(batch) + l2 * x

    def hessian(x, batch):
        bends = formula.curvatures(X[batch] @ x, y[batch]) / len(batch)
        return (X[batch].T * bends) @ X[batch] + l2 * np.eye(p)

    maximum = CURVATURE[task.formula] * np.square(X).sum(axis=1).max() + l2
    full = CURVATURE[task.formula] * np.linalg.norm(X, 2) ** 2 / n + l2
    known = {
        "number": {"smoothness": maximum, "convexity": l2},
        "all": {"smoothness": tether.Smoothness(maximum, min(full, maximum), l2)},
        "none": {"convexity": l2},
    }[task.constants]
    return tether.FiniteSum(gradient, value, n, p, hessian=hessian, **known)


def _matrices(rng):
    """Return a quadratic by its matrix, or a federation of such."""
    p = int(rng.integers(1, 41))
    count = int(rng.integers(2, 6)) if rng.random() < 0.2 else 1
    rank = p if rng.random() < 0.5 else int(rng.integers(1, p + 1))
    made = [_matrix(rng, p, rank) for _ in range(count)]
    parts = tuple(_matrix_part(C, g, r, count) for C, g, r in made)
    sparse = rng.random() < 0.2
    objectives = [
        tether.Quadratic(matrix=sp.csr_array(C) if sparse else C, linear=g, constant=r) for C, g, r in made
    ]
    words = f"{count} x Quadratic(matrix) of {p} x {p}, rank {rank}{', sparse' if sparse else ''}"
    objective = objectives[0] if count == 1 else tether.Federation(objectives)
    return Drawn(objective, Sum(parts), words, 1.0, count)


def _matrix(rng, p, rank):
    rows: Rows = draw_rows(rng, max(rank, 1), p, plain=True)
    C = rows.X.T @ rows.X / rank
    C = (C + C.T) / 2 if rng.random() < 0.7 else np.eye(p)  # a step or two solve the latter exactly
    inside = rng.random() < 0.7  # then F has a minimum, with or without equations
    g = C @ rng.standard_normal(p) if inside else rng.standard_normal(p)
    return C, g, float(rng.choice([0.0, 3.0]))


def _matrix_part(C, g, r, count):
    none = np.zeros((0, len(g)))
    return Part(none, np.zeros(0), np.zeros(0), None, 1, 2 * C / count, g / count, r / count, 1e-14)
