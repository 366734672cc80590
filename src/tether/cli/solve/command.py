"""What `tether solve` does, step by step."""

import argparse
import sys
from typing import Any

from tether.cli import codes
from tether.cli.solve.answer import require_writable, tell, write
from tether.cli.solve.model import Model, read_model
from tether.cli.solve.penalties import Coefficients, read_penalties
from tether.cli.solve.ranks import Ranks, processes
from tether.cli.solve.restrictions import Variables, read_constraints
from tether.inputs import InfeasibleError
from tether.run.solution import Solution
from tether.solve import solve


def run(options: argparse.Namespace) -> int:
    """Read, solve, tell; return the exit code."""
    ranks = processes()
    try:
        return _run(options, ranks)
    except InfeasibleError as error:
        return _refused(error, codes.NO_ANSWER, ranks)
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        return _refused(error, codes.BAD_INPUT, ranks)
    except (ArithmeticError, RuntimeError) as error:
        return _refused(error, codes.STOPPED, ranks)


def _refused(error: BaseException, code: int, ranks: Ranks) -> int:
    if ranks.leads:
        words = "there is not enough memory." if isinstance(error, MemoryError) else str(error)
        print(f"tether solve: {words}", file=sys.stderr)
    return code


def _run(options: argparse.Namespace, ranks: Ranks) -> int:
    ranks.all_do(lambda: require_writable(options))
    model = read_model(options, ranks)
    constraints = ranks.all_do(lambda: _constraints(options, model))
    penalties = ranks.all_do(lambda: _penalties(options, model))
    solution = _solution(options, ranks, model, (constraints, penalties))
    if ranks.leads:
        tell(solution, options, model)
        write(solution, options, model)
    return codes.code_of(solution.status)


def _constraints(options: argparse.Namespace, model: Model) -> list[Any]:
    return read_constraints(options, Variables(model.labels, model.intercepts))


def _penalties(options: argparse.Namespace, model: Model) -> list[Any]:
    coefficients = Coefficients(model.columns, model.objective.n_outputs, model.intercepts)
    return read_penalties(options.penalty, coefficients)


def _solution(
    options: argparse.Namespace, ranks: Ranks, model: Model, asked: tuple[list[Any], list[Any]]
) -> Solution:
    constraints, penalties = asked
    return solve(
        model.objective,
        constraints or None,
        options.method,
        penalty=penalties or None,
        tol=options.tol,
        rtol=options.rtol,
        seed=options.seed,
        max_passes=options.max_passes,
        max_rounds=options.max_rounds,
        max_seconds=options.max_seconds,
        checkpoint=options.checkpoint,
        engine=ranks.engine,
        verbose=not options.quiet,
    )
