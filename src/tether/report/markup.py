"""Words and numbers as HTML."""

import math
import re
from collections.abc import Iterable, Sequence
from html import escape
from numbers import Integral, Real
from typing import NamedTuple

from tether.report.parts import Cell, Mark, Table

DASH = "–"
SHORT_NAME = 18  # letters of a name that is not broken
FEW = 4  # pieces of a page, below which it needs no table of contents
NUMBER = re.compile(r"[<≤~]? ?[-−+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?( ?%)?")


class Piece(NamedTuple):
    """A part of a page under a heading."""

    title: str
    html: str


def section(piece: Piece, number: int) -> str:
    """Return a piece with its heading, where links find it."""
    return f'<section id="part{number}">\n<h2>{escape(piece.title)}</h2>\n{piece.html}\n</section>'


def contents(pieces: Sequence[Piece]) -> str:
    """Return links to pieces, if there are so many that a reader may look for one."""
    if len(pieces) < FEW:
        return ""
    links = (f'<a href="#part{number}">{escape(piece.title)}</a>' for number, piece in enumerate(pieces))
    return f"<nav>{''.join(links)}</nav>"


def folded(title: str, *pieces: str, opened: bool = False) -> str:
    """Return pieces that a reader may open."""
    inner = "\n".join(pieces)
    return f"<details{' open' if opened else ''}><summary>{escape(title)}</summary>\n{inner}\n</details>"


def paragraphs(words: str) -> str:
    """Return plain text as paragraphs."""
    return "".join(f"<p>{escape(part.strip())}</p>" for part in words.split("\n\n") if part.strip())


def table(given: Table) -> str:
    """Return a table in a frame that scrolls by itself where the page is narrow."""
    columns = range(len(given.headings))
    numeric = [bool(given.rows) and all(is_number(row[k]) for row in given.rows) for k in columns]
    head = "".join(_tagged("th", escape(given.headings[k]), numeric[k]) for k in columns)
    body = "".join(f"<tr>{_cells(row, numeric)}</tr>" for row in given.rows)
    caption = f"<caption>{escape(given.caption)}</caption>" if given.caption else ""
    inner = f"{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="frame" tabindex="0"><table>{inner}</table></div>'


def definitions(pairs: Iterable[tuple[str, str]]) -> str:
    """Return names and what is said of them."""
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(words)}</dd></div>" for name, words in pairs)
    return f"<dl>{items}</dl>"


def cards(numbers: Sequence[tuple[str, str]]) -> str:
    """Return a few numbers, as HTML, that are to be seen first."""
    items = "".join(f"<li><span>{escape(name)}</span><b>{number}</b></li>" for name, number in numbers)
    return f'<ul class="cards">{items}</ul>'


def code(text: str) -> str:
    """Return text as it is written."""
    return f"<pre><code>{escape(text)}</code></pre>"


def shown(cell: Cell) -> str:
    """Return a cell as words.

    Examples
    --------
    >>> [shown(cell) for cell in (1234567, 0.000123456, 1234.5678, None, "words")]
    ['1,234,567', '1.235e-04', '1,235', '–', 'words']
    """
    if cell is None or (isinstance(cell, Real) and math.isnan(cell)):
        return DASH
    if isinstance(cell, Mark):
        return cell.words
    if isinstance(cell, bool | str):
        return str(cell)
    return f"{int(cell):,}" if isinstance(cell, Integral) else rounded(float(cell))


def rounded(value: float) -> str:
    """Return a number with four digits."""
    size = abs(value)
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}"
    if size >= 1e7 or size < 1e-3:
        return f"{value:.3e}"
    return f"{value:,.0f}" if size >= 1000 else f"{value:.4g}"


def powers(value: float) -> str:
    """Return a number as HTML, with a power of ten where it is very small or large.

    Examples
    --------
    >>> powers(3.14e-7), powers(12.5)
    ('3.1&thinsp;×&thinsp;10<sup>−7</sup>', '12.5')
    """
    text = rounded(value)
    if "e" not in text:
        return escape(text)
    digits, power = f"{value:.1e}".split("e")
    exponent = str(int(power)).replace("-", "−")
    return f"{digits}&thinsp;×&thinsp;10<sup>{exponent}</sup>"


def is_number(cell: Cell) -> bool:
    """Say whether a cell is to be aligned at the right: a number, or words that read as one."""
    if isinstance(cell, str):
        return cell == DASH or NUMBER.fullmatch(cell) is not None
    return cell is None or (isinstance(cell, Real) and not isinstance(cell, bool))


def _cells(row: Sequence[Cell], numeric: Sequence[bool]) -> str:
    short = isinstance(row[0], str) and not numeric[0] and len(row[0]) <= SHORT_NAME
    first = (
        f'<td class="name">{_marked(row[0])}</td>' if short else _tagged("td", _marked(row[0]), numeric[0])
    )
    rest = zip(row[1:], numeric[1:], strict=True)
    return first + "".join(_tagged("td", _marked(cell), number) for cell, number in rest)


def _marked(cell: Cell) -> str:
    words = escape(shown(cell))
    if not isinstance(cell, Mark) or cell.good is None:
        return words
    return f'<span class="mark {"good" if cell.good else "bad"}">{words}</span>'


def _tagged(tag: str, inner: str, number: bool) -> str:
    return f'<{tag} class="number">{inner}</{tag}>' if number else f"<{tag}>{inner}</{tag}>"
