"""What there is to reproduce, by name."""

from collections.abc import Callable
from typing import NamedTuple

from tether.reproduce.experiment import Experiment, Settings
from tether.reproduce.figures.constrained import figure_1
from tether.reproduce.figures.federated import figure_2, figure_3
from tether.reproduce.lemma import lemma_6_1
from tether.reproduce.slips import slips
from tether.reproduce.speed_up import speed_up
from tether.reproduce.tables.table_1 import table_1
from tether.reproduce.tables.table_2 import table_2
from tether.reproduce.tables.table_3 import table_3
from tether.reproduce.tables.table_4 import table_4
from tether.reproduce.theorems.experiment import theorems


class Entry(NamedTuple):
    """An experiment and a line about it."""

    description: str
    build: Callable[[Settings], Experiment]


EXPERIMENTS: dict[str, Entry] = {
    "figure-1": Entry("constrained logistic regression on images, by projections", figure_1),
    "figure-2": Entry("the same model over ten workers, m = 40 steps a stage", figure_2),
    "figure-3": Entry("the same with m = E", figure_3),
    "table-1": Entry("projections of all methods, against κ and 1/ε", table_1),
    "table-2": Entry("rounds of communication among workers", table_2),
    "table-3": Entry("what P-SVRG and DP-SVRG cost, against κ, E, m and N", table_3),
    "table-4": Entry("what P-ASVRG and DP-ASVRG cost, in the paper's regimes", table_4),
    "theorems": Entry("error bounds of Theorems 3.1 to 5.2 against measured errors", theorems),
    "lemma-6.1": Entry("noise and heterogeneity of workers, as one constrained problem", lemma_6_1),
    "speed-up": Entry("n workers, an error n times smaller", speed_up),
    "slips": Entry("what is printed in the paper and cannot be meant, with numbers", slips),
}
