"""Penalties in words: l1=1e-3, fused=0.1, "trend(age_*)=0.5"."""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from tether.arrays import Indices
from tether.io.columns import matching
from tether.names import Names
from tether.penalties import L1, differences

KINDS = {"l1": 0, "fused": 1, "trend": 2}  # and the order of the differences
_TERM = re.compile(r"\s*([a-z0-9]+)\s*(?:\(([^()]*)\))?\s*=\s*([^,()\s]+)\s*(?:,|$)")


class Term(NamedTuple):
    """A kind of penalty, its weight, and the columns it is of; all of them, if none is named."""

    kind: str
    lam: float
    columns: tuple[str, ...]


class Coefficients(NamedTuple):
    """The columns of a model, how many coefficients each has, and how many intercepts follow."""

    columns: Names
    outputs: int
    intercepts: int

    @property
    def dim(self) -> int:
        """How many coefficients there are."""
        return len(self.columns) * self.outputs + self.intercepts


def read_penalties(texts: Sequence[str], coefficients: Coefficients) -> list[L1]:
    """Return the penalties that are asked for; none counts an intercept."""
    return [_penalty(term, coefficients) for text in texts for term in terms_of(text)]


def terms_of(text: str) -> list[Term]:
    """Return the terms of one text, or refuse it."""
    found, place = list[Term](), 0
    while place < len(text) or not found:
        match = _TERM.match(text, place)
        if match is None:
            raise ValueError(
                f"--penalty {text!r} cannot be read; write KIND=NUMBER with {', '.join(KINDS)}, as l1=1e-3 "
                'or "fused(age_*)=0.1".'
            )
        found.append(_term(*match.groups()))
        place = match.end()
    return found


def _term(kind: str, columns: str | None, number: str) -> Term:
    if kind not in KINDS:
        raise ValueError(f"--penalty {kind} is none of {', '.join(KINDS)}.")
    try:
        lam = float(number)
    except ValueError:
        lam = math.nan
    if not (math.isfinite(lam) and lam >= 0.0):
        raise ValueError(f"--penalty {kind} must be a finite number >= 0, got {number}.")
    chosen = () if columns is None else tuple(name.strip() for name in columns.split(","))
    return Term(kind, lam, chosen)


def _penalty(term: Term, coefficients: Coefficients) -> L1:
    columns, outputs, intercepts = coefficients
    chosen = np.arange(len(columns))
    if term.columns:
        chosen = np.array(matching(f"--penalty {term.kind}", columns, term.columns))
    if term.kind == "l1":
        weights = np.zeros((len(columns), outputs))
        weights[chosen] = 1.0
        return L1(term.lam, weights=np.concatenate([weights.ravel(), np.zeros(intercepts)]))
    return L1(term.lam, _differences(term, chosen, coefficients))


def _differences(term: Term, chosen: Indices, coefficients: Coefficients) -> sparse.csr_array:
    """Return differences of neighbours among some columns, for each output apart."""
    order = KINDS[term.kind]
    if len(chosen) <= order:
        raise ValueError(f"--penalty {term.kind} needs {order + 1} columns at least, got {len(chosen)}.")
    rows = sparse.coo_array(differences(len(chosen), order))
    (own, columns), width = rows.coords, len(coefficients.columns)
    matrix = sparse.csr_array((rows.data, (own, chosen[columns])), shape=(rows.shape[0], width))
    each = sparse.kron(matrix, sparse.eye_array(coefficients.outputs))
    none = sparse.csr_array((each.shape[0], coefficients.intercepts))
    return sparse.csr_array(sparse.hstack([each, none]))
