"""Second derivatives of the mean loss of a PyTorch module, row by row, by differentiating backwards twice.

Backwards alone, because more operations know that way than any other.
"""

from collections.abc import Callable

import torch

from tether.arrays import Array

OfOutputs = Callable[[torch.Tensor], torch.Tensor]


def hessian(loss: OfOutputs, x: Array) -> Array:
    """Return the Hessian of a function of x."""
    flat = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(loss(flat), flat, create_graph=True)
    rows = [_derivative(gradient, flat, unit) for unit in torch.eye(len(flat), dtype=torch.float64)]
    return torch.stack(rows).numpy()


def hessian_times(loss: OfOutputs, x: Array, v: Array) -> Array:
    """Return the Hessian of a function of x times a vector."""
    flat = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(loss(flat), flat, create_graph=True)
    return _derivative(gradient, flat, torch.tensor(v)).numpy()


def gauss_newton(model: OfOutputs, loss: OfOutputs, x: Array) -> Array:
    """Return J^T B J: J is the Jacobian of the outputs, B the Hessian of their loss.

    It is what the Hessian would be if outputs were linear in x, and has no negative eigenvalue if the loss is
    convex in them. J v is the derivative of J^T u in u, which is linear, so that u may be zero.
    """
    flat = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    outputs = model(flat)
    here = outputs.detach().requires_grad_()
    (slopes,) = torch.autograd.grad(loss(here), here, create_graph=True)
    zeros = torch.zeros_like(outputs, requires_grad=True)
    (pulled,) = torch.autograd.grad(outputs, flat, zeros, create_graph=True)
    rows = []
    for unit in torch.eye(len(flat), dtype=torch.float64):
        curved = _derivative(slopes, here, _derivative(pulled, zeros, unit))
        rows.append(torch.autograd.grad(outputs, flat, curved, retain_graph=True)[0])
    return torch.stack(rows).numpy()


def _derivative(of: torch.Tensor, by: torch.Tensor, along: torch.Tensor) -> torch.Tensor:
    """Return the derivative of <of, along>; zero where nothing depends."""
    if not of.requires_grad:
        return torch.zeros_like(by)
    (found,) = torch.autograd.grad(of, by, along, retain_graph=True, allow_unused=True)
    return torch.zeros_like(by) if found is None else found.detach()
