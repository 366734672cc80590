"""Quadratic objectives, x^T C x + g^T x without the factor 1/2, as in the paper's LCQP.

C comes as factors (N rows c_i, a finite sum of squares) or as a matrix (one component), two forms behind one
interface; a quadratic's gradient is affine, so the difference of two of them is one product.
"""

import copy
from typing import TYPE_CHECKING, Any, final

import numpy as np

from tether import threads
from tether.arrays import Array, Indices
from tether.curvature import DIAGONAL, SecondOrder
from tether.digest import digest_of
from tether.inputs import number, vector
from tether.kernels.codes import NO_PARAMETERS
from tether.lazy import lazy
from tether.names import column_names
from tether.objectives.base import Evaluation, Kind, Objective, Smoothness, require_form
from tether.objectives.design import COMPILE_FROM
from tether.objectives.quadratic_forms import form_of
from tether.objectives.shares import Shares, shares_of
from tether.objectives.smoothness import Constants, OpenSmoothness
from tether.objectives.walk import Walk, Walked, walk_in_numpy

if TYPE_CHECKING:
    from tether.objectives.compiled import Compiled

_LAZY_NAMES = ("smoothness", "second_order", "shares", "natural_batch", "sample_work", "_compiled")
_BLAS_WIDTH = 1000  # size from which a product with a matrix is worth all threads of BLAS


@final
class Quadratic(Objective):
    r"""A convex quadratic, by the factors of its matrix or by the matrix itself.

    .. math:: F(x) = x^\top C x + g^\top x + r, \qquad C = \frac1N \sum_{i=1}^N c_i c_i^\top,
              \qquad f_i(x) = (c_i^\top x)^2 + g^\top x + r

    There is no factor 1/2: a solver's :math:`\tfrac12 x^\top P x + q^\top x` is ``matrix=P / 2, linear=q``.

    Parameters
    ----------
    factors : array or sparse matrix of shape (N, p), optional
        The rows c_i.
    matrix : array or sparse matrix of shape (p, p), optional
        C, symmetric positive semidefinite; F then is a single component. Give this or ``factors``.
    linear : array of shape (p,), optional
        g, zero by default.
    constant : float
        r.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.objectives import Quadratic
    >>> objective = Quadratic(matrix=np.diag([1.0, 2.0]), linear=[-2.0, 0.0])
    >>> objective.value(np.array([1.0, 0.0]))
    -1.0
    >>> objective.smoothness.full, round(objective.smoothness.convexity, 6)
    (4.0, 2.0)

    References
    ----------
    Li & Zhang, "Delayed Projection Techniques for Linearly Constrained Problems", section 1.1 (LCQP).
    """

    anchored_price = 1
    proven_convex = True

    def __init__(
        self, *, factors: Any = None, matrix: Any = None, linear: Any = None, constant: float = 0.0
    ) -> None:
        if (factors is None) == (matrix is None):
            got = "neither" if factors is None else "both"
            raise ValueError(
                f"Quadratic needs either factors or matrix, got {got}; give exactly one of them."
            )
        self.form = form_of(factors, matrix)
        self.n_samples, self.dim = self.form.n_samples, self.form.dim
        self.linear = np.zeros(self.dim) if linear is None else vector("linear", linear)
        if len(self.linear) != self.dim:
            raise ValueError(f"linear must have length {self.dim}, the width of C, got {len(self.linear)}.")
        self.constant = number("constant", constant)
        self.names = column_names(matrix if factors is None else factors)
        self.uses_blas = factors is None and self.dim >= _BLAS_WIDTH

    @property
    def words(self) -> str:
        """What it is, in a few words."""
        return "a quadratic function"

    def kind(self) -> Kind:
        """Return whether C is given by its factors or as a matrix: their samples count differently."""
        return super().kind() | {"form": self.form.name}

    def digest(self) -> str:
        """Return a hexadecimal digest of the matrix or its factors, the linear part and the constant."""
        return digest_of("Quadratic", *self.form.arrays, self.linear, self.constant)

    def hessian(self) -> tuple[Any, Array] | None:
        """Return 2C and g, where C is given or cheap to form."""
        matrix = self.form.matrix
        return None if matrix is None else (2.0 * matrix, self.linear)

    @lazy
    def second_order(self) -> SecondOrder:
        """What 2C costs to form or to copy; it is the same everywhere."""
        return self.form.second_order()._replace(concordance=0.0)

    def curvature(self, x: Array, form: str, batch: Indices | None = None) -> Array:
        """Return 2 C_B, its lower triangle or its diagonal."""
        require_form(self, form)
        return 2.0 * (self.form.diagonal(batch) if form == DIAGONAL else self.form.triangle(batch))

    def evaluate(self, x: Array) -> Evaluation:
        """Return F(x), its gradient and, of factors, the slopes 2 c_i^T x."""
        if self._compiled is not None:
            value, gradient, slopes = self._compiled.evaluate(x)
            return Evaluation(value + self.constant, gradient, slopes)
        return self.evaluate_in_numpy(x)

    def evaluate_in_numpy(self, x: Array) -> Evaluation:
        """Return what `evaluate` returns, without compiled code."""
        square, gradient, slopes = self.form.evaluate(x)
        return Evaluation(square + float(self.linear @ x) + self.constant, gradient + self.linear, slopes)

    def batch_gradient(
        self, x: Array, batch: Indices | None, anchor: Array | None = None, slopes: Array | None = None
    ) -> Array:
        """Return 2 C_B x + g, or 2 C_B (x - anchor), which needs no slopes."""
        if anchor is None:
            return self.form.product(x, batch) + self.linear
        return self.form.product(x - anchor, batch)

    def cost_of_step(self, walk: Walk) -> int:
        """Return 1: the difference of two gradients is one product."""
        return 1

    def descend(self, walk: Walk) -> Walked:
        """Walk E steps off the constraint, in compiled code where there are many factors."""
        if self._compiled is None or not self._compiled.serves(walk):
            return walk_in_numpy(self, walk)
        return self._compiled.descend(walk)

    @lazy
    def natural_batch(self) -> int:
        """One factor where steps are compiled, else as many as pay for interpreting a step."""
        return super().natural_batch if self._compiled is None else self._compiled.natural_batch

    @lazy
    def sample_work(self) -> float:
        """What a factor of a step takes, compiled or interpreted."""
        return super().sample_work if self._compiled is None else self._compiled.sample_work

    @lazy
    def _compiled(self) -> "Compiled | None":
        """The kernels for many factors; None while they are too few, or for a matrix."""
        design = self.form.design
        if design is None or design.n_entries < COMPILE_FROM:
            return None
        with threads.importing:  # numba takes its time
            from tether.objectives.compiled import FACTOR, Model, compile_model

        zeros, weights = np.zeros(self.n_samples), self.form.weights
        model = Model(FACTOR, NO_PARAMETERS, zeros, weights, linear=self.linear)
        return compile_model(design, model)

    @lazy
    def shares(self) -> Shares | None:
        """Those of factors much longer than the others."""
        if self.form.design is None:
            return None
        return shares_of(2.0 * self.form.design.squared_norms(), self._weighted)

    def _weighted(self, weights: Array) -> "Quadratic":
        other = copy.copy(self)
        for name in _LAZY_NAMES:
            other.__dict__.pop(name, None)
        other.form = copy.copy(self.form)
        other.form.weights = weights
        return other

    @lazy
    def smoothness(self) -> Smoothness:
        """The constants 2 max ||c_i||^2 (or 2 lambda_max), 2 lambda_max(C) and 2 lambda_min(C)."""
        return self.form.smoothness()

    def constants(self) -> Constants:
        """Return the same constants, open: they take eigenvalues."""
        return OpenSmoothness(None, lambda: self.smoothness, exact=True, known=True)
