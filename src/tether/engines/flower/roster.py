"""Who takes part: which node is which worker, now and after deaths and returns."""

import logging
import time
from collections.abc import Collection, Iterable

from flwr.common.constant import ErrorCode
from flwr.serverapp import Grid

from tether.arrays import Array
from tether.engines.base import WorkerError
from tether.engines.flower.introductions import check_agreement, check_hello, is_same
from tether.engines.flower.mailbox import POLL_SECONDS, TRIES, Mailbox
from tether.engines.flower.messages import Hello
from tether.engines.flower.reading import BadAnswer, read_initial, read_tuple, reason
from tether.engines.flower.records import pack
from tether.engines.flower.remote import RemoteObjective

log = logging.getLogger("tether")
GONE = (  # what the link says for a node that it still lists and that no longer answers
    ErrorCode.MESSAGE_UNAVAILABLE,
    ErrorCode.REPLY_MESSAGE_UNAVAILABLE,
    ErrorCode.NODE_UNAVAILABLE,
)


class Roster:
    """The nodes of a federation by the numbers of their workers, 0 to n - 1."""

    def __init__(self, grid: Grid, workers: int, timeout: float) -> None:
        self.grid, self.workers, self.patience = grid, workers, TRIES * timeout
        self.nodes: dict[int, int] = {}  # worker -> node
        self._hellos: dict[int, Hello] = {}
        self._starts: dict[int, Array | None] = {}  # where the workers' models start
        self._refused: dict[int, str] = {}  # nodes that cannot take part, and what they said, if anything
        self._present: set[int] = set()
        self._mailbox = Mailbox(grid, "query.hello", timeout)

    def gather(self) -> RemoteObjective:
        """Wait until all workers are there and return what is known of their data."""
        self.wait_for(range(self.workers), self.patience)
        missing = set(range(self.workers)) - set(self.nodes)
        if missing:
            came = f"only {len(self.nodes)} of {self.workers} workers came"
            if not self._is_hopeless():
                came += f" within {self.patience:g} s"
            raise WorkerError(
                f"{came}; missing: {listed(missing)}{self.causes}. Start them with --node-config "
                "partition-id=K, and where the link authenticates nodes, register their keys."
            )
        hellos = [self._hellos[k] for k in range(self.workers)]
        check_agreement(hellos)
        return RemoteObjective(hellos, [self._starts[k] for k in range(self.workers)])

    def wait_for(self, workers: Collection[int], seconds: float) -> None:
        """Give workers that are not there some time to come, unless all that could be them are refused."""
        deadline = time.monotonic() + seconds
        self.look_around()
        while set(workers) - set(self.nodes) and time.monotonic() < deadline and not self._is_hopeless():
            time.sleep(POLL_SECONDS)
            self.look_around()

    def look_around(self) -> None:
        """Ask nodes that are new, or that came back, for their numbers."""
        self._present = set(self.grid.get_node_ids())
        self.nodes = {k: node for k, node in self.nodes.items() if node in self._present}
        self._refused = {node: why for node, why in self._refused.items() if node in self._present}
        if len(self.nodes) == self.workers:
            return  # a newcomer may take the place of a dead node once the link has noticed its death
        strangers = self._present - set(self.nodes.values()) - set(self._refused)
        self._mailbox.send({node: pack() for node in strangers})
        for node, answer in self._mailbox.wait(strangers).items():
            try:
                if answer.has_error():
                    raise BadAnswer(reason(answer))
                hello = read_tuple(answer.content, "hello", Hello)
                start = read_initial(answer.content, hello.card.dim)
                self._welcome(node, hello)
                self._starts[hello.partition] = start
            except BadAnswer as error:
                log.warning("node %s cannot take part: %s", node, error)
                gone = answer.has_error() and answer.error.code in GONE
                self._refused[node] = "" if gone else str(error).rstrip(".")

    @property
    def causes(self) -> str:
        """Why nodes that are there cannot take part, to be put into an error."""
        causes = "; ".join(f"node {node}: {why}" for node, why in sorted(self._refused.items()) if why)
        return f" ({causes})" if causes else ""

    def _is_hopeless(self) -> bool:
        """Say whether as many nodes as are needed have answered, and some of them cannot take part."""
        heard = len(self.nodes) + sum(bool(why) for why in self._refused.values())
        return heard > len(self.nodes) and heard >= max(self.workers, len(self._present))

    def _welcome(self, node: int, hello: Hello) -> None:
        """Give a node its place, unless it is another's or the node changed its data."""
        k = hello.partition
        if not 0 <= k < self.workers or self.nodes.get(k, node) != node:
            complaint = (
                f"partition-id {k} is taken or not among the {self.workers} workers; "
                "number the nodes 0, 1, 2, ..., each once"
            )
            if len(self._hellos) < self.workers:  # whose data is meant must not depend on who came first
                raise WorkerError(f"{complaint}.")
            raise BadAnswer(complaint)
        check_hello(hello)
        if k in self._hellos and not is_same(self._hellos[k], hello):
            raise BadAnswer(f"worker {k} came back with other data or settings; give it back what it had")
        self.nodes[k], self._hellos[k] = node, hello


def listed(workers: Iterable[int]) -> str:
    """Return the numbers of workers in words."""
    return ", ".join(map(str, sorted(workers)))
