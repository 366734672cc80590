"""One HTML file that needs nothing else: texts, tables, and plots that answer to the reader."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any

from plotly.offline import get_plotlyjs

from tether.inputs import number, shown
from tether.report import details, markup
from tether.report.headline import headline, of_one_problem, title_of
from tether.report.markup import Piece
from tether.report.measures import as_runs
from tether.report.parts import Curves, Figure, Part, Section, Table, Text
from tether.report.payload import Payload
from tether.run.solution import Solution
from tether.sealed import writable
from tether.versions import versions

SCRIPTS = ("elements.js", "theme.js", "curves.js", "workers.js", "history.js", "figures.js")
ENDINGS = (".html", ".htm")


def write_report(
    path: str | PathLike[str],
    solutions: Mapping[str, Solution],
    *,
    title: str | None = None,
    best: float | None = None,
    sections: Sequence[Section] = (),
) -> Path:
    """Write a page about runs that anyone can open, without a network.

    Parameters
    ----------
    path : path
        The file to write, .html.
    solutions : mapping of str to Solution
        The runs by name; there may be none if there are sections.
    title : str, optional
        The heading. Default: what was solved.
    best : float, optional
        The optimal value where it is known: a line in the plots, and true gaps.
    sections : sequence of Section
        More pieces, which stand behind the headline: see `tether.report.Section`.

    Returns
    -------
    Path
        Where the page is.

    Examples
    --------
    >>> import tempfile, numpy as np, tether
    >>> from tether.report import Section, Text, write_report
    >>> objective = tether.Quadratic(matrix=np.diag([1.0, 10.0]), linear=np.ones(2))
    >>> sols = {name: tether.solve(objective, None, name) for name in ("nesterov", "lbfgs")}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_report(f"{folder}/two.html", sols, sections=[Section("Why", [Text("To see.")])])
    ...     "<h2>Why</h2>" in path.read_text()
    True
    """
    place, runs = _page("path", path), _solutions(solutions)
    known = None if best is None else number("best", best)
    heading, more = _title(title, runs), _sections(sections, bool(runs))
    payload = Payload()
    pieces = [_piece(section, payload) for section in more]
    pieces += _about(runs, known, payload) if runs else []
    body = [headline(runs, known), markup.contents(pieces)]
    body += [markup.section(piece, number) for number, piece in enumerate(pieces)]
    page = Template(_resource("page.html")).substitute(
        title=escape(heading),
        generator=escape(" ".join(versions()[0])),
        style=_resource("style.css"),
        body="\n".join(filter(None, body)),
        data=payload.text(),
        plotly=get_plotlyjs(),
        script="\n".join(map(_resource, SCRIPTS)),
    )
    place.write_text(page, encoding="utf-8")
    return place


def _page(name: str, path: Any) -> Path:
    """Return where to write a page: never over data or a saved run that was named by mistake."""
    place = writable(name, path)
    if place.suffix.lower() not in ENDINGS:
        raise ValueError(f"{name} must end in {' or '.join(ENDINGS)}, as pages do, got {str(path)!r}.")
    return place


def _about(runs: dict[str, Solution], best: float | None, payload: Payload) -> list[Piece]:
    """Return what there is to see of runs, one thing below the other."""
    comparable = len(runs) == 1 or of_one_problem(runs)
    curves = _part(Curves(runs, best=best), payload, comparable=comparable)
    federated = "".join(_workers(name, sol, payload) for name, sol in runs.items() if sol.history.workers)
    raw = f'<div class="history" data-key="{payload.histories(runs)}"></div>'
    pieces = [
        Piece("Convergence", curves),
        Piece("What auto decided", details.decisions(runs)),
        Piece("Solution", _each(runs, details.values)),
        Piece("Workers", federated),
        Piece("Counts", details.counts(runs)),
        Piece("To run it again", _each(runs, details.again)),
        Piece("History", raw),
    ]
    return [piece for piece in pieces if piece.html]


def _each(runs: dict[str, Solution], tell: Callable[[Solution], str]) -> str:
    """Return what is told of each run: folded away where there are several."""
    told = {name: tell(sol) for name, sol in runs.items()}
    if len(runs) == 1:
        return "".join(told.values())
    return "".join(markup.folded(name, words) for name, words in told.items())


def _workers(name: str, sol: Solution, payload: Payload) -> str:
    table = details.workers(sol)
    assert table is not None
    plot = f'<div class="workers" data-key="{payload.workers(name, sol)}"></div>'
    return f"<h3>{escape(name)}</h3>{plot}{markup.folded('Each worker', markup.table(table))}"


def _piece(section: Section, payload: Payload) -> Piece:
    return Piece(section.title, "\n".join(_part(part, payload) for part in section.parts))


def _part(part: Part, payload: Payload, comparable: bool = True) -> str:
    if isinstance(part, Text):
        return markup.paragraphs(part.words)
    if isinstance(part, Table):
        return markup.table(part)
    if isinstance(part, Curves):
        return f'<div class="curves" data-key="{payload.curves(part, comparable)}"></div>'
    caption = f"<figcaption>{escape(part.caption)}</figcaption>" if part.caption else ""
    return f'<figure class="plotly" data-key="{payload.figure(part)}">{caption}</figure>'


def _solutions(solutions: Any) -> dict[str, Solution]:
    runs = as_runs("solutions", solutions)
    for name, run in runs.items():
        if not isinstance(run, Solution):
            raise TypeError(f"solutions must hold solutions, got a {type(run).__name__} under {name!r}.")
    return {name: run for name, run in runs.items() if isinstance(run, Solution)}


def _title(title: Any, runs: dict[str, Solution]) -> str:
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title must be a text, got {shown(title)}.")
    return title_of(runs) if title is None else title


def _sections(sections: Any, runs: bool) -> list[Section]:
    given = list(sections) if isinstance(sections, Sequence) and not isinstance(sections, str) else None
    if given is None or not all(isinstance(section, Section) for section in given):
        raise TypeError(f"sections must be a list of tether.report.Section, got {shown(sections)}.")
    if not given and not runs:
        raise ValueError("solutions and sections are both empty; give a solution, or a section.")
    for part in (part for section in given for part in section.parts):
        if not isinstance(part, Text | Table | Curves | Figure):
            raise TypeError(
                f"sections must hold Text, Table, Curves and Figure of tether.report, got {shown(part)}."
            )
    return given


def _resource(name: str) -> str:
    return files("tether.report").joinpath("resources", name).read_text(encoding="utf-8")
