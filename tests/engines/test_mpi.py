"""Ranks of a real MPI job do what the workers of a Federation do, and never wait for each other in vain."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).with_name("mpi_ranks.py")
BIN = str(Path(sys.executable).parent)
LAUNCHER = shutil.which("mpiexec.gforker", path=BIN) or shutil.which("mpiexec", path=BIN)
#: Ranks talk through shared memory only; one thread each.
QUIET = {"UCX_TLS": "sm,self", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

SILENCE = 300.0  # seconds; a run of a few rounds takes one at most, on a busy machine ten

pytestmark = pytest.mark.timeout(3600)  # of all that share a job; a job that hangs is found before
needs_mpi = pytest.mark.skipif(
    LAUNCHER is None or importlib.util.find_spec("mpi4py") is None, reason="needs mpi4py and mpiexec"
)


def launch(folder, *checks, n=3, module=("-m", "mpi4py")):
    """Run ranks to their end, however long that takes, as long as they get on."""
    mark, command = folder / "progress", [LAUNCHER, "-n", str(n), sys.executable, *module]
    command += [str(SCRIPT), str(folder), *checks]
    for _ in range(2):
        mark.unlink(missing_ok=True)
        done = run_unless_silent(command, mark)
        if done.returncode is not None or mark.exists():  # MPICH now and then hangs before any rank has begun
            break
    assert done.returncode is not None, f"no rank got on for {SILENCE:g} s: {done.stderr}"
    return done


def run_unless_silent(command, mark):
    """Run a program that leaves a mark whenever it gets on; end it if it does not. Its code then is None."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        job = subprocess.Popen(command, env=os.environ | QUIET, stdout=out, stderr=err)
        started = time.time()
        while job.poll() is None and time.time() - last_mark(mark, started) < SILENCE:
            time.sleep(0.05)
        code = job.poll()
        if code is None:
            job.terminate()  # which the launcher passes on to the ranks; killed, it would leave them behind
            job.wait(60)
        texts = [file.read() for file in (out, err) if file.seek(0) == 0]
    return subprocess.CompletedProcess(command, code, *texts)


def last_mark(mark, started):
    return max(started, mark.stat().st_mtime) if mark.exists() else started


def outcomes(folder, *checks, n=3):
    done = launch(folder, *checks, n=n)
    assert done.returncode == 0, done.stderr
    return {check: json.loads((folder / f"{check}.json").read_text()) for check in checks}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("mpi")


@pytest.fixture(scope="module")
def job(folder):
    """One job of three ranks that does nearly everything."""
    return outcomes(
        folder, "agreement", "leading", "deciding", "refusals", "first_half", "interrupted", "page"
    )


# --- what ranks compute ----------------------------------------------------------------------------------


@pytest.fixture
def agreement(job):
    return job["agreement"]


RUNS = ["dp-svrg", "skip", "scaffold", "scaffold of two", "lbfgs", "newton", "newton of some samples"]


@needs_mpi
@pytest.mark.parametrize("name", RUNS)
def test_ranks_of_unequal_size_do_what_a_federation_does(agreement, name):
    run = agreement["runs"][name]
    for mine, theirs in zip(run["mpi"], run["federation"], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)
    assert run["counts"][0] == run["counts"][1]
    np.testing.assert_allclose(*run["losses"], rtol=1e-8)  # mixing stages magnifies rounding on the way


@needs_mpi
@pytest.mark.parametrize("name", RUNS)
def test_all_ranks_return_the_same_bits(agreement, name):
    assert agreement["runs"][name]["ranks are equal"]


@needs_mpi
def test_shards_are_even_and_together_all_samples(agreement):
    parts = agreement["parts"]
    assert sorted(map(len, parts)) == [16, 17, 17]
    assert sorted(i for part in parts for i in part) == list(range(50))


# --- who leads -------------------------------------------------------------------------------------------


@pytest.fixture
def leading(job):
    return job["leading"]


@needs_mpi
def test_only_rank_0_prints_writes_and_calls_back(leading):
    assert "max_rounds is used up" in leading["printed"][0]
    assert leading["printed"][1:] == ["", ""]
    assert leading["files"] == [["run.npz"], [], []]
    assert leading["calls"][0] > 5 and leading["calls"][1:] == [0, 0]


@needs_mpi
def test_rank_0_decides_when_a_run_is_over(leading):
    first, *others = leading["tolerant"]
    assert 2 < first < 100 and others == [first, first]
    assert leading["stopped"] == ["CALLBACK"] * 3
    assert leading["modest"] == ["CONVERGED"] * 3


@needs_mpi
def test_all_ranks_return_the_bits_that_rank_0_decided(job):
    point = np.array([0.1, np.nan, -np.inf]).tobytes().hex()
    assert job["deciding"]["values"] == [[0, "of rank 0", point, 0.0, ["of rank 0"]]] * 3


@needs_mpi
@pytest.mark.parametrize(
    ("raised", "message"),
    [
        ("value", "ValueError: no such setting"),
        ("file", "FileNotFoundError: [Errno 2] No such file or directory: 'run.npz'"),
        ("key", "RuntimeError: rank 0: KeyError: 'step'"),
        ("own", "RuntimeError: rank 0: LostError: gone"),
        ("interrupt", "KeyboardInterrupt: "),
        (
            "unpackable",
            "TypeError: value is a list, which cannot be packed; use arrays of numbers, numbers, ",
        ),
    ],
)
def test_all_ranks_raise_what_rank_0_raised(job, raised, message):
    told = job["deciding"]["failures"][raised]
    assert told[0].startswith(message)
    assert told == [told[0]] * 3


@needs_mpi
def test_each_rank_gets_its_own_memory_back_from_rank_0(job):
    duals = [None, [[1.0] * 3] * 2, [[2.0] * 3] * 2]
    assert job["deciding"]["memories"] == [[0.5, 3, rank, duals[rank]] for rank in range(3)]


@needs_mpi
def test_the_script_of_the_documentation_runs(job, folder):
    assert job["page"] == [[True, True], [True, False], [True, False]]
    assert (folder / "run.npz").exists()


# --- what is refused -------------------------------------------------------------------------------------


@pytest.fixture
def refusals(job):
    return job["refusals"]


@needs_mpi
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("dims", "ValueError: objectives must have one dimension: rank 0 has 4 and rank 2 has 5; give all"),
        (
            "l2",
            "ValueError: objectives may differ in their data only: l2 is 0.1 on rank 0 and 0.2 on rank 2;",
        ),
        ("loss", "data only: loss is 'Squared' on rank 0 and 'Huber' on rank 1; give all the same settings"),
        ("loss settings", "differ in their data only: delta is 1.0 on rank 0 and 2.0 on rank 1;"),
        ("intercept", "differ in their data only: fit_intercept is False on rank 0 and True on rank 1;"),
        (
            "names",
            "must name their columns alike, in the same order: rank 0 has 'a', 'b', 'c', 'd' and rank 2",
        ),
        ("kind", "RuntimeError: rank 1: TypeError: value.kind_values.0 is a list, which cannot be packed;"),
        ("seeds", "ValueError: ranks 0 and 1 run different settings (seed is 0 on rank 0 and 3 on rank 1);"),
        ("constraints", "ValueError: ranks 0 and 1 run different settings (projection is a vector of norm"),
        ("kinds", "(constraint is 'Affine' on rank 0 and 'Unconstrained' on rank 2); give every rank"),
        ("no data", "ValueError: rank 1 got no samples; use fewer ranks"),
        ("step sizes", "0 and 2 run different settings (step_size is 0.01 on rank 0 and 0.02 on rank 2)"),
        ("methods", "ValueError: ranks 0, 1 and 2 run different settings ("),
        ("starts", "ValueError: ranks 0 and 2 run different settings (point is a vector of norm"),
        ("fault", "RuntimeError: rank 2: OSError: the disk is gone"),
        ("nan", "ValueError: worker 1 reports a loss that is not a number"),
        ("federation", "RuntimeError: ranks 0, 1 and 2: TypeError: engine MPI() takes each rank's own"),
        ("folder", "cannot be written: name a file in an existing, writable folder."),
        ("size", "RuntimeError: MPI(size=4) needs 4 ranks but MPICH sees 3; start with the mpiexec of MPICH"),
        ("comm", "TypeError: comm must be a communicator such as mpi4py.MPI.COMM_WORLD, got 'world'."),
    ],
)
def test_all_ranks_refuse_in_the_same_words(refusals, wrong, message):
    told = refusals["told"][wrong]
    assert message in told[0]
    assert told == [told[0]] * 3


@needs_mpi
def test_a_rank_that_fails_elsewhere_in_a_run_stops_the_others(refusals):
    assert refusals["told"]["left"][1] == "ValueError: no such file"
    for text in refusals["told"]["left"][::2]:
        assert text == "RuntimeError: rank 1: ValueError: no such file"


@needs_mpi
def test_a_rank_that_fails_between_two_steps_by_hand_stops_the_others(refusals):
    first, second, third = refusals["told"]["by hand"]
    assert second == "ValueError: seen enough"
    assert first == third == "RuntimeError: rank 1: ValueError: seen enough"


@needs_mpi
def test_ranks_that_take_different_numbers_of_steps_by_hand_are_told(refusals):
    told = refusals["told"]["out of step"]
    assert (
        "ranks are no longer in step (ranks 0 and 2 to work on a request, rank 1 to end the run)" in told[0]
    )
    assert told == [told[0]] * 3


@needs_mpi
def test_a_callback_that_needs_the_other_ranks_is_an_error_on_all(refusals):
    assert all("rank 0 cannot use the engine while" in text for text in refusals["told"]["callback"])


@needs_mpi
def test_an_engine_works_again_after_a_refusal(refusals):
    assert refusals["afterwards"] == ["nothing"] * 3


@needs_mpi
def test_a_rank_that_raises_ends_the_job_with_its_message(tmp_path):
    done = launch(tmp_path, "crash", module=())  # plain python: nobody aborts the others
    assert done.returncode != 0
    assert "RuntimeError: rank 2: OSError: the disk is gone" in done.stderr


# --- checkpoints -----------------------------------------------------------------------------------------


@needs_mpi
def test_a_checkpoint_of_three_ranks_resumes_bit_for_bit_on_three(job, folder):
    resumed = outcomes(folder, "second_half")["second_half"]
    assert resumed == {name: [x] * 3 for name, x in job["first_half"].items()}


@pytest.fixture(scope="module")
def fewer(job, folder):
    return outcomes(folder, "fewer", n=2)["fewer"]


@needs_mpi
def test_a_checkpoint_of_three_ranks_is_refused_on_two(fewer):
    assert fewer[0].startswith("ValueError: checkpoint")
    assert fewer[1] == fewer[0]


@needs_mpi
def test_the_refusal_of_another_number_of_ranks_speaks_of_ranks(fewer):
    words = fewer[0].split(".npz'")[1]
    assert re.search(r"\b(ranks|workers)\b", words) and {"3", "2"} <= set(re.findall(r"\d+", words))
    assert "interval" not in words


@needs_mpi
def test_an_interrupt_of_one_rank_stops_all_at_the_same_round(job, folder):
    first, *others = job["interrupted"]
    assert first[0] == "INTERRUPTED" and first[1] > 1 and others == [first, first]
    assert (folder / "stopped.npz").exists()
