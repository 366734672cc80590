"""What an experiment is: runs by name, claims about them, tables and a picture made of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tether.report import Table
from tether.reproduce.curves import Curve
from tether.reproduce.task import Problem, Task, Trace


class Settings(NamedTuple):
    """What a user may choose."""

    data: str = "mnist"
    quick: bool = False
    seeds: int | None = None  # None: each experiment's own number


@dataclass(frozen=True)
class Series:
    """A task with several seeds: a line in a picture, a point of a fit."""

    key: str  # unique in an experiment
    label: str
    task: Task
    seeds: int = 1

    def tasks(self) -> Iterator[Task]:
        """Yield the runs."""
        for seed in range(self.seeds):
            yield replace(self.task, seed=seed)


class Judgement(NamedTuple):
    """Whether a claim holds, and the numbers that decide."""

    holds: bool | None  # None: seeds differ by more than what is to be decided
    numbers: str


class Claim(NamedTuple):
    """A claim in words, and how it is decided."""

    words: str
    judge: Callable[["Results"], Judgement]


class Verdict(NamedTuple):
    """A claim that was looked at."""

    experiment: str
    claim: str
    holds: bool | None
    numbers: str

    @property
    def words(self) -> str:
        """The verdict in words."""
        if self.holds is None:
            return "cannot be told here"
        return "holds here" if self.holds else "does not hold here"


@dataclass(frozen=True)
class Experiment:
    """Runs, what is claimed about them, and how they are shown."""

    name: str
    title: str
    series: tuple[Series, ...]
    claims: tuple[Claim, ...] = ()
    tables: tuple[Callable[["Results"], Table], ...] = ()
    draw: Callable[["Results", Any], None] | None = None
    panels: tuple[str, ...] | None = None  # beginnings of keys whose curves a page shows; None: all
    of: str = "iterate"  # the point at which a page shows F: "iterate" or "value"
    size: tuple[float, float] = (11.0, 6.4)  # of the picture, in inches

    def tasks(self) -> list[Task]:
        """Return the runs, each once."""
        return list(dict.fromkeys(task for series in self.series for task in series.tasks()))

    def problems(self) -> list[Problem]:
        """Return the problems whose optimum is needed."""
        return list(dict.fromkeys(series.task.problem for series in self.series))

    def verdicts(self, results: "Results") -> list[Verdict]:
        """Judge the claims."""
        return [Verdict(self.name, claim.words, *claim.judge(results)) for claim in self.claims]


class Results:
    """The runs of an experiment, by the key of their series."""

    def __init__(
        self, experiment: Experiment, traces: Mapping[Task, Trace], optima: Mapping[Problem, float]
    ) -> None:
        self._series = {series.key: series for series in experiment.series}
        self._traces, self._optima = traces, optima

    def __getitem__(self, key: str) -> Curve:
        series = self._series[key]
        traces = tuple(self._traces[task] for task in series.tasks())
        return Curve(series.label, traces, self._optima[series.task.problem])

    def keys(self, prefix: str = "") -> list[str]:
        """Return the keys that begin with some letters, in order."""
        return [key for key in self._series if key.startswith(prefix)]

    def curves(self, prefix: str = "") -> list[Curve]:
        """Return the curves of these keys."""
        return [self[key] for key in self.keys(prefix)]


def between(
    judge: Callable[..., Judgement], one: str, other: str, **more: Any
) -> Callable[[Results], Judgement]:
    """Return what judges two curves, by their keys."""
    return lambda results: judge(results[one], results[other], **more)


def among(judge: Callable[..., Judgement], *keys: str, **more: Any) -> Callable[[Results], Judgement]:
    """Return what judges several curves, by their keys or by what these begin with."""

    def judged(results: Results) -> Judgement:
        return judge([curve for key in keys for curve in results.curves(key)], **more)

    return judged
