"""Table 2: rounds of communication, four workers whose sums have the same L and mu and different optima."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from tether.methods import DelayedASVRG, DelayedSVRG, Method, Scaffold
from tether.reproduce.experiment import Claim, Experiment, Settings
from tether.reproduce.prescribed import Prescribed, PrescribedWorkers, workers_setting
from tether.reproduce.tables.horizons import Horizon
from tether.reproduce.tables.sweep import THEORY, Point, Sweep, draw_all, no_worse, table_of
from tether.theory import Complexity, complexity, horizon_step_size

CAPTION = "Rounds among four workers: powers of what is varied"
E = 4


def table_2(settings: Settings) -> Experiment:
    """Return the experiment."""
    sweeps = [*_horizons(settings), *_sweeps(settings)]
    return Experiment(
        name="table-2",
        title="Table 2: communication complexities",
        series=tuple(series for sweep in sweeps for series in sweep.series()),
        claims=(Claim("rounds grow no faster than Table 2 says", no_worse(sweeps)),),
        tables=(table_of(sweeps, CAPTION),),
        draw=draw_all(sweeps),
        panels=(),
        size=(11.0, 8.4),
    )


def _sweeps(settings: Settings) -> list[Sweep]:
    kappas = (20, 40, 80) if settings.quick else (20, 40, 80, 160, 320)
    eps, seeds = (1e-1, 1) if settings.quick else (1e-2, settings.seeds or 2)
    made = partial(_point, eps=eps)
    points = {
        f"SCAFFOLD, E = {E}, full gradients": [made(k, "scaffold", _scaffold, E, E) for k in kappas],
        f"Local SVRG, m = E = {E}": [made(k, "local-svrg", _svrg, E, E) for k in kappas],
        f"Local SVRG, E = {E}, m = κE": [made(k, "local-svrg", _svrg, E, E * k) for k in kappas],
        "Local ASVRG, m = E = 1": [made(k, "local-asvrg", _asvrg, 1, 1) for k in kappas],
        f"Local ASVRG, E = {E}, m = κE": [made(k, "local-asvrg", _asvrg, E, E * k) for k in kappas],
    }
    return [
        Sweep(label, "κ", tuple(those), counters=("rounds",), seeds=seeds) for label, those in points.items()
    ]


def _svrg(interval: int, stage: int) -> Method:
    return DelayedSVRG(interval=interval, stage_length=stage, **THEORY)


def _asvrg(interval: int, stage: int) -> Method:
    return DelayedASVRG(interval=interval, stage_length=stage, **THEORY)


def _scaffold(interval: int, stage: int) -> Method:
    """SCAFFOLD without noise; its step is a tenth of 1/(L E)."""
    return Scaffold(interval=interval, step_size=0.1 / interval, full_gradients=True)


def _point(
    kappa: float, name: str, method: Callable[[int, int], Method], interval: int, stage: float, eps: float
) -> Point:
    problem, m = PrescribedWorkers(Prescribed(kappa, 64, equations=0)), max(interval, round(stage))
    setting = workers_setting(problem, 1.0)
    setting = replace(setting, accuracy=eps * setting.gap)
    if name == "scaffold":  # without noise
        setting = replace(setting, variance=0.0)
    return Point(
        kappa, problem, method(interval, m), setting.accuracy, complexity(name, setting, interval, m)
    )


def _horizons(settings: Settings) -> list[Any]:
    short = (256, 512, 1024) if settings.quick else (2048, 4096, 8192, 16_384)
    wide, long = (2, (1024, 2048)) if settings.quick else (E, (8192, 16_384, 32_768, 65_536))
    seeds = settings.seeds or (2 if settings.quick else 6)
    return [_horizon("D-SGD", 1, short, seeds), _horizon(f"Local SGD, E = {wide}", wide, long, seeds)]


def _horizon(label: str, interval: int, steps: tuple[int, ...], seeds: int) -> Horizon:
    problem = PrescribedWorkers(Prescribed(20, 64, equations=0, noise=1.0))
    stacked = workers_setting(problem, 1.0).stacked()
    assert stacked.noise is not None
    etas = tuple(
        horizon_step_size(
            T, stacked.noise, smoothness=1.0, convexity=1 / 20, interval=interval, distance=stacked.distance
        )
        for T in steps
    )
    return Horizon(label, problem, interval, steps, etas, None, partial(_predicted, problem, interval), seeds)


def _predicted(problem: PrescribedWorkers, interval: int, gap: float) -> Complexity:
    return complexity("local-sgd", workers_setting(problem, gap), interval)
