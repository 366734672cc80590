"""Project wide data once: a linear model with fewer samples than variables becomes as narrow as it is high.

What a point has beyond the tangent parts of all rows, and the shortest solution c of A x = b, changes no
prediction and only makes it longer. So with a ridge every minimum is x = B v, where B is an orthonormal basis
of these (see `row_span`), and Newton's method in v takes cheap steps. An intercept with another ridge is a
coordinate of its own.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from tether.arrays import Array, norm
from tether.constraints import Constraint, Unconstrained
from tether.methods import Newton
from tether.methods.base import Choice
from tether.methods.prices import TALK
from tether.objectives import GLM
from tether.objectives.design import WithOnes
from tether.problem import Facts
from tether.requests import Work
from tether.shortcuts.narrowed import Narrowed, is_at_hand, is_dense, narrowed, shortest_solution, stored
from tether.shortcuts.optimality_system import BUDGET_SHARE, minimum_of
from tether.shortcuts.row_span import RowSpan, predictions, rounded_pivot, span_of
from tether.shortcuts.way import Way

WIDTH_FROM = 100  # variables: with fewer, Newton's steps are as cheap without
MEMORY_SHARE = 0.3  # of the data's memory that matrices as large as pairs of samples may take beside it ...
SMALL_MEMORY = 32_000_000  # ... or bytes that are at hand anywhere
MATRICES = 4.0  # of that size at the same time
# Nanoseconds of one core, as measured:
PRODUCT = 0.022  # a product of numbers of two rows
PART_PRODUCT, TANGENT_PRODUCT = 0.036, 0.08  # the same with tangent parts; to make these
READ, CALL = 0.25, 2e4  # a number that a projection reads; what else it takes
CLEARLY = 0.7  # of what one step with all variables costs: what a way round it may cost
NOTICEABLE = 0.02  # seconds: what takes less is done whatever the budget, so that runs can go on with another
STEPS, STEP = 0.1, 0.02  # for each triple of samples: some steps of Newton's method, or the only one
# Iterations of L-BFGS that making X B may cost: about sqrt(kappa), which it is likely to take, or a few where
# rows are nearly orthogonal and the loss is nowhere steep. Of 90 random problems 58 took this way, in 1/2.4
# of the time without it (median), 5 of them in more than 1.2 times, before such rows were told apart.
FIXED, BY_ROOT, FEW_ITERATIONS = 2.0, 1.0, 8.0
ORTHOGONAL = 1.0  # sum of the squared cosines of a row with the others, up to which rows are


@dataclass(frozen=True, kw_only=True)
class WideData(Narrowed):
    """The way through the coordinates of all points that may be a minimum."""

    span: RowSpan
    nearest: Array | None = None  # c/||c||

    def coordinates(self, x: Array) -> Array:
        """Return B^T x, and intercepts that are apart."""
        x = x.reshape(-1, self.wide.n_outputs)
        width = self.span.design.width
        parts = [self.span.coordinates(x[:width]), x[width:]]
        if self.nearest is not None:
            parts.insert(1, self.nearest[None] @ x)
        return np.concatenate(parts).ravel()

    def combination(self, v: Array) -> Array:
        """Return a point that is projected to B v, with intercepts that are apart."""
        v = v.reshape(-1, self.wide.n_outputs)
        rank, apart = len(self.span.chosen), self.wide.design.width - self.span.design.width
        return np.concatenate([self.span.combination(v[:rank]), v[len(v) - apart :]]).ravel()

    def facts(self, facts: Facts) -> Facts:
        """Return facts with the convexity that F has on both sides of the way."""
        return facts._replace(smoothness=facts.smoothness.with_convexity(self.convexity(facts)))

    def convexity(self, facts: Facts) -> float:
        """Return that of the ridge: nothing else curves F beyond B v."""
        return self.wide.ridge.smallest if self.wide.convex else 0.0

    @property
    def coarseness(self) -> float:
        """How much coarser the user's data is than double precision, in which all of this is done."""
        return float(np.finfo(stored(self.wide.design).dtype).eps / np.finfo(np.float64).eps)

    def hidden(self, x: Array) -> tuple[float, Work]:
        """Return by how much the least F(B v) may be above the least F, and what it took to know.

        That is s^T E s / (2 l2 N^2), with the slopes s at the minimum and E = X P X^T - X B (X B)^T, which
        would be zero without rounding. What it is with the slopes next to the minimum is the difference of
        two squares, but for what |E_ij| <= eps ||a_i|| ||a_j|| makes of predictions.
        """
        ridge, n = self.wide.ridge.common, self.wide.n_samples
        here = self.narrow.evaluate(x)
        weights = 1.0 if self.wide.weights is None else self.wide.weights[:, None]
        longer = norm(self.span.tangent_sum(weights * self._by_sample(here.slopes)).ravel()) / n
        shorter = norm((here.gradient - ridge * x)[: self.wide.n_outputs * len(self.span.chosen)])
        rounding = 2.0 * rounded_pivot(self.span.design) * self._pull(here.slopes) * norm(x)
        return abs(longer**2 - shorter**2) / ridge + rounding, Work(gradients=2 * n)

    def keeps_enough(self) -> bool:
        """Say whether nothing was dropped, or what was is nothing next to the accuracy that was asked for."""
        if len(self.span.chosen) == self.wide.n_samples:
            return True
        with np.errstate(all="ignore"):
            here = self.narrow.evaluate(self.problem.constraint.project(np.zeros(self.narrow.dim)))
        lost = rounded_pivot(self.span.design) * self._pull(here.slopes) ** 2 / self.wide.ridge.common
        return lost <= self.asked.limit(abs(here.value))

    def _pull(self, slopes: Array | None) -> float:
        """Return (1/N) sum_i w_i |s_i| ||a_i||: how long a gradient might be."""
        sizes = np.linalg.norm(self._by_sample(slopes), axis=1)
        lengths = np.sqrt(self.span.design.squared_norms())
        return float(np.average(sizes * lengths, weights=self.wide.weights))

    def _by_sample(self, slopes: Array | None) -> Array:
        """Return the slopes of each sample in a row."""
        return np.asarray(slopes, dtype=np.float64).reshape(self.wide.n_samples, -1)


def with_wide_data(way: Way, warm: bool) -> WideData | None:
    """Return the way through fewer variables; None where it cannot be had or would not pay."""
    objective, constraint = way.problem[:2]
    if not isinstance(objective, GLM) or not _is_suitable(objective, constraint):
        return None
    if not _pays(objective, constraint, way.seconds):
        return None
    design, apart = objective.design, not objective.ridge.uniform
    found = span_of(design.design if apart and isinstance(design, WithOnes) else design, constraint)
    if found is None:
        return None
    span, data = found
    nearest, length = shortest_solution(constraint, objective.dim)
    if length:
        nearest = nearest / length
        data = np.column_stack([data, predictions(objective.design, nearest[:, None])])
    narrow = objective.with_rows(data, ones=apart)
    own = narrowed(way, narrow, length, "there are fewer samples than variables")
    wide = WideData(**own, span=span, nearest=nearest if length else None)
    if not wide.keeps_enough():
        return None
    return wide if warm else _solved(wide)


def _solved(way: WideData) -> WideData:
    """Return the way from the solution on, where the narrow model has a linear system."""
    found = minimum_of(way.narrow, way.problem.constraint, BUDGET_SHARE * way.seconds)
    if found is None or way.choice is None:
        return way
    words, note = f"{way.choice.words}, then one linear system", f"{way.note} and the rest solved directly"
    choice = Choice(words, way.choice.reason)
    return replace(way, start=found.point, direct=True, method=Newton(), note=note, choice=choice)


def _is_suitable(objective: GLM, constraint: Constraint) -> bool:
    """Say whether the data is wide and at hand, and rows are all that moves a minimum away from c."""
    if not is_at_hand(objective) or not objective.proven_convex or not math.isfinite(constraint.work):
        return False
    n, p = stored(objective.design).shape
    if n >= p or p < WIDTH_FROM:
        return False
    free, single = isinstance(constraint, Unconstrained), objective.n_outputs == 1
    if objective.ridge.uniform:
        return objective.ridge.smallest > 0.0 and (free or single)
    return (
        single and _is_intercept_apart(objective) and (free or _leaves_last_alone(constraint, objective.dim))
    )


def _is_intercept_apart(objective: GLM) -> bool:
    """Say whether all coefficients but the intercept have the same ridge."""
    excess = objective.ridge.excess
    if excess is None or not objective.fit_intercept or not objective.ridge.common > 0.0:
        return False
    return not excess[:-1].any()


def _leaves_last_alone(constraint: Constraint, dim: int) -> bool:
    """Say whether no equation has the last variable in it."""
    if constraint.equations is None:
        return False
    return not np.any(constraint.equations[0] @ np.eye(1, dim, dim - 1)[0])


def _pays(objective: GLM, constraint: Constraint, seconds: float) -> bool:
    """Say whether the way costs fewer iterations than L-BFGS is likely to take, and there is room for it."""
    data = stored(objective.design)
    n, p = data.shape
    if MATRICES * 8.0 * n * n > max(MEMORY_SHARE * data.nbytes, SMALL_MEMORY):
        return False
    projection = CALL + READ * constraint.work if constraint.work else 0.0
    tangents = TANGENT_PRODUCT * constraint.work if is_dense(constraint) else projection
    single = objective.loss.quadratic
    making = (PART_PRODUCT if tangents else PRODUCT) * n * n * p + n * tangents
    making += (STEP if single else STEPS) * n**3
    if single and making > CLEARLY * (PRODUCT * n * p * p + STEP * p**3):  # the same with all variables
        return False
    if not 1e-9 * making <= max(BUDGET_SHARE * seconds, NOTICEABLE):
        return False
    iteration = n * objective.second_order.work + TALK + projection
    return making <= (FIXED + _likely_iterations(objective)) * iteration


def _likely_iterations(objective: GLM) -> float:
    """Return how many iterations L-BFGS is likely to take."""
    by_root = BY_ROOT * math.sqrt(_conditioning(objective))
    if by_root <= FEW_ITERATIONS or not math.isfinite(objective.loss.curvature):
        return by_root
    cosines = objective.contrast.spread * objective.n_samples / objective.design.width
    return FEW_ITERATIONS if cosines < ORTHOGONAL else by_root


def _conditioning(objective: GLM) -> float:
    """Return kappa, by the norm (Frobenius) that products of rows would have if they were orthogonal."""
    squares = objective.design.squared_norms()
    squares = squares if objective.weights is None else objective.weights * squares
    longest = float(squares.max())
    if longest == 0.0:
        return 1.0
    largest = float(np.linalg.norm(squares / longest)) / objective.n_samples
    return 1.0 + largest * objective.constants().maximum / objective.ridge.common
