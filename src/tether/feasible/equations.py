"""The equations of a problem as one plane: what was given, or all of it in one `Affine`."""

from typing import Any, NamedTuple

import numpy as np

from tether.arrays import Array
from tether.constraints import Affine, Constraint, Unconstrained
from tether.feasible.given import Given, Plane
from tether.feasible.stacking import stacked

PROBED_SIZE = 2_000  # variables up to which equations are found by projecting every one of them
NORMAL_SHARE = 0.5  # of a vector of an orthonormal basis that is normal: projections have eigenvalues 0 and 1


class Block(NamedTuple):
    """The equations of one plane among all of them."""

    plane: Plane
    rows: slice
    matrix: Any


class Equations(NamedTuple):
    """All equations, A x = b, those of planes and below them those that rows became."""

    plane: Constraint
    blocks: tuple[Block, ...]
    n_planes: int  # how many equations are those of planes
    stacked: bool  # whether the plane is made of all of them

    def split(self, normal: Array) -> tuple[Array, Array]:
        """Return the multipliers of planes and of rows that became equations, for a normal A^T lambda."""
        if not self.stacked:
            return self.plane.multipliers(normal), np.zeros(0)
        each = self.plane.multipliers(normal)
        own = [_multipliers(block, each[block.rows]) for block in self.blocks]
        return np.concatenate([np.zeros(0), *own]), each[self.n_planes :]


class Parts(NamedTuple):
    """What equations are made of: one plane as it was given, or the equations of each."""

    alone: Constraint | None
    blocks: tuple[Block, ...]
    right: Array


def parts_of(given: Given, beside: bool) -> Parts:
    """Return the equations that were given; ``beside`` says whether there is anything but one plane."""
    planes = [plane for plane in given.planes if not isinstance(plane.constraint, Unconstrained)]
    if len(planes) == 1 and not beside:
        return Parts(planes[0].constraint, (), np.zeros(0))
    blocks, sides, end = [], [np.zeros(0)], 0
    for plane in planes:
        rows, side = rows_of(plane, given)
        blocks.append(Block(plane, slice(end, end + len(side)), rows))
        sides.append(side)
        end += len(side)
    own = planes[0].constraint if len(planes) == 1 and planes[0].constraint.equations is not None else None
    return Parts(own, tuple(blocks), np.concatenate(sides))


def equations_of(parts: Parts, matrix: Any, right: Array) -> Equations:
    """Return all equations as one plane, those of rows below those of planes."""
    dim = matrix.shape[1]
    if len(right) == 0 and parts.alone is not None:
        return Equations(parts.alone, (), 0, stacked=False)
    if len(right) == 0 and not parts.blocks:
        return Equations(Unconstrained(dim), (), 0, stacked=False)
    whole = stacked([*(block.matrix for block in parts.blocks), matrix], dim)
    plane = Affine(whole, np.concatenate([parts.right, right]))
    return Equations(plane, parts.blocks, len(parts.right), stacked=True)


def rows_of(plane: Plane, given: Given) -> tuple[Any, Array]:
    """Return A and b of a plane; where it does not know them, from its projections."""
    constraint = plane.constraint
    if constraint.equations is not None:
        return constraint.equations
    if given.dim > PROBED_SIZE:
        raise ValueError(
            f"{given.called(plane.item)}, {constraint!r}, has no matrix of equations, which bounds, "
            f"inequalities, penalties and other constraints beside it need for more than {PROBED_SIZE} "
            f"variables, here {given.dim}; give the equations as tether.Affine(A, b) with a matrix A."
        )
    tangent = np.column_stack([constraint.tangent(unit) for unit in np.eye(given.dim)])
    values, vectors = np.linalg.eigh(np.eye(given.dim) - (tangent + tangent.T) / 2.0)
    normals = np.ascontiguousarray(vectors[:, values > NORMAL_SHARE].T)
    return normals, normals @ constraint.project(np.zeros(given.dim))


def _multipliers(block: Block, rows: Array) -> Array:
    constraint = block.plane.constraint
    if constraint.equations is not None:
        return constraint.multipliers_of(rows)
    return constraint.multipliers(block.matrix.T @ rows)
