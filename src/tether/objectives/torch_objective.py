"""The mean loss of a PyTorch module as a finite sum.

x is the module's trainable parameters laid out flat in float64. A private double-precision copy of the module
is called with views of x in their place, so the user's module is never touched.
"""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tether.arrays import Array, Indices
from tether.curvature import SecondOrder, packed
from tether.inputs import nonnegative
from tether.lazy import lazy
from tether.objectives.base import Evaluation, Kind, Objective, Smoothness, probe_digest, require_form
from tether.objectives.convexity import as_convex
from tether.objectives.differences import contradicting_rate
from tether.objectives.estimate import (
    checked_smoothness,
    known_or_estimated,
    known_or_open,
    told,
    told_or_seen,
    with_ridge,
)
from tether.objectives.smoothness import Constants
from tether.objectives.torch_curvature import gauss_newton, hessian, hessian_times
from tether.objectives.torch_data import tensors_of

_CHUNK_NUMBERS = 1 << 22  # numbers of the inputs handled together in a full pass
_TRIED = 8  # samples on which second derivatives are compared with gradients
_LARGEST_HESSIAN = 2000  # parameters up to which there is one: each row of it is a pass and more

MeanLoss = Callable[[Any, Any], Any]


class TorchObjective(Objective):
    """The objective that `tether.objectives.from_torch` returns; its parameters are described there."""

    def __init__(
        self,
        module: torch.nn.Module,
        loss: MeanLoss,
        dataset: Any,
        *,
        l2: float = 0.0,
        smoothness: float | Smoothness | None = None,
        convexity: float = 0.0,
        convex: bool | None = None,
    ) -> None:
        if not isinstance(module, torch.nn.Module):
            raise ValueError(f"module must be a torch.nn.Module, got {type(module).__name__}.")
        self.l2 = nonnegative("l2", l2)
        self._convexity = nonnegative("convexity", convexity)
        self._known = with_ridge(checked_smoothness(smoothness, self._convexity), self.l2)
        self._convex = as_convex(convex)
        self._inputs, self._targets = tensors_of(dataset)
        self.n_samples = len(self._inputs)
        self._loss, self._original = loss, copy.deepcopy(module)
        self._module = copy.deepcopy(module).double().eval()
        self._shapes = _trainable_shapes(module)
        initial = self.initial = _flat(module)
        self.dim = len(initial)
        self._chunk = max(1, _CHUNK_NUMBERS * self.n_samples // max(1, self._inputs.numel()))
        self._require_mean_loss()

    def evaluate(self, x: Array) -> Evaluation:
        """Return F(x) and its gradient, chunk by chunk."""
        value, gradient = 0.5 * self.l2 * float(np.dot(x, x)), self.l2 * np.asarray(x, dtype=np.float64)
        for start in range(0, self.n_samples, self._chunk):
            rows = slice(start, min(start + self._chunk, self.n_samples))
            part, slope = self._value_and_gradient(x, rows)
            share = (rows.stop - rows.start) / self.n_samples
            value += share * part
            gradient += share * slope
        return Evaluation(value, gradient)

    def batch_gradient(
        self, x: Array, batch: Indices | None, anchor: Array | None = None, slopes: Array | None = None
    ) -> Array:
        """Return grad f_B(x), less grad f_B(anchor) when an anchor is given."""
        gradient = self._batch_gradient(x, batch)
        return gradient if anchor is None else gradient - self._batch_gradient(anchor, batch)

    @lazy
    def smoothness(self) -> Smoothness:
        """What was given plus the ridge, or estimates with a margin."""
        return known_or_estimated(self, self._known, self._convexity + self.l2)

    def constants(self) -> Constants:
        """Return what was given; L is left open where it would have to be estimated."""
        return known_or_open(self, self._known, self._convexity + self.l2)

    @lazy
    def nonconvexity(self) -> str:
        """What shows that F is not convex, or not as strongly as was said; empty where nothing does."""
        return told_or_seen(self, self._convex, self._known, self._convexity + self.l2)

    @lazy
    def second_order(self) -> SecondOrder:
        """The Hessian of a convex F, the Gauss-Newton matrix of others; each row takes a pass or two."""
        if self.dim > _LARGEST_HESSIAN or not self._differentiates_twice():
            return SecondOrder()
        return SecondOrder(full=1.0 + self.dim * (1.0 if self.convex else 2.0))

    def curvature(self, x: Array, form: str, batch: Indices | None = None) -> Array:
        """Return the Hessian of F, or of f_B, at x, or the Gauss-Newton matrix if F is not convex."""
        require_form(self, form)
        numbers = np.arange(self.n_samples) if batch is None else batch
        total = self.l2 * np.eye(self.dim)
        for start in range(0, len(numbers), self._chunk):
            rows = torch.tensor(numbers[start : start + self._chunk])
            total += len(rows) / len(numbers) * self._curvature_of(x, rows)
        return packed(0.5 * (total + total.T))

    def digest(self) -> str:
        """Return a hexadecimal digest of data and settings, and of the model at two points."""
        constants = told(self._convex, self._known, self._convexity)
        return probe_digest(self, self._inputs.numpy(), self._targets.numpy(), self.l2, *constants)

    @property
    def words(self) -> str:
        """What it is, in a few words."""
        return f"a model in torch with l2 = {self.l2:g}" if self.l2 else "a model in torch"

    def kind(self) -> Kind:
        """Return l2 beside what all objectives say."""
        return super().kind() | {"l2": self.l2}

    def unpack(self, x: Array) -> torch.nn.Module:
        """Return a copy of the module that carries x, in the precision the module came in."""
        module = copy.deepcopy(self._original)
        parts = self._parts(torch.tensor(x, dtype=torch.float64))
        with torch.no_grad():
            for name, parameter in module.named_parameters():
                if name in parts:
                    parameter.copy_(parts[name])
        return module

    def _batch_gradient(self, x: Array, batch: Indices | None) -> Array:
        if batch is None:
            return self.evaluate(x).gradient
        return self._value_and_gradient(x, torch.tensor(batch))[1] + self.l2 * x

    def _value_and_gradient(self, x: Array, rows: Any) -> tuple[float, Array]:
        flat = torch.tensor(x, dtype=torch.float64, requires_grad=True)
        loss = self._loss_at(flat, rows)
        (gradient,) = torch.autograd.grad(loss, flat)
        return float(loss.detach()), gradient.numpy()

    def _differentiates_twice(self) -> bool:
        """Say whether torch does so: operations that know it once may say nothing, and give zeros."""
        rng, rows = np.random.default_rng(0), slice(0, _TRIED)
        x = np.asarray(self.initial) + 0.1 * rng.standard_normal(self.dim)
        v = rng.standard_normal(self.dim)
        try:
            said = hessian_times(lambda flat: self._loss_at(flat, rows), x, v)
        except (RuntimeError, TypeError):
            return False
        return contradicting_rate(lambda at: self._value_and_gradient(at, rows)[1], x, v, said) is None

    def _curvature_of(self, x: Array, rows: Any) -> Array:
        if self.convex:
            return hessian(lambda flat: self._loss_at(flat, rows), x)
        targets = _double(self._targets[rows])
        return gauss_newton(
            lambda flat: self._outputs_at(flat, rows), lambda outputs: self._loss(outputs, targets), x
        )

    def _loss_at(self, flat: torch.Tensor, rows: Any) -> torch.Tensor:
        return self._loss(self._outputs_at(flat, rows), _double(self._targets[rows]))

    def _outputs_at(self, flat: torch.Tensor, rows: Any) -> torch.Tensor:
        inputs = _double(self._inputs[rows])
        return torch.func.functional_call(self._module, self._parts(flat), (inputs,))

    def _parts(self, flat: torch.Tensor) -> dict[str, torch.Tensor]:
        sizes = [shape.numel() for shape in self._shapes.values()]
        pieces = torch.split(flat, sizes)
        return {
            name: piece.view(shape) for (name, shape), piece in zip(self._shapes.items(), pieces, strict=True)
        }

    def _require_mean_loss(self) -> None:
        """Compare the loss of two samples with the mean of their losses."""
        flat = torch.tensor(_flat(self._original))
        with torch.no_grad():
            together = self._loss_at(flat, slice(0, 2))
            if not isinstance(together, torch.Tensor) or together.shape != ():
                got = tuple(together.shape) if isinstance(together, torch.Tensor) else type(together).__name__
                raise ValueError(f'loss must return a scalar (reduction="mean"), got {got} for a batch.')
            rows = [slice(i, i + 1) for i in range(min(2, self.n_samples))]
            mean = sum(float(self._loss_at(flat, row)) for row in rows) / len(rows)
        if not np.isclose(float(together), mean, rtol=1e-8, equal_nan=True):
            raise ValueError(
                f'loss must return the mean over the batch (reduction="mean"): it gave {float(together):g} '
                f"for two samples whose losses average to {mean:g}."
            )


def _trainable_shapes(module: torch.nn.Module) -> dict[str, torch.Size]:
    shapes = {name: p.shape for name, p in module.named_parameters() if p.requires_grad}
    if not shapes:
        raise ValueError("module must have trainable parameters, got none with requires_grad=True.")
    return shapes


def _flat(module: torch.nn.Module) -> Array:
    parts = [p.detach().double().cpu().numpy().ravel() for p in module.parameters() if p.requires_grad]
    return np.concatenate(parts)


def _double(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.double() if tensor.is_floating_point() else tensor
