"""What has no standard errors, each said in a sentence."""

from typing import Any

from tether.inference.equations import Equations
from tether.objectives import GLM
from tether.run.solution import Solution, Status


def require_model(objective: GLM, solution: Solution) -> None:
    """Refuse models without a likelihood of one output, penalties, and runs that found no minimum."""
    if not isinstance(objective, GLM):
        raise TypeError(f"objective must be a tether.GLM for inference, got {type(objective).__name__}.")
    if objective.n_outputs > 1:
        raise ValueError(
            f"inference is for models with one output, got {objective.n_outputs}: with a coefficient for "
            "every class these are not determined."
        )
    if solution.status not in (Status.CONVERGED, Status.EXHAUSTED):
        raise ValueError(f"standard errors are not defined away from a minimum: {solution.message}.")
    if objective.ridge.largest > 0.0 or (solution.problem is not None and solution.problem.penalty):
        raise ValueError(
            "standard errors are not defined under a penalty, which biases the coefficients; fit without one."
        )


def require_free(solution: Solution, equations: Equations) -> None:
    """Refuse inequalities and bounds that hold as equations without being some."""
    active, problem = solution.active, solution.problem
    if active is None or problem is None:
        return
    rows = [label.at(k) for label in problem.inequalities for k in range(label.size)]
    bounds = [f"the bound of {problem.variables.at(j)}" for j in range(problem.dim)]
    held = _held(rows, active.inequalities, [label in equations.labels for label in rows])
    held += _held(bounds, active.bounds, equations.fixed().tolist())
    if held:
        raise ValueError(
            f"standard errors are not defined while inequalities hold as equations, and {held[0]} does"
            f"{f' (and {len(held) - 1} more)' if len(held) > 1 else ''}; state it as an equation or drop it."
        )


def _held(labels: list[str], active: Any, is_equation: list[bool]) -> list[str]:
    if active is None:
        return []
    return [
        label
        for label, side, known in zip(labels, active, is_equation, strict=False)
        if side != 0 and not known
    ]
