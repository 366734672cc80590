"""What a page is made of: sections of texts, tables, curves of runs and figures.

Nothing here knows of HTML. Words are plain text: what looks like a tag is shown as it is written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from tether.report.measures import AGAINST, MEASURES, as_runs, require_word
from tether.run.history import History
from tether.run.solution import Solution


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
    """A table: headings and rows of words and numbers.

    Whole numbers get commas, others four digits, None is a dash; who wants it differently passes words, as
    "1.2e-06". A column of numbers, or of words that read as numbers, is aligned at the right.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""

    def __post_init__(self) -> None:
        for k, row in enumerate(self.rows):
            if len(row) != len(self.headings):
                raise ValueError(
                    f"rows of a Table must have one cell for each of its {len(self.headings)} headings, got "
                    f"{len(row)} in row {k}."
                )


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
    against, show : str, optional
        What is on the axes at first: "rounds", "projections", "passes" or "seconds", and "gap", "excess"
        (F - F*), "value", "slope" (||P grad F||) or "residual". By default the gap where it was certified,
        else the slope. What no run has is not offered.
    """

    runs: Mapping[str, Solution | History]
    best: float | None = None
    against: str = "projections"
    show: str | None = None

    def __post_init__(self) -> None:
        as_runs("runs", self.runs)
        require_word("against", self.against, AGAINST)
        if self.show is not None:
            require_word("show", self.show, MEASURES)


@dataclass(frozen=True)
class Figure:
    """A figure of plotly's, or a dictionary with the data and the layout of one."""

    figure: Any = field(repr=False)
    caption: str = ""

    def __post_init__(self) -> None:
        plain = isinstance(self.figure, dict) and isinstance(self.figure.get("data"), list)
        if not plain and not hasattr(self.figure, "to_plotly_json"):
            raise TypeError(f"figure must be a figure of plotly's, got a {type(self.figure).__name__}.")


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
