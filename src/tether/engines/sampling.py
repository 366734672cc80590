"""Which samples a step sees: a pure function of seed, worker and clock.

Samples form one endless stream per worker, a fresh permutation of the data for every pass. A walk that starts
after t steps of b samples reads the stream from position t b. So the same run cut into other rounds, resumed,
or carried by another engine draws the same samples, and no generator state has to be kept.
"""

import numpy as np

from tether.objectives.walk import Indices


def batches(
    seed: int, worker: int, n_samples: int, *, clock: int, steps: int, batch_size: int, replacement: bool
) -> Indices:
    """Return the sample numbers of the next steps, one row a step."""
    begin = clock * batch_size
    end = begin + steps * batch_size
    passes = range(begin // n_samples, (end - 1) // n_samples + 1)
    stream = [_one_pass(seed, worker, n_samples, number, replacement) for number in passes]
    offset = passes.start * n_samples
    joined = stream[0] if len(stream) == 1 else np.concatenate(stream)
    return joined[begin - offset : end - offset].reshape(steps, batch_size)


def _one_pass(seed: int, worker: int, n_samples: int, number: int, replacement: bool) -> Indices:
    """Return the order of one pass; the last two of every worker are kept."""
    place, key = (worker, number % 2), (seed, n_samples, number, replacement)
    known = _orders.get(place)
    if known is not None and known[0] == key:
        return known[1]
    rng = np.random.default_rng([seed, worker, number])
    order = rng.integers(n_samples, size=n_samples) if replacement else rng.permutation(n_samples)
    order.setflags(write=False)
    _orders[place] = (key, order)
    return order


_orders: dict[tuple[int, int], tuple[tuple[int, int, int, bool], Indices]] = {}
