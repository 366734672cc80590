"""The methods that "auto" chooses among, and what may speak for one, in words."""

from enum import IntEnum


class Running(IntEnum):
    """The method that runs."""

    NEWTON = 0
    SKIP = 1
    LBFGS = 2


class Reason(IntEnum):
    """What speaks for it."""

    CHEAP_CURVATURE = 0
    FEW_SAMPLES = 1
    ESTIMATED_SMOOTHNESS = 2
    MANY_SAMPLES = 3
    QUICKER = 4
    OVERDUE = 5
    WHOLE_BATCHES = 6
    INTERPRETED_STEPS = 7
    MANY_VARIABLES = 8
    UNEQUAL_COLUMNS = 9
    SMALL_STEPS = 10
    EVEN_DATA = 11


WORDS: dict[int, str] = {
    Reason.CHEAP_CURVATURE: "second derivatives are cheap",
    Reason.FEW_SAMPLES: "few samples",
    Reason.ESTIMATED_SMOOTHNESS: "smoothness known only by estimate",
    Reason.MANY_SAMPLES: "many samples: one projection a pass",
    Reason.QUICKER: "it gains more for what it costs",
    Reason.OVERDUE: "it would have been done by now",
    Reason.WHOLE_BATCHES: "steps that take all samples",
    Reason.INTERPRETED_STEPS: "too little data to compile steps for",
    Reason.MANY_VARIABLES: "before second derivatives pay",
    Reason.SMALL_STEPS: "stochastic steps would be small",
    Reason.EVEN_DATA: "data are even, so that few iterations may do",
    Reason.UNEQUAL_COLUMNS: "columns are unequal, and small steps or none would do little",
}
FIELDS: dict[int, str] = {Running.NEWTON: "newton", Running.SKIP: "skip", Running.LBFGS: "lbfgs"}
PACES: dict[int, str] = {running: f"pace_of_{name}" for running, name in FIELDS.items()}
TITLES: dict[int, str] = {
    Running.NEWTON: "Newton's method",
    Running.SKIP: "ProxSkip-SVRG with Anderson acceleration",
    Running.LBFGS: "L-BFGS",
}
