"""A JAX loss of one sample as a finite sum.

x is the parameters' pytree laid out flat in float64. Double precision is switched on around each call and
only there, so the user's own JAX configuration stays as it is.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

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
from tether.objectives.walk import Walk, Walked, walk_in_numpy

try:
    from jax import enable_x64
except ImportError:  # where older releases keep it
    from jax.experimental import enable_x64

_CHUNK_NUMBERS = 1 << 22  # numbers of the data (and of the gradients) handled together in a full pass
_TRIED = 8  # samples on which second derivatives are compared with gradients
_LARGEST_HESSIAN = 2000  # parameters up to which there is one: it takes as many derivatives of the gradient
_DERIVATIVES = 8  # of a gradient, all taken together, that cost what the gradient does

LossOfSample = Callable[[Any, Any], Any]


class JaxObjective(Objective):
    """The objective that `tether.objectives.from_jax` returns; its parameters are described there."""

    def __init__(
        self,
        loss: LossOfSample,
        data: Any,
        params: Any,
        *,
        l2: float = 0.0,
        smoothness: float | Smoothness | None = None,
        convexity: float = 0.0,
        convex: bool | None = None,
    ) -> None:
        if not callable(loss):
            raise ValueError(f"loss must be a function of (params, sample), got {type(loss).__name__}.")
        self.l2 = nonnegative("l2", l2)
        self._convexity = nonnegative("convexity", convexity)
        self._known = with_ridge(checked_smoothness(smoothness, self._convexity), self.l2)
        self._convex = as_convex(convex)
        with enable_x64(True):
            self._data, self.n_samples = _samples(data)
            self._types = [jnp.result_type(leaf) for leaf in jax.tree.leaves(params)]
            flat, self._unravel = ravel_pytree(_float64_leaves(params))
            self.initial = np.array(flat, dtype=np.float64)
            self.dim = len(flat)
            _require_scalar(loss, self._unravel(flat), self._data)
            self._value_and_gradient, self._gradient, self._difference = _compiled(loss, self._unravel)
            self._scan = _scanned(loss, self._unravel)
            self._hessian = jax.jit(jax.hessian(_mean_loss(loss, self._unravel)))
        self._chunk = _chunk_size(self._data, self.n_samples)

    def evaluate(self, x: Array) -> Evaluation:
        """Return F(x) and its gradient, chunk by chunk."""
        value, gradient = 0.5 * self.l2 * float(np.dot(x, x)), self.l2 * np.asarray(x)
        for start in range(0, self.n_samples, self._chunk):
            batch = np.arange(start, min(start + self._chunk, self.n_samples))
            with enable_x64(True):
                part, slope = self._value_and_gradient(x, self._data, batch)
            share = len(batch) / self.n_samples
            value += share * float(part)
            gradient += share * np.asarray(slope)
        return Evaluation(value, gradient)

    def batch_gradient(
        self, x: Array, batch: Indices | None, anchor: Array | None = None, slopes: Array | None = None
    ) -> Array:
        """Return grad f_B(x), less grad f_B(anchor) when an anchor is given."""
        if batch is None:
            full = self.evaluate(x).gradient
            return full if anchor is None else full - self.evaluate(anchor).gradient
        with enable_x64(True):
            if anchor is None:
                gradient = self._gradient(x, self._data, batch)
            else:
                gradient = self._difference(x, anchor, self._data, batch)
        return np.asarray(gradient) + self.l2 * (x if anchor is None else x - anchor)

    def descend(self, walk: Walk) -> Walked:
        """Take all steps of a walk in one compiled scan."""
        if walk.batches is None:
            return walk_in_numpy(self, walk)
        average, anchored = walk.averaging, walk.anchor is not None
        start = np.asarray(walk.start, dtype=np.float64)
        anchor = start if walk.anchor is None else walk.anchor
        drift = (0.0 if walk.shift is None else walk.shift) - self.l2 * anchored * anchor
        numbers = (walk.step_size, walk.decay, walk.clock, self.l2 + walk.ridge)
        mode = 0 if average is None else 2 if average.after else 1
        sums = (start, 0.0, 0.0) if average is None else (average.total, average.weight, average.convexity)
        with enable_x64(True):
            end, total, weight = self._scan(
                start,
                anchor,
                drift,
                walk.batches,
                self._data,
                sums,
                numbers,
                walk.pieces,
                anchored=anchored,
                mode=mode,
            )
        if average is not None:
            average = average._replace(total=np.array(total), weight=float(weight))
        return Walked(np.array(end), average, walk.batches.size * self.cost_of_step(walk))

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
        """The Hessian, whether F is convex or not, where JAX can differentiate the loss twice."""
        if self.dim > _LARGEST_HESSIAN or not self._differentiates_twice():
            return SecondOrder()
        return SecondOrder(full=1.0 + self.dim / _DERIVATIVES)

    def _differentiates_twice(self) -> bool:
        """Say whether JAX does so: derivatives of the user's own may know it once, or say something else."""
        rng, rows = np.random.default_rng(0), np.arange(min(self.n_samples, _TRIED))
        x = np.asarray(self.initial) + 0.1 * rng.standard_normal(self.dim)
        v = rng.standard_normal(self.dim)
        with enable_x64(True):
            gradient = partial(self._gradient, data=self._data, batch=rows)
            try:
                said = np.asarray(jax.jvp(gradient, (x,), (v,))[1])
            except (TypeError, ValueError, NotImplementedError):
                return False
            return contradicting_rate(lambda at: np.asarray(gradient(at)), x, v, said) is None

    def curvature(self, x: Array, form: str, batch: Indices | None = None) -> Array:
        """Return the Hessian of F, or of f_B, at x, chunk by chunk."""
        require_form(self, form)
        numbers = np.arange(self.n_samples) if batch is None else batch
        chunk = max(1, _DERIVATIVES * self._chunk // self.dim)
        total = self.l2 * np.eye(self.dim)
        for start in range(0, len(numbers), chunk):
            rows = numbers[start : start + chunk]
            with enable_x64(True):
                part = self._hessian(np.asarray(x), self._data, rows)
            total += len(rows) / len(numbers) * np.asarray(part)
        return packed(0.5 * (total + total.T))

    def digest(self) -> str:
        """Return a hexadecimal digest of data and settings, and of the loss at two points."""
        data = (np.asarray(leaf) for leaf in jax.tree.leaves(self._data))
        return probe_digest(self, *data, self.l2, *told(self._convex, self._known, self._convexity))

    @property
    def words(self) -> str:
        """What it is, in a few words."""
        return f"a model in JAX with l2 = {self.l2:g}" if self.l2 else "a model in JAX"

    def kind(self) -> Kind:
        """Return l2 beside what all objectives say."""
        return super().kind() | {"l2": self.l2}

    def unpack(self, x: Array) -> Any:
        """Return the parameters' pytree at x, with leaves of the types they came in."""
        with enable_x64(True):
            leaves, structure = jax.tree.flatten(self._unravel(jnp.asarray(x)))
            typed = [leaf.astype(dtype) for leaf, dtype in zip(leaves, self._types, strict=True)]
        return jax.tree.unflatten(structure, typed)


def _mean_loss(loss: LossOfSample, unravel: Callable[[Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """Return the mean loss of a batch as a function of x, the data and the batch."""

    def mean(x: Any, data: Any, batch: Any) -> Any:
        samples = jax.tree.map(lambda leaf: leaf[batch], data)
        return jax.vmap(loss, in_axes=(None, 0))(unravel(x), samples).mean()

    return mean


def _scanned(loss: LossOfSample, unravel: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return the loop of `tether.objectives.walk` as one scan; ``mode`` says when x is added to the sum."""
    gradient = jax.grad(_mean_loss(loss, unravel))

    @partial(jax.jit, static_argnames=("anchored", "mode"))
    def scan(
        x: Any,
        anchor: Any,
        drift: Any,
        batches: Any,
        data: Any,
        sums: Any,
        numbers: Any,
        pieces: Any,
        anchored: Any,
        mode: Any,
    ) -> Any:
        step_size, decay, clock, ridge = numbers
        total, weight, convexity = sums

        def step(carry: Any, now: Any) -> Any:
            (x, total, weight), (t, batch) = carry, now
            eta = step_size / (1.0 + decay * (clock + t))
            fade = 1.0 - convexity * eta
            change = gradient(x, data, batch) - (gradient(anchor, data, batch) if anchored else 0.0)
            after = x - eta * (change + drift + ridge * x)
            if pieces is not None:
                after = _prox(pieces, after, eta)
            if mode:
                total, weight = fade * total + (x if mode == 1 else after), fade * weight + 1.0
            return (after, total, weight), None

        begin = (x, jnp.asarray(total), jnp.asarray(weight, dtype=x.dtype))
        return jax.lax.scan(step, begin, (jnp.arange(len(batches)), batches))[0]

    return scan


def _prox(pieces: Any, z: Any, t: Any) -> Any:
    """Return what `tether.polyhedral.Pieces.prox` returns, as JAX computes it."""
    lower, upper, left, right = pieces
    moved = jnp.where(z > 0.0, jnp.maximum(z - t * right, 0.0), jnp.minimum(z + t * left, 0.0))
    return jnp.clip(moved, lower, upper)


def _compiled(loss: LossOfSample, unravel: Callable[[Any], Any]) -> tuple[Callable[..., Any], ...]:
    """Return the value and gradient of a batch, its gradient, and the difference of two gradients."""

    mean = _mean_loss(loss, unravel)
    gradient = jax.grad(mean)

    def difference(x: Any, anchor: Any, data: Any, batch: Any) -> Any:
        return gradient(x, data, batch) - gradient(anchor, data, batch)

    return jax.jit(jax.value_and_grad(mean)), jax.jit(gradient), jax.jit(difference)


def _samples(data: Any) -> tuple[Any, int]:
    """Return the data as JAX arrays and their common length."""
    data = jax.tree.map(jnp.asarray, data)
    leaves = jax.tree.leaves(data)
    if not leaves or any(leaf.ndim == 0 for leaf in leaves):
        raise ValueError(
            "data must be a pytree of arrays with the samples along axis 0, got a scalar or nothing."
        )
    lengths = sorted({len(leaf) for leaf in leaves})
    if len(lengths) > 1:
        raise ValueError(f"data must have equally many samples in every leaf, got lengths {lengths}.")
    if lengths[0] == 0:
        raise ValueError("data must hold at least one sample, got none.")
    if not all(bool(jnp.isfinite(leaf).all()) for leaf in leaves):
        raise ValueError("data must be finite, got NaN or infinite entries; impute or drop them.")
    return data, lengths[0]


def _float64_leaves(params: Any) -> Any:
    leaves = jax.tree.leaves(params)
    types = [jnp.result_type(leaf) for leaf in leaves]
    if not leaves or not all(jnp.issubdtype(dtype, jnp.floating) for dtype in types):
        got = ", ".join(sorted({str(dtype) for dtype in types})) or "no leaf"
        raise ValueError(
            f"params must be a pytree of float arrays, got {got}; close over what is not trained."
        )
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype=jnp.float64), params)


def _require_scalar(loss: LossOfSample, params: Any, data: Any) -> None:
    first = jax.tree.map(lambda leaf: leaf[0], data)
    result = jax.eval_shape(loss, params, first)
    shape = getattr(result, "shape", None)
    if shape != () or not jnp.issubdtype(result.dtype, jnp.floating):
        got = type(result).__name__ if shape is None else f"shape {shape}, dtype {result.dtype}"
        raise ValueError(f"loss(params, sample) must return a float scalar for one sample, got {got}.")


def _chunk_size(data: Any, n_samples: int) -> int:
    per_sample = sum(leaf.size for leaf in jax.tree.leaves(data)) // n_samples
    return min(n_samples, max(1, _CHUNK_NUMBERS // max(1, per_sample)))
