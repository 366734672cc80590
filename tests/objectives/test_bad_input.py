"""Every mistake is refused where it is made, in one sentence that names the argument."""

import copy
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

import tether
from tether.objectives import GLM, FiniteSum, Quadratic, Smoothness
from tether.objectives.losses import Multinomial
from tether.packing import flatten, restore

X, Y = np.arange(12.0).reshape(4, 3), np.array([0.0, 1.0, 1.0, 0.0])


def _with(array, value):
    changed = np.array(array, dtype=float)
    changed.flat[1] = value
    return changed


GLM_MISTAKES = {
    "NaN in X": ("X", {"X": _with(X, np.nan)}),
    "infinity in X": ("X", {"X": _with(X, np.inf)}),
    "NaN in sparse X": ("X", {"X": sparse.csr_array(_with(X, np.nan))}),
    "1-D X": ("X", {"X": X[:, 0]}),
    "3-D X": ("X", {"X": X[None]}),
    "no rows": ("X", {"X": X[:0], "y": Y[:0]}),
    "no columns": ("X", {"X": X[:, :0]}),
    "no rows, sparse": ("X", {"X": sparse.csr_array((0, 3)), "y": Y[:0]}),
    "objects in X": ("X", {"X": X.astype(object)}),
    "strings in X": ("X", {"X": X.astype(str)}),
    "complex X": ("X", {"X": X + 0j}),
    "complex sparse X": ("X", {"X": sparse.csr_array(X + 0j)}),
    "ragged X": ("X", {"X": [[1.0, 2.0], [3.0]]}),
    "dates in X": ("X", {"X": np.zeros((4, 3), dtype="datetime64[D]")}),
    "NaN in y": ("y", {"y": _with(Y, np.nan)}),
    "infinity in y": ("y", {"y": _with(Y, np.inf), "loss": "squared"}),
    "short y": ("y", {"y": Y[:3]}),
    "2-D y": ("y", {"y": Y[:, None]}),
    "0-D y": ("y", {"y": 1.0}),
    "strings in y": ("y", {"y": Y.astype(str)}),
    "complex y": ("y", {"y": Y + 0j}),
    "sparse y": ("y", {"y": sparse.csr_array(Y[:, None])}),
    "label out of range": ("y", {"y": _with(Y, 2.0)}),
    "negative count": ("y", {"y": _with(Y, -1.0), "loss": "poisson"}),
    "fractional class": ("y", {"y": _with(Y, 0.5), "loss": "multinomial"}),
    "negative l2": ("l2", {"l2": -0.1}),
    "NaN l2": ("l2", {"l2": np.nan}),
    "infinite l2": ("l2", {"l2": np.inf}),
    "l2 of words": ("l2", {"l2": "much"}),
    "l2 in a text": ("l2", {"l2": "0.1"}),
    "huge l2": ("l2", {"l2": 1e308}),
    "l2 beyond what can be squared": ("l2", {"l2": 1e110}),
    "fit_intercept of words": ("fit_intercept", {"fit_intercept": "no"}),
    "array for fit_intercept": ("fit_intercept", {"fit_intercept": np.array([True, False])}),
    "number for fit_intercept": ("fit_intercept", {"fit_intercept": 2}),
    "classes of words": ("n_classes", {"n_classes": "3", "loss": "multinomial"}),
    "one class": ("n_classes", {"n_classes": 1, "loss": "multinomial"}),
    "classes of a number": ("n_classes", {"n_classes": 3, "loss": "squared"}),
    "classes of a loss object": ("n_classes", {"n_classes": 3, "loss": Multinomial()}),
    "classes of an array": ("n_classes", {"n_classes": 3, "loss": np.ones((4, 3))}),
    "array for loss": ("loss", {"loss": np.ones((40, 3))}),
    "classes beyond memory": ("n_classes", {"n_classes": 10**12, "loss": "multinomial"}),
    "a class beyond": ("y", {"y": _with(Y, 5.0), "n_classes": 3, "loss": "multinomial"}),
    "negative weight": ("sample_weight", {"sample_weight": _with(np.ones(4), -1.0)}),
    "zero weights": ("sample_weight", {"sample_weight": np.zeros(4)}),
    "NaN weight": ("sample_weight", {"sample_weight": _with(np.ones(4), np.nan)}),
    "short weights": ("sample_weight", {"sample_weight": np.ones(3)}),
    "2-D weights": ("sample_weight", {"sample_weight": np.ones((4, 1))}),
    "unknown loss": ("loss", {"loss": "hinge"}),
}

C = np.diag([1.0, 2.0, 3.0])
LARGE = sparse.diags_array(np.r_[np.ones(1200), -0.1]).tocsr()

QUADRATIC_MISTAKES = {
    "nothing": ("factors or matrix", {}),
    "both": ("factors or matrix", {"factors": X, "matrix": C}),
    "oblong matrix": ("matrix", {"matrix": X}),
    "asymmetric matrix": ("matrix", {"matrix": _with(C, 0.5)}),
    "asymmetric sparse matrix": ("matrix", {"matrix": sparse.csr_array(_with(C, 0.5))}),
    "indefinite matrix": ("matrix", {"matrix": C - 1.5 * np.eye(3)}),
    "indefinite sparse matrix": ("matrix", {"matrix": sparse.csr_array(C - 1.5 * np.eye(3))}),
    "large indefinite sparse matrix": ("matrix", {"matrix": LARGE}),
    "negative definite matrix": ("matrix", {"matrix": -C}),
    "NaN in matrix": ("matrix", {"matrix": _with(C, np.nan)}),
    "NaN in factors": ("factors", {"factors": _with(X, np.nan)}),
    "empty factors": ("factors", {"factors": X[:0]}),
    "1-D factors": ("factors", {"factors": X[0]}),
    "short linear": ("linear", {"matrix": C, "linear": np.ones(2)}),
    "NaN in linear": ("linear", {"matrix": C, "linear": [1.0, np.nan, 0.0]}),
    "2-D linear": ("linear", {"matrix": C, "linear": np.ones((3, 1))}),
    "NaN constant": ("constant", {"matrix": C, "constant": np.nan}),
    "constant of words": ("constant", {"matrix": C, "constant": "none"}),
}


@pytest.mark.parametrize("mistake", GLM_MISTAKES)
def test_glm_refuses(mistake):
    name, arguments = GLM_MISTAKES[mistake]
    with pytest.raises(ValueError, match=rf"^{name} must [^\n]*\.$"):
        GLM(**{"X": X, "y": Y, **arguments})


@pytest.mark.parametrize("mistake", QUADRATIC_MISTAKES)
def test_quadratic_refuses(mistake):
    name, arguments = QUADRATIC_MISTAKES[mistake]
    with pytest.raises(ValueError, match=rf"^(Quadratic needs either )?{name}[^\n]*\.$"):
        Quadratic(**arguments)


def test_quadratic_takes_no_positional_arguments():
    with pytest.raises(TypeError):
        Quadratic(C)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("scale", [1e60, 1e110, 1e200, 1e307])
def test_data_that_would_overflow_is_refused_in_our_words(make, scale):
    with pytest.raises(ValueError, match=r"^X must [^\n]*\.$"):
        _ = GLM(make(X * scale), Y).smoothness
    with pytest.raises(ValueError, match=r"^factors must [^\n]*\.$"):
        _ = Quadratic(factors=make(X * scale)).smoothness
    with pytest.raises(ValueError, match=r"^matrix must [^\n]*\.$"):
        _ = Quadratic(matrix=make(C * scale**2 if scale < 1e100 else C * scale)).smoothness


CONSTANTS = {
    "NaN": ("maximum", (np.nan, 1.0, 0.1)),
    "infinite": ("full", (1.0, np.inf, 0.1)),
    "negative": ("maximum", (-1.0, 1.0, 0.1)),
    "negative mu": ("convexity", (1.0, 1.0, -0.1)),
    "mu above L": ("convexity", (1.0, 1.0, 2.0)),
    "mu above L_F": ("convexity", (3.0, 1.0, 2.0)),
    "a text": ("maximum", ("1.0", 1.0, 0.1)),
    "an array": ("full", (1.0, np.ones(2), 0.1)),
    "exact of words": ("exact", (1.0, 1.0, 0.1, "yes")),
}


@pytest.mark.parametrize("mistake", CONSTANTS)
def test_constants_that_no_function_has_are_refused(mistake):
    name, given = CONSTANTS[mistake]
    with pytest.raises(ValueError, match=rf"^{name} must [^\n]*\.$"):
        Smoothness(*given)


def test_constants_are_checked_when_they_are_replaced():
    constants = Smoothness(2.0, 1.0, 0.1)
    assert constants._replace(convexity=0.5) == (2.0, 1.0, 0.5, True)
    with pytest.raises(ValueError, match="convexity must be at most"):
        constants._replace(convexity=1.5)


def test_constants_travel_as_named_tuples():
    arrays = {}
    constants = Smoothness(2.0, 1.0, 0.1, exact=False)
    kinds = flatten("s", constants, arrays)
    back = restore("s", kinds, arrays, constants, Smoothness)
    assert back == constants and type(back) is Smoothness
    assert copy.copy(constants) == constants and type(copy.copy(constants)) is Smoothness


def test_many_samples_cost_nothing_before_they_are_asked_for():
    tracemalloc.start()
    FiniteSum(lambda x, batch: x, lambda x, batch: 0.5 * float(x @ x), 10**9, 3, smoothness=1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**6


WRONG_LATER = {
    "value": lambda x, batch: "low" if len(batch) > 2 else 0.5 * float(x @ x),
    "gradient": lambda x, batch: ["low"] if len(batch) > 2 else np.array(x),
}


@pytest.mark.parametrize("name", WRONG_LATER)
def test_functions_that_return_something_else_later_are_named(name):
    functions = {"gradient": lambda x, batch: np.array(x), "value": lambda x, batch: 0.5 * float(x @ x)}
    objective = FiniteSum(**{**functions, name: WRONG_LATER[name]}, n_samples=9, dim=2)
    with pytest.raises(ValueError, match=rf"^{name}\(x, batch\) must return [^\n]*\.$"):
        objective.evaluate(np.zeros(2))


SQUARES = {"gradient": lambda x, batch: np.array(x), "value": lambda x, batch: 0.5 * float(x @ x)}
SUM_MISTAKES = {
    "ragged gradient": (r"gradient\(x, batch\)", {"gradient": lambda x, batch: [[1.0], [1.0, 2.0]]}),
    "ragged value": (r"value\(x, batch\)", {"value": lambda x, batch: [[1.0], [1.0, 2.0]]}),
    "gradient of x alone": ("gradient", {"gradient": lambda x: np.array(x)}),
    "value of x alone": ("value", {"value": lambda x: 0.0}),
    "value of three": ("value", {"value": lambda x, batch, more: 0.0}),
    "dim beyond memory": ("dim", {"dim": 10**15}),
}


@pytest.mark.parametrize("mistake", SUM_MISTAKES)
def test_finite_sum_refuses(mistake):
    name, arguments = SUM_MISTAKES[mistake]
    with pytest.raises(ValueError, match=rf"^{name} must [^\n]*\.$"):
        FiniteSum(**{**SQUARES, "n_samples": 9, "dim": 2, **arguments})


def test_an_error_inside_a_users_function_is_left_as_it_is():
    def broken(x, batch):
        return len(3)

    with pytest.raises(TypeError, match=r"object of type 'int' has no len"):
        FiniteSum(**{**SQUARES, "value": broken}, n_samples=9, dim=2)


def test_functions_whose_arguments_nobody_knows_are_called():
    assert FiniteSum(SQUARES["gradient"], np.vdot, 1, 1).n_samples == 1
    assert FiniteSum(lambda *given: np.array(given[0]), SQUARES["value"], 9, 2).dim == 2


def test_classes_that_a_worker_lacks_are_given_by_their_number():
    lacking = GLM(X, [0, 0, 2, 2], "multinomial", n_classes=4)
    assert lacking.n_outputs == 4 and lacking.dim == 12
    with pytest.raises(ValueError, match=r"GLM\(\.\.\., n_classes=K\)"):
        GLM(X, [0, 0, 2, 2], "multinomial")
    full = GLM(X, [0, 1, 2, 3], "multinomial")
    with pytest.raises(ValueError, match=r"GLM\(\.\.\., n_classes=K\)"):
        tether.Federation([full, GLM(X, [0, 1, 1, 0], "multinomial")])
    assert tether.solve(tether.Federation([full, lacking]), max_rounds=3, tol=0.0).x.shape == (12,)
