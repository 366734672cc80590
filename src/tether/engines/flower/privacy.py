"""What is done to vectors before they leave a node: clipping, Gaussian noise, fewer digits.

A walk reveals the change from its common start; that change is clipped to a norm and noise is added, once a
round and node. With noise, each upload is one Gaussian mechanism about a whole node's data; the accountant of
the dp-accounting package adds them up. An upload counts when a node is asked for it: it may have been sent
though the round failed, the answer came too late or the server died, and then it is asked for again.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from tether.arrays import Array
from tether.engines.flower.messages import Privacy
from tether.engines.flower.precision import rounded
from tether.engines.local_work import Local
from tether.needs import Need
from tether.requests import Descend, Request

WALKS_ONLY = 'privacy (clip) covers walks only; choose "proxskip", "scaffold" or DelayedSGD(output="last").'


class Releases:
    """How many uploads with noise each worker was asked for.

    Parameters
    ----------
    workers : int
        n, the nodes that take part.
    noise : float
        Standard deviation of the noise in units of the clipping norm.
    checkpoint : path, optional
        Of the run: the numbers are kept in a file beside it, ``<checkpoint>.releases``, written before nodes
        are asked. It outlasts failures, and the checkpoint if that is deleted.
    """

    def __init__(self, workers: int, noise: float, checkpoint: str | Path | None = None) -> None:
        self.noise, self.counts = noise, [0] * workers
        self._path = None if checkpoint is None else Path(f"{checkpoint}.releases")
        if self._path is not None and self._path.exists():
            self.counts = self._read(self._path)
        elif self._path is not None and self._path.with_suffix("").exists():
            raise ValueError(
                f"checkpoint {str(checkpoint)!r} lacks its file {self._path.name!r}, which counts what nodes "
                "have revealed; put it back, or choose another checkpoint."
            )

    def count(self, workers: Iterable[int]) -> None:
        """Write down that workers are about to be asked."""
        for k in workers:
            self.counts[k] += 1
        if self._path is not None:
            part = self._path.with_name(f"{self._path.name}.part")
            part.write_text(json.dumps({"noise": self.noise, "releases": self.counts}))
            os.replace(part, self._path)

    def epsilon(self, delta: float) -> float:
        """Return epsilon of the worker that was asked most often."""
        return epsilon(self.noise, max(self.counts), delta)

    def _read(self, path: Path) -> list[int]:
        try:
            record = json.loads(path.read_text())
            noise, counts = float(record["noise"]), [int(number) for number in record["releases"]]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{str(path)!r}, which counts what nodes have revealed, is damaged ({error}); "
                "put a copy back, or choose another checkpoint."
            ) from error
        if noise != self.noise or len(counts) != len(self.counts):
            raise ValueError(
                f"{str(path)!r} counts uploads of {len(counts)} workers with noise={noise:g}, this run has "
                f"{len(self.counts)} with noise={self.noise:g}; keep them, or choose another checkpoint."
            )
        return counts


def protect(request: Request, local: Local, privacy: Privacy) -> Local:
    """Return local work as it may be seen; the node itself goes on with the same vectors."""
    if privacy.clip:
        check_private(request)
        assert isinstance(request, Descend)
        secret = np.random.default_rng()  # noise from the seed could be taken away again
        points = tuple(_clipped(request.start, point, privacy, secret) for point in local.points)
        local = local._replace(points=points)
    if privacy.single:
        direction = None if local.direction is None else rounded(local.direction)
        curvature = None if local.curvature is None else rounded(local.curvature)
        points = tuple(map(rounded, local.points))
        local = local._replace(points=points, direction=direction, curvature=curvature)
    return local


def what_privacy_lacks(privacy: Privacy) -> dict[Need, str]:
    """Return what methods cannot have from nodes that keep their losses and gradients to themselves."""
    return dict.fromkeys((Need.GRADIENTS, Need.AVERAGES), WALKS_ONLY) if privacy.clip else {}


def check_private(request: Request) -> None:
    """Refuse, on the node, requests whose answers clipping does not cover."""
    if not isinstance(request, Descend) or request.average is not None:
        raise ValueError(WALKS_ONLY)


def _clipped(start: Array, point: Array, privacy: Privacy, rng: np.random.Generator) -> Array:
    change = point - start
    length = float(np.linalg.norm(change))
    if length > privacy.clip:
        change *= privacy.clip / length
    if privacy.noise:
        change += rng.normal(0.0, privacy.noise * privacy.clip, change.shape)
    return start + change


def epsilon(noise: float, uploads: int, delta: float) -> float:
    """Return epsilon of (epsilon, delta) privacy of a node's data after a number of uploads.

    ``noise`` is the standard deviation of the noise in units of the clipping norm. Neighbouring data sets
    differ in one node's contribution, present or absent.
    """
    from dp_accounting import GaussianDpEvent, SelfComposedDpEvent
    from dp_accounting.rdp import RdpAccountant

    if uploads == 0:
        return 0.0
    accountant = RdpAccountant()
    accountant.compose(SelfComposedDpEvent(GaussianDpEvent(noise), uploads))
    return float(accountant.get_epsilon(delta))
