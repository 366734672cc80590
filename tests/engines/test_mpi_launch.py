"""How an MPI job is started: late, with the right launcher, or with an error that names the remedy."""

import importlib.util
import os
import subprocess
import sys

import pytest

QUIET = {"UCX_TLS": "sm,self", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | QUIET | environment, capture_output=True, text=True
    )


@pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="needs mpi4py")
def test_a_launcher_of_another_mpi_is_found_out_unless_one_rank_is_meant():
    code = "from tether.engines import MPI; print(MPI(size=1).leads); MPI()"
    done = run_python(code, OMPI_COMM_WORLD_SIZE="3")
    assert done.stdout == "True\n" and done.returncode != 0
    assert (
        "Open MPI started 3 processes (OMPI_COMM_WORLD_SIZE=3) but mpi4py talks to MPICH, which sees 1; "
        "start with the mpiexec of MPICH"
    ) in done.stderr


def test_mpi4py_is_imported_late_and_if_missing_named_with_the_remedy():
    early = "import sys, tether; print('mpi4py' in sys.modules); sys.modules['mpi4py'] = None"
    done = run_python(early + "; tether.engines.MPI()")
    assert done.stdout == "False\n"
    assert "ImportError: engine MPI() needs mpi4py: pip install 'tether[mpi]'." in done.stderr
