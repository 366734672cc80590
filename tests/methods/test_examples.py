"""The examples in the docstrings run as printed."""

import doctest
import importlib

import pytest

from tether import methods

PUBLIC = [
    thing for name in methods.__all__ if isinstance(thing := getattr(methods, name), type) and thing.__doc__
]
CHOICES = [kind for kind in PUBLIC if not kind.__module__.endswith(".base")]


@pytest.mark.parametrize("kind", CHOICES, ids=lambda kind: kind.__name__)
def test_every_method_has_an_example_that_runs_as_printed(kind):
    module = importlib.import_module(kind.__module__)
    (test,) = doctest.DocTestFinder(recurse=False).find(kind, kind.__name__, module=module)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0
