"""`tether reproduce`: choose experiments, carry them out, say what holds and what does not."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tether.report import Table as Numbers
from tether.report.markup import shown
from tether.reproduce.catalogue import EXPERIMENTS
from tether.reproduce.docs import check, rewrite
from tether.reproduce.experiment import Experiment, Settings
from tether.reproduce.outputs import Outcome, outcome_of, write
from tether.reproduce.page import write_page
from tether.reproduce.pool import Crew
from tether.reproduce.store import Store

COLOURS = {True: "green", False: "red", None: "yellow"}


@dataclass(frozen=True)
class Order:
    """What a user asks for."""

    names: tuple[str, ...]
    settings: Settings
    output: Path
    jobs: int = 1
    docs: Path | None = None


def show_names(console: Console) -> None:
    """List what there is."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for name, entry in EXPERIMENTS.items():
        table.add_row(name, entry.description)
    table.add_row("all", "everything above, one after the other")
    console.print("tether reproduce NAME [NAME ...], with\n", highlight=False)
    console.print(table, highlight=False)
    console.print("\n--quick for a first look in two minutes, --data digits|fashion|mnist, see --help.")


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the experiments that are meant; refuse a name that is none, with the nearest that is."""
    for name in names:
        if name not in (*EXPERIMENTS, "all"):
            near = difflib.get_close_matches(name, [*EXPERIMENTS, "all"], n=1, cutoff=0.0)
            raise ValueError(
                f"there is no experiment {name!r}; did you mean {near[0]!r}? `tether reproduce` lists all."
            )
    return tuple(EXPERIMENTS) if "all" in names else tuple(dict.fromkeys(names))


def reproduce(order: Order, console: Console) -> list[Outcome]:
    """Carry the experiments out, print their verdicts and write their files."""
    if order.docs is not None:
        check(order.docs, order.names)
    store, outcomes = Store(order.output), []
    with Crew(store, order.jobs) as crew:
        for name in order.names:
            experiment = EXPERIMENTS[name].build(order.settings)
            console.rule(f"[bold]{experiment.title}", align="left")
            outcome = _carried_out(experiment, crew, store, console)
            outcomes.append(outcome)
            pictures = write(outcome, store)
            _print(outcome, console)
            if order.docs is not None:
                rewrite(order.docs, outcome, order.settings, pictures)
    page = write_page(outcomes, order.output / "report.html")
    said = f"\nRuns, tables and pictures are in {order.output}; the page is {page}."
    console.print(said, highlight=False, soft_wrap=True)
    return outcomes


def _carried_out(experiment: Experiment, crew: Crew, store: Store, console: Console) -> Outcome:
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    ) as bar:
        tasks = experiment.tasks()
        done = sum(store.find(task) is not None for task in tasks)
        row = bar.add_task(experiment.name, total=len(tasks), completed=done)
        results = crew.results_of(experiment, lambda task: bar.update(row, advance=1))
    return outcome_of(experiment, results)


def _print(outcome: Outcome, console: Console) -> None:
    for table in outcome.tables:
        console.print(_printed(table), highlight=False)
        console.print()
    verdicts = Table(box=None, pad_edge=False, show_header=False)
    verdicts.add_column(no_wrap=True)
    verdicts.add_column()
    for verdict in outcome.verdicts:
        words = f"[{COLOURS[verdict.holds]}]{verdict.words}[/]"
        verdicts.add_row(words, f"{escape(verdict.claim)}\n[dim]{escape(verdict.numbers)}[/]")
    console.print(verdicts, highlight=False)


def _printed(table: Numbers) -> Table:
    printed = Table(box=None, pad_edge=False, title=table.caption, title_justify="left")
    for heading in table.headings:
        printed.add_column(heading)
    for row in table.rows:
        printed.add_row(*(escape(shown(cell)) for cell in row))
    return printed
