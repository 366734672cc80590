"""Pictures of runs with matplotlib."""

import numpy as np
import pytest

from tether.report import plot


def test_a_solution_draws_its_certified_gap_against_projections(solutions):
    sol = solutions["nesterov"]
    (axes,) = sol.plot().axes
    (line,) = axes.lines
    measured = np.isfinite(sol.history["gap"])
    np.testing.assert_array_equal(line.get_xdata(), sol.history["projections"][measured])
    np.testing.assert_array_equal(line.get_ydata(), sol.history["gap"][measured])
    assert axes.get_ylabel() == "certified gap" and axes.get_xlabel() == "projections"
    assert axes.get_yscale() == "log" and line.get_label() == "Nesterov's method"


@pytest.mark.parametrize("show", ["gap", "excess", "value", "slope", "residual"])
@pytest.mark.parametrize("against", ["rounds", "projections", "passes", "seconds"])
def test_every_measure_can_be_drawn_against_every_cost(solutions, show, against):
    (axes,) = plot(solutions, against=against, show=show).axes
    assert len(axes.lines) == len(solutions)
    for line, sol in zip(axes.lines, solutions.values(), strict=True):
        known = np.isfinite(sol.history["value" if show == "excess" else show])
        np.testing.assert_array_equal(line.get_xdata(), sol.history[against][known])


def test_a_known_optimum_makes_true_gaps_and_a_line(solutions):
    best = solutions["auto"].fun - 1e-3
    (axes,) = plot(solutions, show="excess", best=best).axes
    assert axes.get_ylabel() == "F(x) - F*" and min(axes.lines[0].get_ydata()) == pytest.approx(1e-3)
    (axes,) = plot(solutions, show="value", best=best).axes
    assert axes.lines[-1].get_ydata()[0] == best and axes.get_yscale() == "linear"


def test_without_certificates_the_slope_is_drawn(data):
    import tether

    sol = tether.solve(tether.GLM(*data), method="nesterov", max_rounds=6)
    assert sol.gap is None and sol.plot().axes[0].get_ylabel() == "||P grad F(x)||"


def test_a_picture_is_written_in_the_format_of_its_name(tmp_path, solutions):
    figure = solutions["auto"].plot(tmp_path / "run.svg", against="seconds")
    assert (tmp_path / "run.svg").read_text().startswith("<?xml") and figure.axes
