"""The examples in the docstrings run as printed."""

import doctest
import importlib

import pytest

from tether import methods
from tether.methods import Method, StageWise

PUBLIC = [getattr(methods, name) for name in methods.__all__]
METHODS = [
    kind
    for kind in PUBLIC
    if isinstance(kind, type) and issubclass(kind, Method) and kind not in (Method, StageWise)
]


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_every_method_has_an_example_that_runs_as_printed(kind):
    module = importlib.import_module(kind.__module__)
    (test,) = doctest.DocTestFinder(recurse=False).find(kind, kind.__name__, module=module)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0
