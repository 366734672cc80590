"""Newton's method: few iterations whatever the units, safe from any start, a certificate near the truth."""

from itertools import islice, pairwise

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.optimize import minimize

import tether
from tether.engines import Serial
from tether.methods import LBFGS, Newton, Regularised
from tether.objectives.losses import SmoothedQuantile
from tether.problem import Problem

RNG = np.random.default_rng(3)
N, P = 300, 8


def logistic(scale=1.0, l2=1e-3, n=N):
    rng = np.random.default_rng(11)
    X, truth = rng.standard_normal((n, P)), rng.standard_normal(P) / 3
    return tether.GLM(X * scale, rng.random(n) < 1.0 / (1.0 + np.exp(-X @ truth)), "logistic", l2=l2)


def poisson(offset=0.0):
    rng = np.random.default_rng(12)
    X = np.column_stack([rng.standard_normal((N, P - 1)), np.ones(N)])
    return tether.GLM(
        X, rng.poisson(np.exp(X[:, :-1] @ rng.standard_normal(P - 1) * 0.5 + offset)), "poisson"
    )


def multinomial():
    rng = np.random.default_rng(13)
    return tether.GLM(rng.standard_normal((N, 4)), rng.integers(0, 3, N), "multinomial", l2=1e-3)


UNITS = np.logspace(-3, 3, P)
PROBLEMS = {
    "logistic": (logistic(), 2),
    "logistic, columns in unlike units": (logistic(UNITS, l2=1e-9), 2),
    "logistic, hardly regularised": (logistic(l2=1e-12), 0),
    "logistic, not regularised": (logistic(l2=0.0), 1),
    "poisson": (poisson(), 1),
    "poisson, large counts": (poisson(6.0), 1),
    "multinomial": (multinomial(), 3),
    "squared": (tether.GLM(RNG.standard_normal((N, P)) * UNITS, RNG.standard_normal(N), "squared"), 2),
}


@pytest.fixture(params=PROBLEMS)
def problem(request):
    objective, m = PROBLEMS[request.param]
    rows = np.random.default_rng(5).standard_normal((m, objective.dim))
    return objective, tether.Affine(rows, np.full(m, 0.01)) if m else None


def optimum(objective, constraint):
    """The lowest value by another library, in coordinates of the tangent space."""
    dim = objective.dim
    origin = np.zeros(dim) if constraint is None else constraint.project(np.zeros(dim))
    basis = np.eye(dim) if constraint is None else null_space(constraint.equations[0])

    def value(v):
        x = origin + basis @ (v / scale)
        seen = objective.evaluate(x)
        return seen.value, (basis.T @ seen.gradient) / scale

    hessian = np.stack([_difference(objective, origin, column) for column in basis.T])
    scale = np.sqrt(np.abs(np.diag(hessian @ basis)) + 1e-30)
    best = minimize(value, np.zeros(basis.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-12})
    return best.fun


def _difference(objective, x, direction, step=1e-5):
    return (objective.gradient(x + step * direction) - objective.gradient(x - step * direction)) / (2 * step)


def test_fifteen_iterations_are_enough_for_ten_digits(problem):
    objective, constraint = problem
    sol = tether.solve(objective, constraint, Newton(refresh=1), tol=1e-10)
    assert sol.success and sol.counts.stages <= 15
    assert sol.fun <= optimum(objective, constraint) + 1e-9 * max(1.0, abs(sol.fun))


def test_the_certified_gap_is_never_below_the_true_one_and_close_to_it(problem):
    objective, constraint = problem
    best = tether.solve(objective, constraint, Newton(refresh=1), tol=1e-15).fun
    for tol in (1e-3, 1e-6):
        sol = tether.solve(objective, constraint, Newton(refresh=1), tol=tol)
        rounding = 1e-13 * max(1.0, abs(best))
        assert sol.fun - best <= sol.gap + rounding
        assert sol.gap <= 3.0 * (sol.fun - best) + 10 * rounding


def test_hessians_that_are_kept_for_some_iterations_lead_to_the_same_point(problem):
    objective, constraint = problem
    often, seldom = (tether.solve(objective, constraint, m, tol=1e-12) for m in (Newton(refresh=1), Newton()))
    assert often.success and seldom.success
    assert abs(often.fun - seldom.fun) <= 1e-11 * max(1.0, abs(often.fun))


def test_the_last_iterations_converge_quadratically():
    moments = tether.iterate(logistic(), tether.Affine(np.ones((1, P))), Newton(refresh=1))
    slopes = [next(moments).reply.certificate ** 0.5 for _ in range(9)]
    small = [slope for slope in slopes if 1e-13 < slope < 1e-1]
    ratios = [after / before**2 for before, after in pairwise(small)]
    assert len(ratios) >= 2 and max(ratios) < 100.0


@pytest.mark.parametrize("start", [0.0, 3.0, -30.0])
def test_poisson_is_solved_from_any_start(start):
    objective, constraint = poisson(2.0), tether.Affine(np.ones((1, P)), [1.0])
    x0 = np.full(P, start)
    sol = tether.solve(objective, constraint, "newton", x0=x0, tol=1e-9)
    best = tether.solve(objective, constraint, LBFGS(), tol=1e-12, max_passes=5000)
    assert sol.success and abs(sol.fun - best.fun) <= 1e-7 * abs(best.fun)


def test_units_of_the_columns_do_not_matter():
    counts = [
        tether.solve(logistic(scale, l2=0.0), None, Newton(refresh=1), tol=1e-9).counts.stages
        for scale in (1.0, UNITS)
    ]
    assert abs(counts[0] - counts[1]) <= 1


@pytest.mark.parametrize("form", ["full", "kronecker", "diagonal"])
def test_every_form_leads_to_the_optimum(form):
    objective, constraint = multinomial(), tether.Affine(np.ones((1, 12)), [1.0])
    sol = tether.solve(objective, constraint, Newton(curvature=form), tol=1e-9)
    best = tether.solve(objective, constraint, "lbfgs", tol=1e-12)
    assert sol.success and abs(sol.fun - best.fun) < 1e-9


def test_a_metric_that_is_due_comes_with_the_next_trial():
    moments = islice(tether.iterate(multinomial(), None, Newton(curvature="kronecker")), 20)
    states, points = zip(*((moment.state, moment.reply.point) for moment in moments), strict=True)
    assert states[-1].renewals >= 3
    assert not any(np.array_equal(one, other) for one, other in pairwise(points))


def test_a_metric_is_taken_where_the_run_is_if_the_trial_it_came_with_leads_too_far():
    engine, problem = Serial(), Problem(multinomial(), tether.Unconstrained(12))
    algorithm, memory = Newton(curvature="kronecker").prepare(engine.facts(problem)), engine.blank(problem)
    state = algorithm.start(np.zeros(12))
    while not algorithm._renews_ahead(state):
        reply, memory = engine.exchange(problem, algorithm.ask(state), memory)
        state = algorithm.tell(state, reply)
    request = algorithm.ask(state)
    assert np.array_equal(request.metric.point, request.point) and len(request.beside) >= 2
    reply, memory = engine.exchange(problem, request, memory)
    refused = algorithm.tell(state, reply._replace(value=state.inner.value + 1.0))
    again = algorithm.ask(refused)
    assert np.array_equal(again.point, state.inner.x) and np.array_equal(again.metric.point, again.point)
    assert algorithm.tell(state, reply).metric is reply.point
    unfit = algorithm.tell(state, reply._replace(curved=None))
    assert unfit.fresh and len(unfit.inner.pairs.steps) == len(state.inner.pairs.steps)


def test_second_derivatives_of_some_samples_do_as_a_metric():
    objective = logistic(n=3000)
    sol = tether.solve(objective, tether.Affine(np.ones((1, P))), Newton(sample=0.1), tol=1e-10)
    best = tether.solve(objective, tether.Affine(np.ones((1, P))), Newton(), tol=1e-12)
    assert sol.success and abs(sol.fun - best.fun) < 1e-10


def test_a_federation_needs_as_many_rounds_however_the_data_is_split():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((400, P)), rng.random(400) < 0.3
    rounds = []
    for order in (np.arange(400), np.argsort(y)):
        parts = np.array_split(order, 4)
        # one class alone on a worker is fine: labels are given as 0 and 1
        workers = tether.Federation([tether.GLM(X[part], y[part], l2=1e-3) for part in parts])
        sol = tether.solve(workers, tether.Affine(np.ones((1, P))), "newton", tol=1e-10)
        assert sol.success
        rounds.append(sol.counts.rounds)
    assert rounds[0] == rounds[1] <= 10


def test_the_message_says_how_often_the_hessian_was_taken():
    assert "Hessian was taken" in tether.solve(logistic(), None, "newton").message


@pytest.mark.parametrize("method", ["newton", "auto"])
@pytest.mark.parametrize("seed", [2, 4, 6, 9])
def test_steps_that_lead_too_far_from_the_corner_of_a_robust_loss_are_taken_anew(seed, method):
    y = np.random.default_rng(seed).standard_t(2, size=40)
    objective = tether.GLM(np.ones((40, 1)), y, SmoothedQuantile(quantile=0.1, bandwidth=0.003))
    sol = tether.solve(objective, None, method, x0=[np.median(y)], rtol=1e-8, max_rounds=150)
    values = [objective.evaluate(np.array([t])).value for t in np.linspace(*np.sort(y)[[2, 6]], 1000)]
    assert sol.status.name != "MAX_ROUNDS" and sol.fun <= min(values) + 1e-8


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"curvature": "hessian"}, "curvature must be"),
        ({"refresh": 0}, "refresh must be"),
        ({"sample": 1.5}, "sample must be"),
        ({"sample": 0.0}, "sample must be"),
    ],
    ids=["form", "refresh", "large share", "no share"],
)
def test_settings_that_no_run_could_use_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        Newton(**settings)


def test_a_form_that_the_objective_does_not_have_is_refused():
    with pytest.raises(
        ValueError, match=r"curvature='kronecker' is not to be had .* use 'full' or 'diagonal'"
    ):
        tether.solve(logistic(), None, Newton(curvature="kronecker"))


def test_objectives_without_second_derivatives_are_refused_in_one_sentence():
    objective = tether.FiniteSum(lambda x, batch: x, lambda x, batch: 0.5 * x @ x, 5, 3, smoothness=1.0)
    with pytest.raises(ValueError, match="second derivatives"):
        tether.solve(objective, None, "newton")


def test_newton_is_not_regularised():
    with pytest.raises(TypeError, match="Newton"):
        Regularised(Newton())
