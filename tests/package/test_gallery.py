"""The committed figures are those that the notebooks draw, and stand on one page."""

from pathlib import Path

import pytest

from reident.base import DataError
from reident.runner.gallery import collect, gallery, headlines, write_gallery

FIGURES = Path(__file__).parents[2] / "figures"


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
