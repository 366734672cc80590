"""All solvers that are compared: Tether's methods, a yardstick, and what is installed of other libraries."""

from importlib import import_module

from profiling.contestants.base import Contestant

FILES = (
    "tether_methods",
    "null_space_newton",
    "scipy_solvers",
    "sklearn_solvers",
    "glum_solver",
    "program_solvers",
)


def contestants() -> tuple[dict[str, Contestant], dict[str, str]]:
    """Return the solvers by name, and why some files could not be imported."""
    found: dict[str, Contestant] = {}
    missing = {}
    for file in FILES:
        try:
            module = import_module(f"profiling.contestants.{file}")
        except ImportError as error:
            missing[file] = str(error)
            continue
        found.update({solver.name: solver for solver in module.SOLVERS})
    return found, missing
