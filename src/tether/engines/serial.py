"""One machine, one worker: a projection is linear algebra."""

from typing import final

import numpy as np

from tether.constraints.base import Constraint
from tether.engines import local_work
from tether.engines.averaging import form_reply
from tether.engines.base import Engine
from tether.engines.local_work import Memory, Worker
from tether.objectives.pool import Pool
from tether.problem import NUMBER, Facts, Problem
from tether.requests import Reply, Request

ROUND_WORK = 400_000  # numbers that compiled code reads while Python gets through a round


@final
class Serial(Engine):
    """Do all work in this process, beside the data."""

    local = True

    def facts(self, problem: Problem) -> Facts:
        """Return the objective's own constants."""
        objective, work = problem.objective, ROUND_WORK + problem.constraint.work
        facts = Facts.of(Pool([objective]), problem.seed, work / objective.sample_work)
        return facts._replace(
            step_work=NUMBER * objective.sample_work,
            equations=_count(problem.constraint),
            contrast=lambda: objective.contrast,
        )

    def exchange(self, problem: Problem, request: Request, memory: Memory) -> tuple[Reply, Memory]:
        """Work, project, settle."""
        asked = self.centre.asked(problem, request)
        local, memory = local_work.work(Worker(problem.objective, problem.seed), asked, memory)
        uploads = [local_work.report(local)]
        reply, projected = form_reply(self.centre.projector(problem, request, uploads), request, uploads)
        self.centre.hear(problem, request, reply)
        return reply, local_work.settle(request, local, projected, memory)


def _count(constraint: Constraint) -> int:
    """Return how many equations there are, where they are at hand and dense."""
    rows = None if constraint.equations is None else constraint.equations[0]
    return len(rows) if isinstance(rows, np.ndarray) else 0
