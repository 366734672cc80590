"""From a table and a plan to a solution: an objective, a list of constraints, one call of `tether.solve`."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from tether.arrays import Array
from tether.constraints import Affine
from tether.estimators.centring import centre_of
from tether.estimators.restrictions import Restrictions
from tether.estimators.table import Table
from tether.inputs import positive, positive_integer
from tether.objectives import GLM
from tether.objectives.losses import Loss
from tether.penalties import L1
from tether.run.solution import Solution, Status
from tether.solve import solve

DIGITS = 1e-14  # relative: what rounding leaves of differences of values of F
ROUNDED = 1e-6  # of the objective, or of its first slope: what is left is no reason for a warning


class Accuracy(NamedTuple):
    """How and how long to search."""

    method: Any = "auto"
    tol: float = 1e-18
    max_iter: int | None = 1000
    max_seconds: float | None = None
    seed: int = 0


@dataclass(frozen=True)
class Plan:
    """What to fit to a table.

    Attributes
    ----------
    loss : Loss
        Of a prediction.
    restrictions : Restrictions
        What coefficients must satisfy.
    l2 : ndarray
        The weight of the ridge of every column; intercepts have none.
    l1 : sequence of pairs
        lam and D of l1 terms over the columns; D = None is the identity.
    """

    loss: Loss
    restrictions: Restrictions
    l2: Array
    l1: Sequence[tuple[Any, Any]] = field(default=())

    @property
    def penalised(self) -> bool:
        """Whether anything but the loss counts."""
        return bool(np.any(self.l2 > 0.0)) or self.kinked

    @property
    def kinked(self) -> bool:
        """Whether absolute values count."""
        return any(np.any(np.asarray(lam) > 0.0) for lam, _ in self.l1)


class Fitted(NamedTuple):
    """A model that was fitted."""

    objective: GLM
    solution: Solution
    restrictions: Restrictions

    @property
    def weights(self) -> Array:
        """W, one row a column of the data, the intercept last, one column an output."""
        return self.solution.x.reshape(self.objective.design.width, self.objective.n_outputs)


def fit(table: Table, plan: Plan, accuracy: Accuracy, start: Array | None = None) -> Fitted:
    """Return the solution for a table; a run that did not get there is a warning in its own words."""
    objective, centre = objective_of(table, plan), centre_of(table.X, plan.restrictions)
    reachable = accuracy._replace(tol=_reachable(positive("tol", accuracy.tol), plan, table.X.dtype))
    if centre is None:
        solution = _solved(objective, plan, reachable, start)
    else:
        inner = replace(plan, restrictions=centre.restricted(plan.restrictions))
        around = objective_of(table._replace(X=centre.around(table.X)), inner)
        solution = _solved(around, inner, reachable, None if start is None else centre.inward(start))
        solution = replace(solution, x=centre.outward(solution.x))
    if not (solution.success or _is_as_good_as_it_gets(solution)):
        warnings.warn(f"{solution.message}{_remedy(solution)}.", ConvergenceWarning, stacklevel=4)
    return Fitted(objective, solution, plan.restrictions)


def _solved(objective: GLM, plan: Plan, accuracy: Accuracy, start: Array | None) -> Solution:
    return solve(
        objective,
        [*plan.restrictions.for_solve(), *_identified(objective, plan)] or None,
        _method(accuracy.method, objective, plan),
        penalty=_penalty(plan) or None,
        x0=None if objective.loss.quadratic else first_guess(objective) if start is None else start,
        rtol=accuracy.tol,
        seed=accuracy.seed,
        max_rounds=None if accuracy.max_iter is None else positive_integer("max_iter", accuracy.max_iter),
        max_seconds=accuracy.max_seconds,
    )


def _reachable(tol: float, plan: Plan, dtype: Any) -> float:
    """Return an accuracy that rounding allows: coefficients have the digits of the data, F twice as many.

    That is so where Newton's decrement bounds the gap; else values of F, or slopes, have to do.
    """
    smooth = plan.restrictions.plain and not plan.kinked
    by_decrement = smooth and (plan.loss.quadratic or np.isfinite(plan.loss.concordance))
    return max(tol, float(np.finfo(dtype).eps) ** 2, 0.0 if by_decrement else DIGITS)


def _remedy(solution: Solution) -> str:
    """Return what to change, in the words of estimators."""
    if solution.ray is not None:
        return "; a penalty (alpha > 0, or a C that is not infinite) keeps coefficients finite"
    return "; raise max_iter" if solution.status is Status.MAX_ROUNDS else ""


def _method(method: Any, objective: GLM, plan: Plan) -> Any:
    """Return the method, for more coefficients than samples one that keeps to the span of the rows.

    Where nothing else tells solutions apart it ends at the one nearest to its start.
    """
    loose = objective.loss.quadratic and objective.dim > objective.n_samples and not plan.penalised
    return "lbfgs" if method == "auto" and loose and plan.restrictions.plain else method


def _is_as_good_as_it_gets(solution: Solution) -> bool:
    """Say whether rounding ended a run where that is accurate enough for anybody."""
    if solution.status is not Status.EXHAUSTED:
        return False
    if solution.gap is not None:
        return solution.gap <= ROUNDED * abs(solution.fun)
    slopes = solution.history["slope"]
    return bool(np.nanmin(slopes) <= ROUNDED * np.nanmax(slopes))


def objective_of(table: Table, plan: Plan) -> GLM:
    """Return the mean loss with its ridge, intercepts not penalised."""
    variables = plan.restrictions.variables
    l2 = np.append(plan.l2, 0.0) if variables.intercept else plan.l2
    model = GLM(
        table.X,
        table.y,
        plan.loss,
        l2=l2,
        fit_intercept=variables.intercept,
        sample_weight=table.weights,
        offset=table.offset,
    )
    return model.with_names(variables.columns)


def first_guess(objective: GLM) -> Array | None:
    """Return the best constant prediction; None where there is no intercept to hold it."""
    if not objective.fit_intercept or objective.n_outputs > 1:
        return None
    best = objective.loss.best_constant(objective.y, objective.weights, objective.offset)
    return np.append(np.zeros(objective.dim - 1), best) if np.isfinite(best) else None


def seed_of(random_state: Any) -> int:
    """Return a seed: the number itself, 0 for None, one that is drawn from a generator."""
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _penalty(plan: Plan) -> list[L1]:
    """Return l1 terms over all coefficients, of which intercepts have none."""
    variables, found = plan.restrictions.variables, list[L1]()
    for lam, D in plan.l1:
        if not np.any(np.asarray(lam) > 0.0):
            continue
        if D is None:
            own = np.broadcast_to(lam, len(variables.columns))
            found.append(L1(np.repeat(np.append(own, [0.0] * variables.intercept), variables.outputs)))
        else:
            found.append(L1(lam, _widened(D, variables.width)))
    return found


def _widened(D: Any, width: int) -> Any:
    """Return D with a column of zeros for each coefficient that it does not know."""
    more = width - D.shape[1]
    return sparse.csr_array(sparse.hstack([D, sparse.csr_array((D.shape[0], more))])) if more else D


def _identified(objective: GLM, plan: Plan) -> list[Any]:
    """Return what tells coefficients of several classes apart: sums over classes, which no prediction feels.

    Those of intercepts are zero unless a constraint names one; those of columns too, where neither a penalty
    nor a constraint says anything of them.
    """
    variables, outputs = plan.restrictions.variables, objective.n_outputs
    rows = plan.restrictions.rows
    named = rows is not None and rows.matrix[:, -outputs:].nnz > 0
    sums = np.zeros(variables.width, dtype=bool)
    sums[-1:] = variables.intercept and not named
    sums[: len(variables.columns)] |= rows is None and plan.restrictions.lower is None and not plan.penalised
    if outputs == 1 or not sums.any():
        return []
    over = sparse.eye_array(variables.width).tocsr()[sums]
    return [Affine(sparse.csr_array(sparse.kron(over, np.ones((1, outputs)))))]
