"""Named tuples as Flower records: vectors as arrays, numbers as numbers, nothing pickled.

Tasks go out without repeats: the start of a walk that is also its anchor is sent once.
"""

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
            "kinds": ConfigRecord({"kinds": json.dumps(kinds), "same": "{}"}),
        }
    )


def without_repeats(content: RecordDict) -> RecordDict:
    """Return a record in which a vector that occurs several times is kept once."""
    first: dict[bytes, str] = {}
    names = {name: first.setdefault(array.data, name) for name, array in content["vectors"].items()}
    same = {name: earlier for name, earlier in names.items() if name != earlier}
    kept = {name: array for name, array in content["vectors"].items() if name not in same}
    kinds = ConfigRecord({"kinds": content["kinds"]["kinds"], "same": json.dumps(same)})
    return RecordDict({**content, "vectors": ArrayRecord(kept), "kinds": kinds})


def unpack(content: RecordDict, name: str, kind: type[T]) -> T:
    """Return what was packed under a name, by somebody who is trusted."""
    arrays: dict[str, Any] = {key: array.numpy() for key, array in content["vectors"].items()}
    arrays |= {key: arrays[first] for key, first in json.loads(str(content["kinds"]["same"])).items()}
    arrays |= {key: np.asarray(number) for key, number in content["numbers"].items()}
    kinds = json.loads(str(content["kinds"]["kinds"]))
    value: T = restore(name, kinds, arrays, None, kind)
    return value


def size(content: RecordDict) -> int:
    """Return the bytes of a message."""
    return sum(record.count_bytes() for record in content.values())
