"""The examples of the gallery run and draw, and the page shows them as they are."""

import importlib.util
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("plot_*.py"))
QUICK = {"plot_fused_lasso", "plot_trend_filtering"}


@pytest.fixture(scope="module")
def gallery():
    spec = importlib.util.spec_from_file_location("gallery", EXAMPLES / "gallery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def marked(path):
    """Return a script as a parameter; those that take more than a few seconds are slow."""
    return pytest.param(path, id=path.stem, marks=() if path.stem in QUICK else pytest.mark.slow)


@pytest.mark.parametrize("path", [*map(marked, SCRIPTS)])
def test_an_example_runs_and_draws_a_picture(path, gallery, tmp_path, capsys, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    monkeypatch.setattr(matplotlib, "is_interactive", lambda: False)
    matplotlib.use("Agg")
    picture = gallery.draw(path, tmp_path)
    matplotlib.pyplot.close("all")
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 20_000
    assert capsys.readouterr().out  # it also says something
    assert [file.name for file in tmp_path.iterdir()] == [picture.name]


def test_the_page_shows_every_example_as_it_is(gallery):
    assert gallery.PAGE.read_text() == gallery.page(), "run: python examples/gallery.py"
    for path in SCRIPTS:
        picture = gallery.FIGURES / f"{path.stem}.png"
        assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size < 200_000


def test_there_are_as_many_pictures_as_were_promised():
    assert len(SCRIPTS) >= 8
