"""Who takes part: which node is which worker, now and after deaths and returns."""

import logging
import time
from collections.abc import Collection

from flwr.app import Message
from flwr.serverapp import Grid

from tether.engines.base import WorkerError
from tether.engines.flower.messages import pack, unpack
from tether.engines.flower.orders import Hello
from tether.engines.flower.post import POLL, TRIES, Post
from tether.engines.flower.remote import RemoteObjective

log = logging.getLogger("tether")


class Roster:
    """The nodes of a federation by their numbers, 0 to n - 1."""

    def __init__(self, grid: Grid, workers: int, timeout: float) -> None:
        self.grid, self.workers, self.patience = grid, workers, TRIES * timeout
        self.nodes: dict[int, int] = {}  # worker -> node
        self._hellos: dict[int, Hello] = {}
        self._refused: set[int] = set()  # nodes that cannot take part
        self._post = Post(grid, "query.hello", timeout)

    def gather(self) -> RemoteObjective:
        """Wait until all workers are there and return what is known of their data."""
        deadline = time.monotonic() + self.patience
        while len(self.nodes) < self.workers:
            self.look_around()
            if len(self.nodes) < self.workers and time.monotonic() > deadline:
                missing = set(range(self.workers)) - set(self.nodes)
                raise WorkerError(
                    f"only {len(self.nodes)} of {self.workers} workers came within {self.patience:g} s; "
                    f"missing: {listed(missing)}. Start them with --node-config partition-id=K, and where "
                    "the link authenticates nodes, register their keys."
                )
            time.sleep(POLL)
        hellos = [self._hellos[k] for k in range(self.workers)]
        for k, hello in enumerate(hellos):
            if hello.card.dim != hellos[0].card.dim:
                raise ValueError(
                    f"workers must have one dimension: worker 0 has {hellos[0].card.dim}, worker {k} "
                    f"has {hello.card.dim}; give all nodes the same columns."
                )
        return RemoteObjective(hellos)

    def wait_for(self, workers: Collection[int], seconds: float) -> None:
        """Give workers that are not there some time to come."""
        deadline = time.monotonic() + seconds
        while set(workers) - set(self.nodes) and time.monotonic() < deadline:
            time.sleep(POLL)
            self.look_around()

    def look_around(self) -> None:
        """Ask nodes that are new, or that came back, for their numbers."""
        present = set(self.grid.get_node_ids())
        self.nodes = {k: node for k, node in self.nodes.items() if node in present}
        self._refused &= present
        if len(self.nodes) == self.workers:
            return  # a newcomer may take the place of a dead node once the link has noticed its death
        strangers = present - set(self.nodes.values()) - self._refused
        self._post.send({node: pack() for node in strangers})
        for node, answer in self._post.wait(strangers).items():
            if answer.has_error():
                self._refuse(node, reason(answer))
            else:
                self._welcome(node, unpack(answer.content, "hello", Hello))

    def _welcome(self, node: int, hello: Hello) -> None:
        """Give a node its place, unless it is another's or the node changed its data."""
        k, complaint = hello.partition, ""
        if not 0 <= k < self.workers or self.nodes.get(k, node) != node:
            complaint = (
                f"partition-id {k} is taken or not among the {self.workers} workers; "
                "number the nodes 0, 1, 2, ..., each once"
            )
        elif self._hellos.get(k, hello).card[:3] != hello.card[:3]:
            complaint = f"worker {k} came back with other data; give it back what it had"
        if not complaint:
            self.nodes[k], self._hellos[k] = node, hello
        elif len(self._hellos) < self.workers:
            raise WorkerError(f"{complaint}.")
        else:
            self._refuse(node, f"{complaint}.")

    def _refuse(self, node: int, why: str) -> None:
        log.warning("node %s cannot take part: %s", node, why)
        self._refused.add(node)


def reason(answer: Message) -> str:
    """Return what a node said instead of an answer, in one line."""
    return " ".join(str(answer.error.reason).split())[:300]


def listed(workers: object) -> str:
    """Return the numbers of workers in words."""
    return ", ".join(map(str, sorted(workers)))  # type: ignore[call-overload]
