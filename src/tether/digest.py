"""One short name for much data: a hash by which a checkpoint knows the problem that it belongs to.

Every number of an array counts, and so do its type and shape: a corrected label gives another digest. Data
that is mapped from a file may be larger than memory and is not read in whole. Of such an array count the
size and the time of change of its file, and 66 blocks of 4096 bytes: the first, the last and 64 spread evenly
between them. So a file that was changed without a new time, away from these blocks, goes unnoticed; and a
copy of a file with another time counts as changed.
"""

import hashlib
import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

DIGEST_BYTES = 16
CHUNK = 1 << 20  # numbers hashed together, so that an array in another order is not copied in whole
SAMPLE_BYTES = 4096
SAMPLES_BETWEEN = 64
PROBE_SEED, PROBE_DIGITS = 0, 10


def digest_of(*parts: Any) -> str:
    """Return a hexadecimal digest of arrays, sparse matrices, numbers, strings, None and tuples of these.

    Examples
    --------
    >>> import numpy as np
    >>> digest_of(np.ones(2), "squared") == digest_of(np.ones(2), "squared")
    True
    >>> digest_of(np.ones(2), "squared") == digest_of(np.array([1.0, 2.0]), "squared")
    False
    """
    hasher = hashlib.blake2b(digest_size=DIGEST_BYTES)
    _add(hasher, parts)
    return hasher.hexdigest()


def answers_of(function: Callable[[NDArray[Any]], Any], length: int) -> tuple[NDArray[Any], ...]:
    """Return what a function of vectors answers to two fixed ones, to 10 digits of the largest number.

    So that something which is known by its answers only, like an operator, can have a digest.
    """
    answers = []
    for probe in np.random.default_rng(PROBE_SEED).standard_normal((2, length)):
        answer = np.asarray(function(probe), dtype=float)
        largest = np.max(np.abs(answer), initial=0.0)
        unit = 10.0 ** (math.ceil(math.log10(largest)) - PROBE_DIGITS) if 0 < largest < math.inf else 1.0
        answers.append(np.rint(answer / unit) * unit + 0.0)  # no -0.0
    return tuple(answers)


def _add(hasher: Any, part: Any) -> None:
    """Hash one part after a header that says what follows, so that no two lists of parts run together."""
    if isinstance(part, tuple):
        _note(hasher, "tuple", len(part))
        for item in part:
            _add(hasher, item)
    elif sparse.issparse(part):
        rows = sparse.csr_array(part)
        _note(hasher, "sparse", rows.shape)
        for array in (rows.data, rows.indices, rows.indptr):
            _add_array(hasher, array)
    elif isinstance(part, np.ndarray):
        _add_array(hasher, part)
    else:
        _add_value(hasher, part)


def _add_value(hasher: Any, value: Any) -> None:
    plain = value.item() if isinstance(value, np.generic) else value
    if not (plain is None or isinstance(plain, bool | int | float | complex | str | bytes)):
        raise TypeError(
            f"parts of a digest must be arrays, numbers, strings, None or tuples, got {type(value).__name__}."
        )
    _note(hasher, type(plain).__name__, plain)


def _add_array(hasher: Any, array: NDArray[Any]) -> None:
    if array.dtype.hasobject:
        raise TypeError(f"parts of a digest must hold numbers or strings, got an array of {array.dtype}.")
    _note(hasher, "array", array.dtype.str, array.shape)
    mapped = _mapped_file(array)
    if mapped is not None:
        _add_sample(hasher, array, mapped)
        return
    if array.flags.c_contiguous:
        hasher.update(_bytes_of(array))
        return
    step = max(1, CHUNK // max(1, array[:1].size))
    for start in range(0, len(array), step):
        hasher.update(_bytes_of(np.ascontiguousarray(array[start : start + step])))


def _add_sample(hasher: Any, array: NDArray[Any], mapped: np.memmap) -> None:
    if mapped.flags.writeable:
        mapped.flush()  # the next change gives the file a new time
    about = os.stat(mapped.filename)  # type: ignore[arg-type]  # None is ruled out in _mapped_file
    _note(hasher, "file", about.st_size, about.st_mtime_ns)
    content = _bytes_of(array if array.flags.c_contiguous else array.T)
    for start in np.linspace(0, len(content) - SAMPLE_BYTES, SAMPLES_BETWEEN + 2).astype(np.int64):
        hasher.update(content[start : start + SAMPLE_BYTES])


def _mapped_file(array: NDArray[Any]) -> np.memmap | None:
    """Return the map that an array is a view of; None if all of the array is to be read.

    That is so for short arrays, views with gaps and maps whose changes do not reach a file with a name.
    """
    if array.nbytes <= (SAMPLES_BETWEEN + 2) * SAMPLE_BYTES or not array.flags.forc:
        return None
    holder: Any = array
    while isinstance(holder, np.ndarray):
        if isinstance(holder, np.memmap) and holder.filename is not None:
            return None if holder.mode == "c" else holder
        holder = holder.base
    return None


def _bytes_of(array: NDArray[Any]) -> NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)


def _note(hasher: Any, *words: Any) -> None:
    text = repr(words).encode()
    hasher.update(len(text).to_bytes(8, "little") + text)
