"""The engine whose workers are Flower nodes: an exchange is a round of messages.

Walks go on with a quorum. Gradients may not lose a worker: it is asked again, then its last known gradient
stands in and the reply says so; without one the run stops. Survivors are never averaged as if they were all.
"""

import logging
import time
from typing import NamedTuple, final
from uuid import uuid4

import numpy as np
from flwr.app import Message, RecordDict
from flwr.serverapp import Grid

from tether.conversation import Array, Descend, Facts, Gradient, Reply, Request
from tether.engines.averaging import combine
from tether.engines.base import Engine, MemoryLost, Problem, WorkerError
from tether.engines.flower.client import Answer
from tether.engines.flower.messages import pack, size, unpack
from tether.engines.flower.orders import Hello, Order, Privacy
from tether.engines.flower.post import POLL, send
from tether.engines.flower.privacy import check_private
from tether.engines.worker import Upload
from tether.engines.workers import participants
from tether.objectives.base import Evaluation, Objective, Smoothness
from tether.objectives.design import COMPILE_FROM
from tether.objectives.federation import pooled_smoothness
from tether.objectives.walk import Indices

log = logging.getLogger("tether")
TRIES = 3  # times that a missing worker is asked for its gradient


class Ledger(NamedTuple):
    """What the server knows of its workers' memory; it is part of a checkpoint."""

    run: str  # a name that no other run has
    number: int  # exchanges so far
    versions: Array  # of each worker: the exchange after which its memory stands, 0 if it keeps none
    settled: tuple[tuple[Array, ...], ...]  # of each worker: the projected vectors of that exchange
    known: tuple[Upload | None, ...]  # of each worker: its last gradient


@final
class Faraway(Objective):
    """The objective of a federation as the server sees it: sizes and constants, no data."""

    def __init__(self, cards: list[Hello]) -> None:
        self.cards = cards
        self.n_samples = sum(card.n_samples for card in cards)
        self.dim = cards[0].dim if cards else 0

    @property
    def weights(self) -> list[float]:
        """The workers' shares n n_k / N."""
        total = sum(card.mass for card in self.cards)
        return [len(self.cards) * card.mass / total for card in self.cards]

    @property
    def smoothness(self) -> Smoothness:
        """The constants of the worst worker."""
        cards = zip(self.weights, self.cards, strict=True)
        return pooled_smoothness([card.smoothness.times(w) for w, card in cards])

    @property
    def large(self) -> bool:
        """Whether small workers share the kernels of a large sum, as those of a `Federation` do."""
        return self.n_samples * self.dim >= COMPILE_FROM

    @property
    def natural_batch(self) -> int:
        """The largest of the workers'."""
        return max(card.compiled_batch if self.large else card.natural_batch for card in self.cards)

    def evaluate(self, x: Array) -> Evaluation:
        """Refuse: the data is elsewhere."""
        raise WorkerError("the server has no data; ask the workers through the engine.")

    def batch_gradient(
        self, x: Array, batch: Indices | None, anchor: Array | None = None, slopes: Array | None = None
    ) -> Array:
        """Refuse: the data is elsewhere."""
        raise WorkerError("the server has no data; ask the workers through the engine.")


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
        Seconds to wait for nodes to connect, and for the answers of a round.
    privacy : Privacy, optional
        Clipping, noise and precision of uploads.
    """

    save_every = 0.0

    def __init__(
        self,
        grid: Grid,
        workers: int,
        quorum: int | None = None,
        timeout: float = 120.0,
        privacy: Privacy | None = None,
    ) -> None:
        self.grid, self.workers, self.timeout = grid, workers, timeout
        self.quorum = workers if quorum is None else quorum
        self.privacy = privacy or Privacy()
        self.blind = self.privacy.clip > 0
        if workers < 1:
            raise ValueError(f"workers must be at least 1, got {workers}.")
        if not 1 <= self.quorum <= workers:
            raise ValueError(f"quorum must be between 1 and the {workers} workers, got {self.quorum}.")
        if not timeout > 0:
            raise ValueError(f"timeout must be a positive number of seconds, got {timeout!r}.")
        if self.privacy.noise and not self.privacy.clip:
            raise ValueError("noise needs a clipping norm: set clip to the largest change a node may send.")
        self._nodes: dict[int, int] = {}  # partition -> node
        self._cards: dict[int, Hello] = {}
        self._seen: dict[tuple[str, int], Upload] = {}  # by run and worker, the last gradient of audits too
        self._refused: set[int] = set()  # nodes that cannot take part
        self._failures: dict[int, str] = {}  # of workers in the last exchange

    def introduce(self) -> Faraway:
        """Wait until all workers are there and return what is known of their data."""
        deadline = time.monotonic() + self.timeout
        while len(self._nodes) < self.workers:
            self._look_around()
            if len(self._nodes) < self.workers and time.monotonic() > deadline:
                missing = sorted(set(range(self.workers)) - set(self._nodes))
                raise WorkerError(
                    f"only {len(self._nodes)} of {self.workers} workers came within {self.timeout:g} s; "
                    f"missing: {_list(missing)}. Start them with --node-config partition-id=K."
                )
            time.sleep(POLL)
        cards = [self._cards[k] for k in range(self.workers)]
        for card in cards:
            if card.dim != cards[0].dim:
                raise ValueError(
                    f"workers must have one dimension: worker 0 has {cards[0].dim}, worker {card.partition} "
                    f"has {card.dim}; give all nodes the same columns."
                )
        return Faraway(cards)

    def _look_around(self) -> None:
        """Ask nodes that are new, or that came back, for their numbers."""
        present = set(self.grid.get_node_ids())
        self._nodes = {k: node for k, node in self._nodes.items() if node in present}
        self._refused &= present
        if len(self._nodes) == self.workers:
            return  # a newcomer may take the place of a dead node once the link has noticed its death
        strangers = present - set(self._nodes.values()) - self._refused
        answers = send(self.grid, {node: pack() for node in strangers}, "query.hello", self.timeout)
        for node, answer in answers.items():
            if answer.has_error():
                log.warning("node %s cannot take part: %s", node, _reason(answer))
                self._refused.add(node)
                continue
            self._welcome(node, unpack(answer.content, "hello", Hello))

    def _welcome(self, node: int, card: Hello) -> None:
        """Give a node its place, unless it is another's or the node changed its data."""
        k, complaint = card.partition, ""
        if not 0 <= k < self.workers or self._nodes.get(k, node) != node:
            complaint = (
                f"partition-id {k} is taken or not among the {self.workers} workers; "
                "number the nodes 0, 1, 2, ..., each once"
            )
        elif self._cards.get(k, card)[:4] != card[:4]:
            complaint = f"worker {k} came back with other data; give it back what it had"
        if not complaint:
            self._nodes[k], self._cards[k] = node, card
        elif len(self._cards) < self.workers:
            raise WorkerError(f"{complaint}.")
        else:
            log.warning("node %s cannot take part: %s.", node, complaint)
            self._refused.add(node)

    def facts(self, problem: Problem) -> Facts:
        """Return the constants of the whole federation."""
        far = problem.objective
        return Facts(far.n_samples, far.dim, far.smoothness, far.natural_batch, problem.seed, self.workers)

    def blank(self, problem: Problem) -> Ledger:
        """Return the ledger of workers that have not worked yet."""
        n = self.workers
        return Ledger(uuid4().hex, 0, np.zeros(n), ((),) * n, (None,) * n)

    def collect(self, memory: Ledger) -> Ledger:
        """Return the ledger: the workers keep their memory themselves."""
        return memory

    def exchange(self, problem: Problem, request: Request, memory: Ledger) -> tuple[Reply, Ledger]:
        """Send orders, wait, average what came back."""
        if self.privacy.clip:
            check_private(request)
        ledger = memory._replace(number=memory.number + 1)
        wanted = participants(request, self.workers, problem.seed)
        uploads, keeps, sent, received = self._gather(problem, request, ledger, wanted)
        fresh = sorted(uploads)
        if isinstance(request, Gradient):
            self._remember(ledger, uploads)
            uploads |= self._stand_ins(request, ledger, [k for k in wanted if k not in uploads])
        elif len(fresh) < min(self.quorum, len(wanted)):
            missing = _list([k for k in wanted if k not in uploads])
            raise WorkerError(
                f"only {len(fresh)} of {len(wanted)} workers answered within {self.timeout:g} s, fewer than "
                f"the quorum of {self.quorum}; missing: {missing}{self._why()}. Start them again and run "
                "once more: the checkpoint is valid."
            )
        elif len(fresh) < len(wanted):
            log.warning(
                "exchange %d goes on without workers %s.", ledger.number, _list(set(wanted) - set(fresh))
            )
        names = sorted(uploads)
        reply, projected = combine(
            problem.constraint, request, [uploads[k] for k in names], names, self.workers
        )
        work = reply.work._replace(sent=received, received=sent)
        complete = fresh == names
        reply = reply._replace(work=work)
        if not isinstance(request, Descend):
            reply = reply._replace(complete=complete)  # type: ignore[call-arg]
        log.info(
            "exchange %d: %d workers, %d bytes up, %d bytes down", ledger.number, len(fresh), received, sent
        )
        return reply, _settle(ledger, request, uploads, fresh, keeps, projected)

    def _gather(
        self, problem: Problem, request: Request, ledger: Ledger, wanted: list[int]
    ) -> tuple[dict[int, Upload], dict[int, bool], int, int]:
        """Ask workers, those whose gradient is missing more than once; return what they sent."""
        uploads: dict[int, Upload] = {}
        keeps: dict[int, bool] = {}
        self._failures.clear()
        sent = received = 0
        for _ in range(TRIES if isinstance(request, Gradient) else 1):
            open_ones = [k for k in wanted if k not in uploads]
            if not open_ones:
                break
            self._look_around()
            letters = {
                self._nodes[k]: self._order(problem, request, ledger, k)
                for k in open_ones
                if k in self._nodes
            }
            sent += sum(map(size, letters.values()))
            names = {node: k for k, node in self._nodes.items()}
            for node, answer in send(self.grid, letters, "train.work", self.timeout).items():
                if answer.has_error():
                    self._failures[names[node]] = _reason(answer)
                    log.warning("worker %d failed: %s", names[node], _reason(answer))
                    continue
                received += size(answer.content)
                said = unpack(answer.content, "answer", Answer)
                if said.lost:
                    raise MemoryLost(f"worker {said.partition} came back without its memory")
                uploads[names[node]] = _upload(answer.content)
                keeps[names[node]] = said.remembers
        return uploads, keeps, sent, received

    def _why(self) -> str:
        """Return what workers said instead of an answer."""
        said = "; ".join(f"worker {k} said: {reason}" for k, reason in sorted(self._failures.items()))
        return f" ({said})" if said else ""

    def _order(self, problem: Problem, request: Request, ledger: Ledger, worker: int) -> RecordDict:
        far = problem.objective
        assert isinstance(far, Faraway)
        order = Order(
            ledger.run,
            ledger.number,
            int(ledger.versions[worker]),
            ledger.settled[worker],
            request if isinstance(request, Gradient) else None,
            request if isinstance(request, Descend) else None,
            far.weights[worker],
            far.large,
            problem.seed,
            self.privacy,
        )
        return pack(order=order)

    def _remember(self, ledger: Ledger, uploads: dict[int, Upload]) -> None:
        """Keep last gradients for when a worker is missing; numbers alone do not hide an older vector."""
        for k, upload in uploads.items():
            before = self._seen.get((ledger.run, k), ledger.known[k])
            if upload.direction is None and before is not None:
                upload = upload._replace(direction=before.direction)
            self._seen[ledger.run, k] = upload

    def _stand_ins(self, request: Gradient, ledger: Ledger, missing: list[int]) -> dict[int, Upload]:
        """Return the last known gradients of workers that do not answer."""
        if not missing:
            return {}
        latest = [self._seen.get((ledger.run, k), ledger.known[k]) for k in range(self.workers)]
        known = {k: upload for k in missing if (upload := latest[k]) is not None}
        usable = all(upload.direction is not None or not request.tangent for upload in known.values())
        seeds = request.dual is not None and request.dual.seed
        if len(known) < len(missing) or not usable or seeds or self.workers - len(missing) < self.quorum:
            raise WorkerError(
                f"workers {_list(missing)} did not send their gradients in {TRIES} tries of {self.timeout:g} "
                f"s{self._why()}, and a gradient cannot do without them. Start them again and run once more: "
                "the checkpoint is valid."
            )
        log.warning("last known gradients stand in for workers %s.", _list(missing))
        return known


def _settle(
    ledger: Ledger,
    request: Request,
    uploads: dict[int, Upload],
    fresh: list[int],
    keeps: dict[int, bool],
    projected: tuple[Array, ...],
) -> Ledger:
    """Write down whose memory moved on, and to what."""
    versions, settled, known = ledger.versions.copy(), list(ledger.settled), list(ledger.known)
    for k in fresh:
        if keeps[k]:
            versions[k], settled[k] = ledger.number, projected
        if isinstance(request, Gradient):
            known[k] = uploads[k]
    return ledger._replace(versions=versions, settled=tuple(settled), known=tuple(known))


def _upload(content: RecordDict) -> Upload:
    numbers = unpack(content, "upload", Upload)
    names = [name for name in content["vectors"] if name.startswith("point")]
    vectors = {name: array.numpy().astype(np.float64) for name, array in content["vectors"].items()}
    points = tuple(vectors[name] for name in sorted(names))
    return numbers._replace(points=points, direction=vectors.get("direction"))


def _reason(answer: Message) -> str:
    return " ".join(str(answer.error.reason).split())[:300]


def _list(workers: object) -> str:
    return ", ".join(map(str, sorted(workers)))  # type: ignore[call-overload]
