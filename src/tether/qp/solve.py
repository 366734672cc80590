"""The way of a program: standard form, interior point, active set; once more with rows of similar lengths."""

from time import perf_counter

import numpy as np

from tether.polyhedral import Duals
from tether.qp.balance import Balance
from tether.qp.certificates import contradiction, descent_program, nearest_program, ray
from tether.qp.program import Answer, Program, Status, check
from tether.qp.search import Search


def solve_program(
    program: Program, *, start: Answer | None = None, tol: float = 1e-9, seconds: float = np.inf
) -> Answer:
    """Return the solution of a convex quadratic program.

    Parameters
    ----------
    program : Program
        minimise x'Px/2 + q'x + psi(x) subject to A x = b.
    start : Answer, optional
        The answer to a similar program: its active set is tried first.
    tol : float, default 1e-9
        Of the optimality conditions, relative to the sizes of their terms.
    seconds : float, optional
        What it may take.

    Returns
    -------
    Answer
        The point, its multipliers and the status. Variables are at their walls and kinks exactly, s is a
        subgradient at x exactly, and y one at K x up to rounding errors of K x.

    Notes
    -----
    A primal-dual interior point method [1]_ tells the face that the solution is on; the solution is then that
    of a linear system, and correct to rounding. P is taken to be positive semidefinite without a look.

    References
    ----------
    .. [1] Schwan, Jiang, Kuhn & Jones, "PIQP: A proximal interior-point quadratic programming solver", 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.polyhedral import Pieces, Polyhedral
    >>> bounds = Polyhedral.separable(Pieces.of(3, lower=0.0))
    >>> plane = (np.ones((1, 3)), np.ones(1))
    >>> answer = solve_program(Program(np.ones(3), -np.array([0.9, 0.5, -1.0]), plane, bounds))
    >>> answer.status.name, answer.x.round(12).tolist()
    ('SOLVED', [0.7, 0.3, 0.0])
    """
    check(program)
    program, deadline = program.handy(), perf_counter() + seconds
    answer = _answer(program, start, tol, deadline)
    balance = Balance.of(program) if answer.status is Status.INACCURATE else None
    if balance is None:
        return answer
    again = balance.back(_answer(balance.program(program), balance.there(answer), tol, deadline))
    return again if again.status is not Status.INACCURATE or again.residual < answer.residual else answer


def _answer(program: Program, start: Answer | None, tol: float, deadline: float) -> Answer:
    """Return what is found of a program as it is."""
    search = Search(program, tol, deadline)
    answer = search.answer(start)
    if answer.status is not Status.INACCURATE:
        return answer
    explained = _explained(program, search, answer)
    return search.careful(explained) if explained.status is Status.INACCURATE else explained


def _explained(program: Program, search: Search, answer: Answer) -> Answer:
    """Return why there is no solution, if that can be proven; else the answer as it is."""
    nearest = search.other(nearest_program(program, search.units))
    proof = contradiction(program, nearest.point)
    if proof is not None:
        return Answer(
            proof.x, proof.equalities, Duals(proof.s, proof.y), Status.INFEASIBLE,
            answer.iterations + nearest.iterations, np.inf,
        )  # fmt: skip
    steepest = search.other(descent_program(program, search.units))
    iterations = answer.iterations + nearest.iterations + steepest.iterations
    direction = ray(program, steepest.x) if nearest.status is Status.SOLVED else None
    if direction is None:
        return answer._replace(iterations=iterations)
    return answer._replace(
        x=nearest.x[: program.dim],
        status=Status.UNBOUNDED,
        iterations=iterations,
        lower=-np.inf,
        ray=direction,
    )
