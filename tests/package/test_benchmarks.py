"""The table of benchmarks: found, selected, medians, goals, the written table, the figure. Times are never asserted."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
import benchmarks
from benchmarks import Row, _run
from benchmarks.__main__ import main


@pytest.fixture
def fake(monkeypatch):
    """A module with one group of each fate; the first is called three times."""
    runs = iter([1.0, 3.0, 2.0])

    def link():
        return [Row("link", next(runs), "other", 6.0, 2.5, note="n"), Row("link", 1.0, "gone", note="not here")]

    def bounds():
        return [
            Row("reached", 1.0, "slow", 60.0, 30, "rival"),
            Row("open", 1.0, "slow", 60.0, 100, "rival"),
            Row("lost", 9.0, "slow", 60.0, 2, "ours"),
            Row("missed", 2.0, benchmarks.ALLOWED, 1.0, 1),
            Row("free", 2.0, "other", 1.0),
        ]

    def broken():
        raise RuntimeError("no such thing")

    module = ModuleType("benchmarks.fake")
    module.GROUPS = {"link": link, "bounds": bounds, "broken": broken}
    monkeypatch.setitem(sys.modules, "benchmarks.fake", module)
    monkeypatch.setattr(_run, "modules", lambda: ["fake"])
    monkeypatch.setattr(_run, "_apart", _run._rows_of)  # another process has no such module


def test_medians_of_several_repetitions_are_shown_and_written(fake, capsys, tmp_path):
    assert main(["fake.link", "--repetitions", "3", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].split() == ["task", "ours", "rival", "version", "its", "time", "ratio", "goal", "met", "note"]
    assert shown[2].split() == ["fake:", "link", "2", "s", "other", "-", "6", "s", "3", "2.5", "yes", "n"]
    assert shown[3].split() == ["fake:", "link", "1", "s", "gone", "-", "-", "-", "-", "-", "not", "here"]
    written = benchmarks.read(tmp_path / "benchmarks.csv")
    assert list(written.columns) == benchmarks.COLUMNS
    assert written["ratio"].tolist()[0] == 3.0
    assert written["met"].isna().tolist() == [False, True]
    facts = benchmarks.machine(tmp_path / "benchmarks.csv")
    assert facts["processors"] >= 1
    assert {"date", "python", "versions"} <= set(facts)


@pytest.mark.slow
def test_each_group_runs_in_a_process_of_its_own(tmp_path, capsys):
    assert main(["lipschitz.small", "--out", str(tmp_path)]) == 0
    assert {"lipschitz: embed 500 places, d=500, k=30"} <= {row[:40] for row in capsys.readouterr().out.splitlines()}


def test_a_group_that_fails_is_a_row_and_the_others_go_on(fake, tmp_path, capsys):
    assert main(["fake.broken", "fake.bounds", "--out", str(tmp_path)]) == 1
    rows = benchmarks.read(tmp_path / "benchmarks.csv")
    assert rows.loc[0, "stopped"] == "failed"
    assert "RuntimeError: no such thing" in rows.loc[0, "note"]
    assert len(rows) == 6


@pytest.mark.parametrize("name", ["nonsense", "great_circle.nonsense"])
def test_an_unknown_name_is_refused(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name])
    assert ended.value.code == 2
    assert f"no benchmark {name!r}; " in capsys.readouterr().err
