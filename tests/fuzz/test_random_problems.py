"""The first two hundred random problems and some that once failed; `make fuzz` tries more."""

import pytest

from .claims import violations

SEEDS = range(200)
# A dual that drifted, a loss run by its parent's kernel, no curvature (twice), a loss given another's
# curvature, a run that never came to an end.
FOUND = (425, 437, 927, 1006, 1741, 2470)


@pytest.mark.parametrize("seed", [*SEEDS, *FOUND])
def test_an_answer_keeps_what_it_claims(seed):
    words, wrong = violations(seed)
    assert not wrong, "\n".join([words, *wrong])
