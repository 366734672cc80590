"""Means of functions of one variable each, coupled by equations only: flows on networks, raking."""

import math
from typing import Any, final

import numpy as np
from scipy import sparse

from tether.arrays import Array, Indices
from tether.curvature import DIAGONAL, SecondOrder
from tether.digest import digest_of
from tether.inputs import dimension
from tether.lazy import lazy
from tether.names import column_names
from tether.objectives.base import Evaluation, Kind, Objective, Smoothness, require_form
from tether.objectives.domain import Domain
from tether.objectives.scalars import Own, PerVariable
from tether.objectives.separable_inputs import (
    as_function,
    as_start,
    check_words,
    common_length,
    ends,
    per_variable,
)
from tether.objectives.smoothness import Constants, OpenSmoothness, require_moderate
from tether.objectives.walk import Walk

FULL_LIMIT = 2_000  # variables up to which a full matrix may be asked for
FULL_PRICE = 0.02  # component gradients that a number of a full matrix costs


@final
class Separable(Objective):
    r"""A mean of functions of one variable each.

    .. math:: F(x) = \frac1p \sum_{j=1}^p w_j\, \phi_j(x_j)

    It is a mean, so F is divided by p and multipliers are too: prices per unit are ``p * sol.multipliers``.
    Each variable is a sample, N = p. The Hessian is diagonal. On a `Flow`, x holds the flows on the edges and
    multipliers are the prices (heads, voltages, travel times) at the nodes.

    Parameters
    ----------
    phi : str or three functions
        One of the names below, or ``(phi, dphi, d2phi)``: functions that take all p variables and return p
        numbers, the values, first and second derivatives. They are compared with each other by differences.

        =============  ==================================  ===============================================
        name           phi_j(x_j)                          parameters
        =============  ==================================  ===============================================
        "quadratic"    (x - c)^2 / 2                       ``center`` c = 0
        "power"        |x|^q / q                           ``exponent`` q > 1
        "logcosh"      log cosh(s (x - c))                 ``center`` c = 0, ``scale`` s = 1
        "entropy"      x log(x / r) - x, x > 0             ``reference`` r = 1
        "bpr"          t0 (x + B x (x/k)^P / (P+1)),       ``free_time`` t0, ``capacity`` k,
                       x >= 0                              ``coefficient`` B = 0.15, ``exponent`` P = 4
        =============  ==================================  ===============================================
    weights : float or array of shape (p,), optional
        w >= 0, 1 by default.
    lower, upper : float or array of shape (p,)
        The domain on which phi is used: F is +inf where x_j < lower_j or x_j > upper_j. Runs start inside and
        line searches come back. Bounds as constraints are another matter: a minimum at an end of the domain
        is not found, and a run that is stopped there says so.
    dim : int, optional
        p, where neither weights nor parameters are arrays.
    initial : array of shape (p,), optional
        Where runs start unless they are told; by default at c, r, k or 0. If the nearest point that satisfies
        the equations is outside the domain, one inside is looked for.
    **parameters : float or array of shape (p,)
        Those of the table, one for all variables or one for each.

    Examples
    --------
    A water network: head losses r q |q|^0.852 balance around every loop, and heads are prices.

    >>> import numpy as np, tether
    >>> pipes = tether.Flow([[0, 1], [1, 2], [0, 2]], [3.0, 0.0, -3.0])
    >>> resistance = np.array([1.0, 2.0, 0.5])
    >>> losses = tether.Separable("power", exponent=2.852, weights=resistance)
    >>> sol = tether.solve(losses, pipes, tol=1e-10)
    >>> heads = 3 * sol.multipliers
    >>> np.allclose(heads[[0, 1, 0]] - heads[[1, 2, 2]], resistance * sol.x * abs(sol.x) ** 0.852)
    True

    Raking: the weights nearest to those of a sample that have given totals.

    >>> table = tether.Affine([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]], [30.0, 70.0, 60.0])
    >>> raked = tether.Separable("entropy", reference=[10.0, 20.0, 30.0, 40.0])
    >>> tether.solve(raked, table, tol=1e-10).x.round(3).tolist()
    [15.934, 14.066, 44.066, 25.934]
    """

    anchored_price = 1
    domain: Domain
    initial: Array

    def __init__(
        self,
        phi: Any,
        *,
        weights: Any = None,
        lower: Any = -math.inf,
        upper: Any = math.inf,
        dim: int | None = None,
        initial: Any = None,
        **parameters: Any,
    ) -> None:
        check_words(phi, parameters)
        given = {"weights": weights, "lower": lower, "upper": upper, "initial": initial} | parameters
        self.dim = common_length(given, None if dim is None else dimension("dim", dim))
        self.n_samples = self.dim
        self.function = as_function(phi, parameters, self.dim)
        self.weights = per_variable("weights", 1.0 if weights is None else weights, self.dim, least=0.0)
        self.domain = ends(lower, upper, self.dim, self.function)
        self.initial = as_start(initial, self.function, self.domain, self.dim)
        self._seen = (
            self.function.checked(self.initial, self.domain) if isinstance(self.function, Own) else ""
        )
        self.proven_convex = self.function.convex
        self.names = next((names for names in map(column_names, given.values()) if names is not None), None)

    def evaluate(self, x: Array) -> Evaluation:
        """Return F(x), its gradient and w phi'(x); +inf and NaN outside the domain."""
        if not self.domain.holds(x):
            nowhere = np.full(self.dim, math.nan)
            return Evaluation(math.inf, nowhere, nowhere)
        with np.errstate(over="ignore", invalid="ignore"):
            values, slopes = self.function.values_and_slopes(x)
            slopes = self.weights * slopes
            value = float(np.mean(self.weights * values))
        return Evaluation(math.inf if math.isnan(value) else value, slopes / self.dim, slopes)

    def batch_gradient(
        self, x: Array, batch: Indices | None, anchor: Array | None = None, slopes: Array | None = None
    ) -> Array:
        """Return the mean of w_j phi_j'(x_j) e_j over the batch, less that at the anchor."""
        some = slice(None) if batch is None else batch
        found = self._slopes(x, batch)
        if anchor is not None:
            found = found - (self._slopes(anchor, batch) if slopes is None else slopes[some])
        if batch is None:
            return found / self.dim
        return np.bincount(batch, found, minlength=self.dim) / len(batch)

    def _slopes(self, x: Array, batch: Indices | None) -> Array:
        """Return w phi'(x) of a batch; NaN where x is outside the domain."""
        with np.errstate(all="ignore"):
            if batch is None:
                found = self.weights * self.function.values_and_slopes(x)[1]
                return np.where(self.domain.misses(x), math.nan, found)
            found = _at(self.weights, batch) * self.function.slopes_of(x, batch)
            return np.where(self.domain.take(batch).misses(x[batch]), math.nan, found)

    def cost_of_step(self, walk: Walk) -> int:
        """Return 1: a difference of slopes costs no more than one."""
        return 1

    @property
    def natural_batch(self) -> int:
        """All variables: a step moves nothing but those of its batch, and takes as long as a full one."""
        return self.dim

    @property
    def sample_work(self) -> float:
        """One number of a vector."""
        return 1.0

    @lazy
    def smoothness(self) -> Smoothness:
        """The extremes of w phi'' over the domain; where phi'' is unbounded, an estimate near the start."""
        mu, largest = self._convexity, self._largest
        if not math.isfinite(largest):
            estimate = max(self._seen_curvature(), self.dim * mu)
            return Smoothness(estimate, max(estimate / self.dim, mu), mu, exact=False)
        require_moderate("weights", largest)
        return Smoothness(largest, max(largest / self.dim, mu), mu)

    def constants(self) -> Constants:
        """Return the constants; where phi'' is unbounded, L is left open."""
        if math.isfinite(self._largest):
            return self.smoothness
        return OpenSmoothness(self._convexity, lambda: self.smoothness)

    @lazy
    def _convexity(self) -> float:
        """The smallest w phi'' over the domain, over p."""
        if self._seen:
            return 0.0
        return float(np.min(self.weights * self._spread[0])) / self.dim

    @lazy
    def _spread(self) -> tuple[PerVariable, PerVariable]:
        return self.function.spread(self.domain.lower, self.domain.upper)

    @lazy
    def _largest(self) -> float:
        with np.errstate(invalid="ignore"):
            return float(np.max(np.where(np.equal(self.weights, 0.0), 0.0, self.weights * self._spread[1])))

    def _seen_curvature(self) -> float:
        """Return the largest w phi'' at the start and a little further."""
        places = (self.initial, self.domain.inward(1.5 * self.initial + 0.5))
        with np.errstate(all="ignore"):
            seen = np.array([np.max(self.weights * self.function.curvatures(x)) for x in places])
        finite = seen[np.isfinite(seen)]
        return float(finite.max()) if finite.any() else 1.0

    @property
    def nonconvexity(self) -> str:
        """What shows that a user's phi is not convex; empty for those with a name."""
        return self._seen

    def hessian(self) -> tuple[Any, Array] | None:
        """Return diag(w) / p and -w c / p of a quadratic without ends."""
        unbounded = not (np.isfinite(self.domain.lower).any() or np.isfinite(self.domain.upper).any())
        if self.function.name != "quadratic" or not unbounded:
            return None
        weights = np.broadcast_to(self.weights, self.dim) / self.dim
        return sparse.csr_array(sparse.diags_array(weights)), -weights * self.function.parameters["center"]

    @lazy
    def second_order(self) -> SecondOrder:
        """A diagonal at the price of a pass; for few variables also as a full matrix."""
        return SecondOrder(
            full=1.0 + FULL_PRICE * self.dim if self.dim <= FULL_LIMIT else math.inf,
            diagonal=1.0,
            concordance=self.function.concordance(self.domain.lower, self.domain.upper),
            separable=True,
        )

    def curvature(self, x: Array, form: str, batch: Indices | None = None) -> Array:
        """Return w phi''(x) / p, or that of a batch, as a diagonal or as the triangle of a full matrix."""
        require_form(self, form)
        with np.errstate(all="ignore"):
            diagonal = np.where(self.domain.misses(x), math.nan, self.weights * self.function.curvatures(x))
        counts = 1.0 if batch is None else np.bincount(batch, minlength=self.dim)
        diagonal = diagonal * counts / (self.dim if batch is None else len(batch))
        if form == DIAGONAL:
            return diagonal
        full = np.zeros(self.dim * (self.dim + 1) // 2)
        full[np.cumsum(np.arange(1, self.dim + 1)) - 1] = diagonal
        return full

    @property
    def words(self) -> str:
        """What it is, in a few words."""
        return f"a separable function ({self.function.name})"

    def kind(self) -> Kind:
        """Return which function is added up."""
        return super().kind() | {"phi": self.function.name}

    def digest(self) -> str:
        """Return a hexadecimal digest of the function, its parameters, the weights and the domain."""
        own = self.function.fingerprint(self.initial, self.domain) if isinstance(self.function, Own) else ()
        named = [part for item in sorted(self.function.parameters.items()) for part in item]
        return digest_of(
            "Separable", self.function.name, *named, *own, self.weights, *self.domain, self.initial
        )

    def edge(self, x: Array) -> str:
        """Say which variables are at an end of the domain; nothing if none is."""
        found = self.domain.edge(x)
        if not len(found):
            return ""
        j, others = found[0], f" and {len(found) - 1} more" if len(found) > 1 else ""
        return f"x[{j}] = {x[j]:.3g}{others} came to the edge of the domain of F"


def _at(value: Any, some: Indices) -> Any:
    return value[some] if isinstance(value, np.ndarray) else value
