"""Carry out the runs of an experiment, several at a time; what is on disk already is not run again."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from tether.reproduce.experiment import Experiment, Results
from tether.reproduce.runner import carry_out, optimum
from tether.reproduce.store import Store
from tether.reproduce.task import Problem, Task

Report = Callable[[str], None]


def results_of(experiment: Experiment, store: Store, jobs: int, report: Report) -> Results:
    """Return all runs of an experiment; ``report`` hears of each that was carried out."""
    optima = {problem: _optimum(problem, store.folder) for problem in experiment.problems()}
    missing = [task for task in experiment.tasks() if store.find(task) is None]
    beside = [task for task in missing if not task.timed]
    for task in _carried_out(beside, store.folder, jobs):
        report(_words(task))
    for task in missing:
        if task.timed:
            _run(task, store.folder)
            report(_words(task))
    found = {task: store.find(task) for task in experiment.tasks()}
    return Results(experiment, {task: trace for task, trace in found.items() if trace is not None}, optima)


def _carried_out(tasks: Sequence[Task], folder: Path, jobs: int) -> Iterator[Task]:
    """Yield tasks as they are done."""
    if jobs == 1 or len(tasks) < 2:
        for task in tasks:
            _run(task, folder)
            yield task
        return
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            waiting = {pool.submit(_run, task, folder): task for task in tasks}
            for done in as_completed(waiting):
                done.result()
                yield waiting[done]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _run(task: Task, folder: Path) -> None:
    store = Store(folder)
    store.keep(task, carry_out(task, _optimum(task.problem, folder)))


def _optimum(problem: Problem, folder: Path) -> float:
    store = Store(folder)
    known = store.find_optimum(problem)
    if known is None:
        store.keep_optimum(problem, *optimum(problem))
        known = store.find_optimum(problem)
        assert known is not None
    return known


def _words(task: Task) -> str:
    return f"{type(task.method).__name__}, seed {task.seed}"
