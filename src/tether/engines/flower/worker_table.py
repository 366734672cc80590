"""What the server knows of its workers' memory, a row a worker; it is part of a checkpoint."""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from uuid import uuid4

import numpy as np

from tether.arrays import Array
from tether.engines.uploads import Upload
from tether.requests import Dual, Gradient, Request


class WorkerTable(NamedTuple):
    """Where each worker's memory stands, and its last gradient."""

    run: str  # a name that no other run has
    number: int  # exchanges so far
    versions: Array  # of each worker: the exchange after which its memory stands, 0 if it keeps none
    settled: tuple[tuple[Array, ...], ...]  # of each worker: the projected vectors of that exchange
    scaled: Array  # of each worker: the factor by which its vector of that exchange was shortened
    missed: tuple[tuple[Dual, ...], ...]  # of each worker: the duals of walks that went on without it since
    known: tuple[Upload | None, ...]  # of each worker: its last gradient

    @classmethod
    def blank(cls, workers: int) -> "WorkerTable":
        """Return the table of workers that have not worked yet."""
        return cls(
            run=uuid4().hex,
            number=0,
            versions=np.zeros(workers),
            settled=((),) * workers,
            scaled=np.ones(workers),
            missed=((),) * workers,
            known=(None,) * workers,
        )

    def after(
        self,
        request: Request,
        uploads: Mapping[int, Upload],
        keeping: Iterable[int],
        projected: tuple[Array, ...],
        factors: Mapping[int, float],
    ) -> "WorkerTable":
        """Return the table after fresh uploads, some shortened, some from workers that keep memory."""
        versions, settled, scaled = self.versions.copy(), list(self.settled), self.scaled.copy()
        missed, known = self._with_absentees(request, uploads), list(self.known)
        for k in keeping:
            versions[k], settled[k], missed[k] = self.number, projected, ()
            scaled[k] = factors.get(k, 1.0)
        if isinstance(request, Gradient):
            for k, upload in uploads.items():
                known[k] = upload._replace(curvature=None) if math.isfinite(upload.value) else known[k]
        table = self._replace(versions=versions, settled=tuple(settled), scaled=scaled)
        return table._replace(missed=tuple(missed), known=tuple(known))

    def _with_absentees(self, request: Request, uploads: Mapping[int, Upload]) -> list[tuple[Dual, ...]]:
        """Return what workers missed: where past duals are mixed, the absent have to repeat theirs."""
        if isinstance(request, Gradient) or request.dual is None or request.dual.keep == 1:
            return list(self.missed)
        return [kept if k in uploads else (*kept, request.dual) for k, kept in enumerate(self.missed)]
