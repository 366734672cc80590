"""The page: one file, with what its runs and sections say."""

import dataclasses
import json
import re

import numpy as np
import pytest

import tether
from tether.report import Curves, Figure, Mark, Section, Table, Text, write_report
from tether.report.payload import MOST_ROWS, columns_of, rows_shown
from tether.run.history import Counts, History, Row

NAMES = ["age", "height", "rooms", "floor"]


def body_of(path):
    """Return what a reader sees, without scripts and styles."""
    return re.sub(r"<(script|style)\b.*?</\1>", "", path.read_text(), flags=re.DOTALL)


def data_of(path):
    """Return what the page's script reads."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text())
    return json.loads(found.group(1))


def words_of(path):
    return " ".join(re.sub(r"<[^>]+>", " ", body_of(path)).split())


@pytest.fixture(scope="module")
def several(tmp_path_factory, solutions):
    path = tmp_path_factory.mktemp("report") / "page.html"
    return write_report(path, solutions, best=solutions["auto"].fun)


@pytest.fixture(scope="module")
def single(tmp_path_factory, mixed):
    return mixed.report(tmp_path_factory.mktemp("report") / "page.html")


def test_a_page_holds_its_title_and_its_sections(tmp_path, solutions):
    claims = Table(["claim", "measured", "verdict"], [["few projections", 1_234, Mark("holds", True)]])
    section = Section("Table 2", [Text("One.\n\nTwo."), claims, Curves(solutions)])
    path = write_report(tmp_path / "page.html", {}, title="A & B", sections=[section])
    page = body_of(path)
    assert "<h1>A &amp; B</h1>" in page and "<h2>Table 2</h2>" in page
    assert "<p>One.</p><p>Two.</p>" in page and ">1,234<" in page
    assert '<span class="mark good">holds</span>' in page
    assert [run["name"] for run in data_of(path)["figures"]["curves0"]["runs"]] == list(solutions)


def test_words_are_never_read_as_tags(tmp_path, solutions):
    bad = "<img src=x onerror=alert(1)></script>"
    sol = dataclasses.replace(
        solutions["auto"],
        method=bad,
        solver=bad,
        decisions=tuple(decision._replace(words=bad) for decision in solutions["auto"].decisions),
        problem=solutions["auto"].problem._replace(objective=bad, restrictions=(bad,)),
    )
    parts = [Text(bad), Table([bad], [[bad]], caption=bad), Curves({bad: sol}), Figure({"data": []}, bad)]
    path = write_report(
        tmp_path / "page.html", {bad: sol, "b": sol}, title=bad, sections=[Section(bad, parts)]
    )
    assert "<img" not in body_of(path)
    assert "<img" not in re.search(r'id="data">(.*?)</script>', path.read_text()).group(1)
    assert data_of(path)["figures"]["curves0"]["runs"][0]["name"] == bad


def test_the_headline_of_one_run_says_what_was_solved_by_what_and_how_well(single, mixed):
    words = words_of(single)
    assert (
        "Logistic regression with l2 = 0.01 and an l1 penalty of 4 terms: 300 samples, 4 variables" in words
    )
    assert f"Solved F(x) is certainly within {mixed.gap:.2g} of the minimum. By ProxSkip-SVRG with" in words
    for name in ("certified gap", "residual", "projections", "passes over the data", "seconds"):
        assert name in words


def test_active_constraints_and_multipliers_stand_by_their_names(single, mixed):
    words = words_of(single)
    held = np.count_nonzero(mixed.active.bounds)
    assert held and f"Multipliers of bounds {held} of 4 active" in words and "upper side holds" in words
    name = NAMES[int(np.flatnonzero(mixed.active.bounds)[0])]
    assert re.search(rf"{name} 0\.2600?0?0? at its upper bound", words)
    assert "equation 0" in words and "inequality 0" in words


def test_several_runs_are_compared_in_a_table(several, solutions):
    rows = re.findall(r"<tr><td class=\"name\">(.*?)</tr>", body_of(several))[: len(solutions)]
    for row, (name, sol) in zip(rows, solutions.items(), strict=True):
        cells = re.sub(r"<[^>]+>", "|", f"{row}").replace("||", "|").split("|")
        assert cells[0] == name and f"{sol.gap:.1e}" in cells and f"{sol.counts.projections:,}" in cells
        assert "converged" in cells and f"{sol.fun:.9g}" in cells
    assert "true gap" in words_of(several)


def test_runs_of_different_problems_are_not_compared_by_value(tmp_path, solutions, mixed):
    path = write_report(tmp_path / "page.html", {"a": solutions["auto"], "b": mixed})
    assert "These runs solved different problems" in words_of(path)
    assert data_of(path)["figures"]["curves0"]["comparable"] is False


def test_runs_that_cannot_have_the_same_minimum_are_of_different_problems(tmp_path, solutions):
    one, other = solutions["auto"], dataclasses.replace(solutions["lbfgs"], fun=solutions["lbfgs"].fun + 1e-3)
    path = write_report(tmp_path / "page.html", {"a": one, "b": other})
    assert "These runs solved different problems" in words_of(path)


def test_what_auto_decided_is_told_with_when_and_why(tmp_path, switching):
    words = words_of(switching.report(tmp_path / "page.html"))
    assert "What auto decided" in words and len(switching.decisions) >= 2
    for decision in switching.decisions:
        assert f"{decision.words.replace(chr(39), '&#x27;')} {decision.reason}" in words
    assert "at the start" in words and f"after {switching.decisions[1].request} requests" in words


def test_the_settings_and_versions_that_it_takes_to_run_it_again_are_there(single, mixed):
    words = words_of(single)
    for name, value in (*mixed.problem.settings[1:], *mixed.problem.versions):
        assert f"{name} {value}" in words
    assert mixed.method in words.replace("&#x27;", "'")


def test_the_history_is_in_the_page_with_all_digits(several, solutions):
    data = data_of(several)
    for given, sol in zip(data["figures"]["curves0"]["runs"], solutions.values(), strict=True):
        columns = data["runs"][given["run"]]["columns"]
        assert list(columns) == list(History.columns)
        values = np.array([np.nan if v is None else v for v in columns["value"]])
        np.testing.assert_array_equal(values, sol.history["value"])


def test_each_run_is_in_the_page_once(several, solutions):
    assert len(data_of(several)["runs"]) == len(solutions)


def test_every_worker_of_a_federation_has_its_line(tmp_path, federated):
    path = federated.report(tmp_path / "page.html")
    (lines,) = (v for k, v in data_of(path)["figures"].items() if k.startswith("workers"))
    assert set(lines["metrics"]) == {"value", "slope", "seconds", "sent"}
    seconds = np.array(lines["metrics"]["seconds"]["lines"])
    assert seconds.shape[0] == 3 and (np.diff(seconds, axis=1) >= 0).all()
    total = np.nansum(federated.history.workers["seconds"], axis=0)
    np.testing.assert_allclose(seconds[:, -1], total, rtol=1e-5)
    assert "Each worker" in words_of(path)


def test_a_page_without_workers_has_no_section_on_them(single):
    assert "<h2>Workers</h2>" not in body_of(single)


def test_a_solution_that_was_saved_makes_the_same_page(tmp_path, mixed):
    again = tether.load(mixed.save(tmp_path / "run.npz"))
    assert again.report(tmp_path / "a.html").read_text() == mixed.report(tmp_path / "b.html").read_text()


def test_a_page_asks_nobody_for_anything(single):
    page = single.read_text()
    assert "default-src 'none'" in page
    assert not re.search(r"<(?:script|img|link|iframe)[^>]*(?:src|href)=\"(?!data:)", page)


def test_a_long_history_is_thinned_but_keeps_its_ends_and_what_was_measured():
    value = [1.0 if k % 10 == 0 else float("nan") for k in range(3 * MOST_ROWS)]
    history = History([Row(*Counts(gradients=k), k / 10, 0.1 * k, value[k], 0.5) for k in range(len(value))])
    shown = rows_shown(history)
    assert len(shown) <= MOST_ROWS and shown[0] == 0 and shown[-1] == len(value) - 1
    kept = np.isfinite(np.array(columns_of(history)["value"], dtype=float))
    assert kept.sum() >= min(MOST_ROWS // 2, np.isfinite(value).sum())


def test_a_run_without_measurements_still_makes_a_page(tmp_path, solutions):
    hidden = dataclasses.replace(
        solutions["auto"], fun=float("nan"), gap=None, multipliers=None, history=History([])
    )
    words = words_of(hidden.report(tmp_path / "page.html"))
    assert "F was not measured" in words and "nan" not in words


def test_numbers_and_words_that_read_as_numbers_are_aligned_at_the_right(tmp_path):
    rows = [["a", 1, "1.2e-06", np.float64(0.5), np.int64(3), "12 %", "1 of 2"]]
    table = Table(["name", "whole", "text", "numpy", "integer", "share", "words"], rows)
    page = body_of(write_report(tmp_path / "page.html", {}, sections=[Section("T", [table])]))
    cells = re.findall(r"<td(?: class=\"(number|name)\")?>([^<]*)</td>", page)
    assert [mark == "number" for mark, _ in cells] == [False, True, True, True, True, True, False]
    assert [words for _, words in cells] == ["a", "1", "1.2e-06", "0.5", "3", "12 %", "1 of 2"]
