import errno
import signal
import sys

import pytest

from reident.cli import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "nonsense"], "`stem` must be one of"),
        (["reproduce", "--profile", "fast"], "`profile` must be one of 'smoke', 'quick', 'full', got 'fast'"),
        (["reproduce", "--jobs", "-1"], "`jobs` must be at least 1"),
        (["reproduce", "kroll2015", "--out", "file"], "`out` must be a folder that can be written"),
        (["reproduce", "kroll2015", "--seed", "-1"], "`seed` must be at least 0"),
        (["figures", "nonsense"], "`stem` must be one of"),
        (["reproduce", "--nonsense"], "No such option"),
    ],
)
def test_a_wrong_call_is_one_clear_line_and_code_2(tmp_path, arguments, message, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "argv", ["reident", *arguments])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_assessment_that_is_interrupted_says_that_it_goes_on(tmp_path, monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    ages, sexes = [20 + 3 * i % 50 for i in range(40)], ["f", "m"] * 20
    rows = [f"{age},{sex},{'flu' if age % 2 else 'no'}" for age, sex in zip(ages, sexes, strict=True)]
    (tmp_path / "people.csv").write_text("\n".join(["age,sex,ill", *rows]))
    monkeypatch.chdir(tmp_path)
    asked = ("people.csv", "--quasi", "age,sex", "--sensitive", "ill", "--profile", "smoke", "--jobs", "1", "--quiet")
    monkeypatch.setattr(sys, "argv", ["reident", "assess", *asked])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr("reident.workbench.assessing.assess", interrupted)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert "the same command goes on from there" in capsys.readouterr().err


@pytest.mark.parametrize(
    "asked", [("check", "--against", "people.csv"), ("open",), ("protect", "--method", "mondrian")]
)
def test_ctrl_c_ends_with_a_sentence(asked, tmp_path, monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    (tmp_path / "people.csv").write_text("age,sex\n40,f\n50,m\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["reident", *asked, "people.csv"])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    for reads in ("open_file", "opening.open_file", "recipe.open_file", "files.read_file", "check.check"):
        monkeypatch.setattr(f"reident.workbench.{reads}", interrupted)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "reident: interrupted before it was done\n"


def test_a_disk_without_room_is_a_sentence(monkeypatch, capsys):
    monkeypatch.setattr(signal, "signal", lambda *_: None)

    def run():
        raise OSError(errno.EFBIG, "no room", "a.csv")  # beyond the limit for a file, `ulimit -f`

    with pytest.raises(SystemExit, match="2"):
        main(run)
    assert capsys.readouterr().err == "reident: nothing more can be written (no room): a.csv\n"
