"""Where data is looked for on this machine."""

import os
from pathlib import Path


def given(*parts: str) -> Path | None:
    """Return a file of the folder that TETHER_DATA names; None where there is none."""
    folder = os.environ.get("TETHER_DATA")
    if not folder:
        return None
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"TETHER_DATA must name a folder that exists, got {folder!r}.")
    path = Path(folder, *parts)
    return path if path.exists() else None


def cached(*parts: str) -> Path:
    """Return the place of a file in the cache, whose folder is made."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    path = Path(home, "tether", *parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
