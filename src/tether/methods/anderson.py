"""Anderson acceleration of stage-wise methods, without a projection and without a message.

A stage maps its start z_k to G_k. With the misfits f_k = G_k - z_k of the leading vector, the next stage
starts from the mix of the last images whose misfits cancel best. The weights sum to one, so feasible points
stay feasible; workers apply the same weights to the duals they remember, which stay in range(A^T).
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, final

import numpy as np

from tether.arrays import Array
from tether.methods.base import Algorithm, Method, StageWise, StageWiseAlgorithm
from tether.methods.pace import NOISE
from tether.methods.parameters import check_settings
from tether.needs import Need
from tether.problem import Facts
from tether.requests import Arrived, Descend, Gradient, Measured, Reply, Request

SHORTENED_TOO_OFTEN = 40  # halvings after which no step size makes F fall


class AndersonState(NamedTuple):
    """The inner state, where its stage started, and the last stages as misfits and images."""

    inner: Any
    start: Array  # z_k, the vectors that the stage starts from, one a row
    weights: Array  # the mix of remembered duals that goes with z_k
    good: Array  # the last start at which F was lower than before
    good_weights: Array
    misfits: Array  # f_j, newest last
    images: Array  # G_j, newest last, shape (stages, vectors, p)
    value: float = math.inf  # F at the good start
    mixed: bool = False  # z_k is a mix rather than the plain image of a stage
    again: bool = False  # the stage before was undone, so the newest remembered dual is to be replaced
    shortened: int = 0  # how often walks or steps were
    seeded: bool = False  # the first dual is the gradient's, not a learned one
    stage: int = 0


@final
@dataclass(frozen=True)
class Anderson(Method):
    """Extrapolate the stages of a method from its last few.

    F is known at the start of every stage. If a mix made it rise, the mix and the memory are dropped and the
    plain image of the last stage is used; if that rose too, the stage is undone and walks or steps shortened,
    unless it was the first one and had its dual from the gradient: then that dual is dropped.
    An undone stage starts with all its vectors at the leading one, from where short steps go downhill.

    Parameters
    ----------
    method : StageWise
        DelayedSVRG, DelayedASVRG or ProxSkipSVRG.
    memory : int, default 20
        M, the stages that are mixed.
    damping : float, default 1e-10
        Regularises the small least-squares problem, relative to its mean eigenvalue.

    Examples
    --------
    >>> import numpy as np, tether
    >>> from tether.methods import Anderson, ProxSkipSVRG
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((100, 4)), rng.standard_normal(100)
    >>> objective = tether.GLM(X, y, loss="squared", l2=0.1)
    >>> flagship = Anderson(ProxSkipSVRG(renew=True))
    >>> tether.solve(objective, tether.Affine(np.ones((1, 4))), flagship).success
    True
    """

    method: StageWise
    memory: int = 20
    damping: float = 1e-10

    def __post_init__(self) -> None:
        check_settings(self)
        if not isinstance(self.method, StageWise):
            raise TypeError(
                "method must be stage-wise, that is DelayedSVRG, DelayedASVRG or ProxSkipSVRG, "
                f"got {self.method!r}: other methods have no stages to extrapolate."
            )

    @property
    def needs(self) -> frozenset[Need]:
        """Those of the method, and F, which tells whether a mix was any good."""
        return self.method.needs | {Need.GRADIENTS}

    def prepare(self, facts: Facts) -> "AndersonAlgorithm":
        """Prepare the method, with room for the duals of the stages that are mixed."""
        inner = self.method.prepare(facts).remembering(self.memory + 2)
        return AndersonAlgorithm(method=inner, memory=self.memory, damping=self.damping)


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class AndersonAlgorithm(Algorithm[AndersonState]):
    """Anderson acceleration of a prepared algorithm."""

    name: ClassVar[str] = "Anderson"

    method: StageWiseAlgorithm[Any]
    memory: int
    damping: float

    @property
    def title(self) -> str:
        """The name, and what is inside."""
        return f"{self.name}({self.method.title})"

    def start(self, x: Array, clock: int = 0) -> AndersonState:
        """Begin the first stage."""
        inner = self.method.start(x, clock)
        coordinates = self.method.coordinates(inner)
        assert coordinates is not None, "a stage begins where the method does"
        start, none = np.stack(coordinates), np.zeros(0)
        return AndersonState(
            inner=inner,
            start=start,
            weights=none,
            good=start,
            good_weights=none,
            misfits=np.empty((0, len(x))),
            images=np.empty((0, *start.shape)),
        )

    def warm(self, state: AndersonState) -> AndersonState:
        """Start as the inner method does."""
        return state._replace(inner=self.method.warm(state.inner))

    def ask(self, state: AndersonState) -> Request:
        """Ask what the inner method asks, with the dual of an undone stage replaced."""
        request = self.method.ask(state.inner)
        if state.again and isinstance(request, Descend) and request.dual is not None:
            return request._replace(dual=request.dual._replace(renew=True))
        return request

    def tell(self, state: AndersonState, reply: Reply) -> AndersonState:
        """Check F where a stage starts; extrapolate where it ends."""
        if isinstance(reply, Measured):
            if reply.complete and not reply.value <= state.value + NOISE * reply.rounding:
                return self._step_back(state)
            value = reply.value if reply.complete else np.inf  # last known numbers say nothing of F here
            state = state._replace(value=value, good=state.start, good_weights=state.weights)
        elif not np.isfinite(reply.end).all():
            return self._step_back(state._replace(mixed=False, good_weights=_padded(state)))
        inner = self.method.tell(state.inner, reply)
        state = state._replace(inner=inner)
        end = self.method.coordinates(inner)
        if isinstance(reply, Arrived):
            return state if end is None else self._extrapolate(state, np.stack(end))
        return self._forget(state) if self.method.starts_anew(inner) else state

    def _extrapolate(self, state: AndersonState, image: Array) -> AndersonState:
        keep = 1 if self.method.crosses(state.inner) else self.memory + 1
        misfits = np.vstack([state.misfits, image[:1] - state.start[:1]])[-keep:]
        images = np.concatenate([state.images, image[None]])[-keep:]
        weights = _mix(misfits, self.damping)
        start = self.method.admitted(np.tensordot(weights, images, 1), images)
        if start is None:
            misfits, images, weights, start = misfits[-1:], images[-1:], np.ones(1), image
        mixed = len(weights) > 1
        return state._replace(
            inner=self.method.move(state.inner, tuple(start), weights) if mixed else state.inner,
            start=start,
            weights=weights,
            mixed=mixed,
            again=False,
            good_weights=_padded(state),
            misfits=misfits,
            images=images,
            stage=state.stage + 1,
        )

    def _forget(self, state: AndersonState) -> AndersonState:
        """Drop the stages so far: this one starts with a dual of its own, the newest."""
        alone = np.ones(1)
        return state._replace(
            weights=alone,
            good_weights=alone,
            mixed=False,
            again=False,
            misfits=state.misfits[:0],
            images=state.images[:0],
            seeded=state.stage == 0,
        )

    def _step_back(self, state: AndersonState) -> AndersonState:
        """Leave a start where F rose: for the plain image if it was a mix, else for the last good start."""
        if state.mixed:
            return self._restart(state, state.images[-1], np.ones(1))
        start, weights = np.repeat(state.good[:1], len(state.good), axis=0), state.good_weights
        state = state._replace(again=True)
        if state.seeded and state.stage <= 1:  # by the gradient of a point far from the optimum
            inner = self.method.shorten(state.inner, 1.0)  # which puts the next renewal off
            return self._restart(state._replace(inner=inner, seeded=False), start, np.zeros_like(weights))
        inner = self.method.shorten(state.inner, 0.5)
        return self._restart(state._replace(inner=inner, shortened=state.shortened + 1), start, weights)

    def _restart(self, state: AndersonState, start: Array, weights: Array) -> AndersonState:
        """Start the stage elsewhere, with nothing to extrapolate from."""
        return state._replace(
            inner=self.method.move(state.inner, tuple(start), weights),
            start=start,
            weights=weights,
            mixed=False,
            misfits=state.misfits[:0],
            images=state.images[:0],
        )

    def recovers(self, state: AndersonState) -> bool:
        """Say that a rise of F is always undone."""
        return True

    def exhausted(self, state: AndersonState) -> bool:
        """Say whether no step size makes F fall any more."""
        return state.shortened > SHORTENED_TOO_OFTEN

    def describe(self, state: AndersonState) -> str:
        """Say what the inner method says."""
        return self.method.describe(state.inner)

    def clock(self, state: AndersonState) -> int:
        """Return the inner method's clock."""
        return self.method.clock(state.inner)

    def estimate(self, state: AndersonState) -> Array:
        """Return the inner method's estimate."""
        return self.method.estimate(state.inner)

    def inspect(self, state: AndersonState) -> Gradient:
        """Certify as the inner method does."""
        return self.method.inspect(state.inner)


def _padded(state: AndersonState) -> Array:
    """Return the weights of the good start, now that workers remember one more dual, or a new last one."""
    return state.good_weights if state.again else np.append(state.good_weights, 0.0)


def _mix(misfits: Array, damping: float) -> Array:
    """Return the weights, summing to one, of the images whose misfits cancel best."""
    newest = np.zeros(len(misfits))
    newest[-1] = 1.0
    differences = np.diff(misfits, axis=0)
    if len(differences) == 0:
        return newest
    gram = differences @ differences.T
    gram[np.diag_indices_from(gram)] += damping * np.trace(gram) / len(gram) + np.finfo(float).tiny
    gamma = np.linalg.solve(gram, differences @ misfits[-1])
    return newest + np.append(gamma, 0.0) - np.append(0.0, gamma)
