import numpy as np
import pytest
import torch
from torch.utils.data import Dataset, TensorDataset

from tether.curvature import SecondOrder, unpacked
from tether.objectives import GLM, Smoothness, from_torch, torch_objective

N, D, K = 60, 5, 3
mean_loss = torch.nn.CrossEntropyLoss()


@pytest.fixture
def tensors(rng):
    return torch.tensor(rng.standard_normal((N, D))), torch.arange(N) % K


@pytest.fixture
def module():
    torch.manual_seed(0)
    return torch.nn.Linear(D, K)


class Pairs(Dataset):
    """A data set without tensors of its own."""

    def __init__(self, inputs, targets):
        self.inputs, self.targets = inputs, targets

    def __len__(self):
        return len(self.inputs)

    def __getitem__(self, i):
        return self.inputs[i], self.targets[i]


def _to_glm(x):
    """Reorder a Linear's (K, D) weights and its bias to the rows of W."""
    return np.vstack([x[: K * D].reshape(K, D).T, x[K * D :]]).ravel()


def _agree(objective, tensors, rng):
    """Assert that the objective is the library's own multinomial model."""
    model = GLM(tensors[0].numpy(), tensors[1].numpy(), "multinomial", l2=0.1, fit_intercept=True)
    x, anchor = rng.standard_normal((2, model.dim))
    batch = rng.integers(0, N, 7)
    ours, theirs = objective.evaluate(x), model.evaluate(_to_glm(x))
    assert ours.value == pytest.approx(theirs.value, rel=1e-12)
    np.testing.assert_allclose(_to_glm(ours.gradient), theirs.gradient, atol=1e-10, rtol=0)
    change = _to_glm(objective.batch_gradient(x, batch, anchor))
    expected = model.batch_gradient(_to_glm(x), batch, _to_glm(anchor))
    np.testing.assert_allclose(change, expected, atol=1e-10, rtol=0)


@pytest.mark.parametrize("wrap", [tuple, lambda pair: TensorDataset(*pair), lambda pair: Pairs(*pair)])
def test_multinomial_model_agrees_with_glm(module, tensors, rng, wrap):
    _agree(from_torch(module, mean_loss, wrap(tensors), l2=0.1), tensors, rng)


def test_full_pass_in_small_chunks_changes_nothing(module, tensors, rng, monkeypatch):
    monkeypatch.setattr(torch_objective, "_CHUNK_NUMBERS", 7 * D)
    objective = from_torch(module, mean_loss, tensors, l2=0.1)
    assert objective._chunk == 7
    _agree(objective, tensors, rng)


def test_the_users_module_is_left_alone(module, tensors, rng):
    before = {name: part.clone() for name, part in module.state_dict().items()}
    objective = from_torch(module, mean_loss, tensors)
    objective.evaluate(np.ones(objective.dim))
    objective.unpack(np.ones(objective.dim))
    assert module.training
    for name, part in module.state_dict().items():
        assert part.dtype == torch.float32
        assert torch.equal(part, before[name])
    assert all(part.grad is None for part in module.parameters())


def test_unpacking_gives_a_module_that_carries_x(module, tensors, rng):
    objective = from_torch(module.double(), mean_loss, tensors)
    x = rng.standard_normal(objective.dim)
    carried = objective.unpack(x)
    assert isinstance(carried, torch.nn.Linear)
    assert carried is not module
    assert mean_loss(carried(tensors[0]), tensors[1]).item() == pytest.approx(objective.value(x), rel=1e-12)
    assert objective.unpack(x) is not carried


def test_initial_is_the_modules_parameters(module, tensors):
    objective = from_torch(module, mean_loss, tensors)
    expected = torch.cat([part.detach().ravel() for part in module.parameters()]).double()
    np.testing.assert_array_equal(objective.initial, expected.numpy())


def test_frozen_parameters_are_constants(module, tensors):
    module.weight.requires_grad_(False)
    objective = from_torch(module, mean_loss, tensors)
    assert objective.dim == K
    carried = objective.unpack(np.full(K, 2.0))
    assert torch.equal(carried.weight, module.weight)
    assert torch.equal(carried.bias.detach(), torch.full((K,), 2.0))


def test_dropout_is_switched_off(tensors):
    objective = from_torch(
        torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Linear(D, K)), mean_loss, tensors
    )
    x = np.ones(objective.dim)
    assert objective.value(x) == objective.value(x)


def test_ridge_counts_into_the_constants(module, tensors):
    objective = from_torch(module, mean_loss, tensors, l2=0.5, smoothness=2.0, convexity=0.1, convex=True)
    assert objective.smoothness == pytest.approx((2.5, 2.5, 0.6, True))
    known = Smoothness(3.0, 2.0, 1.0)
    assert from_torch(module, mean_loss, tensors, l2=0.5, smoothness=known, convex=True).smoothness == (
        3.5,
        2.5,
        1.5,
        True,
    )


@pytest.mark.parametrize("reduction", ["none", "sum"])
def test_losses_that_are_not_means_are_refused(module, tensors, reduction):
    with pytest.raises(ValueError, match=r'^loss must return .*reduction="mean"'):
        from_torch(module, torch.nn.CrossEntropyLoss(reduction=reduction), tensors)


@pytest.mark.parametrize(
    "dataset",
    [
        (torch.zeros(0, D), torch.zeros(0, dtype=int)),
        (torch.zeros(4, D), torch.zeros(3, dtype=int)),
        (torch.zeros(4, D),),
        TensorDataset(torch.zeros(4, D)),
        Pairs([], []),
    ],
)
def test_unusable_data_are_refused(module, dataset):
    with pytest.raises(ValueError, match=r"^dataset must"):
        from_torch(module, mean_loss, dataset)


def test_a_module_without_parameters_is_refused(tensors):
    with pytest.raises(ValueError, match=r"^module must"):
        from_torch(torch.nn.Identity(), mean_loss, tensors)


def test_the_hessian_is_that_of_glm_in_chunks_too(module, tensors, rng, monkeypatch):
    model = GLM(tensors[0].numpy(), tensors[1].numpy(), "multinomial", l2=0.1, fit_intercept=True)
    x, batch = rng.standard_normal(model.dim), rng.integers(0, N, 11)
    order = _to_glm(np.arange(model.dim))
    for numbers in (1 << 22, 7 * D):
        monkeypatch.setattr(torch_objective, "_CHUNK_NUMBERS", numbers)
        objective = from_torch(module, mean_loss, tensors, l2=0.1, convex=True)
        for chosen in (None, batch):
            found = unpacked(objective.curvature(x, "full", chosen))[np.ix_(order, order)]
            expected = unpacked(model.curvature(_to_glm(x), "full", chosen))
            np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_linear_model_has_the_gauss_newton_matrix_for_hessian(module, tensors, rng):
    x = rng.standard_normal(K * D + K)
    found = [
        from_torch(module, mean_loss, tensors, l2=0.1, smoothness=9.0, convex=convex).curvature(x, "full")
        for convex in (True, False)
    ]
    np.testing.assert_allclose(*found, atol=1e-12)


def test_a_network_has_a_gauss_newton_matrix_without_negative_eigenvalues(tensors, rng):
    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(D, 4), torch.nn.Tanh(), torch.nn.Linear(4, K)).double()
    objective = from_torch(network, mean_loss, tensors, convex=False, smoothness=9.0)
    x = objective.initial + rng.standard_normal(objective.dim)
    found = unpacked(objective.curvature(x, "full"))
    carried = objective.unpack(x)
    expected = np.zeros_like(found)
    for sample in tensors[0]:
        jacobian = torch.func.jacrev(
            lambda parts, a=sample: torch.func.functional_call(carried, parts, (a[None],))[0]
        )({name: p.detach() for name, p in carried.named_parameters()})
        J = np.hstack([part.reshape(K, -1).numpy() for part in jacobian.values()])
        p = torch.softmax(carried(sample), 0).detach().numpy()
        expected += J.T @ (np.diag(p) - np.outer(p, p)) @ J / N
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.linalg.eigvalsh(found)[0] >= -1e-12
    exact = torch.autograd.functional.hessian(
        lambda flat: objective._loss_at(flat, slice(0, N)), torch.tensor(x)
    )
    assert np.linalg.eigvalsh(exact.numpy())[0] < -1e-3  # which the Hessian has


def test_a_loss_that_bends_nowhere_has_no_curvature(module, tensors):
    objective = from_torch(
        module, lambda outputs, targets: outputs.mean(), tensors, l2=0.5, smoothness=1.0, convex=True
    )
    np.testing.assert_array_equal(unpacked(objective.curvature(np.zeros(18), "full")), 0.5 * np.eye(18))


def test_a_loss_that_can_be_differentiated_only_once_has_no_hessian(module, tensors):
    class Once(torch.autograd.Function):
        @staticmethod
        def forward(context, z):
            context.save_for_backward(z)
            return (z**2).mean()

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(context, slope):
            (z,) = context.saved_tensors
            return 2.0 * z * slope / z.numel()

    def loss(outputs, targets):
        return Once.apply(outputs)

    for convex in (True, False):
        objective = from_torch(module, loss, tensors, smoothness=1.0, convex=convex)
        assert objective.second_order == SecondOrder()
        with pytest.raises(NotImplementedError, match="TorchObjective has no second derivatives"):
            objective.curvature(np.zeros(18), "full")


def test_many_parameters_have_no_hessian(module, tensors, monkeypatch):
    monkeypatch.setattr(torch_objective, "_LARGEST_HESSIAN", 17)
    assert from_torch(module, mean_loss, tensors).second_order == SecondOrder()
