"""Which samples a step sees: a pure function of seed, worker and clock.

Samples form one endless stream per worker, a fresh permutation of the data for every pass. A walk that starts
after t steps of b samples reads the stream from position t b. So the same run cut into other rounds, resumed,
or carried by another engine draws the same samples, and no generator state has to be kept.
"""

from typing import NamedTuple

import numpy as np

from tether.arrays import Indices


class Stream(NamedTuple):
    """Where the samples of a worker come from."""

    seed: int
    worker: int
    n_samples: int
    replacement: bool


class Pass(NamedTuple):
    """The order in which one pass sees the samples."""

    stream: Stream
    number: int
    order: Indices


def batches(
    stream: Stream, *, clock: int, steps: int, batch_size: int, known: Pass | None = None
) -> tuple[Indices, Pass]:
    """Return the sample numbers of the next steps, one row a step, and the pass in which they end.

    Short walks see the same pass many times: hand in as ``known`` what the walk before returned.
    """
    begin = clock * batch_size
    end = begin + steps * batch_size
    numbers = range(begin // stream.n_samples, (end - 1) // stream.n_samples + 1)
    passes = [_one_pass(stream, number, known) for number in numbers]
    joined = passes[0].order if len(passes) == 1 else np.concatenate([one.order for one in passes])
    offset = numbers.start * stream.n_samples
    return joined[begin - offset : end - offset].reshape(steps, batch_size), passes[-1]


def _one_pass(stream: Stream, number: int, known: Pass | None) -> Pass:
    if known is not None and (known.stream, known.number) == (stream, number):
        return known
    rng, n = np.random.default_rng([stream.seed, stream.worker, number]), stream.n_samples
    order = rng.integers(n, size=n) if stream.replacement else rng.permutation(n)
    order.setflags(write=False)
    return Pass(stream, number, order)
