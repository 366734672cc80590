"""The main job on data that comes along: handwritten digits under linear equations."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from scipy.optimize import OptimizeResult
from sklearn.datasets import load_digits

from tether.constraints import Affine
from tether.methods import (
    LBFGS,
    DelayedASVRG,
    DelayedSGD,
    DelayedSVRG,
    Method,
    Nesterov,
    ProxSkip,
)
from tether.objectives import GLM
from tether.run.solution import Solution
from tether.solve import solve

TOL = 1e-6
SECONDS = 4.0  # for each method

METHODS: dict[str, str | Method] = {
    "P-SGD": DelayedSGD(interval=1),
    "DP-SGD": DelayedSGD(interval=10),
    "P-SVRG": DelayedSVRG(interval=1),
    "DP-SVRG": DelayedSVRG(interval=50),
    "DP-ASVRG": DelayedASVRG(interval=50),
    "ProxSkip": ProxSkip(),
    "Nesterov": Nesterov(),
    "L-BFGS": LBFGS(),
    "auto": "auto",
}


def digits_problem() -> tuple[GLM, Affine]:
    """Return 1,797 digits with 10 classes and 20 random equations on all 650 weights."""
    X, y = load_digits(return_X_y=True)
    objective = GLM(X / 16.0, y, loss="multinomial", l2=1e-2, fit_intercept=True)
    rng = np.random.default_rng(0)
    return objective, Affine(rng.standard_normal((20, objective.dim)), rng.standard_normal(20))


def run(console: Console, folder: Path) -> dict[str, Solution]:
    """Solve the digits problem with every method, print a table, draw a picture and write a page."""
    objective, constraint = digits_problem()
    console.print(
        f"Multinomial logistic regression on {objective.n_samples:,} digits, {objective.dim} weights, "
        f"{constraint.shape[0]} linear equations.\nEvery method runs until its gap is certainly below "
        f"{TOL:g}, or for {SECONDS:g} s.\n",
        highlight=False,
    )
    best = solve(objective, constraint, LBFGS(), tol=1e-12).fun
    solutions = {}
    with Progress(
        TextColumn("{task.description:>9}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[status]}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    ) as bar:
        task = bar.add_task("", total=len(METHODS), status="")
        for name, method in METHODS.items():
            bar.update(task, description=name)
            watch = _watcher(lambda status: bar.update(task, status=status))
            solutions[name] = solve(
                objective, constraint, method, tol=TOL, max_seconds=SECONDS, callback=watch
            )
            bar.advance(task)
    console.print(_table(solutions, best, objective.n_samples))
    _draw(console, solutions, best, folder)
    return solutions


def _watcher(show: Callable[[str], None]) -> Callable[[OptimizeResult], None]:
    def watch(result: OptimizeResult) -> None:
        known = "" if math.isnan(result.gap) else f"gap <= {result.gap:.1e}"
        show(f"{result.nit} projections  {known}")

    return watch


def _table(solutions: dict[str, Solution], best: float, n_samples: int) -> Table:
    table = Table(title_justify="left", box=None, pad_edge=False)
    for heading in ("method", "projections", "passes", "seconds", "certified gap", "true gap", "||Ax - b||"):
        table.add_column(heading, justify="left" if heading == "method" else "right")
    for name, sol in solutions.items():
        assert sol.gap is not None
        table.add_row(
            name,
            f"{sol.counts.projections:,}",
            f"{sol.counts.gradients / n_samples:,.0f}",
            f"{sol.seconds:.2f}",
            f"{sol.gap:.1e}" + (" " if sol.success else "*"),
            f"{max(sol.fun - best, 0.0):.1e}",
            f"{sol.residual:.0e}",
        )
    table.caption = f"* stopped by its {SECONDS:g} s before the certificate reached {TOL:g}"
    table.caption_justify = "left"
    return table


def _draw(console: Console, solutions: dict[str, Solution], best: float, folder: Path) -> None:
    try:
        from tether.report import plot_convergence, write_report
    except ImportError:
        console.print('For a picture of the runs: pip install "tether[report]"')
        return
    path = plot_convergence(
        {name: sol.history for name, sol in solutions.items()},
        folder / "tether-demo.png",
        best=best,
        title="Loss against projections: digits, 20 linear constraints",
    )
    page = write_report(
        folder / "tether-demo.html", solutions, best=best, title="Digits under 20 linear equations"
    )
    console.print(f"\nThe picture, loss against projections: {path}", highlight=False, soft_wrap=True)
    console.print(f"The page, to look around in with a browser: {page}", highlight=False, soft_wrap=True)
