"""What requests and whole runs cost, counted: by these numbers "auto" chooses."""

import math
from typing import NamedTuple

from tether.curvature import DIAGONAL, FULL, KRONECKER, length_of
from tether.methods.newton import NewtonAlgorithm
from tether.methods.prices import price_of_direction, work_of_pass, work_of_request
from tether.problem import Facts
from tether.requests import Arrived, Reply

ITERATIONS = {FULL: 9.0, KRONECKER: 60.0, DIAGONAL: 30.0}  # of Newton's method, likely
RENEWALS, SEVERAL = 1.5, 2.0  # of the metric, likely, and what to reckon with; ...
UNSTEADY = 3.0  # ... and so many times as much where nothing bounds how second derivatives change
JUMPS = 20.0  # renewals, and twice as many iterations, where second derivatives jump, each somewhere else
WALK_PRICE = 2.0  # passes in the time of a walk of as many samples
ROUND_PRICE = 10.0  # passes in the time of a round, where workers are apart
UNKNOWN_ROUND, UNKNOWN_ROWS = 1.8e5, 10.0  # nanoseconds of a round, and of it a variable
VECTOR_PRICE = 0.02  # rounds that a vector more takes there


class Costs(NamedTuple):
    """What requests cost, in iterations of L-BFGS, each a pass and a round."""

    n_samples: int
    a_pass: float
    a_round: float
    newton: float  # a run of Newton's method, likely; infinite where there are no second derivatives
    single: bool = False  # and that is one step
    longest: float = math.inf  # what to reckon with before another method is left for it
    silent: float = 1.0  # of what a pass costs, what another in the same request does: nothing is said of it

    @classmethod
    def of(cls, facts: Facts, newton: NewtonAlgorithm | None) -> "Costs":
        """Return the costs for a problem."""
        apart = facts.step_work == 0.0
        ratio = ROUND_PRICE if apart else _round(facts) / work_of_request(facts)
        a_pass, a_round = 1.0 / (1.0 + ratio), ratio / (1.0 + ratio)
        silent = 1.0 if apart else work_of_pass(facts) / work_of_request(facts)
        if newton is None:
            return cls(facts.n_samples, a_pass, a_round, math.inf, silent=silent)
        vectors = length_of(newton.form, facts.dim, newton.outputs) / facts.dim if apart else 0.0
        renewal = a_pass * newton.price + VECTOR_PRICE * vectors
        if newton.exact and facts.second_order.concordance == 0.0:  # a quadratic
            return cls(facts.n_samples, a_pass, a_round, 2.0 + renewal, True, 2.0 + renewal, silent)
        direction = a_pass * price_of_direction(newton.form, facts)
        likely, longest = _run(newton, facts, renewal, 1.0 + direction)
        return cls(facts.n_samples, a_pass, a_round, likely, False, longest, silent)

    def of_reply(self, reply: Reply) -> float:
        """Return the cost of a request that was answered."""
        passes = reply.work.gradients / self.n_samples
        if isinstance(reply, Arrived):
            passes *= WALK_PRICE
        elif passes > 1.0:
            passes = 1.0 + self.silent * (passes - 1.0)
        return self.a_pass * passes + self.a_round * reply.work.rounds


def _run(newton: NewtonAlgorithm, facts: Facts, renewal: float, iteration: float) -> tuple[float, float]:
    """Return what a run of Newton's method is likely to cost, and what to reckon with."""
    unsteady = math.isinf(facts.second_order.concordance)
    if facts.second_order.separable and unsteady:
        return 2 * (JUMPS * (2.0 + renewal),)
    iterations = ITERATIONS[FULL if newton.exact else newton.form] * iteration
    longest = iterations + SEVERAL * renewal
    return iterations + RENEWALS * renewal, (UNSTEADY if unsteady and newton.exact else 1.0) * longest


def _round(facts: Facts) -> float:
    """Return the nanoseconds of a round; of a set of which nothing is known, some products with its rows."""
    known = facts.step_work * facts.round_work
    return known if math.isfinite(known) else UNKNOWN_ROUND + UNKNOWN_ROWS * facts.dim
