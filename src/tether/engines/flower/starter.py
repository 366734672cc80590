"""A folder to start from: a Flower app that runs as it is, on data to be replaced."""

import shutil
from pathlib import Path

_TEMPLATE = Path(__file__).parent / "template"


def init(folder: Path) -> None:
    """Copy the app into a folder that is new or empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{str(folder)!r} is there already and not empty; name a new folder.")
    unwanted = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(_TEMPLATE, folder, ignore=unwanted, dirs_exist_ok=True)
