"""Standard errors, intervals and tests of a linear model that keeps to equations."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from tether.arrays import Array
from tether.constraints import Affine
from tether.inference.covariance import covariance_of, inverse_on
from tether.inference.distributions import Normal
from tether.inference.equations import Equations, equations_of
from tether.inference.hypotheses import Evidence, Relaxation, relaxations, score_test, wald_test
from tether.inference.information import Samples
from tether.inference.likelihood import Fit
from tether.inference.refusals import require_free, require_model
from tether.inference.summary import Summary, summary_of
from tether.inputs import number, switch
from tether.lazy import lazy
from tether.objectives import GLM
from tether.run.solution import Solution
from tether.solve import solve

FIXED = 1e-10  # of what a standard error would be without the equations: less is rounding
ACCURACY = 1e-13  # of the models that are fitted for likelihood-ratio tests


@dataclass(frozen=True, eq=False)
class Inference:
    """What a statistician asks of a fitted model.

    Attributes
    ----------
    names : tuple of str
        Of the coefficients.
    params, bse, tvalues, pvalues : ndarray
        The coefficients, their standard errors, the ratios and the probabilities of larger ones. A
        coefficient that equations fix has the error 0 and the ratio NaN.
    covariance : ndarray
        Z (Z' H Z)^-1 Z' times the dispersion, or a sandwich around it.
    log_likelihood, deviance, pearson, dispersion, aic, bic, n_samples, df_model, df_resid : float
        As statsmodels defines them.
    cov_type : str
        The kind of the covariance.
    use_t : bool
        Whether ratios are compared with Student's distribution.

    References
    ----------
    Aitchison & Silvey, "Maximum-likelihood estimation of parameters subject to restraints", 1958.
    """

    fit: Fit
    equations: Equations
    names: tuple[str, ...]
    cov_type: str
    groups: Any
    expected_information: bool
    use_t: bool
    solver: str
    response: str

    @property
    def params(self) -> Array:
        """The coefficients."""
        return self.fit.samples.x

    @lazy
    def hessian(self) -> Array:
        """The second derivatives of the sum of losses."""
        return self.fit.samples.hessian(self.expected_information)

    @lazy
    def covariance(self) -> Array:
        """The covariance of the coefficients."""
        inverse = inverse_on(self.hessian, self.equations, self.names)
        return covariance_of(self.fit, inverse, self.cov_type, self.groups)

    @lazy
    def bse(self) -> Array:
        """The standard errors; 0 where equations fix a coefficient."""
        variances = np.diag(self.covariance)
        with np.errstate(divide="ignore"):
            loose = self.fit.dispersion / np.diag(self.hessian)
        return np.where(variances > FIXED**2 * loose, np.sqrt(np.maximum(variances, 0.0)), 0.0)

    @property
    def tvalues(self) -> Array:
        """The coefficients over their standard errors; NaN for fixed ones."""
        free = self.bse > 0.0
        return np.divide(self.params, self.bse, out=np.full(len(self.bse), np.nan), where=free)

    @property
    def pvalues(self) -> Array:
        """The probabilities of ratios as large, of either sign."""
        return np.asarray(2.0 * self._distribution.sf(np.abs(self.tvalues)))

    @property
    def _distribution(self) -> Any:
        if not self.use_t:
            return norm
        return student(self.fit.df_resid if self.groups is None else len(np.unique(self.groups)) - 1)

    def conf_int(self, alpha: float = 0.05) -> Array:
        """Return confidence intervals, (p, 2), that miss with probability alpha."""
        width = self._distribution.isf(number("alpha", alpha, above=0.0, most=1.0) / 2.0) * self.bse
        return np.column_stack([self.params - width, self.params + width])

    def score_tests(self) -> list[Evidence]:
        """Return Rao's score test of each equation, the others kept, and of all together."""
        score, dispersion = self.fit.samples.score, self.fit.dispersion
        return [score_test(relaxed, score, dispersion) for relaxed in self._relaxations]

    def likelihood_ratio_tests(self) -> list[Evidence]:
        """Return the likelihood-ratio test of each equation, the others kept, and of all together.

        The model is fitted once more without each of them.
        """
        found = list[Evidence]()
        for relaxed in self._relaxations:
            if relaxed.df == 0:
                found.append(Evidence.of(relaxed.hypothesis, np.nan, 0))
                continue
            larger = self._refitted(relaxed.left)
            found.append(Evidence.of(relaxed.hypothesis, larger.statistic_against(self.fit), relaxed.df))
        return found

    @lazy
    def _relaxations(self) -> list[Relaxation]:
        return relaxations(self.equations, self.hessian)

    def _refitted(self, equations: Equations) -> Fit:
        objective = self.fit.samples.objective
        constraint = [Affine(equations.matrix, equations.right)] if len(equations.labels) else None
        solution = solve(objective, constraint, x0=self.params, rtol=ACCURACY)
        return Fit(Samples(objective, solution.x), objective.dim - equations.rank)

    def wald_test(self, hypotheses: Any) -> Evidence:
        """Return Wald's test of linear hypotheses, written as expressions such as "x1 == x2"."""
        objective = self.fit.samples.objective
        rows = equations_of(hypotheses, objective.dim, objective.labels, objective.names)
        if not len(rows.labels):
            raise ValueError(f"hypotheses must be equations such as 'x1 == x2', got {hypotheses!r}.")
        rows.require_solution("hypotheses")
        return wald_test(", ".join(rows.labels), rows, self.params, self.covariance)

    def summary(self, alpha: float = 0.05) -> Summary:
        """Return the table that one knows: what was fitted, the coefficients, the equations."""
        return summary_of(self, alpha)

    @property
    def n_samples(self) -> float:
        """The samples, by their weights."""
        return self.fit.n_samples

    @property
    def df_resid(self) -> float:
        """Samples less free coefficients."""
        return self.fit.df_resid

    @property
    def df_model(self) -> float:
        """Free coefficients beside a constant."""
        return float(self.fit.n_free - self._has_constant)

    @property
    def _has_constant(self) -> bool:
        return self.fit.samples.objective.fit_intercept

    @property
    def log_likelihood(self) -> float:
        """The logarithm of the likelihood."""
        return self.fit.log_likelihood

    @property
    def deviance(self) -> float:
        """Twice what the likelihood lacks of that of a model with one coefficient a sample, unscaled."""
        return self.fit.deviance

    @property
    def pearson(self) -> float:
        """Pearson's chi-squared."""
        return self.fit.pearson

    @property
    def dispersion(self) -> float:
        """The factor of the variance."""
        return self.fit.dispersion

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return self.fit.aic

    @property
    def bic(self) -> float:
        """Schwarz's criterion."""
        return self.fit.bic


def infer(
    objective: GLM,
    solution: Solution,
    constraints: Any = None,
    *,
    cov_type: str = "nonrobust",
    groups: Any = None,
    expected_information: bool = False,
    use_t: bool | None = None,
    response: str = "y",
) -> Inference:
    """Return standard errors, tests and criteria of a model that `tether.solve` has fitted.

    Parameters
    ----------
    objective : GLM
        What was minimised: a model with one output and without a ridge. Weights are frequencies.
    solution : Solution
        What `tether.solve` returned.
    constraints : optional
        What the coefficients had to satisfy, as it was given to `tether.solve`. Equations count; inequalities
        and bounds must not hold as equations, because then nobody knows the distribution of estimates.
    cov_type : "nonrobust", "HC0", "HC1" or "cluster"
        The covariance: by the curvature of the likelihood, or robust sandwiches. "HC1" corrects "HC0" by
        n / (n - k), "cluster" by G / (G - 1) (n - 1) / (n - k) for G groups and k free coefficients.
    groups : array of shape (N,), optional
        For "cluster": to which group a sample belongs.
    expected_information : bool
        Whether the expected second derivatives of the loss are used instead of those at the data; they are
        the same for normal, binomial and Poisson models.
    use_t : bool, optional
        Whether ratios are compared with Student's distribution; by default for normal models. It has n - k
        degrees of freedom, for "cluster" G - 1.
    response : str
        What the labels are called in the summary.

    Examples
    --------
    >>> import numpy as np, tether
    >>> from tether.inference import infer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 3))
    >>> objective = tether.GLM(X, rng.poisson(np.exp(X @ [0.5, 0.1, -0.4])), "poisson")
    >>> equation = tether.Affine([1.0, 1.0, 1.0], 0.2)
    >>> found = infer(objective, tether.solve(objective, equation, rtol=1e-12), equation)
    >>> found.bse.round(4)
    array([0.0524, 0.0813, 0.0604])
    >>> [round(test.pvalue, 3) for test in found.score_tests()]
    [0.211]
    """
    require_model(objective, solution)
    equations = equations_of(constraints, objective.dim, objective.labels, objective.names)
    require_free(solution, equations)
    fit = Fit(Samples(objective, solution.x), objective.dim - equations.rank)
    known = fit.samples.distribution
    if known is None and cov_type == "nonrobust":
        raise ValueError(
            f'cov_type must be "HC0", "HC1" or "cluster" for {objective.words}, which has no likelihood, got '
            '"nonrobust".'
        )
    found = Inference(
        fit=fit,
        equations=equations,
        names=tuple(map(objective.labels.at, range(objective.dim))),
        cov_type=cov_type,
        groups=groups,
        expected_information=switch("expected_information", expected_information),
        use_t=isinstance(known, Normal) if use_t is None else switch("use_t", use_t),
        solver=solution.solver,
        response=response,
    )
    found.covariance  # noqa: B018, so that what cannot be had is refused here
    return found
