"""The static site: made from stored results only, all numbers on one page, links that lead somewhere."""

import re
from urllib.parse import unquote

import pytest

from reident import DataError, ParameterError, errata
from reident.papers import PAPERS
from reident.runner.report import write_report
from small_notebooks import finished_study


def test_the_site_stands_alone(tmp_path):
    index = write_report(finished_study(tmp_path), tmp_path / "site", draw=False)
    assert index == tmp_path / "site" / "index.html"
    pages = list((tmp_path / "site").glob("*.html"))
    assert {page.stem for page in pages} == {"index", "fidelity", "errata"}
    for page in pages:
        text = page.read_text()
        assert not re.search(r"<script|<link|(src|href)=.https?:", text)
        for target in re.findall(r'(?:href|src)="([^"#]+)"', text):
            assert (page.parent / unquote(target)).is_file(), target


def test_every_printed_number_is_on_one_page(tmp_path):
    write_report(finished_study(tmp_path), tmp_path / "site", draw=False)
    text = (tmp_path / "site" / "fidelity.html").read_text()
    for item in ("recall &lt;at&gt; 1", "recall at 2", "vertices"):
        assert item in text
    assert text.count('<span class="good">2 agree</span>, <span class="bad">1 differ</span>') == 3
    assert text.count('<td class="number">12.4 %</td>') == 2  # the median of .08 / .5 and .08 / .9, a study and all
    assert "Not reproduced in this run: Lipschitz embedding" in text


def test_an_earlier_site_is_replaced_and_nothing_else(tmp_path):
    out = finished_study(tmp_path)
    write_report(out, tmp_path / "site", draw=False)
    (tmp_path / "site" / "stale.html").touch()
    write_report(out, tmp_path / "site", draw=False)
    assert not (tmp_path / "site" / "stale.html").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    with pytest.raises(DataError, match="`site` must be empty, absent or an earlier site"):
        write_report(out, tmp_path / "mine", draw=False)
    assert (tmp_path / "mine" / "thesis.txt").exists()
    assert not list(tmp_path.glob(".*.tmp"))


def test_without_a_study_there_is_no_site(tmp_path):
    with pytest.raises(DataError, match="no study has been reproduced"):
        write_report(tmp_path, tmp_path / "site")


def test_errata_name_their_documents():
    table = errata()
    assert table.columns.tolist() == ["stem", "number", "place", "printed", "instead"]
    assert set(table["stem"]) <= set(PAPERS)
    assert not table.isna().any(axis=None)
    assert not table.duplicated(["stem", "number"]).any()
    assert len(errata("vanhoef2012")) == 18
    with pytest.raises(ParameterError, match="`stem` must be one of"):
        errata("nonsense")
