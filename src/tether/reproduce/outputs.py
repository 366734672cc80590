"""What an experiment leaves in its folder: CSV, pictures and verdicts."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib import rc_context
from matplotlib.figure import Figure

from tether.report import Table
from tether.reproduce.experiment import Experiment, Results, Verdict
from tether.reproduce.store import Store
from tether.reproduce.task import Trace

CLAIMS = ("experiment", "claim", "verdict", "numbers")
COLUMNS = ("series", "method", "seed", *Trace.columns, "gap", "iterate_gap")
STYLE = {"font.size": 9, "axes.linewidth": 0.7, "svg.hashsalt": "tether", "svg.fonttype": "path"}
DOTS = 130
LEFT, RIGHT, TOP, BOTTOM, GAP = 0.62, 0.12, 0.32, 0.48, 0.72  # inches around and between panels


class Outcome(NamedTuple):
    """An experiment that was carried out."""

    experiment: Experiment
    results: Results
    verdicts: list[Verdict]
    tables: list[Table]


def outcome_of(experiment: Experiment, results: Results) -> Outcome:
    """Judge the claims and make the tables."""
    tables = [table(results) for table in experiment.tables]
    return Outcome(experiment, results, experiment.verdicts(results), tables)


def write(outcome: Outcome, store: Store) -> list[Path]:
    """Write everything there is about an experiment; return the files that a reader wants."""
    name = outcome.experiment.name
    store.write_table(name, COLUMNS, _rows(outcome))
    for place, table in enumerate(outcome.tables):
        number = f"-{place + 1}" if len(outcome.tables) > 1 else ""
        store.write_table(f"{name}-exponents{number}", table.headings, map(_plain, table.rows))
    _write_claims(outcome.verdicts, name, store)
    return _pictures(outcome, store.folder)


def _rows(outcome: Outcome) -> Iterator[tuple[Any, ...]]:
    """Yield the runs in long form: a row a look."""
    for series in outcome.experiment.series:
        curve = outcome.results[series.key]
        for seed, trace in enumerate(curve.traces):
            for place in range(len(trace)):
                look = trace.row(place)
                gaps = look["value"] - curve.best, look["iterate"] - curve.best
                yield series.key, series.label, seed, *map(_whole, look.values()), *gaps


def _whole(number: float) -> float | int:
    return int(number) if number.is_integer() else number


def _plain(row: Sequence[Any]) -> list[Any]:
    return [getattr(cell, "words", cell) for cell in row]


def _write_claims(verdicts: Sequence[Verdict], name: str, store: Store) -> None:
    """Put the verdicts of an experiment in the place of those it had before."""
    path, kept = store.folder / "claims.csv", []
    if path.exists():
        with path.open(newline="") as file:
            kept = [row for row in list(csv.reader(file))[1:] if row[0] != name]
    new = [[verdict.experiment, verdict.claim, verdict.words, verdict.numbers] for verdict in verdicts]
    store.write_table("claims", CLAIMS, sorted([*kept, *new], key=lambda row: row[0]))


def _pictures(outcome: Outcome, folder: Path) -> list[Path]:
    experiment = outcome.experiment
    if experiment.draw is None:
        return []
    paths = [folder / f"{experiment.name}.{ending}" for ending in ("png", "svg")]
    with rc_context(STYLE):
        figure = Figure(figsize=experiment.size)
        experiment.draw(outcome.results, figure)
        _arrange(figure, *experiment.size)
        for path in paths:
            figure.savefig(path, dpi=DOTS, metadata={"Date": None} if path.suffix == ".svg" else None)
    return paths


def _arrange(figure: Figure, width: float, height: float) -> None:
    """Leave room for labels between panels, in inches; much quicker than to measure them."""
    place = figure.axes[0].get_subplotspec()
    assert place is not None
    rows, columns = place.get_gridspec().get_geometry()
    wide = (width - LEFT - RIGHT - (columns - 1) * GAP) / columns
    high = (height - TOP - BOTTOM - (rows - 1) * GAP) / rows
    figure.subplots_adjust(
        left=LEFT / width,
        right=1 - RIGHT / width,
        top=1 - TOP / height,
        bottom=BOTTOM / height,
        wspace=GAP / wide,
        hspace=GAP / high,
    )
