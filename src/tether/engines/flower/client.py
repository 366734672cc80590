"""A node: it loads its own data, works on requests beside it, and keeps what is private."""

import copy
import json
from collections.abc import Callable
from functools import partial

import numpy as np
from flwr.app import Context, Message, RecordDict
from flwr.clientapp import ClientApp

from tether.engines import local_work
from tether.engines.flower import node_memory
from tether.engines.flower.messages import Answer, Hello, NodeMemory, PendingWork, Task
from tether.engines.flower.privacy import protect
from tether.engines.flower.records import pack, unpack
from tether.engines.local_work import Local, Memory, Worker
from tether.engines.uploads import scaled
from tether.names import written
from tether.objectives.base import Objective
from tether.objectives.pool import Card, weighted
from tether.requests import Descend

Load = Callable[[Context], Objective]


def client_app(load: Load) -> ClientApp:
    """Return the app of a node.

    Parameters
    ----------
    load : callable
        ``load(context)`` returns this node's objective, for example a `tether.GLM` of the data that
        ``context.node_config["partition-id"]`` stands for. It is called again in every new process; data
        that is slow to read is best kept in a form that can be memory-mapped.
    """
    app, loaded, compiled = ClientApp(), dict[int, Objective](), set[int]()

    def objective(context: Context) -> Objective:
        number = partition(context)
        if number not in loaded:
            loaded[number] = _checked(load(context))
        return loaded[number]

    def compile_once(context: Context) -> None:
        if (number := partition(context)) not in compiled:
            objective(context).compile()
            compiled.add(number)

    @app.query("hello")
    def hello(message: Message, context: Context) -> Message:
        number = partition(context)
        try:
            own = objective(context)
            card, start = _hello(number, own), {} if own.initial is None else {"initial": own.initial}
        except Exception as error:  # told with the number, which the server does not know yet
            raise ValueError(f"worker {number} is not ready: {type(error).__name__}: {error}") from error
        return Message(pack(hello=card, **start), reply_to=message)

    @app.train("work")
    def work(message: Message, context: Context) -> Message:
        task = unpack(message.content, "task", Task)
        if task.compiled:
            compile_once(context)
        return Message(_work(task, objective(context), context), reply_to=message)

    return app


def partition(context: Context) -> int:
    """Return the node's number."""
    number = context.node_config.get("partition-id")
    if not isinstance(number, int):
        raise ValueError('the node needs a number: start it with --node-config "partition-id=0" (1, 2, ...).')
    return number


def _checked(objective: Objective) -> Objective:
    if not isinstance(objective, Objective):
        raise TypeError(f"load must return an objective such as GLM(...), got {type(objective).__name__}.")
    return objective


def _hello(number: int, objective: Objective) -> Hello:
    large = copy.copy(objective)
    large.compile()
    return Hello(
        partition=number,
        card=Card.of(objective),
        compiled_batch=large.natural_batch,
        digest=objective.digest()[:16],
        kind=json.dumps(objective.kind(), sort_keys=True),
        names=written(objective.names),
    )


def _work(task: Task, objective: Objective, context: Context) -> RecordDict:
    number, request = partition(context), task.request
    kept = _memory(task, node_memory.read(context, number, task.run)) if task.expects else Memory()
    if kept is None:
        return pack(answer=Answer(lost=True, remembers=False))
    worker = Worker(weighted(objective, task.weight), task.seed, number)
    done = local_work.carry_out(
        worker, request, _caught_up(task, kept), partial(protect, request, privacy=task.privacy)
    )
    local, memory = done.local, local_work.without_caches(done.memory)._replace(anchor=None)
    keeps = request.dual is not None or memory.duals is not None or memory.total is not None
    if keeps:
        walk = None if task.descend is None else task.descend._replace(pieces=None)
        asked = (task.gradient, walk)
        pending = PendingWork(task.number, *asked, local.points, local.direction, local.dual, memory)
        node_memory.write(context, number, NodeMemory(task.run, task.expects, kept, pending))
    upload, single = done.upload, task.privacy.single
    vectors = {f"point{k}": _sent(point, single) for k, point in enumerate(upload.points)}
    if upload.direction is not None:
        vectors["direction"] = _sent(upload.direction, single)
    if upload.curvature is not None:
        vectors["curvature"] = _sent(upload.curvature, single)
    numbers = upload._replace(points=(), direction=None, curvature=None)
    return pack(answer=Answer(lost=False, remembers=keeps), upload=numbers, **vectors)


def _memory(task: Task, kept: NodeMemory | None) -> Memory | None:
    """Return the memory that a task expects, with what is owed to it settled; None if it is lost."""
    if kept is None or kept.run != task.run:
        return None
    pending = kept.pending
    if pending is None or pending.number != task.expects:
        return kept.memory if kept.version == task.expects else None
    request = pending.request  # learn from the vectors as the server has counted them
    points = tuple(scaled(request, point, task.scaled) for point in pending.points[:1])
    direction = None if pending.direction is None else scaled(request, pending.direction, task.scaled)
    local = Local(points, direction, None, pending.dual)
    return local_work.settle(request, local, task.settled, pending.memory)


def _caught_up(task: Task, memory: Memory) -> Memory:
    """Return the memory after walks that went on without this node, in which its dual did not move."""
    still = np.zeros(task.dim)
    for dual in task.missed:
        walk = Descend(still, steps=0, step_size=0.0, batch_size=None, dual=dual)
        h = local_work.dual_of(dual, memory)
        point = (
            still if h is None or not dual.prox else -local_work.metric_of(dual) * h
        )  # whose h is the same
        memory = local_work.settle(walk, Local((point,), dual=h), (still, still), memory)
    return memory


def _sent(vector: np.ndarray, single: bool) -> np.ndarray:
    return vector.astype(np.float32 if single else np.float64)
