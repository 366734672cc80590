"""The arrays that everything here is made of."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


def same(one: NDArray[Any] | None, other: NDArray[Any]) -> bool:
    """Say whether there is an array, and it is another one or has its entries.

    Examples
    --------
    >>> import numpy as np
    >>> same(np.zeros(3), np.zeros(3)), same(np.zeros(3), np.zeros(2)), same(None, np.zeros(2))
    (True, False, False)
    """
    if one is None or one is other:
        return one is not None
    if one.shape != other.shape or (one.size and one.item(0) != other.item(0)):  # most differ there already
        return False
    return bool((one == other).all())


def norm(v: Array) -> float:
    """Return ||v||, to the last bit what NumPy's norm returns, which looks at what v may be for longer.

    Examples
    --------
    >>> import numpy as np
    >>> norm(np.array([3.0, 4.0]))
    5.0
    """
    return math.sqrt(v.dot(v))
