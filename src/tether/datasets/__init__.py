"""Data sets by name: from the folder that TETHER_DATA names, from a cache, else from their publishers.

Each function returns `Data(X, y)`. `mnist`, `fashion_mnist` and `openml` ask OpenML, `a8a` and `libsvm` ask
the page of LIBSVM, once: what was downloaded stays in ~/.cache/tether (or XDG_CACHE_HOME). `digits` comes
along with scikit-learn. `debian_packages` is in the folder of TETHER_DATA only.
"""

from tether.datasets.data import Data
from tether.datasets.digits import digits
from tether.datasets.images import fashion_mnist, mnist
from tether.datasets.libsvm import a8a, libsvm
from tether.datasets.openml import openml
from tether.datasets.text import debian_packages

__all__ = ["Data", "a8a", "debian_packages", "digits", "fashion_mnist", "libsvm", "mnist", "openml"]
