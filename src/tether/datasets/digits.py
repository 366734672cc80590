"""Handwritten digits that come along with scikit-learn."""

import numpy as np

from tether.datasets.data import Data


def digits() -> Data:
    """Return 1,797 images of 8 x 8 pixels between 0 and 1, and the digits they show.

    Examples
    --------
    >>> X, y = digits()
    >>> X.shape, int(y.max())
    ((1797, 64), 9)
    """
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return Data(np.ascontiguousarray(X / 16.0), y.astype(np.int64))
