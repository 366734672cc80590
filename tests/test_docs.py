"""What README and docs tell people to type really runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    "README.md",
    "docs/stepping.md",
    "docs/losses.md",
    "docs/networks.md",
    "docs/beyond-planes.md",
    "docs/expressions.md",
]
PAGES += ["docs/report.md", "docs/estimators.md"]
ONE_LOOP = "while not stopping"  # README tells it in words that are no program


def snippets(page):
    """The Python blocks of a page, in order."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)
    return [block for block in blocks if ONE_LOOP not in block]


@pytest.mark.parametrize("page", PAGES)
def test_the_snippets_of_a_page_run_in_order(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for what they write
    names = {}
    found = snippets(page)
    assert found
    for block in found:
        exec(compile(block, page, "exec"), names)
    said = capsys.readouterr().out
    assert said
    for shown in re.findall(r"```text\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL):
        assert shown in said


def test_every_method_name_in_the_readme_exists():
    from tether.methods import NAMES

    table = (ROOT / "README.md").read_text().split("| name | what it is |")[1].split("\n\n")[0]
    named = set(re.findall(r'`"([a-z-]+)"`', table))
    assert named == set(NAMES) - {"auto"}
