"""The table of benchmarks: found, selected, medians of several runs. Times themselves are never asserted."""

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks import __main__ as benchmarks


@pytest.fixture
def fake(monkeypatch):
    runs = iter([1.0, 3.0, 2.0])

    def rows():
        ours = next(runs)
        timed = {"task": "link", "ours_s": ours, "rival": "other", "rival_s": 6.0, "ratio": 6.0 / ours, "note": "n"}
        absent = {"task": "link", "ours_s": ours, "rival": "gone", "rival_s": None, "ratio": None, "note": "not here"}
        return [timed, absent]

    module = ModuleType("benchmarks.fake")
    module.rows = rows
    monkeypatch.setitem(sys.modules, "benchmarks.fake", module)
    monkeypatch.setattr(benchmarks, "modules", lambda: ["fake"])


def test_medians_of_several_runs_are_shown(fake, capsys, tmp_path):
    assert benchmarks.main(["fake", "--runs", "3", "--json", str(tmp_path / "rows.json")]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].split() == ["task", "ours", "rival", "its", "time", "ratio", "note"]
    assert shown[2].split() == ["fake:", "link", "2", "s", "other", "6", "s", "3", "n"]
    assert shown[3].split() == ["fake:", "link", "2", "s", "gone", "-", "-", "not", "here"]
    assert [row["ratio"] for row in json.loads((tmp_path / "rows.json").read_text())] == [3.0, None]


def test_an_unknown_name_is_refused(capsys):
    with pytest.raises(SystemExit) as ended:
        benchmarks.main(["nonsense"])
    assert ended.value.code == 2
    assert "no benchmark 'nonsense'; there are" in capsys.readouterr().err


def test_every_module_here_is_found():
    assert "great_circle" in benchmarks.modules()
    assert not {"__init__", "__main__"} & set(benchmarks.modules())
