"""The first few hundred random problems; `make fuzz` tries more."""

import pytest

from .claims import violations

SEEDS = 300


@pytest.mark.parametrize("seed", range(SEEDS))
def test_an_answer_keeps_what_it_claims(seed):
    words, wrong = violations(seed)
    assert not wrong, "\n".join([words, *wrong])
