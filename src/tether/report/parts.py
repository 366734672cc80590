"""What a page is made of: sections of texts, tables, curves of runs and figures.

Nothing here knows of HTML. Words are plain text: what looks like a tag is shown as it is written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from tether.run.solution import History, Solution


class Text(NamedTuple):
    """A paragraph; an empty line begins another one."""

    words: str


class Mark(NamedTuple):
    """A cell that is good or bad, such as the verdict on a claim."""

    words: str
    good: bool | None = None  # None: neither


Cell: TypeAlias = str | int | float | Mark | None


@dataclass(frozen=True)
class Table:
    """A table: headings and rows of words and numbers; numbers are aligned at the right.

    Whole numbers get commas, others four digits; who wants it differently passes words. None is a dash.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""


@dataclass(frozen=True)
class Curves:
    """Runs in one interactive plot, with axes to choose and runs to toggle.

    Parameters
    ----------
    runs : mapping of str to Solution or History
        The runs by name.
    best : float, optional
        The optimal value where it is known: then F - F* is a true gap. Else the lowest F of these runs
        stands for it.
    against, show : str
        What is on the axes at first: "rounds", "projections", "passes" or "seconds", and "gap", "excess"
        (F - F*), "value", "slope" (||P grad F||) or "residual". What no run has is not offered.
    """

    runs: Mapping[str, Solution | History]
    best: float | None = None
    against: str = "projections"
    show: str = "gap"


@dataclass(frozen=True)
class Figure:
    """A figure of plotly's."""

    figure: Any = field(repr=False)
    caption: str = ""


Part: TypeAlias = Text | Table | Curves | Figure


@dataclass(frozen=True)
class Section:
    """A piece of a page under a title.

    Examples
    --------
    >>> from tether.report import Mark, Section, Table, Text
    >>> rows = [["at most 200 projections", 187, Mark("holds", good=True)]]
    >>> verdicts = Table(["claim", "measured", "verdict"], rows)
    >>> Section("Table 2", [Text("Projections to a gap of 1e-6."), verdicts]).title
    'Table 2'
    """

    title: str
    parts: Sequence[Part]
