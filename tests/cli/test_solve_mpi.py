"""The ranks of an MPI job solve together what one process solves, each from its own rows of the same file."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

BIN = str(Path(sys.executable).parent)
LAUNCHER = shutil.which("mpiexec.gforker", path=BIN) or shutil.which("mpiexec", path=BIN)
QUIET = {"UCX_TLS": "sm,self", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
SILENCE = 300.0  # seconds; a job takes a few
ATTEMPTS = 2  # MPICH now and then hangs before any rank has begun

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        LAUNCHER is None or importlib.util.find_spec("mpi4py") is None, reason="needs mpi4py and mpiexec"
    ),
]


def launch(*words, n=2):
    command = [LAUNCHER, "-n", str(n), sys.executable, "-m", "tether", "solve", *words]
    for _ in range(ATTEMPTS):
        job = subprocess.Popen(
            command, env=os.environ | QUIET, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            out, err = job.communicate(timeout=SILENCE)
            return subprocess.CompletedProcess(command, job.returncode, out, err)
        except subprocess.TimeoutExpired:
            job.terminate()  # which the launcher passes on to the ranks
            job.communicate(timeout=60)
    raise AssertionError(f"the job hung {ATTEMPTS} times")


def test_ranks_agree_with_one_process_and_only_the_first_speaks(folder, tether_solve):
    words = ("--target", "kind", "--loss", "multinomial", "--columns", "age_*,income", "--weights", "years")
    words += (
        "--l2",
        "0.1",
        "--intercept",
        "--expr",
        "sum == 0.5",
        "--expr",
        "income[good] <= -0.3",
        "--tol",
        "1e-9",
    )
    alone = tether_solve(*words, data=("--data", "t.csv")).answer
    done = launch("--data", "t.csv", *words, "--json", "--out", "coef.npz")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)  # one object: rank 1 is silent
    np.testing.assert_allclose(told["x"], alone["x"], atol=1e-4)
    assert (
        told["classes"] == ["bad", "fair", "good"]
        and told["n_samples"] == 120
        and (folder / "coef.npz").exists()
    )
    assert "MPI" in told["settings"]["engine"] and done.stderr.count("within tolerance") == 1


def test_what_one_rank_cannot_read_is_said_once_and_stops_all(folder):
    lines = (folder / "t.svm").read_text().splitlines()
    lines[100] = "1 1:x"  # of rank 1
    (folder / "t.svm").write_text("\n".join(lines))
    done = launch("--data", "t.svm", "--json")
    told = json.loads(done.stdout)  # one answer, of the rank that speaks
    assert done.returncode == told["exit_code"] == 2 and told["status"] == "bad_input"
    assert done.stderr.count("tether solve: t.svm, line 101: '1:x' has no finite number") == 1
