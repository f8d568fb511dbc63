"""The explorer without a browser: what it offers, draws and tells; a click at a point's place chooses it."""

import numpy as np
import pytest

pytest.importorskip("ipyevents")
from matplotlib.image import imread

from reident.errors import ParameterError
from reident.rumap import ORIGINAL
from reident.workbench.examples import example_table
from reident.workbench.explorer import Example, Explorer


@pytest.fixture(scope="module")
def explorer():
    data = example_table(120, rng=1)
    offered = {"t": Example(data, {"quasi": ["age", "pay"]}, "table", {"n_known": 40, "n_released": 60})}
    made = Explorer(offered, repetitions=2)
    made.methods.value = ("mondrian", "additive_noise")
    made.run()
    return made


def test_every_point_of_the_map_has_its_place(explorer, tmp_path):
    releases = explorer.panel()["method"].isin(["mondrian", "additive_noise", ORIGINAL]).sum()
    assert len(explorer.spots) == releases
    (tmp_path / "map.png").write_bytes(explorer.map.value)
    height, width, _ = imread(tmp_path / "map.png").shape
    assert explorer.spots["x"].between(0, width).all()
    assert explorer.spots["y"].between(0, height).all()
    assert set(explorer.spots["row"]) <= {row for _, row in explorer.point.options}


def test_the_places_order_as_risk_and_utility_do(explorer):
    panel = explorer.panel()
    panel = panel[panel["method"].isin(["mondrian", "additive_noise", ORIGINAL])].reset_index(drop=True)
    for axis, place, sign in (("utility", "x", 1), ("risk", "y", -1)):
        in_order = explorer.spots[place].to_numpy()[panel[axis].argsort(kind="stable")]
        assert (sign * np.diff(in_order) >= -0.5).all(), f"{axis} does not run with {place}"


def test_a_click_on_a_point_shows_what_is_behind_it(explorer):
    for spot in explorer.spots.itertuples():
        explorer.pick(spot.x + 2, spot.y - 2)
        near = explorer.spots[np.hypot(explorer.spots["x"] - spot.x, explorer.spots["y"] - spot.y) < 6]
        assert explorer.point.value in set(near["row"])
        trial = explorer.trials.iloc[explorer.point.value]
        assert ("reident." in explorer.behind.value) == (trial["method"] != ORIGINAL)
    before = explorer.point.value
    explorer.pick(-500, -500)
    assert explorer.point.value == before


def test_a_click_sent_by_the_browser_arrives(explorer):
    first, last = explorer.spots.iloc[0], explorer.spots.iloc[-1]
    for spot in (first, last):
        event = {"type": "click", "dataX": round(spot["x"]), "dataY": round(spot["y"])}
        explorer.clicks._handle_mouse_msg(explorer.clicks, event, [])
    assert explorer.point.value == last["row"]


def test_the_chosen_point_is_marked(explorer):
    pictures = set()
    for spot in (explorer.spots.iloc[0], explorer.spots.iloc[-1]):
        explorer.pick(spot["x"], spot["y"])
        pictures.add(explorer.map.value)
    assert len(pictures) == 2


def test_other_data_forget_the_map(explorer):
    explorer._offer()
    assert explorer.spots.empty
    explorer.pick(100, 100)  # a click on nothing is nothing


def test_nothing_to_offer_is_refused():
    with pytest.raises(ParameterError, match="`data` must offer at least one data set"):
        Explorer({})
