"""What methods declare they need, and what they advise after a divergence."""

import re

import pytest

import tether
from tether.engines import Problem
from tether.methods import (
    LBFGS,
    NAMES,
    Anderson,
    Auto,
    DelayedASVRG,
    DelayedSGD,
    DelayedSVRG,
    Nesterov,
    Newton,
    ProxSkip,
    ProxSkipSVRG,
    Regularised,
    Scaffold,
)
from tether.needs import Need
from tether.problem import Cut
from tether.requests import Gradient

PLANE, GRADIENTS, AVERAGES = Need.PLANE, Need.GRADIENTS, Need.AVERAGES

NEEDS = [
    (DelayedSGD(), {AVERAGES}),
    (DelayedSGD(output="last"), set()),
    (DelayedSGD(participation=0.5), set()),
    (ProxSkip(), set()),
    (Scaffold(), {PLANE}),
    (DelayedSVRG(), {PLANE, GRADIENTS, AVERAGES}),
    (DelayedSVRG(anchor="last"), {PLANE, GRADIENTS}),
    (DelayedASVRG(), {PLANE, GRADIENTS, AVERAGES}),
    (ProxSkipSVRG(), {GRADIENTS}),
    (Nesterov(), {PLANE, GRADIENTS}),
    (LBFGS(), {PLANE, GRADIENTS}),
    (Newton(), {GRADIENTS}),
    (Auto(), {GRADIENTS}),
    (Anderson(DelayedSVRG()), {PLANE, GRADIENTS, AVERAGES}),
    (Anderson(ProxSkipSVRG()), {GRADIENTS}),
    (Regularised(ProxSkip()), {PLANE}),
    (Regularised(DelayedSGD()), {PLANE, AVERAGES}),
]


@pytest.mark.parametrize(
    ("method", "needs"),
    NEEDS,
    ids=lambda value: "" if isinstance(value, set | frozenset) else repr(value)[:40],
)
def test_methods_say_what_they_cannot_do_without(method, needs):
    assert method.needs == needs


@pytest.mark.parametrize(
    "method",
    [make() for make in NAMES.values()] + [method for method, _ in NEEDS],
    ids=lambda m: repr(m)[:60],
)
def test_no_method_asks_for_what_it_did_not_declare(strongly_convex, converse, x0, method):
    moments = converse(strongly_convex.objective, strongly_convex.constraint, method, x0)
    asked = {PLANE} & method.needs
    for _ in range(60):
        request = next(moments).request
        if isinstance(request, Gradient):
            asked.add(GRADIENTS)
        elif request.average is not None and request.average.collect:
            asked.add(AVERAGES)
    assert asked == method.needs


WALKING = [DelayedSGD, DelayedSVRG, DelayedASVRG, ProxSkip, ProxSkipSVRG, Scaffold]


def _advised(remedy):
    return float(re.fullmatch(r".*try step_size=(\S+) or a smaller interval", remedy).group(1))


@pytest.mark.parametrize("kind", WALKING)
def test_walking_methods_advise_the_step_that_they_would_have_chosen_for_these_samples(strongly_convex, kind):
    facts = tether.Serial().facts(Problem(strongly_convex.objective, strongly_convex.constraint))
    usual = kind().prepare(facts._replace(cut=Cut)).step_size  # with a given step no row comes in shares
    algorithm = strongly_convex.prepare(kind(step_size=1e4))
    assert "step_size=10000" in algorithm.remedy()
    assert _advised(algorithm.remedy()) == float(f"{usual:.2g}")


@pytest.mark.parametrize("kind", [DelayedSGD, DelayedSVRG, DelayedASVRG, ProxSkipSVRG])
def test_with_theory_the_advice_is_the_proven_step(strongly_convex, kind):
    usual = strongly_convex.prepare(kind(parameters="theory")).step_size
    method = kind(parameters="theory", step_size=1.5 * usual)
    assert _advised(strongly_convex.prepare(method).remedy()) == float(f"{usual:.2g}")


@pytest.mark.parametrize("kind", WALKING)
def test_if_the_usual_step_or_a_smaller_one_diverged_the_advice_is_a_quarter(strongly_convex, kind):
    algorithm = strongly_convex.prepare(kind())
    assert _advised(algorithm.remedy()) == float(f"{algorithm.step_size / 4:.2g}")


@pytest.mark.parametrize("method", [Nesterov(), LBFGS(), Auto(), Anderson(DelayedSVRG())], ids=repr)
def test_where_the_step_is_not_fixed_the_advice_is_about_the_problem(strongly_convex, method):
    assert strongly_convex.prepare(method).remedy() == "start from another x0 or rescale the data"


def test_a_regularised_method_advises_what_the_method_does(strongly_convex):
    assert _advised(strongly_convex.prepare(Regularised(DelayedSVRG(step_size=1e4))).remedy()) < 1
