"""What must be equal on all ranks, in three sizes: as it is, as a digest, and as a summary to compare.

Digests of equal bits are equal. Where they differ, summaries tell different settings from processors that
merely round differently.
"""

import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

ROUNDING = 1e-6  # relative; processors may differ in the last bits, settings differ in more


class VectorSummary(NamedTuple):
    """Three numbers that tell vectors apart."""

    norm: float  # of finite entries
    product: float  # of finite entries with a fixed vector
    endless: float  # the same of the signs of infinite ones, such as walls that are not there

    @classmethod
    def of(cls, vector: np.ndarray) -> "VectorSummary":
        """Return the summary of a vector."""
        fixed, flat = np.cos(np.arange(vector.size)), vector.ravel()
        endless = np.isinf(flat)
        finite = np.where(endless, 0.0, flat)
        signs = np.sign(flat[endless])
        return cls(float(np.linalg.norm(finite)), float(finite @ fixed), float(signs @ fixed[endless]))

    def __repr__(self) -> str:
        return f"a vector of norm {self.norm:.6g}"


def parts_of(value: Any, name: str = "request", prefix: str = "") -> dict[str, Any]:
    """Return the parts of a named tuple by name, its own class first."""
    if not hasattr(value, "_fields"):
        return {name: value}
    parts: dict[str, Any] = {name: type(value).__name__}
    for field in value._fields:
        parts |= parts_of(getattr(value, field), prefix + field, f"{prefix}{field}.")
    return parts


def digest(parts: Mapping[str, Any]) -> int:
    """Return a number below 2^32 that depends on every bit."""
    return zlib.crc32(repr([(name, _bits(part)) for name, part in parts.items()]).encode())


def summary(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts, each vector replaced by its summary and what is no number by its text."""
    return {name: _summary_of(part) for name, part in parts.items()}


def difference(summaries: Sequence[Mapping[str, Any]]) -> str:
    """Say which ranks differ from the first in what; nothing if they agree up to rounding."""
    first = summaries[0]
    for name in dict.fromkeys(name for parts in summaries for name in parts):
        others = [k for k, parts in enumerate(summaries) if not alike(first.get(name), parts.get(name))]
        if others:
            one, other = first.get(name), summaries[others[0]].get(name)
            return (
                f"{ranks_in_words([0, *others])} run different settings ({name} is {one!r} on rank 0 and "
                f"{other!r} on rank {others[0]}); give every rank the same constraint, method, x0 and seed."
            )
    return ""


def alike(one: Any, other: Any) -> bool:
    """Say whether two parts are equal up to rounding."""
    if isinstance(one, VectorSummary) and isinstance(other, VectorSummary):
        slack = ROUNDING * max(one.norm, other.norm)
        alike_where_finite = _close(one.norm, other.norm, slack) and _close(one.product, other.product, slack)
        return alike_where_finite and _close(one.endless, other.endless, ROUNDING)
    if isinstance(one, float) and isinstance(other, float):
        return _close(one, other, ROUNDING * max(abs(one), abs(other)))
    return bool(one == other)


def ranks_in_words(numbers: Sequence[int]) -> str:
    """Return "rank 1" or "ranks 0, 1 and 2"."""
    *most, last = map(str, numbers)
    return f"ranks {', '.join(most)} and {last}" if most else f"rank {last}"


def _summary_of(part: Any) -> VectorSummary | bool | int | float | str | None:
    if isinstance(part, np.ndarray):
        return VectorSummary.of(part)
    if isinstance(part, np.generic):
        return _summary_of(part.item())
    return part if part is None or type(part) in (bool, int, float, str) else repr(part)


def _close(one: float, other: float, slack: float) -> bool:
    return one == other or abs(one - other) <= slack < math.inf or (math.isnan(one) and math.isnan(other))


def _bits(part: Any) -> Any:
    """Return an array as its shape and the digest of its bits in their order."""
    return (part.shape, zlib.crc32(np.ascontiguousarray(part))) if isinstance(part, np.ndarray) else part
