"""Named tuples as Flower records: vectors as arrays, numbers as numbers, nothing pickled."""

import json
from typing import Any, TypeVar

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict

from tether.packing import flatten, restore

T = TypeVar("T")


def pack(**values: Any) -> RecordDict:
    """Return a record of named tuples, vectors and numbers; what is None is left out."""
    arrays: dict[str, Any] = {}
    kinds: dict[str, str] = {}
    for name, value in values.items():
        kinds |= flatten(name, value, arrays)
    vectors = {name: Array(array) for name, array in arrays.items() if array.ndim}
    numbers = {name: array.item() for name, array in arrays.items() if not array.ndim}
    return RecordDict(
        {
            "vectors": ArrayRecord(vectors),
            "numbers": ConfigRecord(numbers),
            "kinds": ConfigRecord({"kinds": json.dumps(kinds)}),
        }
    )


def unpack(content: RecordDict, name: str, kind: type[T]) -> T:
    """Return what was packed under a name."""
    arrays: dict[str, Any] = {key: array.numpy() for key, array in content["vectors"].items()}
    arrays |= {key: np.asarray(number) for key, number in content["numbers"].items()}
    kinds = json.loads(str(content["kinds"]["kinds"]))
    value: T = restore(name, kinds, arrays, None, kind)
    return value


def size(content: RecordDict) -> int:
    """Return the bytes of a message."""
    return sum(record.count_bytes() for record in content.values())
