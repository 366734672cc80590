"""What is packed comes out again: every leaf with its type and its bits, in the classes it had."""

import ast
import doctest
import enum
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import tether
from tether import packing
from tether.packing import flatten, from_bytes, restore, to_bytes
from tether.polyhedral import Pieces
from tether.requests import Descend


class Inner(NamedTuple):
    rate: float
    weights: np.ndarray | None = None


class Outer(NamedTuple):
    x: np.ndarray
    count: int
    done: bool
    word: str
    inner: Inner | None
    many: tuple[Inner, ...]
    state: Any = None  # whose class only a template knows


FULL = Outer(
    x=np.array([1.0, -0.0, np.nan, np.inf]),
    count=3,
    done=True,
    word="größer\n",
    inner=Inner(0.1, np.arange(6.0).reshape(2, 3)[:, ::2]),
    many=(Inner(-math.inf), Inner(2.0, np.zeros((0, 4)))),
    state=Inner(math.nan),
)


def assert_same(one, other):
    """Equal types and bits all the way down."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        assert one.tobytes() == other.tobytes()
    elif isinstance(one, tuple):
        assert len(one) == len(other)
        for mine, theirs in zip(one, other, strict=True):
            assert_same(mine, theirs)
    else:
        assert one == other or (one != one and other != other)


def through_arrays(value, like):
    """Pack and unpack as checkpoints do."""
    arrays = {}
    kinds = flatten("run", value, arrays)
    return restore("run", kinds, arrays, like, type(like))


@pytest.mark.parametrize("way", [lambda value, like: from_bytes(to_bytes(value), like), through_arrays])
def test_nested_named_tuples_come_back_bit_for_bit(way):
    assert_same(way(FULL, FULL), FULL)
    assert_same(way(FULL._replace(inner=None, many=()), FULL), FULL._replace(inner=None, many=()))


def test_a_class_serves_as_template_where_its_fields_have_types():
    value = FULL._replace(state=None)
    assert_same(from_bytes(to_bytes(value), Outer), value)


def test_a_template_gives_the_class_of_what_it_does_not_hold_itself():
    """A rank that holds one memory reads a tuple of them."""
    mine = FULL._replace(state=Inner(0.0))
    everybody = FULL._replace(state=(Inner(1.0), Inner(2.0, np.ones(2))))
    assert_same(from_bytes(to_bytes(everybody), mine), everybody)


@pytest.mark.parametrize(
    "leaf",
    [
        0.1,
        5e-324,
        1.7976931348623157e308,
        -0.0,
        math.nan,
        math.inf,
        -math.inf,
        True,
        -3,
        2**63,
        -(2**200),
        "",
        "a 'word'",
        None,
        np.arange(5, dtype=np.float32) / 3,
        np.arange(-2, 3, dtype=np.int8),
        np.array([True, False]),
        np.array(2.5),
        np.zeros((3, 0, 2)),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        (),
    ],
    ids=repr,
)
def test_leaves_come_back_bit_for_bit(leaf):
    back = from_bytes(to_bytes(leaf), None)
    assert_same(back, leaf)
    assert_same(through_arrays(leaf, None), leaf)
    if isinstance(leaf, float):
        assert math.copysign(1.0, back) == math.copysign(1.0, leaf) or math.isnan(leaf)


def test_a_walk_takes_its_pieces_along():
    pieces = Pieces.of(3, lower=np.array([0.0, -np.inf, -1.0]), right=0.5)
    request = Descend(np.arange(3.0), 4, 0.1, 2, pieces=pieces)
    for back in (
        from_bytes(to_bytes(request), Descend),
        through_arrays(request, Descend(np.zeros(3), 1, 0.1, 1)),
    ):
        assert_same(back, request)


def test_a_tuple_of_named_tuples_needs_only_its_type():
    value = (Inner(1.0), Inner(2.0, np.ones(3)))
    assert_same(from_bytes(to_bytes(value), tuple[Inner, ...]), value)


def test_numbers_of_numpy_come_back_as_those_of_python():
    assert_same(from_bytes(to_bytes(Inner(np.float32(0.1))), Inner), Inner(float(np.float32(0.1))))


def test_arrays_of_a_buffer_can_be_computed_with_and_written_to():
    value = ("x" * 3, np.arange(3, dtype=np.int8), np.arange(4.0))
    _, _, numbers = from_bytes(to_bytes(value), None)
    numbers += 1.0
    assert numbers.flags.aligned and numbers.tolist() == [1.0, 2.0, 3.0, 4.0]


class Colour(enum.IntEnum):
    RED = 1


@pytest.mark.parametrize("leaf", [[1.0], b"ab", {"a": 1}, np.array([None]), object()])
def test_what_would_come_back_as_something_else_is_refused(leaf):
    with pytest.raises(TypeError, match=r"^value\.rate is a \w+, which cannot be packed; use arrays"):
        to_bytes(Inner(leaf))


def test_a_number_with_a_name_comes_back_as_the_number():
    assert from_bytes(to_bytes(Inner(Colour.RED)), Inner).rate == Colour.RED


def test_a_buffer_that_is_cut_off_is_an_error():
    with pytest.raises(TypeError):
        from_bytes(to_bytes(FULL)[:-16], FULL)


PICKLING = {"bcast", "gather", "allgather", "scatter", "alltoall", "send", "recv", "reduce", "allreduce"}


def test_nothing_is_pickled():
    """Nor by mpi4py, whose methods in small letters pickle; those that begin with a capital take buffers."""
    for path in Path(tether.__file__).parent.rglob("*.py"):
        used = {name for node in ast.walk(ast.parse(path.read_text())) for name in _names_used(node)}
        between_ranks = PICKLING if path.parent.name == "mpi" else set()
        assert not used & ({"pickle", "cloudpickle"} | between_ranks), path.name


def _names_used(node):
    """Return the modules that a node imports and the attribute that it reads."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.attr] if isinstance(node, ast.Attribute) else [getattr(node, "module", None)]


def test_the_examples_run():
    assert doctest.testmod(packing, raise_on_error=True).attempted > 0
