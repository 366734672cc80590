"""The arrays that everything here is made of."""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


def norm(v: Array) -> float:
    """Return ||v||, to the last bit what NumPy's norm returns, which looks at what v may be for longer.

    Examples
    --------
    >>> import numpy as np
    >>> norm(np.array([3.0, 4.0]))
    5.0
    """
    return math.sqrt(v.dot(v))
