import re
import runpy
from pathlib import Path
from urllib.parse import unquote

import pytest

from reident import DataError, errata
from reident.data.datasets import PAPERS
from reident.runner.report import write_report
from small_notebooks import finished_run


def test_the_site_stands_alone(tmp_path):
    index = write_report(finished_run(tmp_path), tmp_path / "site", draw=False)
    assert index == tmp_path / "site" / "index.html"
    pages = list((tmp_path / "site").glob("*.html"))
    assert {page.stem for page in pages} == {"index", "errata"}
    for page in pages:
        text = page.read_text()
        assert not re.search(r"<script|<link|(src|href)=.https?:", text)
        for target in re.findall(r'(?:href|src)="([^"#]+)"', text):
            assert (page.parent / unquote(target)).is_file(), target


def test_an_earlier_site_is_replaced_and_nothing_else(tmp_path):
    out = finished_run(tmp_path)
    write_report(out, tmp_path / "site", draw=False)
    (out / "kroll2015" / "notebook.html").unlink()
    write_report(out, tmp_path / "site", draw=False)
    assert not (tmp_path / "site" / "kroll2015" / "notebook.html").exists()
    (tmp_path / "mine").mkdir()
    for folder in ("mine", "site"):
        (tmp_path / folder / "thesis.txt").touch()
        with pytest.raises(DataError, match=r"`site` must not hold files that would be lost: thesis\.txt"):
            write_report(out, tmp_path / folder, draw=False)
        assert (tmp_path / folder / "thesis.txt").exists()
    assert not list(tmp_path.glob(".*unfinished*"))


def test_without_an_experiment_there_is_no_site(tmp_path):
    with pytest.raises(DataError, match="no experiment has been reproduced"):
        write_report(tmp_path, tmp_path / "site")


def test_errata_name_their_documents():
    table = errata()
    assert table.columns.tolist() == ["stem", "number", "place", "printed", "instead"]
    assert set(table["stem"]) <= set(PAPERS)
    assert not table.isna().any(axis=None)
    assert not table.duplicated(["stem", "number"]).any()
    for _, numbers in table.groupby("stem")["number"]:
        assert sorted(numbers) == list(range(1, len(numbers) + 1))


FIGURES = Path(__file__).parents[2] / "figures"


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(FIGURES / "fill.py"))


def test_a_figure_of_no_experiment_is_refused(tmp_path, script):
    (tmp_path / "kroll2015").mkdir()
    (tmp_path / "kroll2015" / "nonsense.png").touch()
    with pytest.raises(DataError, match="no notebook draws it"):
        script["figures_page"](tmp_path)


def test_results_are_collected_with_their_claims(tmp_path, script):
    made, folder = tmp_path / "made" / "kroll2015", tmp_path / "kept"
    (made / "figures").mkdir(parents=True)
    for file in (FIGURES / "kroll2015").iterdir():
        (made / file.name if file.name == "claims.csv" else made / "figures" / file.name).write_bytes(file.read_bytes())
    assert script["collect"](tmp_path / "made", folder) == ["kroll2015"]
    copied = {path.name for path in (folder / "kroll2015").iterdir()}
    assert {path.name for path in (FIGURES / "kroll2015").iterdir()} == copied
    (tmp_path / "README.md").write_text("<!-- claims -->\nold\n<!-- end of claims -->\nrest\n")
    note = tmp_path / "paper" / "replication-kroll2015.md"
    note.parent.mkdir()
    note.write_text("<!-- claims -->\nold\n<!-- end of claims -->\n")
    script["write"](folder)
    assert "**What does not agree, and why.**" in note.read_text()
    readme = (tmp_path / "README.md").read_text()
    assert script["headlines"](folder) in readme
    assert readme.endswith("rest\n")
