"""The picture of imports in CONTRIBUTING is true: every room imports only from rooms below it."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "tether"


def picture():
    """Read the table of rooms: a line "room -> room, room" each."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    block = re.search(r"```rooms\n(.*?)```", text, flags=re.DOTALL).group(1)
    lines = [line.split("->") for line in block.strip().splitlines()]
    return {
        room.strip(): {name.strip() for name in below.split(",") if name.strip()} for room, below in lines
    }


PICTURE = picture()


def room_of(module):
    """Return the room of a module: the longest name of the picture that it begins with."""
    parts = module.split(".")[1:]
    for length in range(len(parts), 0, -1):
        if ".".join(parts[:length]) in PICTURE:
            return ".".join(parts[:length])
    return parts[0] if parts else "tether"


def imports(path):
    """Return the modules of the package that a file imports when it runs, not those for type checking."""
    tree = ast.parse(path.read_text())
    skipped = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.dump(block.test)
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "tether":
            if node.module == "tether":
                yield from (f"tether.{name.name}" for name in node.names if name.name != "__version__")
            else:
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("tether."))


FILES = sorted(path for path in SOURCE.rglob("*.py") if "template" not in path.parts)


def name_of(path):
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_imports_only_from_rooms_below(path):
    room = room_of(name_of(path))
    if room == "tether":
        return
    assert room in PICTURE, f"{room} is not in the picture of CONTRIBUTING.md"
    for module in imports(path):
        below = room_of(module)
        assert below == room or below in PICTURE[room], f"{room} imports {module}"


def test_the_picture_has_no_circles_and_no_unknown_rooms():
    def descend(room, seen):
        assert room not in seen, " -> ".join([*seen, room])
        for below in PICTURE[room]:
            assert below in PICTURE, below
            descend(below, (*seen, room))

    for room in PICTURE:
        descend(room, ())


def test_every_room_of_the_picture_exists():
    for room in PICTURE:
        place = SOURCE.joinpath(*room.split("."))
        assert place.is_dir() or place.with_suffix(".py").is_file(), room
