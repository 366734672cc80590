"""Which method, which interval, which stage: the regimes of the paper side by side.

The candidates are the parameter choices that the paper singles out (Tables 1, 3 and 4, section 6.3) and the
methods that came later. Complexities know no constants, so candidates within a factor of two count as equal
and the other counter decides between them.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from tether.inputs import shown, switch
from tether.theory.acceleration import first_momentum, momentum
from tether.theory.conditions import LARGEST_COUNT
from tether.theory.names import family
from tether.theory.rates import Complexity, complexity
from tether.theory.setting import Setting, require_setting
from tether.theory.steps import horizon_step_size, step_size
from tether.theory.variance import Heterogeneity

__all__ = ["Recommendation", "Row", "comparison_table", "recommend"]


class Recommendation(NamedTuple):
    """A method with its parameters and what it is expected to cost."""

    method: str
    interval: int  # E
    stage_length: int | None  # m; None for methods without stages
    step_size: float  # eta
    momentum: float | None  # theta of DP-ASVRG (theta_0 when mu = 0); None for the others
    regularisation: float  # the last weight of adaptive regularisation; zero when none is used
    complexity: Complexity


class Row(NamedTuple):
    """One line of the comparison of methods."""

    method: str
    interval: int
    stage_length: int | None
    steps: float
    stages: float
    projections: float
    gradients: float


class _Regime(NamedTuple):
    method: str
    interval: int = 1
    stage_length: int | None = None

    def cost(self, setting: Setting) -> Complexity:
        return complexity(self.method, setting, self.interval, self.stage_length)


def recommend(setting: Setting, goal: str = "projections", *, paper_only: bool = False) -> Recommendation:
    """Return the method and the parameters that need the fewest projections, or gradients.

    Parameters
    ----------
    setting : Setting
        The problem in numbers; SGD is considered only when its ``noise`` is given.
    goal : {"projections", "gradients"}
        What to save. The other one breaks ties.
    paper_only : bool
        Leave out Nesterov's method, projected gradient descent and the two ProxSkips.

    Examples
    --------
    >>> problem = Setting.conditioned(kappa=10_000, n_samples=10**6, accuracy=1e-6)
    >>> recommend(problem).method, recommend(problem).interval
    ('proxskip-svrg', 100)
    >>> best = recommend(problem, "gradients", paper_only=True)
    >>> best.method, best.interval, best.stage_length
    ('p-svrg', 1, 10000)

    References
    ----------
    Li & Zhang, Table 4 and section 6.3.
    """
    if not isinstance(goal, str) or goal not in ("projections", "gradients"):
        raise ValueError(f"goal must be 'projections' or 'gradients', got {shown(goal)}.")
    require_setting(setting)
    switch("paper_only", paper_only)
    other = "gradients" if goal == "projections" else "projections"
    options = [(r, s, r.cost(s)) for s in _problems(setting) for r in _regimes(s, paper_only)]
    bar = 2 * min(getattr(cost, goal) for _, _, cost in options)
    good = [option for option in options if getattr(option[2], goal) <= bar]
    regime, problem, cost = min(
        good, key=lambda option: (getattr(option[2], other), getattr(option[2], goal))
    )
    added = 0.0 if setting.strongly_convex else problem.convexity
    return Recommendation(*regime, *_tuned(regime, problem, added, cost), added, cost)


def comparison_table(
    kappa: float, n_samples: int, accuracy: float, noise: Heterogeneity | None = None
) -> list[Row]:
    """Return all methods side by side for a strongly convex problem with L = Delta = 1.

    Parameters
    ----------
    kappa : float
        The condition number L/mu, at least 1.
    n_samples : int
        N.
    accuracy : float
        eps.
    noise : Heterogeneity, optional
        With it, the rows of SGD are included.

    Examples
    --------
    >>> table = comparison_table(kappa=1e4, n_samples=100_000, accuracy=1e-6)
    >>> table[0].method, table[0].stage_length, round(table[0].projections)
    ('p-svrg', 10000, 138169)
    """
    setting = Setting.conditioned(kappa, n_samples, accuracy, noise)
    return [Row(*regime, *regime.cost(setting)) for regime in _regimes(setting, paper_only=False)]


def _problems(setting: Setting) -> list[Setting]:
    """Return the problem, and for mu = 0 also the one that adaptive regularisation makes of it."""
    if setting.strongly_convex or setting.difficulty < 1:
        return [setting]
    return [setting, setting.regularised()]


def _regimes(setting: Setting, paper_only: bool) -> list[_Regime]:
    found = list(_noisy(setting))
    found += _strongly_convex(setting) if setting.strongly_convex else _convex(setting)
    if not paper_only:
        found += _later(setting)
    return list(dict.fromkeys(found))


def _noisy(setting: Setting) -> Iterator[_Regime]:
    """Yield P-SGD, and DP-SGD with the E from which on noise no longer rules the projections."""
    if setting.noise is not None:
        yield _Regime("p-sgd")
        yield _Regime("dp-sgd", _whole(setting.noise.tangent / (setting.smoothness * setting.accuracy)))


def _strongly_convex(setting: Setting) -> Iterator[_Regime]:
    k, N = setting.kappa, _whole(setting.n_samples)
    yield _stage("p-svrg", 1, k)
    yield _stage("dp-svrg", N / k, k * max(N / k, 1))
    yield _stage("p-asvrg", 1, N)
    yield _stage("dp-asvrg", 1, 1)
    yield _stage("dp-asvrg", 1, k)
    short = max(math.sqrt(N) / k ** (1 / 6), 1)
    yield _stage("dp-asvrg", short, short)
    yield _stage("dp-asvrg", N, N)
    long = max(math.sqrt(N / k), 1)
    yield _stage("dp-asvrg", long, k * long)


def _convex(setting: Setting) -> Iterator[_Regime]:
    N, root = _whole(setting.n_samples), max(setting.difficulty, 1) ** 0.25
    yield _stage("p-svrg", 1, 1)
    yield _stage("dp-svrg", N, N)
    yield _stage("p-asvrg", 1, N)
    yield _stage("dp-asvrg", 1, 1)
    yield _stage("dp-asvrg", N / root, root * max(N / root, 1))


def _later(setting: Setting) -> Iterator[_Regime]:
    yield _Regime("projected-gradient")
    yield _Regime("nesterov")
    if setting.strongly_convex:
        E = _whole(math.sqrt(setting.kappa))
        yield _Regime("proxskip", E)
        yield _Regime("proxskip-svrg", E, _whole(setting.kappa))


def _whole(number: float) -> int:
    return max(1, round(min(number, LARGEST_COUNT)))


def _stage(method: str, interval: float, stage_length: float) -> _Regime:
    """Round E, and m to a whole number of intervals."""
    E = _whole(interval)
    return _Regime(method, E, E * min(_whole(stage_length / E), max(1, int(LARGEST_COUNT) // E)))


def _tuned(regime: _Regime, problem: Setting, added: float, cost: Complexity) -> tuple[float, float | None]:
    """Return the step size and the momentum; regularisation raises L by its weight."""
    base, L, mu = family(regime.method).base, problem.smoothness + added, problem.convexity
    E, m = regime.interval, regime.stage_length
    if base == "dp-sgd" and problem.noise is not None:
        T, D = max(1.0, cost.steps), problem.distance
        return horizon_step_size(T, problem.noise, smoothness=L, convexity=mu, interval=E, distance=D), None
    stages = max(1.0, cost.stages)
    eta = step_size(regime.method, smoothness=L, convexity=mu, interval=E, stage_length=m, stages=stages)
    if base != "dp-asvrg" or m is None:
        return eta, None
    if mu > 0:
        return eta, momentum(eta, smoothness=L, convexity=mu, stage_length=m, interval=E)
    return eta, first_momentum(eta, smoothness=L, interval=E)
