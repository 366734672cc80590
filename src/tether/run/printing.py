"""A solution as people read it: on a terminal, and in a notebook."""

import textwrap
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from tether.run import account
from tether.run.account import Listing

if TYPE_CHECKING:
    from tether.run.solution import Solution

WIDTH = 100  # letters a line


def short(sol: "Solution") -> str:
    """Return a solution in half a line."""
    gap = "" if sol.gap is None else f", gap <= {sol.gap:.2g}"
    status, sizes = sol.status.name.lower().replace("_", " "), f"{len(sol.x):,} variables"
    return f"<Solution: {status}, F(x) = {sol.fun:.6g}{gap}, {sizes}, {sol.counts.rounds:,} rounds>"


def text(sol: "Solution", most: int) -> str:
    """Return a solution as lines of text."""
    pairs = account.facts(sol)
    width = max(len(name) for name, _ in pairs) + 2
    lines = [
        textwrap.fill(words, WIDTH, initial_indent=f"{name:>{width}}  ", subsequent_indent=" " * (width + 2))
        for name, words in pairs
    ]
    blocks = ["\n".join(lines), *(_listed(listing) for listing in listings(sol, most))]
    return "\n\n".join([textwrap.fill(account.headline(sol), WIDTH), *blocks])


def listings(sol: "Solution", most: int) -> list[Listing]:
    """Return the lists that a reader wants: coefficients, multipliers, and where F falls for ever."""
    return [account.coefficients(sol, most), *account.multipliers(sol, most), *account.ray(sol, most)]


def _listed(listing: Listing) -> str:
    names = max((len(line.name) for line in listing.lines), default=0)
    numbers = [number(line.value) for line in listing.lines]
    width = max(map(len, numbers), default=0)
    lines = [
        f"  {line.name:<{names}}  {shown:>{width}}  {line.note}".rstrip()
        for line, shown in zip(listing.lines, numbers, strict=True)
    ]
    head = f"{listing.title} ({listing.rest})" if listing.rest else listing.title
    return "\n".join([head, *lines])


def number(value: float) -> str:
    """Return a number with six digits, aligned at the point where it can be."""
    size = abs(value)
    return f"{value:.6f}" if value == 0.0 or 1e-3 <= size < 1e6 else f"{value:.5e}"


def notebook(sol: "Solution", most: int) -> str:
    """Return a solution as a piece of HTML that looks right in light and dark notebooks."""
    facts = _table(f"{_name(name)}{_words(words)}" for name, words in account.facts(sol))
    head = f"<p><strong>{escape(account.headline(sol))}</strong></p>"
    return f"<div>{head}{facts}{''.join(map(_folded, listings(sol, most)))}</div>"


def _folded(listing: Listing) -> str:
    head = f"{listing.title} ({listing.rest})" if listing.rest else listing.title
    lines = [f"{_name(line.name)}{_number(line.value)}{_words(line.note)}" for line in listing.lines]
    return f"<details open><summary>{escape(head)}</summary>{_table(lines) if lines else ''}</details>"


def _table(rows: Iterable[str]) -> str:
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _name(words: str) -> str:
    return f'<th style="text-align: left; font-weight: normal; opacity: 0.7">{escape(words)}</th>'


def _number(value: float) -> str:
    return f'<td style="text-align: right; font-variant-numeric: tabular-nums">{number(value)}</td>'


def _words(words: str) -> str:
    return f'<td style="text-align: left">{escape(words)}</td>'
