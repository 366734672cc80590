"""What there is to reproduce, by name."""

from collections.abc import Callable
from typing import NamedTuple

from tether.reproduce.experiment import Experiment, Settings
from tether.reproduce.figures.constrained import figure_1
from tether.reproduce.figures.federated import figure_2, figure_3


class Entry(NamedTuple):
    """An experiment and a line about it."""

    description: str
    build: Callable[[Settings], Experiment]


EXPERIMENTS: dict[str, Entry] = {
    "figure-1": Entry("constrained logistic regression on images, by projections", figure_1),
    "figure-2": Entry("the same model over ten workers, m = 40 steps a stage", figure_2),
    "figure-3": Entry("the same with m = E", figure_3),
}
