"""What the numbers were measured on and with."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = "tether numpy scipy numba scikit-learn statsmodels glum osqp piqp clarabel"


def surroundings() -> dict[str, Any]:
    """Return the machine, the versions and the commit."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cores": cores,
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES.split()},
        "commit": _commit(),
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _commit() -> str:
    words = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"
