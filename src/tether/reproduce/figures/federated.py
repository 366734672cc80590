"""Figures 2 and 3: the same model over ten workers, with m = 40 steps a stage and with m = E."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from tether.methods import DelayedASVRG, DelayedSGD, DelayedSVRG, Method, as_method
from tether.reproduce import claims
from tether.reproduce.experiment import Claim, Experiment, Results, Series, Settings, among, between
from tether.reproduce.figures import drawing
from tether.reproduce.figures.yardsticks import yardsticks
from tether.reproduce.problems import SIZES, SpreadImages
from tether.reproduce.task import Budget, Looks, Problem, Task

ETA, E, STAGE, WORKERS = 0.1, 10, 40, 10
THETAS = (0.8, 0.85, 0.9, 0.95)
INTERVALS = (2, 5, 10, 20, 40)
FAR = (40, 160, 640)  # m = E far beyond 10
EASY = {"mnist": (5_000, 3e-2), "fashion": (5_000, 3e-2), "digits": (1_797, 3e-2)}  # images and l2
LOOKS = 25
ROUNDS = "rounds of communication"

Stage = Callable[[int], int]  # m, by E


class Extent(NamedTuple):
    """How far the runs go."""

    rounds: int
    seeds: int
    passes: float  # of the yardsticks
    long: int  # rounds of the runs that show residual errors

    @classmethod
    def of(cls, settings: Settings) -> "Extent":
        """Return what a user's choice means."""
        if settings.quick:
            return cls(80, settings.seeds or 2, 40.0, 150)
        return cls(160, settings.seeds or 3, 80.0, 300)


def figure_2(settings: Settings) -> Experiment:
    """Return the experiment of section 7.2 with m = 40."""
    lines = _lines(settings, lambda interval: STAGE)
    return Experiment(
        name="figure-2",
        title=f"Figure 2: ten workers, m = {STAGE}, on {settings.data}",
        series=(*lines.panels(), *lines.by_label(), *lines.beyond(), *lines.residual()),
        claims=(*_claims(), _residual_claim()),
        draw=_draw_fixed,
        size=(14.0, 6.4),
    )


def figure_3(settings: Settings) -> Experiment:
    """Return the experiment of section 7.2 with m = E."""
    lines, fixed = _lines(settings, lambda interval: interval), _lines(settings, lambda interval: STAGE)
    return Experiment(
        name="figure-3",
        title=f"Figure 3: ten workers, m = E, on {settings.data}",
        series=(
            *lines.panels(),
            *lines.by_label(),
            *lines.beyond(),
            *lines.far(),
            *fixed.intervals("m = 40"),
        ),
        claims=(
            *_claims(),
            Claim(
                "curves of m = E spread more than those of m = 40",
                lambda results: claims.spread_more(results.curves("c/"), results.curves("m = 40/")),
            ),
        ),
        draw=_draw_equal,
        size=(14.0, 6.4),
    )


def _lines(settings: Settings, stage: Stage) -> "_Lines":
    size = SIZES[settings.data]
    problem = SpreadImages(settings.data, size.samples, WORKERS)
    return _Lines(problem, size.batch, stage, Extent.of(settings))


class _Lines(NamedTuple):
    """The lines of the panels."""

    problem: SpreadImages
    batch: int
    stage: Stage
    extent: Extent

    @property
    def walk(self) -> dict[str, Any]:
        return {"step_size": ETA, "batch_size": self.batch}

    def staged(self, interval: int) -> dict[str, Any]:
        return {**self.walk, "interval": interval, "stage_length": self.stage(interval)}

    def local(self) -> dict[str, Method]:
        return {
            "Local SGD": DelayedSGD(interval=E, **self.walk),
            "Local SVRG": DelayedSVRG(**self.staged(E)),
            "Local ASVRG": DelayedASVRG(momentum=0.9, **self.staged(E)),
        }

    def panels(self) -> list[Series]:
        parallel: dict[str, Method] = {
            "D-SGD": DelayedSGD(interval=1, **self.walk),
            "D-SVRG": DelayedSVRG(**{**self.staged(E), "interval": 1}),
        }
        methods = [self._line("a", label, method) for label, method in (parallel | self.local()).items()]
        momenta = [
            self._line("b", f"θ = {theta:g}", DelayedASVRG(momentum=theta, **self.staged(E)))
            for theta in THETAS
        ]
        return [*methods, *momenta, *self.intervals("c")]

    def intervals(self, panel: str) -> list[Series]:
        return [self._line(panel, f"E = {gap}", DelayedSVRG(**self.staged(gap))) for gap in INTERVALS]

    def by_label(self) -> list[Series]:
        skewed = replace(self.problem, split="by label")
        more = self.local() | {"L-BFGS": as_method("lbfgs"), "Tether's flagship": as_method("skip")}
        return [self._line("d", label, method, skewed) for label, method in more.items()]

    def beyond(self) -> list[Series]:
        own = {f"{label}, E = {E}": method for label, method in self.local().items() if "SVRG" in label}
        return yardsticks("e", self.problem, self.extent.passes, own)

    def far(self) -> list[Series]:
        """Longer and longer walks, with steps that shrink where they have to."""
        return [
            self._line(
                "f",
                f"m = E = {gap}",
                DelayedSVRG(**{**self.staged(gap), "step_size": ETA if gap <= STAGE else ETA / 2}),
            )
            for gap in FAR
        ]

    def residual(self) -> list[Series]:
        """Few images cut by label and much l2, so that runs come to where they stand still."""
        count, l2 = EASY[self.problem.data]
        easy = SpreadImages(self.problem.data, count, WORKERS, "by label", l2)
        return [
            self._line("f", label, method, easy, self.extent.long) for label, method in self.local().items()
        ]

    def _line(
        self, panel: str, label: str, method: Method, problem: Problem | None = None, rounds: int = 0
    ) -> Series:
        rounds = rounds or self.extent.rounds
        budget = Budget(rounds=rounds, passes=2 * rounds * E * self.batch * WORKERS / self.problem.count)
        looks = Looks(every=max(1.0, rounds / LOOKS), answers=False)
        task = Task(problem=problem or self.problem, method=method, budget=budget, looks=looks)
        return Series(f"{panel}/{label}", label, task, self.extent.seeds)


def _claims() -> tuple[Claim, ...]:
    return (
        Claim(
            "local beats parallel at any number of rounds (SGD)",
            between(claims.always_below, "a/Local SGD", "a/D-SGD"),
        ),
        Claim(
            "local beats parallel at any number of rounds (SVRG)",
            between(claims.always_below, "a/Local SVRG", "a/D-SVRG"),
        ),
        Claim("Local ASVRG is insensitive to θ", among(claims.alike, "b/", after=E)),
        Claim(
            "Local ASVRG converges slightly faster than Local SVRG",
            between(claims.ends_below, "a/Local ASVRG", "a/Local SVRG"),
        ),
        Claim("larger E converges faster per round", among(claims.faster_with_more, "c/", after=E)),
    )


def _residual_claim() -> Claim:
    return Claim(
        "Local SGD keeps a residual error, Local SVRG does not",
        between(claims.stalls, "f/Local SGD", "f/Local SVRG"),
    )


def _draw_fixed(results: Results, figure: Any) -> None:
    last = _common_panels(results, figure)
    drawing.gaps(last, results.curves("f/"), linear=True, across=ROUNDS)
    last.set_title("h) residual error: by label, l2 = 0.03", loc="left", fontsize=9.5)


def _draw_equal(results: Results, figure: Any) -> None:
    last = _common_panels(results, figure)
    drawing.losses(last, results.curves("f/"), ordered=True, across=ROUNDS)
    last.set_title("h) m = E far beyond 10", loc="left", fontsize=9.5)


def _common_panels(results: Results, figure: Any) -> Any:
    *panels, last = figure.subplots(2, 4).ravel()
    a, b, c, d, e, f, g = panels
    drawing.losses(a, results.curves("a/"), across=ROUNDS)
    drawing.losses(b, results.curves("b/"), ordered=True, across=ROUNDS)
    drawing.losses(c, results.curves("c/"), ordered=True, across=ROUNDS)
    drawing.losses(d, results.curves("d/"), across=ROUNDS)
    drawing.gaps(e, results.curves("e/"), across=ROUNDS)
    drawing.gaps(f, results.curves("e/"), against="seconds", legend=False)
    drawing.gaps(g, results.curves("e/"), against="megabytes", legend=False)
    titles = (
        *("a) methods, E = 10", "b) Local ASVRG, momentum θ", "c) Local SVRG, interval E"),
        *("d) workers sorted by label", "e) beyond the paper", "f) the same runs by the clock"),
        "g) and by what is sent",
    )
    for axes, title in zip(panels, titles, strict=True):
        axes.set_title(title, loc="left", fontsize=9.5)
    return last
