"""Linear models in compiled code: which kernel serves which data.

Steps on sparse rows cost the row's non-zeros; dense rows are used where they lie. Full passes use all cores.
Everything has a twin in plain NumPy.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tether import threads
from tether.arrays import Array
from tether.kernels import dense, dense_one, sparse_outputs
from tether.kernels import sparse as sparse_one
from tether.kernels.arguments import NO_ARRAY, Mean, Samples, Steps, csr, unsigned
from tether.kernels.codes import CODES, FACTOR
from tether.objectives.base import Evaluation
from tether.objectives.design import COMPILE_FROM, DenseDesign, Design, SparseDesign, WithOnes
from tether.objectives.ridge import NO_RIDGE, Ridge
from tether.objectives.walk import Averaging, Walk, Walked
from tether.polyhedral import Pieces

__all__ = ["FACTOR", "Compiled", "Model", "compile_model"]

SCATTERED_READ = 16  # numbers of a dense row that are read while one of a sparse row is found
_LONGEST_ORDER = 4_000_000  # sample numbers that a walk with full gradients may write down


class Model(NamedTuple):
    """A linear model: F(x) = (1/N) sum_i w_i loss(<a_i, x> + o_i, y_i) + ridge(x) + <linear, x>."""

    code: int
    parameters: tuple[float, float]
    y: NDArray[Any]
    weights: Array | None = None
    offset: Array | None = None
    n_outputs: int = 1
    ridge: Ridge = NO_RIDGE
    linear: Array | None = None


def compile_model(design: Design, model: Model) -> "Compiled":
    """Return the kernels for a model of this data."""
    if model.code not in CODES:
        raise ValueError(f"code must be one that kernels know, got {model.code}; see tether.kernels.codes.")
    ones = isinstance(design, WithOnes)
    inner = design.design if isinstance(design, WithOnes) else design
    if isinstance(inner, SparseDesign):
        return CompiledSparse(model, ones, inner.matrix)
    assert isinstance(inner, DenseDesign)
    return CompiledDense(model, ones, inner.matrix)


class Compiled(ABC):
    """The two jobs of an objective, compiled: full passes and walks."""

    def __init__(self, model: Model, ones: bool, shape: tuple[int, int]) -> None:
        weights, offset = (NO_ARRAY if part is None else part for part in (model.weights, model.offset))
        self.model = model
        self.samples = Samples(model.code, model.parameters, model.y, weights, offset, ones)
        self.n_samples = shape[0]
        self.parts = threads.CORES if shape[0] * shape[1] >= COMPILE_FROM else 1  # of a full pass
        self.dim = (shape[1] + ones) * model.n_outputs

    @property
    @abstractmethod
    def walks(self) -> bool:
        """Whether kernels can take steps with the ridge of the model."""

    @abstractmethod
    def pass_over(self, x: Array) -> tuple[float, Array, Array]:
        """Return the sum of losses, the slopes and the sum of gradients."""

    @abstractmethod
    def take_steps(self, steps: Steps, mean: Mean, pieces: Pieces | None, x: Array, total: Array) -> float:
        """Walk from x, in place, and return the weight of the running sum."""

    @abstractmethod
    def bears(self, walk: Walk) -> bool:
        """Say whether kernels can take steps with the pieces of a walk."""

    @property
    @abstractmethod
    def natural_batch(self) -> int:
        """The batch size at which steps are efficient."""

    @property
    @abstractmethod
    def sample_work(self) -> float:
        """What a sample of a step takes, in numbers of a dense row."""

    def evaluate(self, x: Array) -> Evaluation:
        """Return F(x), its gradient and the slopes of all samples, in one pass."""
        model = self.model
        value, slopes, gradient = self.pass_over(np.ascontiguousarray(x))
        value /= self.n_samples
        gradient /= self.n_samples
        if model.ridge.largest:
            value += model.ridge.value(x)
            gradient += model.ridge.weights * x
        if model.linear is not None:
            value += float(np.einsum("i,i->", model.linear, x))
            gradient += model.linear
        return Evaluation(value, gradient, slopes[:, 0] if model.n_outputs == 1 else slopes)

    def serves(self, walk: Walk) -> bool:
        """Say whether slopes at an anchor are kept; full gradients are for threads if cores are free."""
        if walk.anchor is not None and walk.slopes is None:
            return False
        if _acting(walk.pieces) is not None and not self.bears(walk):
            return False
        return walk.batches is not None or (
            threads.all_taken() and walk.steps * self.n_samples <= _LONGEST_ORDER
        )

    def descend(self, walk: Walk) -> Walked:
        """Take the steps of a walk."""
        if walk.batches is None:
            everybody = np.broadcast_to(np.arange(self.n_samples), (walk.steps, self.n_samples))
            walk = walk._replace(batches=everybody)
        x, average = walk.start.copy(), walk.averaging
        total = NO_ARRAY if average is None else average.total.copy()
        steps = self._steps(walk)
        weight = self.take_steps(steps, _mean(average), _acting(walk.pieces), x, total)
        summed = None if average is None else average._replace(total=total, weight=weight)
        return Walked(x, summed, len(steps.order))

    def _steps(self, walk: Walk) -> Steps:
        assert walk.batches is not None
        slopes = np.empty((0, self.model.n_outputs))
        if walk.slopes is not None:
            slopes = walk.slopes.reshape(self.n_samples, self.model.n_outputs)
        order = unsigned(np.ascontiguousarray(walk.batches).ravel())
        order.setflags(write=False)  # always, or else kernels would be compiled for both kinds
        return Steps(
            order,
            walk.batches.shape[1],
            walk.step_size,
            walk.decay,
            walk.clock,
            self.model.ridge.common + walk.ridge,
            self._excess(),
            self._drift(walk),
            slopes,
        )

    @abstractmethod
    def _excess(self) -> Array:
        """Return what coefficients are shrunk by beyond the common ridge, as kernels see it."""

    def _drift(self, walk: Walk) -> Array:
        """Return the part of every step that does not change during the walk."""
        parts = [] if walk.shift is None else [walk.shift]
        if walk.anchor is not None and self.model.ridge.largest:
            parts.append(-self.model.ridge.weights * walk.anchor)
        if walk.anchor is None and self.model.linear is not None:
            parts.append(self.model.linear)
        return np.ascontiguousarray(sum(parts[1:], parts[0])) if parts else NO_ARRAY


class CompiledSparse(Compiled):
    """Rows of a CSR matrix."""

    def __init__(self, model: Model, ones: bool, matrix: sparse.csr_array) -> None:
        super().__init__(model, ones, matrix.shape)
        self.rows = csr(matrix)

    @property
    def kernels(self) -> Any:
        """Those for one output, or for several."""
        return sparse_one if self.model.n_outputs == 1 else sparse_outputs

    @property
    def walks(self) -> bool:
        """Whether all coefficients but those of the ones share one ridge."""
        excess = self.model.ridge.excess
        return excess is None or (self.samples.ones and not excess[: -self.model.n_outputs].any())

    def _excess(self) -> Array:
        excess = self.model.ridge.excess
        return NO_ARRAY if excess is None else excess[-self.model.n_outputs :]

    @property
    def natural_batch(self) -> int:
        """One sample: a step costs its non-zeros."""
        return 1

    @property
    def sample_work(self) -> float:
        """The non-zeros of a row, each of which takes much longer than where it lies beside the next."""
        return max(1.0, SCATTERED_READ * len(self.rows.data) / self.n_samples * self.model.n_outputs)

    def pass_over(self, x: Array) -> tuple[float, Array, Array]:
        """Return the sum of losses, the slopes and the sum of gradients."""
        slopes = np.empty((self.n_samples, self.model.n_outputs))
        sums = np.zeros((self.parts, self.dim))
        kept, point = self._columns(slopes), self._columns(self._by_coefficient(x))

        def work(part: int, begin: int, end: int) -> float:
            total = self._columns(self._by_coefficient(sums[part]))
            return float(self.kernels.full_pass(*self.rows, *self.samples, begin, end, point, kept, total))

        value = sum(threads.share(work, self.n_samples, self.parts))
        return value, slopes, sums.sum(axis=0)

    def bears(self, walk: Walk) -> bool:
        """Say whether missed steps have a closed form: all of one length, none past zero, and no sum kept."""
        damped = walk.step_size * (self.model.ridge.largest + walk.ridge) < 1.0
        return damped and walk.decay == 0.0 and walk.averaging is None

    def take_steps(self, steps: Steps, mean: Mean, pieces: Pieces | None, x: Array, total: Array) -> float:
        """Walk from x, in place, and return the weight of the running sum."""
        change = self._columns(np.empty((steps.batch, self.model.n_outputs)))
        steps = steps._replace(drift=self._by_coefficient(steps.drift), slopes=self._columns(steps.slopes))
        point = self._by_coefficient(x)
        if pieces is not None:
            parts = self._parts(pieces)
            self.kernels.walk_with_pieces(*self.rows, *self.samples, *steps.even, *parts, point, change)
            return 0.0
        sums = [self._by_coefficient(vector) for vector in (np.zeros(len(total)), total)]
        return float(self.kernels.walk(*self.rows, *self.samples, *steps, *mean, point, *sums, change))

    def _parts(self, pieces: Pieces) -> tuple[Array | None, Array | None]:
        """Return the walls and the slopes, both sides in one row; None where there are none."""
        lower, upper, left, right = (self._by_coefficient(part) for part in pieces)
        walls = np.hstack([lower, upper]) if np.isfinite(lower).any() or np.isfinite(upper).any() else None
        return walls, np.hstack([left, right]) if left.any() or right.any() else None

    def _by_coefficient(self, x: Array) -> Array:
        """View K numbers a coefficient as a row each."""
        outputs = self.model.n_outputs
        return x.reshape(len(x) // outputs, outputs)

    def _columns(self, numbers: Array) -> Array:
        """Drop the axis of outputs where there is only one."""
        return numbers[:, 0] if self.model.n_outputs == 1 else numbers


class CompiledDense(Compiled):
    """Rows of a dense matrix; kernels see the coefficients with one row an output."""

    def __init__(self, model: Model, ones: bool, matrix: NDArray[Any]) -> None:
        super().__init__(model, ones, matrix.shape)
        self.matrix = matrix

    @property
    def walks(self) -> bool:
        """Whether kernels can take steps: every step moves all coefficients, each by its own ridge."""
        return True

    def _excess(self) -> Array:
        excess = self.model.ridge.excess
        return self._by_output(NO_ARRAY if excess is None else excess)

    @property
    def natural_batch(self) -> int:
        """A few samples, whose rows share the coefficients that are loaded."""
        return 4 if self.model.n_outputs == 1 else 8

    @property
    def sample_work(self) -> float:
        """The entries of a row, for every output."""
        return max(1.0, float(self.matrix.shape[1] * self.model.n_outputs))

    def pass_over(self, x: Array) -> tuple[float, Array, Array]:
        """Return the sum of losses, the slopes and the sum of gradients."""
        outputs, w = self.model.n_outputs, self._by_output(x)
        slopes = np.empty((self.n_samples, outputs))
        sums = np.zeros((self.parts, *w.shape))

        def work(part: int, begin: int, end: int) -> float:
            range_of, total = (self.matrix, *self.samples, begin, end), sums[part]
            if outputs == 1:
                return float(dense_one.full_pass(*range_of, w[0], slopes[:, 0], total[0]))
            return float(dense.full_pass(*range_of, w, slopes, total, np.empty((4, outputs))))

        value = sum(threads.share(work, self.n_samples, self.parts))
        return value, slopes, sums.sum(axis=0).T.ravel()

    def bears(self, walk: Walk) -> bool:
        """Say yes: every step moves all coefficients."""
        return True

    def take_steps(self, steps: Steps, mean: Mean, pieces: Pieces | None, x: Array, total: Array) -> float:
        """Walk from x, in place, and return the weight of the running sum."""
        w, sums = self._by_output(x), self._by_output(total)
        change = np.empty((steps.batch, self.model.n_outputs))
        steps = steps._replace(drift=self._by_output(steps.drift))
        kinks = None if pieces is None else tuple(self._by_output(part) for part in pieces)
        weight = dense.walk(self.matrix, *self.samples, *steps, *mean, w, sums, change, kinks)
        x[:] = w.T.ravel()
        total[:] = sums.T.ravel()
        return float(weight)

    def _by_output(self, x: Array) -> Array:
        return np.ascontiguousarray(x.reshape(-1, self.model.n_outputs).T)


def _acting(pieces: Pieces | None) -> Pieces | None:
    """Return the pieces if they change anything."""
    return None if pieces is None or pieces.trivial else pieces


def _mean(average: Averaging | None) -> Mean:
    if average is None:
        return Mean(0.0, 0.0, False, False)
    return Mean(average.convexity, average.weight, average.after, True)
