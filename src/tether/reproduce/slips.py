"""What is printed in the paper and cannot be meant, with the correction and the numbers that show it.

Small matters in a long and useful paper. Wherever it is possible, options run what is printed.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from tether.methods import DelayedASVRG
from tether.report import Table
from tether.report.parts import Cell
from tether.reproduce.experiment import Experiment, Results, Series, Settings
from tether.reproduce.prescribed import Prescribed, PrescribedWorkers, facts_of, workers_facts
from tether.reproduce.tables.staged import convex
from tether.reproduce.tables.sweep import THEORY, Point
from tether.reproduce.task import Budget, Looks, Problem, Task
from tether.theory import asvrg_step_size, momentum, next_momentum

KAPPA = 64
STRONG = Prescribed(KAPPA)
WORKERS = PrescribedWorkers(Prescribed(KAPPA, 64, equations=0))
HEADINGS = ("where", "printed", "should read", "numbers", "to run what is printed")


class Slip(NamedTuple):
    """What is printed, what should be, the numbers, and the option that runs what is printed."""

    where: str
    printed: str
    meant: str
    numbers: str
    option: str = "–"


def slips(settings: Settings) -> Experiment:
    """Return the list, with the runs that its numbers come from."""
    return Experiment(
        name="slips",
        title="Slips in the paper, and what they change",
        series=(*_steps(), *_first_steps(), *_averages(), _counted(_point())),
        tables=(_table,),
        panels=(),
    )


def _table(results: Results) -> Table:
    found = [
        _theta_0(),
        _own_condition(results),
        _gradients(results),
        _consensus(),
        _first_step(results),
        _indices(results),
        _worker(),
        _residual_constant(),
        _last_theta(),
        _learning_rate(),
        _sum(),
        _frequency(),
    ]
    rows: list[list[Cell]] = [list(slip) for slip in found]
    return Table(HEADINGS, rows)


# --- momentum and step of DP-ASVRG -------------------------------------------------------------------------


def printed_step(interval: int, stage: int, kappa: float) -> float:
    """Return eta L as the proof of Theorem 5.1 prints it."""
    excess, ratio = interval**2 - 1.0, stage / kappa
    bounds = [2 / (ratio + math.sqrt(ratio**2 + 108 * excess)), 1 / (1 + math.sqrt(1 + 27 * excess))]
    return min(*bounds, (ratio / excess**2) ** (1 / 3)) if excess else min(bounds)


def _theta_0() -> Slip:
    step = 1 / (1 + math.sqrt(1.0))  # the printed one for E = 1
    here, there = 1 - 2 * step / (1 - step), 1 - step / (1 - step)
    safe = asvrg_step_size(1.0)
    return Slip(
        "Algorithm 4 and the proof of Theorem 5.2, θ₀",
        "θ₀ = 1 − 2ηL/(1 − ηL) in the algorithm, 1 − ηL/(1 − ηL) in the proof, with ηL = 1/2 for E = 1",
        "θ₀ = 1 − 2ηL/(1 − ηL) with ηL ≤ 1/5: the descent lemma needs 1 − θ ≥ 2ηL/(1 − ηL)",
        f"printed: θ₀ = {here:g} and {there:g}, but η is divided by θ; with ηL = {safe:g}: "
        f"θ₀ = {1 - 2 * safe / (1 - safe):g}",
        "no run: η/θ₀ is not positive",
    )


def _steps() -> list[Series]:
    eta = printed_step(1, KAPPA, KAPPA)
    theta = math.sqrt(eta)  # delta = 0, m = kappa
    restart = math.ceil(4 * theta / eta)
    shared: dict[str, Any] = {"interval": 1, "stage_length": KAPPA, "batch_size": 1, "replacement": True}
    printed = DelayedASVRG(step_size=eta, momentum=theta, restart=restart, **shared)
    proved = DelayedASVRG(parameters="theory", **shared)
    budget = Budget(steps=12 * KAPPA)
    return [_run("step/printed", STRONG, printed, budget), _run("step/proved", STRONG, proved, budget)]


def _own_condition(results: Results) -> Slip:
    eta = printed_step(1, KAPPA, KAPPA)
    theta, own = math.sqrt(eta), eta / (1 - eta)
    safe = asvrg_step_size(1.0, convexity=1 / KAPPA, stage_length=KAPPA)
    smaller = momentum(safe, smoothness=1.0, convexity=1 / KAPPA, stage_length=KAPPA)
    printed, proved = (_relative(results, f"step/{name}") for name in ("printed", "proved"))
    return Slip(
        "Proof of Theorem 5.1, step size",
        "ηL = min{2/(m/κ + √((m/κ)² + 108(E²−1))), 1/(1 + √(1 + 27(E²−1))), …} meets 1 − θ ≥ ηL/(1 − ηL)",
        "ηL = min{1/5, 1/(2(m/κ + √((m/κ)² + 18(E²−1)))), …}, with which 1 − θ ≥ 2ηL/(1 − ηL)",
        f"κ = m = {KAPPA}, E = 1: printed ηL = {eta:g}, θ = {theta:.2f}, 1 − θ = {1 - theta:.2f} < {own:g}; "
        f"corrected ηL = {safe:g}, θ = {smaller:.2f}. Left of F(x₀) − F* after 12 stages: {printed:.1e} with "
        f"the printed step, {proved:.1e} with the corrected one; {_said(printed, proved)}",
        "DelayedASVRG(step_size=…, momentum=…, restart=…)",
    )


def _said(printed: float, proved: float) -> str:
    if not printed < 1:
        return "without proof it diverges"
    return "without proof it is faster here" if printed < proved else "without proof it is slower here"


def _last_theta() -> Slip:
    theta, thetas = 0.5, []
    for _ in range(11):
        thetas.append(theta)
        theta = next_momentum(theta, 0.0)
    return Slip(
        "Proof of Theorem 5.2, after telescoping",
        "F(x̃_S) − F* ≤ […] θ_S²",
        "[…] θ_{S−1}²",
        f"S = 10, E = 1: θ₉²/θ₁₀² = {(thetas[9] / thetas[10]) ** 2:.2f}; the rate is the same",
    )


# --- what is counted ---------------------------------------------------------------------------------------


def _point() -> Point:
    return convex("asvrg", 0.01, 4, 16)


def _counted(point: Point) -> Series:
    task = Task(
        problem=point.problem,
        method=point.method,
        budget=Budget(rounds=1e6),
        looks=Looks(every=1),
        target=point.target,
    )
    return Series("gradients/counted", "DP-ASVRG, μ = 0", task)


def _gradients(results: Results) -> Slip:
    curve, m = results["gradients/counted"], 16
    T, S, G = (float(curve.counts(name)[0]) for name in ("steps", "stages", "gradients"))
    N = 256
    return Slip(
        "Corollary 5.2, gradient complexity",
        "𝔾 = 𝕋 (m + N)",
        "𝔾 = 𝕊 (m + N), as in Corollary 5.1 and Table 4",
        f"m = {m}, N = {N}: a run counted S = {S:,.0f}, T = {T:,.0f}, G = {G:,.0f}; S(m + N) = "
        f"{S * (m + N):,.0f}, T(m + N) = {T * (m + N):,.0f}",
    )


def _residual_constant() -> Slip:
    E = 10
    return Slip(
        "Theorem 3.2 and its proof, residual error",
        "18(E−1)Lη²σ̃², with σ̃² = σ_A² + (E−1)‖∇F‖² (theorem), σ_A² + (2E/3)‖∇F‖² (proof)",
        "36(E−1)Lη²σ̃²/(1 − μη), with σ̃² = σ_A² + E‖∇F‖² (Lemma 3.2)",
        f"18Lη³ over η/2 is 36Lη²; the factors of ‖∇F‖² for E = {E} are {E - 1}, {2 * E / 3:.2f} and {E}",
    )


def _learning_rate() -> Slip:
    mu, T, r, c, d = 1 / 20, 1_000, 1.0, 1e-6, 100.0
    eta = math.log(mu**2 * r * T**2 / c) / (mu * T)
    return Slip(
        "Lemma “Learning rate choice II”, second case",
        "η₀ = ln(c₀²r₀T²/c₁)/(c₀T)",
        "the smaller of this, the same with c₂, and 1/d",
        f"c₀ = {mu:g}, T = {T:,}, r₀ = 1, c₁ = {c:g}, d = {d:g}: η₀ = {eta:.3f} > 1/d = {1 / d:g}",
    )


def _sum() -> Slip:
    t = 4
    return Slip(
        "Residual lemma of DP-ASVRG",
        "∑_{t=0}^{t₁−1} (t+1) = t₁(t₁−1)/2",
        "t₁(t₁+1)/2, or the sum to t₁−2, which is enough: x at t₁ is projected",
        f"t₁ = {t}: {sum(range(1, t + 1))}, printed {t * (t - 1) // 2}; nothing else changes",
    )


# --- federations -------------------------------------------------------------------------------------------


def _consensus() -> Slip:
    n, d = 3, 2
    B = np.eye(n - 1, n) - np.eye(n - 1, n, k=1)
    x = np.tile(np.array([1.0, 2.0]), n)  # all workers agree
    printed, meant = np.kron(np.eye(d), B.T), np.kron(B.T, np.eye(d))
    return Slip(
        "Equation (B), consensus constraint",
        "A = I_d ⊗ Bᵀ",
        "A = Bᵀ ⊗ I_d, because x stacks the workers' vectors",
        f"n = {n}, d = {d}, all workers at (1, 2): ‖Aᵀx‖ = {np.linalg.norm(printed.T @ x):.2f} as printed, "
        f"{np.linalg.norm(meant.T @ x):g} corrected",
        "Affine(np.kron(np.eye(d), B))",
    )


def _first_steps() -> list[Series]:
    spectrum = STRONG.spectrum()
    eta = 1.0 / spectrum.max()
    theta = math.sqrt(spectrum.min() * eta)
    made = []
    for name in ("anchor", "coupled"):
        method = DelayedASVRG(
            interval=1,
            stage_length=1,
            step_size=eta,
            momentum=theta,
            batch_size=STRONG.samples,
            first_step=name,
        )
        made.append(_run(f"first/{name}", STRONG, method, Budget(rounds=20_000), 1e-6))
    return made


def _first_step(results: Results) -> Slip:
    printed, coupled = (results[f"first/{name}"].counts("stages")[0] for name in ("anchor", "coupled"))
    return Slip(
        "Algorithm 4, first step of a stage",
        "x₀ = x̃: the first gradient is taken at the anchor",
        "x₀ = x̃ + θ(u₀ − x̃), which the proof uses for every t; only then m = E = 1 is Nesterov's method, "
        "as printed it is the heavy ball",
        f"m = E = 1, full gradients, κ of F = {1 / (STRONG.spectrum().min() / STRONG.spectrum().max()):.0f}: "
        f"{printed:.0f} steps to a millionth of the gap as printed, {coupled:.0f} coupled",
        'DelayedASVRG(first_step="anchor"), the default; "coupled" corrects it',
    )


def _averages() -> list[Series]:
    made = []
    for name in ("after", "before"):
        method = DelayedASVRG(interval=4, stage_length=64, average=name, **THEORY)
        made.append(_run(f"average/{name}", WORKERS, method, Budget(rounds=20_000), 1e-1))
    return made


def _indices(results: Results) -> Slip:
    after, before = (results[f"average/{name}"].counts("rounds")[0] for name in ("after", "before"))
    return Slip(
        "Algorithm 6 (Local ASVRG), next anchor",
        "mean of x_i over i = 0, …, m−1",
        "i = 1, …, m, as in Algorithm 4 and its proof",
        f"four workers, κ = {KAPPA}, E = 4, m = 64, to a tenth of the gap: {before:,.0f} rounds as "
        f"printed, {after:,.0f} corrected",
        'DelayedASVRG(average="before")',
    )


def _worker() -> Slip:
    return Slip(
        "Algorithm 5 (Local SVRG), update",
        "x^(k) ← x^(n) − ηg^(k)",
        "x^(k) ← x^(k) − ηg^(k)",
        "one letter: as printed all workers would go on from the last one's point",
    )


def _frequency() -> Slip:
    return Slip(
        "Section 7, twice",
        "“increasing projection frequency improves projection efficiency”",
        "increasing the interval E, that is lowering the frequency",
        "the sentence before says so: large E fastens convergence",
    )


def _run(
    key: str, problem: Problem, method: DelayedASVRG, budget: Budget, target: float | None = None
) -> Series:
    gap = facts_of(problem).gap if isinstance(problem, Prescribed) else workers_facts(WORKERS)[0].gap
    goal = None if target is None else target * gap
    task = Task(problem=problem, method=method, budget=budget, looks=Looks(every=1), target=goal)
    return Series(key, key.split("/")[1], task)


def _relative(results: Results, key: str) -> float:
    return float(results[key].end("value")[0]) / facts_of(STRONG).gap
