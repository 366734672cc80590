"""The programs of Maros and Meszaros with bounds and inequalities, to the values that come with the data.

Two values are not those of the data: QBEACONF (there 164712.3516) and UBH1 (there 1.116628083). Feasible
points have smaller ones, so theirs are not minima; what is written here is our own answer, and for these two
only the lower bound is evidence.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import loadmat

from tether.polyhedral import Pieces, Polyhedral
from tether.qp import Program, Status, solve_program

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif("TETHER_DATA" not in os.environ, reason="TETHER_DATA is not set"),
]

VALUES = {
    "CONT-050": -4.563850904, "CVXQP1_M": 1087511.567, "CVXQP3_S": 11943.4322, "DUAL1": 0.03501296574,
    "DUAL2": 0.03373367612, "DUAL3": 0.1357558369, "DUALC1": 6155.250829, "DUALC8": 18309.35883,
    "HS21": -99.96, "HS35MOD": 0.25, "HS53": 4.093023256, "HS76": -4.681818182, "HUES-MOD": 34824463.87,
    "LISWET3": 25.00122001, "LISWET4": 25.00011208, "MOSARQP2": -1597.482118, "PRIMAL2": -0.0337336761,
    "PRIMAL3": -0.1357558368, "PRIMALC2": -3551.307693, "PRIMALC5": -427.2323268, "PRIMALC8": -18309.42979,
    "Q25FV47": 13744447.89, "QADLITTL": 480318.8585, "QAFIRO": -1.590781794, "QBANDM": 16352.34204,
    "QBEACONF": 164712.0601, "QBORE3D": 3100.200804, "QE226": 212.6534329, "QETAMACR": 86760.36963,
    "QFORPLAN": 7456631461.0, "QGFRDXPN": 1.007905849e11, "QGROW7": -42798713.87, "QPCBLEND": -0.007842543065,
    "QPCBOEI1": 11503914.01, "QPCBOEI2": 8171962.244, "QPILOTNO": 4728586.899, "QSC205": -0.005813953486,
    "QSCAGR25": 201737938.4, "QSCFXM1": 16882691.64, "QSCFXM3": 30816354.47, "QSCRS8": 904.5600139,
    "QSCTAP1": 1415.861111, "QSCTAP2": 1735.026498, "QSCTAP3": 1438.754681, "QSEBA": 81481800.36,
    "QSHARE1B": 720078.3191, "QSHIP04L": 2420015.534, "QSHIP08L": 2376040.617, "QSHIP08S": 2385728.851,
    "QSTAIR": 7985452.756, "STADAT3": -35.77945296, "STCQP2": 22327.31327, "UBH1": 1.116000816,
    "ZECEVIC2": -4.125,
}  # fmt: skip


def _loaded(name):
    """Return a program, with rows of one entry as walls, its constant, and all rows as they were."""
    file = loadmat(Path(os.environ["TETHER_DATA"]) / "maros_meszaros_more" / f"{name}.mat")
    A = sparse.csr_array(file["A"]).astype(float)
    A.eliminate_zeros()
    low, high = (np.asarray(file[key], dtype=float).ravel() for key in "lu")
    low, high = np.where(low < -9e19, -np.inf, low), np.where(high > 9e19, np.inf, high)
    entries = np.diff(A.indptr)
    single, equal = entries == 1, (entries > 1) & (low == high)
    other = (entries > 1) & ~equal
    p, j, a = A.shape[1], A[single].indices, A[single].data
    ends = np.sort(np.stack([low[single] / a, high[single] / a]), axis=0)
    lower, upper = np.full(p, -np.inf), np.full(p, np.inf)
    np.maximum.at(lower, j, ends[0])
    np.minimum.at(upper, j, ends[1])
    psi = Polyhedral(Pieces.of(p, lower, upper), A[other], Pieces.of(other.sum(), low[other], high[other]))
    equations = (A[equal], low[equal]) if equal.any() else None
    P = sparse.csc_array(file["P"]).astype(float)
    program = Program(P, np.asarray(file["q"], dtype=float).ravel(), equations, psi)
    return program, float(file["r"].ravel()[0]), (A, low, high)


@pytest.mark.parametrize("name", VALUES)
def test_a_program_has_its_known_value_and_a_bound_that_proves_it(name):
    program, constant, (A, low, high) = _loaded(name)
    answer = solve_program(program)
    assert answer.status is Status.SOLVED
    value = program.value(answer.x) + constant
    assert value == pytest.approx(VALUES[name], rel=1e-6)
    assert abs(value - constant - answer.lower) <= 1e-8 * abs(value)
    z, length = A @ answer.x, float(np.linalg.norm(answer.x))
    sizes = np.sqrt(A.multiply(A).sum(axis=1)) * length + np.abs(np.where(np.isfinite(low), low, 0.0)) + 1e-3
    assert (np.maximum(low - z, z - high) <= 1e-11 * sizes).all()
    walls = program.polyhedral.coordinates
    assert (walls.violation(answer.x) == 0.0).all()
    least, most = walls.interval(answer.x)
    assert (least <= answer.duals.coordinates).all() and (answer.duals.coordinates <= most).all()
