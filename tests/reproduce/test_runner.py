"""Runs are the library's own, looked at off the count, kept on disk and not run again."""

import numpy as np
import pytest

import tether
from tether.methods import DelayedASVRG, DelayedSGD, DelayedSVRG
from tether.reproduce.experiment import Experiment, Series
from tether.reproduce.pool import Crew
from tether.reproduce.prescribed import Prescribed, facts_of
from tether.reproduce.runner import carry_out
from tether.reproduce.store import Store
from tether.reproduce.task import Budget, Looks, Task, Trace

PROBLEM = Prescribed(40.0, 64)
METHOD = DelayedSVRG(interval=4, stage_length=20, step_size=0.1, batch_size=1)


def task(method=METHOD, **more):
    settings = {"budget": Budget(rounds=25), "looks": Looks(every=1)}
    return Task(problem=PROBLEM, method=method, **{**settings, **more})


def best():
    return facts_of(PROBLEM).best


def test_counts_are_those_of_solve_without_the_looks():
    found = carry_out(task(), best())
    objective, constraint = PROBLEM.build()
    solution = tether.solve(objective, constraint, METHOD, tol=0, max_rounds=25, audit=None)
    for name in ("steps", "stages", "rounds", "projections", "gradients"):
        assert found[name][-1] == getattr(solution.counts, name)
    np.testing.assert_array_equal(found["audits"], np.arange(1, len(found) + 1))
    assert found["seconds"][0] > 0 and (np.diff(found["seconds"]) > 0).all()


@pytest.mark.parametrize("method", [METHOD, DelayedSGD(interval=4, step_size=0.1, batch_size=1)])
def test_f_is_looked_at_where_the_method_is_and_where_it_would_answer(method):
    found = carry_out(task(method), best())
    objective, constraint = PROBLEM.build()
    moments = tether.iterate(objective, constraint, method, audit=None)
    for place in range(len(found)):
        moment = next(moments)
        assert found["value"][place] == objective.value(moment.x)
        assert found["iterate"][place] == objective.value(moment.state.x)
    assert (found["value"] != found["iterate"]).any()


def test_the_iterate_of_the_accelerated_method_is_x_and_not_u():
    method = DelayedASVRG(interval=4, stage_length=20, step_size=0.1, momentum=0.5, batch_size=1)
    found = carry_out(task(method, budget=Budget(rounds=3)), best())
    objective, constraint = PROBLEM.build()
    moments = tether.iterate(objective, constraint, method, audit=None)
    for place in range(2):
        state = next(moments).state
        anchor = state.anchored.anchor
        x = anchor + 0.5 * (state.u - anchor)
        assert found["iterate"][place] == pytest.approx(objective.value(x), rel=1e-14)


def test_looks_are_as_far_apart_as_asked():
    far = carry_out(task(looks=Looks(every=10)), best())
    assert far["rounds"].tolist() == [2, 12, 22, 25]
    wider = carry_out(task(looks=Looks(every=1, share=0.5)), best())
    assert wider["rounds"].tolist() == [2, 3, 5, 8, 12, 18, 25]


def test_a_run_ends_where_its_gap_is_reached_or_f_is_lost():
    reached = carry_out(task(target=0.2, budget=Budget(rounds=5000)), best())
    assert reached["value"][-1] - best() <= 0.2 < reached["value"][-2] - best()
    wild = carry_out(task(DelayedSGD(interval=4, step_size=50.0), budget=Budget(rounds=5000)), best())
    assert wild["rounds"][-1] < 200 and not wild["value"][-1] < 1e3


def test_the_same_task_gives_the_same_numbers_and_another_seed_others():
    one, again, other = (carry_out(task(seed=seed), best()) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one["iterate"], again["iterate"])
    assert one["iterate"][-1] != other["iterate"][-1]


def test_traces_keep_all_their_digits(tmp_path):
    found = carry_out(task(), best())
    found.write(tmp_path / "run.csv")
    again = Trace.read(tmp_path / "run.csv")
    for name in Trace.columns:
        np.testing.assert_array_equal(again[name], found[name])
    assert (tmp_path / "run.csv").read_text().splitlines()[0] == ",".join(Trace.columns)


def test_tasks_that_differ_in_anything_have_other_names():
    names = {one.digest() for one in (task(), task(seed=1), task(target=0.1), task(looks=Looks(every=2)))}
    assert len(names) == 4 and task().digest() in names


def experiment():
    return Experiment("it", "It", (Series("a/one", "one", task(), seeds=2),))


def test_what_was_run_is_not_run_again(tmp_path, monkeypatch):
    heard = []
    with Crew(Store(tmp_path), jobs=1) as crew:
        first = crew.results_of(experiment(), heard.append)
    assert len(heard) == 2

    def fail(*words):
        raise AssertionError("it was run again")

    monkeypatch.setattr("tether.reproduce.pool.carry_out", fail)
    monkeypatch.setattr("tether.reproduce.pool.optimum", fail)
    with Crew(Store(tmp_path), jobs=1) as crew:
        again = crew.results_of(experiment(), heard.append)
    np.testing.assert_array_equal(first["a/one"].gaps(), again["a/one"].gaps())
    assert len(heard) == 2


def test_a_file_that_is_no_run_is_named(tmp_path):
    store = Store(tmp_path)
    store.keep(task(), carry_out(task(), best()))
    (path,) = (tmp_path / "runs").iterdir()
    path.write_text("rounds,value\n1,2\n")
    with pytest.raises(ValueError, match="is no readable run"):
        store.find(task())


def test_a_run_that_was_stopped_leaves_the_finished_ones(tmp_path, monkeypatch):
    done = []

    def once(one, value):
        if done:
            raise KeyboardInterrupt
        done.append(one)
        return carry_out(one, value)

    monkeypatch.setattr("tether.reproduce.pool.carry_out", once)
    with pytest.raises(KeyboardInterrupt), Crew(Store(tmp_path), jobs=1) as crew:
        crew.results_of(experiment(), lambda task: None)
    store = Store(tmp_path)
    assert [store.find(one) is not None for one in experiment().tasks()] == [True, False]
    assert not list(tmp_path.rglob("*.part"))
