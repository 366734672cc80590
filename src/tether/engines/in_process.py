"""Many workers in one process: each walks on its own data, a round is a mean."""

from typing import final

import numpy as np

from tether import threads
from tether.engines import local_work
from tether.engines.averaging import combine
from tether.engines.base import Engine
from tether.engines.local_work import Done, Memory, Worker
from tether.objectives.federation import Federation
from tether.problem import Facts, Problem
from tether.requests import Descend, Reply, Request

Memories = tuple[Memory, ...]


@final
class Workers(Engine):
    """The workers of a `Federation`, side by side on the cores of this machine.

    `tether.solve` uses it for every `Federation`.
    """

    def prepare(self, problem: Problem) -> Problem:
        """Refuse a problem that has no workers."""
        if not isinstance(problem.objective, Federation):
            raise TypeError(
                f"engine Workers() needs a tether.Federation, got a {type(problem.objective).__name__}; "
                "wrap the workers' objectives in Federation([...]) or leave the engine out."
            )
        return problem

    def facts(self, problem: Problem) -> Facts:
        """Return the constants of the whole federation."""
        assert isinstance(problem.objective, Federation)
        return Facts.of(problem.objective.pool, problem.seed)

    def blank(self, problem: Problem) -> Memories:
        """Return one empty memory a worker."""
        assert isinstance(problem.objective, Federation)
        return (Memory(),) * len(problem.objective.workers)

    def collect(self, memory: Memories) -> Memories:
        """Return all memories without what can be computed again."""
        return tuple(map(local_work.without_caches, memory))

    def exchange(self, problem: Problem, request: Request, memory: Memories) -> tuple[Reply, Memories]:
        """Work everywhere, average, settle everywhere."""
        assert isinstance(problem.objective, Federation)
        workers = [Worker(local, problem.seed, k) for k, local in enumerate(problem.objective.workers)]
        names = participants(request, len(workers), problem.seed)
        asked, done = self.centre.asked(problem, request), dict[int, Done]()

        def work(part: int, begin: int, end: int) -> None:
            for k in names[begin:end]:
                done[k] = local_work.carry_out(workers[k], asked, memory[k])

        threads.share(work, len(names))
        uploads = [done[k].upload for k in names]
        projector = self.centre.projector(problem, request, uploads)
        reply, projected = combine(projector, request, uploads, names, len(workers))
        self.centre.hear(problem, request, reply)
        memories = list(memory)
        for k in names:
            memories[k] = local_work.settle(request, done[k].local, projected, done[k].memory)
        return reply, tuple(memories)


def participants(request: Request, n_workers: int, seed: int) -> list[int]:
    """Return who takes part: everybody, or the share that a walk asks for, drawn from seed and clock."""
    if not isinstance(request, Descend) or request.participation >= 1.0:
        return list(range(n_workers))
    count = max(1, round(request.participation * n_workers))
    rng = np.random.default_rng([seed, n_workers, request.clock])
    return sorted(int(k) for k in rng.choice(n_workers, count, replace=False))
