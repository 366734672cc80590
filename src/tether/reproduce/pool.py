"""Carry out the runs of experiments, several at a time; what is on disk already is not run again."""

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from types import TracebackType
from typing import Self

from tether.reproduce.experiment import Experiment, Results
from tether.reproduce.runner import carry_out, optimum
from tether.reproduce.store import Store
from tether.reproduce.task import Problem, Task


class Crew:
    """Processes that carry out runs; they stay for all experiments."""

    def __init__(self, store: Store, jobs: int) -> None:
        self._store, self._jobs = store, jobs
        self._pool: ProcessPoolExecutor | None = None
        self._others = {child.pid for child in multiprocessing.active_children()}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is None:
            return
        if kind is not None:  # what is under way is not waited for
            for child in multiprocessing.active_children():
                if child.pid not in self._others:
                    child.terminate()
        self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def results_of(self, experiment: Experiment, report: Callable[[Task], None]) -> Results:
        """Return all runs of an experiment; ``report`` hears of each that was carried out."""
        store = self._store
        optima = {problem: _optimum(problem, store) for problem in experiment.problems()}
        missing = [task for task in experiment.tasks() if store.find(task) is None]
        for task in self._carried_out([task for task in missing if not task.timed]):
            report(task)
        for task in missing:
            if task.timed:
                _run(task, store.folder)
                report(task)
        traces = {task: store.find(task) for task in experiment.tasks()}
        return Results(experiment, {task: trace for task, trace in traces.items() if trace}, optima)

    def _carried_out(self, tasks: Sequence[Task]) -> Iterator[Task]:
        """Yield tasks as they are done."""
        if self._jobs == 1 or len(tasks) < 2:
            for task in tasks:
                _run(task, self._store.folder)
                yield task
            return
        if self._pool is None:
            spawn = multiprocessing.get_context("spawn")  # threads do not survive a fork
            self._pool = ProcessPoolExecutor(self._jobs, mp_context=spawn, initializer=_keep_quiet)
        waiting = {self._pool.submit(_run, task, self._store.folder): task for task in tasks}
        for done in as_completed(waiting):
            done.result()
            yield waiting[done]


def _keep_quiet() -> None:
    """Leave an interrupt to the process that gave the order."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(task: Task, folder: Path) -> None:
    store = Store(folder)
    store.keep(task, carry_out(task, _optimum(task.problem, store)))


def _optimum(problem: Problem, store: Store) -> float:
    known = store.find_optimum(problem)
    if known is None:
        known, error = optimum(problem)
        store.keep_optimum(problem, known, error)
    return known
