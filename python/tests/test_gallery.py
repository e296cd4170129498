"""The scripts of the gallery: each runs, and its assertions hold."""
import pathlib
import runpy
import warnings

import pytest
import vouchnum as vn

folder = pathlib.Path(__file__).parent.parent / "gallery"
scripts = sorted(folder.glob("*.py"))


def test_there_are_ten():
    assert len(scripts) == 10


@pytest.mark.parametrize("script", scripts, ids=lambda script: script.stem)
def test_script(script, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib", reason="the gallery needs matplotlib")
    pytest.importorskip("scipy")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    with warnings.catch_warnings(), vn.threads(2):
        warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
        runpy.run_path(str(script), run_name="__main__")
    assert pyplot.get_fignums()
    pyplot.close("all")
