"""Table 4: what P-ASVRG and DP-ASVRG cost, in the three regimes of the paper."""

from tether.reproduce.experiment import Claim, Experiment, Judgement, Results, Settings
from tether.reproduce.tables.staged import strong
from tether.reproduce.tables.sweep import Sweep, draw_all, no_worse, table_of

CAPTION = "Powers of what is varied, with steps, momenta and restarts of Theorem 5.1"
LARGE = 1024  # N of the comparison at N >> kappa


def table_4(settings: Settings) -> Experiment:
    """Return the experiment."""
    sweeps, pair = _sweeps(settings), _pair(settings)
    return Experiment(
        name="table-4",
        title="Table 4: P-ASVRG and DP-ASVRG",
        series=tuple(series for sweep in [*sweeps, *pair] for series in sweep.series()),
        claims=(
            Claim("no count grows faster than Table 4 says", no_worse(sweeps)),
            Claim(
                "for N > κ and m = κE = √(Nκ), DP-ASVRG needs far fewer projections than P-ASVRG and about "
                "as many gradients",
                lambda results: _fewer_projections(*pair, results),
            ),
        ),
        tables=(table_of(sweeps, CAPTION),),
        draw=draw_all(sweeps),
        panels=(),
        size=(11.0, 8.4),
    )


def _sweeps(settings: Settings) -> list[Sweep]:
    kappas = (40, 80, 160) if settings.quick else (32, 64, 128, 256, 512, 1024)
    beyond = (640, 1280, 2560) if settings.quick else (640, 1280, 2560, 5120, 10_240)
    samples = (64, 128, 256) if settings.quick else (64, 128, 256, 512, 1024, 2048, 4096)
    eps, seeds = (1e-1, 1) if settings.quick else (1e-2, settings.seeds or 2)
    few = 1 if settings.quick else 4
    points = {
        ("P-ASVRG, m = N = 64", "κ"): [strong("asvrg", k, k, 1, 64, eps, 64) for k in kappas],
        ("P-ASVRG, κ = 64, m = N", "N"): [strong("asvrg", N, 64, 1, N, eps, N) for N in samples],
        ("DP-ASVRG, E = 1, m = 1", "κ"): [strong("asvrg", k, k, 1, 1, eps) for k in kappas],
        ("DP-ASVRG, E = 1, m = √κ", "κ"): [strong("asvrg", k, k, 1, k**0.5, eps) for k in kappas],
        ("DP-ASVRG, E = 1, m = κ", "κ"): [strong("asvrg", k, k, 1, k, eps) for k in kappas],
        ("DP-ASVRG, E = m = 4", "κ"): [strong("asvrg", k, k, 4, 4, eps * few) for k in beyond],
        ("DP-ASVRG, E = 4, m = √κ E", "κ"): [strong("asvrg", k, k, 4, 4 * k**0.5, eps) for k in kappas],
        ("DP-ASVRG, E = 4, m = κE", "κ"): [strong("asvrg", k, k, 4, 4 * k, eps) for k in kappas],
    }
    return [Sweep(label, varied, tuple(those), seeds=seeds) for (label, varied), those in points.items()]


def _pair(settings: Settings) -> tuple[Sweep, Sweep]:
    """Return P-ASVRG and DP-ASVRG at one setting with N >> kappa."""
    N, kappa, eps = LARGE, 32, 1e-1 if settings.quick else 1e-2
    E = (N / kappa) ** 0.5
    immediate = strong("asvrg", N, kappa, 1, N, eps, N)
    delayed = strong("asvrg", N, kappa, E, kappa * round(E), eps, N)
    seeds = settings.seeds or (1 if settings.quick else 3)
    return (
        Sweep("P-ASVRG, m = N", "N", (immediate,), seeds=seeds),
        Sweep("DP-ASVRG, m = κE = √(Nκ)", "N", (delayed,), seeds=seeds),
    )


def _fewer_projections(immediate: Sweep, delayed: Sweep, results: Results) -> Judgement:
    P, p = (sweep.counted(results, "rounds").mean() for sweep in (immediate, delayed))
    G, g = (sweep.counted(results, "gradients").mean() for sweep in (immediate, delayed))
    numbers = (
        f"N = {LARGE:,}, κ = 32: projections {p:,.0f} against {P:,.0f}, component gradients {g:,.0f} "
        f"against {G:,.0f}"
    )
    return Judgement(bool(p < P / 3 and g < 3 * G), numbers)
