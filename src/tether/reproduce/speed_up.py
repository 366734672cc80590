"""Linear speed-up: with n workers of the same kind the statistical error is n times smaller."""

from typing import Any

import numpy as np

from tether.methods import DelayedSGD
from tether.reproduce.experiment import Claim, Experiment, Judgement, Results, Series, Settings
from tether.reproduce.figures.drawing import COLOURS, finish
from tether.reproduce.fits import UNCLEAR, power
from tether.reproduce.prescribed import Prescribed, PrescribedWorkers
from tether.reproduce.task import Budget, Looks, Task

KAPPA, E = 20.0, 4
ETA, STEPS = 0.01, 8_192


def speed_up(settings: Settings) -> Experiment:
    """Return Local SGD with a fixed step and more and more workers."""
    counts = (1, 2, 4) if settings.quick else (1, 2, 4, 8, 16)
    seeds = settings.seeds or (2 if settings.quick else 8)
    return Experiment(
        name="speed-up",
        title="Linear speed-up in the number of workers",
        series=tuple(_series(n, seeds) for n in counts),
        claims=(Claim("Corollary 6.1: the statistical error of Local SGD falls like 1/n", _judge),),
        draw=_draw,
        panels=(),
        size=(5.0, 3.6),
    )


def _series(workers: int, seeds: int) -> Series:
    problem = PrescribedWorkers(Prescribed(KAPPA, 64, equations=0, noise=20.0), workers, alike=True)
    method = DelayedSGD(
        interval=E, step_size=ETA, batch_size=1, replacement=True, stage_length=STEPS, convexity=1 / KAPPA
    )
    task = Task(problem=problem, method=method, budget=Budget(steps=STEPS), looks=Looks(every=STEPS))
    return Series(f"n/{workers}", f"{workers}", task, seeds)


def _measured(results: Results) -> tuple[np.ndarray, np.ndarray]:
    keys = results.keys("n/")
    counts = np.array([float(key.split("/")[1]) for key in keys])
    return counts, np.array([results[key].end("value") for key in keys])


def _judge(results: Results) -> Judgement:
    counts, gaps = _measured(results)
    found = power(counts, gaps.T)
    means = ", ".join(f"{n:g}: {gap:.1e}" for n, gap in zip(counts, gaps.mean(axis=1), strict=True))
    holds = None if found.half_width > UNCLEAR else abs(found.exponent + 1.0) <= 0.25
    return Judgement(holds, f"power {found} of n, wanted -1 ± 0.25 ({means})")


def _draw(results: Results, figure: Any) -> None:
    axes = figure.subplots()
    counts, gaps = _measured(results)
    mean, spread = gaps.mean(axis=1), gaps.std(axis=1, ddof=1) / gaps.shape[1] ** 0.5
    style = {"color": COLOURS[0], "ms": 4, "lw": 1.3, "label": f"Local SGD, E = {E}"}
    axes.errorbar(counts, mean, 2 * spread, fmt="o-", **style)
    axes.plot(counts, mean[0] / counts, ":", color="0.4", lw=1.2, label="1/n")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(counts, [f"{n:g}" for n in counts])
    finish(axes, "workers n", "F − F* after the same steps")
