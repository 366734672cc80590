"""What must be equal on all ranks, in three sizes: as it is, as a digest, and as a sketch to compare.

Digests of equal bits are equal. Where they differ, sketches tell different settings from processors that
merely round differently.
"""

import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

ALIKE = 1e-6  # processors may differ in the last bits, settings differ in more


class Sketch(NamedTuple):
    """Two numbers that tell vectors apart."""

    norm: float
    product: float  # with a fixed vector

    def __repr__(self) -> str:
        return f"a vector of norm {self.norm:.6g}"


def leaves(value: Any, name: str = "request", prefix: str = "") -> dict[str, Any]:
    """Return the parts of a named tuple by name, its own kind first."""
    if not hasattr(value, "_fields"):
        return {name: value}
    parts: dict[str, Any] = {name: type(value).__name__}
    for field in value._fields:
        parts |= leaves(getattr(value, field), prefix + field, f"{prefix}{field}.")
    return parts


def digest(parts: Mapping[str, Any]) -> int:
    """Return a number below 2^32 that depends on every bit."""
    return zlib.crc32(repr([(name, _bits(part)) for name, part in parts.items()]).encode())


def sketch(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts with each vector replaced by its sketch."""
    return {name: sketch_of(part) if isinstance(part, np.ndarray) else part for name, part in parts.items()}


def sketch_of(vector: np.ndarray) -> Sketch:
    """Return the sketch of a vector."""
    fixed = np.cos(np.arange(vector.size))
    return Sketch(float(np.linalg.norm(vector)), float(vector.ravel() @ fixed))


def difference(sketches: Sequence[Mapping[str, Any]]) -> str:
    """Say which ranks differ from the first in what; nothing if they agree up to rounding."""
    first = sketches[0]
    for name in dict.fromkeys(name for parts in sketches for name in parts):
        others = [k for k, parts in enumerate(sketches) if not alike(first.get(name), parts.get(name))]
        if others:
            one, other = first.get(name), sketches[others[0]].get(name)
            return (
                f"{ranks([0, *others])} run different settings ({name} is {one!r} on rank 0 and {other!r} on "
                f"rank {others[0]}); give every rank the same constraint, method, x0 and seed."
            )
    return ""


def alike(one: Any, other: Any) -> bool:
    """Say whether two parts are equal up to rounding."""
    if isinstance(one, Sketch) and isinstance(other, Sketch):
        slack = ALIKE * max(one.norm, other.norm)
        return all(_close(a, b, slack) for a, b in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, float):
        return _close(one, other, ALIKE * max(abs(one), abs(other)))
    return bool(one == other)


def ranks(numbers: Sequence[int]) -> str:
    """Return ranks in words: "rank 1", "ranks 0, 1 and 2"."""
    *most, last = map(str, numbers)
    return f"ranks {', '.join(most)} and {last}" if most else f"rank {last}"


def _close(one: float, other: float, slack: float) -> bool:
    return one == other or abs(one - other) <= slack < math.inf or (math.isnan(one) and math.isnan(other))


def _bits(part: Any) -> Any:
    """Return an array as its shape and the digest of its bits in their order."""
    return (part.shape, zlib.crc32(np.ascontiguousarray(part))) if isinstance(part, np.ndarray) else part
