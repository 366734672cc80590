"""The experiments on one page of HTML that anyone can open."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from tether.report import Curves, Mark, Section, Table, Text, write_report
from tether.report.parts import Cell
from tether.reproduce.curves import Curve
from tether.reproduce.experiment import Verdict
from tether.reproduce.outputs import Outcome
from tether.run.solution import Counts, History, Row


def write_page(outcomes: Sequence[Outcome], path: Path) -> Path:
    """Write a section an experiment: verdicts, tables and curves that answer to the reader."""
    sections = [Section(outcome.experiment.title, list(_parts(outcome))) for outcome in outcomes]
    return write_report(path, {}, title="Delayed projections: the paper, run again", sections=sections)


def verdict_table(verdicts: Sequence[Verdict]) -> Table:
    """Return claims, verdicts and the numbers that decide."""
    rows: list[list[Cell]] = [
        [verdict.claim, Mark(verdict.words, verdict.holds), verdict.numbers] for verdict in verdicts
    ]
    return Table(["claim", "verdict", "numbers"], rows)


def _parts(outcome: Outcome) -> Iterator[Text | Table | Curves]:
    experiment = outcome.experiment
    if outcome.verdicts:
        yield verdict_table(outcome.verdicts)
    yield from outcome.tables
    panels = dict.fromkeys(series.key.split("/")[0] for series in experiment.series)
    for panel in panels if experiment.panels is None else experiment.panels:
        curves = outcome.results.curves(f"{panel}/")
        runs = {curve.label: history_of(curve, experiment.of) for curve in curves}
        yield Text(f"Panel {panel}: means over seeds.")
        yield Curves(runs, best=curves[0].best, against="rounds", show="excess")


def history_of(curve: Curve, of: str) -> History:
    """Return the mean over seeds as a history."""
    columns = {name: curve.common(name) for name in (*Counts._fields[:7], "passes", "seconds", of)}
    rows = []
    for place in range(len(columns[of])):
        counts = Counts(*(round(float(columns[name][place])) for name in Counts._fields[:7]))
        cost = float(columns["passes"][place]), float(columns["seconds"][place])
        rows.append(Row(*counts, *cost, float(columns[of][place]), np.nan))
    return History(rows)
