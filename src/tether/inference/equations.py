"""The equations that coefficients keep to, and the directions that they leave."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import null_space

from tether.arrays import Array
from tether.constraints import Affine, Unconstrained
from tether.expressions import spelled_out
from tether.feasible.given import Given, read
from tether.inputs import InfeasibleError
from tether.names import Labels, Names

RANK = 1e-10  # relative, of singular values that are zero


class Equations(NamedTuple):
    """A x = b, each row with what it says."""

    matrix: Array
    right: Array
    labels: tuple[str, ...]

    @property
    def rank(self) -> int:
        """How many of the rows say something of their own."""
        return int(np.linalg.matrix_rank(_scaled(self.matrix), tol=RANK)) if len(self.labels) else 0

    def basis(self) -> Array:
        """Return Z, whose columns are orthonormal directions that keep A x."""
        if not len(self.labels):
            return np.eye(self.matrix.shape[1])
        return np.asarray(null_space(_scaled(self.matrix), rcond=RANK))

    def fixed(self) -> Any:
        """Return which coefficients they leave no choice."""
        return np.linalg.norm(self.basis(), axis=1) <= RANK

    def require_solution(self, name: str) -> None:
        """Refuse equations that contradict each other."""
        try:
            Affine(self.matrix, self.right)
        except InfeasibleError:
            raise InfeasibleError(
                f"{name} must agree with each other, got {' and '.join(map(repr, self.labels))}; drop one."
            ) from None

    def without(self, places: Any) -> "Equations":
        """Return the other rows."""
        kept = np.setdiff1d(np.arange(len(self.labels)), places)
        return Equations(self.matrix[kept], self.right[kept], tuple(self.labels[k] for k in kept))


def equations_of(constraints: Any, dim: int, variables: Labels, names: Names | None) -> Equations:
    """Return the equations among constraints, as `tether.solve` takes them; inequalities are left out."""
    texts = spelled_out(constraints, lambda: tuple(map(variables.at, range(variables.size))))
    given = read(texts, None, dim, names)
    parts = [*_planes(given), *_rows(given), *_fixed(given, variables)]
    if not parts:
        return Equations(np.zeros((0, dim)), np.zeros(0), ())
    matrices, rights, labels = zip(*parts, strict=True)
    return Equations(np.vstack(matrices), np.concatenate(rights), tuple(one for own in labels for one in own))


def _planes(given: Given) -> list[Equations]:
    found = list[Equations]()
    for plane in given.planes:
        if isinstance(plane.constraint, Unconstrained):
            continue
        if plane.constraint.equations is None:
            raise TypeError(
                f"{given.called(plane.item)} must have its equations at hand for inference, but it is "
                f"{plane.constraint!r}; give it as tether.Affine(A, b) with a matrix."
            )
        matrix, right = plane.constraint.equations
        own = plane.constraint.labels(given.dim) if plane.whole else Labels("equation", 1, ("sum",))
        said = tuple(label.row for label in plane.labels) or tuple(own.at(k) for k in range(len(right)))
        found.append(Equations(_dense(matrix), right, said))
    return found


def _rows(given: Given) -> list[Equations]:
    """Return the rows of LinearConstraints whose sides are equal."""
    rows = given.rows
    if rows is None:
        return []
    equal = np.flatnonzero(rows.lower == rows.upper)
    labels = [
        rows.label[k].row if rows.label[k] else f"row {rows.row[k]} of {given.called(int(rows.item[k]))}"
        for k in equal
    ]
    return [Equations(_dense(rows.matrix[equal]), rows.lower[equal], tuple(labels))] if len(equal) else []


def _fixed(given: Given, variables: Labels) -> list[Equations]:
    """Return variables whose bounds are equal."""
    if given.box is None:
        return []
    fixed = np.flatnonzero(given.box.lower == given.box.upper)
    labels = tuple(f"{variables.at(int(j))} == {given.box.lower[j]:g}" for j in fixed)
    return [Equations(np.eye(given.dim)[fixed], given.box.lower[fixed], labels)] if len(fixed) else []


def _dense(matrix: Any) -> Array:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, dtype=float)


def _scaled(matrix: Array) -> Array:
    """Return rows of length one, so that their units do not decide on the rank."""
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / np.where(lengths > 0.0, lengths, 1.0)
