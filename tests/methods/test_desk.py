"""The desk for one's own data without a browser: what it shows is what its commands found."""

import html
import json
import re

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
    # What the command wrote: the same map with the same refusals, and the same verdict.
    report = (tmp_path / desk.out / "report" / "report.html").read_text()
    state = json.loads(re.search(r"^const state = (.*);$", report, re.MULTILINE)[1])
    assert json.loads(json.dumps(desk.map.data)) == state["data"]
    assert any("refused" in point for curve in desk.map.data["curves"] for point in curve["points"])
    sentence = html.unescape(re.search(r'class="verdict"><strong>(.*?)</strong>', report)[1])
    assert f"<b>{html.escape(sentence)}</b>" in desk.verdict.value
    desk.tolerate.value = 0.5
    assert not any("refused" in point for curve in desk.map.data["curves"] for point in curve["points"])
    desk.tolerate.value = 0.0
    assert json.loads(json.dumps(desk.map.data)) == state["data"]
    assert {curve["name"] for curve in desk.map.data["curves"]} >= {"mondrian"}
    desk.shown.value = "places"
    assert {curve["name"] for curve in desk.map.data["curves"]} == {"donut"}
    desk.roles["PLZ"].value = "quasi-identifier"
    assert (desk.map.data, desk.maps, desk.verdict.value) == ({}, {}, "")
