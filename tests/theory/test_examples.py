"""The examples in the docstrings say what happens."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("module", ["acceleration", "choice", "rates", "setting", "steps"])
def test_docstring_examples_run(module):
    outcome = doctest.testmod(importlib.import_module(f"tether.theory.{module}"))
    assert outcome.attempted > 0
    assert outcome.failed == 0
