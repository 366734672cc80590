"""One machine, one worker: a projection is linear algebra."""

from typing import final

from tether.engines import local_work
from tether.engines.averaging import form_reply
from tether.engines.base import Engine
from tether.engines.local_work import Memory, Worker
from tether.objectives.pool import Pool
from tether.problem import Facts, Problem
from tether.requests import Reply, Request

ROUND_WORK = 400_000  # numbers that compiled code reads while Python gets through a round


@final
class Serial(Engine):
    """Do all work in this process, beside the data."""

    local = True

    def facts(self, problem: Problem) -> Facts:
        """Return the objective's own constants."""
        objective, work = problem.objective, ROUND_WORK + problem.constraint.work
        return Facts.of(Pool([objective]), problem.seed, work / objective.sample_work)

    def exchange(self, problem: Problem, request: Request, memory: Memory) -> tuple[Reply, Memory]:
        """Work, project, settle."""
        asked = self.centre.asked(problem, request)
        local, memory = local_work.work(Worker(problem.objective, problem.seed), asked, memory)
        uploads = [local_work.report(local)]
        reply, projected = form_reply(self.centre.projector(problem, request, uploads), request, uploads)
        self.centre.hear(problem, request, reply)
        return reply, local_work.settle(request, local, projected, memory)
