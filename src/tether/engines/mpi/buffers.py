"""Values between ranks by buffers: how long they are first, then their bytes. Nothing is pickled.

Values come here packed (`tether.packing.to_bytes`): one that cannot be must fail before ranks wait for it.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from tether.arrays import Indices
from tether.packing import Bytes, from_bytes

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm


def broadcast(comm: "Intracomm", packed: Bytes | None, mark: int = 0) -> tuple[Bytes, int]:
    """Return on all ranks the buffer of rank 0 and the number it marked it with."""
    head = np.array([0 if packed is None else len(packed), mark], dtype=np.int64)
    comm.Bcast(head)
    if packed is None:
        packed = np.empty(head[0], np.uint8)
    comm.Bcast(packed)
    return packed, int(head[1])


def gather(comm: "Intracomm", packed: Bytes, like: Any) -> tuple[Any, ...] | None:
    """Return the values of all ranks on rank 0, and nothing elsewhere."""
    lengths = _lengths(comm, packed)
    if comm.rank != 0:
        comm.Gatherv(packed, None)
        return None
    arrived = np.empty(lengths.sum(), np.uint8)
    comm.Gatherv(packed, [arrived, lengths])
    return _unpacked(arrived, lengths, like)


def gather_everywhere(comm: "Intracomm", packed: Bytes, like: Any) -> tuple[Any, ...]:
    """Return the values of all ranks on all of them."""
    lengths = _lengths(comm, packed)
    arrived = np.empty(lengths.sum(), np.uint8)
    comm.Allgatherv(packed, [arrived, lengths])
    return _unpacked(arrived, lengths, like)


def _lengths(comm: "Intracomm", packed: Bytes) -> Indices:
    lengths = np.empty(comm.size, np.int64)
    comm.Allgather(np.array([len(packed)], np.int64), lengths)
    return lengths


def _unpacked(arrived: Bytes, lengths: Indices, like: Any) -> tuple[Any, ...]:
    """Return the values one after the other, each in memory of its own."""
    parts = np.split(arrived, np.cumsum(lengths)[:-1])
    return tuple(from_bytes(part.copy(), like) for part in parts)
