"""Generalised linear models with constraints, in the words of actuaries."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import softmax

from tether.arrays import Array
from tether.estimators.bounds import bounds_of
from tether.estimators.exposed import ExposedEstimator
from tether.estimators.families import Settings, labels_of, loss_of, places_among, require_family
from tether.estimators.fitting import Plan
from tether.estimators.monotonic import monotonic_rows
from tether.estimators.penalties import elastic_net
from tether.estimators.restrictions import Restrictions
from tether.estimators.rows import equations, inequalities
from tether.estimators.table import Table
from tether.estimators.variables import Variables
from tether.inference.distributions import distribution_of

POSITIVE = ("poisson", "gamma", "tweedie")


class ConstrainedGLM(ExposedEstimator):
    r"""A generalised linear model whose coefficients keep to linear equations and inequalities.

    .. math:: \min_\beta \frac{1}{\sum_i w_i} \sum_i w_i \, \mathrm{loss}(x_i^\top \beta + \beta_0 + o_i, y_i)
              + \alpha \Big( \rho \|P_1 \beta\|_1 + \frac{1 - \rho}{2} \beta^\top P_2 \beta \Big)

    with the l1_ratio :math:`\rho`. The loss is half the unit deviance of the family, as in glum and
    scikit-learn:

    =================== ========== ===================================================================
    family              link       loss, up to what depends on y alone
    =================== ========== ===================================================================
    "normal"            identity   (y - z)^2 / 2
    "binomial"          logit      log(1 + exp(z)) - y z; y has two classes, or shares from 0 to 1
    "multinomial"       logit      log sum_k exp(z_k) - z_y; y has several classes
    "poisson"           log        exp(z) - y z; y >= 0
    "gamma"             log        z + y exp(-z); y > 0
    "tweedie"           log        y exp((1-p) z) / (p-1) + exp((2-p) z) / (2-p); y >= 0, 1 < p < 2
    "huber"             identity   (y - z)^2 / 2, linear beyond ``delta``
    "quantile-smoothed" identity   the check loss of ``quantile``, smoothed over ``bandwidth``
    =================== ========== ===================================================================

    Parameters
    ----------
    family : str
        One of the table.
    alpha : float
        The weight of the penalty.
    l1_ratio : float
        The share of the l1 term, from 0 (ridge) to 1 (lasso).
    P1, P2 : float or array of shape (n_features,)
        Factors of the penalties of single coefficients; a series is matched by name.
    fit_intercept : bool
        Whether there is an intercept. It is never penalised, and constraints leave it alone unless they
        name it.
    A_eq, b_eq : array or DataFrame of shape (m, n_features), array of shape (m,)
        Equations A_eq b = b_eq. The columns of a data frame are matched by name and may be some of all, and
        the intercept; b_eq is 0 by default.
    A_ineq, b_ineq : the same
        Inequalities A_ineq b <= b_ineq.
    lower_bounds, upper_bounds : float, array of shape (n_features,) or dict, optional
        Bounds of the coefficients, for all, for each, or by name.
    monotonic_constraints : dict, optional
        By name "increasing" or "decreasing": a column has a coefficient of that sign; the columns that an
        encoder or splines made of a variable, ``age_30, age_40, ...``, have rising or falling coefficients
        in the order of these numbers, or of the columns where they end otherwise. A level that the encoder
        dropped is none of them: bound the next one yourself.
    constraints : list, optional
        Expressions such as ``"x1 + x2 == x3"``, ``"sum == 0"``, ``"age_30 <= age_40"``, ``"0 <= x <= 1"`` in
        the names of the columns (x0, x1, ... for arrays); SciPy's LinearConstraint and Bounds;
        tether.Affine, NonNegative, Simplex. With several classes they hold for each of them;
        ``"age[red] <= age[blue]"`` names coefficients of single ones.
    power, delta, quantile, bandwidth : float
        Settings of "tweedie", "huber" and "quantile-smoothed". The bandwidth h rounds the corner of the check
        loss as logistic noise of scale h would. Without one it is s max(0.05, sqrt(q (1 - q)) ((log n + p) /
        n)^0.4), at most s / 2, with s the distance of the quartiles of y over 1.349.
    method : str or Method
        How to search, as for `tether.solve`.
    tol : float
        How accurate the objective has to be, relative to its size; rounding may allow less, and then what
        was reached counts as enough if that is a millionth.
    max_iter, max_seconds : optional
        Budgets: rounds and seconds.
    random_state : int, optional
        The seed of stochastic methods.

    Attributes
    ----------
    coef_ : array of shape (n_features,), or (n_classes, n_features) for "multinomial"
        The coefficients.
    intercept_ : float or array of shape (n_classes,)
        The intercept, 0 without.
    n_iter_, gap_, multipliers_, active_, solution_
        Rounds; a bound on the distance to the least objective; multipliers by what constraints say; which
        inequalities hold as equations; the `Solution`.
    classes_ : array
        The classes, where y has some.

    Notes
    -----
    Sample weights are frequencies up to a factor: 2 counts a row twice, and multiplying all of them changes
    nothing but the standard errors. The data stays referenced for `summary` and `inference`, and is left
    behind when an estimator is pickled.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from tether.estimators import ConstrainedGLM
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame(rng.standard_normal((200, 3)), columns=["age", "power", "km"])
    >>> y = rng.poisson(np.exp(0.5 * X["age"] - 0.2 * X["power"]))
    >>> model = ConstrainedGLM(family="poisson", constraints=["age + power == 0.3", "km >= 0"]).fit(X, y)
    >>> float(model.coef_[:2].sum().round(9)), model.active_
    (0.3, [])
    """

    def __init__(
        self,
        family: str = "normal",
        *,
        alpha: float = 0.0,
        l1_ratio: float = 0.0,
        P1: Any = 1.0,
        P2: Any = 1.0,
        fit_intercept: bool = True,
        A_eq: Any = None,
        b_eq: Any = None,
        A_ineq: Any = None,
        b_ineq: Any = None,
        lower_bounds: Any = None,
        upper_bounds: Any = None,
        monotonic_constraints: Mapping[str, str] | None = None,
        constraints: Any = None,
        power: float = 1.5,
        delta: float = 1.35,
        quantile: float = 0.5,
        bandwidth: float | None = None,
        method: Any = "auto",
        tol: float = 1e-18,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        random_state: int | None = None,
    ) -> None:
        self.family = family
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.P1 = P1
        self.P2 = P2
        self.fit_intercept = fit_intercept
        self.A_eq = A_eq
        self.b_eq = b_eq
        self.A_ineq = A_ineq
        self.b_ineq = b_ineq
        self.lower_bounds = lower_bounds
        self.upper_bounds = upper_bounds
        self.monotonic_constraints = monotonic_constraints
        self.constraints = constraints
        self.power = power
        self.delta = delta
        self.quantile = quantile
        self.bandwidth = bandwidth
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.random_state = random_state

    @property
    def _log_link(self) -> bool:
        return self.family in POSITIVE

    def _labelled(self, table: Table) -> Table:
        require_family(self.family)
        labels = labels_of(self.family, table.y, table.weights)
        self.__dict__.pop("classes_", None)  # of labels that were fitted before
        if labels.classes is not None:
            self.classes_ = labels.classes
        classes = tuple(map(str, self.classes_)) if self.family == "multinomial" else ()
        return table._replace(y=labels.y, classes=classes)

    def _learned_labels(self, y: Any) -> Any:
        return places_among(self.classes_, y) if hasattr(self, "classes_") else y

    def _plan(self, table: Table, variables: Variables) -> Plan:
        settings = Settings(self.power, self.delta, self.quantile, self.bandwidth)
        loss = loss_of(self.family, settings, table.y, table.weights, len(variables.columns))
        penalties = elastic_net(variables.columns, self.alpha, self.l1_ratio, self.P1, self.P2)
        return Plan(loss, self._restrictions(variables), penalties.l2, [(penalties.l1, None)])

    def _restrictions(self, variables: Variables) -> Restrictions:
        found = super()._restrictions(variables)
        for matrix, right in (("A_eq", "b_eq"), ("A_ineq", "b_ineq")):
            if getattr(self, matrix) is None and getattr(self, right) is not None:
                raise ValueError(f"{right} must be left out without {matrix}, which it belongs to.")
        if self.A_eq is not None:
            found = found.with_block(equations(variables, ("A_eq", "b_eq"), self.A_eq, self.b_eq))
        if self.A_ineq is not None:
            found = found.with_block(inequalities(variables, ("A_ineq", "b_ineq"), self.A_ineq, self.b_ineq))
        if self.monotonic_constraints is not None:
            found = found.with_block(monotonic_rows(variables, self.monotonic_constraints))
        if self.lower_bounds is not None or self.upper_bounds is not None:
            found = found.within(*bounds_of(variables.columns, self.lower_bounds, self.upper_bounds))
        return found

    def _means(self, z: Array) -> Array:
        if self.family == "multinomial":
            return np.asarray(softmax(z, axis=1))
        distribution = distribution_of(self._loss)
        return z if distribution is None else distribution.mean(z)
