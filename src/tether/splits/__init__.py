"""Who holds which sample: ways to divide a data set over the workers of a federation.

A split is at heart one vector, the owner of each sample. It is returned as a list of index arrays, one a
worker: sorted, disjoint, none empty, together all samples. So ``X[part], y[part]`` is a worker's data. The
same arguments and seed give the same split.
"""

from tether.splits.description import Description, describe
from tether.splits.division import by_column, by_label, dirichlet, iid

__all__ = ["Description", "by_column", "by_label", "describe", "dirichlet", "iid"]
