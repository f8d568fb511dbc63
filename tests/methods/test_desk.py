"""The desk for one's own data without a browser: what it shows is what its commands found."""

import pytest

from office import office
from reident.workbench.desk import Desk


@pytest.mark.slow
def test_the_map_of_the_advised_release_is_shown(tmp_path):
    office(150).to_csv(tmp_path / "patienten.csv", sep=";", index=False, encoding="latin-1")
    desk = Desk("patienten.csv", folder=tmp_path, profile="smoke", jobs=1)
    assert desk.map.data == {}
    for name in ("PLZ", "Beruf", "Aufnahme"):
        desk.roles[name].value = "other"
    desk.methods.names.value = ("donut", "mondrian")
    desk.run("assess", wait=True)
    assert desk.state.value == "Done."
    assert set(desk.shown.options) == {"places", "table"}
    assert "mondrian" in desk.verdict.value
    assert desk.shown.value == "table"
    assert {curve["name"] for curve in desk.map.data["curves"]} >= {"mondrian"}
    desk.shown.value = "places"
    assert {curve["name"] for curve in desk.map.data["curves"]} == {"donut"}
    desk.roles["PLZ"].value = "quasi-identifier"
    assert (desk.map.data, desk.maps, desk.verdict.value) == ({}, {}, "")
