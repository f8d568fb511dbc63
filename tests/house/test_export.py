"""Figures for print: the width asked for, embedded fonts, no text outside, captions and tables from the results."""

import re
from dataclasses import replace
from itertools import combinations, pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.lines import Line2D
from matplotlib.text import Text
from typer.testing import CliRunner

from guest import STUDY as GUEST
from reident.base import ParameterError
from reident.cli import app
from reident.pages.german import in_german
from reident.plotting import new_figure
from reident.plotting._style import for_print, in_house_style, save_figure
from reident.plotting.fitting import fit_for_print
from reident.runner._attempts import publish, working, workplace
from reident.runner.export import check_print, export_figures
from reident.studies.captions import Drawn, rests_on
from reident.studies.catalogue import STUDIES


@pytest.fixture(scope="module")
def results():
    return GUEST.run("smoke", progress=False)


def test_a_pdf_has_the_width_and_the_fonts_and_the_same_bytes(results, tmp_path):
    (made,) = export_figures(GUEST, results, tmp_path / "a", width="85mm", language="de")
    (again,) = export_figures(GUEST, results, tmp_path / "b", width="85mm", language="de")
    held = made.read_bytes()
    assert held == again.read_bytes()
    width = float(re.search(rb"MediaBox \[ ?0 0 ([\d.]+)", held)[1])
    assert width == pytest.approx(85 / 25.4 * 72, abs=0.1)
    assert b"FontFile2" in held


def test_caption_and_tables_say_what_was_run(results, tmp_path):
    export_figures(GUEST, results, tmp_path, formats=["svg"])
    caption = (tmp_path / "figure-1-ages.txt").read_text()
    assert caption == "The share of unique ages. Repetitions: 2. Study guest, profile smoke, seed 7.\n"
    trials = results.frames["ages"]
    means = trials.groupby("width")["unique"].mean()
    latex, html = ((tmp_path / f"figure-1-ages.{kind}").read_text() for kind in ("tex", "html"))
    assert caption.strip() in latex
    assert caption.strip() in html
    for width, mean in means.items():
        assert re.search(rf"^{width} & {mean:.4g} & 2 \\\\$", latex, flags=re.MULTILINE)
        assert f"<tr><td>{width}</td><td>{mean:.4g}</td><td>2</td></tr>" in html
    assert "<text" not in (tmp_path / "figure-1-ages.svg").read_text()  # shapes, no names of fonts


@pytest.mark.parametrize("width_mm", [85, 170])
def test_long_words_are_wrapped_inside_the_figure_in_type_of_seven_points(width_mm):
    with for_print(width_mm):
        figure, axes = new_figure(1, 3, size=(11, 3.5), sharey=True)
        for ax in axes:
            for k in range(6):
                ax.plot([0.5, 1, 2], [1, 2, k], label=f"a series with a long name, number {k}")
            ax.set_title("a title that is much longer than the panel is wide " * 2, fontsize=5)
            ax.set(xlabel="a label that is longer than the axis below which it stands", ylabel="risk")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
        fit_for_print(figure, words=in_german)
    figure.canvas.draw()
    assert figure.get_figwidth() == pytest.approx(width_mm / 25.4)
    tops = [ax.get_position().y1 for ax in axes]
    assert (len(set(tops)) == 3) is (width_mm == 85)  # one below the other where it is narrow
    for text in figure.findobj(Text):
        if text.get_text() and text.get_visible():
            assert text.get_fontsize() >= 7
            box = text.get_window_extent()
            assert box.x0 >= -1
            assert box.x1 <= figure.bbox.width + 1, text.get_text()
    key = figure.legends[0].get_window_extent()
    assert min(key.x0, key.y0) >= -1
    assert key.x1 <= figure.bbox.width + 1
    assert axes[0].get_ylabel() == "Risiko"
    assert any("," in label.get_text() for label in axes[-1].get_xticklabels())


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ((["gif"], "85mm", "en"), "`format` must be one of"),
        (([], "85", "en"), "`width` must be millimetres"),
        (([], "10mm", "en"), "`width` must be millimetres"),
        (([], "85mm", "fr"), "`language` must be one of"),
    ],
)
def test_what_cannot_be_printed_is_refused(asked, told):
    with pytest.raises(ParameterError, match=told):
        check_print(*asked)


def test_the_command_refuses_before_it_runs_anything(tmp_path):
    done = CliRunner().invoke(app, ["figures", "kroll2015", "--out", str(tmp_path), "--format", "gif"])
    assert isinstance(done.exception, ParameterError)
    assert not list(tmp_path.iterdir())


def test_an_svg_is_the_same_where_the_layout_differs_by_less_than_is_written(tmp_path):
    def drawn(name, shift):
        figure, ax = new_figure()
        ax.set_position([0.1 + shift, 0.1, 0.8, 0.8])
        ax.plot([0, 1], [0, 1])
        (path,) = save_figure(figure, name, tmp_path, formats=("svg",))
        return path.read_text("utf-8")

    one = drawn("one", 0.0)
    assert one == drawn("two", 1e-13)
    assert one != drawn("three", 1e-2)
    (name,) = set(re.findall(r"url\(#(\w+)\)", one))
    assert f'<clipPath id="{name}">' in one


@pytest.mark.parametrize("shape", [(1, 3), (2, 3), (3, 3), (2, 2)])
def test_a_narrow_grid_has_the_panels_that_were_asked_for_and_shares_what_they_shared(shape):
    with for_print(85):
        figure, axes = new_figure(*shape, size=(7, 5), squeeze=False, sharey="row")
    assert axes.shape == shape
    assert len(figure.axes) == axes.size
    places = {round(float(ax.get_position().x0), 6) for ax in figure.axes}
    assert len(places) == (1 if shape[0] == 1 else 2)
    axes[0, 0].set_ylim(3, 7)
    assert axes[0, -1].get_ylim() == (3, 7)
    if shape[0] > 1:
        assert axes[1, 0].get_ylim() != (3, 7)


def test_a_key_in_fewer_columns_keeps_its_order_and_its_marks():
    with for_print(85):
        figure, ax = new_figure()
    for i in range(5):
        ax.errorbar([0, 1], [i, i + 1], yerr=0.1, marker="o", label=f"a series with a long name {i}")
    legend = figure.legend(loc="outside lower center", ncols=5)
    marks = {id(mark) for mark in legend.findobj(Line2D) if mark.get_marker() == "o"}
    assert len(marks) == 5
    fit_for_print(figure)
    assert {id(mark) for mark in legend.findobj(Line2D) if mark.get_marker() == "o"} == marks
    assert legend.get_window_extent().width <= figure.bbox.width
    places = [(round(box.x0), -box.y0) for box in (text.get_window_extent() for text in legend.get_texts())]
    assert places == sorted(places)
    assert len({x for x, _ in places}) < 5


def test_values_of_shared_axes_stand_in_german_where_they_stood():
    with for_print(170):
        figure, axes = new_figure(1, 3, sharex=True, sharey=True)
    for ax in axes:
        ax.plot([0.0336, 0.9664], [0.125, 0.5])

    def values(ax):
        figure.draw_without_rendering()
        low, high = ax.get_xlim()
        ticks = [tick for tick in ax.xaxis.get_major_ticks() if low < tick.get_loc() < high]
        return {tick.get_loc(): tick.label1.get_text() for tick in ticks}

    before = values(axes[0])
    fit_for_print(figure, words=in_german)
    fit_for_print(figure, words=in_german)  # a second time changes nothing
    assert len(before) > 2
    for ax in axes:
        assert values(ax) == {at: told.replace(".", ",") for at, told in before.items()}


def test_values_below_an_axis_that_would_touch_are_left_out():
    with for_print(85):
        figure, ax = new_figure()
    ax.set_xticks(range(40), [f"{1000 + i}" for i in range(40)])
    fit_for_print(figure)
    figure.draw_without_rendering()
    shown = [tick.label1 for tick in ax.xaxis.get_major_ticks() if tick.label1.get_visible()]
    boxes = [text.get_window_extent() for text in shown]
    assert 5 < len(shown) < 40
    assert shown[0].get_text() == "1000"
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_a_figure_wider_than_a_page_is_drawn_for_one():
    def draw(inches):
        return new_figure(1, 3, size=(inches, 3))[0]

    (drawn,) = in_house_style({"one": draw}).values()
    widths = {inches: drawn(inches).get_figwidth() for inches in (4.0, 7.2, 12.0)}
    assert widths == pytest.approx({4.0: 4.0, 7.2: 7.2, 12.0: 170 / 25.4})
    with for_print(85):
        assert drawn(12.0).get_figwidth() == pytest.approx(85 / 25.4)


def texts_of(figure):
    """Yield the texts that are drawn, but slanted ones, whose boxes say little."""
    for part in (figure, *figure.subfigs):
        yield from part.texts  # heads of the whole figure among them
        for legend in part.legends:
            yield from legend.get_texts()
    for ax in figure.axes:
        yield from (ax.title, ax._left_title, *ax.texts)
        if ax.get_legend():
            yield from ax.get_legend().get_texts()
        for axis in (ax.xaxis, ax.yaxis) if ax.axison else ():
            low, high = sorted(axis.get_view_interval())
            yield axis.label
            yield from (tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("study", "name"),
    [
        ("vanhoef2012_networks", "edge-disclosure"),
        ("vanhoef2012_networks", "passive-attack"),
        ("vanhoef2012_networks", "passive-attack-on-releases"),
        ("vanhoef2012_networks", "probes"),
        ("vanhoef2012_networks", "ru-map-networks"),
        ("abril2012", "figure-1-lattice-m4-28"),
        ("abril2012", "figure-2-lattice-m6-385"),
        ("abril2012", "ru-map-maskings"),
        ("vanhoef2012_networks", "section-10-3-seeds-by-clique"),
    ],
)
def test_a_figure_fits_a_column_of_print(study, name, smoke):
    """Nothing is outside the figure, no text lies on another, and no layout collapses, which would warn."""
    run, _ = smoke(study)
    with for_print(85):
        figure = fit_for_print(Drawn(STUDIES[study], run, name).figure)
    figure.draw_without_rendering()
    assert figure.get_figheight() <= 240 / 25.4 or figure.subfigs  # a page's text
    told = [text for text in texts_of(figure) if text.get_text().strip() and text.get_visible()]
    boxes = [(text.get_text(), text.get_window_extent()) for text in told if text.get_rotation() in (0, 90)]
    assert len(boxes) >= 2
    for text, box in boxes:
        assert box.x0 >= -1, text
        assert box.x1 <= figure.bbox.width + 1, text
    for (text, box), (other, beside) in combinations(boxes, 2):
        width = min(box.x1, beside.x1) - max(box.x0, beside.x0)
        height = min(box.y1, beside.y1) - max(box.y0, beside.y0)
        assert width <= 1 or height <= 2, (text, other)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("study", "name"),
    [("vanhoef2012_networks", "section-10-3-seeds-by-clique"), ("abril2012", "figure-2-lattice-m6-385")],
)
def test_no_legend_is_wider_than_its_figure_and_no_sets_lie_on_one_another(study, name, smoke):
    """At the smallest profile a key of three columns was cut, and sets of a lattice hid one another."""
    figure = Drawn(STUDIES[study], smoke(study)[0], name).figure
    figure.draw_without_rendering()
    for legend in figure.legends:
        box = legend.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.width
    for (_, box), (_, beside) in combinations([(t, t.get_window_extent()) for t in figure.axes[0].texts], 2):
        assert not box.overlaps(beside)


def test_tables_are_told_in_german_from_head_to_foot(results, tmp_path):
    """Heads, truth values and the foot of a long table had stayed English."""
    rows = pd.DataFrame({"method": "mondrian", "risk_low": 0.5, "is_optimal": [True, False] * 30})
    study = SimpleNamespace(name="guest", drawings=lambda: {"one": draw}, words={})

    def draw(_):
        """Draw the density."""
        return rests_on(new_figure()[0], rows, data="drawn")

    (made,) = export_figures(study, replace(results, study="guest"), tmp_path, formats=["svg"], language="de")
    latex = made.with_suffix(".tex").read_text()
    assert "Verfahren & Risiko, unteres Ende & bewiesen" in latex
    assert "Fortsetzung auf der nächsten Seite" in latex
    assert not re.search("True|False|Continued", latex)
    assert in_german("weighted-mean linkage, linked share of 30 other records").startswith("Verknüpfung mit gewicht")


def test_labels_and_the_legend_keep_clear_of_what_there_is():
    """A second line of one label makes the panel narrower for the other; a legend over points goes below them."""
    with for_print(85):
        figure, ax = new_figure()
        ax.plot(range(30), np.random.default_rng(4).random(30), "o", label="points that fill the panel")
        ax.set(xlabel="a label as long as a panel is wide at ten ", ylabel="a label that needs two lines, $x$ = 0.5")
        ax.set_title("A title that begins where the panel does, and goes on", loc="left")
        ax.legend()
        fit_for_print(figure)
        figure.draw_without_rendering()
    for text in (ax.xaxis.label, ax.yaxis.label, ax._left_title):
        box = text.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.width
    place = ax.get_legend().get_window_extent()
    assert place.y1 <= ax.xaxis.label.get_window_extent().y0
    assert place.y0 >= 0
    assert "\u00a0=\u00a0" in ax.get_ylabel() or "\n" not in ax.get_ylabel()


def test_a_legend_that_hides_nothing_stays_where_it_is():
    with for_print(85):
        figure, ax = new_figure()
        ax.plot([0, 1], [0, 1], "o", label="two points")
        ax.legend(loc="upper left")
        fit_for_print(figure)
        figure.draw_without_rendering()
    assert ax.get_legend().get_window_extent().y0 > ax.get_window_extent().y0


def test_figures_for_print_outlive_another_run_of_their_study(tmp_path, monkeypatch):
    monkeypatch.setitem(STUDIES, "guest", GUEST)
    GUEST.run("smoke", folder=tmp_path / "guest", progress=False)
    done = CliRunner().invoke(app, ["figures", "guest", "--out", str(tmp_path), "--format", "svg"])
    assert done.exit_code == 0, done.output
    with working(tmp_path):
        publish(tmp_path, workplace(tmp_path, "guest"))
    assert not (tmp_path / "guest" / "study.json").exists()
    assert (tmp_path / "figures-for-print" / "guest" / "figure-1-ages.svg").is_file()
