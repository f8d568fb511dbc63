"""Helpers of the notebooks' figures: panels flow by width, files repeat byte for byte, curves ring the best release."""

import matplotlib as mpl
import pandas as pd
import pytest

from reident.plotting.figures import BLUE, PUBLISHED, Figures
from reident.plotting.ru_curves import draw_ru_curve, frame_ru_map, ru_points


@pytest.fixture(autouse=True)
def _session():
    with mpl.rc_context():
        import matplotlib.pyplot as plt

        plt.switch_backend("agg")
        yield
        plt.close("all")


@pytest.mark.parametrize("file_format", ["png", "pdf", "svg"])
def test_a_figure_is_saved_alike_twice_with_its_caption(tmp_path, file_format):
    for folder in ("a", "b"):
        figures = Figures(85, tmp_path / folder, file_format)
        for title in ("old", "Risk falls"):
            figure, [ax] = figures.panels()
            ax.plot([0, 1], [1, 0], color=BLUE)
            text = figures.finish(figure, "f", title, "One run.", {"published": {"color": BLUE} | PUBLISHED})
    assert text.data == "*One run.*"
    one, two = ((tmp_path / folder / "figures" / f"f.{file_format}").read_bytes() for folder in ("a", "b"))
    assert one == two
    captions = pd.read_csv(tmp_path / "a" / "figures" / "captions.csv")
    assert captions.to_numpy().tolist() == [["f", "Risk falls", "One run."]]


def test_the_most_useful_allowed_release_gets_the_ring():
    trials = pd.DataFrame({"sigma": [1, 1, 2, 2, 3, 3], "dataset": [0, 1] * 3, "risk": [0.9, 0.9, 0.5, 0.7, 0.2, 0.2],
                           "utility": [9.0, 9.0, 4.0, 4.0, 1.0, 1.0]})  # fmt: skip
    points = ru_points(trials, "sigma", risk="risk", utility="utility")
    assert points["risk"].tolist() == [0.9, 0.6, 0.2]
    assert points.loc[2, "half"] == pytest.approx(0.1 * 12.706, rel=1e-3)  # Student's t with one degree of freedom
    _, [ax] = Figures().panels()
    frame_ru_map(ax, limit=0.7, risk="risk", utility="utility")
    allowed = draw_ru_curve(ax, points, limit=0.7, colour=BLUE)
    assert list(allowed.index) == [3]  # the interval of the second release ends at 1
    assert ax.collections[-1].get_offsets().tolist() == [[1.0, 0.2]]


@pytest.mark.filterwarnings("error")
def test_a_single_value_on_a_logarithmic_axis_has_a_width():
    figures = Figures(85)
    figure, [ax] = figures.panels()
    ax.set(xscale="log", yscale="log")
    ax.errorbar([10], [0.3], [0.0], marker="o")
    figures.finish(figure, "f", "One k", "")
    assert (ax.get_xlim(), ax.get_ylim()) == (pytest.approx((5, 20)), pytest.approx((0.15, 0.6)))
    figure, axes = figures.panels(2, sharey=True)
    for ax, y in zip(axes, (0.3, 0.6), strict=True):
        ax.plot([1, 10], [y, y])
        ax.set(yscale="log")
    figures.finish(figure, "f", "Two levels on one axis", "")
    low, high = axes[0].get_ylim()
    assert low < 0.3 < 0.6 < high < 2 * low + 0.6
