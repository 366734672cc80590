"""Columns far from zero, such as years or times in seconds: fitted around their means, told as they are.

Products of rows with a column of mean m and spread s lose (m / s)^2 of their digits. With an intercept the
model is the same around the means: only the intercept is another, b0 = b0' - m'b.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tether.arrays import Array
from tether.estimators.restrictions import Restrictions

FAR = 1e4  # a mean, in spreads, from which on a column is centred
LOOKED_AT = 1000  # rows that tell whether it is


class Centre(NamedTuple):
    """Where columns are fitted around: their mean, or 0; the intercept is the last of the coefficients."""

    means: Array
    outputs: int

    def around(self, X: Any) -> Any:
        """Return rows, less what columns are fitted around."""
        return X - self.means.astype(X.dtype)

    def restricted(self, restrictions: Restrictions) -> Restrictions:
        """Return what coefficients must satisfy where the intercept is that of the centre."""
        blocks = (block._replace(matrix=self._around(block.matrix)) for block in restrictions.blocks)
        return restrictions._replace(blocks=tuple(blocks))

    def inward(self, x: Array) -> Array:
        """Return coefficients with the intercept of the centre."""
        return self._moved(x, 1.0)

    def outward(self, x: Array) -> Array:
        """Return coefficients with the intercept at zero."""
        return self._moved(x, -1.0)

    def _moved(self, x: Array, sign: float) -> Array:
        weights = x.reshape(-1, self.outputs).copy()
        weights[-1] += sign * (self.means @ weights[:-1])
        return weights.ravel()

    def _around(self, matrix: sparse.csr_array) -> sparse.csr_array:
        """Return rows over names, or over all coefficients, where the intercept is the centre's."""
        out = sparse.eye_array(len(self.means) + 1).tolil()
        out[-1, :-1] = -self.means
        each = sparse.eye_array(matrix.shape[1] // out.shape[0])
        return sparse.csr_array(matrix @ sparse.kron(out, each))


def centre_of(X: Any, restrictions: Restrictions) -> Centre | None:
    """Return where to fit a table around; None without an intercept, or where no column is far from zero."""
    if sparse.issparse(X) or not restrictions.variables.intercept:
        return None
    some = X[:: max(1, len(X) // LOOKED_AT)]
    far = np.flatnonzero((np.abs(some.mean(axis=0)) > FAR * some.std(axis=0)) & (np.ptp(some, axis=0) > 0.0))
    if not len(far):
        return None
    means = np.zeros(X.shape[1])
    means[far] = X[:, far].mean(axis=0, dtype=np.float64).astype(X.dtype)
    return Centre(means, restrictions.variables.outputs)
