"""The page of all committed figures is current, and every figure on it can be drawn again."""

from functools import partial, wraps
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from reident.base import DataError
from reident.plotting import new_figure
from reident.runner.experiments import experiments, figure_names
from reident.runner.gallery import collect, gallery, write_gallery
from reident.studies.captions import Drawn, caption, rests_on, title
from reident.studies.study import Results

FIGURES = Path(__file__).parents[2] / "figures"


def test_every_committed_figure_is_there_for_the_screen_and_for_print():
    pictures, vectors = ({path.with_suffix("") for path in FIGURES.glob(f"*/*.{kind}")} for kind in ("png", "svg"))
    assert {path for path in pictures if path.parent.name not in experiments()} == vectors


@pytest.mark.parametrize("name", experiments())
def test_every_committed_figure_of_an_experiment_is_one_that_its_notebook_draws(name):
    folder = FIGURES / name
    drawn = figure_names(experiments()[name])
    assert pd.read_csv(folder / "captions.csv")["figure"].tolist() == drawn
    assert {path.stem for path in folder.glob("*.png")} == {*drawn}


def draws(results, *, k=1):
    """Draw the thing
    in two lines.

    More of it.
    """


def told(results, *, over, area):
    """Draw the error on {area} against {over}."""


def test_a_caption_is_the_first_paragraph_and_what_is_set():
    @wraps(partial(draws, k=3))
    def styled(results):
        return None

    assert title(draws) == "The thing in two lines."
    assert title(styled) == "The thing in two lines."
    assert title(partial(told, over="k", area="isle_of_man"), {"isle_of_man": "the Isle of Man"}) == (
        "The error on the Isle of Man against k."
    )
    with pytest.raises(DataError, match="has no caption"):
        title(lambda results: None)


def test_a_caption_tells_the_rows_that_are_drawn():
    """Settings, data and repetitions are those of the rows given, in words; what plays no part is left out."""
    runs = pd.DataFrame(
        {"graph": ["enron"] * 3 + ["far"] * 2, "k": [1, 2, 2, 5, 7], "alpha": 0.5, "repetition": [0, 0, 1, 0, 0]}
    )

    def drawn(shows="", rows=None, **told):
        def draw(results):
            """Draw what is there."""
            figure = new_figure()[0]
            frame = results.frames["runs"]
            return rests_on(figure, *([frame[rows]] if rows is not None else []), shows=shows, **told)

        study = SimpleNamespace(drawings=lambda: {"a": draw}, words={"enron": "Enron e-mail"})
        return caption(Drawn(study, Results("s", "full", 1, {"runs": runs}, pd.DataFrame()), "a"))

    end = "Study s, profile full, seed 1."
    assert drawn() == f"What is there. Network: Enron e-mail, far; alpha: 0.5; k: 2, 5, 7; repetitions: 1 to 2. {end}"
    part = runs["graph"] == "enron"
    assert drawn(rows=part, alpha=None) == f"What is there. Network: Enron e-mail; k: 2; repetitions: 1 to 2. {end}"
    assert drawn(rows=part, data="drawn", k=None, alpha=None, n_known=1200, shows="Words") == (
        f"Words. Data: drawn data. Network: Enron e-mail; known records: 1,200; repetitions: 1 to 2. {end}"
    )


def test_a_figure_that_nobody_draws_is_refused(tmp_path):
    (tmp_path / "holohan2017").mkdir()
    (tmp_path / "holohan2017" / "ru-map.png").touch()
    assert "### ru-map" in write_gallery(tmp_path).read_text(encoding="utf-8")
    (tmp_path / "holohan2017" / "nonsense.png").touch()
    with pytest.raises(DataError, match="no function draws it"):
        gallery(tmp_path)


def test_results_are_collected_with_their_comparison(tmp_path):
    made, folder = tmp_path / "made", tmp_path / "kept"
    drawn = FIGURES / "holohan2017"
    (made / "holohan2017" / "figures").mkdir(parents=True)
    for picture in [*drawn.glob("*.png"), *drawn.glob("*.svg")]:
        (made / "holohan2017" / "figures" / picture.name).write_bytes(picture.read_bytes())
    (made / "holohan2017" / "comparison.csv").write_bytes((drawn / "holohan2017.csv").read_bytes())
    (made / "holohan2017" / "study.json").write_bytes((drawn / "holohan2017.json").read_bytes())
    assert collect(made, folder) == ["holohan2017"]
    collected = {path.name for path in (folder / "holohan2017").iterdir()}
    assert {path.name for path in drawn.iterdir() if path.suffix != ".txt"} == collected  # captions are written later
    assert "Claims: " in write_gallery(folder).read_text(encoding="utf-8")
