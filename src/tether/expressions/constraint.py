"""All statements as one constraint that remembers their texts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np
from scipy import sparse
from scipy.optimize import LinearConstraint

from tether.expressions.lookup import Lookup
from tether.expressions.statement import Row, rows_of
from tether.inputs import shown
from tether.names import Names, as_names

DENSE_SIZE = 1_000_000  # entries up to which the rows are a dense matrix


@final
class Expressed(LinearConstraint):
    """Rows lb <= A x <= ub that were written as expressions.

    A SciPy LinearConstraint, for whatever takes one, that also knows the names of its columns and what each
    row says: Tether matches the names with those of the objective, and speaks of a row in these words.

    Parameters
    ----------
    rows : list of Row
        The rows.
    texts : sequence of str
        The expression that each row comes from.
    names : tuple of str
        The names of the columns.

    Attributes
    ----------
    labels : tuple of str
        For each row an expression of this row alone, as ``"age_30 >= 0"`` of ``"age_* >= 0"``.
    """

    def __init__(self, rows: Sequence[Row], texts: Sequence[str], names: Names) -> None:
        super().__init__(_matrix(rows, len(names)), [row.lower for row in rows], [row.upper for row in rows])
        self.labels, self.texts, self.names = tuple(row.label for row in rows), tuple(texts), names

    def __repr__(self) -> str:
        return f"Expressed({', '.join(map(repr, dict.fromkeys(self.texts)))})"

    @classmethod
    def labelled(
        cls, matrix: Any, sides: tuple[Any, Any], labels: Sequence[str], names: Names
    ) -> "Expressed":
        """Return rows that were given as a matrix, each with what to call it."""
        rows = cls([], [], names)
        LinearConstraint.__init__(rows, matrix, *sides)
        rows.labels = rows.texts = tuple(labels)
        return rows


def constraints_of(
    expressions: str | Sequence[str], names: Any, *, argument: str = "expressions"
) -> list[Expressed]:
    """Return linear equations and inequalities that are written by the names of the variables.

    Parameters
    ----------
    expressions : str or list of str
        Such as ``"x1 + x2 == x3"``, ``"sum == 0"``, ``"0 <= x <= 1"``, ``"age_30 <= age_40 <= age_50"``,
        ``"sum(north, south) <= 0.5 * west"``, ``"age_* >= 0"``, ``"all <= 1"``. Numbers, names, ``+ - *`` and
        division by a number, parentheses; ``==`` (or ``=``), ``<=`` and ``>=``, also in chains; no strict
        inequalities, because the minimum may be on the boundary. A name with blanks or signs is written
        between quotes, ``"'age group' >= 0"``. ``sum`` is the sum of all variables, ``sum(a, b)`` of some,
        ``sum(age_*)`` of those whose names begin so. ``all`` or ``age_*`` outside of a sum is every one of
        them, one after the other: a row for each. An intercept is meant only where it is named.
    names : sequence of str
        The names of the variables in their order, as the columns of a data frame; ``"intercept"`` last where
        there is one.
    argument : str
        What the expressions are called in errors.

    Returns
    -------
    list
        One constraint with all rows, which are in the order of the expressions, or none if they are true
        whatever x is; put it into a list with others.

    Examples
    --------
    >>> from tether.expressions import constraints_of
    >>> (rows,) = constraints_of(["age - 2 * income == 1", "0 <= all <= 3"], ["age", "income"])
    >>> rows.A.tolist(), rows.lb.tolist(), rows.ub.tolist()
    ([[1.0, -2.0], [1.0, 0.0], [0.0, 1.0]], [1.0, 0.0, 0.0], [1.0, 3.0, 3.0])
    >>> rows.labels
    ('age - 2 * income == 1', '0 <= age <= 3', '0 <= income <= 3')
    """
    several = not isinstance(expressions, str)
    texts = {f"{argument}[{k}]" if several else argument: text for k, text in enumerate(_texts(expressions))}
    found = _expressed(texts, Lookup(as_names("names", names)))
    return [found] if found.labels else []


def spelled_out(constraints: Any, names: Callable[[], Names]) -> Any:
    """Return constraints with all texts among them as rows at the place of the first, the others as they are.

    ``names`` returns the names of the variables; it is called where there is a text.
    """
    if isinstance(constraints, str):
        return _expressed({"constraint": constraints}, Lookup(names()))
    if not isinstance(constraints, list | tuple) or not any(isinstance(item, str) for item in constraints):
        return constraints
    texts = {f"constraint[{k}]": item for k, item in enumerate(constraints) if isinstance(item, str)}
    whole = _expressed(texts, Lookup(names()))
    nothing = Expressed([], [], whole.names)  # so that the others keep their places
    found, rest = list[Any](), [whole]
    for item in constraints:
        found.append(item if not isinstance(item, str) else rest.pop() if rest else nothing)
    return found


def _expressed(texts: Mapping[str, str], lookup: Lookup) -> Expressed:
    """Return the rows of all texts, which are by what they are called in errors."""
    rows, sources = list[Row](), list[str]()
    for argument, text in texts.items():
        found = _rows(argument, _on_one_line(text), lookup)
        rows += found
        sources += [_on_one_line(text)] * len(found)
    return Expressed(rows, sources, lookup.names)


def _rows(argument: str, text: str, lookup: Lookup) -> list[Row]:
    try:
        return rows_of(text, lookup)
    except ValueError as error:
        raise type(error)(f"{argument}: {error}") from None


def _texts(expressions: Any) -> list[str]:
    given = [expressions] if isinstance(expressions, str) else expressions
    if not isinstance(given, Sequence) or not all(isinstance(text, str) for text in given):
        raise TypeError(f"expressions must be a text or a list of texts, got {shown(expressions)}.")
    return list(given)


def _on_one_line(text: str) -> str:
    return "".join(" " if sign.isspace() else sign for sign in text).strip()


def _matrix(rows: Sequence[Row], dim: int) -> Any:
    lengths = [len(row.terms) for row in rows]
    columns = [j for row in rows for j in row.terms]
    entries = [entry for row in rows for entry in row.terms.values()]
    start = np.concatenate([[0], np.cumsum(lengths)])
    matrix = sparse.csr_array((np.array(entries), np.array(columns), start), shape=(len(rows), dim))
    return matrix.toarray() if matrix.shape[0] * dim <= DENSE_SIZE else matrix
