"""A warm start changes how long it takes, and nothing else."""

import numpy as np
import pytest

from tether.polyhedral import Pieces, Polyhedral
from tether.qp import Program, Status, solve_program


@pytest.mark.parametrize("feature", ["bounds", "l1 rows", "vertex", "redundant equations", "everything"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "diagonal", "linear"])
def test_the_own_answer_is_one_system(kind, feature, draw):
    for seed in range(6):
        program = draw(kind, feature, seed)
        answer = solve_program(program)
        again = solve_program(program, start=answer)
        assert again.status is Status.SOLVED and again.iterations == 1
        np.testing.assert_allclose(again.x, answer.x, atol=1e-9)


@pytest.mark.parametrize("kind", ["dense", "sparse", "diagonal"])
def test_a_sequence_of_similar_programs_costs_less_and_gives_the_same(kind, draw, assert_optimal):
    warm_iterations = cold_iterations = 0
    for seed in range(6):
        program, answer = draw(kind, "everything", seed), None
        for step in range(5):
            moved = program._replace(linear=program.linear * (1.0 + 0.02 * step))
            cold, answer = solve_program(moved), solve_program(moved, start=answer)
            assert_optimal(moved, answer)
            np.testing.assert_allclose(answer.x, cold.x, atol=1e-8)
            warm_iterations += answer.iterations if step else 0
            cold_iterations += cold.iterations if step else 0
    assert 3 * warm_iterations < cold_iterations


def test_a_start_from_another_program_does_no_harm(draw, assert_optimal):
    for seed in range(20):
        program = draw("dense", "everything", seed)
        other = program._replace(
            linear=-7.0 * program.linear,
            polyhedral=program.polyhedral._replace(coordinates=Pieces.of(program.dim, -1e3, 1e3)),
        )
        answer = solve_program(program, start=solve_program(other))
        assert answer.status is Status.SOLVED
        assert_optimal(program, answer)


def test_a_start_without_a_face_will_do(draw):
    program = draw("sparse", "everything", 3)
    answer = solve_program(program)
    assert solve_program(program, start=answer._replace(face=None)).iterations <= 2


def test_walls_that_move_are_followed():
    """The face is kept, not the point: walls may move with the program."""
    psi = Polyhedral.separable(Pieces.of(4, lower=[0.0, -1.0, 0.5, 0.0]))
    answer = None
    for shift in (0.0, 0.1, 0.2):
        moved = psi._replace(coordinates=psi.coordinates._replace(lower=psi.coordinates.lower + shift))
        answer = solve_program(Program(np.ones(4), np.ones(4), None, moved), start=answer)
        np.testing.assert_array_equal(answer.x, np.maximum(-1.0, moved.coordinates.lower))
    assert answer.iterations == 1


def test_a_start_of_another_size_is_refused(draw):
    program = draw("dense", "rows", 1)
    other = Program(np.ones(2), np.ones(2), None, Polyhedral.separable(Pieces.of(2)))
    with pytest.raises(ValueError, match="start must be the answer to a program of the same size"):
        solve_program(program, start=solve_program(other))
