"""Any smooth finite sum, by NumPy functions of the user's."""

import inspect
import math
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tether.arrays import Array, Indices
from tether.curvature import SecondOrder
from tether.inputs import dimension, nonnegative, positive_integer, shown, vector
from tether.lazy import lazy
from tether.objectives.base import Evaluation, Objective, Smoothness, probe_digest, require_form
from tether.objectives.convexity import as_convex
from tether.objectives.estimate import (
    checked_smoothness,
    known_or_estimated,
    known_or_open,
    told,
    told_or_seen,
)
from tether.objectives.own_hessian import OwnHessian
from tether.objectives.smoothness import Constants

Function = Callable[[Array, Indices], Any]


class FiniteSum(Objective):
    r"""A finite sum given by functions for its gradient and its value.

    .. math:: F(x) = \frac1N \sum_{i=1}^N f_i(x), \qquad f_B(x) = \frac1{|B|} \sum_{i \in B} f_i(x)

    Parameters
    ----------
    gradient : callable
        ``gradient(x, batch)`` returns the gradient of f_B, an array of p floats; ``batch`` is a
        one-dimensional integer array of sample numbers.
    value : callable
        ``value(x, batch)`` returns f_B(x), +inf where x is outside its domain (entropy, logarithms,
        barriers); line searches come back from there, and the gradient is not asked for.
    n_samples : int
        N.
    dim : int
        p, the length of x.
    smoothness : float or Smoothness, optional
        A constant L for which every f_i is L-smooth, or all constants. If it is not given and a method needs
        it, it is estimated from gradients around the start: some fifteen passes, once. L-BFGS does not.
    convexity : float
        mu, a constant for which F is mu-strongly convex. Gap certificates rest on it.
    convex : bool, optional
        True: F is convex, on your word. False: it is not, so nothing is certified and ``convexity`` is not
        used. By default gradients at some pairs of points around the start are looked at; see
        ``nonconvexity``.
    initial : array of shape (p,), optional
        Where runs start unless they are told otherwise, 0 by default. The functions are tried there; where
        they are not finite at 0, at the x0 of a run.
    hessian : callable, optional
        ``hessian(x, batch)`` returns the Hessian of f_B, for methods that use curvature: a symmetric array or
        sparse matrix of shape (p, p), or, if it is diagonal everywhere, the p numbers of its diagonal. It is
        compared with differences of gradients.

    Notes
    -----
    Full passes call both functions with the numbers of all samples, an array that is made anew each time and
    not kept: 8 N bytes while a pass lasts.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.objectives import FiniteSum
    >>> points = np.array([[0.0, 1.0], [2.0, 3.0]])
    >>> objective = FiniteSum(
    ...     gradient=lambda x, batch: x - points[batch].mean(axis=0),
    ...     value=lambda x, batch: 0.5 * np.mean(np.sum((x - points[batch]) ** 2, axis=1)),
    ...     n_samples=2, dim=2, smoothness=1.0, convexity=1.0,
    ... )
    >>> objective.value(np.array([1.0, 2.0]))
    1.0
    """

    uses_blas = True  # perhaps: the functions are the user's
    tries_zero = False  # perhaps outside their domain

    def __init__(
        self,
        gradient: Function,
        value: Function,
        n_samples: int,
        dim: int,
        *,
        smoothness: float | Smoothness | None = None,
        convexity: float = 0.0,
        convex: bool | None = None,
        hessian: Function | None = None,
        initial: Any = None,
    ) -> None:
        self.n_samples = positive_integer("n_samples", n_samples)
        self.dim = dimension("dim", dim)
        self._convexity = nonnegative("convexity", convexity)
        self._known = checked_smoothness(smoothness, self._convexity)
        self._convex = as_convex(convex)
        self._gradient, self._value = _callable("gradient", gradient), _callable("value", value)
        self._hessian = None if hessian is None else OwnHessian(_callable("hessian", hessian), self.dim)
        self.initial = None if initial is None else vector("initial", initial, self.dim).copy()
        self._begin("initial")

    def evaluate(self, x: Array) -> Evaluation:
        """Return F(x) and its gradient, NaN outside the domain; there are no slopes to keep."""
        value = self.value(x)
        if math.isinf(value):
            return Evaluation(value, np.full(self.dim, math.nan))
        return Evaluation(value, self._checked_gradient(x, np.arange(self.n_samples)))

    def value(self, x: Array) -> float:
        """Return F(x); outside the domain quietly."""
        return self._checked_value(x, np.arange(self.n_samples))

    def is_defined(self, x: Array, batch: Indices | None) -> bool:
        """Say whether F is finite at x, by the values of a batch: formulas of gradients may go on outside."""
        with np.errstate(all="ignore"):
            try:
                value = self._checked_value(x, np.arange(self.n_samples) if batch is None else batch)
            except (ValueError, ArithmeticError):  # as math.log says it
                return False
        return math.isfinite(value)

    def starting_at(self, x: Array) -> Objective:
        """Return these functions, tried at x if they could not be tried before."""
        if self._tried:
            return self
        twin = copy(self)
        twin.__dict__.pop("nonconvexity", None)
        twin.initial = x
        twin._begin("x0")
        return twin

    def batch_gradient(
        self, x: Array, batch: Indices | None, anchor: Array | None = None, slopes: Array | None = None
    ) -> Array:
        """Return grad f_B(x), less grad f_B(anchor) when an anchor is given."""
        batch = np.arange(self.n_samples) if batch is None else batch
        gradient = self._checked_gradient(x, batch)
        if anchor is not None:
            gradient -= self._checked_gradient(anchor, batch)
        return gradient

    @lazy
    def second_order(self) -> SecondOrder:
        """What the user's Hessian costs, as far as its shape tells."""
        return SecondOrder() if self._hessian is None else self._hessian.second_order(self._start)

    def curvature(self, x: Array, form: str, batch: Indices | None = None) -> Array:
        """Return the user's Hessian of F, or of f_B, at x."""
        require_form(self, form)
        assert self._hessian is not None
        return self._hessian.vector(x, np.arange(self.n_samples) if batch is None else batch, form)

    @lazy
    def smoothness(self) -> Smoothness:
        """What was given, or estimates with a margin."""
        return known_or_estimated(self, self._known, self._convexity)

    def constants(self) -> Constants:
        """Return what was given; L is left open where it would have to be estimated."""
        return known_or_open(self, self._known, self._convexity)

    @lazy
    def nonconvexity(self) -> str:
        """What shows that F is not convex, or not as strongly as was said; empty where nothing does."""
        if not self._tried and self._convex is None:
            return ""
        return told_or_seen(self, self._convex, self._known, self._convexity)

    @property
    def words(self) -> str:
        """What it is, in a few words."""
        return "a finite sum in NumPy"

    def digest(self) -> str:
        """Return a hexadecimal digest of the settings, and of the functions at two points."""
        return probe_digest(self, *told(self._convex, self._known, self._convexity))

    def _checked_gradient(self, x: Array, batch: Indices) -> Array:
        """Return a copy, because the user's function may hand out the same buffer twice."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # a walk may leave the domain
            gradient = _as_array("gradient", self._gradient(x, batch))
        if gradient.shape != (self.dim,) or gradient.dtype.kind != "f":
            raise ValueError(
                f"gradient(x, batch) must return {self.dim} floats (shape ({self.dim},)), "
                f"got shape {gradient.shape} and dtype {gradient.dtype}."
            )
        return gradient.astype(np.float64)

    def _checked_value(self, x: Array, batch: Indices) -> float:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            value = _as_array("value", self._value(x, batch))
        if value.ndim != 0 or value.dtype.kind not in "fiu":
            raise ValueError(
                f"value(x, batch) must return one finite number, the mean over the batch, got {value!r}."
            )
        return float(value)

    def _begin(self, start: str) -> None:
        """Try the functions where a run starts, if they can be there; ``start`` is the argument's name."""
        x = self._start
        self._tried = self.initial is not None or self._is_tame(x)
        if self._tried:
            self._try_at(x, start)
            with suppress(ValueError):  # which comes again, in its place, when all samples are asked for
                _ = self.nonconvexity  # now, so that a run calls the functions for its own needs alone

    @property
    def _start(self) -> Array:
        return np.zeros(self.dim) if self.initial is None else self.initial

    def _is_tame(self, x: Array) -> bool:
        """Say whether both functions can be called at x and return nothing infinite there."""
        with np.errstate(all="ignore"):
            try:
                said = [function(x, np.arange(1)) for function in (self._value, self._gradient)]
            except (ValueError, ArithmeticError, AssertionError):  # as functions with a domain refuse a point
                return False
        parts = [_as_array(name, part) for name, part in zip(("value", "gradient"), said, strict=True)]
        return all(part.dtype.kind != "f" or bool(np.isfinite(part).all()) for part in parts)

    def _try_at(self, x: Array, start: str) -> None:
        """Call both functions for one sample, so that a mistake shows where it was made."""
        batch = np.arange(1)
        with np.errstate(all="ignore"):
            finite = math.isfinite(self._checked_value(x, batch))
            finite = finite and bool(np.isfinite(self._checked_gradient(x, batch)).all())
        if not finite:
            raise ValueError(
                f"{start} must be a point where value(x, batch) and gradient(x, batch) are finite, but for "
                "sample 0 they are not; choose another one."
            )
        self._require_means(x)
        if self._hessian is not None:
            self._hessian.require_true(self._checked_gradient, x, self.n_samples)

    def _require_means(self, x: Array) -> None:
        """Compare what two samples give together with the mean of what each gives."""
        pair = np.arange(min(2, self.n_samples))
        functions: dict[str, Function] = {"gradient": self._checked_gradient, "value": self._checked_value}
        if self._hessian is not None:
            hessian, v = self._hessian, np.random.default_rng(0).standard_normal(self.dim)
            functions["hessian"] = lambda x, batch: hessian.times(x, batch, v)
        for name, function in functions.items():
            apart = [np.asarray(function(x, pair[i : i + 1])) for i in range(len(pair))]
            size = max(float(np.abs(part).max()) for part in apart)
            if np.abs(function(x, pair) - np.mean(apart, axis=0)).max() > 1e-4 * size:
                raise ValueError(
                    f"{name}(x, batch) must return the mean over the batch, but for two samples it is not "
                    "the mean of what it gives for each; divide sums by len(batch)."
                )


def _callable(name: str, function: Function) -> Function:
    if not callable(function):
        raise ValueError(f"{name} must be a function of (x, batch), got {type(function).__name__}.")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # compiled functions may have none
        return function
    try:
        signature.bind(None, None)
    except TypeError as error:
        raise ValueError(
            f"{name} must be a function of two arguments, (x, batch), got one of {signature}."
        ) from error
    return function


def _as_array(name: str, returned: Any) -> NDArray[Any]:
    try:
        return np.asarray(returned)
    except (ValueError, TypeError, OverflowError) as error:  # rows of unequal length, for one
        raise ValueError(
            f"{name}(x, batch) must return what NumPy makes an array of numbers of, got {shown(returned)}."
        ) from error
