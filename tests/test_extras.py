"""Without an extra its parts are missing with a sentence, and the rest works."""

import subprocess
import sys

import pytest

from tether.extras import MissingExtra, extra

WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
import numpy, tether
print("IMPORTED", [name for name in ("plotly", "matplotlib", "pandas") if name in sys.modules])
sol = tether.solve(tether.Quadratic(matrix=numpy.eye(2)))
print(sol)
for act in (lambda: sol.report("page.html"), sol.plot, lambda: tether.report):
    try:
        act()
    except ImportError as error:
        print("SAID", error)
"""


@pytest.mark.parametrize("missing", ["plotly", "matplotlib"])
def test_without_the_packages_of_a_report_it_says_what_to_install(missing, tmp_path):
    program = [sys.executable, "-c", WITHOUT.format(missing=missing)]
    done = subprocess.run(program, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout.count(f"SAID {missing} is missing; pip install 'tether[report]'.") == 3
    assert "IMPORTED []" in done.stdout and "Solved" in done.stdout and not list(tmp_path.iterdir())


def test_a_mistake_of_our_own_is_not_taken_for_a_missing_package():
    with pytest.raises(ModuleNotFoundError, match="no_such_room") as error:
        extra("report", "tether.no_such_room")
    assert not isinstance(error.value, MissingExtra)
