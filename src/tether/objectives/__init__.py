"""Finite sums beside their data: what is minimised.

Every objective answers with one full pass (`evaluate`), the gradient of a batch (`batch_gradient`), a walk of
such batches (`descend`) and its constants (`smoothness`).
"""

from collections.abc import Callable
from typing import Any

from tether.objectives.base import Evaluation, Objective, Smoothness
from tether.objectives.federation import Federation
from tether.objectives.finite_sum import FiniteSum
from tether.objectives.glm import GLM
from tether.objectives.losses import Loss
from tether.objectives.quadratic import Quadratic
from tether.objectives.separable import Separable

__all__ = [
    "GLM",
    "Evaluation",
    "Federation",
    "FiniteSum",
    "Loss",
    "Objective",
    "Quadratic",
    "Separable",
    "Smoothness",
    "from_jax",
    "from_torch",
]


def from_jax(
    loss: Callable[[Any, Any], Any],
    data: Any,
    params: Any,
    *,
    l2: float = 0.0,
    smoothness: float | Smoothness | None = None,
    convexity: float = 0.0,
    convex: bool | None = None,
) -> Objective:
    r"""Return the mean of a JAX loss over a data set as an objective.

    .. math:: F(x) = \frac1N \sum_{i=1}^N \mathrm{loss}(x, d_i) + \frac{\ell_2}{2} \|x\|^2

    Parameters
    ----------
    loss : callable
        ``loss(params, sample)`` returns the loss of one sample, a scalar, smooth in the parameters.
    data : pytree of arrays
        The samples along axis 0 of every leaf; ``sample`` has the same structure.
    params : pytree of float arrays
        The structure of the parameters. x holds them end to end in float64 (their values are
        ``objective.initial``); ``objective.unpack(x)`` gives the structure back.
    l2 : float
        The weight of a ridge penalty; it counts into the convexity.
    smoothness, convexity : float
        L and mu of the loss without the penalty. A missing L is estimated.
    convex : bool, optional
        True: F is convex, on your word. False: it is not (a neural network, say); then nothing is certified
        and the penalty is no strong convexity. By default gradients at some pairs of points around
        ``initial`` are looked at, and ``objective.nonconvexity`` says what they showed.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.objectives import from_jax
    >>> data = {"a": np.eye(2), "y": np.array([1.0, 2.0])}
    >>> objective = from_jax(lambda w, s: (s["a"] @ w - s["y"]) ** 2, data, np.zeros(2), l2=0.1)
    >>> objective.value(np.zeros(2))
    2.5
    """
    try:
        from tether.objectives.jax_objective import JaxObjective
    except ImportError as error:
        raise ImportError('from_jax needs JAX; install it with: pip install "tether[jax]"') from error
    return JaxObjective(loss, data, params, l2=l2, smoothness=smoothness, convexity=convexity, convex=convex)


def from_torch(
    module: Any,
    loss: Callable[[Any, Any], Any],
    dataset: Any,
    *,
    l2: float = 0.0,
    smoothness: float | Smoothness | None = None,
    convexity: float = 0.0,
    convex: bool | None = None,
) -> Objective:
    r"""Return the mean loss of a PyTorch module over a data set as an objective.

    .. math:: F(x) = \frac1N \sum_{i=1}^N \mathrm{loss}(\mathrm{module}_x(u_i), v_i)
              + \frac{\ell_2}{2} \|x\|^2

    Parameters
    ----------
    module : torch.nn.Module
        The model, never modified. x holds its trainable parameters end to end in float64 (their values are
        ``objective.initial``); ``objective.unpack(x)`` returns a copy of the module that carries x. It is run
        in evaluation mode, so that F is a fixed function.
    loss : callable
        ``loss(module(inputs), targets)`` returns the mean over the batch, smooth in x.
    dataset : torch Dataset or DataLoader, or a pair (inputs, targets) of tensors
        The samples, all of which are held in memory. A loader's batches and shuffling do not matter; one that
        repeats or leaves out samples is refused.
    l2 : float
        The weight of a ridge penalty; it counts into the convexity.
    smoothness, convexity : float
        L and mu of the loss without the penalty. A missing L is estimated.
    convex : bool, optional
        True: F is convex, on your word. False: it is not (a neural network, say); then nothing is certified
        and the penalty is no strong convexity. By default gradients at some pairs of points around
        ``initial`` are looked at, and ``objective.nonconvexity`` says what they showed.

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> from tether.objectives import from_torch
    >>> inputs, targets = torch.eye(2), torch.tensor([[1.0], [2.0]])
    >>> model = torch.nn.Linear(2, 1, bias=False)
    >>> objective = from_torch(model, torch.nn.MSELoss(), (inputs, targets))
    >>> objective.value(np.zeros(2))
    2.5
    """
    try:
        from tether.objectives.torch_objective import TorchObjective
    except ImportError as error:
        raise ImportError('from_torch needs PyTorch; install it with: pip install "tether[torch]"') from error
    return TorchObjective(
        module, loss, dataset, l2=l2, smoothness=smoothness, convexity=convexity, convex=convex
    )
