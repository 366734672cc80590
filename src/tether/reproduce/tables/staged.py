"""Points of DP-SVRG and DP-ASVRG on prescribed problems, with the steps of the theorems."""

import math
from dataclasses import replace
from typing import Any

from tether.methods import DelayedASVRG, DelayedSVRG, Regularised
from tether.reproduce.prescribed import Prescribed, facts_of
from tether.reproduce.tables.sweep import THEORY, Point
from tether.theory import complexity

KINDS = {"svrg": DelayedSVRG, "asvrg": DelayedASVRG}


def strong(
    kind: str, value: float, kappa: float, interval: float, stage: float, accuracy: float, samples: int = 256
) -> Point:
    """Return a strongly convex point: kappa, E and m are what they are called, the gap is relative."""
    problem, E = Prescribed(kappa, samples), max(1, round(interval))
    m = max(E, round(stage))
    target = accuracy * facts_of(problem).gap
    method = KINDS[kind](interval=E, stage_length=m, **THEORY)
    return Point(value, problem, method, target, complexity(f"dp-{kind}", problem.setting(target), E, m))


def convex(kind: str, accuracy: float, interval: float, stage: float, samples: int = 256) -> Point:
    """Return a point without strong convexity: mu is so small that it plays no part, and methods get 0."""
    problem, E = Prescribed(1e6, samples, flat=True), max(1, round(interval))
    m = max(E, round(stage))
    target = accuracy * facts_of(problem).gap
    expected = complexity(f"dp-{kind}", replace(problem.setting(target), convexity=0.0), E, m)
    more: dict[str, Any] = {"stages": max(1, math.ceil(expected.stages))} if kind == "asvrg" else {}
    method = KINDS[kind](interval=E, stage_length=m, convexity=0.0, **more, **THEORY)
    return Point(1.0 / accuracy, problem, method, target, expected)


def regularised(accuracy: float, interval: int, stage: int) -> Point:
    """Return a point of DP-ASVRG with adaptive regularisation (Corollary 5.3)."""
    problem = Prescribed(1e6, flat=True)
    target = accuracy * facts_of(problem).gap
    setting = replace(problem.setting(target), convexity=0.0).regularised()
    method = Regularised(DelayedASVRG(interval=interval, stage_length=stage, **THEORY))
    expected = complexity("dp-asvrg", setting, interval, stage)
    return Point(1.0 / accuracy, problem, method, target, expected)
