"""What an exchange brought: uploads that can be used, and why others cannot.

Answers of other machines are checked before they count. One that is malformed is a failure of its worker, as
if it had sent an error. So is one with numbers that are not finite, unless all workers say the same: then it
is the point or the step that is wrong, and the run has to judge.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from flwr.app import Message

from tether.engines.base import MemoryLost
from tether.engines.flower.messages import Answer
from tether.engines.flower.reading import BadAnswer, read_tuple, read_upload, reason
from tether.engines.flower.records import size
from tether.engines.flower.worker_table import WorkerTable
from tether.engines.uploads import BadUpload, Upload, check_cost, check_form, curvature_length, overflow
from tether.objectives.pool import Member
from tether.requests import Request

log = logging.getLogger("tether")


@dataclass
class Answers:
    """The answers to one request, by worker."""

    request: Request
    cards: Sequence[Member]  # what workers said of their data
    table: WorkerTable
    single: bool  # whether vectors come in single precision
    uploads: dict[int, Upload] = field(default_factory=dict)
    overflowed: dict[int, Upload] = field(default_factory=dict)  # not finite
    keeping: set[int] = field(default_factory=set)  # workers that keep something the run depends on
    failures: dict[int, str] = field(default_factory=dict)  # why workers' answers cannot be used
    sent: int = 0  # bytes
    received: int = 0

    def take(self, worker: int, message: Message) -> None:
        """Read an answer; one that cannot be used is a failure of its worker."""
        try:
            said, upload = self._read(worker, message)
        except (BadAnswer, BadUpload) as error:
            self._fail(worker, str(error))
            return
        if said.lost:
            raise MemoryLost(f"worker {worker} came back without its memory")
        if said.remembers:
            self.keeping.add(worker)
        excess = overflow(self.request, upload)
        if excess:
            self.overflowed[worker] = upload
            self._fail(worker, f"worker {worker} sent {excess}; check its data, or choose shorter steps")
            return
        self.uploads[worker] = upload
        self.failures.pop(worker, None)

    def accept_common_overflow(self, workers: Collection[int]) -> None:
        """Let uploads that are not finite count if no worker has any other."""
        if set(self.overflowed) == set(workers):
            self.uploads, self.failures = dict(self.overflowed), {}

    def missing(self, workers: Collection[int]) -> list[int]:
        """Return the workers without an upload that counts."""
        return [k for k in workers if k not in self.uploads]

    @property
    def causes(self) -> str:
        """Why answers cannot be used, to be put into an error."""
        causes = "; ".join(why for _, why in sorted(self.failures.items()))
        return f" ({causes})" if causes else ""

    def _read(self, worker: int, message: Message) -> tuple[Answer, Upload]:
        if message.has_error():
            raise BadAnswer(f"worker {worker} said: {reason(message)}")
        content, dim = message.content, self.cards[worker].dim
        try:
            self.received += size(content)
            said = read_tuple(content, "answer", Answer)
            if said.lost:
                _check_loss(said, int(self.table.versions[worker]))
                return said, Upload((), None)
            upload = read_upload(content, dim, curvature_length(self.request), self.single)
        except BadAnswer as error:
            raise BadAnswer(f"worker {worker} sent {error}") from error
        check_form(worker, self.request, upload)
        check_cost(worker, self.request, upload, self.cards[worker])
        return said, upload

    def _fail(self, worker: int, why: str) -> None:
        why = why.rstrip(".")
        if self.failures.get(worker) != why:  # a worker that is asked again says it again
            log.warning("%s.", why)
        self.failures[worker] = why


def _check_loss(said: Answer, expected: int) -> None:
    if not expected:
        raise BadAnswer("word of a lost memory, though it was asked for none")
