"""Try many seeds on all cores."""

import multiprocessing
import os
import signal
import time

from .claims import violations
from .problems import random_problem

PATIENCE = 300  # seconds after which a problem that takes a fraction of one counts as hanging


class Hanging(BaseException):
    """No answer came; not a KeyboardInterrupt, which a run answers with its best point."""


def search(seeds, everything):
    """Try all seeds; return those that failed, the first only unless everything is wanted."""
    began, failed = time.monotonic(), []
    with multiprocessing.get_context("spawn").Pool(min(len(seeds), os.cpu_count())) as pool:
        for done, (seed, words, wrong) in enumerate(pool.imap(attempt, seeds), start=1):
            if wrong:
                failed.append(seed)
                _show(seed, words, wrong)
            if wrong and not everything:
                break
            if done % 100 == 0:
                rate = done / (time.monotonic() - began)
                print(f"{done} of {len(seeds)}, {len(failed)} failed, {rate:.1f} a second", flush=True)
    return failed


def attempt(seed):
    """Return the seed, the problem in words and what is wrong; a run that hangs is wrong too."""
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(PATIENCE)
    try:
        return seed, *violations(seed)
    except Hanging as error:
        return seed, random_problem(seed).words, [str(error)]
    finally:
        signal.alarm(0)


def _give_up(signum, frame):
    raise Hanging(f"no answer after {PATIENCE} s")


def _show(seed, words, wrong):
    print(f"seed {seed}: {words}")
    print(*(f"  {sentence}" for sentence in wrong), sep="\n")
    print(f"  again: make fuzz N=1 SEED={seed}", flush=True)
