import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reident import frontier, plot_ru_map, ru_frame, ru_map_page
from reident.plotting import new_figure
from reident.rumap import NOTHING, ORIGINAL, anchor


def crowded(n_methods, values, attack="clique attack", analysis="neighbours kept", *, seed=0, n=3):
    """Return a map in which curves cross and meet near the original."""
    rng = np.random.default_rng(seed)
    rows = []
    for m, (k, value) in itertools.product(range(n_methods), enumerate(values)):
        share = (k + 1) / (len(values) + 1)
        for _ in range(n):
            risk = float(np.clip((1 - share) ** (1 + m / 3) + rng.normal(0, 0.03), 0, 1))
            use = float(min(1 - share ** (3 - m / 4) + rng.normal(0, 0.005), 1))
            rows.append({"method": f"method {'abcdefghij'[m]}", "size": value, "risk": risk, "use": use})
    made = ru_frame(
        pd.DataFrame(rows), method="method", parameter="size", risk="risk", utility="use", attack=attack,
        analysis=analysis,
    )  # fmt: skip
    return anchor(anchor(made, ORIGINAL, risk=1, utility=1), NOTHING, risk=0, utility=0)


def releases_in(frame):
    return frame[~frame["method"].isin([ORIGINAL, NOTHING])]


def rings(ax):
    return [
        tuple(map(float, point))
        for found in ax.collections
        if hasattr(found, "get_sizes") and found.get_sizes().tolist() == [110]
        for point in found.get_offsets()
    ]


@pytest.mark.parametrize("n_methods", [1, 3, 10])
def test_the_ring_is_the_most_useful_release_whose_bar_ends_within_the_limit(n_methods):
    frame = crowded(n_methods, [1, 2, 5, 10], n=20)
    below = releases_in(frame).query("risk_high <= 0.4")
    best = below.loc[below["utility"].idxmax()]
    ax = plot_ru_map(frame, limit=0.4)
    assert rings(ax) == [pytest.approx((best["utility"], best["risk"]))]
    assert f"{best['method']} {best['label']}" in [text.get_text() for text in ax.texts]
    advice = frontier(frame, limit=0.4)
    first = advice[advice["advice"].str.startswith("most useful within 40%")]
    assert advice["advice"].str.len().max() <= 50  # pandas cuts longer texts
    assert first["utility"].tolist() == [pytest.approx(best["utility"])]
    assert first["risk_high"].item() <= 0.4


def test_a_mean_within_the_limit_is_not_enough():
    trials = pd.DataFrame({"size": [1] * 10, "risk": [0.0] * 8 + [0.9] * 2, "use": [1.0] * 10})
    frame = ru_frame(trials, method="m", parameter="size", risk="risk", utility="use", attack="a", analysis="b")
    assert frame["risk"].item() < 0.25 < frame["risk_high"].item()
    assert rings(plot_ru_map(frame, limit=0.25)) == []
    assert frontier(frame, limit=0.25)["advice"].str.startswith("above 25%: ").all()


def test_a_map_is_drawn_on_the_given_axes_and_saves_itself(tmp_path):
    _, ax = new_figure(size=(4, 3))
    frame = crowded(3, [1, 2, 5])
    before = frame.copy()
    refused = frame.assign(refused=[None] * 8 + ["an attack"] + [None] * 2)
    assert plot_ru_map(refused, limit=0.25, ax=ax) is ax
    assert {"method a", "original", "at least (refused)"} <= {text.get_text() for text in ax.get_legend().get_texts()}
    ax.figure.savefig(tmp_path / "map.png")
    pd.testing.assert_frame_equal(frame, before)
    wide = frame.assign(utility=[*np.geomspace(1, 1e4, 9), np.inf, 0.0])
    assert plot_ru_map(wide, limit=0.25).get_xscale() == "log"


def shown(frame, **kws):
    """Return what the interactive map draws, read from its page as a browser would read it."""
    page = ru_map_page(frame, **kws)
    state = re.search(r"^const state = (.*);$", page, re.MULTILINE)
    return json.loads(state[1])


@pytest.mark.parametrize("wide", [False, True])
def test_the_interactive_map_shows_the_frame(wide):
    frame = crowded(3, [1, 2, 5, 10])
    if wide:
        frame[["utility", "utility_low", "utility_high"]] = np.tile(np.geomspace(1e-3, 1e3, len(frame))[:, None], 3)
    state = shown(frame, limit=0.3)
    assert state["limit"] == 0.3
    releases = releases_in(frame)
    points = [point for curve in state["data"]["curves"] for point in curve["points"]]
    for name in ("risk", "risk_high", "utility"):
        assert [point[name] for point in points] == pytest.approx(list(releases[name]), rel=1e-5, abs=1e-6)
    assert [point["undominated"] for point in points] == pytest.approx(list(releases["undominated"]))
    # Both axes hold every bar.
    for axis, name, scale in (("x", "utility", np.log10 if wide else np.asarray), ("y", "risk", np.asarray)):
        low, high = state["data"][axis]
        assert low <= scale(releases[f"{name}_low"]).min() <= scale(releases[f"{name}_high"]).max() <= high


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


def repeated():
    rng = np.random.default_rng(1)
    rows = [
        {"mask": mask, "size": size, "share": rng.uniform(0.8, 1) / size, "use": 10 - size + (mask == "b")}
        for mask, size, _ in itertools.product("ab", [1, 2, 4], range(30))
    ]
    return pd.DataFrame(rows)


def summary(**kws):
    settings = {"method": "mask", "parameter": "size", "risk": "share", "utility": "use", "attack": "linkage",
                "analysis": "means"}  # fmt: skip
    return ru_frame(repeated(), **{**settings, **kws})


def test_frame_summarises_repetitions():
    table = repeated()
    comp = summary(level=0.8)
    assert len(comp) == 6
    for row in comp.itertuples():
        part = table[(table["mask"] == row.method) & (table["size"] == int(row.value))]
        assert row.n == len(part) == 30
        assert row.risk == pytest.approx(part["share"].mean())
        assert row.risk_worst == part["share"].max()
        assert (row.risk_low, row.risk_high) == pytest.approx(tuple(part["share"].quantile([0.1, 0.9])))


@pytest.mark.filterwarnings("error")
def test_an_exact_release_has_an_infinite_utility():
    table = repeated().assign(use=lambda table: np.where(table["size"] == 1, np.inf, table["use"]))
    options = {"risk": "share", "utility": "use", "attack": "linkage", "analysis": "means"}
    exact = ru_frame(table, method="mask", parameter="size", **options).query("value == '1'")
    assert (exact[["utility", "utility_low", "utility_high"]] == np.inf).all(axis=None)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8))
def test_the_frontier_equals_the_naive_twin(points):
    table = pd.DataFrame(points, columns=["risk", "use"]).assign(number=range(len(points)))
    summary = ru_frame(table, method="m", parameter="number", risk="risk", utility="use", attack="a", analysis="b")
    comp = {int(value) for value in frontier(summary)["value"]}
    ref = {
        row
        for row, (risk, use) in enumerate(points)
        if not any(r <= risk and u >= use and (r < risk or u > use) for r, u in points)
    }
    assert comp == ref
