"""Which method "auto" begins with: what can be told from constants, prices and a few rows.

Newton's method where second derivatives cost little, or more if rows point a few ways much more than
others; not where rows point anywhere alike, so that a few iterations of L-BFGS may do, nor where l2 makes
few passes of small steps do. The diagonal of the Hessian where columns are unequal and stochastic steps
would be small. Else the flagship, or L-BFGS where something speaks against walks.
"""

import math

from tether.curvature import DIAGONAL, FULL, KRONECKER
from tether.methods.costs import Costs
from tether.methods.newton import NewtonAlgorithm
from tether.methods.prices import work_of_request, work_of_sample
from tether.methods.reasons import Reason, Running
from tether.problem import Facts

FEW_SAMPLES = 1_000  # below which stages of stochastic steps do not pay
DEAREST_STEP = 1.5e6  # nanoseconds: steps of Newton's method that take less need no conversation
DEAREST_JUMP = 4e5  # the same where nothing bounds how second derivatives change, so that steps may be many
CHEAP_STEP = 15.0  # what one step of it may cost to go first, where that is all it takes, ...
SINGLE_STEP = 80.0  # ... or this unless data are even: then a few iterations of L-BFGS do
CHEAP_NEWTON = 45.0  # what all of them may cost to go first, unless data are even, ...
DEAR_NEWTON = 90.0  # ... or this where data are uneven and l2 is small: L-BFGS takes long then
EVEN, UNEVEN = 1.2, 3.0  # spread of the directions of even data, at most, and of uneven ones, at least
CHEAP_DIAGONAL = 10.0  # requests: the diagonal of the Hessian that is worth having from the start, ...
DIFFICULT = 8.0  # ... where L / (mu N) is at least this, so that small steps do little in a few passes, ...
CURVED = 2.0  # ... or this where there are none, so that it is not l2 that curves F, ...
UNEQUAL = 10.0  # ... and F is curved so much more along one variable than along most, ...
FEW_ROWS, SETTLED = 0.5, 100.0  # of the variables: so few samples, with L / (mu N) above this, are too few
EASY = 1.0  # L / (mu N) up to which small steps are done in a few passes
EASY_STAGES = 20.0  # iterations of L-BFGS that these take
DEAR_ROUND = 0.5  # of an iteration of L-BFGS: rounds that are worth saving by small steps
CHEAP_METRIC = 15.0  # passes: a metric that costs no more is worth having from the start
INTERPRETED = 4.2  # times the work of a sample in a pass: steps that take longer do not pay


def first_of(
    facts: Facts, newton: NewtonAlgorithm | None, costs: Costs, unfit: Reason | None
) -> tuple[Running, Reason]:
    """Return the method to begin with, and what speaks for it."""
    if (costs.single and costs.newton <= CHEAP_STEP) or is_quick(newton, facts):
        return Running.NEWTON, Reason.CHEAP_CURVATURE
    if _has_cheap_metric(newton) or _has_cheap_hessian(newton, facts, costs):
        if are_even(facts):
            return Running.LBFGS, Reason.EVEN_DATA
        if unfit is None and costs.newton > EASY_STAGES and _are_easy(facts):
            return Running.SKIP, Reason.MANY_SAMPLES
        return Running.NEWTON, Reason.CHEAP_CURVATURE
    if has_cheap_diagonal(newton) and _suits_diagonal(facts, unfit):
        return Running.NEWTON, Reason.UNEQUAL_COLUMNS
    if unfit is not None:
        return Running.LBFGS, unfit
    if newton is not None and newton.form != DIAGONAL:
        if are_even(facts):
            return Running.LBFGS, Reason.EVEN_DATA
        if not _are_easy(facts):
            return Running.LBFGS, Reason.MANY_VARIABLES
    if costs.a_round < DEAR_ROUND and facts.contrast().passes >= DIFFICULT:
        return Running.LBFGS, Reason.SMALL_STEPS
    return Running.SKIP, Reason.MANY_SAMPLES


def is_quick(newton: NewtonAlgorithm | None, facts: Facts) -> bool:
    """Say whether there is the Hessian, and a step with it takes no longer than talking about it."""
    if newton is None or not newton.exact or newton.form != FULL:
        return False
    most = DEAREST_STEP if math.isfinite(newton.concordance) else DEAREST_JUMP
    return (1.0 + newton.price) * work_of_request(facts) <= most


def _has_cheap_metric(newton: NewtonAlgorithm | None) -> bool:
    """Say whether a Kronecker metric, which saves most iterations of L-BFGS, costs but a few."""
    return newton is not None and newton.form == KRONECKER and newton.price <= CHEAP_METRIC


def _has_cheap_hessian(newton: NewtonAlgorithm | None, facts: Facts, costs: Costs) -> bool:
    """Say whether there is the Hessian itself, and all that is likely to be needed costs little."""
    if newton is None or not newton.exact:
        return False
    if costs.single:
        return costs.newton <= SINGLE_STEP
    if costs.newton <= CHEAP_NEWTON:
        return True
    return costs.newton <= DEAR_NEWTON and _are_difficult(facts)


def has_cheap_diagonal(newton: NewtonAlgorithm | None) -> bool:
    """Say whether there is but the diagonal of the Hessian, and costs a few passes with its factorisation."""
    if newton is None or newton.exact:
        return False
    return newton.form == DIAGONAL and newton.price <= CHEAP_DIAGONAL


def are_even(facts: Facts) -> bool:
    """Say whether rows point anywhere alike, so that L-BFGS needs few iterations."""
    return facts.contrast().spread < EVEN


def _are_easy(facts: Facts) -> bool:
    """Say whether small steps with one output are known to do in a few passes: L / (mu N) is small."""
    return facts.second_order.outputs == 1 and 0.0 < facts.contrast().passes <= EASY


def _are_difficult(facts: Facts) -> bool:
    """Say whether rows point a few ways more than others, and l2 does little about it."""
    return facts.contrast().passes >= DIFFICULT and facts.contrast().spread >= UNEVEN


def _suits_diagonal(facts: Facts, unfit: Reason | None) -> bool:
    """Say whether some variables bend F much more than most, and more than l2 does."""
    if facts.contrast().passes < (DIFFICULT if unfit is None else CURVED) or has_few_rows(facts):
        return False
    return facts.contrast().columns >= UNEQUAL


def has_few_rows(facts: Facts) -> bool:
    """Say whether l2 alone settles most variables, so that those with little data should not go far."""
    return facts.n_samples < FEW_ROWS * facts.dim and facts.contrast().passes > SETTLED


def unfit_for_walks(facts: Facts) -> Reason | None:
    """Say what speaks against the flagship."""
    if facts.n_samples < FEW_SAMPLES:
        return Reason.FEW_SAMPLES
    if facts.natural_batch >= facts.local_samples:
        return Reason.WHOLE_BATCHES
    if facts.step_work > INTERPRETED * work_of_sample(facts):
        return Reason.INTERPRETED_STEPS
    return None if facts.smoothness.exact else Reason.ESTIMATED_SMOOTHNESS
