"""svmlight's format, a line a sample: ``label index:value index:value ... # comment``.

All numbers of a block are read at once; where they are not what the colons promise, the lines are read one by
one to find the first that is wrong.
"""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tether.arrays import Array, Indices
from tether.io.data import Data
from tether.io.numbers import numbers_in
from tether.io.opening import WHOLE, Block, Share, blocks, line_number, without_empty_lines

LARGEST_INDEX = 2**31 - 1
_COLON, _NEWLINE = ord(":"), ord("\n")
_COMMENT, _QUERY = re.compile(rb"#[^\n]*"), re.compile(rb"\bqid:\S*")
_PAIR = re.compile(rb"\d+:[^\s:]+")


class Samples(NamedTuple):
    """The samples of a block: labels, and pairs of which sample i has those from start[i] to start[i + 1]."""

    labels: Array
    start: Indices
    indices: Indices
    values: Array


def read_svmlight(path: Path, share: Share = WHOLE) -> Data:
    """Return a share of the samples of a file, columns numbered as they are there."""
    parts = [found for block in blocks(path, share) if (found := _samples(path, block)) is not None]
    if not parts:
        raise ValueError(f"{path} has no samples{'' if share.size == 1 else ' for every process'}.")
    lengths = np.concatenate([np.diff(part.start) for part in parts])
    start = np.concatenate([[0], np.cumsum(lengths)])
    indices, values = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("indices", "values")
    )
    lowest, width = (int(indices.min()), int(indices.max()) + 1) if len(indices) else (1, 1)
    X = sparse.csr_array((values, indices, start), shape=(len(lengths), width))
    return Data(X, np.concatenate([part.labels for part in parts]), lowest=lowest)


def _samples(path: Path, block: Block) -> Samples | None:
    """Return the samples of some lines; None if there are none."""
    text = _bare(block.text)
    if not text:
        return None
    numbers = numbers_in(text, b":")
    bytes_ = np.frombuffer(text, dtype=np.uint8)
    colons, ends = np.flatnonzero(bytes_ == _COLON), np.flatnonzero(bytes_ == _NEWLINE)
    start = np.concatenate([[0], np.searchsorted(colons, ends)])
    if numbers is None or len(numbers) != len(ends) + 2 * len(colons) or _are_open(bytes_, colons):
        raise _explained(path, block)
    label = 2 * start[:-1] + np.arange(len(ends))  # every line before has a label and pairs of numbers
    pairs = np.delete(numbers, label).reshape(-1, 2)
    with np.errstate(invalid="ignore"):
        indices = pairs[:, 0].astype(np.int64)
    found = Samples(numbers[label], start, indices, np.ascontiguousarray(pairs[:, 1]))
    if not np.isfinite(numbers).all() or _are_no_indices(pairs[:, 0]) or _repeats(found):
        raise _explained(path, block)
    return found


def _bare(text: bytes) -> bytes:
    """Return lines without comments, queries and those that are empty, each with its end."""
    text = _COMMENT.sub(b"", text) if b"#" in text else text
    text = _QUERY.sub(b"", text) if b"qid" in text else text
    return without_empty_lines(text)


def _are_open(text: NDArray[np.uint8], colons: Indices) -> bool:
    """Say whether a colon has no digit before it, or a blank behind it."""
    before, behind = text[colons - 1], text[colons + 1]
    return bool(((before < ord("0")) | (before > ord("9")) | (behind <= ord(" "))).any())


def _are_no_indices(numbers: Array) -> bool:
    return bool(((numbers < 0) | (numbers > LARGEST_INDEX) | (numbers != np.floor(numbers))).any())


def _repeats(found: Samples) -> bool:
    """Say whether a sample has a column twice; in most files they rise."""
    rising = np.diff(found.indices) > 0
    rising[found.start[1:-1][(found.start[1:-1] > 0) & (found.start[1:-1] < len(found.indices))] - 1] = True
    if rising.all():
        return False
    sample = np.repeat(np.arange(len(found.labels)), np.diff(found.start))
    order = np.lexsort((found.indices, sample))
    same = (np.diff(sample[order]) == 0) & (np.diff(found.indices[order]) == 0)
    return bool(same.any())


def _explained(path: Path, block: Block) -> ValueError:
    """Return what is wrong with the first line that is."""
    for k, line in enumerate(block.text.split(b"\n")):
        problem = _problem(line)
        if problem:
            number = line_number(path, block.start) + k
            return ValueError(f"{path}, line {number}: {problem}")
    return ValueError(f"{path} has lines that are not svmlight's, 'label index:value index:value'.")


def _problem(line: bytes) -> str:
    words = _QUERY.sub(b"", _COMMENT.sub(b"", line)).split()
    if not words:
        return ""
    if not _is_finite(words[0]):
        return f"{_shown(words[0])} is no label; it must be one finite number."
    seen = set[int]()
    for word in words[1:]:
        if not _PAIR.fullmatch(word):
            return f"{_shown(word)} is no pair index:value; perhaps the line is not complete."
        index, value = word.split(b":")
        if not _is_finite(value):
            return f"{_shown(word)} has no finite number; impute or drop it."
        if int(index) > LARGEST_INDEX:
            return f"{_shown(word)} has an index above {LARGEST_INDEX}."
        if int(index) in seen:
            return f"index {int(index)} is there twice."
        seen.add(int(index))
    return ""


def _is_finite(word: bytes) -> bool:
    try:
        return b"_" not in word and bool(np.isfinite(float(word)))
    except ValueError:
        return False


def _shown(word: bytes) -> str:
    return repr(word[:40].decode("utf-8", errors="replace"))
