"""Random data: rows of every storage, scale and conditioning, and labels that belong to them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

LOSSES = {
    "glm": ["logistic", "squared", "huber", "poisson", "multinomial"],
    "own": ["log-cosh", "expectile", "tempered"],
    "sum": ["logistic", "squared", "log-cosh"],
    "factors": ["square"],
}
FORMS = {
    "dense": np.asarray,
    "fortran": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
}


@dataclass(frozen=True)
class Rows:
    X: np.ndarray  # every number as it is stored, in float64, the intercept's ones included
    given: Any  # as the library gets it
    intercept: bool
    words: str
    unit: float  # the rounding to grant to sums over these rows


@dataclass(frozen=True)
class Task:
    """Rows with labels, and everything else that an objective is made of."""

    kind: str
    rows: Rows
    y: np.ndarray
    formula: str
    outputs: int
    l2: float
    weights: np.ndarray | None
    linear: np.ndarray | None
    constant: float
    zero_one: bool  # the library gets labels 0 and 1 rather than -1 and 1
    constants: str  # what a FiniteSum is told of its smoothness

    @property
    def words(self):
        parts = [f"{self.kind} {self.formula}", self.rows.words, f"l2={self.l2:.2g}"]
        if self.outputs > 1:
            parts.append(f"{self.outputs} classes")
        if self.weights is not None:
            parts.append("weights")
        if self.kind == "sum":
            parts.append(f"constants {self.constants}")
        return ", ".join(parts)

    @property
    def n_samples(self):
        return len(self.y)

    @property
    def reach(self):
        """How far from 0 the loss stays harmless: exp(z) must not overflow where a run starts."""
        return 1.0 if self.formula != "poisson" else 1.0 / max(1.0, np.linalg.norm(self.rows.X, axis=1).max())


def draw_task(rng, kind, large):
    """Return data, labels and settings for one kind of objective."""
    formula = str(rng.choice(LOSSES[kind]))
    outputs = int(rng.integers(2, 5)) if formula == "multinomial" else 1
    n = 20_000 if large else int(np.exp(rng.uniform(0, np.log(401))))
    width = 12 if large else int(rng.integers(1, 1 + 40 // outputs))
    model = kind in ("glm", "own")
    rows = draw_rows(rng, n, width, plain=kind == "sum", tame=formula == "poisson", intercept=model)
    # Estimates of smoothness look around 0, where the log-cosh of large labels is a straight line.
    estimated = "number" if formula == "log-cosh" else "none"
    return Task(
        kind=kind,
        rows=rows,
        y=_labels(rng, rows.X, formula, outputs),
        formula=formula,
        outputs=outputs,
        l2=0.0 if kind == "factors" or rng.random() < 0.25 else float(10.0 ** rng.uniform(-8, 0)),
        weights=rng.uniform(0.01, 2.0, n) if model and rng.random() < 0.3 else None,
        linear=rng.standard_normal(width) if kind == "factors" and rng.random() < 0.8 else None,
        constant=float(rng.choice([0.0, -2.0])) if kind == "factors" else 0.0,
        zero_one=formula in ("logistic", "tempered") and rng.random() < 0.5,
        constants=str(rng.choice(["number", "all", estimated])),
    )


def draw_rows(rng, n, width, plain=False, tame=False, intercept=False):
    """Return rows; ``plain`` ones are dense float64, ``tame`` ones have no raw scales."""
    shape = str(rng.choice(["even", "stretched", "turned", "raw"], p=[0.3, 0.25, 0.25, 0.2]))
    X = _scaled(rng, rng.standard_normal((n, width)), "even" if tame and shape == "raw" else shape)
    form = str(rng.choice(["dense", "fortran", "float32", "csr"], p=[0.4, 0.1, 0.2, 0.3]))
    form = "dense" if plain else form
    if form == "csr":
        X = X * (rng.random(X.shape) < 0.4)
    stored = FORMS[form](X)
    X = stored.toarray() if form == "csr" else stored.astype(np.float64)
    ones = intercept and rng.random() < 0.3
    if ones:
        X = np.column_stack([X, np.ones(n)])
    unit = 1e-5 if form == "float32" else 1e-14 + 2e-17 * n
    words = f"{n} x {width} {form} {shape}{', intercept' if ones else ''}"
    return Rows(X, stored, ones, words, unit)


def _scaled(rng, X, shape):
    """Return columns of unequal size, turned away from the axes, or as raw as measurements come."""
    width = X.shape[1]
    if shape == "raw":
        return (X + rng.uniform(-3, 3, width)) * 10.0 ** rng.uniform(-2, 3, width)
    if shape in ("stretched", "turned"):
        X = X * np.logspace(0, -rng.uniform(0, 4), width)
    return X @ np.linalg.qr(rng.standard_normal((width, width)))[0] if shape == "turned" else X


def _labels(rng, X, formula, outputs):
    scores = X @ rng.standard_normal((X.shape[1], outputs))
    scores = scores / (scores.std() or 1.0) * rng.uniform(0.3, 3) + 0.5 * rng.standard_normal(scores.shape)
    if formula == "multinomial":
        return scores.argmax(axis=1)
    z = scores[:, 0]
    if formula in ("logistic", "tempered"):
        return np.where(z > 0, 1, -1)
    if formula == "poisson":
        return rng.poisson(np.exp(np.clip(z, -5, 3))).astype(float)
    return z * 10.0 ** rng.uniform(-1, 1)
