"""Run the examples and put their pictures into docs: python examples/gallery.py [name ...].

Each example is a script that draws one picture and saves it where it is run. The page docs/gallery.md shows
the pictures with the words of each script and the lines that matter.
"""

import os
import re
import runpy
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FIGURES, PAGE = ROOT / "docs" / "figures", ROOT / "docs" / "gallery.md"
HEAD = """# Gallery

Each picture is drawn by a script in `examples/` that anyone can run; `make gallery` draws all of them
again and writes this page.
"""
ESTIMATORS = re.compile(r"tether\.estimators|tether\.Constrained")
MORE = ", with one of the [estimators](estimators.md)"


class Example(NamedTuple):
    """A script: its title, what it is about, the lines in which it calls Tether, and where more is told."""

    name: str
    title: str
    story: str
    lines: str
    more: str = ""

    @classmethod
    def read(cls, path: Path) -> "Example":
        """Take a script apart."""
        _, text, code = path.read_text().split('"""', 2)
        title, _, *paragraphs = text.strip().split("\n", 2)
        story = paragraphs[0].split("References\n")[0].strip()
        return cls(path.stem, title, story, _call(code), MORE if ESTIMATORS.search(code) else "")


def _call(code: str) -> str:
    """Return the section in which Tether is called first, without its comment."""
    sections = re.split(r"^# %%\n", code, flags=re.MULTILINE)[1:]
    first = next(part for part in sections if re.search(r"tether\.solve|\.fit\(", part))
    lines = [line for line in first.strip().splitlines() if not line.startswith(("#", "print("))]
    return "\n".join(lines).strip().split("\n\n\n")[0]


def scripts() -> list[Path]:
    """Return the scripts in the order of their names."""
    return sorted(Path(__file__).parent.glob("plot_*.py"))


def page() -> str:
    """Return docs/gallery.md."""
    parts = [HEAD]
    for example in map(Example.read, scripts()):
        parts.append(
            f"## {example.title}\n\n![{example.title}](figures/{example.name}.png)\n\n{example.story}\n\n"
            f"```python\n{example.lines}\n```\n\n[examples/{example.name}.py](../examples/{example.name}.py){example.more}\n"
        )
    return "\n".join(parts)


def draw(path: Path, folder: Path) -> Path:
    """Run a script in a folder and return the picture that it draws."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        os.chdir(before)
    return folder / f"{path.stem}.png"


def main(names: list[str]) -> None:
    """Draw the pictures of some examples, or of all, and write the page."""
    FIGURES.mkdir(exist_ok=True)
    for path in scripts():
        if not names or path.stem in names:
            with tempfile.TemporaryDirectory() as folder:
                picture = draw(path, Path(folder))
                (FIGURES / picture.name).write_bytes(picture.read_bytes())
            print(f"drew {path.stem}", file=sys.stderr)
    PAGE.write_text(page())


if __name__ == "__main__":
    main(sys.argv[1:])
