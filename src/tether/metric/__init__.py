"""Second derivatives as a metric: lengths are ||v||_M with v^T M v, and M^-1 = R R^T changes the variables.

One form a file: `full`, `kronecker`, `diagonal`; `base` says what a metric can do. What a set of equations
looks like in a metric is the set's own matter (`tether.constraints`).
"""

import numpy as np

from tether.arrays import Array
from tether.curvature import DIAGONAL, FULL, kronecker_parts, unpacked
from tether.metric.base import Metric, NotFinite
from tether.metric.diagonal import DiagonalMetric
from tether.metric.full import FullMetric
from tether.metric.kronecker import KroneckerMetric

__all__ = ["Metric", "NotFinite", "metric_of"]


def metric_of(form: str, vector: Array, dim: int, outputs: int = 1) -> Metric:
    """Return the metric that a vector of second derivatives describes.

    Parameters
    ----------
    form : str
        One of `tether.curvature.FORMS`.
    vector : ndarray
        The second derivatives in that form.
    dim : int
        p, the number of variables.
    outputs : int, default 1
        K, the outputs of a sample.

    Returns
    -------
    Metric
        M, factorised.

    Raises
    ------
    NotFinite
        If a number is infinite or NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.metric import metric_of
    >>> metric = metric_of("diagonal", np.array([4.0, 1.0]), 2)
    >>> metric.whiten(np.array([2.0, 3.0])).tolist()
    [1.0, 3.0]
    """
    if not np.isfinite(vector).all():
        raise NotFinite("the second derivatives of F are infinite or not numbers at this point.")
    if form == DIAGONAL:
        return DiagonalMetric(vector)
    return (
        FullMetric(unpacked(vector)) if form == FULL else KroneckerMetric(*kronecker_parts(vector, outputs))
    )
