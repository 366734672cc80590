"""Which format a file has: said by the end of its name, checked by how it begins."""

import re
from enum import Enum
from pathlib import Path

from tether.io.opening import COMPRESSED, opened


class Format(Enum):
    """What may be read; the value says it in words."""

    SVMLIGHT = "svmlight"
    NPZ = "NumPy's .npz"
    NPY = "NumPy's .npy"
    MATRIX_MARKET = "Matrix Market"
    CSV = "CSV"
    PARQUET = "Parquet"
    TEXT = "plain numbers"


ENDINGS = {
    ".svm": Format.SVMLIGHT,
    ".svmlight": Format.SVMLIGHT,
    ".libsvm": Format.SVMLIGHT,
    ".npz": Format.NPZ,
    ".npy": Format.NPY,
    ".mtx": Format.MATRIX_MARKET,
    ".mm": Format.MATRIX_MARKET,
    ".csv": Format.CSV,
    ".tsv": Format.CSV,
    ".parquet": Format.PARQUET,
    ".pq": Format.PARQUET,
}
HEAD = 4096  # bytes at the beginning that tell a format
_BEGINNINGS = {
    b"PK\x03\x04": Format.NPZ,
    b"PK\x05\x06": Format.NPZ,
    b"\x93NUMPY": Format.NPY,
    b"PAR1": Format.PARQUET,
    b"%%MatrixMarket": Format.MATRIX_MARKET,
}
_SVMLIGHT = re.compile(rb"\s*[-+\d.]\S*(\s+qid:\S+)?(\s+\d+:\S+)+\s*(#.*)?")
_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")


def format_of(path: Path) -> Format:
    """Return the format of a file, or refuse one that is no file, is empty or is not what its name says."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give a file.")
    if not path.is_file():
        raise ValueError(f"{path} is no file; check its name and the folder.")
    with opened(path) as file:
        head = file.read(HEAD)
    if not head.strip():
        raise ValueError(f"{path} is empty.")
    named, found = ENDINGS.get(ending(path)), _by_content(head)
    if found not in _BEGINNINGS.values() and _is_binary(head):
        raise ValueError(_stranger(path, named, head))
    if named is None or named is found:
        return found
    if found in _BEGINNINGS.values() or named in _BEGINNINGS.values():
        raise ValueError(_stranger(path, named, head, found))
    return named


def ending(path: Path) -> str:
    """Return the end of a name that tells the format, without that of the compression."""
    last = path.suffix.lower()
    return Path(path.stem).suffix.lower() if last in COMPRESSED else last


def _by_content(head: bytes) -> Format:
    for beginning, found in _BEGINNINGS.items():
        if head.startswith(beginning):
            return found
    lines = [line for line in head.splitlines() if line.strip() and not line.lstrip().startswith(b"#")]
    if lines and _SVMLIGHT.fullmatch(lines[0]):
        return Format.SVMLIGHT
    return Format.CSV if lines and re.search(rb"[,;\t]", lines[0]) else Format.TEXT


def _is_binary(head: bytes) -> bool:
    return b"\x00" in head or head.startswith(_BYTE_ORDER_MARKS)


def _stranger(path: Path, named: Format | None, head: bytes, found: Format | None = None) -> str:
    if head.startswith(_BYTE_ORDER_MARKS):
        return f"{path} is written in UTF-16; save it as UTF-8."
    if found is not None and found is not Format.TEXT and named is not None:
        return f"{path} is named like {named.value} but begins like {found.value}; rename it."
    if named is not None:
        return f"{path} is named like {named.value} but does not begin like that; perhaps it is not complete."
    known = ", ".join(kind.value for kind in Format if kind is not Format.TEXT)
    return f"{path} has none of the formats that can be read: {known}."
