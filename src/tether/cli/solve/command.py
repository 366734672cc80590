"""What `tether solve` does, step by step."""

import argparse
import sys
from typing import Any

from tether.cli import codes
from tether.cli.solve.answer import require_writable, tell, tell_refusal, write
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
        code, words = codes.NO_ANSWER, str(error)
    except MemoryError:
        code, words = codes.BAD_INPUT, "there is not enough memory."
    except (ValueError, TypeError, OSError, ImportError) as error:
        code, words = codes.BAD_INPUT, str(error)
    except (ArithmeticError, RuntimeError) as error:
        code, words = codes.STOPPED, str(error)
    if ranks.leads:
        tell_refusal(words, code, options)
    return code


def _run(options: argparse.Namespace, ranks: Ranks) -> int:
    ranks.all_do(lambda: require_writable(options))
    model = read_model(options, ranks)
    constraints = ranks.all_do(lambda: _constraints(options, model))
    penalties = ranks.all_do(lambda: _penalties(options, model))
    solution = _solution(options, ranks, model, (constraints, penalties))
    return _told(solution, options, model) if ranks.leads else codes.code_of(solution.status)


def _told(solution: Solution, options: argparse.Namespace, model: Model) -> int:
    """Write and print the answer; return the exit code, which the print names too."""
    code, failure = codes.code_of(solution.status), ""
    try:
        write(solution, options, model)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        code, failure = codes.BAD_INPUT, f"the solution cannot be written: {reason}; it is printed above."
    tell(solution, options, model, code)
    if failure:
        print(f"tether solve: {failure}", file=sys.stderr)
    return code


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
