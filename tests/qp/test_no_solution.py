"""Programs without a solution are recognised, and what is said of them is proven."""

import numpy as np
import pytest
from scipy import sparse

from tether.polyhedral import Pieces, Polyhedral
from tether.qp import Program, Status, solve_program


def _wild(seed):
    """A program that may have no feasible point, or values without end."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(2, 12))
    factors = rng.normal(size=(int(rng.integers(0, p + 1)), p))
    hessian = [factors.T @ factors, np.where(rng.random(p) < 0.5, rng.random(p), 0.0), np.zeros(p)][seed % 3]
    A = rng.normal(size=(int(rng.integers(0, p)), p))
    b = A @ rng.normal(size=p)
    if len(A) > 1 and rng.random() < 0.4:
        A[-1], b[-1] = 2.0 * A[0], 2.0 * b[0] + float(rng.random() < 0.5)

    def pieces(size, share):
        centre = rng.normal(size=size)
        lower = np.where(rng.random(size) < share, centre, -np.inf)
        upper = np.where(rng.random(size) < share, centre + rng.random(size), np.inf)
        slopes = (np.where(rng.random(size) < 0.2, rng.random(size), 0.0) for _ in range(2))
        return Pieces(lower, upper, *slopes)

    K = rng.normal(size=(int(rng.integers(0, 2 * p)), p))
    psi = Polyhedral(pieces(p, 0.3), sparse.csr_array(K) if seed % 2 else K, pieces(len(K), 0.4))
    return Program(hessian, rng.normal(size=p), (A, b) if len(A) else None, psi)


def _assert_contradiction(program, answer):
    """s + K'y = A'lambda, and lambda'b is more than s'x + y'Kx can be."""
    psi, (s, y), (A, b) = program.polyhedral, answer.duals, program.plane
    size = (np.abs(A).T @ np.abs(answer.equalities)).max() + np.abs(y).max(initial=0.0)
    np.testing.assert_allclose(s + psi.matrix.T @ y, A.T @ answer.equalities, atol=1e-9 * size)
    most = 0.0
    for part, slopes in ((psi.coordinates, s), (psi.rows, y)):
        up, down = slopes > 0.0, slopes < 0.0
        most += slopes[up] @ part.upper[up] + slopes[down] @ part.lower[down]
    assert answer.equalities @ b > most


def _assert_ray(program, answer):
    """From a feasible point one may go on for ever, downhill."""
    value = program.value(answer.x)
    far = [answer.x + t * answer.ray for t in (1e2, 1e4)]
    assert program.value(far[0]) < value - 1e-6 and program.value(far[1]) < program.value(far[0])
    A, b = program.plane
    for x in (answer.x, *far):
        np.testing.assert_allclose(A @ x, b, atol=1e-9 * np.abs(x).max() * max(1.0, np.abs(A).max(initial=0)))
        assert program.polyhedral.violation(x) < 1e-9 * max(1.0, np.abs(x).max())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_every_verdict_is_that_of_cvxpy_and_proven(reference):
    seen = dict.fromkeys(Status, 0)
    for seed in range(120):
        program = _wild(seed)
        answer = solve_program(program)
        seen[answer.status] += 1
        status, value = reference(program)
        if answer.status is Status.INFEASIBLE:
            _assert_contradiction(program, answer)
            assert status.startswith("infeasible") or status == "unbounded"  # both, to CVXPY
        elif answer.status is Status.UNBOUNDED:
            _assert_ray(program, answer)
            assert status.startswith("unbounded")
        else:
            assert answer.status is Status.SOLVED and status.startswith("optimal")
            assert program.value(answer.x) == pytest.approx(value, rel=1e-6, abs=1e-6)
    assert min(seen[status] for status in (Status.SOLVED, Status.INFEASIBLE, Status.UNBOUNDED)) > 10


def test_fixed_variables_that_contradict_an_equation_are_infeasible():
    psi = Polyhedral.separable(Pieces.of(2, [1.0, 2.0], [1.0, 2.0]))
    program = Program(np.ones(2), np.zeros(2), (np.ones((1, 2)), np.array([4.0])), psi)
    answer = solve_program(program)
    assert answer.status is Status.INFEASIBLE
    _assert_contradiction(program, answer)


def test_a_narrow_but_feasible_set_is_not_called_empty():
    width = 1e-7
    rows = Polyhedral(
        Pieces.of(2), np.array([[1.0, 1.0], [1.0, 1.0]]), Pieces.of(2, [1.0, -5.0], [5.0, 1.0 + width])
    )
    answer = solve_program(Program(np.ones(2), np.array([-5.0, 0.0]), None, rows))
    assert answer.status is Status.SOLVED
    assert answer.x.sum() == pytest.approx(1.0 + width, rel=1e-12)


def test_a_slope_at_infinity_that_is_just_enough_has_a_solution():
    """min -x + |x|: every x >= 0 is a solution."""
    psi = Polyhedral.separable(Pieces.of(1, left=1.0, right=1.0))
    answer = solve_program(Program(np.zeros(1), -np.ones(1), None, psi))
    assert answer.status is Status.SOLVED and answer.x[0] >= 0.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"linear": np.array([0.0, np.nan])}, "linear must be finite"),
        ({"hessian": np.array([1.0, np.inf])}, "hessian must be finite"),
        (
            {"polyhedral": Polyhedral.separable(Pieces.of(2, 1.0, 0.0))},
            "coordinates must have lower <= upper",
        ),
    ],
    ids=["nan", "infinite", "walls"],
)
def test_numbers_that_make_no_program_are_refused(change, words):
    program = Program(np.ones(2), np.zeros(2), None, Polyhedral.separable(Pieces.of(2)))
    with pytest.raises(ValueError, match=words):
        solve_program(program._replace(**change))
