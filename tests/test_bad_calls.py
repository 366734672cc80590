"""A table of bad calls: every public name, every argument, the wrong values that people pass.

Each row ends in a ValueError or TypeError whose text is one sentence or two that name the argument, without
words of NumPy or SciPy and without a warning on the way. Rows are made from bad values of a kind times the
arguments of that kind; a new argument is one more entry.
"""

import atexit
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import tether
from tether import methods, report, splits, theory

RAW_TEXT = re.compile(
    r"could not convert|inhomogeneous|ufunc|cannot reshape|object is not|unsupported operand|truth value"
    r"|not supported between|must not contain|setting an array|out of range|too large to convert|math domain"
    r"|has no attribute|missing \d|unexpected keyword|broadcast|matmul|argument must be|invalid literal"
    r"|Unable to allocate|can't |cannot convert|has no len|object of type|integer is required|embedded"
)

# --- bad values, by the kind of the argument -------------------------------------------------------------

Values = dict[str, Any]
NAN, INF = float("nan"), float("inf")
NUMBER: Values = {"text": "0.1", "numpy text": np.str_("0.1"), "bytes": b"1", "nan": NAN, "inf": INF}
NUMBER |= {"complex": 1j, "huge integer": 10**400, "list": [1.0], "array": np.ones(2), "none": None}
NUMBER |= {"masked": np.ma.masked, "object": object()}
NONNEGATIVE = NUMBER | {"negative": -0.1}
POSITIVE = NONNEGATIVE | {"zero": 0}
AT_LEAST_ONE = POSITIVE | {"half": 0.5}
FRACTION = POSITIVE | {"above one": 1.5}
SEED: Values = {"negative": -2, "fraction": 1.5, "float": 3.0, "text": "3", "true": True, "none": None}
SEED |= {"array": np.ones(2), "object": object()}
WHOLE = SEED | {"zero": 0, "nan": NAN, "huge integer": 10**400}
SWITCH: Values = {"text": "yes", "empty text": "", "one": 1, "none": None, "list": []}
SWITCH |= {"array": np.array([True, False]), "array of one": np.array(True)}
WORD: Values = {
    "unknown": "nonsense",
    "none": None,
    "number": 3,
    "list": ["a"],
    "array": np.ones(2),
    "bytes": b"a",
}
FUNCTION: Values = {"number": 3, "text": "f", "none": None, "array": np.ones(2)}
OTHER: Values = {"none": None, "number": 3, "text": "a", "array": np.ones((1, 4)), "class": tether.Affine}


def vectors(length: int) -> Values:
    """Return what is no vector of that many finite numbers."""
    ones, most = np.ones(length), [1.0] * (length - 1)
    values: Values = {"text": "abc", "texts": ["1.0"] * length, "bytes": np.array([b"1"] * length)}
    values |= {"objects": [None] * length, "dates": np.zeros(length, dtype="M8[D]"), "complex": ones * 1j}
    values |= {
        "nan": [*most, NAN],
        "inf": [*most, -INF],
        "overflow": ones * 1e200,
        "huge integers": [10**400] * length,
    }
    values |= {"huge integers and floats": [*most, 10**400], "masked": np.ma.array(ones, mask=ones > 0)}
    values |= {
        "list with masked": [*most, np.ma.masked],
        "ragged": [[1.0], [1.0, 2.0]],
        "matrix": ones[:, None],
    }
    values |= {"sparse": sparse.csr_array(ones[:, None]), "longer": np.ones(length + 1), "number": 3.0}
    return values | {"object": object(), "dict": {"a": 1.0}}


def matrices(rows: int, columns: int) -> Values:
    """Return what is no matrix of finite numbers."""
    ones = np.ones((rows, columns))
    spoiled = np.where(ones.cumsum().reshape(ones.shape) == ones.size, NAN, 1.0)
    values: Values = {"text": "abc", "texts": ones.astype(str), "objects": ones.astype(object), "number": 3.0}
    values |= {
        "dates": np.zeros(ones.shape, dtype="M8[D]"),
        "nan": spoiled,
        "nan, sparse": sparse.csr_array(spoiled),
    }
    values |= {
        "inf": ones * INF,
        "overflow": ones * 1e200,
        "overflow, sparse": sparse.csr_array(ones * 1e200),
    }
    values |= {
        "complex": ones * 1j,
        "complex, sparse": sparse.csr_array(ones * 1j),
        "ragged": [[1.0, 2.0], [3.0]],
    }
    values |= {"huge integers": [[10**400] * columns] * rows, "masked": np.ma.array(ones, mask=ones > 0)}
    values |= {"list of masked": [np.ma.array(row, mask=row > 0) for row in ones], "box": ones[:, :, None]}
    return values | {"no columns": ones[:, :0], "none": None, "object": object()}


def without(values: Values, *labels: str) -> Values:
    return {label: value for label, value in values.items() if label not in labels}


def given(values: Values) -> Values:
    """Return the values but None, which leaves an argument out."""
    return without(values, "none")


# --- good calls, and which of their arguments are spoiled with what --------------------------------------


class Target(NamedTuple):
    """A function with good arguments, and bad values for some of them."""

    function: Any
    good: dict[str, Any]
    bad: dict[str, Values]


TARGETS: list[Target] = []


def add(function: Any, good: dict[str, Any], **bad: Values) -> None:
    TARGETS.append(Target(function, good, bad))


X, Y = np.random.default_rng(0).standard_normal((20, 4)), np.tile([0.0, 1.0], 10)
OBJECTIVE = tether.GLM(X, Y, "squared", l2=0.1)
CONSTRAINT = tether.Affine(np.ones((1, 4)), [1.0])
SETS = given(OTHER) | {
    "list with a number": [CONSTRAINT, 3],
    "crossed bounds": Bounds(np.ones(4), np.zeros(4)),
    "contradiction": [CONSTRAINT, Bounds(0.5, 1.0)],
    "longer bounds": Bounds(np.zeros(5), np.ones(5)),
    "agreement beside bounds": [tether.Consensus(2), Bounds(0.0, 1.0)],
    "narrow": tether.Affine(np.ones((1, 3))),
    "blocks": tether.Consensus(3),
}
SETS |= {"crossed rows": LinearConstraint(np.ones((1, 4)), 1.0, 0.0)}
SETS |= {"infinite bounds": LinearConstraint(np.ones((1, 4)), INF, INF)}
PROBLEM = {
    "objective": OTHER | {"list": [OBJECTIVE]},
    "constraint": SETS,
    "penalty": {"number": 3, "text": "l1", "list": [3], "narrow": tether.L1(1.0, np.ones((1, 3)))},
    "method": WORD | {"class": methods.LBFGS, "empty": ""},
    "x0": vectors(4),
    "seed": SEED,
    "engine": {"text": "mpi", "number": 3, "class": tether.Serial},
}
BUDGET = without(POSITIVE, "none", "inf")
add(
    tether.solve,
    {"objective": OBJECTIVE, "max_rounds": 2},
    **PROBLEM,
    tol=given(NONNEGATIVE),
    rtol=given(NONNEGATIVE),
    max_passes=BUDGET,
    max_rounds=BUDGET,
    max_seconds=BUDGET,
    callback=given(FUNCTION),
    checkpoint={"number": 3, "list": ["a.npz"], "nul": "a\0b.npz", "long": "a" * 300 + ".npz"},
    verbose=SWITCH,
)
add(tether.iterate, {"objective": OBJECTIVE}, **PROBLEM)

SINGLE = {"overflow, single": np.full((20, 4), 1e35, dtype=np.float32)}
add(
    tether.GLM,
    {"X": X, "y": Y, "loss": "logistic"},
    X=matrices(20, 4) | SINGLE | {"no rows": X[:0], "vector": X[:, 0]},
    y=vectors(20) | {"other labels": np.arange(20.0)},
    loss=WORD,
    l2=NONNEGATIVE | {"overflow": 1e200},
    fit_intercept=SWITCH,
    sample_weight=vectors(20) | {"negative": -Y, "zero": 0 * Y},
)
SQUARE = matrices(4, 4) | {"oblong": X, "indefinite": -np.eye(4), "asymmetric": np.tri(4)}
add(tether.Quadratic, {"matrix": np.eye(4)}, matrix=SQUARE, linear=vectors(4), constant=NUMBER)
add(tether.Quadratic, {"factors": X}, factors=given(matrices(4, 4)), matrix={"both": np.eye(4)})
add(
    tether.FiniteSum,
    {"gradient": lambda x, batch: x, "value": lambda x, batch: 0.5 * x @ x, "n_samples": 5, "dim": 4},
    gradient=FUNCTION,
    value=FUNCTION,
    hessian=given(FUNCTION),
    n_samples=WHOLE,
    dim=WHOLE,
    smoothness=given(POSITIVE),
    convexity=NONNEGATIVE,
    initial=vectors(4),
)
BOUND = without(NUMBER, "inf", "list", "array") | {"longer": np.ones(5), "nan entry": [1.0, 1.0, 1.0, NAN]}
PER_EDGE = without(vectors(4), "number") | {"negative": -np.ones(4)}
SEPARABLE = {"phi": "logcosh", "dim": 4}
PHI = without(WORD, "list") | {"two functions": (np.sin, np.cos), "no functions": (1, 2, 3)}
add(tether.Separable, SEPARABLE, phi=PHI, dim=given(WHOLE), lower=BOUND, upper=BOUND)
add(tether.Separable, SEPARABLE, weights=PER_EDGE, scale=PER_EDGE | {"zero": 0.0})
ROADS = {"phi": "bpr", "free_time": np.ones(4), "capacity": 1.0}
add(tether.Separable, SEPARABLE, initial=without(vectors(4), "number"))
add(
    tether.Separable,
    ROADS,
    free_time=without(PER_EDGE, "longer"),
    capacity=PER_EDGE | {"zero": 0.0, "none": None},
)
NARROW = tether.GLM(X[:, :3], Y, "squared")
WORKERS = OTHER | {"empty": [], "one": OBJECTIVE, "arrays": [X], "dimensions": [OBJECTIVE, NARROW]}
add(
    tether.Federation,
    {"objectives": [OBJECTIVE]},
    objectives=WORKERS | {"nested": [tether.Federation([OBJECTIVE])]},
)
CONSTANTS = {"maximum": 2.0, "full": 1.0, "convexity": 0.5}
BOUNDED = NONNEGATIVE | {"above full": 1.5}
add(tether.Smoothness, CONSTANTS, maximum=NONNEGATIVE, full=NONNEGATIVE, convexity=BOUNDED, exact=SWITCH)

# --- sets, splits ----------------------------------------------------------------------------------------


def operator(matvec: Any, **products: Any) -> LinearOperator:
    return LinearOperator((1, 4), matvec=matvec, dtype=float, **products)


OPERATORS: Values = {
    "without rmatvec": operator(lambda x: x[:1]),
    "of nan": aslinearoperator(np.full((1, 4), NAN)),
}
OPERATORS |= {"of complex numbers": aslinearoperator(np.full((1, 4), 1j))}
OPERATORS |= {"of texts": operator(lambda x: np.array(["1"]), rmatvec=lambda y: np.full(4, y[0]))}
OPERATORS |= {"of two": operator(lambda x: x[:2], rmatvec=lambda y: np.full(4, y[0]))}
OPERATORS |= {"with another transpose": operator(lambda x: x[:1], rmatvec=lambda y: np.full(4, y[0]))}
add(tether.Affine, {"A": X[:2]}, A=matrices(2, 4) | OPERATORS, b=vectors(2))
add(tether.Range, {"D": X}, D=matrices(4, 2) | {"operator": aslinearoperator(X)})
EDGES: Values = {"floats": [[0.0, 1.0]], "loop": [[1, 1]], "stranger": [[0, 7]], "triples": [[0, 1, 2]]}
SUPPLY = without(vectors(3), "longer") | {"unbalanced": [1.0, 0.0, 0.0]}
NETWORK = {"edges": [[0, 1], [1, 2]], "supply": [1.0, 0.0, -1.0]}
add(tether.Flow, NETWORK, edges=matrices(2, 2) | EDGES, supply=SUPPLY)
add(tether.Consensus, {"n": 3}, n=WHOLE)
add(tether.Unconstrained, {}, dim=given(WHOLE))
add(tether.Simplex, {}, total=POSITIVE | {"overflow": 1e200})
FACTORS = NONNEGATIVE | without(vectors(3), "number") | {"negative entry": [1.0, 1.0, -1.0]}
SIDES = {f"side, {label}": (value, 1.0) for label, value in given(FACTORS).items()}
PRODUCTS = without(OPERATORS, "without rmatvec", "with another transpose")
LARGE = {"large operator": aslinearoperator(sparse.eye_array(20_000))}
TERMS = {"lam": 0.1, "D": X[:3]}
add(tether.L1, TERMS, lam=FACTORS, D=given(matrices(3, 4)) | PRODUCTS | LARGE, weights=given(FACTORS) | SIDES)
add(tether.differences, {"p": 4}, p=WHOLE, order=WHOLE | {"too high": 4})
add(tether.graph_differences, {"edges": [[0, 1]]}, edges=matrices(1, 2) | without(EDGES, "stranger"))
add(tether.graph_differences, {"edges": [[0, 3]]}, n_nodes=given(WHOLE) | {"too few": 3})
LENGTHS = {
    "number": 3,
    "text": "ab",
    "empty": (),
    "zero": (2, 0),
    "fraction": (2, 1.5),
    "large": (2**30, 2**30),
}
add(tether.grid_differences, {"shape": (2, 3)}, shape=LENGTHS | {"none": None, "texts": ("2", "3")})

LABELS = np.tile([0, 1, 2], 4)
COLUMN: Values = {"table": np.eye(3), "number": 7, "text": "abc", "ragged": [[1, 2], [3]], "empty": []}
COLUMN |= {"nan": [1.0, NAN], "none": ["a", None], "masked": np.ma.array([1, 2, 3], mask=[0, 1, 0])}
COLUMN |= {"mixed": np.array([1, "a"], dtype=object), "sparse": sparse.csr_array(np.ones((3, 1)))}
CROWD = WHOLE | {"more than samples": 99}
FEW = given(WHOLE) | {"too few": 1}
PARTS = {"number": 3, "none": None, "empty": [], "flat": [0, 1], "floats": [[0.5]], "masks": [[True]]}
SPLIT = {"y": LABELS, "n_workers": 2}
add(splits.iid, {"n_samples": 10, "n_workers": 2}, n_samples=WHOLE, n_workers=CROWD, seed=SEED)
add(splits.by_label, SPLIT, y=COLUMN, n_workers=CROWD, classes_each=FEW, seed=SEED)
add(splits.dirichlet, SPLIT | {"alpha": 0.5}, y=COLUMN, n_workers=CROWD, alpha=POSITIVE, seed=SEED)
add(splits.by_column, {"column": LABELS}, column=COLUMN)
add(splits.describe, {"parts": [[0, 1]]}, parts=PARTS, y=COLUMN | {"short": [1]})

# --- theory ----------------------------------------------------------------------------------------------

SETTING = theory.Setting(1.0, 100, 1e-3, convexity=0.1)
NOISE = theory.Heterogeneity(1.0, 1.0, 1.0)
NOISES = OTHER | {"negative": NOISE._replace(normal=-1.0)}
TEAMS = given(OTHER) | {"of none": theory.WorkerHeterogeneity(1.0, 1.0, 0)}
CURVED = {"smoothness": POSITIVE, "convexity": NONNEGATIVE | {"above smoothness": 5.0}}
EVERY = {"interval": AT_LEAST_ONE}
L = {"smoothness": 1.0}
add(theory.step_size, L | {"method": "dp-svrg"}, **CURVED, **EVERY, method=WORD)
add(theory.sgd_step_size, L, **CURVED, **EVERY, feasible_gradients=SWITCH)
add(theory.svrg_step_size, L, **CURVED, **EVERY)
STAGE = {"convexity": 0.1, "stage_length": 10}
LONG = AT_LEAST_ONE | {"above stage_length": 99}
add(theory.asvrg_step_size, L | STAGE, **CURVED, interval=LONG, stage_length=AT_LEAST_ONE)
add(theory.asvrg_step_size, L | {"interval": 3, "stages": 10}, stages=AT_LEAST_ONE)
add(
    theory.horizon_step_size,
    L | {"steps": 10, "noise": NOISE},
    **CURVED,
    **EVERY,
    steps=AT_LEAST_ONE,
    noise=NOISES,
    distance=POSITIVE,
    feasible_gradients=SWITCH,
)
add(
    theory.Setting,
    L | {"n_samples": 10, "accuracy": 0.1},
    **CURVED,
    n_samples=AT_LEAST_ONE,
    accuracy=POSITIVE | {"tiny": 1e-200},
    distance=POSITIVE | {"overflow": 1e200},
    initial_gap=given(POSITIVE),
    noise=given(NOISES),
    workers=TEAMS,
    variance=given(NONNEGATIVE),
)
TABLE = {"kappa": AT_LEAST_ONE | {"overflow": 1e200}, "n_samples": AT_LEAST_ONE, "accuracy": POSITIVE}
ASKED = {"kappa": 10.0, "n_samples": 10, "accuracy": 0.1}
add(theory.Setting.conditioned, ASKED, **TABLE, noise=given(NOISES))
add(theory.comparison_table, ASKED, **TABLE, noise=given(NOISES))
RUN = {"method": "dp-asvrg", "setting": SETTING, "interval": 2, "stage_length": 10}
SHORT = given(AT_LEAST_ONE) | {"below interval": 1}
add(theory.complexity, RUN, method=WORD, setting=OTHER, interval=given(AT_LEAST_ONE), stage_length=SHORT)
add(theory.recommend, {"setting": SETTING}, setting=OTHER, goal=WORD, paper_only=SWITCH)
STEPPED = {"step_size": POSITIVE | {"large": 1e300}, "smoothness": POSITIVE, "interval": AT_LEAST_ONE}
STEP = L | {"step_size": 0.01, "interval": 2}
add(theory.drift, STEP, **STEPPED)
add(theory.momentum, STEP | STAGE, **STEPPED, convexity=POSITIVE, stage_length=AT_LEAST_ONE)
add(theory.first_momentum, STEP, **STEPPED)
add(theory.next_momentum, {"theta": 0.5, "delta": 0.1}, theta=POSITIVE, delta=NONNEGATIVE | {"one": 1.0})
add(theory.momentum_sequence, STEP | {"stages": 3}, **STEPPED, stages=AT_LEAST_ONE | {"many": 1e15})
REST = {"theta": POSITIVE, "step_size": POSITIVE, "convexity": POSITIVE, "stage_length": AT_LEAST_ONE}
add(theory.restart_length, STAGE | {"theta": 0.5, "step_size": 0.1}, **REST)
POINT = {"x_star": vectors(4), "max_samples": WHOLE, "seed": SEED}
HERE = {"x_star": np.ones(4)}
SET = without(OTHER, "class")
add(
    theory.heterogeneity,
    HERE | {"objective": OBJECTIVE, "constraint": CONSTRAINT},
    **POINT,
    objective=OTHER,
    constraint=SET,
)
add(
    theory.worker_heterogeneity,
    HERE | {"objectives": [OBJECTIVE]},
    **POINT,
    objectives=OTHER | {"arrays": [X]},
)

# --- solutions, files and pages --------------------------------------------------------------------------

SOLVED, FOLDER = tether.solve(OBJECTIVE, CONSTRAINT, "nesterov"), Path(tempfile.mkdtemp(prefix="tether-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
PATH: Values = {"number": 3, "list": ["a.npz"], "bytes": b"a.npz", "nul": "a\0b", "surrogate": "a\ud800"}
PLACE = PATH | {"none": None, "long": "a" * 300, "folder": FOLDER, "nowhere": FOLDER / "no" / "where.html"}
RUNS = {"none": None, "number": 3, "one": SOLVED, "list": [SOLVED], "number in it": {"a": 3}}
RUNS |= {"numbers as names": {1: SOLVED}}
TITLE: Values = {"number": 3, "list": ["a"], "bytes": b"a"}
PIECES = {"none": None, "text": "a", "texts": ["a"], "one": report.Section("a", [])}
PIECES |= {"part of another kind": [report.Section("a", ["text"])]}  # type: ignore[list-item]
add(tether.load, {"path": SOLVED.save(FOLDER / "run.npz")}, path=PLACE | {"text": Path(__file__)})
add(SOLVED.save, {"path": FOLDER / "again.npz"}, path=PLACE)
add(SOLVED.summary, {}, rows=WHOLE)
add(SOLVED.report, {"path": FOLDER / "page.html"}, path=PLACE, title=TITLE)
AXES = {"against": given(WORD) | {"value": "value"}, "show": given(WORD) | {"rounds": "rounds"}}
add(SOLVED.plot, {}, path=without(PLACE, "none"), **AXES, best=given(NUMBER))
add(report.plot, {"runs": {"a": SOLVED}}, runs=RUNS, **AXES, best=given(NUMBER))
PAGE = {"path": FOLDER / "page.html", "solutions": {"a": SOLVED}}
HISTORIES = RUNS | {"history": {"a": SOLVED.history}}
add(
    report.write_report,
    PAGE,
    path=PLACE,
    solutions=HISTORIES | {"empty": {}},
    title=TITLE,
    best=given(NUMBER),
    sections=PIECES,
)
add(
    report.Table,
    {"headings": ["a", "b"], "rows": [[1, 2]]},
    rows={"short": [[1]], "long": [[1, 2], [1, 2, 3]]},
)
add(report.Curves, {"runs": {"a": SOLVED}}, runs=RUNS, **AXES)

# --- settings of methods; None leaves one open where it may be -------------------------------------------

INTERVAL = given(WHOLE) | {"no times": [], "falling times": [3, 2], "time zero": [0, 1]}
STEADY = given(WHOLE) | {"times": [1, 2]}
SAMPLED = {"batch_size": given(WHOLE), "replacement": SWITCH, "step_size": given(POSITIVE)}
STAGED = SAMPLED | {"stage_length": given(WHOLE), "parameters": WORD}
WALKING = STAGED | {"convexity": given(NONNEGATIVE)}
GROWING = WALKING | {"interval": INTERVAL, "growth": given(WHOLE)}
DRAWN = {"random": SWITCH, "seed": given(SEED)}
ALWAYS = INTERVAL | {"none": None}
add(
    methods.DelayedSGD, {}, **WALKING, interval=ALWAYS, decay=NONNEGATIVE, output=WORD, participation=FRACTION
)
add(methods.DelayedSVRG, {}, **GROWING, anchor=WORD, output=WORD)
ACCELERATED = {"momentum": given(FRACTION), "restart": given(WHOLE), "stages": WHOLE, "first_step": WORD}
add(methods.DelayedASVRG, {}, **GROWING, **ACCELERATED)
add(methods.ProxSkip, {}, interval=STEADY, step_size=given(POSITIVE), **DRAWN)
add(methods.ProxSkipSVRG, {}, interval=STEADY, **STAGED, **DRAWN, renew=SWITCH)
CLIENTS = {"server_step": FRACTION, "participation": FRACTION, "full_gradients": SWITCH}
add(methods.Scaffold, {}, interval=STEADY, **SAMPLED, **CLIENTS)
add(methods.Nesterov, {}, smoothness=given(POSITIVE))
add(methods.LBFGS, {}, memory=WHOLE, smoothness=given(POSITIVE))
INNER = {"text": "dp-svrg", "none": None, "class": methods.DelayedSVRG}
STAGELESS = INNER | {"not stage-wise": methods.LBFGS()}
add(methods.Anderson, {"method": methods.DelayedSVRG()}, method=STAGELESS, memory=WHOLE, damping=NONNEGATIVE)
add(
    methods.Regularised,
    {"method": methods.LBFGS()},
    method=INNER,
    strength=given(POSITIVE),
    floor=NONNEGATIVE,
)

# --- the table -------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """One bad call and the words that its refusal must hold."""

    what: str
    call: Any
    words: tuple[str, ...]


def spoiled(target: Target) -> list[Row]:
    """Return the calls of a target with one argument spoiled each."""

    def call(argument: str, value: Any) -> Any:
        return lambda: target.function(**{**target.good, argument: value})

    name = target.function.__qualname__
    return [
        Row(f"{name}({argument}: {label})", call(argument, value), (argument,))
        for argument, values in target.bad.items()
        for label, value in values.items()
    ]


ROWS = [row for target in TARGETS for row in spoiled(target)]


def test_no_row_stands_twice():
    assert len({row.what for row in ROWS}) == len(ROWS) >= 250


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.function.__name__)
def test_the_call_that_is_spoiled_is_good(target):
    target.function(**target.good)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what)
def test_a_bad_call_is_refused_in_a_sentence_that_names_the_argument(row):
    with pytest.raises((ValueError, TypeError)) as caught:
        row.call()
    message = str(caught.value)
    sentence, *marked = message.split("\n")  # below it an expression may be shown, its place marked
    assert len(marked) in (0, 2) and sentence.endswith("."), message
    assert len(re.findall(r"\.(?= [A-Z]|$)", message)) <= 2, message
    assert not RAW_TEXT.search(message), message
    for word in row.words:
        assert re.search(rf"\b{word}\b", message), message
