"""Files from the network: whole or not at all, checked where a checksum is known."""

import hashlib
import http.client
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

SECONDS = 30.0  # without an answer


class UnavailableError(FileNotFoundError):
    """Nothing was downloaded, with the reason and what to do."""

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code  # what the server answered; None: there was no answer


def download(address: str, path: Path, *, md5: str | None = None) -> Path:
    """Fetch an address to a file, which appears when all of it is there and its checksum is right."""
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file, _open(address) as answer:
            shutil.copyfileobj(answer, file)
        found = hashlib.md5(Path(part).read_bytes(), usedforsecurity=False).hexdigest()
        if md5 is not None and found != md5:
            raise OSError(
                f"{address} arrived damaged: its checksum is {found} and should be {md5}; try again."
            )
        os.replace(part, path)
    except BaseException as error:
        Path(part).unlink(missing_ok=True)
        if isinstance(error, TimeoutError | http.client.HTTPException | ConnectionError):
            raise _unreached(address, error) from error
        raise
    return path


def text(address: str) -> str:
    """Return what an address says."""
    try:
        with _open(address) as answer:
            return str(answer.read().decode("utf-8"))
    except (TimeoutError, http.client.HTTPException, ConnectionError) as error:
        raise _unreached(address, error) from error


def _open(address: str) -> Any:
    try:
        return urlopen(Request(address, headers={"User-Agent": "tether"}), timeout=SECONDS)
    except HTTPError as error:
        error.close()
        raise UnavailableError(f"{address} answers {error.code} ({error.reason}).", error.code) from error
    except URLError as error:
        raise _unreached(address, error) from error


def _unreached(address: str, error: BaseException) -> UnavailableError:
    reason = getattr(error, "reason", None) or error
    return UnavailableError(
        f"{address} cannot be reached ({reason}); without a network set TETHER_DATA to a folder that holds "
        "the data, or choose data that comes along, such as digits."
    )
