"""The progress line: one last line on stderr when asked for, silence otherwise."""

import io
import math

import numba
import numpy as np
import pytest
from rich.console import Console

import tether
from tether.methods import Anderson, DelayedSVRG
from tether.run.progress import Live
from tether.run.solution import Counts, Row

OBJECTIVE = tether.Quadratic(matrix=np.diag([1.0, 2.0, 3.0]), linear=np.ones(3))
CONSTRAINT = tether.Affine(np.ones((1, 3)), [1.0])


def row(rounds, value=math.nan, gap=math.nan):
    counts = Counts(rounds, 0, rounds, rounds, 10 * rounds)
    return Row(*counts, rounds / 2, 0.1 * rounds, value, gap)


def on_a_terminal(width=120):
    return Console(file=io.StringIO(), force_terminal=True, width=width)


def test_a_quiet_run_prints_nothing(capfd):
    tether.solve(OBJECTIVE, CONSTRAINT, "nesterov")
    assert capfd.readouterr() == ("", "")


def test_a_verbose_run_ends_with_one_line_on_stderr(capfd):
    sol = tether.solve(OBJECTIVE, CONSTRAINT, Anderson(DelayedSVRG()), max_rounds=4, tol=0.0, verbose=True)
    out, err = capfd.readouterr()
    assert out == "" and err == f"Anderson(DelayedSVRG): {sol.message}\n"


def test_a_verbose_run_finds_the_same_point(capfd):
    loud, quiet = (
        tether.solve(OBJECTIVE, CONSTRAINT, "dp-svrg", verbose=verbose) for verbose in (True, False)
    )
    np.testing.assert_array_equal(loud.x, quiet.x)
    assert loud.counts == quiet.counts and capfd.readouterr().err


def test_a_verbose_run_that_fails_says_so_and_still_fails(capfd):
    def callback(result):
        raise RuntimeError("[bold]")

    with pytest.raises(tether.CallbackError):
        tether.solve(OBJECTIVE, CONSTRAINT, "nesterov", callback=callback, verbose=True)
    assert capfd.readouterr().err == "Nesterov: the run ended with an error\n"


def test_the_bar_shows_round_value_and_gap_and_leaves_one_line():
    console = on_a_terminal()
    live = Live(console)
    live.begin("DelayedSVRG")
    live.update(row(7, 0.25, 1e-3), 0.5)
    live._bar.refresh()
    live.end("max_rounds is used up")
    text = console.file.getvalue()
    assert "round 7  passes 3.5  F 0.25  gap <= 1.0e-03" in text
    assert text.rstrip().endswith("DelayedSVRG: max_rounds is used up")


def test_the_bar_keeps_the_last_measured_value_between_measurements(monkeypatch):
    console, now = on_a_terminal(), iter(range(1, 100))
    monkeypatch.setattr("tether.run.progress.time.monotonic", lambda: float(next(now)))
    live = Live(console)
    live.begin("DelayedSGD")
    live.update(row(1, 0.5), 0.1)
    live.update(row(2), 0.2)
    live._bar.refresh()
    live.end("done")
    assert "round 2  passes 1.0  F 0.5" in console.file.getvalue()


def test_the_bar_moves_a_few_times_a_second_at_most(monkeypatch):
    now = [1.0]
    monkeypatch.setattr("tether.run.progress.time.monotonic", lambda: now[0])
    live = Live(on_a_terminal())
    live.begin("Nesterov")
    for rounds, moment in ((1, 1.0), (2, 1.05), (3, 1.2)):
        now[0] = moment
        live.update(row(rounds), rounds / 10)
        shown = live._bar.tasks[0].completed
        assert shown == (0.3 if rounds == 3 else 0.1)
    live.end("done")


def test_brackets_in_a_message_are_printed_as_they_are():
    console = Console(file=io.StringIO())
    live = Live(console)
    live.begin("Nesterov")
    live.end("stopped by [red]nothing[/red]")
    assert console.file.getvalue() == "Nesterov: stopped by [red]nothing[/red]\n"


def compiled_while_live(function):
    """Return what the bar shows after a call of a function."""
    console = on_a_terminal()
    live = Live(console)
    live.begin("ProxSkipSVRG")
    function(1.0)
    live._bar.refresh()
    live.end("done")
    return console.file.getvalue()


def test_a_compilation_is_announced_when_it_happens_and_only_then():
    function = numba.njit(lambda x: 2.0 * x)
    assert "compiling, once for problems of this kind" in compiled_while_live(function)
    assert "compiling" not in compiled_while_live(function)


def test_nobody_hears_of_compilations_after_the_end():
    live = Live(on_a_terminal())
    live.begin("Nesterov")
    live.end("done")
    numba.njit(lambda x: 3.0 * x)(1.0)
    assert live._bar.tasks[0].fields["status"] == "starting"
