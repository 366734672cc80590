"""Several directions in a metric at once."""

import numpy as np
import pytest

import tether
from tether.metric.kronecker import KroneckerMetric

K = 3


@pytest.mark.parametrize("width", [5, 40])  # rows that are short, and rows that are long
def test_directions_side_by_side_are_those_one_by_one(width):
    rng = np.random.default_rng(0)
    factor, outputs = rng.standard_normal((2 * width, width)), rng.standard_normal((K, K))
    metric = KroneckerMetric(factor.T @ factor, outputs @ outputs.T, 0.1)
    constraint = tether.Affine(rng.standard_normal((4, K * width)))
    within = constraint.in_metric(metric)
    gradients = np.array([constraint.tangent(g) for g in rng.standard_normal((6, K * width))])
    found = within.images(gradients)
    np.testing.assert_allclose(found, [within.tangent(g) for g in gradients], rtol=1e-9, atol=1e-13)
    assert max(constraint.residual(row) for row in found) <= 1e-12 * np.abs(found).max()
    assert within.images(gradients[:0]).shape == (0, K * width)
