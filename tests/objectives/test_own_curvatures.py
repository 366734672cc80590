"""Second derivatives of a loss of the user's own: Hessians are made of them, or they are refused."""

import math

import numpy as np
import pytest

import tether
from tether.curvature import kronecker_parts, unpacked
from tether.objectives import GLM
from tether.objectives.losses import Huber, Logistic, Loss, Multinomial
from tether.objectives.losses.checks import check_loss

N, D, K = 50, 7, 3


class Quartic(Loss):
    def values(self, z, y):
        return (z - y) ** 4 / 4

    def slopes(self, z, y):
        return (z - y) ** 3

    def curvatures(self, z, y):
        return 3 * (z - y) ** 2


class Cauchy(Loss):
    """Not convex."""

    def values(self, z, y):
        return 0.5 * np.log1p((z - y) ** 2)

    def slopes(self, z, y):
        return (z - y) / (1.0 + (z - y) ** 2)

    def curvatures(self, z, y):
        return (1.0 - (z - y) ** 2) / (1.0 + (z - y) ** 2) ** 2


class Outputs(Loss):
    """|z|^2/2 + log cosh of the sum of z, for K outputs: all but its Hessians."""

    def n_outputs(self, y):
        return K

    def values(self, z, y):
        return 0.5 * ((z - y[:, None]) ** 2).sum(axis=1) + np.log(np.cosh(z.sum(axis=1)))

    def slopes(self, z, y):
        return z - y[:, None] + np.tanh(z.sum(axis=1))[:, None]

    def curvatures(self, z, y):
        return np.ones_like(z) + self._bend(z)[:, None]

    def _bend(self, z):
        return 1.0 / np.cosh(z.sum(axis=1)) ** 2


class OutputsWithHessians(Outputs):
    def hessians(self, z, y):
        return np.eye(K) + self._bend(z)[:, None, None]


def own(loss, **options):
    rng = np.random.default_rng(0)
    return GLM(rng.standard_normal((N, D)), rng.standard_normal(N), loss, **options)


def differences(objective, x):
    moves = 1e-5 * np.eye(objective.dim)
    return np.array([objective.gradient(x + v) - objective.gradient(x - v) for v in moves]) / 2e-5


def test_a_loss_of_ones_own_has_its_hessian_through_its_curvatures():
    for loss in (Quartic(), Cauchy()):
        objective = own(loss, l2=0.2)
        x = 0.3 * np.random.default_rng(1).standard_normal(D)
        found = unpacked(objective.curvature(x, "full"))
        np.testing.assert_allclose(found, differences(objective, x), atol=1e-7)
    assert np.linalg.eigvalsh(unpacked(own(Cauchy()).curvature(3.0 * np.ones(D), "full")))[0] < 0.0


def test_several_outputs_without_hessians_have_a_diagonal_and_nothing_else():
    objective = own(Outputs(), l2=0.2)
    second = objective.second_order
    assert (second.full, second.kronecker, second.outputs) == (math.inf, math.inf, K)
    x = 0.3 * np.random.default_rng(1).standard_normal(D * K)
    found = objective.curvature(x, "diagonal")
    np.testing.assert_allclose(found, differences(objective, x).diagonal(), atol=1e-8)
    with pytest.raises(NotImplementedError, match='only of: "diagonal"'):
        objective.curvature(x, "full")


def test_several_outputs_with_hessians_have_every_form():
    objective = own(OutputsWithHessians(), l2=0.2)
    x = 0.3 * np.random.default_rng(1).standard_normal(D * K)
    found = unpacked(objective.curvature(x, "full"))
    np.testing.assert_allclose(found, differences(objective, x), atol=1e-8)
    G, S, shift = kronecker_parts(objective.curvature(x, "kronecker"), K)
    rows = objective.design.matrix
    z = rows @ x.reshape(D, K)
    blocks = OutputsWithHessians().hessians(z, objective.y)
    np.testing.assert_allclose(S, blocks.mean(axis=0), atol=1e-13)
    expected = np.einsum("nkk,ni,nj->ij", blocks, rows, rows) / N
    np.testing.assert_allclose(G, expected, atol=1e-12)
    assert shift == 0.2


def test_constants_and_hessians_are_not_inherited_by_other_functions():
    class Steeper(Logistic):
        def curvatures(self, z, y):
            return super().curvatures(z, y)

    class Other(Multinomial):
        def slopes(self, z, y):
            return super().slopes(z, y)

    class Renamed(Multinomial):
        pass

    z, y = np.zeros((2, 3)), np.array([0, 1])
    assert Steeper.concordance == math.inf
    assert Other.concordance == math.inf and Other().hessians(z, y) is None
    assert Renamed.concordance == math.sqrt(2.0) and Renamed().hessians(z, y) is not None


def _changed(base, **changes):
    loss = base()
    for name, change in changes.items():
        setattr(loss, name, change)
    return loss


class OwnLogistic(Loss):
    concordance = 1.0
    values, slopes, curvatures = Logistic.values, Logistic.slopes, Logistic.curvatures


GOOD, MANY = Quartic(), OutputsWithHessians()
FALSE = {
    "half a curvature": (
        _changed(Quartic, curvatures=lambda z, y: 1.5 * (z - y) ** 2),
        "curvatures that are",
    ),
    "a bound as curvature": (_changed(Quartic, curvatures=lambda z, y: 0 * z + 9.0), "curvatures that are"),
    "a curvature of one output": (
        _changed(Outputs, curvatures=lambda z, y: np.ones_like(z)),
        "curvatures that are",
    ),
    "hessians of one number": (_changed(OutputsWithHessians, hessians=lambda z, y: z), "hessians of shape"),
    "diagonal hessians": (
        _changed(OutputsWithHessians, hessians=lambda z, y: np.eye(K) * MANY.hessians(z, y)),
        "hessians that are",
    ),
    "mixed derivatives of another Hessian": (_changed(OutputsWithHessians, mixed=lambda z, y: z), "mixed"),
    "a concordance too small": (_changed(OwnLogistic, concordance=0.3), "concordance=0.3"),
    "a concordance of squares": (_changed(Quartic, concordance=0.0), "concordance=0"),
    "a concordance of outputs": (_changed(OutputsWithHessians, concordance=0.0), "concordance=0"),
    "a concordance of what is not convex": (_changed(Cauchy, concordance=1.0), "concordance=1"),
    "a negative concordance": (_changed(Quartic, concordance=-1.0), "concordance >= 0"),
    "a concordance of words": (_changed(Quartic, concordance="some"), "concordance >= 0"),
}


@pytest.mark.parametrize("mistake", FALSE)
def test_false_second_derivatives_and_constants_are_refused(mistake):
    loss, words = FALSE[mistake]
    y = np.sign(np.random.default_rng(0).standard_normal(N))
    with pytest.raises(ValueError, match=rf"^loss must [^\n]*{words}[^\n]*\.$"):
        check_loss(loss, y, loss.n_outputs(y))


def test_true_constants_are_believed():
    y = np.sign(np.random.default_rng(0).standard_normal(N))
    assert check_loss(OwnLogistic(), y, 1) == ""
    assert own(_changed(OutputsWithHessians, concordance=2.0 * math.sqrt(K))).second_order.concordance > 0.0


def test_where_nothing_is_known_r_is_infinite():
    X, y = np.eye(3), [0.0, 1.0, 2.0]
    assert GLM(X, y, Huber(0.5), l2=0.1).second_order.concordance == math.inf
    assert GLM(0.0 * X, y, Huber(0.5)).second_order.concordance == math.inf
    assert GLM(X, y, Quartic()).second_order.concordance == math.inf
    assert GLM(X, y, Cauchy()).second_order.concordance == math.inf


class Rounded(Loss):
    """sqrt(1 + (z - y)^2), with parabolas above it of a chosen height."""

    def __init__(self, share):
        self.share = share

    def values(self, z, y):
        return np.sqrt(1.0 + (z - y) ** 2)

    def slopes(self, z, y):
        return (z - y) / self.values(z, y)

    def curvatures(self, z, y):
        return self.values(z, y) ** -3

    def majorants(self, z, y):
        return self.share / self.values(z, y)


def test_majorants_that_lie_above_the_loss_are_believed():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 3)), 1e4 * rng.standard_normal(100)
    found = tether.solve(tether.GLM(X, y, Rounded(1.0)), tether.NonNegative())
    assert found.success, found.message


@pytest.mark.parametrize("share", [0.1, -1.0])
def test_majorants_that_do_not_are_refused(share):
    with pytest.raises(ValueError, match="must have majorants whose parabolas lie above it"):
        tether.GLM(np.ones((3, 1)), np.zeros(3), Rounded(share))


def test_majorants_of_the_wrong_shape_are_refused():
    class Flat(Rounded):
        def majorants(self, z, y):
            return 1.0

    with pytest.raises(ValueError, match="must give majorants of shape"):
        tether.GLM(np.ones((3, 1)), np.zeros(3), Flat(1.0))
