"""What second derivatives and the programs made of them cost, in requests, and which form is worth it."""

import math

from tether.curvature import DIAGONAL, FORMS, FULL, KRONECKER
from tether.problem import Facts

MANY_SAMPLES, FEW_SAMPLES = 6, 3  # a column: make a Kronecker metric as good as all do, or good enough
DEAREST_HESSIAN = 150.0  # requests, beyond which its diagonal has to do
DEAREST_RENEWAL = 5.0  # passes that a Kronecker metric of more than few samples may cost
PROGRAM_STEPS = 10.0  # factorisations that a quadratic program takes
PRODUCTS = 17.0  # of a factorisation in a nanosecond
PLACE, MIXED_PLACE = 15.0, 60.0  # products in the time of a number of the Hessian; where outputs are mixed
SMALL_EIGENPROBLEM = 1000.0  # products in the time that each entry of a matrix takes in an eigenproblem
ROW_ENTRY = 180.0  # the same for each entry of rows that are put into a Kronecker metric
READ_METRIC, READ_ROWS = 0.4, 0.7  # nanoseconds for each number that a direction in a metric meets, ...
READ_LONG_ROWS = 2.4  # ... of rows beside a diagonal, which are met several times
SPARSE_FACTOR, SPARSE_COLUMN = 2e6, 400.0  # nanoseconds of factorising sparse equations, and for a variable
TALK = 1.8e5  # nanoseconds that a request takes besides its work


def form_or_best(form: str, facts: Facts) -> str:
    """Return a form that the objective has: the one that was asked for, or the best that is cheap."""
    known = facts.second_order
    if form != "auto":
        if not math.isfinite(known.price(form)):
            offered = [name for name in FORMS if math.isfinite(known.price(name))]
            have = (
                f"use {' or '.join(map(repr, offered))}" if offered else "use another method, such as lbfgs"
            )
            raise ValueError(f"curvature={form!r} is not to be had from this objective; {have}.")
        return form
    if known.separable and math.isfinite(known.diagonal):
        return DIAGONAL
    offered = [name for name in FORMS if math.isfinite(known.price(name))]
    if not offered:
        raise ValueError(
            "method Newton needs second derivatives, which this objective does not have; use another method "
            "such as lbfgs."
        )
    if offered[0] != FULL or len(offered) == 1:
        return offered[0]
    limit = 10.0 * (1.0 + price_of_renewal(KRONECKER, facts)) if KRONECKER in offered else DEAREST_HESSIAN
    return FULL if price_of_renewal(FULL, facts) <= limit else offered[1]


def price_of_renewal(form: str, facts: Facts, share: float = 1.0) -> float:
    """Return what second derivatives of a share of all samples and their factorisation cost, in requests.

    A request is a pass, and what the conversation about it takes; that counts where there is little data.
    """
    p, m, width = float(facts.dim), float(facts.equations), facts.dim / facts.second_order.outputs
    place = PLACE if facts.second_order.outputs == 1 else MIXED_PLACE
    products = {
        FULL: p**3 / 3 + place * p**2 + m * p * (p + m),
        KRONECKER: width**3 + SMALL_EIGENPROBLEM * width**2 + m * p * (ROW_ENTRY + 0.5 * (width + m)),
        DIAGONAL: m * m * p,
    }[form]
    a_pass = work_of_pass(facts)
    taking = share * facts.second_order.price(form) * a_pass + products / PRODUCTS
    if form == DIAGONAL and math.isinf(facts.round_work) and facts.step_work > 0.0:  # sparse, and here
        taking += SPARSE_FACTOR + SPARSE_COLUMN * p
    return taking / work_of_request(facts)


def price_of_direction(form: str, facts: Facts) -> float:
    """Return what a direction in a metric takes, in requests."""
    p = float(facts.dim)
    width = {FULL: p, KRONECKER: p / facts.second_order.outputs, DIAGONAL: 1.0}[form]
    rows = READ_LONG_ROWS if form == DIAGONAL else READ_ROWS
    return p * (READ_METRIC * width + rows * facts.equations) / work_of_request(facts)


def work_of_request(facts: Facts) -> float:
    """Return the nanoseconds of a pass and of what is said about it, about."""
    return work_of_pass(facts) + TALK


def work_of_pass(facts: Facts) -> float:
    """Return the nanoseconds of a pass, about."""
    return facts.n_samples * work_of_sample(facts)


def price_of_program(form: str, facts: Facts) -> float:
    """Return what the minimum of a quadratic model on a region costs, in passes, about."""
    p = float(facts.dim)
    products = PROGRAM_STEPS * (p**3 / 3 if form != DIAGONAL else 100.0 * p)
    return products / (PRODUCTS * work_of_request(facts))


def work_of_sample(facts: Facts) -> float:
    """Return the nanoseconds that a component gradient of a pass takes, about."""
    return facts.second_order.work or float(facts.dim)


def enough_samples(facts: Facts) -> float:
    """Return the share of the samples that makes a good Kronecker metric, or one that is worth its price."""
    columns = facts.dim / facts.second_order.outputs / facts.n_samples
    affordable = DEAREST_RENEWAL / facts.second_order.kronecker
    return min(MANY_SAMPLES * columns, max(FEW_SAMPLES * columns, affordable), 1.0)
