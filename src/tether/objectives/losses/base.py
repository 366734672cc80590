"""What a loss of one prediction z against one label y has to say of itself.

A loss is a function of the prediction alone. The design matrix turns it into a function of x: the gradient of
sample i is slope_i a_i, and its curvature is at most ``curvature`` ||a_i||^2. Nothing is concluded from the
class of a loss: its constants are what it declares, and those of a class belong to the functions that were
written beside them.
"""

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tether.arrays import Array
from tether.digest import digest_of
from tether.inputs import vector

Labels = NDArray[Any]

_FUNCTIONS = ("values", "slopes", "curvatures")
_CONSTANTS = ("curvature", "convexity", "concordance")
_SAMPLES = 4096  # labels that tell the best constant
_LARGEST_PREDICTION = 1e9  # a prediction beyond which no best constant is looked for
_HALVINGS = 60


class Loss(ABC):
    """A smooth loss(z, y) of a prediction, vectorised over samples: the base of losses of your own.

    Derive from it, write ``values``, ``slopes`` and ``curvatures``, and hand an object of the class to
    `tether.GLM`. All three take the predictions z of some samples and their labels y, and treat every sample
    by itself. `GLM` compares them with each other at a few predictions before it believes them.

    Attributes
    ----------
    curvature : float
        A bound on the size of the second derivative in z that holds everywhere. Infinite, the default, means
        that there is none or that it is not known: then curvatures near 0 and near the best constant
        prediction are taken, with a margin.
    convexity : float
        A lower bound >= 0 on the second derivative, 0 by default. Where both constants are equal the loss is
        quadratic, and problems with equations are solved directly.
    concordance : float
        A number R with |third derivative| <= R second derivative everywhere: then the second derivative
        falls by no more than exp(-R t) over a distance t, and gaps are certified from curvature. With several
        outputs the same along every line of length 1. Infinite, the default, means that none is known.
    domain : pair of floats
        The open interval of predictions at which the loss is finite; all of them by default.

    Notes
    -----
    A class that writes one of the three functions anew and declares no constants has the defaults, also if
    the class that it derives from had better ones. The same holds for ``hessians``, ``mixed`` and
    ``majorants``.

    Examples
    --------
    >>> import numpy as np, tether
    >>> from tether.objectives.losses import Loss
    >>> class Quartic(Loss):
    ...     def values(self, z, y):
    ...         return (z - y) ** 4 / 4
    ...     def slopes(self, z, y):
    ...         return (z - y) ** 3
    ...     def curvatures(self, z, y):
    ...         return 3 * (z - y) ** 2
    >>> objective = tether.GLM(np.eye(2), [1.0, 2.0], Quartic(), l2=0.1)
    >>> objective.value(np.zeros(2))
    2.125
    """

    curvature: float = math.inf
    convexity: float = 0.0
    concordance: float = math.inf
    domain: tuple[float, float] = (-math.inf, math.inf)
    words: str = ""  # what a linear model with this loss is called

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if any(function in cls.__dict__ for function in _FUNCTIONS):
            for name in (*_CONSTANTS, "hessians", "mixed", "majorants", "words"):
                if name not in cls.__dict__:
                    setattr(cls, name, getattr(Loss, name))

    def kind(self) -> dict[str, str | float | int | bool]:
        """Return which loss this is, with its settings: workers of a federation must have the same.

        Settings are the attributes that are numbers, texts or arrays; an array whose name begins with an
        underscore is taken for a buffer and left out.
        """
        buffers = {n for n, value in vars(self).items() if n[0] == "_" and isinstance(value, np.ndarray)}
        settings = {name: _plain(value) for name, value in vars(self).items() if name not in buffers}
        known = {name: value for name, value in settings.items() if value is not None}
        return {"loss": type(self).__name__} | known

    def prepare(self, y: Any) -> Labels:
        """Return the labels in the form the other functions take, or refuse them; here, as floats."""
        return vector("y", y)

    def n_outputs(self, y: Labels) -> int:
        """Return how many numbers predict one sample."""
        return 1

    @abstractmethod
    def values(self, z: Array, y: Labels) -> Array:
        """Return the loss of every sample."""

    @abstractmethod
    def slopes(self, z: Array, y: Labels) -> Array:
        """Return the derivative of every sample's loss in its prediction, in the shape of z."""

    @abstractmethod
    def curvatures(self, z: Array, y: Labels) -> Array:
        """Return the second derivative of every sample's loss in its prediction, in the shape of z.

        With several outputs: the diagonal of the matrix of second derivatives.
        """

    def values_and_slopes(self, z: Array, y: Labels) -> tuple[Array, Array]:
        """Return both, which may have much in common; only the library's own losses are asked for this."""
        return self.values(z, y), self.slopes(z, y)

    def hessians(self, z: Array, y: Labels) -> Array | None:
        """Return the matrix of second derivatives of every sample's loss, (n, K, K); None: not known.

        For losses with several outputs, whose ``curvatures`` are its diagonals; with one they are all.
        """
        return None

    def mixed(self, z: Array, y: Labels) -> Array | None:
        """Return u, in the shape of z, if every sample's Hessian has -u_k u_l off its diagonal; else None.

        Its rows must sum to 0. That makes Hessians of all variables several times as quick to sum.
        """
        return None

    def majorants(self, z: Array, y: Labels) -> Array | None:
        """Return curvatures of parabolas that touch every sample's loss at z and lie above it; None: unknown.

        Where steps by second derivatives lead too far, Newton's method takes these instead.
        """
        return None

    def floors(self, y: Labels) -> Array | float:
        """Return what no prediction brings the loss of a sample below; -inf where nobody knows."""
        return -math.inf

    def best_constant(self, y: Labels, weights: Array | None = None, offset: Array | None = None) -> float:
        """Return what to add to the offset for the smallest mean loss, by halving; of losses with one output.

        Without an offset it is the best prediction that is the same for all.
        """
        counting = np.arange(len(y)) if weights is None else np.flatnonzero(weights)
        chosen = counting[np.linspace(0, len(counting) - 1, min(len(counting), _SAMPLES)).astype(int)]
        y, weights = y[chosen], None if weights is None else weights[chosen]
        shifts = 0.0 if offset is None else offset[chosen]
        low, high = (min(max(edge, -_LARGEST_PREDICTION), _LARGEST_PREDICTION) for edge in self.domain)
        with np.errstate(all="ignore"):  # far off, losses may overflow
            for _ in range(_HALVINGS):
                middle = 0.5 * (low + high)
                slopes = np.asarray(self.slopes(np.full(len(y), middle) + shifts, y), dtype=np.float64)
                if float(np.average(slopes, weights=weights)) < 0.0:
                    low = middle
                else:
                    high = middle
        return 0.5 * (low + high)

    @property
    def quadratic(self) -> bool:
        """Whether the second derivative is the same everywhere."""
        return self.convexity == self.curvature


def _plain(value: Any) -> str | float | int | bool | None:
    """Return a setting as a number or a text, an array as its digest; None for what has no such form."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return digest_of(value)
    return value if isinstance(value, str | float | int) else None
