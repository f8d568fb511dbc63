"""The committed figures are those that the notebooks draw, and stand on one page."""

import re
from pathlib import Path

import pandas as pd
import pytest

from reident.base import DataError
from reident.experiments.claims import claims
from reident.runner._index import read_claims
from reident.runner.experiments import experiments, figure_names
from reident.runner.gallery import MARKS, claims_table, collect, gallery, headlines, note_results, write_gallery

FIGURES = Path(__file__).parents[2] / "figures"


@pytest.mark.parametrize("name", experiments())
def test_committed_figures_are_those_that_the_notebook_draws(name):
    folder = FIGURES / name
    drawn = figure_names(experiments()[name])
    assert pd.read_csv(folder / "captions.csv")["figure"].tolist() == drawn
    assert {path.stem for path in folder.glob("*.png")} == {*drawn}
    assert f"| {name} |" in claims_table(FIGURES)


def test_every_committed_figure_stands_on_the_page():
    page = gallery(FIGURES)
    for picture in FIGURES.glob("*/*.png"):
        assert f"]({picture.parent.name}/{picture.name})" in page


def test_a_figure_of_no_experiment_is_refused(tmp_path):
    (tmp_path / "kroll2015").mkdir()
    (tmp_path / "kroll2015" / "nonsense.png").touch()
    with pytest.raises(DataError, match="no notebook draws it"):
        gallery(tmp_path)


@pytest.mark.parametrize("name", ["README.md", "kroll2015/claims.csv"])
def test_files_of_a_user_are_not_replaced(tmp_path, name):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine")
    for write in (write_gallery, lambda folder: collect(FIGURES, folder)):
        with pytest.raises(DataError, match="take another folder"):
            write(tmp_path)
    assert file.read_text() == "mine"


def test_results_are_collected_with_their_claims(tmp_path):
    made, folder = tmp_path / "made" / "kroll2015", tmp_path / "kept"
    (made / "figures").mkdir(parents=True)
    for file in (FIGURES / "kroll2015").iterdir():
        (made / file.name if file.name == "claims.csv" else made / "figures" / file.name).write_bytes(file.read_bytes())
    assert collect(tmp_path / "made", folder) == ["kroll2015"]
    copied = {path.name for path in (folder / "kroll2015").iterdir()}
    assert {path.name for path in (FIGURES / "kroll2015").iterdir()} == copied
    (tmp_path / "README.md").write_text("<!-- claims -->\nold\n<!-- end of claims -->\nrest\n")
    write_gallery(folder)
    readme = (tmp_path / "README.md").read_text()
    assert headlines(folder) in readme
    assert (tmp_path / "README.md").read_text().endswith("rest\n")


@pytest.mark.parametrize("name", experiments())
def test_headlines_are_filled_with_the_numbers_and_verdict_of_their_claims(name):
    rows = read_claims(FIGURES / name).set_index("item")
    for claim in claims(name):
        if claim.headline and rows.loc[claim.item, "verdict"] != "not comparable":
            (line,) = [line for line in headlines(FIGURES).splitlines() if claim.headline.partition("{")[0] in line]
            assert line.endswith(f"*{rows.loc[claim.item, 'verdict']}*")
            assert "nan" not in line


@pytest.mark.parametrize(
    "note", sorted((FIGURES.parent / "paper").glob("replication-*.md")), ids=lambda path: path.stem
)
def test_a_replication_note_holds_the_results_of_the_committed_claims(note):
    text = note.read_text(encoding="utf-8")
    figure = re.search(r"<!-- figure: (\S+) -->", text)[1]
    results = note_results(FIGURES, note.stem.partition("-")[2], figure)
    assert f"{MARKS[0]}{results}{MARKS[1]}" in text, "run `reident gallery figures`"
    assert (FIGURES / f"{figure}.png").is_file()
