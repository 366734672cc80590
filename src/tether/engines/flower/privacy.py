"""What is done to vectors before they leave a node: clipping, Gaussian noise, fewer digits.

A walk reveals the change from its common start; that change is clipped to a norm and noise is added, once a
round and node. With noise, each round is one Gaussian mechanism about a whole node's data; the accountant of
the dp-accounting package adds up the rounds.
"""

import numpy as np

from tether.conversation import Array, Descend, Request
from tether.engines.flower.orders import Privacy
from tether.engines.worker import Local


def disguise(request: Request, local: Local, privacy: Privacy) -> Local:
    """Return local work as it may be seen; the node itself goes on with the same vectors."""
    if privacy.clip:
        check_private(request)
        assert isinstance(request, Descend)
        secret = np.random.default_rng()  # noise from the seed could be taken away again
        points = tuple(_clipped(request.start, point, privacy, secret) for point in local.points)
        local = local._replace(points=points)
    if privacy.single:
        rounded = tuple(point.astype(np.float32).astype(np.float64) for point in local.points)
        direction = local.direction
        if direction is not None:
            direction = direction.astype(np.float32).astype(np.float64)
        local = local._replace(points=rounded, direction=direction)
    return local


def check_private(request: Request) -> None:
    """Refuse requests whose answers clipping does not cover."""
    if not isinstance(request, Descend) or request.average is not None:
        raise ValueError(
            "privacy (clip) covers walks only, and this method also asks for gradients or averages: "
            'choose "proxskip", "scaffold" or DelayedSGD(output="last").'
        )


def _clipped(start: Array, point: Array, privacy: Privacy, rng: np.random.Generator) -> Array:
    change = point - start
    length = float(np.linalg.norm(change))
    if length > privacy.clip:
        change *= privacy.clip / length
    if privacy.noise:
        change += rng.normal(0.0, privacy.noise * privacy.clip, change.shape)
    return start + change


def epsilon(noise: float, rounds: int, delta: float) -> float:
    """Return epsilon of (epsilon, delta) privacy of a node's data after a number of rounds.

    ``noise`` is the standard deviation of the noise in units of the clipping norm. Neighbouring data sets
    differ in one node's contribution, present or absent.
    """
    from dp_accounting import GaussianDpEvent, SelfComposedDpEvent
    from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant()
    accountant.compose(SelfComposedDpEvent(GaussianDpEvent(noise), rounds))
    return float(accountant.get_epsilon(delta))
