"""A register of households and places, from the office's file to a release that was checked, on the command line."""

import pandas as pd
import pytest

import reident as rd
from judged import records
from office import households
from reident.workbench.making import Step
from reident.workbench.ru_map import tried_releases
from reident.workbench.search import slots_of

pytestmark = pytest.mark.whole


def test_grids_with_enough_in_every_cell_are_tried_and_what_must_be_kept_is_not_withheld():
    table = households()
    places = {"lat_deg": table["Breite"], "lon_deg": table["Länge"]}
    data = table.assign(**{name: pd.to_numeric(cell.str.replace(",", ".")) for name, cell in places.items()}).dropna()
    plans = {
        kind: tried_releases(records(data, quasi=["PLZ"], kind=kind), methods, len(data))[0]
        for kind, methods in (("table", ["mondrian"]), ("places", [{"name": "grid", "cell_m": 5000.0}]))
    }
    for limit, least in ((0.25, [4, 12, 32]), (0.5, [2, 6, 16]), (0.001, [])):
        slots = slots_of(plans, rd.Dataset(data, quasi="PLZ"), limit)
        assert [one.settings["min_count"] for one in slots[1] if one] == [1, *least]
        assert slots[0][-1] is slots[1][-1] is None
    assert None not in slots_of(plans, rd.Dataset(data, quasi="PLZ", must_keep="place"), 0.25)[1]
    kept = slots_of(plans, rd.Dataset(data, quasi="PLZ", must_keep="PLZ"), 0.25)
    assert None not in kept[0]
    assert None in kept[1]
    assert Step("grid", **kept[1][0].settings) == kept[1][0]
