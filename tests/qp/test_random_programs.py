"""Programs of all mixtures against CVXPY and against their optimality conditions."""

import numpy as np
import pytest

from tether.qp import Status, solve_program

KINDS = ("dense", "sparse", "diagonal", "singular", "singular, sparse", "half a diagonal", "linear")
FEATURES = (
    *("equations", "redundant equations", "bounds", "fixed", "rows", "one-sided rows", "duplicate rows"),
    *("vertex", "l1", "l1 rows", "slopes and walls", "everything"),
)


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_program_is_solved_to_rounding(kind, feature, draw, assert_optimal):
    for seed in range(6):
        program = draw(kind, feature, seed)
        answer = solve_program(program)
        assert answer.status is Status.SOLVED, f"seed {seed}"
        assert answer.residual < 1e-11, f"seed {seed}"
        assert_optimal(program, answer)


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("kind", KINDS)
def test_sparse_matrices_do_as_well(kind, feature, draw, assert_optimal, monkeypatch):
    """Small programs are made dense; here they are not."""
    monkeypatch.setattr("tether.qp.program.SMALL_SIZE", 0)
    monkeypatch.setattr("tether.qp.kkt.DENSE_SIZE", 0)
    for seed in range(2):
        program = draw(kind, feature, seed)
        answer = solve_program(program)
        assert answer.status is Status.SOLVED, f"seed {seed}"
        assert_optimal(program, answer)


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("kind", KINDS)
def test_values_are_those_of_cvxpy(kind, feature, draw, reference):
    program = draw(kind, feature, 100)
    status, value = reference(program)
    assert status == "optimal"
    assert program.value(solve_program(program).x) == pytest.approx(value, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_lower_bound_is_tight_and_below(kind, feature, draw):
    for seed in range(3):
        program = draw(kind, feature, seed)
        answer = solve_program(program)
        value = program.value(answer.x)
        assert value - answer.lower <= 1e-9 * max(1.0, abs(value))
        assert answer.lower <= value + 1e-12 * max(1.0, abs(value))


def test_the_lower_bound_holds_for_multipliers_of_another_program(draw):
    from tether.qp.bound import lower_bound

    finite = 0
    for seed in range(60):
        program = draw("diagonal", "everything", seed)
        value = program.value(solve_program(program).x)
        point = solve_program(program._replace(linear=1.5 * program.linear)).point
        bound = lower_bound(program, point)
        finite += np.isfinite(bound)
        assert bound <= value + 1e-12
    assert finite > 30


@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1e4, 1e8])
def test_units_do_not_matter(scale, draw):
    for seed in range(8):
        program = draw("sparse", "everything", seed)
        psi = program.polyhedral
        units = scale ** np.linspace(-0.5, 0.5, program.dim)  # x = units * u
        scaled = program._replace(
            hessian=program.hessian * units * units[:, None],
            linear=program.linear * units,
            equations=(program.equations[0] * units, program.equations[1]),
            polyhedral=psi._replace(
                coordinates=psi.coordinates._replace(
                    lower=psi.coordinates.lower / units,
                    upper=psi.coordinates.upper / units,
                    left=psi.coordinates.left * units,
                    right=psi.coordinates.right * units,
                ),
                matrix=psi.matrix * units,
            ),
        )
        answer, plain = solve_program(scaled), solve_program(program)
        assert answer.status is Status.SOLVED
        assert scaled.value(answer.x) == pytest.approx(program.value(plain.x), rel=1e-9, abs=1e-9)


def test_zeros_of_a_penalty_are_zeros(draw):
    zeros = 0
    for seed in range(20):
        program = draw("dense", "l1", seed)
        answer = solve_program(program)
        inside = np.abs(answer.duals.coordinates)
        slopes = program.polyhedral.coordinates
        kept = (-slopes.left < answer.duals.coordinates) & (answer.duals.coordinates < slopes.right)
        assert (answer.x[kept] == 0.0).all()
        zeros += int(kept.sum())
        assert np.isfinite(inside).all()
    assert zeros > 20
