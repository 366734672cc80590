"""Theorems 4.1, 5.1 and 5.2: variance reduction leaves no error behind; momentum makes it faster."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tether.methods import DelayedASVRG, DelayedSVRG, Method
from tether.reproduce.experiment import Claim, Judgement, Results, Series, Settings
from tether.reproduce.fits import power
from tether.reproduce.prescribed import Prescribed, facts_of
from tether.reproduce.tables.sweep import THEORY
from tether.reproduce.task import Budget, Looks, Task
from tether.reproduce.theorems.part import Bounded, Part, below_bound, draw_bounded
from tether.theory import asvrg_step_size, error_bound, momentum, restart_length, svrg_step_size

KAPPA, M = 40.0, 64
SLACK = 0.25  # of powers that are measured before they have settled
STRONG, FLAT = Prescribed(KAPPA), Prescribed(1e6, flat=True)


def staged(settings: Settings) -> Part:
    """Return what belongs to Theorems 4.1, 5.1 and 5.2."""
    seeds = settings.seeds or (2 if settings.quick else 4)
    lines = [
        *(_svrg(E, True, settings, seeds) for E in (1, 8)),
        *(_svrg(E, False, settings, seeds) for E in (1, 8)),
        *(_restarted(E, settings, seeds) for E in (1, 4)),
        *(_momentum(E, settings, seeds) for E in (1, 4)),
    ]
    series, bounded = [line[0] for line in lines], [line[1] for line in lines]
    svrg, flat_svrg, restarted, flat_asvrg = (bounded[place : place + 2] for place in (0, 2, 4, 6))
    return Part(
        tuple(series),
        (
            below_bound("Theorem 4.1, μ > 0", *svrg),
            below_bound("Theorem 4.1, μ = 0", *flat_svrg),
            below_bound("Theorem 5.1", *restarted),
            below_bound("Theorem 5.2", *flat_asvrg),
            _linear(svrg),
            _falls("Theorem 4.1: for μ = 0 the gap falls like 1/S", flat_svrg, (-1.0, -1.0)),
            _halves(restarted),
            _falls(
                "Theorem 5.2: the gap falls like S^-2 (E = 1), S^-1.5 (E = 4)",
                flat_asvrg,
                (-2.0, -1.5),
            ),
        ),
        (
            draw_bounded("Theorem 4.1, μ > 0", "steps T", *svrg),
            draw_bounded("Theorem 4.1, μ = 0", "stages S", *flat_svrg, per=M, log=True),
            draw_bounded("Theorem 5.1: restarts", "stages S", *restarted, per=M),
            draw_bounded("Theorem 5.2, μ = 0", "stages S", *flat_asvrg, per=M, log=True),
        ),
    )


def _series(key: str, label: str, problem: Prescribed, method: Method, stages: float, seeds: int) -> Series:
    looks = Looks(every=1, share=0.04)
    task = Task(problem=problem, method=method, budget=Budget(steps=stages * M), looks=looks, target=1e-12)
    return Series(key, label, task, seeds)


def _svrg(interval: int, strongly: bool, settings: Settings, seeds: int) -> tuple[Series, Bounded]:
    problem, mu = (STRONG, 1 / KAPPA) if strongly else (FLAT, 0.0)
    method = DelayedSVRG(interval=interval, stage_length=M, convexity=mu, **THEORY)
    eta = svrg_step_size(1.0, convexity=mu, interval=interval)
    times = 3.0 if settings.quick else 12.0
    far = times * KAPPA / (eta * M) if strongly else 100 if settings.quick else 600
    key = f"4.1{'' if strongly else ' flat'}/E = {interval}"
    series = _series(key, f"DP-SVRG, E = {interval}", problem, method, far, seeds)
    return series, Bounded(key, _bound("dp-svrg", problem, mu, eta, interval), after=M)


def _restarted(interval: int, settings: Settings, seeds: int) -> tuple[Series, Bounded]:
    eta = asvrg_step_size(1.0, convexity=1 / KAPPA, interval=interval, stage_length=M)
    method = DelayedASVRG(interval=interval, stage_length=M, **THEORY)
    key, far = f"5.1/E = {interval}", (3 if settings.quick else 8) * _length(interval)
    series = _series(key, f"DP-ASVRG, E = {interval}", STRONG, method, far, seeds)
    return series, Bounded(key, _bound("dp-asvrg", STRONG, 1 / KAPPA, eta, interval), after=M)


def _momentum(interval: int, settings: Settings, seeds: int) -> tuple[Series, Bounded]:
    far = 60 if settings.quick else 200
    eta = asvrg_step_size(1.0, interval=interval, stages=far)
    method = DelayedASVRG(interval=interval, stage_length=M, convexity=0.0, stages=far, **THEORY)
    key = f"5.2/E = {interval}"
    series = _series(key, f"DP-ASVRG, E = {interval}", FLAT, method, far, seeds)
    return series, Bounded(key, _bound("dp-asvrg", FLAT, 0.0, eta, interval), after=M)


def _bound(method: str, problem: Prescribed, mu: float, eta: float, interval: int) -> Any:
    setting = replace(problem.setting(1.0), convexity=mu)

    def bound(steps: float) -> float:
        return error_bound(method, setting, steps, step_size=eta, interval=interval, stage_length=M).total

    return bound


def _length(interval: int) -> int:
    """Return the stages between two restarts."""
    eta = asvrg_step_size(1.0, convexity=1 / KAPPA, interval=interval, stage_length=M)
    theta = momentum(eta, smoothness=1.0, convexity=1 / KAPPA, stage_length=M, interval=interval)
    return restart_length(theta, step_size=eta, convexity=1 / KAPPA, stage_length=M)


def _linear(bounded: list[Bounded]) -> Claim:
    def judged(results: Results) -> Judgement:
        fits = []
        for one in bounded:
            steps, gaps, _ = one.measured(results)
            fits.append(float(np.corrcoef(steps, np.log(gaps))[0, 1] ** 2))
        words = _named(results, bounded, [f"{fit:.3f}" for fit in fits])
        return Judgement(min(fits) > 0.9, f"log(F − F*) against T is a line, R² {words} (0.9 is wanted)")

    return Claim("Theorem 4.1: for μ > 0 the gap falls exponentially, no error is left", judged)


def _falls(words: str, bounded: list[Bounded], promised: tuple[float, ...]) -> Claim:
    def judged(results: Results) -> Judgement:
        found = []
        for one in bounded:
            steps, gaps, _ = one.measured(results)
            late = steps >= np.sqrt(steps[-1] * M)  # the second half, by logarithms
            found.append(power(steps[late], gaps[late]))
        holds = all(fit.exponent <= rate + SLACK for fit, rate in zip(found, promised, strict=True))
        rates = ", ".join(f"{rate:g}" for rate in promised)
        numbers = (
            f"powers of S {_named(results, bounded, found)}; promised {rates} or less, {SLACK} is allowed"
        )
        return Judgement(holds, numbers)

    return Claim(words, judged)


def _halves(bounded: list[Bounded]) -> Claim:
    def judged(results: Results) -> Judgement:
        ratios = []
        for one, interval in zip(bounded, (1, 4), strict=True):
            curve, length = results[one.key], _length(interval)
            stages, gaps = curve.common("stages"), curve.mean_gap("value")
            restarts = np.arange(length, stages[-1] + 1, length)
            after = gaps[np.searchsorted(stages, restarts)]
            before = np.concatenate([[facts_of(STRONG).gap], after[:-1]])
            ratios.append(float(np.max(after / before)))
        words = _named(results, bounded, [f"{ratio:.2g}" for ratio in ratios])
        return Judgement(max(ratios) <= 0.5, f"largest ratio of the gaps after and before a restart {words}")

    return Claim("Theorem 5.1: every restart at least halves the gap", judged)


def _named(results: Results, bounded: list[Bounded], found: Sequence[object]) -> str:
    return ", ".join(f"{results[one.key].label}: {fit}" for one, fit in zip(bounded, found, strict=True))
