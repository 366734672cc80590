"""The examples in the docstrings are true."""

import doctest
import importlib
import inspect

import pytest

import tether
import tether.objectives.losses

MODULES = [
    "",
    ".base",
    ".federation",
    ".finite_sum",
    ".glm",
    ".losses.base",
    ".losses.classes",
    ".losses.responses",
    ".quadratic",
    ".smoothness",
    ".weighted",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name):
    result = doctest.testmod(importlib.import_module("tether.objectives" + name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("room", [tether.objectives, tether.objectives.losses])
def test_every_public_name_has_an_example(room):
    for name in room.__all__:
        thing = getattr(room, name)
        if inspect.isclass(thing) or (inspect.isfunction(thing) and name.startswith("from_")):
            assert ">>>" in inspect.getdoc(thing), name


def test_lazy_attributes_are_as_their_example_says():
    import tether.lazy

    finder = doctest.DocTestFinder()
    examples = finder.find(tether.lazy.lazy, "lazy", module=tether.lazy)
    assert examples and doctest.DocTestRunner().run(examples[0]).failed == 0
