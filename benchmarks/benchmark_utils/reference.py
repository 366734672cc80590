"""The optimal value of a problem: a long run of L-BFGS, kept on disk."""

import hashlib
import json
import logging
from pathlib import Path

import numpy as np

import tether
from benchmark_utils.problem import Problem

CACHE = Path(__file__).parents[1] / ".cache"
ACCURACY = 1e-11  # of the certificate


def optimum(problem: Problem, objective: tether.Objective) -> float:
    """Return F*, from above by at most the certified gap."""
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"{problem.name}-{_fingerprint(problem)}.json"
    if not path.exists():
        sol = tether.solve(objective, problem.constraint(), "lbfgs", tol=ACCURACY, max_passes=20_000)
        if sol.gap is None or sol.gap > 1e-9:
            logging.warning("the optimum of %s is only known to %s: %s", problem.name, sol.gap, sol.message)
        path.write_text(json.dumps({"value": sol.fun, "gap": sol.gap, "seconds": sol.seconds}))
    return float(json.loads(path.read_text())["value"])


def _fingerprint(problem: Problem) -> str:
    """Tell apart versions of a problem by a few numbers that all of its data enter."""
    x = np.random.default_rng(1).standard_normal(problem.A.shape[1])
    some = problem.X[:100].sum(), problem.X.shape, problem.y.sum(), problem.l2, problem.A @ x, problem.b.sum()
    return hashlib.sha256(repr(some).encode()).hexdigest()[:12]
