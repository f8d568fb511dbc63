"""The static site: made from stored results only, all numbers on one page, links that lead somewhere."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from reident import DataError, ParameterError, errata
from reident.data.papers import PAPERS
from reident.runner._ledger import committed_ledgers, differences, matrix
from reident.runner.report import write_report
from reident.studies.comparison import RULES
from small_notebooks import finished_study

FIGURES = Path(__file__).parents[2] / "figures"


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
    assert text.count('<span class="good">2 agree</span>, <span class="bad">1 differ</span>') == 1
    row = '<td>the document&#39;s own</td><td class="number">2</td><td class="number">1</td><td class="number"></td>'
    assert f'<tr><td><a href="#holohan2017">holohan2017</a></td>{row}' in text
    assert "Not reproduced in this run: Lipschitz embedding" in text


def test_the_page_filters_without_a_script_and_shows_the_code_of_every_rule(tmp_path):
    write_report(finished_study(tmp_path), tmp_path / "site", draw=False)
    text = (tmp_path / "site" / "fidelity.html").read_text()
    shown = set(re.findall(r'id="show-([A-Za-z-]+)"', text))
    for marks in re.findall(r'<tr class="([^"]+)"', text):
        assert set(marks.split()) <= shown
    for name in shown:
        assert f"body:has(#show-{name}:not(:checked)) tr.{name} {{ display: none; }}" in text
    for rule in RULES:
        assert f'id="rule-{rule.replace(" ", "-")}"' in text
    assert set(re.findall(r'href="#(rule-[a-z-]+)"', text)) <= set(re.findall(r'id="(rule-[a-z-]+)"', text))


def test_a_difference_is_told_only_where_the_ledger_bears_it_out():
    committed = committed_ledgers(FIGURES)
    told = list(differences(committed))
    assert len(told) == 4
    assert len({document for document, _ in told}) == 4
    agreeing = {name: frame.assign(verdict="agrees") for name, frame in committed.items()}
    assert list(differences(agreeing)) == []
    counted = matrix(committed)
    assert counted.to_numpy().sum() == sum(len(frame) for frame in committed.values())


def test_an_earlier_site_is_replaced_and_nothing_else(tmp_path):
    out = finished_study(tmp_path)
    write_report(out, tmp_path / "site", draw=False)
    (out / "holohan2017" / "notebook.html").unlink()
    write_report(out, tmp_path / "site", draw=False)
    assert not (tmp_path / "site" / "holohan2017" / "notebook.html").exists()
    (tmp_path / "mine").mkdir()
    for folder in ("mine", "site"):
        (tmp_path / folder / "thesis.txt").touch()
        with pytest.raises(DataError, match=r"`site` must not hold files that would be lost: thesis\.txt"):
            write_report(out, tmp_path / folder, draw=False)
        assert (tmp_path / folder / "thesis.txt").exists()
    assert not list(tmp_path.glob(".*unfinished*"))


def test_without_a_study_there_is_no_site(tmp_path):
    with pytest.raises(DataError, match="no study has been reproduced"):
        write_report(tmp_path, tmp_path / "site")


def test_errata_name_their_documents():
    table = errata()
    assert table.columns.tolist() == ["stem", "number", "place", "printed", "instead"]
    assert set(table["stem"]) <= set(PAPERS)
    assert not table.isna().any(axis=None)
    assert not table.duplicated(["stem", "number"]).any()
    for _, numbers in table.groupby("stem")["number"]:
        assert sorted(numbers) == list(range(1, len(numbers) + 1))
    with pytest.raises(ParameterError, match="`stem` must be one of"):
        errata("nonsense")
