"""The engine whose workers are Flower nodes: an exchange is a round of messages.

Walks go on with a quorum. Gradients may not lose a worker: it is asked again, then its last known gradient
stands in and the reply says so; without one the run stops. Survivors are never averaged as if they were all.
Answers that the run cannot do without are awaited for three timeouts, others for one.
"""

import logging
import math
from dataclasses import dataclass, field
from typing import final

import numpy as np
from flwr.app import Message, RecordDict
from flwr.serverapp import Grid

from tether.engines.averaging import combine
from tether.engines.base import Engine, MemoryLost, WorkerError
from tether.engines.flower.client import Answer
from tether.engines.flower.ledger import Ledger
from tether.engines.flower.messages import pack, size, unpack
from tether.engines.flower.orders import Order, Privacy
from tether.engines.flower.post import TRIES, Post
from tether.engines.flower.precision import widened
from tether.engines.flower.privacy import Releases, check_private
from tether.engines.flower.remote import RemoteObjective
from tether.engines.flower.roster import Roster, listed, reason
from tether.engines.in_process import participants
from tether.engines.local_work import Upload
from tether.problem import Facts, Problem
from tether.requests import Descend, Gradient, Measured, Reply, Request

log = logging.getLogger("tether")


@dataclass
class Mail:
    """What an exchange brought, by worker."""

    uploads: dict[int, Upload] = field(default_factory=dict)
    keeping: set[int] = field(default_factory=set)  # workers that keep something the run depends on
    failures: dict[int, str] = field(default_factory=dict)  # what workers said instead of an answer
    sent: int = 0  # bytes
    received: int = 0

    @property
    def excuses(self) -> str:
        """What workers said instead of an answer, to be put into an error."""
        said = "; ".join(f"worker {k} said: {why}" for k, why in sorted(self.failures.items()))
        return f" ({said})" if said else ""


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
    """

    save_every = 0.0

    def __init__(
        self,
        grid: Grid,
        workers: int,
        quorum: int | None = None,
        timeout: float = 120.0,
        privacy: Privacy | None = None,
        releases: Releases | None = None,
    ) -> None:
        self.grid, self.workers, self.timeout = grid, workers, timeout
        self.quorum = workers if quorum is None else quorum
        self.privacy, self.releases = privacy or Privacy(), releases
        self.blind = self.privacy.clip > 0
        if workers < 1:
            raise ValueError(f"workers must be at least 1, got {workers}.")
        if not 1 <= self.quorum <= workers:
            raise ValueError(f"quorum must be between 1 and the {workers} workers, got {self.quorum}.")
        if not timeout > 0:
            raise ValueError(f"timeout must be a positive number of seconds, got {timeout!r}.")
        for name in ("clip", "noise"):
            value = getattr(self.privacy, name)
            if not 0 <= value < math.inf:
                raise ValueError(f"{name} must be a number of at least 0, got {value!r}.")
        if self.privacy.noise and not self.privacy.clip:
            raise ValueError("noise needs a clipping norm: set clip to the largest change a node may send.")
        self._roster = Roster(grid, workers, timeout)
        self._seen: dict[tuple[str, int], Upload] = {}  # by run and worker, the last gradient of audits too

    def introduce(self) -> RemoteObjective:
        """Wait until all workers are there and return what is known of their data."""
        return self._roster.gather()

    def facts(self, problem: Problem) -> Facts:
        """Return the constants of the whole federation."""
        assert isinstance(problem.objective, RemoteObjective)
        return Facts.of(problem.objective.pool, problem.seed)

    def blank(self, problem: Problem) -> Ledger:
        """Return the ledger of workers that have not worked yet."""
        return Ledger.blank(self.workers)

    def collect(self, memory: Ledger) -> Ledger:
        """Return the ledger: the workers keep their memory themselves."""
        return memory

    def exchange(self, problem: Problem, request: Request, memory: Ledger) -> tuple[Reply, Ledger]:
        """Send orders, wait, average what came back."""
        if self.privacy.clip:
            check_private(request)
        ledger = memory._replace(number=memory.number + 1)
        wanted = participants(request, self.workers, problem.seed)
        mail = self._gather(problem, request, ledger, wanted)
        missing = [k for k in wanted if k not in mail.uploads]
        uploads = dict(mail.uploads)
        if isinstance(request, Gradient):
            self._remember(ledger, uploads)
            uploads |= self._stand_ins(request, ledger, missing, mail)
        elif missing:
            self._go_on_without(missing, wanted, ledger, mail)
        names = sorted(uploads)
        chosen = [uploads[k] for k in names]
        reply, projected = combine(problem.constraint, request, chosen, names, self.workers)
        reply = reply._replace(work=reply.work._replace(sent=mail.received, received=mail.sent))
        if isinstance(reply, Measured):
            reply = reply._replace(complete=not missing)
            if self.privacy.single:
                reply = widened(reply, chosen)
        present, up, down = len(mail.uploads), mail.received, mail.sent
        log.info("exchange %d: %d workers, %d bytes up, %d bytes down", ledger.number, present, up, down)
        return reply, ledger.after(request, mail.uploads, mail.keeping, projected)

    def _gather(self, problem: Problem, request: Request, ledger: Ledger, wanted: list[int]) -> Mail:
        """Ask workers and wait: once for answers that can be done without, three times for others.

        Gradients are asked for again, walks are not: each may reveal something.
        """
        mail, post = Mail(), Post(self.grid, "train.work", self.timeout)
        names: dict[int, int] = {}  # node -> worker, of all that were asked
        walking = isinstance(request, Descend)
        for turn in range(TRIES):
            missing = [k for k in wanted if k not in mail.uploads]
            if not missing or (walking and turn and self._suffices(mail, wanted)):
                break
            self._roster.look_around()
            if not self._can_do_without(missing, request, ledger, mail):
                self._roster.wait_for(missing, self.timeout)
            present = {self._roster.nodes[k]: k for k in missing if k in self._roster.nodes}
            asked = {node: k for node, k in present.items() if not (walking and node in names)}
            names |= asked
            if self.releases is not None:
                self.releases.count(asked.values())
            letters = {node: self._order(problem, request, ledger, k) for node, k in asked.items()}
            mail.sent += sum(map(size, letters.values()))
            post.send(letters)
            for node, answer in post.wait(present).items():
                _read(answer, names[node], mail)
        return mail

    def _suffices(self, mail: Mail, wanted: list[int]) -> bool:
        """Say whether a walk can go on with those that answered."""
        return len(mail.uploads) >= min(self.quorum, len(wanted))

    def _go_on_without(self, missing: list[int], wanted: list[int], ledger: Ledger, mail: Mail) -> None:
        """Say who is missing in a walk; refuse if too many are."""
        if self._suffices(mail, wanted):
            log.warning("exchange %d goes on without workers %s.", ledger.number, listed(missing))
            return
        raise WorkerError(
            f"only {len(mail.uploads)} of {len(wanted)} workers answered within {TRIES * self.timeout:g} s, "
            f"fewer than the quorum of {self.quorum}; missing: {listed(missing)}{mail.excuses}. Start them "
            "again and run once more: the checkpoint is valid."
        )

    def _order(self, problem: Problem, request: Request, ledger: Ledger, worker: int) -> RecordDict:
        far = problem.objective
        assert isinstance(far, RemoteObjective)
        order = Order(
            ledger.run,
            ledger.number,
            int(ledger.versions[worker]),
            ledger.settled[worker],
            ledger.missed[worker],
            request if isinstance(request, Gradient) else None,
            request if isinstance(request, Descend) else None,
            float(far.weights[worker]),
            far.large,
            problem.seed,
            self.privacy,
        )
        return pack(order=order)

    def _remember(self, ledger: Ledger, uploads: dict[int, Upload]) -> None:
        """Keep last gradients for when a worker is missing; numbers alone do not hide an older vector."""
        for k, upload in uploads.items():
            before = self._last(ledger, k)
            if upload.direction is None and before is not None:
                upload = upload._replace(direction=before.direction)
            self._seen[ledger.run, k] = upload

    def _stand_ins(
        self, request: Gradient, ledger: Ledger, missing: list[int], mail: Mail
    ) -> dict[int, Upload]:
        """Return the last known gradients of workers that do not answer."""
        if not missing:
            return {}
        if not self._have_stand_ins(missing, request, ledger):
            raise WorkerError(
                f"workers {listed(missing)} did not send their gradients in {TRIES} tries of "
                f"{self.timeout:g} s{mail.excuses}, and a gradient cannot do without them. Start them again "
                "and run once more: the checkpoint is valid."
            )
        log.warning("last known gradients stand in for workers %s.", listed(missing))
        return {k: upload for k in missing if (upload := self._last(ledger, k)) is not None}

    def _have_stand_ins(self, missing: list[int], request: Gradient, ledger: Ledger) -> bool:
        """Say whether last known gradients may take the place of those of missing workers."""
        if self.workers - len(missing) < self.quorum or (request.dual is not None and request.dual.seed):
            return False
        known = [self._last(ledger, k) for k in missing]
        return all(last is not None and (last.direction is not None or not request.tangent) for last in known)

    def _last(self, ledger: Ledger, worker: int) -> Upload | None:
        return self._seen.get((ledger.run, worker), ledger.known[worker])

    def _can_do_without(self, missing: list[int], request: Request, ledger: Ledger, mail: Mail) -> bool:
        """Say whether workers that are not even there would be missed."""
        absent = [k for k in missing if k not in self._roster.nodes]
        if isinstance(request, Gradient):
            return not absent or self._have_stand_ins(absent, request, ledger)
        asked = len(mail.uploads) + len(missing)
        return asked - len(absent) >= min(self.quorum, asked)


def _read(answer: Message, worker: int, mail: Mail) -> None:
    """Put an answer where it belongs."""
    if answer.has_error():
        mail.failures[worker] = reason(answer)
        log.warning("worker %d failed: %s", worker, reason(answer))
        return
    mail.received += size(answer.content)
    said = unpack(answer.content, "answer", Answer)
    if said.lost:
        raise MemoryLost(f"worker {said.partition} came back without its memory")
    mail.uploads[worker] = _upload(answer.content)
    if said.remembers:
        mail.keeping.add(worker)


def _upload(content: RecordDict) -> Upload:
    numbers = unpack(content, "upload", Upload)
    names = [name for name in content["vectors"] if name.startswith("point")]
    vectors = {name: array.numpy().astype(np.float64) for name, array in content["vectors"].items()}
    points = tuple(vectors[name] for name in sorted(names))
    return numbers._replace(points=points, direction=vectors.get("direction"))
