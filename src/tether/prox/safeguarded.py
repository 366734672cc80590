"""The quick algorithm, and where it gives up, the patient one."""

from collections.abc import Callable

from tether.arrays import Array
from tether.prox.base import Algorithm, NotConverged, Proximal


class Safeguarded(Algorithm):
    """An algorithm that is replaced where it does not converge.

    Parameters
    ----------
    quick : Algorithm
        What is tried first.
    patient : callable
        Builds what is asked when the first gives up.
    """

    def __init__(self, quick: Algorithm, patient: Callable[[], Algorithm]) -> None:
        self._quick, self._patient = quick, patient

    def at(self, z: Array, t: Array, start: Proximal | None) -> Proximal:
        """Return the prox of z by the first that finds it."""
        try:
            return self._quick.at(z, t, start)
        except NotConverged:
            return self._patient().at(z, t, start)
