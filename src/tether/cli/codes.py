"""What a command answers the shell."""

from tether.run.solution import Status

SOLVED = 0
BAD_INPUT = 2
NO_ANSWER = 3  # infeasible, or unbounded below
STOPPED = 4  # before the accuracy that was asked for
INTERRUPTED = 130  # before there was anything to return


def code_of(status: Status) -> int:
    """Return the code of a run that ended so."""
    if status is Status.CONVERGED:
        return SOLVED
    return NO_ANSWER if status is Status.DIVERGED else STOPPED
