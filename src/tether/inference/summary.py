"""The table that one knows from statsmodels: what was fitted, the coefficients, and the equations."""

from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tether.inference.report import Inference

NOT_ROBUST = "They go by the likelihood, not by the robust covariance."
UNTESTED = "An equation with 0 df is implied by others, or only tells coefficients apart."
WIDTH = 78  # letters a line
COLUMNS = 10  # letters of a column of numbers
Row = tuple[str, ...]
Pair = tuple[str, str]


@dataclass(frozen=True)
class Summary:
    """Three tables under a title: `print` it, or let a notebook show it.

    Attributes
    ----------
    title : str
        What was fitted.
    facts : tuple of two lists of pairs
        Names and values, on the left and on the right.
    coefficients, equations : tuple of rows
        Tables of texts, their heads first.
    notes : tuple of str
        What else there is to say.
    """

    title: str
    facts: tuple[list[Pair], list[Pair]]
    coefficients: tuple[Row, ...]
    equations: tuple[Row, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        parts = [self.title.center(WIDTH).rstrip(), "=" * WIDTH, *self._facts(), "=" * WIDTH]
        parts += [*_lined(self.coefficients), "=" * WIDTH]
        if self.equations:
            parts += [*_lined(self.equations), "=" * WIDTH]
        return "\n".join([*parts, *self.notes])

    def _facts(self) -> list[str]:
        wide = (WIDTH - 3) // 2
        cells = [[f"{name}:{value:>{wide - len(name) - 1}}" for name, value in side] for side in self.facts]
        return [f"{one:<{wide}}   {other}".rstrip() for one, other in zip_longest(*cells, fillvalue="")]

    def _repr_html_(self) -> str:
        pairs = [pair for side in self.facts for pair in side]
        facts = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in pairs)
        tables = "".join(_table(rows) for rows in (self.coefficients, self.equations) if rows)
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<h4>{escape(self.title)}</h4><table>{facts}</table>{tables}{notes}"


def summary_of(found: "Inference", alpha: float) -> Summary:
    """Return the summary of a model, with intervals that miss with probability alpha."""
    return Summary(
        title=_title(found),
        facts=_facts_of(found),
        coefficients=_coefficients(found, alpha),
        equations=_equations(found),
        notes=_notes(found),
    )


def _title(found: "Inference") -> str:
    words = found.fit.samples.objective.loss.words
    return f"{words[0].upper()}{words[1:]}{' with equations' if found.equations.labels else ''}"


def _facts_of(found: "Inference") -> tuple[list[Pair], list[Pair]]:
    known, n = found.fit.samples.distribution, found.n_samples
    left = [
        ("Dep. Variable", found.response),
        ("Family", found.fit.samples.objective.loss.words if known is None else known.name),
        ("Link", "identity" if known is None else known.link),
        ("Solved by", found.solver.split(",")[0]),
        ("Covariance", found.cov_type),
        ("Equations", str(found.equations.rank)),
    ]
    right = [("No. Observations", f"{n:g}"), ("Df Residuals", f"{found.df_resid:g}")]
    right.append(("Df Model", f"{found.df_model:g}"))
    if known is not None:
        left.append(("Scale", f"{found.dispersion:.5g}"))
        right += [
            ("Log-Likelihood", f"{found.log_likelihood:.5g}"),
            ("Deviance", f"{found.deviance:.5g}"),
            ("Pearson chi2", f"{found.pearson:.4g}"),
            ("AIC", f"{found.aic:.5g}"),
        ]
    return left, right


def _coefficients(found: "Inference", alpha: float) -> tuple[Row, ...]:
    letter = "t" if found.use_t else "z"
    head = ("", "coef", "std err", letter, f"P>|{letter}|", f"[{alpha / 2:g}", f"{1 - alpha / 2:g}]")
    rows = [
        (name, _number(value), _number(error), f"{ratio:.3f}", f"{p:.3f}", f"{low:.3f}", f"{high:.3f}")
        if error > 0.0
        else (name, _number(value), "fixed", "", "", "", "")
        for name, value, error, ratio, p, (low, high) in zip(
            found.names,
            found.params,
            found.bse,
            found.tvalues,
            found.pvalues,
            found.conf_int(alpha),
            strict=True,
        )
    ]
    return (head, *rows)


def _equations(found: "Inference") -> tuple[Row, ...]:
    if not found.equations.labels or found.fit.samples.distribution is None:
        return ()
    rows = [
        (
            test.hypothesis,
            "" if np.isnan(test.statistic) else f"{test.statistic:.3f}",
            str(test.df),
            "" if np.isnan(test.pvalue) else f"{test.pvalue:.3f}",
        )
        for test in found.score_tests()
    ]
    return (("equation", "score chi2", "df", "P>chi2"), *rows)


def _notes(found: "Inference") -> tuple[str, ...]:
    notes = []
    if (found.bse == 0.0).any():
        notes.append("Coefficients that the equations fix have no standard error.")
    if found.equations.labels and found.fit.samples.distribution is not None:
        notes.append("Score tests ask whether the data speak against an equation, the others kept.")
        notes += [NOT_ROBUST] if found.cov_type != "nonrobust" else []
        notes += [UNTESTED] if any(row[2] == "0" for row in _equations(found)) else []
    return tuple(notes)


def _number(value: float) -> str:
    size = abs(value)
    return f"{value:.4f}" if size == 0.0 or 1e-3 <= size < 1e5 else f"{value:.3e}"


def _lined(rows: tuple[Row, ...]) -> list[str]:
    """Return a table in lines of one width: names on the left, numbers to the right."""
    numbers = len(rows[0]) - 1
    first = WIDTH - numbers * (COLUMNS + 1)
    lines = [
        _cut(name, first).ljust(first) + "".join(f" {cell:>{COLUMNS}}" for cell in cells)
        for name, *cells in rows
    ]
    return [lines[0].rstrip(), "-" * WIDTH, *(line.rstrip() for line in lines[1:])]


def _cut(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 3] + "..."


def _table(rows: tuple[Row, ...]) -> str:
    head, *body = rows
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = "".join(
        f"<tr><th>{escape(name)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for name, *cells in body
    )
    return f"<table><tr>{top}</tr>{lines}</table>"
