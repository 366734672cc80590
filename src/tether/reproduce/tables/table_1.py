"""Table 1: projections of all methods, strongly convex (against kappa) and not (against 1/eps)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tether.reproduce.experiment import Claim, Experiment, Settings
from tether.reproduce.prescribed import Prescribed, facts_of
from tether.reproduce.tables.horizons import Horizon
from tether.reproduce.tables.staged import convex, regularised, strong
from tether.reproduce.tables.sweep import Point, Sweep, draw_all, no_worse, table_of
from tether.theory import Complexity, complexity, horizon_step_size

STRONG = "Projections, strongly convex: powers of what is varied"
CONVEX = "Projections, generally convex: powers of what is varied"
ROUNDS = ("rounds",)


def table_1(settings: Settings) -> Experiment:
    """Return the experiment."""
    strongly, generally = _strongly(settings), _generally(settings)
    every = [*strongly, *generally]
    return Experiment(
        name="table-1",
        title="Table 1: projection complexities",
        series=tuple(series for sweep in every for series in sweep.series()),
        claims=(
            Claim("projections grow no faster than Table 1 says (strongly convex)", no_worse(strongly)),
            Claim("projections grow no faster than Table 1 says (generally convex)", no_worse(generally)),
        ),
        tables=(table_of(strongly, STRONG), table_of(generally, CONVEX)),
        draw=draw_all(every, columns=4),
        panels=(),
        size=(12.0, 12.5),
    )


def _strongly(settings: Settings) -> list[Any]:
    kappas = (40, 80, 160) if settings.quick else (40, 80, 160, 320, 640, 1280)
    beyond = (640, 1280, 2560) if settings.quick else (640, 1280, 2560, 5120, 10_240)
    samples = (64, 128, 256) if settings.quick else (64, 128, 256, 512, 1024, 2048, 4096)
    eps, few = (1e-1, 1) if settings.quick else (1e-2, 4)
    points = {
        ("P-SVRG, m = κ", "κ"): [strong("svrg", k, k, 1, k, eps) for k in kappas],
        ("DP-SVRG, m = E = 10", "κ"): [strong("svrg", k, k, 10, 10, eps) for k in kappas],
        ("DP-SVRG, κ = 40, E = 10, m = N", "N"): [strong("svrg", N, 40, 10, N, eps, N) for N in samples],
        ("P-ASVRG, m = N = 64", "κ"): [strong("asvrg", k, k, 1, 64, eps, 64) for k in kappas],
        ("DP-ASVRG, m = E = 1", "κ"): [strong("asvrg", k, k, 1, 1, eps) for k in kappas],
        ("DP-ASVRG, m = E = 4", "κ"): [strong("asvrg", k, k, 4, 4, eps * few) for k in beyond],
        ("DP-ASVRG, m = κE, E = √(N/κ), N = 4096", "κ"): [_wide(k, eps) for k in kappas],
    }
    noisy = Prescribed(20, noise=1.0)
    short = (512, 1024, 2048) if settings.quick else (1024, 2048, 4096, 8192, 16_384)
    wide, long = (2, (2048, 4096)) if settings.quick else (4, (32_768, 65_536, 131_072, 262_144))
    seeds = settings.seeds or (2 if settings.quick else 6)
    return [
        horizon("P-SGD", noisy, 1, short, seeds, strongly=True),
        horizon(f"DP-SGD, E = {wide}", noisy, wide, long, seeds, strongly=True),
        *_sweeps(points, settings),
    ]


def _wide(kappa: float, eps: float, samples: int = 4096) -> Point:
    interval = max(1, round((samples / kappa) ** 0.5))
    return strong("asvrg", kappa, kappa, interval, kappa * interval, eps, samples)


def _generally(settings: Settings) -> list[Any]:
    gaps = (0.3, 0.2, 0.1) if settings.quick else (0.1, 0.05, 0.02, 0.01, 0.005)
    fine = (0.1, 0.03, 0.01) if settings.quick else (0.1, 0.03, 0.01, 0.003, 0.001)
    points = {
        ("P-SVRG, m = 16", "1/ε"): [convex("svrg", eps, 1, 16) for eps in gaps],
        ("DP-SVRG, m = E = 8", "1/ε"): [convex("svrg", eps, 8, 8) for eps in gaps],
        ("DP-SVRG, E = 8, m = N = 256", "1/ε"): [convex("svrg", eps, 8, 256) for eps in gaps],
        ("P-ASVRG, m = N = 64", "1/ε"): [convex("asvrg", eps, 1, 64, 64) for eps in fine],
        ("DP-ASVRG, m = E = 1", "1/ε"): [convex("asvrg", eps, 1, 1) for eps in fine],
        ("DP-ASVRG, m = E = 1, regularised", "1/ε"): [regularised(eps, 1, 1) for eps in fine],
        ("DP-ASVRG, m = E = 4, regularised", "1/ε"): [regularised(eps, 4, 4) for eps in fine],
        ("DP-ASVRG, E = 4, m = (L/ε)^¼ √Δ E", "1/ε"): [_rooted(eps) for eps in fine],
    }
    noisy = Prescribed(1e6, noise=1.0, flat=True)
    short = (512, 1024, 2048) if settings.quick else (1024, 2048, 4096, 8192, 16_384)
    seeds = settings.seeds or (2 if settings.quick else 6)
    return [
        horizon("P-SGD, μ = 0", noisy, 1, short, seeds, strongly=False),
        horizon("DP-SGD, E = 4, μ = 0", noisy, 4, tuple(4 * T for T in short), seeds, strongly=False),
        *_sweeps(points, settings),
    ]


def _rooted(eps: float) -> Point:
    facts = facts_of(Prescribed(1e6, flat=True))
    ratio = (1.0 / (eps * facts.gap)) ** 0.25 * facts.distance**0.5
    return convex("asvrg", eps, 4, 4 * ratio)


def _sweeps(points: dict[tuple[str, str], list[Point]], settings: Settings) -> Sequence[Sweep]:
    seeds = settings.seeds or (1 if settings.quick else 2)
    return [
        Sweep(label, varied, tuple(those), counters=ROUNDS, seeds=seeds)
        for (label, varied), those in points.items()
    ]


def horizon(
    label: str, problem: Prescribed, interval: int, steps: tuple[int, ...], seeds: int, *, strongly: bool
) -> Horizon:
    """Return runs of SGD of several lengths, with the step of Theorem 3.2 for each."""
    mu, facts = 1.0 / problem.kappa if strongly else 0.0, facts_of(problem)
    etas = tuple(
        horizon_step_size(
            T, facts.noise, smoothness=1.0, convexity=mu, interval=interval, distance=facts.distance
        )
        for T in steps
    )
    predict = partial(_predicted, problem, interval, mu)
    return Horizon(label, problem, interval, steps, etas, mu, predict, seeds)


def _predicted(problem: Prescribed, interval: int, convexity: float, gap: float) -> Complexity:
    return complexity("dp-sgd", replace(problem.setting(gap), convexity=convexity), interval)
