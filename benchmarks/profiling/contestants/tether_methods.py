"""Tether's methods with their defaults."""

from functools import partial

import numpy as np
from scipy.optimize import OptimizeResult

import tether
from profiling.contestants.base import Answer, Contestant
from profiling.pieces import Pieces
from profiling.watch import Watch

METHODS = ("lbfgs", "auto", "newton", "skip", "nesterov")


class TetherMethod(Contestant):
    """`tether.solve` with a method's short name, from objects built on the clock.

    The run ends at the target or by its own certificate; a certificate that is no bound on the gap may end it
    too early, and then a smaller tolerance is tried.
    """

    family = "tether"
    compiles = True
    tolerances = (1.0, 1e-3, 1e-6, 1e-9, 0.0)  # times the wanted gap

    def __init__(self, method: str) -> None:
        self.method, self.name = method, f"tether {method}"

    def refuses(self, pieces: Pieces) -> str:
        """Take all problems."""
        return ""

    def run(self, problem: Pieces, tolerance: float, watch: Watch) -> Answer:
        """Build, then solve until the watch says stop."""
        sol = tether.solve(
            problem.objective(),
            problem.constraint(),
            self.method,
            tol=tolerance * watch.goal.gap,
            max_passes=1e9,
            callback=partial(_heard, watch, problem.n_samples),
        )
        return Answer(np.asarray(sol.x), _costs(sol.counts, problem.n_samples))


def _heard(watch: Watch, n_samples: int, state: OptimizeResult) -> None:
    if watch.see(state.x, state.fun, **_costs(state.counts, n_samples)):
        raise StopIteration


def _costs(counts: tether.Counts, n_samples: int) -> dict[str, float]:
    return {
        "projections": counts.projections + counts.audits,
        "rounds": counts.rounds,
        "stages": counts.stages,
        "passes": (counts.gradients + counts.audit_gradients) / n_samples,
    }


def _patient(watch: Watch, state: OptimizeResult) -> None:
    watch.pause()
    watch.start()
    if watch.spent > watch.limit:
        watch.late = True
        raise StopIteration


class OwnStop(TetherMethod):
    """The same without anybody watching: the run ends by its own certificate, as a user's does."""

    family = "own stop"
    compiles = False  # the same code has run before

    def __init__(self, method: str) -> None:
        super().__init__(method)
        self.name = f"tether {method}, own stop"

    def run(self, problem: Pieces, tolerance: float, watch: Watch) -> Answer:
        """Solve to a certified gap; count how far above the true gap the certificate is."""
        goal = watch.goal
        tol = tolerance * goal.gap / max(1.0, abs(goal.value))
        rest = {"max_passes": 1e9, "callback": partial(_patient, watch)}
        sol = tether.solve(problem.objective(), problem.constraint(), self.method, tol=tol, **rest)
        watch.pause()
        true, rounding = problem.value(sol.x) - goal.value, 1e-14 * max(1.0, abs(goal.value))
        loose = float("nan") if sol.gap is None else sol.gap / max(true, rounding)
        watch.judge(sol.x, certificate=loose, **_costs(sol.counts, problem.n_samples))
        return Answer(np.asarray(sol.x), {})


_THERE = [method for method in METHODS if method in tether.methods.NAMES]
SOLVERS = [
    *map(TetherMethod, _THERE),
    *(OwnStop(method) for method in ("auto", "newton") if method in _THERE),
]
