"""Settings are checked where they are given, and names stand for methods."""

import numpy as np
import pytest
from scipy import sparse

import tether
from tether.engines import Problem
from tether.methods import (
    LBFGS,
    NAMES,
    Anderson,
    DelayedASVRG,
    DelayedSGD,
    DelayedSVRG,
    Nesterov,
    ProxSkip,
    ProxSkipSVRG,
    Regularised,
    Scaffold,
    as_method,
)
from tether.methods.schedule import largest_gap, next_projection


@pytest.mark.parametrize(
    ("method", "setting", "value"),
    [
        (DelayedSGD, "interval", 0),
        (DelayedSGD, "interval", (3, 2)),
        (DelayedSGD, "interval", ()),
        (DelayedSGD, "interval", (0, 4)),
        (DelayedSGD, "interval", (True, 5)),
        (DelayedSGD, "interval", {3, 5}),
        (DelayedSGD, "interval", frozenset({3, 5})),
        (DelayedSGD, "interval", {3: 1, 5: 1}),
        (DelayedSVRG, "interval", 2.5),
        (DelayedSVRG, "interval", "ten"),
        (DelayedSVRG, "step_size", 0.0),
        (DelayedSVRG, "step_size", float("inf")),
        (DelayedSVRG, "step_size", float("nan")),
        (DelayedSVRG, "batch_size", 0),
        (DelayedSVRG, "batch_size", 1.5),
        (DelayedSVRG, "stage_length", -1),
        (DelayedSVRG, "convexity", -0.1),
        (DelayedSVRG, "anchor", "first"),
        (DelayedSVRG, "output", "best"),
        (DelayedSVRG, "parameters", "magic"),
        (DelayedSGD, "decay", -1.0),
        (DelayedSGD, "output", "mean"),
        (DelayedASVRG, "momentum", 0.0),
        (DelayedASVRG, "momentum", 1.1),
        (DelayedASVRG, "restart", 0),
        (DelayedASVRG, "first_step", "second"),
        (DelayedASVRG, "average", "between"),
        (ProxSkip, "interval", (2, 4)),
        (ProxSkipSVRG, "interval", (2, 4)),
        (Nesterov, "smoothness", -1.0),
        (LBFGS, "memory", 0),
    ],
)
def test_a_setting_that_no_run_could_use_is_refused_by_name(method, setting, value):
    with pytest.raises(ValueError, match=setting):
        method(**{setting: value})


def test_wrappers_check_their_own_settings():
    with pytest.raises(ValueError, match="memory"):
        Anderson(DelayedSVRG(), memory=0)
    with pytest.raises(ValueError, match="strength"):
        Regularised(DelayedSVRG(), strength=0.0)


@pytest.mark.parametrize("kind", [DelayedSGD, DelayedSVRG, DelayedASVRG])
@pytest.mark.parametrize("times", [[2, 3, 7], np.array([2, 3, 7])], ids=["list", "array"])
def test_projection_times_may_come_as_a_list_or_an_array(strongly_convex, kind, times):
    assert strongly_convex.prepare(kind(interval=times)).interval == (2, 3, 7)


@pytest.mark.parametrize("kind", [DelayedSGD, DelayedSVRG, DelayedASVRG, ProxSkip, ProxSkipSVRG, Scaffold])
def test_numbers_of_numpy_are_plain_numbers_once_prepared(strongly_convex, kind):
    given = {"interval": np.int64(4), "step_size": np.float32(0.5)}
    if hasattr(kind, "stage_length"):
        given |= {"stage_length": np.int32(8), "batch_size": np.int8(2)}
    algorithm = strongly_convex.prepare(kind(**given))
    for name, value in given.items():
        prepared = getattr(algorithm, name)
        assert prepared == value and type(prepared) in (int, float)


def test_checking_settings_leaves_them_as_they_were_written():
    times = [2, 3, 7]
    assert DelayedSVRG(interval=times).interval is times


def test_projections_come_at_their_times_and_at_the_end_of_the_stage():
    def times(interval, end):
        step, met = 0, []
        while step < end:
            step = next_projection(interval, step, end)
            met.append(step)
        return met

    assert times(4, 10) == [4, 8, 10]
    assert times(5, 10) == [5, 10]
    assert times(20, 10) == [10]
    assert times((2, 3, 7), 10) == [2, 3, 7, 10]
    assert times((2, 10, 15), 10) == [2, 10]


def test_without_stages_projection_times_run_on_and_a_set_repeats_after_its_last():
    def times(interval, count):
        met = [0]
        while len(met) <= count:
            met.append(next_projection(interval, met[-1]))
        return met[1:]

    assert times(7, 4) == [7, 14, 21, 28]
    assert times((3, 5, 20), 7) == [3, 5, 20, 23, 25, 40, 43]
    assert times((4,), 3) == [4, 8, 12]
    assert next_projection(7, 20) == 21 and next_projection((3, 5, 20), 24) == 25, "from anywhere"
    assert largest_gap(30) == 30 and largest_gap((3, 5, 20)) == 15 and largest_gap((9, 10)) == 9


@pytest.mark.parametrize(
    ("interval", "end", "gap"), [(4, 10, 4), (20, 10, 10), ((2, 3, 7), 10, 4), ((2, 3), 10, 7), ((1,), 1, 1)]
)
def test_the_gap_is_the_longest_run_without_a_projection(interval, end, gap):
    assert largest_gap(interval, end) == gap


def test_names_stand_for_methods():
    for name, make in NAMES.items():
        as_method(name)
        assert make() == make()
    assert isinstance(NAMES["skip"](), Anderson) and isinstance(NAMES["skip"]().method, ProxSkipSVRG)
    assert NAMES["p-svrg"]() == DelayedSVRG(interval=1)


@pytest.mark.parametrize("method", ["dp-sgdd", "", None, 3, DelayedSVRG])
def test_an_unknown_method_is_refused_with_the_names(strongly_convex, method):
    with pytest.raises(ValueError, match=r"auto, skip, .*lbfgs"):
        tether.solve(strongly_convex.objective, strongly_convex.constraint, method)


def _chosen(objective):
    facts = tether.Serial().facts(Problem(objective, tether.Unconstrained(objective.dim)))
    auto = as_method("auto").prepare(facts)
    return auto.describe(auto.start(np.zeros(objective.dim)))


def test_auto_takes_newtons_method_where_second_derivatives_are_cheap():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 3)), rng.poisson(1.0, size=3000)
    assert "chose Newton's method" in _chosen(tether.GLM(X, y, loss="poisson", l2=0.1))


def test_auto_takes_lbfgs_for_few_samples_and_one_projection_a_pass_for_many():
    rng = np.random.default_rng(0)
    X, y = sparse.random_array((3000, 6000), density=0.02, rng=rng, format="csr"), rng.integers(2, size=3000)
    assert "chose L-BFGS (few samples)" in _chosen(tether.GLM(X[:100], y[:100], l2=0.1))
    assert "chose ProxSkip-SVRG with Anderson" in _chosen(tether.GLM(X, y, l2=0.1))


def test_auto_tries_lbfgs_first_where_rows_point_anywhere_alike_however_long_they_are():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30_000, 40)), rng.integers(2, size=30_000)
    lengths = np.exp(1.5 * rng.standard_normal(30_000))[:, None]
    mixed = X.cumsum(axis=1)
    assert "chose L-BFGS (data are even" in _chosen(tether.GLM(X, y, l2=1e-4))
    assert "chose L-BFGS (data are even" in _chosen(tether.GLM(X * lengths, y, l2=1e-4))
    assert "chose Newton's method" in _chosen(tether.GLM(mixed, y, l2=1e-4))


@pytest.mark.parametrize("width", [30, 200])  # one has its matrix formed, the other is probed
@pytest.mark.parametrize("as_stored", [np.asarray, sparse.csr_array])
def test_the_spread_of_directions_is_that_of_the_eigenvalues_of_rows_of_length_one(width, as_stored):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, width)) * np.logspace(0.0, -1.0, width)
    units = X / np.linalg.norm(X, axis=1)[:, None]
    products = np.square(units @ units.T)
    np.fill_diagonal(products, 0.0)
    spread = tether.GLM(as_stored(X), rng.integers(2, size=900), l2=0.1).contrast.spread
    assert spread == pytest.approx(width * products.sum() / (900 * 899), rel=0.15)


def test_auto_tries_lbfgs_before_a_hessian_that_costs_much_unless_rows_are_very_uneven():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 900)), rng.integers(2, size=3000)
    units = np.logspace(0.0, -0.5, 900)
    assert "chose L-BFGS (data are even" in _chosen(tether.GLM(X, y, l2=1e-4))
    assert "chose L-BFGS (before second" in _chosen(tether.GLM(X * units, y, l2=1e-4))
    assert "chose Newton's method" in _chosen(tether.GLM(X * units**5, y, l2=1e-4))


def test_auto_takes_walks_where_l2_makes_them_easy_and_a_hessian_costs_more():
    rng = np.random.default_rng(0)
    X, y = (
        sparse.random_array((60_000, 1500), density=0.02, rng=rng, format="csr"),
        rng.integers(2, size=60_000),
    )
    X = (X * np.logspace(0.0, -2.0, 1500)).tocsr()
    assert "chose ProxSkip-SVRG with Anderson" in _chosen(tether.GLM(X, y, l2=1e-3))
    assert "chose ProxSkip-SVRG with Anderson" not in _chosen(tether.GLM(X, y, l2=1e-6))


def test_auto_takes_the_diagonal_only_where_data_settle_most_variables():
    rng = np.random.default_rng(0)
    X = sparse.random_array((9000, 6000), density=0.005, rng=rng, format="csr") * np.logspace(0.0, -2.0, 6000)
    X, y = sparse.csr_array(X), rng.integers(2, size=9000)
    assert "columns are unequal" in _chosen(tether.GLM(X, y, l2=1e-6))
    assert "columns are unequal" not in _chosen(tether.GLM(X[:2000], y[:2000], l2=1e-6))
    assert "columns are unequal" in _chosen(tether.GLM(X[:2000], y[:2000], l2=1e-4))


def test_auto_takes_nothing_for_easy_where_workers_do_not_tell():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 100)), rng.integers(10, size=3000)
    parts = [slice(0, 3000, 3), slice(1, 3000, 3), slice(2, 3000, 3)]
    workers = tether.Federation([tether.GLM(X[part], y[part], "multinomial", l2=1e-3) for part in parts])
    first = tether.solve(workers, max_rounds=3).decisions[0]
    assert first.words == "Newton's method" and first.reason == "second derivatives are cheap"


def test_auto_takes_lbfgs_where_the_smoothness_is_only_estimated():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 900)), rng.poisson(1.0, size=3000)
    assert "chose L-BFGS (smoothness" in _chosen(tether.GLM(X, y, loss="poisson", l2=0.1))


def test_open_batches_leave_a_hundred_steps_a_pass():
    rng = np.random.default_rng(0)
    for n_samples, size in ((50, 1), (1000, 10), (30_000, 128)):
        objective = tether.GLM(rng.standard_normal((n_samples, 2)), rng.integers(2, size=n_samples), l2=0.1)
        facts = tether.Serial().facts(Problem(objective, tether.Unconstrained(2)))
        method = DelayedSVRG().prepare(facts)
        assert method.batch_size == size
        assert method.stage_length == -(-n_samples // size)


def test_a_batch_holds_at_most_all_samples(strongly_convex, first_moments):
    moments = first_moments(strongly_convex, DelayedSVRG(batch_size=1000), 1)
    assert moments[-1].counts.gradients == 2 * 24  # one full pass and one step of 24 samples


@pytest.mark.parametrize(
    ("method", "setting", "value"),
    [
        (DelayedSVRG, "step_size", 10**400),
        (DelayedSVRG, "step_size", "0.1"),
        (DelayedSVRG, "output", np.array(["last", "mean"])),
        (DelayedSVRG, "anchor", np.zeros(2)),
        (DelayedASVRG, "first_step", ["anchor"]),
        (DelayedSGD, "output", np.zeros(2)),
        (DelayedSGD, "parameters", np.array(["theory", "theory"])),
        (DelayedSGD, "replacement", np.zeros(2)),
    ],
)
def test_what_is_not_of_the_right_kind_is_refused_in_our_words(method, setting, value):
    with pytest.raises(ValueError, match=rf"{setting} must be "):
        method(**{setting: value})
