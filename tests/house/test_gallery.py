"""The page of all committed figures is current, and every figure on it can be drawn again."""

from functools import partial, wraps
from pathlib import Path

import pytest

from reident.errors import DataError
from reident.runner._ledger import markdown
from reident.runner.gallery import PAGE, collect, committed_ledgers, gallery, write_gallery
from reident.studies.captions import title
from reident.studies.catalogue import available_studies

FIGURES = Path(__file__).parents[2] / "figures"


def test_the_page_of_the_committed_figures_is_current():
    written = (FIGURES / PAGE).read_text(encoding="utf-8")
    assert written == gallery(FIGURES), "run `reident gallery figures`"
    for picture in FIGURES.glob("*/*.png"):
        assert f"]({picture.parent.name}/{picture.name})" in written


def test_every_committed_figure_is_there_for_the_screen_and_for_print():
    pictures, vectors = ({path.with_suffix("") for path in FIGURES.glob(f"*/*.{kind}")} for kind in ("png", "svg"))
    assert pictures == vectors


def draws(results, *, k=1):
    """Draw the thing
    in two lines.

    More of it.
    """


def test_a_caption_is_the_first_paragraph_and_what_is_set():
    @wraps(partial(draws, k=3))
    def styled(results):
        return None

    assert title(draws) == "The thing in two lines."
    assert title(styled) == "The thing in two lines. (k = 3)"
    with pytest.raises(DataError, match="has no caption"):
        title(lambda results: None)


def test_a_figure_that_nobody_draws_is_refused(tmp_path):
    (tmp_path / "kroll2015").mkdir()
    (tmp_path / "kroll2015" / "ties.png").touch()
    assert "### ties" in write_gallery(tmp_path).read_text(encoding="utf-8")
    (tmp_path / "kroll2015" / "nonsense.png").touch()
    with pytest.raises(DataError, match="no function draws it"):
        gallery(tmp_path)


def test_the_readme_shows_the_matrix_of_the_committed_ledgers():
    readme = (FIGURES.parent / "README.md").read_text(encoding="utf-8")
    assert markdown(committed_ledgers(FIGURES)) in readme, "run `reident gallery figures`"
    for study in available_studies():
        assert f"(figures/{study.stem}/{study.name}.csv)" in readme


def test_results_are_collected_with_their_comparison(tmp_path):
    made, folder = tmp_path / "made", tmp_path / "kept"
    drawn = FIGURES / "kroll2015"
    (made / "kroll2015" / "figures").mkdir(parents=True)
    for picture in [*drawn.glob("*.png"), *drawn.glob("*.svg")]:
        (made / "kroll2015" / "figures" / picture.name).write_bytes(picture.read_bytes())
    (made / "kroll2015" / "comparison.csv").write_bytes((drawn / "kroll2015.csv").read_bytes())
    (made / "kroll2015" / "study.json").write_bytes((drawn / "kroll2015.json").read_bytes())
    assert collect(made, folder) == ["kroll2015"]
    assert {path.name for path in drawn.iterdir()} == {path.name for path in (folder / "kroll2015").iterdir()}
    assert "Claims: " in write_gallery(folder).read_text(encoding="utf-8")
