"""From files and expressions to constraints on the coefficients."""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint

from tether.arrays import Array
from tether.constraints import Affine
from tether.expressions import constraints_of
from tether.io import Matrix, read_matrix, read_vector
from tether.names import Names, nearest


class Variables(NamedTuple):
    """What the coefficients are called; intercepts stand last."""

    labels: Names
    intercepts: int

    @property
    def plain(self) -> int:
        """How many are no intercepts."""
        return len(self.labels) - self.intercepts


def read_constraints(options: argparse.Namespace, variables: Variables) -> list[Any]:
    """Return everything that x must satisfy."""
    found: list[Any] = [*_equations(options, variables), *_inequalities(options, variables)]
    found += _bounds(options, variables)
    found += constraints_of(options.expr, variables.labels, argument="--expr")
    if options.expr_file is not None:
        texts, argument = _written(options.expr_file), f"--expr-file {options.expr_file}"
        found += constraints_of(texts, variables.labels, argument=argument)
    return found


def _equations(options: argparse.Namespace, variables: Variables) -> list[Affine]:
    if options.constraints is None:
        _require_none("--rhs", options.rhs, "--constraints")
        return []
    A = _placed("--constraints", read_matrix(options.constraints, "A"), variables)
    b = None if options.rhs is None else _column("--rhs", options.rhs, A.shape[0], options.constraints)
    return [Affine(A, b)]


def _inequalities(options: argparse.Namespace, variables: Variables) -> list[LinearConstraint]:
    sides = {"--at-least": options.at_least, "--at-most": options.at_most}
    if options.inequalities is None:
        for option, value in sides.items():
            _require_none(option, value, "--inequalities")
        return []
    if options.at_least is None and options.at_most is None:
        raise ValueError("--inequalities needs --at-least, --at-most or both: lo <= G x <= hi.")
    G = _placed("--inequalities", read_matrix(options.inequalities, "G"), variables)
    low = _walls("--at-least", options.at_least, G.shape[0], -np.inf)
    high = _walls("--at-most", options.at_most, G.shape[0], np.inf)
    return [LinearConstraint(G, low, high)]


def _bounds(options: argparse.Namespace, variables: Variables) -> list[Bounds]:
    if options.lower is None and options.upper is None:
        return []
    free = np.full(variables.intercepts, np.inf)
    low = _walls("--lower", options.lower, variables.plain, -np.inf)
    high = _walls("--upper", options.upper, variables.plain, np.inf)
    return [Bounds(np.concatenate([low, -free]), np.concatenate([high, free]))]


def _written(path: Path) -> list[str]:
    """Return the expressions of a file, without comments and empty lines."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"--expr-file {path} cannot be read as text.") from error
    return [text for line in lines if (text := line.split("#")[0].strip())]


def _placed(option: str, matrix: Matrix, variables: Variables) -> Any:
    """Return a matrix with a column for every coefficient, by name where it has names."""
    entries, names = matrix
    width = entries.shape[1]
    if names is not None:
        return _by_name(option, matrix, variables)
    if width == len(variables.labels):
        return entries
    if width != variables.plain:
        more = f", or {len(variables.labels)} with intercepts" if variables.intercepts else ""
        raise ValueError(
            f"{option} has {width} columns, the model has {variables.plain} coefficients{more}; give it a "
            "column for each, or names in a CSV header."
        )
    return _with_columns(entries, np.arange(width), len(variables.labels))


def _by_name(option: str, matrix: Matrix, variables: Variables) -> Any:
    entries, names = matrix
    assert names is not None
    place = {name: j for j, name in enumerate(variables.labels)}
    for name in names:
        if name not in place:
            raise ValueError(
                f"{option} has a column {name!r}, which is no coefficient; {nearest(name, variables.labels)}."
            )
    return _with_columns(entries, np.array([place[name] for name in names]), len(place))


def _with_columns(entries: Any, place: Any, dim: int) -> Any:
    """Return a matrix whose columns stand at other places, zeros between them."""
    if not sparse.issparse(entries):
        found = np.zeros((entries.shape[0], dim))
        found[:, place] = entries
        return found
    moved = sparse.coo_array(entries)
    rows, columns = moved.coords
    return sparse.csr_array((moved.data, (rows, place[columns])), shape=(entries.shape[0], dim))


def _column(option: str, path: Path, count: int, of: Path) -> Array:
    found = np.asarray(read_vector(path), dtype=float)
    if len(found) != count:
        raise ValueError(f"{option} {path} has {len(found)} entries, {of} has {count} rows.")
    return found


def _walls(option: str, value: str | None, count: int, none: float) -> Array:
    """Return one number for each of some rows or coefficients: the same for all, or those of a file."""
    if value is None:
        return np.full(count, none)
    try:
        return np.full(count, float(value))
    except ValueError:
        if not Path(value).is_file():
            raise ValueError(f"{option} must be a number or a file, got {value!r}.") from None
    found = np.asarray(read_vector(value, "b"), dtype=float)
    if len(found) != count:
        raise ValueError(f"{option} {value} has {len(found)} entries, {count} are needed.")
    return found


def _require_none(option: str, value: Any, other: str) -> None:
    if value is not None:
        raise ValueError(f"{option} needs {other}.")
