"""The page: one file, with what its sections say."""

import re

import numpy as np
import pytest

import tether
from tether.report import Curves, Mark, Section, Table, Text, write_report


@pytest.fixture(scope="module")
def solutions():
    rng = np.random.default_rng(0)
    objective = tether.GLM(rng.standard_normal((60, 4)), np.arange(60) % 2, l2=0.1)
    constraint = tether.Affine(np.ones((1, 4)), [1.0])
    return {name: tether.solve(objective, constraint, name) for name in ("lbfgs", "nesterov")}


def body_of(page):
    """Return what a reader sees, without scripts and styles."""
    return re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)


def test_a_page_holds_its_title_and_its_sections(tmp_path, solutions):
    claims = Table(["claim", "measured", "verdict"], [["few projections", 1_234, Mark("holds", True)]])
    section = Section("Table 2", [Text("One.\n\nTwo."), claims, Curves(solutions)])
    path = write_report(tmp_path / "page.html", {}, title="A & B", sections=[section])
    page = body_of(path.read_text())
    assert "<h1>A &amp; B</h1>" in page and "<h2>Table 2</h2>" in page
    assert "<p>One.</p><p>Two.</p>" in page and ">1,234<" in page
    assert '<span class="mark good">holds</span>' in page


def test_words_are_never_read_as_tags(tmp_path, solutions):
    bad = "<img src=x onerror=alert(1)>"
    section = Section(bad, [Text(bad), Table([bad], [[bad]], caption=bad), Curves({bad: solutions["lbfgs"]})])
    page = write_report(tmp_path / "page.html", {bad: solutions["lbfgs"]}, title=bad, sections=[section])
    assert "<img" not in page.read_text().split("/**")[0] and "<img" not in body_of(page.read_text())
