"""Run by test_mpi.py: mpiexec -n 3 python -m mpi4py mpi_ranks.py FOLDER CHECK..., which writes CHECK.json."""

import io
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mpi4py import MPI as mpi  # noqa: N811

import tether
from tether.engines.local_work import Memory
from tether.engines.mpi import MPI, shard
from tether.methods import DelayedSVRG, Newton, Scaffold
from tether.objectives.losses import Huber
from tether.requests import Dual

WORLD = mpi.COMM_WORLD
RANK = WORLD.rank
SIZES, DIM = (10, 35, 80), 4
CONSTRAINT = tether.Affine(np.ones((1, DIM)), [1.0])
METHODS = {
    "dp-svrg": "dp-svrg",
    "skip": "skip",
    "scaffold": "scaffold",
    "scaffold of two": Scaffold(participation=0.7),
    "lbfgs": "lbfgs",
    "newton": "newton",
    "newton of some samples": Newton(sample=0.5, refresh=3),
}


def local(rank, dim=DIM, loss="squared", l2=0.1, fit_intercept=False):
    rng = np.random.default_rng([7, rank])
    X = rng.standard_normal((SIZES[rank], dim)) * np.linspace(1.0, 2.0, dim)
    y = X @ rng.standard_normal(dim) + rng.standard_normal(len(X))
    return tether.GLM(X, y, loss, l2=l2, fit_intercept=fit_intercept)


def named(rank, names):
    """Return a rank's model of a table; rank 1 has no names, which disturbs nobody."""
    objective = local(rank)
    objective.names = None if rank == 1 else tuple(names)
    return objective


class Verdict(NamedTuple):
    """Something to agree on."""

    number: int
    reason: str
    point: np.ndarray
    dual: Dual | None


class Kept(NamedTuple):
    """A run as a checkpoint holds it: the classes of its parts are in no type."""

    state: Any
    memory: Any


class Faulty(tether.Objective):
    """A rank's objective, except that its passes fail."""

    def __init__(self, objective, fault):
        self.objective, self.fault = objective, fault
        self.n_samples, self.dim = objective.n_samples, objective.dim

    @property
    def smoothness(self):
        return self.objective.smoothness

    def evaluate(self, x):
        return self.fault(self.objective.evaluate(x))

    def batch_gradient(self, x, batch, anchor=None, slopes=None):
        return self.objective.batch_gradient(x, batch, anchor)


class Odd(Faulty):
    """On one rank, an objective that says of itself what cannot be told to others."""

    def kind(self):
        return {"objective": on(1, [1.0], "Odd")}


def disk_is_gone(evaluation):
    raise OSError("the disk is gone")


def not_a_number(evaluation):
    return evaluation._replace(value=np.nan)


def mark_progress():
    """Show that this rank gets on."""
    Path(sys.argv[1], "progress").touch()


def on(rank, there, elsewhere):
    return there if rank == RANK else elsewhere


def solve(objective=None, constraint=CONSTRAINT, method="dp-svrg", *, engine=None, **settings):
    mark_progress()
    settings = {"max_rounds": 12, "tol": 1e-13} | settings
    objective = local(RANK) if objective is None else objective
    return tether.solve(objective, constraint, method, engine=engine or MPI(size=WORLD.size), **settings)


def told(action):
    """Return what each rank raised, as text."""
    mark_progress()
    try:
        action()
    except (Exception, KeyboardInterrupt) as error:
        return WORLD.gather(f"{type(error).__name__}: {error}")
    return WORLD.gather("nothing")


# --- checks: each returns what goes into the file ---------------------------------------------------------


def agreement(folder):
    """Solve with MPI and with a Federation on each rank."""
    federation = tether.Federation([local(rank) for rank in range(3)])
    found = {}
    for name, method in METHODS.items():
        mine = solve(method=method, max_rounds=30)
        theirs = tether.solve(federation, CONSTRAINT, method, max_rounds=30, tol=1e-13)
        copies = WORLD.gather((mine.x.tolist(), mine.fun, mine.gap, list(mine.counts)))
        found[name] = {
            "mpi": [mine.x.tolist(), mine.fun, mine.gap],
            "federation": [theirs.x.tolist(), theirs.fun, theirs.gap],
            "counts": [list(mine.counts), list(theirs.counts)],
            "losses": [mine.history.workers["value"].tolist(), theirs.history.workers["value"].tolist()],
            "ranks are equal": RANK > 0 or all(copy == copies[0] for copy in copies),
        }
    parts = WORLD.gather(shard(50, seed=3).tolist())
    return {"runs": found, "parts": parts}


def leading(folder):
    """Print, write and call back."""
    sys.stderr = io.StringIO()
    here = folder / f"rank{RANK}"
    here.mkdir()
    calls = []
    solution = solve(verbose=True, checkpoint=here / "run.npz", callback=lambda now: calls.append(now.nit))
    printed = sys.stderr.getvalue()
    sys.stderr = sys.__stderr__
    tolerant = solve(method="lbfgs", tol=on(1, 1e-1, 1e-12), max_rounds=on(2, 2, 100))
    modest = solve(method="lbfgs", tol=on(0, 1e-3, 1e-15))

    def stop(now):
        raise StopIteration

    stopped = solve(callback=stop)
    files = sorted(path.name for path in here.iterdir())
    values = {
        "printed": printed,
        "files": files,
        "calls": len(calls),
        "rounds": solution.counts.rounds,
        "tolerant": tolerant.counts.rounds,
        "stopped": stopped.status.name,
        "modest": modest.status.name,
    }
    return {name: WORLD.gather(value) for name, value in values.items()}


class LostError(Exception):
    """An error that no other rank could build."""


def deciding(folder):
    """Have rank 0 decide this and that."""
    engine = MPI()
    verdict = Verdict(
        RANK, f"of rank {RANK}", np.array([0.1, np.nan, -np.inf]) * (RANK + 1), Dual(0.1 * RANK)
    )
    heard = engine.agree(lambda: verdict, Verdict)
    rounds = engine.agree(lambda: (verdict.reason, "more")[: RANK + 1], None)

    def fail(error):
        raise error

    errors = {
        "value": ValueError("no such setting"),
        "file": FileNotFoundError(2, "No such file or directory", "run.npz"),
        "key": KeyError("step"),
        "own": LostError("gone"),
        "interrupt": KeyboardInterrupt(),
    }
    failures = {
        name: told(lambda e=error: engine.agree(lambda: fail(e), None)) for name, error in errors.items()
    }
    failures["unpackable"] = told(lambda: engine.agree(lambda: [1.0], None))
    kept = Kept(
        Dual(0.5), engine.collect(Memory(np.full((2, 3), float(RANK)), since=RANK) if RANK else Memory())
    )
    blank = Kept(Dual(), engine.collect(Memory()))  # what a rank knows before it hears of a checkpoint
    back = engine.agree(lambda: kept, like=blank)
    mine = engine.hand_out(back.memory)
    memories = [
        back.state.rate,
        len(back.memory),
        mine.since,
        None if mine.duals is None else mine.duals.tolist(),
    ]
    values = [heard.number, heard.reason, heard.point.tobytes().hex(), heard.dual.rate, list(rounds)]
    return {"values": WORLD.gather(values), "failures": failures, "memories": WORLD.gather(memories)}


def refusals(folder):
    """Do many things wrongly, and one rightly at the end."""
    engine = MPI()

    class Empty(Faulty):
        pass

    empty = Empty(local(RANK), None)
    empty.n_samples = on(1, 0, empty.n_samples)

    def left():
        with engine.together():
            if RANK == 1:
                raise ValueError("no such file")
            solve(engine=engine)

    def by_hand():
        with engine.together():
            for moment in tether.iterate(local(RANK), CONSTRAINT, "dp-svrg", engine=engine):
                if moment.counts.rounds > on(1, 3, 9):
                    raise ValueError("seen enough")

    def out_of_step():
        with engine.together():
            for moment in tether.iterate(local(RANK), CONSTRAINT, "dp-svrg", engine=engine):
                if moment.counts.rounds > on(1, 3, 9):
                    break

    def in_a_callback():
        return solve(engine=engine, callback=lambda now: solve(engine=engine))

    wide = tether.Affine(np.ones((1, DIM)), [on(1, 2.0, 1.0)])
    other_x0 = np.full(DIM, on(2, 1.0, 0.25)) + np.eye(DIM)[0]
    told_by = {
        "dims": told(lambda: solve(local(RANK, on(2, 5, 4)), None)),
        "names": told(lambda: solve(named(RANK, on(2, "bacd", "abcd")))),
        "l2": told(lambda: solve(local(RANK, l2=on(2, 0.2, 0.1)))),
        "loss": told(lambda: solve(local(RANK, loss=on(1, "huber", "squared")))),
        "loss settings": told(lambda: solve(local(RANK, loss=Huber(on(1, 2.0, 1.0))))),
        "intercept": told(lambda: solve(local(RANK, fit_intercept=RANK == 1), None)),
        "kind": told(lambda: solve(Odd(local(RANK), lambda e: e))),
        "seeds": told(lambda: solve(seed=on(1, 3, 0))),
        "constraints": told(lambda: solve(constraint=wide)),
        "kinds": told(lambda: solve(constraint=on(2, None, CONSTRAINT))),
        "no data": told(lambda: solve(empty)),
        "step sizes": told(lambda: solve(method=DelayedSVRG(interval=5, step_size=on(2, 0.02, 0.01)))),
        "methods": told(lambda: solve(method=on(0, "lbfgs", "dp-svrg"))),
        "starts": told(lambda: solve(constraint=None, x0=other_x0)),
        "fault": told(lambda: solve(Faulty(local(RANK), on(2, disk_is_gone, lambda e: e)))),
        "nan": told(lambda: solve(Faulty(local(RANK), on(1, not_a_number, lambda e: e)))),
        "federation": told(lambda: solve(tether.Federation([local(RANK)]))),
        "left": told(left),
        "by hand": told(by_hand),
        "out of step": told(out_of_step),
        "callback": told(in_a_callback),
        "folder": told(lambda: solve(checkpoint=folder / "missing" / "run.npz")),
        "size": told(lambda: MPI(size=4)),
        "comm": told(lambda: MPI(comm="world")),
    }
    return {"told": told_by, "afterwards": told(lambda: solve(engine=engine))}


def first_half(folder):
    """Solve at once, and leave a checkpoint of half the run."""
    whole = {name: solve(method=method, max_rounds=24).x.tolist() for name, method in METHODS.items()}
    for name, method in METHODS.items():
        solve(method=method, max_rounds=11, checkpoint=folder / f"{name}.npz")
    return whole


def second_half(folder):
    """Go on from the checkpoints."""
    ways = METHODS.items()
    runs = {name: solve(method=way, max_rounds=24, checkpoint=folder / f"{name}.npz") for name, way in ways}
    return {name: WORLD.gather(run.x.tolist()) for name, run in runs.items()}


def fewer(folder):
    """Go on from a checkpoint with another number of ranks."""
    return told(lambda: solve(checkpoint=folder / "dp-svrg.npz"))


def interrupted(folder):
    """Interrupt one rank in the middle of a run."""
    engine, passes = MPI(), []

    def interrupt(evaluation):
        passes.append(evaluation)
        if RANK == 1 and len(passes) == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return evaluation

    with engine.together():
        solution = solve(Faulty(local(RANK), interrupt), engine=engine, checkpoint=folder / "stopped.npz")
    return WORLD.gather([solution.status.name, solution.counts.rounds])


def page(folder):
    """Do what docs/mpi.md tells people to write."""
    os.chdir(folder)
    text = (Path(__file__).parents[2] / "docs" / "mpi.md").read_text()
    names = {}
    exec(text.split("```python\n")[1].split("```")[0], names)
    return WORLD.gather([names["solution"].success, names["engine"].leads])


def crash(folder):
    """Fail on one rank and catch nothing."""
    solve(Faulty(local(RANK), on(2, disk_is_gone, lambda e: e)))


if __name__ == "__main__":
    place = Path(sys.argv[1])
    for check in sys.argv[2:]:
        mark_progress()
        outcome = globals()[check](place)
        if RANK == 0:
            (place / f"{check}.json").write_text(json.dumps(outcome))
