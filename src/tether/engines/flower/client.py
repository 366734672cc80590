"""A node: it loads its own data, works on requests beside it, and keeps what is private.

Flower makes a new client for every message. Private memory therefore lives in ``context.state``, which lasts
as long as the run. Where the node is started with a folder (``memory-dir`` in its configuration) memory is
also in a file there, which outlasts the server and the node itself.
"""

import copy
import json
import logging
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from flwr.app import Context, Message, RecordDict
from flwr.clientapp import ClientApp

from tether.engines import local_work
from tether.engines.flower.messages import pack, unpack
from tether.engines.flower.orders import Draft, Hello, Notebook, Order
from tether.engines.flower.privacy import protect
from tether.engines.local_work import Local, Memory, Worker
from tether.objectives.base import Objective
from tether.objectives.pool import Card, weighted
from tether.packing import flatten, restore
from tether.requests import Descend

log = logging.getLogger("tether")
Load = Callable[[Context], Objective]


class Answer(NamedTuple):
    """Whether a node could do its part."""

    partition: int
    lost: bool  # its memory is gone: nothing was done
    remembers: bool  # it keeps something that the run depends on


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
        own = objective(context)
        large = copy.copy(own)
        large.compile()
        card = Hello(partition(context), Card.of(own), large.natural_batch)
        return Message(pack(hello=card), reply_to=message)

    @app.train("work")
    def work(message: Message, context: Context) -> Message:
        order = unpack(message.content, "order", Order)
        if order.compiled:
            compile_once(context)
        return Message(_work(order, objective(context), context), reply_to=message)

    return app


def partition(context: Context) -> int:
    """Return the node's number."""
    number = context.node_config.get("partition-id")
    if not isinstance(number, int):
        raise ValueError('the node needs a number: start it with --node-config "partition-id=0" (1, 2, ...).')
    return number


def _work(order: Order, objective: Objective, context: Context) -> RecordDict:
    number, request = partition(context), order.request
    kept = _memory(order, _read(context, number)) if order.expects else Memory()
    if kept is None:
        return pack(answer=Answer(number, lost=True, remembers=False))
    desk = Worker(weighted(objective, order.weight), order.seed, number)
    done = local_work.carry_out(
        desk, request, _caught_up(order, kept), partial(protect, request, privacy=order.privacy)
    )
    local, memory = done.local, local_work.without_caches(done.memory)._replace(anchor=None)
    keeps = request.dual is not None or memory.duals is not None or memory.total is not None
    if keeps:
        asked = (order.gradient, order.descend)
        draft = Draft(order.number, *asked, local.points, local.direction, local.dual, memory)
        _write(context, number, Notebook(order.run, order.expects, kept, draft))
    upload, single = done.upload, order.privacy.single
    vectors = {f"point{k}": _sent(point, single) for k, point in enumerate(upload.points)}
    if upload.direction is not None:
        vectors["direction"] = _sent(upload.direction, single)
    numbers = upload._replace(points=(), direction=None)
    return pack(answer=Answer(number, lost=False, remembers=keeps), upload=numbers, **vectors)


def _memory(order: Order, notebook: Notebook | None) -> Memory | None:
    """Return the memory that an order expects, with what is owed to it settled; None if it is lost."""
    if notebook is None or notebook.run != order.run:
        return None
    draft = notebook.draft
    if draft is not None and draft.number == order.expects:
        local = Local(draft.points, draft.direction, None, draft.dual)
        return local_work.settle(draft.request, local, order.settled, draft.memory)
    return notebook.memory if notebook.version == order.expects else None


def _caught_up(order: Order, memory: Memory) -> Memory:
    """Return the memory after walks that went on without this node, in which its dual did not move."""
    still = np.zeros(order.dim)
    for dual in order.missed:
        walk = Descend(still, steps=0, step_size=0.0, batch_size=None, dual=dual)
        local = Local((still,), dual=local_work.dual_of(dual, memory))
        memory = local_work.settle(walk, local, (still,), memory)
    return memory


def _sent(vector: np.ndarray, single: bool) -> np.ndarray:
    return vector.astype(np.float32) if single else vector


def _file(context: Context, number: int) -> Path | None:
    folder = context.node_config.get("memory-dir") or context.run_config.get("memory-dir")
    return Path(str(folder), f"tether-memory-{number}.npz") if folder else None


def _read(context: Context, number: int) -> Notebook | None:
    """Return what the node remembers; a damaged file is as good as none."""
    path = _file(context, number)
    if path is not None and path.exists():
        try:
            return _open(path)
        except Exception as error:  # cut off or overwritten, there is no end to the ways
            kind = type(error).__name__
            log.warning("the memory of worker %d in %s is damaged (%s) and not used.", number, path, kind)
    if "numbers" in context.state:
        return unpack(context.state, "notebook", Notebook)
    return None


def _open(path: Path) -> Notebook:
    with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
        arrays = dict(file)
    kept: Notebook = restore("notebook", json.loads(str(arrays["kinds"])), arrays, None, Notebook)
    return kept


def _write(context: Context, number: int, notebook: Notebook) -> None:
    record = pack(notebook=notebook)
    for name, part in record.items():
        context.state[name] = part
    path = _file(context, number)
    if path is not None:
        arrays: dict[str, Any] = {}
        kinds = json.dumps(flatten("notebook", notebook, arrays))
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        with part.open("wb") as file:
            np.savez(file, kinds=np.array(kinds), **arrays)
        os.replace(part, path)


def _checked(objective: Objective) -> Objective:
    if not isinstance(objective, Objective):
        raise TypeError(f"load must return an objective such as GLM(...), got {type(objective).__name__}.")
    return objective
