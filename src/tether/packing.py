"""Named tuples as arrays, numbers and one table of kinds: how states travel and are kept, without pickle.

A value is a named tuple of arrays, numbers, strings, None and other such tuples, or one such leaf. Each leaf
is stored under the path of its field; the kinds say how to put it together again. `to_bytes` puts all of it
into one buffer: a JSON text with the kinds, numbers and strings, then the arrays as they lie in memory.
"""

import json
import math
from functools import cache
from typing import Any, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

_ALIGNMENT = 16  # bytes; every array in a buffer begins at a multiple of it
_INT64 = range(-(2**63), 2**63)


def flatten(name: str, value: Any, arrays: dict[str, Any]) -> dict[str, str]:
    """Store the leaves of a named tuple and return their kinds."""
    if hasattr(value, "_fields"):
        kinds = {name: "tuple"}
        for field in value._fields:
            kinds |= flatten(f"{name}.{field}", getattr(value, field), arrays)
        return kinds
    if isinstance(value, tuple):
        kinds = {name: f"list {len(value)}"}
        for place, item in enumerate(value):
            kinds |= flatten(f"{name}.{place}", item, arrays)
        return kinds
    if value is None:
        return {name: "none"}
    arrays[name] = _as_array(name, value)
    return {name: "array" if isinstance(value, np.ndarray) else type(value).__name__}


def restore(name: str, kinds: dict[str, str], arrays: dict[str, Any], template: Any, kind: Any) -> Any:
    """Rebuild a value; a named tuple takes its class from the template or the field's type."""
    stored = kinds[name]
    if stored == "none":
        return None
    if stored == "tuple":
        cls: Any = type(template) if hasattr(template, "_fields") else _tuple_in(kind)
        hints = _hints(cls)
        parts = {
            field: restore(f"{name}.{field}", kinds, arrays, getattr(template, field, None), hints[field])
            for field in cls._fields
        }
        return cls(**parts)
    if stored.startswith("list "):  # all of one kind
        item = template if hasattr(template, "_fields") else next(iter(template or ()), None)
        inner = next(iter(get_args(kind)), None)
        count = int(stored.removeprefix("list "))
        return tuple(restore(f"{name}.{place}", kinds, arrays, item, inner) for place in range(count))
    if stored == "array":
        return arrays[name]
    return int(arrays[name].item()) if stored == "int" else arrays[name].item()


def to_bytes(value: Any) -> Bytes:
    """Return a value as one buffer.

    Examples
    --------
    >>> from tether.requests import Gradient
    >>> from_bytes(to_bytes(Gradient(np.arange(3.0))), Gradient).point
    array([0., 1., 2.])
    """
    arrays: dict[str, Any] = {}
    kinds = flatten("value", value, arrays)
    blocks = {name: array for name, array in arrays.items() if kinds[name] == "array"}
    header = {
        "kinds": kinds,
        "numbers": {name: array.item() for name, array in arrays.items() if name not in blocks},
        "arrays": {name: [array.dtype.str, array.shape] for name, array in blocks.items()},
    }
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    pieces = [np.array([len(text)], dtype="<i8").view(np.uint8), text]
    pieces += [np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in blocks.values()]
    return _joined(pieces)


def from_bytes(buffer: Bytes, like: Any) -> Any:
    """Return what `to_bytes` put into a buffer; its arrays are views of the buffer.

    ``like`` is a value of the same kind, the class of the named tuple or tuple[class, ...]; leaves need none.
    """
    header_end = 8 + int(buffer[:8].view("<i8")[0])
    header = json.loads(buffer[8:header_end].tobytes())
    arrays: dict[str, Any] = {name: np.asarray(number) for name, number in header["numbers"].items()}
    begin = _aligned(header_end)
    for name, (dtype, shape) in header["arrays"].items():
        end = begin + np.dtype(dtype).itemsize * math.prod(shape)
        arrays[name] = np.ndarray(shape, dtype, buffer[begin:end])
        begin = _aligned(end)
    template, kind = (like, type(like)) if isinstance(like, tuple) else (None, like)
    return restore("value", header["kinds"], arrays, template, kind)


def _as_array(name: str, value: Any) -> NDArray[Any]:
    """Return a leaf as an array; a whole number that has no room in one as its digits."""
    if type(value) is int and value not in _INT64:
        return np.asarray(str(value))
    array = np.asarray(value)
    plain = type(value) in (bool, int, float, str) or isinstance(value, np.ndarray | np.number | np.bool_)
    if not plain or array.dtype.kind in "OV":
        raise TypeError(
            f"{name} is a {type(value).__name__}, which cannot be packed; use arrays of numbers, numbers, "
            "strings, None and named tuples of them."
        )
    return array


def _joined(pieces: list[Bytes]) -> Bytes:
    """Return length and text without a gap, then arrays that begin at multiples of the alignment."""
    starts = [0, 8]
    for place, piece in enumerate(pieces[1:], start=1):
        starts.append(_aligned(starts[place] + len(piece)))
    buffer = np.zeros(starts.pop(), np.uint8)
    for start, piece in zip(starts, pieces, strict=True):
        buffer[start : start + len(piece)] = piece
    return buffer


def _aligned(place: int) -> int:
    return -(-place // _ALIGNMENT) * _ALIGNMENT


@cache
def _hints(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls)


def _tuple_in(kind: Any) -> Any:
    """Return the named tuple among the members of an optional type."""
    return next(member for member in (kind, *get_args(kind)) if hasattr(member, "_fields"))
