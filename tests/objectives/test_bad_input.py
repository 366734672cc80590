"""Every mistake is refused where it is made, in one sentence that names the argument."""

import numpy as np
import pytest
from scipy import sparse

from tether.objectives import GLM, Quadratic

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
