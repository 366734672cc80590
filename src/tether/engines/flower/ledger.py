"""What the server writes down of its workers' memory; it is part of a checkpoint."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple
from uuid import uuid4

import numpy as np

from tether.arrays import Array
from tether.engines.local_work import Upload
from tether.requests import Dual, Gradient, Request


class Ledger(NamedTuple):
    """Where each worker's memory stands, and its last gradient."""

    run: str  # a name that no other run has
    number: int  # exchanges so far
    versions: Array  # of each worker: the exchange after which its memory stands, 0 if it keeps none
    settled: tuple[tuple[Array, ...], ...]  # of each worker: the projected vectors of that exchange
    missed: tuple[tuple[Dual, ...], ...]  # of each worker: the duals of walks that went on without it since
    known: tuple[Upload | None, ...]  # of each worker: its last gradient

    @classmethod
    def blank(cls, workers: int) -> "Ledger":
        """Return the ledger of workers that have not worked yet."""
        return cls(uuid4().hex, 0, np.zeros(workers), ((),) * workers, ((),) * workers, (None,) * workers)

    def after(
        self,
        request: Request,
        uploads: Mapping[int, Upload],
        keeping: Iterable[int],
        projected: tuple[Array, ...],
    ) -> "Ledger":
        """Return the ledger after fresh uploads, some of them from workers that keep memory."""
        versions, settled, known = self.versions.copy(), list(self.settled), list(self.known)
        missed = self._with_absentees(request, uploads)
        for k in keeping:
            versions[k], settled[k], missed[k] = self.number, projected, ()
        if isinstance(request, Gradient):
            for k, upload in uploads.items():
                known[k] = upload
        ledger = self._replace(versions=versions, settled=tuple(settled), missed=tuple(missed))
        return ledger._replace(known=tuple(known))

    def _with_absentees(self, request: Request, uploads: Mapping[int, Upload]) -> list[tuple[Dual, ...]]:
        """Return what workers missed: where past duals are mixed, the absent have to repeat theirs."""
        if isinstance(request, Gradient) or request.dual is None or request.dual.keep == 1:
            return list(self.missed)
        return [kept if k in uploads else (*kept, request.dual) for k, kept in enumerate(self.missed)]
