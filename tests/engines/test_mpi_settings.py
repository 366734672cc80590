"""Settings of ranks are compared bit by bit, and where bits differ up to rounding."""

import numpy as np
import pytest

from tether.engines.mpi.settings import (
    VectorSummary,
    alike,
    difference,
    digest,
    parts_of,
    ranks_in_words,
    summary,
)
from tether.polyhedral import Pieces
from tether.requests import Descend, Dual, Gradient

START = np.linspace(-1.0, 2.0, 5)
REQUEST = Descend(START, 5, 0.1, 3, clock=7, dual=Dual(0.5, np.array([0.25, 0.75])))


def test_a_request_falls_into_named_parts():
    parts = parts_of(REQUEST)
    assert (parts["request"], parts["steps"], parts["dual"], parts["dual.rate"]) == (
        "Descend",
        5,
        "Dual",
        0.5,
    )
    assert parts["start"] is START


@pytest.mark.parametrize(
    "change",
    [
        {"steps": 6},
        {"step_size": np.nextafter(0.1, 1)},
        {"start": START + np.array([0, 0, 0, 0, 1e-15])},
        {"dual": Dual(0.5)},
        {"anchor": START},
        {"start": START[::-1]},
        {"start": START[[0, 2, 1, 3, 4]]},
    ],
)
def test_digests_differ_in_the_last_bit(change):
    assert digest(parts_of(REQUEST._replace(**change))) != digest(parts_of(REQUEST))
    assert digest(parts_of(REQUEST._replace(start=START.copy()))) == digest(parts_of(REQUEST))


def test_rounding_is_no_difference_but_a_setting_is():
    rounded = REQUEST._replace(start=START * (1 + 1e-15), step_size=0.1 * (1 + 1e-15))
    assert difference([summary(parts_of(REQUEST)), summary(parts_of(rounded))]) == ""
    changed = [REQUEST, rounded, REQUEST._replace(dual=Dual(0.25, REQUEST.dual.weights))]
    assert (
        "ranks 0 and 2 run different settings (dual.rate is 0.5 on rank 0 and 0.25 on rank 2)"
        in difference([summary(parts_of(request)) for request in changed])
    )
    other = [summary(parts_of(REQUEST)), summary(parts_of(Gradient(START)))]
    assert "(request is 'Descend' on rank 0 and 'Gradient' on rank 1)" in difference(other)


def test_vectors_of_equal_norm_are_told_apart():
    assert not alike(VectorSummary.of(START), VectorSummary.of(START[::-1]))
    assert not alike(VectorSummary.of(START), VectorSummary.of(-START))
    assert alike(VectorSummary.of(np.full(3, np.nan)), VectorSummary.of(np.full(3, np.nan)))


def test_walls_are_told_apart_also_where_some_are_infinite():
    request = REQUEST._replace(pieces=Pieces.of(5, lower=np.array([-np.inf, 0.0, 0.0, 0.0, -1.0])))
    rounded = request._replace(pieces=request.pieces._replace(lower=request.pieces.lower * (1 + 1e-15)))
    other = request._replace(pieces=request.pieces._replace(lower=request.pieces.lower - np.eye(5)[2]))
    moved = request._replace(pieces=request.pieces._replace(lower=request.pieces.lower[[1, 0, 2, 3, 4]]))
    first = summary(parts_of(request))
    assert difference([first, summary(parts_of(rounded))]) == ""
    for different in (other, moved, request._replace(pieces=Pieces.of(5))):
        assert "(pieces.lower is a vector of norm" in difference([first, summary(parts_of(different))])


def test_ranks_are_listed_in_words():
    assert [ranks_in_words(few) for few in ([1], [0, 2], [0, 1, 2])] == [
        "rank 1",
        "ranks 0 and 2",
        "ranks 0, 1 and 2",
    ]
