"""One HTML file that needs nothing else: texts, tables, and plots that answer to the reader."""

from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from plotly.offline import get_plotlyjs

from tether.report import markup
from tether.report.parts import Curves, Figure, Part, Section, Table, Text
from tether.report.payload import Payload
from tether.run.solution import Solution

STYLES = ("style.css",)
SCRIPTS = ("theme.js", "curves.js", "figures.js")


def write_report(
    path: str | Path,
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
        The heading.
    best : float, optional
        The optimal value where it is known: a line in the plots, and true gaps.
    sections : sequence of Section
        More pieces, which stand behind the headline: see `tether.report.Section`.

    Returns
    -------
    Path
        Where the page is.
    """
    place, payload = Path(path), Payload()
    pieces = list(sections)
    if solutions:
        pieces.append(Section("Convergence", [Curves(dict(solutions), best=best)]))
    body = "\n".join(_section(section, payload) for section in pieces)
    page = Template(_resource("page.html")).substitute(
        title=escape(title or "Tether report"),
        style="\n".join(map(_resource, STYLES)),
        body=body,
        data=payload.text(),
        plotly=get_plotlyjs(),
        script="\n".join(map(_resource, SCRIPTS)),
    )
    place.write_text(page, encoding="utf-8")
    return place


def _section(section: Section, payload: Payload) -> str:
    parts = "\n".join(_part(part, payload) for part in section.parts)
    return f"<section><h2>{escape(section.title)}</h2>\n{parts}\n</section>"


def _part(part: Part, payload: Payload) -> str:
    if isinstance(part, Text):
        return markup.paragraphs(part.words)
    if isinstance(part, Table):
        return markup.table(part)
    if isinstance(part, Curves):
        return f'<div class="curves" data-key="{payload.curves(part)}"></div>'
    assert isinstance(part, Figure)
    return f'<figure class="plotly" data-key="{payload.figure(part)}"></figure>'


def _resource(name: str) -> str:
    return files("tether.report").joinpath("resources", name).read_text(encoding="utf-8")
