"""Finite sums beside their data: F(x) = (1/N) sum_i f_i(x).

An objective answers two questions about its data: the full pass (`evaluate`) and the gradient of a batch
(`batch_gradient`). The local phase of every method, `descend`, is built from the second.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tether.arrays import Array, Indices
from tether.curvature import FORMS, FULL, SecondOrder, unpacked
from tether.digest import digest_of
from tether.names import Labels, counted
from tether.needs import Need
from tether.objectives.domain import Domain
from tether.objectives.shares import Shares
from tether.objectives.smoothness import Constants, Contrast, Smoothness
from tether.objectives.walk import Walk, Walked, walk_in_numpy

__all__ = ["Array", "Evaluation", "Indices", "Objective", "Smoothness"]

Kind = dict[str, str | float | int | bool]  # settings by name
HALVINGS = 50  # after which a shift counts as none
INTERPRETED_STEP = 40_000.0  # numbers that compiled code reads while Python gets through a step


class Expansion(NamedTuple):
    """F at a point to second order, where the Hessian can be had in full: it is made when asked for."""

    value: float
    gradient: Array
    hessian: Callable[[], Array]


class Evaluation(NamedTuple):
    """One full pass over the data at a point.

    Examples
    --------
    >>> import numpy as np, tether
    >>> seen = tether.GLM(np.eye(2), [1.0, 3.0], "squared").evaluate(np.zeros(2))
    >>> seen.value, seen.gradient.tolist(), seen.slopes.tolist()
    (2.5, [-0.5, -1.5], [-1.0, -3.0])
    """

    value: float
    gradient: Array
    slopes: Array | None = None  # per-sample numbers from which anchor gradients are rebuilt


class Objective(ABC):
    """A smooth finite sum that lives beside its data.

    Attributes
    ----------
    names : tuple of str, optional
        Names of the variables, where they are known; empty where the data has names but each of them stands
        for several variables, as with several outputs.
    initial : array, optional
        Where a run starts if it is told nothing else; None: at 0.
    proven_convex : bool
        Whether the way it is made guarantees that F is convex.
    domain : Domain, optional
        Where F is finite, if it is known not to be so everywhere.

    Examples
    --------
    >>> import numpy as np, tether
    >>> class Distance(tether.objectives.Objective):
    ...     "The mean of ||x - p||^2 / 2 over some points."
    ...     def __init__(self, points):
    ...         self.points = np.asarray(points)
    ...         self.n_samples, self.dim = self.points.shape
    ...     def evaluate(self, x):
    ...         gaps = x - self.points
    ...         value = 0.5 * float((gaps**2).sum(axis=1).mean())
    ...         return tether.objectives.Evaluation(value, gaps.mean(axis=0))
    ...     def batch_gradient(self, x, batch, anchor=None, slopes=None):
    ...         some = self.points if batch is None else self.points[batch]
    ...         return x - (some.mean(axis=0) if anchor is None else anchor)
    ...     @property
    ...     def smoothness(self):
    ...         return tether.Smoothness(1.0, 1.0, convexity=1.0)
    >>> tether.solve(Distance([[0.0, 1.0], [2.0, 3.0]]), method="lbfgs", tol=1e-9).x.round(6)
    array([1., 2.])
    """

    n_samples: int
    dim: int
    names: tuple[str, ...] | None = None
    initial: Array | None = None
    proven_convex: bool = False
    floor: float = -math.inf  # F is nowhere lower
    domain: Domain | None = None
    tries_zero: bool = True  # F may be looked at around 0 before a run that starts elsewhere
    single: bool = False  # products with data are taken in single precision
    uses_blas: bool = False  # for so much that it should have all its threads
    anchored_price: int = 2  # component gradients that a sample of an anchored step costs
    lacks: Mapping[Need, str] = {}

    @abstractmethod
    def evaluate(self, x: Array) -> Evaluation:
        """Return F(x), its gradient and, where they exist, the per-sample slopes, in one pass."""

    @abstractmethod
    def batch_gradient(
        self, x: Array, batch: Indices | None, anchor: Array | None = None, slopes: Array | None = None
    ) -> Array:
        """Return grad f_B(x), or grad f_B(x) - grad f_B(anchor) when an anchor is given.

        ``batch`` holds sample numbers (None: all samples); ``slopes`` is what `evaluate` kept at the anchor.
        The result is a fresh array that the caller may change.
        """

    @property
    @abstractmethod
    def smoothness(self) -> Smoothness:
        """The constants L_max, L_F and mu; computed once."""

    def is_defined(self, x: Array, batch: Indices | None) -> bool:
        """Say whether F is finite at x, as far as a batch shows."""
        with np.errstate(all="ignore"):
            return bool(np.isfinite(self.batch_gradient(x, batch)).all())

    def expansion(self, x: Array) -> Expansion:
        """Return F, its gradient and its Hessian at x, where that can be had in full."""
        there = self.evaluate(x)
        return Expansion(there.value, there.gradient, lambda: unpacked(self.curvature(x, FULL)))

    def constants(self) -> Constants:
        """Return the same constants; where L costs passes over the data, it is left open until asked for."""
        return self.smoothness

    @property
    def nonconvexity(self) -> str:
        """What shows that F is not convex; empty where nothing does."""
        return ""

    @property
    def convex(self) -> bool:
        """Whether nothing shows that F is not convex."""
        return not self.nonconvexity

    @property
    def mass(self) -> float:
        """How much this sum counts among others: its samples, or the sum of their weights."""
        return float(self.n_samples)

    @property
    def natural_batch(self) -> int:
        """The batch size at which steps are efficient: here, a hundred steps a pass, at most 128 samples."""
        return max(1, min(128, self.n_samples // 100))

    @property
    def sample_work(self) -> float:
        """What a sample of a step takes, in numbers of a dense row; here, steps are interpreted."""
        return INTERPRETED_STEP / self.natural_batch + self.dim

    def cost_of_step(self, walk: Walk) -> int:
        """Return the component gradients that a sample of a step costs: 2 if the anchor's are recomputed."""
        return 1 if walk.anchor is None or walk.slopes is not None else 2

    def descend(self, walk: Walk) -> Walked:
        """Walk E steps off the constraint and report where they led."""
        return walk_in_numpy(self, walk)

    def value(self, x: Array) -> float:
        """Return F(x)."""
        return self.evaluate(x).value

    def gradient(self, x: Array) -> Array:
        """Return grad F(x)."""
        return self.evaluate(x).gradient

    def hessian(self) -> tuple[Any, Array] | None:
        """Return H and g of F(x) = x^T H x / 2 + g^T x + constant where F is so and H cheap, else None."""
        return None

    def direction_of_fall(self, x: Array, way: Array, equations: Any) -> Array | None:
        """Return d with A d = 0 along which F falls for ever; None: there is none, or nobody knows.

        A run has come to x, by this way since it was not quite as accurate.
        """
        return None

    @property
    def shares(self) -> Shares | None:
        """How walks may cut long rows into shares; None: there are none, or samples are alike."""
        return None

    @property
    def draws(self) -> int:
        """N', the steps of a pass that takes long rows in shares; 0: no row has shares."""
        return 0 if self.shares is None else len(self.shares.order)

    @property
    def share(self) -> float:
        """The largest smoothness constant of a share; 0: there are none."""
        return 0.0 if self.shares is None else self.shares.largest

    @property
    def second_order(self) -> SecondOrder:
        """What second derivatives cost; here, there are none."""
        return SecondOrder()

    @property
    def contrast(self) -> Contrast:
        """What makes it difficult for first-order methods, as far as a look at the data tells."""
        return Contrast()

    @property
    def reach(self) -> Array | None:
        """r with H(x + v) >= exp(-<r, |v|>) H(x), so that units of variables do not matter; None: unknown."""
        return None

    def fall(self, v: Array) -> float:
        """Return at most by what the logarithm of second derivatives falls along v, wherever that begins."""
        return math.inf if self.reach is None else float(self.reach @ np.abs(v))

    def curvature(self, x: Array, form: str, batch: Indices | None = None) -> Array:
        """Return the second derivatives at x of F, or of f_B, in a form of `tether.curvature`."""
        raise NotImplementedError(f"{type(self).__name__} has no second derivatives")

    def curvature_of_some(
        self, x: Array, form: str, share: float, seed: Sequence[int]
    ) -> tuple[Array, float]:
        """Return second derivatives at x from a share of the samples, and what they cost in gradients of one.

        The samples are the same ones whenever the seed is the same.
        """
        chosen = some_of(self.n_samples, share, np.random.default_rng(seed))
        return self.curvature(x, form, chosen), len(chosen) * self.second_order.price(form)

    def curvature_among(self, x: Array, chosen: Indices, batch: Indices | None = None) -> Array:
        """Return the triangle of the Hessian of some variables at x."""
        raise NotImplementedError(f"{type(self).__name__} has no second derivatives of some variables")

    @property
    def majorised(self) -> "Objective | None":
        """The same sum with second derivatives so large that its models lie above F; None: not known."""
        return None

    def edge(self, x: Array) -> str:
        """Say which variables are at an end of the domain; nothing if none is."""
        return ""

    def starting_at(self, x: Array) -> "Objective":
        """Return this sum as a run from x sees it; most are the same wherever a run starts."""
        return self

    def kind(self) -> Kind:
        """Return what must be the same for all workers of a federation: everything but the data."""
        return {"objective": type(self).__name__}

    @property
    def words(self) -> str:
        """What it is, in a few words."""
        return f"an objective of the class {type(self).__name__}"

    @property
    def labels(self) -> Labels:
        """What each variable is called where it is shown."""
        named = bool(self.names) and not counted(self.names or ())
        return Labels("x", self.dim, self.names if named else None)

    @property
    def unweighted(self) -> "Objective":
        """This sum without the weight that it has among other workers."""
        return self

    def compile(self) -> None:  # noqa: B027, because most have nothing to do
        """Use compiled steps even for little data, as one of many workers does."""

    def digest(self) -> str:
        """Return a hexadecimal digest of data and settings; here, of what is seen at two points."""
        return probe_digest(self)

    def unpack(self, x: Array) -> Any:
        """Return x in the shape natural to the model."""
        return x


def require_form(objective: Objective, form: str) -> None:
    """Refuse a form in which an objective does not have its second derivatives."""
    second = objective.second_order
    if not math.isfinite(second.price(form)):
        offered = [f'"{one}"' for one in FORMS if math.isfinite(second.price(one))]
        raise NotImplementedError(
            f'{type(objective).__name__} has no second derivatives of the form "{form}" here, '
            f"only of: {', '.join(offered) or 'none'}."
        )


def probe_digest(objective: Objective, *settings: Any) -> str:
    """Return a digest of settings and of F and its gradient at two fixed points.

    The second is nearer to the first where F is not finite. A few numbers stand for a gradient, all rounded
    to 10 digits: the number of threads that took part in a sum changes the last ones.
    """
    rng = np.random.default_rng(0)
    home = np.zeros(objective.dim) if objective.initial is None else objective.initial
    seen = []
    for x in (home, home + defined_shift(objective, home, 0.1 * rng.standard_normal(objective.dim), None)):
        value, gradient, _ = objective.evaluate(x)
        length = float(np.linalg.norm(gradient))
        shares = rng.standard_normal((3, objective.dim)) @ gradient / (length or 1.0)
        seen += [f"{value:.9e}", f"{length:.9e}", *(f"{share:.9f}" for share in shares)]
    kind = type(objective).__name__
    return digest_of(kind, objective.n_samples, objective.dim, home, *settings, *seen)


def centres(objective: Objective) -> list[Array]:
    """Return where F is looked at before a run: around its start, and around 0 if that is no risk."""
    zero = np.zeros(objective.dim)
    if objective.initial is None:
        return [zero]
    also = objective.tries_zero and objective.initial.any() and objective.is_defined(zero, None)
    return [objective.initial, *([zero] if also else [])]


def defined_shift(objective: Objective, home: Array, shift: Array, batch: Indices | None) -> Array:
    """Return a shift from a point, halved until F is finite on both sides of it, and once more for room."""
    for halvings in range(HALVINGS):
        if all(objective.is_defined(home + sign * shift, batch) for sign in (1.0, -1.0)):
            return 0.5 * shift if halvings else shift
        shift = 0.5 * shift
    return shift


def some_of(n_samples: int, share: float, rng: np.random.Generator) -> Indices:
    """Draw a share of all samples, at least one."""
    count = min(n_samples, max(1, math.ceil(share * n_samples)))
    return np.sort(rng.choice(n_samples, count, replace=False))
