"""One machine, one worker: a projection is linear algebra."""

from typing import final

import numpy as np

from tether.engines import local_work
from tether.engines.averaging import tangent_part
from tether.engines.base import Engine
from tether.engines.local_work import Local, Memory, Worker
from tether.objectives.pool import Card, Pool
from tether.problem import Facts, Problem
from tether.requests import Arrived, Descend, Gradient, Measured, Reply, Request, Work

ROUND = 400_000  # numbers that compiled code reads while Python gets through a round


@final
class Serial(Engine):
    """Do all work in this process, beside the data."""

    local = True

    def facts(self, problem: Problem) -> Facts:
        """Return the objective's own constants."""
        objective, work = problem.objective, ROUND + problem.constraint.work
        return Facts.of(Pool([Card.of(objective)]), problem.seed, work / objective.sample_work)

    def exchange(self, problem: Problem, request: Request, memory: Memory) -> tuple[Reply, Memory]:
        """Work, project, settle."""
        local, memory = local_work.work(Worker(problem.objective, problem.seed), request, memory)
        if isinstance(request, Gradient):
            return _measured(problem, request, local, memory)
        return _arrived(problem, request, local, memory)


def _measured(problem: Problem, request: Gradient, local: Local, memory: Memory) -> tuple[Measured, Memory]:
    evaluation = local.evaluation
    assert evaluation is not None
    full = evaluation.gradient
    work = Work(gradients=local.gradients)
    if local.direction is None:  # h stands in for the projection: P h = 0
        normal = np.zeros_like(full) if local.dual is None else local.dual
        tangent, misfit = None, full - normal
    else:
        tangent, vectors = tangent_part(problem.constraint, local.direction)
        misfit, normal = tangent, full - tangent
        work = work._replace(rounds=1, projections=vectors)
        memory = local_work.settle(request, local, (tangent,), memory)
    certificate, scale = float(misfit @ misfit), float(np.linalg.norm(full))
    return Measured(request.point, evaluation.value, certificate, scale, tangent, normal, work), memory


def _arrived(problem: Problem, request: Descend, local: Local, memory: Memory) -> tuple[Arrived, Memory]:
    projected = tuple(problem.constraint.project(point) for point in local.points)
    memory = local_work.settle(request, local, projected, memory)
    average = projected[1] if len(projected) > 1 else None
    work = Work(local.steps, local.gradients, 1, len(projected))
    return Arrived(projected[0], average, work), memory
