"""Words and numbers as HTML."""

import math
from collections.abc import Iterable
from html import escape

from tether.report.parts import Cell, Mark, Table

DASH = "–"


def paragraphs(words: str) -> str:
    """Return plain text as paragraphs."""
    return "".join(f"<p>{escape(part.strip())}</p>" for part in words.split("\n\n") if part.strip())


def table(given: Table) -> str:
    """Return a table in a frame that scrolls by itself where the page is narrow."""
    numeric = [all(_is_number(row[k]) for row in given.rows) for k in range(len(given.headings))]
    head = "".join(
        _tagged("th", escape(word), number) for word, number in zip(given.headings, numeric, strict=True)
    )
    body = "".join(f"<tr>{_cells(row, numeric)}</tr>" for row in given.rows)
    caption = f"<caption>{escape(given.caption)}</caption>" if given.caption else ""
    inner = f"{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="frame"><table>{inner}</table></div>'


def definitions(pairs: Iterable[tuple[str, str]]) -> str:
    """Return names and what is said of them."""
    items = "".join(f"<dt>{escape(name)}</dt><dd>{escape(words)}</dd>" for name, words in pairs)
    return f"<dl>{items}</dl>"


def shown(cell: Cell) -> str:
    """Return a cell as words."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return DASH
    if isinstance(cell, Mark):
        return cell.words
    if isinstance(cell, bool | str):
        return str(cell)
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.4g}"


def _cells(row: Iterable[Cell], numeric: Iterable[bool]) -> str:
    return "".join(_tagged("td", _marked(cell), number) for cell, number in zip(row, numeric, strict=True))


def _marked(cell: Cell) -> str:
    words = escape(shown(cell))
    if not isinstance(cell, Mark) or cell.good is None:
        return words
    return f'<span class="mark {"good" if cell.good else "bad"}">{words}</span>'


def _tagged(tag: str, inner: str, number: bool) -> str:
    return f'<{tag} class="number">{inner}</{tag}>' if number else f"<{tag}>{inner}</{tag}>"


def _is_number(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))
