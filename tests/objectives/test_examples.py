"""The examples in the docstrings are true."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["", ".glm", ".quadratic", ".finite_sum"])
def test_examples_print_what_they_say(name):
    result = doctest.testmod(importlib.import_module("tether.objectives" + name))
    assert result.attempted > 0
    assert result.failed == 0
