"""What server and nodes say to each other, and what a node keeps between two messages."""

from typing import NamedTuple

from tether.arrays import Array
from tether.engines.local_work import Memory
from tether.objectives.pool import Card
from tether.requests import Descend, Dual, Gradient, Request


class Hello(NamedTuple):
    """A node introduces itself."""

    partition: int  # its number among the workers
    card: Card
    compiled_batch: int  # the natural batch in a large sum whose workers share its kernels
    digest: str  # 16 hex digits that change with the data and the settings
    kind: str  # settings that all workers must share, as JSON
    names: str  # of its variables, as `tether.names.written` writes them


class Privacy(NamedTuple):
    """What is done to a vector before it leaves a node."""

    clip: float = 0.0  # the largest norm of a change; 0: as it is
    noise: float = 0.0  # standard deviation of Gaussian noise, in units of ``clip``
    single: bool = False  # send float32


class Task(NamedTuple):
    """One request to one node, with all it needs to know: nodes may have been restarted in between."""

    run: str  # a name that no other run has
    number: int  # of this exchange
    expects: int  # the exchange after which the node's memory must stand; 0: it starts empty
    settled: tuple[Array, ...]  # projected vectors of that exchange, which bring its memory up to date
    scaled: float  # the factor by which the server shortened what the node sent then
    missed: tuple[Dual, ...]  # of walks that went on without the node since then
    gradient: Gradient | None  # the request: one of the two
    descend: Descend | None
    weight: float  # n n_k / N
    compiled: bool  # walk with the kernels of a large sum, however small this part
    seed: int
    privacy: Privacy

    @property
    def request(self) -> Request:
        """What is asked."""
        return _one(self.gradient, self.descend)

    @property
    def dim(self) -> int:
        """The length of the model."""
        request = self.request
        return len(request.point if isinstance(request, Gradient) else request.start)


class Answer(NamedTuple):
    """Whether a node could do its part."""

    lost: bool  # its memory is gone: nothing was done
    remembers: bool  # it keeps something that the run depends on


class PendingWork(NamedTuple):
    """Work that was sent and not yet settled: what `tether.engines.local_work.settle` needs, and no more."""

    number: int
    gradient: Gradient | None
    descend: Descend | None
    points: tuple[Array, ...]
    direction: Array | None
    dual: Array | None
    memory: Memory  # as the work left it

    @property
    def request(self) -> Request:
        """What was asked."""
        return _one(self.gradient, self.descend)


class NodeMemory(NamedTuple):
    """What a node keeps between messages: memory after one exchange, and work of a later one."""

    run: str
    version: int  # the exchange after which ``memory`` stands
    memory: Memory
    pending: PendingWork | None


def _one(gradient: Gradient | None, descend: Descend | None) -> Request:
    request = gradient if descend is None else descend
    assert request is not None
    return request
