"""Every risk-utility map can be read: nothing lies on anything, in either width, however crowded."""

import itertools
import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.patches import Polygon

from reident import plot_ru_map, plot_ru_panels, plot_ru_together, ru_frame, ru_map_page, ru_map_widget
from reident.base import DataError
from reident.plotting import new_figure, overlaps, save_figure
from reident.plotting._labels import Label, place_labels
from reident.plotting._layout import looks_of
from reident.plotting._scales import Scale, choose_scale, evenness
from reident.rumap import NOTHING, ORIGINAL, anchor

FAULTS = ("on_text", "on_point", "on_line", "on_shape", "off_axes", "outside")


def crowded(n_methods, values, attack="clique attack", analysis="neighbours kept", *, saturated=False, seed=0, n=3):
    """Return a map in which curves cross and meet near the original; `saturated`: all within 1 % of it."""
    rng = np.random.default_rng(seed)
    rows = []
    for m, (k, value) in itertools.product(range(n_methods), enumerate(values)):
        share = (k + 1) / (len(values) + 1)
        risk = (1 - share) ** (1 + m / 3)
        utility = 1 - 10 ** (-4 + 0.6 * k + 0.15 * m) if saturated else 1 - share ** (3 - m / 4)
        rows += [
            {
                "method": f"method {'abcdefghij'[m]}",
                "size": value,
                "risk": float(np.clip(risk + rng.normal(0, 0.03), 0, 1)),
                "use": float(min(utility + (0 if saturated else rng.normal(0, 0.005)), 1)),
            }
            for _ in range(n)
        ]
    made = ru_frame(
        pd.DataFrame(rows), method="method", parameter="size", risk="risk", utility="use", attack=attack,
        analysis=analysis, n_bootstrap=2,
    )  # fmt: skip
    return anchor(anchor(made, ORIGINAL, risk=1, utility=1), NOTHING, risk=0, utility=0)


def faults(figure):
    found = overlaps(figure)
    assert found["smallest_pt"] >= 7
    return {what: found[what] for what in FAULTS if found[what]}


@pytest.mark.parametrize(
    ("n_methods", "saturated", "width_cm"),
    [(1, True, 8.5), (3, False, 8.5), (5, True, 8.5), (5, False, 17), (8, True, 17)],
)
def test_one_crowded_panel(n_methods, saturated, width_cm):
    frame = crowded(n_methods, [1, 2, 5, 10], saturated=saturated)
    assert not faults(plot_ru_panels(frame, risk_limit=0.25, width_cm=width_cm))


def test_a_panel_is_saved_as_the_figure_that_it_is_in(tmp_path):
    one = plot_ru_map(crowded(3, [1, 2, 5]), risk_limit=0.25)
    one.figure.savefig(tmp_path / "direct.png")
    several = pd.concat([crowded(3, [1, 2, 5]), crowded(3, [1, 2, 5], "join", "Moran's I")], ignore_index=True)
    part = plot_ru_panels(several).axes[0].figure
    _, saved = save_figure(part, "map", tmp_path)
    high, wide, _ = plt.imread(saved).shape
    assert (wide, high) == pytest.approx(part.get_figure(root=True).get_size_inches() * 150, abs=1)


@pytest.mark.parametrize("n_methods", [2, 7])
def test_several_panels(n_methods):
    pairs = [("clique attack", "neighbours"), ("located within 1 km", "neighbours"), ("clique attack", "Moran's I")]
    parts = [crowded(n_methods, [1, 2, 5], *pair, saturated=i == 2, seed=i) for i, pair in enumerate(pairs)]
    figure = plot_ru_panels(pd.concat(parts, ignore_index=True), risk_limit=0.25)
    assert not faults(figure)
    assert figure.get_figwidth() == pytest.approx(17 / 2.54)


def test_many_small_panels_with_long_names():
    """What finds no room in a panel stands in the legend; nothing covers anything."""
    parts = [crowded(7, [1, 2, 5], f"attack {i}", saturated=i == 2, seed=i) for i in range(6)]
    names = {f"method {letter}": f"simultaneous, literal swaps {letter}" for letter in "abcdefg"}
    figure = plot_ru_panels(pd.concat(parts, ignore_index=True), columns=3, names=names)
    assert not faults(figure)
    legend = [text.get_text() for sub in figure.subfigs for one in sub.legends for text in one.get_texts()]
    assert {"original", "nothing released"} <= set(legend)
    assert sum("literal swaps" in text for text in legend) >= 2


@pytest.mark.parametrize("width_mm", [85, 170])
def test_panels_have_room_below_long_heads_and_around_sentences(width_mm):
    parts = [crowded(4, [1, 2, 5], f"a network with a long name {i}, nobody known at all", seed=i) for i in range(7)]
    level = crowded(4, [1, 2, 5], "another network with a long name, some people known")
    parts.append(level.assign(risk=level["risk"].mask(~level["method"].isin([ORIGINAL, NOTHING]), 0.5)))
    frame = pd.concat(parts, ignore_index=True)
    figure = plot_ru_panels(frame, title="risk: share of people " * 4, width_cm=width_mm / 10)
    for ax in figure.axes:
        box = ax.get_window_extent()
        assert box.height >= 0.49 * box.width


def test_a_panel_a_method():
    figure = plot_ru_panels(crowded(7, [1, 2, 5, 10]), risk_limit=0.25, by_method=True)
    assert [ax.get_title(loc="left") for ax in figure.axes] == [f"method {letter}" for letter in "abcdefg"]
    assert not faults(figure)


def test_a_picture_with_faults_is_found_out():
    figure, ax = new_figure(size=(3, 3))
    ax.plot([0, 1], [0, 1], marker="o")
    ax.text(0.4, 0.5, "on the line")
    ax.text(0.42, 0.52, "on the text", fontsize=4)
    ax.text(0.9, 1.0, "far outside, and on a point").set_in_layout(False)
    ax.add_patch(Polygon([(0.1, 0.6), (0.3, 0.6), (0.3, 0.9), (0.1, 0.9)]))
    ax.text(0.15, 0.7, "on the shape")
    ax.annotate("over the axis", (0, 0.2), ha="center").set_gid("label")
    found = overlaps(figure)
    assert all(found[what] for what in FAULTS)
    assert found["smallest_pt"] == 4


@pytest.mark.parametrize(
    ("draw", "fault"),
    [
        (lambda ax: ax.errorbar(0.5, 0.5, yerr=0.3), "on_line"),
        (lambda ax: ax.vlines(0.5, 0, 1), "on_line"),
        (lambda ax: ax.fill_between([0, 1], 0.5, 0.9), "on_line"),
        (lambda ax: ax.scatter([0.5], [0.5], s=40), "on_point"),
        (lambda ax: ax.plot([0, 1], [0.5, 0.5], linewidth=3, gid="behind"), "on_shape"),
        (lambda ax: ax.bar(0.5, 0.8), "on_shape"),
        (lambda ax: (ax.bar(0.5, 0.8), ax.set_yscale("log"), ax.set_ylim(0.1, 2)), "on_shape"),
        (lambda ax: (ax.vlines(0.5, 0.1, 2), ax.set_yscale("log"), ax.set_ylim(0.1, 2)), "on_line"),
    ],
)
def test_every_kind_of_mark_is_seen_and_avoided(draw, fault):
    for placed in (False, True):
        figure, ax = new_figure(size=(3, 3))
        ax.set(xlim=(-1, 2), ylim=(0, 1.1))
        draw(ax)
        if placed:
            place_labels(ax, [Label([(0.5, 0.5)], "its name", "black")])
        else:
            ax.text(0.5, 0.5, "its name", ha="center", va="center")
        found = overlaps(figure)
        assert bool(found[fault]) is not placed
        assert not placed or not any(found[what] for what in FAULTS)


def test_a_name_stands_nearest_to_its_own_curve():
    figure, ax = new_figure(size=(3, 3))
    curves = {name: [(0.0, low), (1.0, low + 0.5)] for name, low in (("one", 0.1), ("two", 0.16), ("three", 0.4))}
    for ends in curves.values():
        ax.plot(*zip(*ends, strict=True), color="0.78", marker="o", markersize=2)
    place_labels(ax, [Label(ends, name, "0.45") for name, ends in curves.items()])
    assert not any(overlaps(figure)[what] for what in FAULTS)
    led = [tuple(line.get_xydata()[0]) for line in ax.get_lines() if line.get_gid() == "lead"]
    for text in ax.texts:
        if text.xy not in led:
            box = text.get_window_extent().transformed(ax.transData.inverted())
            x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
            away = {name: abs(y - low - 0.5 * x) for name, ((_, low), _) in curves.items()}
            assert min(away, key=away.get) == text.get_text()


def test_black_and_its_markers_are_the_anchors_own():
    looks = looks_of(crowded(10, [1, 2]), None).values()
    assert not {look.colour for look in looks} & {"#000000", "#7F7F7F"}
    assert not {look.marker for look in looks} & {"X", "*"}


def test_releases_without_an_order_are_not_joined():
    parted = crowded(1, ["500 sets, 1 place", "100 sets, 10 places", "20 sets, 30 places"])
    assert not looks_of(parted, None)["method a"].joined
    assert [line for line in plot_ru_map(parted).get_lines() if line.get_zorder() == 3] == []
    for values in (["1 km, 3 km", "5 km, 15 km"], ["1e-05", "0.1", "2"], ["5", "4"]):
        assert looks_of(crowded(1, values), None)["method a"].joined


@given(st.floats(0.002, 0.998), st.sampled_from(["linear", "log", "loss", "logit"]))
def test_a_scale_and_its_inverse(value, kind):
    scale = Scale(kind)
    assert scale.back(scale.to(value)) == pytest.approx(value)
    assert np.isfinite(scale.place([0.0, 1.0])).all()
    ticks = scale.ticks(*scale.place([0.0, 1.0]), 6)
    assert 2 <= len(ticks) <= 8


def test_a_scale_is_chosen_by_what_it_spreads():
    assert choose_scale(np.linspace(0, 1, 9), 1.0).kind == "linear"
    assert choose_scale([1e-3, 1e-2, 1e-1, 1], None).kind == "log"
    assert choose_scale([0.9, 0.99, 0.999], 1.0).kind == "loss"
    assert choose_scale([-5.0, 0.9, 0.99, 0.999], 1.0).kind == "loss"
    assert choose_scale([], 1.0).kind == "linear"
    assert evenness([0, 1, 2, 3]) == pytest.approx(1)
    assert evenness([0, 1e-6, 2e-6, 1]) < 0.4


def test_the_ring_is_the_most_useful_release_below_the_limit():
    frame = crowded(3, [1, 2, 5, 10])
    below = frame[(frame["risk"] <= 0.3) & ~frame["method"].isin([ORIGINAL, NOTHING])]
    best = below.loc[below["utility"].idxmax()]
    ax = plot_ru_map(frame, risk_limit=0.3)
    (ring,) = [line for line in ax.get_lines() if line.get_markersize() == 8]
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == pytest.approx((best["utility"], best["risk"]))


def shown(frame, **kws):
    """Return what the interactive map draws, read from its page as a browser would read it."""
    page = ru_map_page(frame, **kws)
    state = re.search(r"^const state = (.*);$", page, re.MULTILINE)
    return json.loads(state[1])


def test_the_interactive_map_shows_the_frame():
    frame = crowded(3, [1, 2, 5, 10])
    told = shown(frame, risk_limit=0.3)
    assert told["limit"] == 0.3
    releases = frame[~frame["method"].isin([ORIGINAL, NOTHING])]
    points = [point for curve in told["data"]["curves"] for point in curve["points"]]
    assert [point["risk"] for point in points] == pytest.approx(list(releases["risk"]), abs=1e-6)
    assert [point["utility"] for point in points] == pytest.approx(list(releases["utility"]), abs=1e-6)
    assert [point["undominated"] for point in points] == pytest.approx(list(releases["undominated"]))
    single = shown(crowded(3, [1, 2], n=1), risk_limit=0.3)["data"]["curves"]
    assert not any("undominated" in point for curve in single for point in curve["points"])
    # Higher risks stand higher, and the limit's axis leads back to them.
    scale = told["data"]["scale"]
    back = Scale(scale["kind"], scale["ceiling"], scale["zero"]).back
    places = np.array([point["y"] for point in points])
    assert back(scale["low"] + places * (scale["high"] - scale["low"])) == pytest.approx(
        list(releases["risk"]), abs=1e-3
    )


def test_the_interactive_map_is_one_small_file_of_stable_bytes_without_network():
    frame = crowded(5, [1, 2, 5, 10])
    page = ru_map_page(frame)
    assert page == ru_map_page(frame.copy())
    assert len(page) < 21_000
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_names_of_the_data_cannot_become_script():
    frame = crowded(1, [1, 2]).replace("method a", "</script><script>alert(1)</script>")
    page = ru_map_page(frame, codes={("</script><script>alert(1)</script>", "1"): "<b>"})
    assert page.count("<script>") == 1
    assert "alert(1)" in page
    assert "<b>" not in page


def test_an_infinite_utility_and_columns_of_the_judge_are_told():
    frame = anchor(crowded(1, [1, 2])[:2], ORIGINAL, risk=1, utility=np.inf).assign(n_above=[3, 4, np.nan])
    told = shown(frame)["data"]
    assert told["extra"] == ["n_above"]
    assert [point["n_above"] for point in told["curves"][0]["points"]] == [3, 4]


def test_the_widget_tells_python_what_was_clicked():
    clicked = []
    widget = ru_map_widget(crowded(2, [1, 2]), risk_limit=0.4, on_release=lambda *release: clicked.append(release))
    assert widget.limit == 0.4
    widget.release = ["method a", "2"]
    assert clicked == [("method a", "2")]


def test_a_label_without_text_takes_no_place():
    ax = new_figure(size=(3, 3))[1]
    place_labels(ax, [Label([(0.5, 0.5)], text, "black") for text in ("", "\n", "k = 2")])
    assert [text.get_text() for text in ax.texts] == ["k = 2"]


@pytest.mark.parametrize("width_cm", [8.5, 17])
def test_several_risks_stand_side_by_side_over_one_utility(width_cm):
    frame = pd.concat(
        [
            crowded(2, [1, 2, 4, 8], attack=attack, seed=seed)
            for seed, attack in enumerate(("clique", "nearest", "worst"))
        ]
    )
    figure = plot_ru_together(frame, risk_limit=0.6, width_cm=width_cm)
    (ax,) = figure.axes
    releases = frame[~frame["method"].isin([ORIGINAL, NOTHING])]
    markers = [line for line in ax.get_lines() if line.get_marker() in "os^"]
    assert len(markers) == len(releases)
    drawn = sorted(float(line.get_ydata()[0]) for line in markers)
    assert drawn == pytest.approx(sorted(releases["risk"]), abs=0.002)
    safe = releases.groupby(["method", "value"])["risk"].max() <= 0.6
    bold = {text.get_text() for text in ax.texts if text.get_fontweight() == "bold"}
    assert bold <= {f"{method} {value}" for method, value in safe[safe].index}
    found = overlaps(figure)
    assert found["on_text"] == found["outside"] == 0
    assert found["smallest_pt"] >= 7
    with pytest.raises(DataError, match="must have one analysis"):
        plot_ru_together(pd.concat([frame, frame.assign(analysis="another")]))


def test_an_optional_name_that_fits_nowhere_is_left_out():
    """Among dots as close as they may be, the name that must stand does; alone both do."""
    for dense in (True, False):
        figure, ax = plt.subplots(figsize=(2.5, 2), dpi=100)
        at = np.linspace(0, 1, 12) if dense else np.array([0.5])
        ax.plot(*(axis.ravel() for axis in np.meshgrid(at, at)), "o", color="black")
        middle = [(float(at[len(at) // 2]),) * 2]
        place_labels(ax, [Label(middle, "must", "red"), Label(middle, "may", "blue", optional=True)])
        assert [text.get_text() for text in ax.texts] == (["must"] if dense else ["must", "may"])
        plt.close(figure)
