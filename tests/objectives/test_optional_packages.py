"""The package works without JAX and PyTorch until they are asked for."""

import subprocess
import sys

import pytest


def _run(code):
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_importing_the_objectives_imports_neither_package():
    code = "import sys, tether.objectives; print([name for name in ('jax', 'torch') if name in sys.modules])"
    assert _run(code).strip() == "[]"


@pytest.mark.parametrize("package", ["jax", "torch"])
def test_a_missing_package_is_named_with_the_command_that_installs_it(package):
    code = (
        f"import sys; sys.modules['{package}'] = None\n"
        f"from tether.objectives import from_{package}\n"
        f"try: from_{package}(None, None, None)\n"
        "except ImportError as error: print(error)"
    )
    assert f'pip install "tether[{package}]"' in _run(code)
