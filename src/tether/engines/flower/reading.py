"""What nodes say, read without trust: another machine may be broken or dishonest.

Nothing is made of a message before its size, its parts and their types are what they should be. A message
that is not ends as a `BadAnswer`, whose words say what the node sent.
"""

from io import BytesIO
from typing import Any, TypeVar, get_type_hints

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, RecordDict

from tether import arrays
from tether.engines.uploads import Upload

T = TypeVar("T")
VECTORS = ("point0", "point1", "direction", "curvature")  # names under which an upload's vectors travel
HEADER = 256  # bytes that NumPy's format may need beside the numbers
TEXT = 300  # characters of a node's words that are shown


class BadAnswer(ValueError):  # noqa: N818
    """A node's message is not what it should be; the text says what it sent."""


def read_tuple(content: RecordDict, name: str, kind: type[T]) -> T:
    """Return a named tuple of numbers, texts and other such tuples."""
    parts, hints = {}, get_type_hints(kind)
    for field in kind._fields:  # type: ignore[attr-defined]
        read: Any = read_tuple if hasattr(hints[field], "_fields") else _read_scalar
        parts[field] = read(content, f"{name}.{field}", hints[field])
    try:
        return kind(**parts)
    except ValueError as error:
        raise BadAnswer(f"{name}: {error}") from error


def read_initial(content: RecordDict, dim: int) -> arrays.Array | None:
    """Return where a node's model starts, if it says so."""
    array = _record(content, "vectors", ArrayRecord).get("initial")
    vector = None if array is None else _read_vector(array, dim, np.dtype(np.float64))
    if vector is not None and not np.isfinite(vector).all():
        raise BadAnswer("a start with entries that are NaN or infinite")
    return vector


def read_upload(content: RecordDict, dim: int, bends: int, single: bool) -> Upload:
    """Return an upload with vectors of a given length, in single precision if that was asked for.

    ``bends`` is how many second derivatives were asked for.
    """
    hints = get_type_hints(Upload)
    fields = [field for field in Upload._fields if hints[field] in (int, float)]
    numbers = {field: _read_scalar(content, f"upload.{field}", hints[field]) for field in fields}
    record = _record(content, "vectors", ArrayRecord)
    surplus = sorted(set(record) - set(VECTORS))
    if surplus:
        raise BadAnswer(f"a vector named {shown(surplus[0])!r} that nobody asked for")
    kind = np.dtype(np.float32 if single else np.float64)
    lengths = dict.fromkeys(VECTORS, dim) | {"curvature": bends}
    vectors = {name: _read_vector(array, lengths[name], kind) for name, array in record.items()}
    points = tuple(vectors[name] for name in VECTORS[:2] if name in vectors)
    return Upload(points, vectors.get("direction"), curvature=vectors.get("curvature"), **numbers)


def reason(answer: Message) -> str:
    """Return what a node said instead of an answer."""
    return shown(str(answer.error.reason))


def shown(text: str) -> str:
    """Return a node's words as they may stand in a line of ours."""
    line = " ".join(text.split())[:TEXT]
    return "".join(letter if letter.isprintable() else "?" for letter in line)


def _record(content: RecordDict, name: str, kind: type[T]) -> T:
    record = content.get(name)
    if not isinstance(record, kind):
        raise BadAnswer(f"a message without its record {name!r}")
    return record


def _read_scalar(content: RecordDict, name: str, kind: type) -> Any:
    value = _record(content, "numbers", ConfigRecord).get(name)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise BadAnswer(f"{name} as {type(value).__name__} where {kind.__name__} is needed")
    return value


def _read_vector(array: Array, dim: int, kind: np.dtype[Any]) -> arrays.Array:
    """Return a vector; the header inside its bytes may promise more than there is, so they are compared."""
    needed = dim * kind.itemsize
    if len(array.data) > needed + HEADER:
        raise BadAnswer(f"an array of {len(array.data)} bytes where {dim} numbers take {needed}")
    try:
        stream = BytesIO(array.data)
        if np.lib.format.read_magic(stream) != (1, 0):
            raise ValueError
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    except Exception as error:  # a damaged header fails in many ways
        raise BadAnswer("an array that is not in NumPy's format") from error
    if shape != (dim,) or dtype != kind:
        raise BadAnswer(f"an array of shape {shape} and type {dtype} where {(dim,)} and {kind} are needed")
    numbers = array.data[stream.tell() :]
    if len(numbers) != needed:
        raise BadAnswer(f"an array of {len(numbers)} bytes where {dim} numbers take {needed}")
    return np.frombuffer(numbers, kind).astype(np.float64)
