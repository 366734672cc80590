"""One random call of `tether.solve`, from its seed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tether.methods import (
    LBFGS,
    NAMES,
    Anderson,
    DelayedASVRG,
    DelayedSGD,
    DelayedSVRG,
    Nesterov,
    ProxSkip,
    ProxSkipSVRG,
    Regularised,
)

from .objectives import Drawn as DrawnObjective
from .objectives import draw_objective
from .planes import Drawn as DrawnConstraint
from .planes import draw_constraint

OBJECTS = (
    Anderson(DelayedSVRG(interval=10)),
    Anderson(DelayedASVRG(), memory=5),
    Anderson(ProxSkipSVRG(), memory=3),
    Regularised(Nesterov()),
    Regularised(DelayedSVRG()),
    Regularised(ProxSkip()),
    Regularised(Anderson(ProxSkipSVRG())),
    DelayedSGD(interval=(3, 5, 20)),
    DelayedSGD(interval=7, decay=0.01, output="last"),
    DelayedASVRG(parameters="theory", interval=1),
    ProxSkip(interval=4, random=True),
    ProxSkipSVRG(interval=3, batch_size=2, replacement=True),
    LBFGS(memory=2),
)
TOLERANCES = (1e-2, 1e-4, 1e-6, 1e-9, 1e-12, 0.0)


@dataclass(frozen=True)
class Problem:
    """A call, what it is about in words, and the reference's view of it."""

    seed: int
    drawn: DrawnObjective
    bound: DrawnConstraint
    method: Any
    settings: dict[str, Any]  # the keywords of the call
    words: str

    @property
    def total(self):
        return self.drawn.total

    @property
    def plane(self):
        return self.bound.plane

    @property
    def start(self):
        """The feasible point that the run starts from."""
        x0 = self.settings["x0"]
        return self.plane.nearest(np.zeros(self.plane.A.shape[1]) if x0 is None else x0)


def random_problem(seed):
    """Return the problem of a seed, the same on every machine."""
    rng = np.random.default_rng([20, seed])
    drawn = draw_objective(rng)
    bound = draw_constraint(rng, drawn.objective.dim, drawn.reach)
    names = sorted(NAMES)
    chosen = int(rng.integers(len(names) + len(OBJECTS)))
    method = names[chosen] if chosen < len(names) else OBJECTS[chosen - len(names)]
    settings = {
        "x0": _starting_point(rng, drawn),
        "tol": float(rng.choice(TOLERANCES)),
        "seed": int(rng.integers(1000)),
        **_budget(rng, drawn, method),
    }
    return Problem(seed, drawn, bound, method, settings, _words(drawn, bound, method, settings))


def _starting_point(rng, drawn):
    kind = rng.choice(["none", "near", "far"], p=[0.5, 0.25, 0.25])
    if kind == "none":
        return None
    v = rng.standard_normal(drawn.objective.dim)
    away = 0.1 if kind == "near" else 10.0 ** rng.uniform(1, 3) if drawn.reach == 1.0 else 2.0
    return drawn.reach * away * v / np.linalg.norm(v)


def _budget(rng, drawn, method):
    """Return max_passes, max_rounds or both, short enough for a fraction of a second."""
    every_step = isinstance(method, str) and method.startswith("p-")
    most = (2 if every_step else 6) if drawn.large else 31
    if drawn.n_samples * drawn.objective.dim <= 1000 and rng.random() < 0.2:
        most = 400  # time enough to come to rest
    passes = float(rng.integers(1, most)) + (0.5 if rng.random() < 0.3 else 0.0)
    rounds = int(rng.integers(1, 16))
    kind = rng.choice(["passes", "rounds", "both"], p=[0.7, 0.15, 0.15])
    budget = {"passes": {"max_passes": passes}, "rounds": {"max_rounds": rounds}}
    return budget.get(str(kind), {"max_passes": passes, "max_rounds": 10 * rounds})


def _words(drawn, bound, method, settings):
    x0 = settings["x0"]
    start = "x0 none" if x0 is None else f"||x0|| = {np.linalg.norm(x0):.2g}"
    rest = ", ".join(f"{name}={value}" for name, value in settings.items() if name != "x0")
    return f"{drawn.words}; {bound.words}; {method!r}, {start}, {rest}"
