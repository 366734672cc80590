"""The engine whose workers are Flower nodes: an exchange is a round of messages.

Walks go on with a quorum. Gradients may not lose a worker: it is asked again, then its last known gradient
stands in and the reply says so; without one the run stops. Survivors are never averaged as if they were all.
Answers that the run cannot do without are awaited for three timeouts, others for one.
"""

import logging
import math
from collections.abc import Mapping
from typing import final

from flwr.app import RecordDict
from flwr.serverapp import Grid

from tether.engines.averaging import combine
from tether.engines.base import Engine, WorkerError
from tether.engines.flower.answers import Answers
from tether.engines.flower.mailbox import TRIES, Mailbox
from tether.engines.flower.messages import Privacy, Task
from tether.engines.flower.precision import widened
from tether.engines.flower.privacy import Releases, what_privacy_lacks
from tether.engines.flower.records import pack, size, without_repeats
from tether.engines.flower.remote import RemoteObjective
from tether.engines.flower.roster import Roster, listed
from tether.engines.flower.worker_table import WorkerTable
from tether.engines.in_process import participants
from tether.engines.uploads import Upload, limited
from tether.needs import Need
from tether.problem import Facts, Problem
from tether.requests import Descend, Gradient, Measured, Reply, Request

log = logging.getLogger("tether")


@final
class Flower(Engine):
    """Workers are the nodes of a Flower federation.

    Parameters
    ----------
    grid : flwr.serverapp.Grid
        The server app's way to its nodes.
    workers : int
        n, the nodes that take part, numbered 0 to n - 1 by their ``partition-id``.
    quorum : int, optional
        Answers with which a round may go on. Open: all.
    timeout : float, default 120
        Seconds to wait for the answers of a round; three times as long for those it cannot do without, and
        for nodes to connect.
    privacy : Privacy, optional
        Clipping, noise and precision of uploads.
    releases : Releases, optional
        Counts the uploads that carry noise.
    max_change : float, default 0
        The longest change of a walk, and the longest gradient, that counts in full: the server scales longer
        ones down to it, and a mean with such a gradient certifies nothing. 0: no bound. It protects the model
        from nodes; ``privacy.clip``, which nodes apply themselves, protects nodes from the server.
    """

    save_every = 0.0
    rehearses = False  # it would cost a round and reveal something

    def __init__(
        self,
        grid: Grid,
        workers: int,
        quorum: int | None = None,
        timeout: float = 120.0,
        privacy: Privacy | None = None,
        releases: Releases | None = None,
        *,
        max_change: float = 0.0,
    ) -> None:
        self.grid, self.workers, self.timeout = grid, workers, timeout
        self.quorum = workers if quorum is None else quorum
        self.privacy, self.releases, self.max_change = privacy or Privacy(), releases, max_change
        self.lacks: Mapping[Need, str] = what_privacy_lacks(self.privacy)
        self._check_settings()
        self._roster = Roster(grid, workers, timeout)
        self._seen: dict[tuple[str, int], Upload] = {}  # by run and worker, the last gradient of audits too
        self._exchanges = 0

    def _check_settings(self) -> None:
        if self.workers < 1:
            raise ValueError(f"workers must be at least 1, got {self.workers}.")
        if not 1 <= self.quorum <= self.workers:
            raise ValueError(f"quorum must be between 1 and the {self.workers} workers, got {self.quorum}.")
        if not self.timeout > 0:
            raise ValueError(f"timeout must be a positive number of seconds, got {self.timeout!r}.")
        bounds = {"clip": self.privacy.clip, "noise": self.privacy.noise, "max_change": self.max_change}
        for name, value in bounds.items():
            if not 0 <= value < math.inf:
                raise ValueError(f"{name} must be a number of at least 0, got {value!r}.")
        if self.privacy.noise and not self.privacy.clip:
            raise ValueError("noise needs a clipping norm: set clip to the largest change a node may send.")

    def introduce(self) -> RemoteObjective:
        """Wait until all workers are there and return what is known of their data."""
        return self._roster.gather()

    def facts(self, problem: Problem) -> Facts:
        """Return the constants of the whole federation."""
        assert isinstance(problem.objective, RemoteObjective)
        return Facts.of(problem.objective.pool, problem.seed)

    def blank(self, problem: Problem) -> WorkerTable:
        """Return the table of workers that have not worked yet."""
        return WorkerTable.blank(self.workers)

    def collect(self, memory: WorkerTable) -> WorkerTable:
        """Return the table: the workers keep their memory themselves."""
        return memory

    def exchange(self, problem: Problem, request: Request, memory: WorkerTable) -> tuple[Reply, WorkerTable]:
        """Send tasks, wait, average what came back."""
        table, request = memory._replace(number=memory.number + 1), untrusting(request)
        wanted = participants(request, self.workers, problem.seed)
        answers = self._gather(problem, self.centre.asked(problem, request), table, wanted)
        fresh, factors = self._limited(request, answers.uploads)
        missing = answers.missing(wanted)
        uploads = dict(fresh)
        if isinstance(request, Gradient):
            self._remember(table, fresh)
            uploads |= self._stand_ins(request, table, missing, answers)
        elif missing:
            self._go_on_without(missing, wanted, answers)
        names = sorted(uploads)
        chosen = [uploads[k] for k in names]
        projector = self.centre.projector(problem, request, chosen)
        reply, projected = combine(projector, request, chosen, names, self.workers)
        self.centre.hear(problem, request, reply)
        reply = reply._replace(work=reply.work._replace(sent=answers.received, received=answers.sent))
        if isinstance(reply, Measured):
            reply = reply._replace(complete=not missing and not factors)
            if self.privacy.single:
                reply = widened(reply, chosen)
        self._report(answers)
        return reply, table.after(request, fresh, answers.keeping & set(fresh), projected, factors)

    def _report(self, answers: Answers) -> None:
        self._exchanges += 1
        present, up, down = len(answers.uploads), answers.received, answers.sent
        log.info("exchange %d: %d workers, %d bytes up, %d bytes down", self._exchanges, present, up, down)

    def _limited(
        self, request: Request, uploads: Mapping[int, Upload]
    ) -> tuple[dict[int, Upload], dict[int, float]]:
        """Return uploads within the bound, and what scaled the first vector of those that were longer."""
        if not self.max_change:
            return dict(uploads), {}
        kept, factors = {}, {}
        for k, upload in uploads.items():
            kept[k], scales = limited(request, upload, self.max_change)
            if min(scales, default=1.0) < 1.0:
                factors[k] = scales[0]
                what = "gradient" if isinstance(request, Gradient) else "change"
                log.warning("the %s of worker %d exceeds max_change and is scaled down to it.", what, k)
        return kept, factors

    def _gather(self, problem: Problem, request: Request, table: WorkerTable, wanted: list[int]) -> Answers:
        """Ask workers and wait: once for answers that can be done without, three times for others.

        Gradients are asked for again, walks are not: each may reveal something.
        """
        assert isinstance(problem.objective, RemoteObjective)
        answers = Answers(request, problem.objective.pool.cards, table, self.privacy.single)
        mailbox = Mailbox(self.grid, "train.work", self.timeout)
        names: dict[int, int] = {}  # node -> worker, of all that were asked
        walking = isinstance(request, Descend)
        for turn in range(TRIES):
            missing = answers.missing(wanted)
            if not missing or (walking and turn and self._suffices(answers, wanted)):
                break
            self._roster.look_around()
            if not self._can_do_without(missing, request, table, answers):
                self._roster.wait_for(missing, self.timeout)
            present = {self._roster.nodes[k]: k for k in missing if k in self._roster.nodes}
            asked = {node: k for node, k in present.items() if not (walking and node in names)}
            names |= asked
            if self.releases is not None:
                self.releases.count(asked.values())
            tasks = {node: self._task(problem, request, table, k) for node, k in asked.items()}
            answers.sent += sum(map(size, tasks.values()))
            mailbox.send(tasks)
            for node, answer in mailbox.wait(present).items():
                answers.take(names[node], answer)
            answers.accept_common_overflow(wanted)
        return answers

    def _suffices(self, answers: Answers, wanted: list[int]) -> bool:
        """Say whether a walk can go on with those that answered."""
        return len(answers.uploads) >= min(self.quorum, len(wanted))

    def _go_on_without(self, missing: list[int], wanted: list[int], answers: Answers) -> None:
        """Say who is missing in a walk; refuse if too many are."""
        if self._suffices(answers, wanted):
            log.warning("the walk goes on without workers %s.", listed(missing))
            return
        raise WorkerError(
            f"only {len(answers.uploads)} of {len(wanted)} workers answered, fewer than the quorum of "
            f"{self.quorum}; missing: {listed(missing)}{answers.causes}{self._roster.causes}. Start them "
            "again and run once more: the checkpoint is valid."
        )

    def _task(self, problem: Problem, request: Request, table: WorkerTable, worker: int) -> RecordDict:
        federation = problem.objective
        assert isinstance(federation, RemoteObjective)
        task = Task(
            run=table.run,
            number=table.number,
            expects=int(table.versions[worker]),
            settled=table.settled[worker],
            scaled=float(table.scaled[worker]),
            missed=table.missed[worker],
            gradient=request if isinstance(request, Gradient) else None,
            descend=request if isinstance(request, Descend) else None,
            weight=float(federation.weights[worker]),
            compiled=federation.large,
            seed=problem.seed,
            privacy=self.privacy,
        )
        return without_repeats(pack(task=task))

    def _remember(self, table: WorkerTable, uploads: dict[int, Upload]) -> None:
        """Keep last gradients for when a worker is missing; numbers alone do not hide an older vector."""
        for k, upload in uploads.items():
            if not math.isfinite(upload.value):
                continue
            before = self._last(table, k)
            if upload.direction is None and before is not None:
                upload = upload._replace(direction=before.direction)
            self._seen[table.run, k] = upload._replace(curvature=None)

    def _stand_ins(
        self, request: Gradient, table: WorkerTable, missing: list[int], answers: Answers
    ) -> dict[int, Upload]:
        """Return the last known gradients of workers that do not answer."""
        if not missing:
            return {}
        if not self._have_stand_ins(missing, request, table):
            raise WorkerError(
                f"workers {listed(missing)} did not send their gradients in {TRIES} tries{answers.causes}"
                f"{self._roster.causes}, and a gradient cannot do without them. Start them again and run "
                "once more: the checkpoint is valid."
            )
        log.warning("last known gradients stand in for workers %s.", listed(missing))
        known = {k: upload for k in missing if (upload := self._last(table, k)) is not None}
        if request.tangent:
            return known
        return {k: upload._replace(direction=None) for k, upload in known.items()}

    def _have_stand_ins(self, missing: list[int], request: Gradient, table: WorkerTable) -> bool:
        """Say whether last known gradients may take the place of those of missing workers."""
        if self.workers - len(missing) < self.quorum or (request.dual is not None and request.dual.seed):
            return False
        known = [self._last(table, k) for k in missing]
        return all(last is not None and (last.direction is not None or not request.tangent) for last in known)

    def _last(self, table: WorkerTable, worker: int) -> Upload | None:
        return self._seen.get((table.run, worker), table.known[worker])

    def _can_do_without(
        self, missing: list[int], request: Request, table: WorkerTable, answers: Answers
    ) -> bool:
        """Say whether workers that are not even there would be missed."""
        absent = [k for k in missing if k not in self._roster.nodes]
        if isinstance(request, Gradient):
            return not absent or self._have_stand_ins(absent, request, table)
        asked = len(answers.uploads) + len(missing)
        return asked - len(absent) >= min(self.quorum, asked)


def untrusting(request: Request) -> Request:
    """Return a request whose second derivatives, being the word of other machines, certify nothing."""
    if not isinstance(request, Gradient) or request.metric is None:
        return request
    return request._replace(metric=request.metric._replace(concordance=math.inf))
