"""Risk-utility frames, frontiers and maps."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reident import frontier, plot_ru_map, ru_frame
from reident.rumap import NOTHING, ORIGINAL, anchor


def trials():
    rng = np.random.default_rng(1)
    rows = [
        {"mask": mask, "size": size, "share": rng.uniform(0.8, 1) / size, "use": 10 - size + (mask == "b")}
        for mask, size, _ in itertools.product("ab", [1, 2, 4], range(30))
    ]
    return pd.DataFrame(rows)


def frame(**kws):
    settings = {"method": "mask", "parameter": "size", "risk": "share", "utility": "use", "attack": "linkage",
                "analysis": "means"}  # fmt: skip
    return ru_frame(trials(), **{**settings, **kws})


def test_frame_summarises_repetitions():
    table = trials()
    comp = frame(level=0.8)
    assert len(comp) == 6
    for row in comp.itertuples():
        part = table[(table["mask"] == row.method) & (table["size"] == int(row.value))]
        assert row.n == len(part) == 30
        assert row.risk == pytest.approx(part["share"].mean())
        assert row.risk_worst == part["share"].max()
        assert (row.risk_low, row.risk_high) == pytest.approx(tuple(part["share"].quantile([0.1, 0.9])))


@pytest.mark.filterwarnings("error")
def test_an_exact_release_has_an_infinite_utility():
    table = trials().assign(use=lambda table: np.where(table["size"] == 1, np.inf, table["use"]))
    options = {"risk": "share", "utility": "use", "attack": "linkage", "analysis": "means"}
    exact = ru_frame(table, method="mask", parameter="size", **options).query("value == '1'")
    assert (exact[["utility", "utility_low", "utility_high"]] == np.inf).all(axis=None)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8))
def test_the_frontier_equals_the_naive_twin(points):
    table = pd.DataFrame(points, columns=["risk", "use"]).assign(number=range(len(points)))
    frame = ru_frame(
        table, method="m", parameter="number", risk="risk", utility="use", attack="a", analysis="b", n_bootstrap=1
    )
    comp = {int(value) for value in frontier(frame)["value"]}
    ref = {
        row
        for row, (risk, use) in enumerate(points)
        if not any(r <= risk and u >= use and (r < risk or u > use) for r, u in points)
    }
    assert comp == ref


def test_anchors_are_drawn_and_take_no_part():
    comp = anchor(anchor(frame(), ORIGINAL, risk=1, utility=np.inf), NOTHING, risk=0, utility=0)
    assert not set(frontier(comp)["method"]) & {ORIGINAL, NOTHING}
    legend = {text.get_text() for text in plot_ru_map(comp, limit=0.25).get_legend().get_texts()}
    assert legend == {"a", "b", "original"}
