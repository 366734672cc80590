"""Figure 1: constrained logistic regression, and what the paper says about it."""

from typing import Any, NamedTuple

from tether.methods import DelayedASVRG, DelayedSGD, DelayedSVRG, Method
from tether.reproduce import claims
from tether.reproduce.experiment import Claim, Experiment, Results, Series, Settings, among, between
from tether.reproduce.figures import drawing
from tether.reproduce.figures.yardsticks import yardsticks
from tether.reproduce.problems import SIZES, Images, Size
from tether.reproduce.task import Budget, Looks, Task

ETA, E = 0.1, 10
THETAS = (0.8, 0.85, 0.9, 0.95)
INTERVALS = (1, 2, 5, 10, 20, 50)
LOOKS = 30


class Extent(NamedTuple):
    """How far the runs go."""

    rounds: int
    seeds: int
    passes: float  # of the yardsticks

    @classmethod
    def of(cls, settings: Settings) -> "Extent":
        """Return what a user's choice means."""
        if settings.quick:
            return cls(200, settings.seeds or 2, 40.0)
        return cls(1_000, settings.seeds or 4, 100.0)


def figure_1(settings: Settings) -> Experiment:
    """Return the experiment of section 7.1."""
    size = SIZES[settings.data]
    lines = _Lines(Images(settings.data, size.samples, size.equations), size, Extent.of(settings))
    return Experiment(
        name="figure-1",
        title=f"Figure 1: constrained logistic regression on {settings.data}",
        series=(*lines.methods(), *lines.momenta(), *lines.intervals(), *lines.beyond()),
        claims=_claims(size.stage),
        draw=_draw,
    )


class _Lines(NamedTuple):
    """The lines of the panels."""

    problem: Images
    size: Size
    extent: Extent

    @property
    def walk(self) -> dict[str, Any]:
        return {"step_size": ETA, "batch_size": self.size.batch}

    @property
    def staged(self) -> dict[str, Any]:
        return {**self.walk, "stage_length": self.size.stage}

    @property
    def compared(self) -> dict[str, Method]:
        return {
            "P-SGD": DelayedSGD(interval=1, **self.walk),
            "P-SVRG": DelayedSVRG(interval=1, **self.staged),
            "DP-SGD": DelayedSGD(interval=E, **self.walk),
            "DP-SVRG": DelayedSVRG(interval=E, **self.staged),
            "DP-ASVRG": DelayedASVRG(interval=E, momentum=0.9, **self.staged),
        }

    def methods(self) -> list[Series]:
        return [self._line("a", label, method) for label, method in self.compared.items()]

    def momenta(self) -> list[Series]:
        return [
            self._line("b", f"θ = {theta:g}", DelayedASVRG(interval=E, momentum=theta, **self.staged))
            for theta in THETAS
        ]

    def intervals(self) -> list[Series]:
        return [self._line("c", f"E = {gap}", DelayedSVRG(interval=gap, **self.staged)) for gap in INTERVALS]

    def beyond(self) -> list[Series]:
        stage, slower = self.size.stage, {**self.staged, "step_size": ETA / 2}
        own: dict[str, Method] = {
            f"DP-SVRG, E = {E}": DelayedSVRG(interval=E, **self.staged),
            f"DP-SVRG, E = {stage // 4}": DelayedSVRG(interval=stage // 4, **slower),
            f"DP-SVRG, E = {stage}": DelayedSVRG(interval=stage, **slower),
        }
        return yardsticks("d", self.problem, self.extent.passes, own)

    def _line(self, panel: str, label: str, method: Method) -> Series:
        rounds = self.extent.rounds
        budget = Budget(rounds=rounds, steps=E * rounds)  # longer intervals get no more steps than E = 10
        looks = Looks(every=max(1.0, rounds / LOOKS), answers=method in self.compared.values())
        task = Task(problem=self.problem, method=method, budget=budget, looks=looks)
        return Series(f"{panel}/{label}", label, task, self.extent.seeds)


def _claims(stage: int) -> tuple[Claim, ...]:
    first = "P-SVRG first much slower than P-SGD, then below"
    return (
        Claim(
            "delayed beats immediate at any projection budget (SGD)",
            between(claims.always_below, "a/DP-SGD", "a/P-SGD"),
        ),
        Claim(
            "delayed beats immediate at any projection budget (SVRG)",
            between(claims.always_below, "a/DP-SVRG", "a/P-SVRG"),
        ),
        Claim(
            "variance reduction obtains smaller losses (DP-SVRG)",
            between(claims.ends_below, "a/DP-SVRG", "a/DP-SGD"),
        ),
        Claim(
            "variance reduction obtains smaller losses (DP-ASVRG)",
            between(claims.ends_below, "a/DP-ASVRG", "a/DP-SGD"),
        ),
        Claim("variance reduction fluctuates less", between(claims.calmer, "a/DP-SVRG", "a/DP-SGD")),
        Claim(
            "DP-SVRG is slower than DP-SGD at the beginning and then falls more rapidly",
            between(claims.slow_then_fast, "a/DP-SVRG", "a/DP-SGD"),
        ),
        Claim(
            f"{first} (F at the iterates)",
            between(claims.much_slower_then_below, "a/P-SVRG", "a/P-SGD", within=stage),
        ),
        Claim(
            f"{first} (F at the anchors, which P-SVRG returns)",
            between(claims.much_slower_then_below, "a/P-SVRG", "a/P-SGD", within=stage, of="value"),
        ),
        Claim(
            "DP-SVRG and DP-ASVRG with θ = 0.9 behave alike",
            among(claims.alike, "a/DP-SVRG", "a/DP-ASVRG", after=stage / E),
        ),
        Claim("DP-ASVRG is insensitive to θ", among(claims.alike, "b/", after=stage / E)),
        Claim("larger E converges faster per projection", among(claims.faster_with_more, "c/", after=E)),
    )


def _draw(results: Results, figure: Any) -> None:
    (a, b, c), (d, e, f) = figure.subplots(2, 3)
    drawing.losses(a, results.curves("a/"))
    drawing.losses(b, results.curves("b/"), ordered=True)
    drawing.losses(c, results.curves("c/"), ordered=True)
    drawing.gaps(d, results.curves("d/"))
    drawing.gaps(e, results.curves("d/"), against="seconds", legend=False)
    returned = [results[f"a/{name}"] for name in ("P-SGD", "P-SVRG", "DP-SGD", "DP-SVRG")]
    drawing.losses(f, returned, of="value")
    titles = (
        *("a) methods, E = 10", "b) DP-ASVRG, momentum θ", "c) DP-SVRG, interval E"),
        *("d) beyond the paper", "e) the same runs by the clock", "f) F at what the methods return"),
    )
    for axes, title in zip((a, b, c, d, e, f), titles, strict=True):
        axes.set_title(title, loc="left", fontsize=9.5)
