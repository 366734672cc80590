"""tether info: what is here, for bug reports."""

import argparse
import json
import os
import platform
import re
import shutil
import sys
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text
from threadpoolctl import threadpool_info

from tether import __version__
from tether.threads import CORES

CORE = ("numpy", "scipy", "numba", "llvmlite", "piqp", "rich", "threadpoolctl")
VARIABLES = (
    *("TETHER_DATA", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
    *("NUMBA_NUM_THREADS", "NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT"),
)
PROGRAMS = ("mpiexec", "flwr")
OF_EXTRA = re.compile(r"""([\w.-]+)(?:\[[^]]*\])?[^;]*; extra == ["']([\w-]+)["']""")
DEVELOPING = "dev"  # an extra that users do not need
GIB = 2**30

Group = dict[str, str | None]


def add(commands: Any) -> None:
    """Add the command to the parser."""
    info = commands.add_parser("info", help="versions, threads and extras, for bug reports")
    info.add_argument("--json", action="store_true", help="the same for programs to read")
    info.set_defaults(run=_info)


def _info(options: argparse.Namespace, console: Console) -> None:
    found = information()
    if options.json:
        print(json.dumps(found, indent=2))
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for group, entries in found.items():
        table.add_row(Text(group, style="bold"), "")
        for name, words in entries.items():
            table.add_row(f"  {name}", Text("-" if words is None else words))
    console.print(table, highlight=False)


def information() -> dict[str, Group]:
    """Return what is known of this place, in groups; None stands for what is not there."""
    python = f"{platform.python_version()} ({platform.python_implementation()})"
    return {
        "versions": {"tether": __version__, "python": python} | {name: _version(name) for name in CORE},
        "machine": {"system": platform.platform(), "cores": str(CORES), "memory": _memory()},
        "blas": _blas(),
        "extras": _extras(),
        "programs": {name: _place(name) for name in PROGRAMS},
        "environment": {name: os.environ.get(name) for name in VARIABLES},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _extras() -> Group:
    """Return the packages of every extra with their versions; those that are missing are named too."""
    try:
        wanted = requires("tether") or []
    except PackageNotFoundError:  # it runs from its source
        return {}
    packages: dict[str, list[str]] = {}
    for found in filter(None, map(OF_EXTRA.match, wanted)):
        package, name = found.groups()
        if name != DEVELOPING and package != "tether":
            packages.setdefault(name, []).append(package)
    return {
        name: ", ".join(f"{one} {_version(one) or '(missing)'}" for one in packages[name])
        for name in packages
    }


def _blas() -> Group:
    """Return the libraries of linear algebra that are loaded, and their threads."""
    libraries = [one for one in threadpool_info() if one["user_api"] == "blas"]
    found: Group = {}
    for one in libraries:
        owner = Path(one["filepath"]).parent.name.removesuffix(".libs")
        kind = one.get("architecture") or "unknown"
        found[owner] = f"{one['internal_api']} {one['version']}, {one['num_threads']} threads, {kind} kernels"
    return found


def _place(program: str) -> str | None:
    """Return where a program is: in the environment of this Python, or wherever the shell finds it."""
    return shutil.which(program, path=str(Path(sys.executable).parent)) or shutil.which(program)


def _memory() -> str | None:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / GIB:.1f} GiB"
    except (AttributeError, ValueError, OSError):  # not everywhere
        return None
