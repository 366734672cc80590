"""The examples in the docstrings run as printed."""

import doctest
import sys

import pytest

import tether  # noqa: F401  (loads the modules below)


@pytest.mark.parametrize("module", ["tether.solve", "tether.run.solution"])
def test_the_examples_of_a_module_run_as_printed(module):
    results = doctest.testmod(sys.modules[module], raise_on_error=True)
    assert results.failed == 0 and results.attempted > 0
