"""Where a node keeps its memory: in Flower's context, and in a file if it was given a folder.

Flower makes a new client for every message. ``context.state`` lasts as long as the run of Flower; a file in
``memory-dir`` also outlasts the node and the server. Each run of a method has a file of its own, for the
owner's eyes only. A node does not hear when a run is over, so files that were not touched for thirty days are
removed when a new run writes its first.
"""

import json
import logging
import os
import re
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import Context

from tether.engines.flower.messages import NodeMemory
from tether.engines.flower.records import pack, unpack
from tether.packing import flatten, restore

log = logging.getLogger("tether")
KEPT_SECONDS = 30 * 24 * 3600.0
RUN = "[0-9a-f]{32}"  # what names of runs look like


def read(context: Context, worker: int, run: str) -> NodeMemory | None:
    """Return what the node remembers of a run; a damaged file is as good as none."""
    path = _file(context, worker, run)
    if path is not None and path.exists():
        try:
            return _load(path)
        except Exception as error:  # cut off or overwritten, there is no end to the ways
            kind = type(error).__name__
            log.warning("the memory of worker %d in %s is damaged (%s) and not used.", worker, path, kind)
    if "numbers" in context.state:
        kept = unpack(context.state, "kept", NodeMemory)
        return kept if kept.run == run else None
    return None


def write(context: Context, worker: int, kept: NodeMemory) -> None:
    """Keep what the node remembers of a run."""
    for name, part in pack(kept=kept).items():
        context.state[name] = part
    path = _file(context, worker, kept.run)
    if path is not None:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _remove_old(path.parent, worker)
        _save(path, kept)


def _file(context: Context, worker: int, run: str) -> Path | None:
    folder = context.node_config.get("memory-dir") or context.run_config.get("memory-dir")
    if not folder:
        return None
    if not re.fullmatch(RUN, run):
        raise ValueError(f"a run is named by 32 hex digits, the server sent {run[:40]!r}; update it.")
    return Path(str(folder), f"tether-memory-{worker}-{run}.npz")


def _load(path: Path) -> NodeMemory:
    with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
        arrays = dict(file)
    kept: NodeMemory = restore("kept", json.loads(str(arrays["kinds"])), arrays, None, NodeMemory)
    return kept


def _save(path: Path, kept: NodeMemory) -> None:
    """Write a file in one step; it is never readable by others, not even for a moment."""
    arrays: dict[str, Any] = {}
    kinds = json.dumps(flatten("kept", kept, arrays))
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f"{path.stem}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, kinds=np.array(kinds), **arrays)
        os.replace(part, path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def _remove_old(folder: Path, worker: int) -> None:
    """Remove what runs that were given up have left, and parts that a dying node did not finish."""
    for path in folder.iterdir():
        ours = re.fullmatch(rf"tether-memory-{worker}-{RUN}\.(npz|.+\.part)", path.name)
        if ours and time.time() - path.stat().st_mtime > KEPT_SECONDS:
            path.unlink(missing_ok=True)
