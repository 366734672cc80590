"""Table 3: what P-SVRG and DP-SVRG cost, against kappa, E, m and N."""

from tether.methods import DelayedSVRG
from tether.reproduce.experiment import Claim, Experiment, Settings
from tether.reproduce.prescribed import Prescribed, facts_of
from tether.reproduce.tables.staged import strong
from tether.reproduce.tables.sweep import Point, Sweep, draw_all, growth, no_worse, table_of
from tether.theory import complexity

CAPTION = "Powers of what is varied, with the steps of Theorem 4.1"


def table_3(settings: Settings) -> Experiment:
    """Return the experiment."""
    sweeps = _sweeps(settings)
    return Experiment(
        name="table-3",
        title="Table 3: P-SVRG and DP-SVRG",
        series=tuple(series for sweep in sweeps for series in sweep.series()),
        claims=(
            Claim("no count grows faster than Table 3 says", no_worse(sweeps[:-1])),
            Claim("projections do not depend on E (m = κE)", growth(sweeps[2], "rounds", -0.25, 0.25)),
            Claim("with default steps, projections fall with E", growth(sweeps[-1], "rounds", -2.0, -0.5)),
        ),
        tables=(table_of(sweeps, CAPTION),),
        draw=draw_all(sweeps),
        panels=(),
        size=(11.0, 8.4),
    )


def _sweeps(settings: Settings) -> list[Sweep]:
    kappas = (40, 80, 160) if settings.quick else (40, 80, 160, 320, 640, 1280)
    intervals = (2, 5, 10) if settings.quick else (2, 5, 10, 20, 50)
    stages = (40, 160, 640) if settings.quick else (10, 40, 160, 640, 2560, 10_240)
    samples = (64, 128, 256) if settings.quick else (64, 128, 256, 512, 1024, 2048, 4096)
    eps, seeds = (1e-1, 1) if settings.quick else (1e-2, settings.seeds or 2)
    points = {
        ("P-SVRG, m = κ", "κ"): [strong("svrg", k, k, 1, k, eps) for k in kappas],
        ("DP-SVRG, E = 10, m = κE", "κ"): [strong("svrg", k, k, 10, 10 * k, eps) for k in kappas],
        ("DP-SVRG, κ = 40, m = κE", "E"): [strong("svrg", E, 40, E, 40 * E, eps) for E in intervals],
        ("DP-SVRG, κ = 40, E = 10", "m"): [strong("svrg", m, 40, 10, m, eps) for m in stages],
        ("DP-SVRG, κ = 40, E = 10, m = N", "N"): [strong("svrg", N, 40, 10, N, eps, N) for N in samples],
        ("DP-SVRG, κ = 40, m = 400, default steps", "E"): [_practical(E, eps) for E in intervals],
    }
    return [Sweep(label, varied, tuple(those), seeds=seeds) for (label, varied), those in points.items()]


def _practical(interval: int, eps: float) -> Point:
    """Return a point with the library's own step, which does not shrink with E."""
    problem = Prescribed(40)
    target = eps * facts_of(problem).gap
    method = DelayedSVRG(interval=interval, stage_length=400, batch_size=1, replacement=True)
    return Point(
        interval, problem, method, target, complexity("dp-svrg", problem.setting(target), interval, 400)
    )
