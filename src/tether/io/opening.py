"""Files opened, compressed ones too, and a share of their lines read in blocks."""

import bz2
import gzip
import lzma
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

BLOCK = 1 << 24  # bytes read together

COMPRESSED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_EMPTY = re.compile(rb"^[ \t\r]*\n", re.MULTILINE)
_BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError)


class Share(NamedTuple):
    """Which of several processes reads: the rows of a file are cut into as many pieces."""

    number: int = 0
    size: int = 1

    def of(self, length: int) -> tuple[int, int]:
        """Return the first of as many things that belong to the share, and the one behind the last."""
        return length * self.number // self.size, length * (self.number + 1) // self.size


WHOLE = Share()


class Block(NamedTuple):
    """Some whole lines of a file, and the byte where they begin."""

    text: bytes
    start: int


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, decompressed where its name says so; say which one is broken."""
    try:
        with COMPRESSED.get(path.suffix.lower(), open)(path, "rb") as file:
            yield cast(IO[bytes], file)
    except _BROKEN as error:
        raise ValueError(f"{path} cannot be decompressed; it is damaged or not complete.") from error
    except OSError as error:
        if path.suffix.lower() in COMPRESSED and error.errno is None:  # of bz2: no such stream
            raise ValueError(f"{path} cannot be decompressed; it is damaged or not complete.") from error
        raise ValueError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}.") from error


def blocks(path: Path, share: Share = WHOLE, *, skip: int = 0) -> Iterator[Block]:
    """Yield the lines of a share in blocks of whole lines; bytes before ``skip`` belong to nobody."""
    with opened(path) as file:
        first, last = skip, None
        if share.size > 1:
            length = file.seek(0, 2) - skip
            first, last = (skip + place for place in share.of(length))
        place = _line_from(file, first, skip)
        while last is None or place < last:
            wanted = BLOCK if last is None else min(BLOCK, last - place)
            text = file.read(wanted)
            if not text:
                return
            text += b"" if text.endswith(b"\n") else file.readline()
            yield Block(text, place)
            place += len(text)


def _line_from(file: IO[bytes], first: int, skip: int) -> int:
    """Go to the first line that begins at a byte or behind it, and return where that is."""
    if first <= skip:
        return file.seek(skip)
    file.seek(first - 1)
    file.readline()
    return file.tell()


def without_empty_lines(text: bytes) -> bytes:
    """Return lines that hold something, each with its end."""
    text = text if text.endswith(b"\n") else text + b"\n"
    if text[:1].isspace() or any(blank in text for blank in (b"\n\n", b"\n\r", b"\n ", b"\n\t")):
        return _EMPTY.sub(b"", text)
    return text


def line_number(path: Path, place: int) -> int:
    """Return the number of the line that a byte belongs to, counted from 1."""
    number = 1
    with opened(path) as file:
        while place > 0 and (text := file.read(min(BLOCK, place))):
            number += text.count(b"\n")
            place -= len(text)
    return number
