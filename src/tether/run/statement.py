"""What a run was about: the problem and what was asked for, in words and numbers."""

from typing import NamedTuple

import numpy as np

from tether.constraints import Affine, Unconstrained
from tether.feasible import Feasible
from tether.feasible.given import Given, Plane, Rows
from tether.names import Labels
from tether.problem import Facts, Problem
from tether.versions import versions

TOTAL = Labels("equation", 1, ("total",))  # of a simplex
Pairs = tuple[tuple[str, str], ...]


class Statement(NamedTuple):
    """A problem as people say it, and what it takes to solve it again.

    Attributes
    ----------
    objective : str
        What is minimised, as "logistic regression with l2 = 0.001".
    penalty : str
        What is added to it, as "an l1 penalty of 8 terms"; empty where nothing is.
    restrictions : tuple of str
        What x must satisfy, as "3 equations"; empty where nothing is asked of it.
    n_samples, dim, n_workers : int
        N, p, and the workers that hold the data.
    variables : Labels
        What the entries of x are called.
    equations, inequalities, terms : tuple of Labels
        What the rows are called that multipliers belong to, in their order.
    settings : tuple of pairs
        The method as it was asked for, seed, accuracy, budgets, engine, in words.
    versions : tuple of pairs
        Of Tether and what it is built on.
    """

    objective: str
    penalty: str
    restrictions: tuple[str, ...]
    n_samples: int
    dim: int
    n_workers: int
    variables: Labels
    equations: tuple[Labels, ...]
    inequalities: tuple[Labels, ...]
    terms: tuple[Labels, ...]
    settings: Pairs
    versions: Pairs

    def __str__(self) -> str:
        """Say it in one sentence."""
        sizes = [counted(self.n_samples, "sample"), counted(self.dim, "variable")]
        sizes += [counted(self.n_workers, "worker")] if self.n_workers > 1 else []
        asked = f", subject to {listed(self.restrictions)}" if self.restrictions else ""
        paid = f" and {self.penalty}" if self.penalty else ""
        return f"{self.objective}{paid}: {', '.join(sizes)}{asked}"

    def is_like(self, other: "Statement") -> bool:
        """Say whether another problem looks the same, so that values of F can be compared."""
        return str(self._replace(n_workers=1)) == str(other._replace(n_workers=1))


def statement_of(problem: Problem, facts: Facts, settings: Pairs) -> Statement:
    """Return what a problem is, as the user gave it."""
    objective, feasible = problem.objective, problem.feasible
    assert feasible is not None
    return Statement(
        objective=objective.words,
        penalty=_penalty(feasible),
        restrictions=tuple(restrictions_of(feasible)),
        n_samples=facts.n_samples,
        dim=objective.dim,
        n_workers=facts.n_workers,
        variables=objective.labels,
        equations=_equations(feasible),
        inequalities=_inequalities(feasible),
        terms=_terms(feasible, objective.labels),
        settings=settings,
        versions=versions(),
    )


def restrictions_of(feasible: Feasible) -> list[str]:
    """Return what x must satisfy, in words."""
    given, found = feasible.given, []
    planes = [plane.constraint for plane in given.planes if not isinstance(plane.constraint, Unconstrained)]
    rows = sum(plane.shape[0] for plane in planes if isinstance(plane, Affine))
    found += [counted(rows, "equation")] if rows else []
    found += [plane.words for plane in planes if not isinstance(plane, Affine)]
    if given.rows is not None:
        found.append(counted(len(given.rows.lower), "inequality", "inequalities"))
    if given.box is not None:
        bounded = int(np.sum(np.isfinite(given.box.lower) | np.isfinite(given.box.upper)))
        found += [f"bounds on {counted(bounded, 'variable')}"] if bounded else []
    return found


def _penalty(feasible: Feasible) -> str:
    terms = feasible.given.terms
    return "" if terms is None else f"an l1 penalty of {counted(len(terms.left), 'term')}"


def _equations(feasible: Feasible) -> tuple[Labels, ...]:
    given = feasible.given
    planes = [plane for plane in given.planes if not isinstance(plane.constraint, Unconstrained)]
    return tuple(_labels(plane, given, alone=len(planes) == 1) for plane in planes)


def _labels(plane: Plane, given: Given, alone: bool) -> Labels:
    """Return what the rows of a plane are called; where there are others, with the item that they are of."""
    if not plane.whole:
        return TOTAL
    if plane.labels:
        return Labels("equation", len(plane.labels), tuple(label.row for label in plane.labels))
    labels = plane.constraint.labels(given.dim)
    return labels if alone or labels.names else labels._replace(of=given.called(plane.item))


def _inequalities(feasible: Feasible) -> tuple[Labels, ...]:
    given = feasible.given
    if given.rows is None:
        return ()
    items = np.unique(given.rows.item)
    return tuple(
        _rows(given.rows, int(item), "" if len(items) == 1 else given.called(int(item))) for item in items
    )


def _rows(rows: Rows, item: int, called: str) -> Labels:
    """Return what the rows of an item are called."""
    labels = rows.label[rows.item == item]
    if labels[0] is None:
        return Labels("inequality", len(labels), of=called)
    return Labels("inequality", len(labels), tuple(label.row for label in labels))


def _terms(feasible: Feasible, variables: Labels) -> tuple[Labels, ...]:
    """Return the names of variables where each has one term in its place, else numbers."""
    terms = feasible.given.terms
    if terms is None:
        return ()
    matrix, count = terms.matrix, len(terms.left)
    diagonal = count == feasible.given.dim == matrix.nnz and bool((matrix.diagonal() != 0.0).all())
    return (variables if diagonal else Labels("term", count),)


def counted(count: int, word: str, plural: str = "") -> str:
    """Return a number and what it counts."""
    return f"{count:,} {word if count == 1 else plural or word + 's'}"


def listed(words: tuple[str, ...]) -> str:
    """Return words as a list in a sentence."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
