"""Solutions on disk: a sealed file of arrays, with everything else in its header."""

from collections.abc import Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from tether import sealed
from tether.feasible import Active, Multipliers
from tether.run.history import Counts, Decision, History, rows_of
from tether.run.solution import Solution, Status
from tether.run.statement import Statement

FORMAT = 1
KIND = "tether solution"
WORDS = ("message", "method", "solver", "doubt")
NUMBERS = ("fun", "residual", "seconds")
GROUPS: dict[str, Any] = {"multipliers": Multipliers, "active": Active}


def save(solution: Solution, path: Any) -> Path:
    """Write a solution, replacing an older file in one step."""
    place = sealed.writable("path", path)
    arrays: dict[str, Any] = {"x": solution.x, "history": solution.history.table}
    if solution.history.reports is not None:
        arrays["workers"] = solution.history.reports
    if solution.ray is not None:
        arrays["ray"] = solution.ray
    for name in GROUPS:
        arrays |= _parts(name, getattr(solution, name))
    header = {
        "kind": KIND,
        "format": FORMAT,
        "status": solution.status.name,
        "gap": solution.gap,
        "counts": list(solution.counts),
        "problem": plain(solution.problem),
        "decisions": plain(solution.decisions),
        **{name: getattr(solution, name) for name in (*WORDS, *NUMBERS)},
    }
    sealed.write(place, header, arrays)
    return place


def load(path: Any) -> Solution:
    """Read a solution that was written by `Solution.save`.

    Parameters
    ----------
    path : path
        The file. It is read without trust: nothing in it is ever run.

    Examples
    --------
    >>> import tempfile, numpy as np, tether
    >>> objective = tether.Quadratic(matrix=np.eye(3), linear=np.ones(3))
    >>> sol = tether.solve(objective, tether.Affine(np.ones((1, 3)), [3.0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = tether.load(sol.save(f"{folder}/run.npz"))
    >>> again.x, again.success
    (array([1., 1., 1.]), True)
    """
    place = sealed.readable("path", path)
    try:
        return _read(place)
    except _Checkpoint:
        raise ValueError(
            f"path {str(place)!r} is the checkpoint of a run, not a saved solution; call solve with this "
            "checkpoint again and save what it returns with sol.save(...)."
        ) from None
    except Exception as error:  # however reading fails
        known = isinstance(error, sealed.Unreadable)
        raise ValueError(
            f"path {str(place)!r} is not a solution that tether can read "
            f"({error if known else 'it is damaged or holds something else'}); write one with sol.save(...)."
        ) from error


class _Checkpoint(Exception):  # noqa: N818
    """The file is a checkpoint."""


def _read(path: Path) -> Solution:
    header = sealed.header_of(path)
    if header.get("kind") != KIND:
        raise _Checkpoint if "identity" in header else sealed.Unreadable("it holds something else")
    header, arrays = sealed.read(path, FORMAT)
    x, table, reports = _floats(arrays["x"], 1), _floats(arrays["history"], 2), arrays.get("workers")
    counts = Counts(*(rebuilt(int, number) for number in header["counts"]))
    words = {name: rebuilt(str, header[name]) for name in WORDS}
    numbers = {name: rebuilt(float, header[name]) for name in NUMBERS}
    return Solution(
        x=x,
        ray=_floats(arrays["ray"], 1) if "ray" in arrays else None,
        gap=rebuilt(float | None, header["gap"]),
        status=Status[header["status"]],
        counts=counts,
        history=History(rows_of(table, None if reports is None else _floats(reports, 3))),
        problem=rebuilt(Statement | None, header["problem"]),
        decisions=rebuilt(tuple[Decision, ...], header["decisions"]),
        **{name: _group(name, arrays) for name in GROUPS},
        **words,
        **numbers,
    )


def _parts(name: str, value: Any) -> dict[str, Any]:
    """Return the arrays of multipliers or of what is active, by name."""
    if value is None:
        return {}
    if isinstance(value, np.ndarray):
        return {name: value}
    return {f"{name}.{part}": each for part, each in value._asdict().items() if each is not None} | {
        f"{name}.": np.zeros(0)
    }


def _group(name: str, arrays: Mapping[str, Any]) -> Any:
    if name in arrays:
        return _floats(arrays[name], 1)
    kind = GROUPS[name]
    return kind(*(arrays.get(f"{name}.{part}") for part in kind._fields)) if f"{name}." in arrays else None


def _floats(array: Any, axes: int) -> np.ndarray:
    if array.dtype != np.float64 or array.ndim != axes:
        raise ValueError(f"{axes} axes of floats were expected, not {array.dtype} of shape {array.shape}")
    return np.asarray(array)


def plain(value: Any) -> Any:
    """Return named tuples as dictionaries and tuples as lists, for JSON."""
    if hasattr(value, "_fields"):
        return {name: plain(part) for name, part in value._asdict().items()}
    return [plain(part) for part in value] if isinstance(value, tuple) else value


def rebuilt(kind: Any, value: Any) -> Any:
    """Return what `plain` was made of, or raise TypeError where it is not of this kind."""
    if get_origin(kind) in (Union, UnionType):
        if value is None and NoneType in get_args(kind):
            return None
        return rebuilt(next(one for one in get_args(kind) if one is not NoneType), value)
    if hasattr(kind, "_fields"):
        hints = get_type_hints(kind)
        return kind(**{name: rebuilt(hints[name], value[name]) for name in kind._fields})
    if get_origin(kind) is tuple:
        inner = get_args(kind)
        kinds = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        return tuple(rebuilt(one, part) for one, part in zip(kinds, value, strict=True))
    if not isinstance(value, int | float if kind is float else kind) or (kind is int and value is True):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value
