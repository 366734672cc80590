"""Curves that are made by hand, and experiments that are small enough to run in a moment."""

import numpy as np
import pytest

from tether.reproduce import outputs
from tether.reproduce.curves import Curve
from tether.reproduce.figures import constrained, federated, yardsticks
from tether.reproduce.problems import SIZES, Size
from tether.reproduce.task import Trace


def trace(rounds, values, answers=None):
    """A run that was looked at after some rounds."""
    rounds = np.asarray(rounds, dtype=float)
    table = dict.fromkeys(Trace.columns, rounds)
    table["iterate"] = np.asarray(values, dtype=float)
    table["value"] = np.asarray(values if answers is None else answers, dtype=float)
    return Trace(table)


@pytest.fixture
def curve():
    """Make a curve of F over rounds, a row of values a seed."""

    def make(label, rows, *, answers=None, best=0.0, rounds=None):
        rows = np.atleast_2d(np.asarray(rows, dtype=float))
        rounds = np.arange(1, rows.shape[1] + 1) if rounds is None else rounds
        answers = rows if answers is None else np.atleast_2d(np.asarray(answers, dtype=float))
        traces = tuple(trace(rounds, row, answer) for row, answer in zip(rows, answers, strict=True))
        return Curve(label, traces, best)

    return make


@pytest.fixture(scope="module")
def tiny():
    """Few digits, few rounds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SIZES, "digits", Size(160, 4, 8))
        patch.setitem(federated.EASY, "digits", (160, 3e-2))
        patch.setattr(federated, "WORKERS", 4)
        patch.setattr(federated, "FAR", (40, 80))
        patch.setattr(federated, "THETAS", (0.8, 0.9))
        patch.setattr(constrained, "THETAS", (0.8, 0.9))
        patch.setattr(federated, "INTERVALS", (5, 10))
        patch.setattr(constrained, "INTERVALS", (5, 10))
        few = classmethod(lambda cls, settings: cls(16, 2, 3.0))
        patch.setattr(constrained.Extent, "of", few)
        few_more = classmethod(lambda cls, settings: cls(10, 2, 3.0, 12))
        patch.setattr(federated.Extent, "of", few_more)
        patch.setattr(outputs, "DOTS", 40)
        for name in ("ProxSkip, E = 20", "Nesterov", "Newton"):
            patch.delitem(yardsticks.YARDSTICKS, name)
        yield
