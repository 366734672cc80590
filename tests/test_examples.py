"""The examples in the docstrings run as printed, and every public name has one."""

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import tether

#: What needs a launcher, a server or a terminal of its own.
ELSEWHERE = ("tether.engines.flower", "tether.engines.mpi", "tether.flower", "tether.__main__")

#: Names that are kinds, results or groups of others: they are shown where they are used.
SHOWN_ELSEWHERE = {
    *("Constraint", "Engine", "Objective", "Method", "Algorithm", "StageWise", "as_method"),
    *("CallbackError", "Counts", "Data", "Description", "Moment", "Serial", "Solution", "Status"),
}


def modules():
    """The names of all modules; packages that need an extra are not imported to find them."""
    root = Path(tether.__file__).parent
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if not name.startswith(ELSEWHERE):
            yield name


@pytest.mark.parametrize("name", [*modules()])
def test_the_examples_of_a_module_run_as_printed(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def public():
    yield from ((name, getattr(tether, name)) for name in tether.__all__ if not name.startswith("_"))
    yield from ((name, getattr(tether.methods, name)) for name in tether.methods.__all__)
    yield from ((name, getattr(tether.splits, name)) for name in tether.splits.__all__)
    yield from ((name, getattr(tether.datasets, name)) for name in tether.datasets.__all__)


def test_every_public_name_has_an_example():
    shown = {
        name: "Examples\n" in (inspect.getdoc(thing) or "")
        for name, thing in public()
        if inspect.isclass(thing) or inspect.isfunction(thing)
    }
    missing = {name for name, has in shown.items() if not has} - SHOWN_ELSEWHERE
    assert not missing


def test_the_package_shows_its_public_names_only():
    assert set(dir(tether)) == set(tether.__all__)
