"""Package descriptions of Debian: long, thin, sparse rows."""

import numpy as np
from scipy import sparse

from tether.datasets.data import Data
from tether.datasets.places import given


def debian_packages() -> Data:
    """Return 63,620 package descriptions as counts of 30,974 words, and their labels, 1 or -1.

    They are read from the folder that TETHER_DATA names; nobody publishes them.

    Examples
    --------
    >>> X, y = debian_packages()  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (63620, 30974)
    """
    words, labels = given("debian_packages_X.npz"), given("debian_packages_y.npy")
    if words is None or labels is None:
        raise FileNotFoundError(
            "debian_packages are not published: set TETHER_DATA to a folder that holds debian_packages_X.npz "
            "and debian_packages_y.npy."
        )
    X = sparse.csr_array(sparse.load_npz(words)).astype(np.float64)
    return Data(X, np.load(labels, allow_pickle=False))
