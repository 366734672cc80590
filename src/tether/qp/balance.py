"""Rows of similar lengths: those of A and K are divided by powers of two, which changes no digit.

Interior points bear rows of very different lengths badly, however a program is balanced inside them.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tether.arrays import Array
from tether.polyhedral import Duals
from tether.qp.program import Answer, Program
from tether.qp.yardstick import lengths

SIMILAR = 64.0  # lengths from 1 / 64 to 64 are left alone


class Balance(NamedTuple):
    """By what rows are divided."""

    equations: Array
    rows: Array

    @classmethod
    def of(cls, program: Program) -> "Balance | None":
        """Look at a program; None where nothing needs to be done."""
        found = cls(_powers(program.plane[0]), _powers(program.polyhedral.matrix))
        return None if all(bool((part == 1.0).all()) for part in found) else found

    def program(self, program: Program) -> Program:
        """Return a program with rows that were divided."""
        psi, (matrix, b) = program.polyhedral, program.plane
        rows = psi.rows._replace(
            lower=psi.rows.lower / self.rows,
            upper=psi.rows.upper / self.rows,
            left=psi.rows.left * self.rows,
            right=psi.rows.right * self.rows,
        )
        return program._replace(
            equations=(_divided(matrix, self.equations), b / self.equations),
            polyhedral=psi._replace(matrix=_divided(psi.matrix, self.rows), rows=rows),
        )

    def there(self, answer: Answer) -> Answer:
        """Return an answer to the program as one to the balanced program."""
        duals = Duals(answer.duals.coordinates, answer.duals.rows * self.rows)
        return answer._replace(equalities=answer.equalities * self.equations, duals=duals)

    def back(self, answer: Answer) -> Answer:
        """Return an answer to the balanced program as one to the program."""
        duals = Duals(answer.duals.coordinates, answer.duals.rows / self.rows)
        return answer._replace(equalities=answer.equalities / self.equations, duals=duals)


def _powers(matrix: Any) -> Array:
    """Return for each row the power of two that is next to its length; 1 where that is near 1, or zero."""
    sizes = lengths(matrix)
    far = (sizes > 0.0) & ((sizes < 1.0 / SIMILAR) | (sizes > SIMILAR))
    return np.where(far, np.exp2(np.round(np.log2(np.where(far, sizes, 1.0)))), 1.0)


def _divided(matrix: Any, sizes: Array) -> Any:
    if isinstance(matrix, np.ndarray):
        return matrix / sizes[:, None]
    return sparse.csr_array(sparse.diags_array(1.0 / sizes) @ matrix)
