"""Copy figures into the documentation and rewrite the blocks that are made of results.

A block of a page stands between <!-- reproduce NAME --> and <!-- end -->; nobody edits it by hand.
"""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from tether.report import Table
from tether.report.markup import shown
from tether.reproduce.experiment import Settings
from tether.reproduce.outputs import Outcome
from tether.reproduce.page import verdict_table

PAGE = "paper.md"


def check(docs: Path, names: Sequence[str]) -> None:
    """Refuse a folder without the page, or a page without the blocks."""
    if not (docs / PAGE).is_file():
        raise ValueError(f"--docs must be a folder that holds {PAGE}, got {str(docs)!r}.")
    text = (docs / PAGE).read_text()
    for name in names:
        if not _pattern(name).search(text):
            raise ValueError(f"{PAGE} has no block <!-- reproduce {name} --> ... <!-- end --> to write to.")


def rewrite(docs: Path, outcome: Outcome, settings: Settings, pictures: Sequence[Path]) -> None:
    """Put the results of an experiment into the page and its picture beside it."""
    (docs / "figures").mkdir(exist_ok=True)
    for path in pictures:
        shutil.copyfile(path, docs / "figures" / path.name)
    page, block = docs / PAGE, _block(outcome, settings, pictures)
    found = _pattern(outcome.experiment.name)
    page.write_text(found.sub(lambda marks: marks[1] + block + marks[2], page.read_text()))


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- reproduce {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)


def _block(outcome: Outcome, settings: Settings, pictures: Sequence[Path]) -> str:
    name = outcome.experiment.name
    words = [f"    tether reproduce {name}{_options(settings)}\n"]
    words += [
        f"![{outcome.experiment.title}](figures/{path.name})\n" for path in pictures if path.suffix == ".png"
    ]
    if outcome.verdicts:
        words.append(markdown(verdict_table(outcome.verdicts)))
    words += [markdown(table) for table in outcome.tables]
    return "\n" + "\n".join(words) + "\n"


def _options(settings: Settings) -> str:
    chosen = f" --data {settings.data}" if settings.data != "mnist" else ""
    chosen += " --quick" if settings.quick else ""
    return chosen + (f" --seeds {settings.seeds}" if settings.seeds is not None else "")


def markdown(table: Table) -> str:
    """Return a table in Markdown."""
    lines = [f"{table.caption}\n"] if table.caption else []
    lines.append("| " + " | ".join(table.headings) + " |")
    lines.append("|" + "---|" * len(table.headings))
    lines += ["| " + " | ".join(shown(cell).replace("|", "\\|") for cell in row) + " |" for row in table.rows]
    return "\n".join(lines) + "\n"
