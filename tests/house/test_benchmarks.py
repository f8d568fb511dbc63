"""The table of benchmarks: found, selected, medians, goals, the written table, the figure. Times are never asserted."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import networkx as nx
import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
import benchmarks
from benchmarks import Row, _rivals, _rows, _run, graph_linkage
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


def test_goals_are_met_missed_or_open(fake):
    rows = benchmarks.run(["fake.bounds"], progress=False).set_index("task")
    assert rows.loc["reached", "met"]
    assert not rows.loc["lost", "met"]
    assert not rows.loc["missed", "met"]
    assert rows["met"].isna()[["open", "free"]].all()
    assert rows["ratio"].isna()["lost"]
    shown = benchmarks.table(rows.reset_index()[benchmarks.COLUMNS]).splitlines()
    assert "> 60 s" in shown[2]
    assert "NO" in next(line for line in shown if "lost" in line)


def test_what_became_slower_is_pointed_out_and_a_release_is_kept(fake, tmp_path, capsys):
    before = benchmarks.run(["fake.bounds"], progress=False)
    now = before.assign(ours_s=before["ours_s"] * 1.5, ratio=before["ratio"] / 1.5)
    now.loc[now["task"] == "free", ["ours_s", "ratio"]] = [2.2, 0.45]  # a tenth slower: nothing to say
    told = _run.slower(now, before, same_machine=False).set_index("task")["times"]
    assert told.to_dict() == {"reached": 1.5, "open": 1.5}
    told = _run.slower(now, before, same_machine=True).set_index("task")["times"]
    assert told.to_dict() == {"reached": 1.5, "open": 1.5, "missed": 1.5}
    gone = before.assign(stopped=before["stopped"].where(before["task"] != "free", "failed"))
    assert _run.slower(gone, before, same_machine=False)["task"].tolist() == ["free"]

    facts = benchmarks.machine()
    page = _run.freeze(before.assign(rival=before["rival"].replace("slow", "numpy")), facts, tmp_path / "kept")
    assert (
        f"| fake: reached | 1 s | numpy | {facts['versions']['numpy']} | > 60 s | > 60 | 30 | yes |" in page.read_text()
    )
    assert main(["fake.bounds", "--out", str(tmp_path), "--against", str(tmp_path / "kept" / "benchmarks.csv")]) == 0
    assert "slower than" not in capsys.readouterr().out


def test_a_part_timed_anew_joins_what_was_kept_of_the_same_machine(fake, tmp_path):
    bounds, facts = benchmarks.run(["fake.bounds"], progress=False), benchmarks.machine()
    _run.freeze(bounds, facts, tmp_path / "kept")
    again = bounds[bounds["task"] == "missed"].assign(ours_s=0.5, ratio=2.0, met=True)
    _run.freeze(again, facts, tmp_path / "kept")
    kept = benchmarks.read(tmp_path / "kept" / "benchmarks.csv").set_index("task")
    assert sorted(kept.index) == sorted(bounds["task"])
    assert kept.loc["missed", "ours_s"] == 0.5
    for other in ({"processor": "another"}, {"reident": "another"}):
        _run.freeze(bounds, facts, tmp_path / "kept")
        _run.freeze(again, {**facts, **other}, tmp_path / "kept")
        assert benchmarks.read(tmp_path / "kept" / "benchmarks.csv")["task"].tolist() == ["missed"]


def test_memory_is_that_of_the_process_alone():
    held = np.ones(2**25)  # a quarter of a gibibyte that another group may have left in the process that starts others
    code = "import runpy, sys; print(runpy.run_path(sys.argv[1])['peak_gib']())"
    told = subprocess.run([sys.executable, "-c", code, _rows.__file__], capture_output=True, check=True)
    assert 0.01 < float(told.stdout) < held.nbytes / 2**30


def test_each_group_runs_in_a_process_of_its_own(tmp_path, capsys):
    assert main(["lipschitz.small", "--out", str(tmp_path)]) == 0
    assert {"lipschitz: embed 500 places, d=500, k=30"} <= {row[:40] for row in capsys.readouterr().out.splitlines()}


def test_a_group_that_fails_is_a_row_and_the_others_go_on(fake, tmp_path, capsys):
    assert main(["fake.broken", "fake.bounds", "--out", str(tmp_path)]) == 1
    rows = benchmarks.read(tmp_path / "benchmarks.csv")
    assert rows.loc[0, "stopped"] == "failed"
    assert "RuntimeError: no such thing" in rows.loc[0, "note"]
    assert len(rows) == 6


def test_the_figure_shows_every_comparison(fake):
    rows = benchmarks.run(["fake.bounds"], progress=False)
    ax = benchmarks.plot_ratios(rows)
    assert ax.get_yticklabels()[0].get_text() == "fake: reached  ·  slow"
    told = {text.get_text() for text in ax.texts}
    assert told == {"at least 60", "not finished", "0.5"}
    fillings = [line.get_markerfacecolor() for line in ax.get_lines() if line.get_marker() in ("o", ">")]
    assert fillings.count("white") == 1  # of those with a ratio only "missed" has missed
    with pytest.raises(ValueError, match="at least one comparison"):
        benchmarks.plot_ratios(rows.assign(rival=""))


@pytest.mark.parametrize("name", ["nonsense", "great_circle.nonsense"])
def test_an_unknown_name_is_refused(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name])
    assert ended.value.code == 2
    assert f"no benchmark {name!r}; " in capsys.readouterr().err


def test_every_module_here_is_found_and_has_groups():
    there = {name.partition(".")[0] for name in benchmarks.groups()}
    assert {"great_circle", "networks", "tables"} <= there == set(_run.modules())
    assert benchmarks.groups(benchmarks.CHEAP)


def test_rivals_that_cannot_run_are_told(monkeypatch):
    monkeypatch.delenv("REIDENT_RIVALS", raising=False)
    assert _rivals.ask("noise") == {"seconds": None, "stopped": "", "note": "not run: REIDENT_RIVALS is not set"}
    monkeypatch.setenv("REIDENT_RIVALS", sys.executable)
    told = _rivals.ask("nothing")
    assert told["seconds"] is None
    assert told["note"].startswith("not run: KeyError")
    assert _rivals.ask("noise", timeout_s=0.001)["stopped"] == "rival"


def test_a_program_that_the_user_names_searches_the_same_graph(monkeypatch, tmp_path):
    program = tmp_path / "rival"
    program.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        "lines = [line.split() for line in open(sys.argv[1])]\n"
        "edges = {(int(u), int(v)) for _, u, v in lines[1:]}\n"
        "assert lines[0] == ['p', 'edge', '6', str(len(edges))]\n"
        "assert {v for edge in edges for v in edge} == set(range(1, 7))\n"
        "open('left', 'w').close()\n"
        "size = max(k for k in range(7) if k * (k - 1) // 2 <= len(edges))\n"
        "print('Max Clique Size: 1', 'Clique Output: 1', 'on', sep='\\n')\n"
        "print(f'Max Clique Size: {size}', 'Clique Output: 1 2', 'Program terminated in 0 seconds.', sep='\\n')\n"
        "sys.exit(1)\n"
    )
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REIDENT_RIVALS", raising=False)

    def row(graph):
        return graph_linkage._general({"drawn": graph})[2]

    monkeypatch.delenv("REIDENT_INCMAXCLQ", raising=False)
    told = row(nx.complete_graph(6))
    assert (told.rival, told.rival_s, told.note) == ("IncMaxCLQ", None, "not run: REIDENT_INCMAXCLQ is not set")
    monkeypatch.setenv("REIDENT_INCMAXCLQ", "./rival")
    assert "the rival" not in row(nx.complete_graph(6)).note
    assert row(nx.cycle_graph(6)).note.endswith("clique of 2; the rival found 4")
    assert not (tmp_path / "left").exists()
    monkeypatch.setenv("REIDENT_INCMAXCLQ", str(tmp_path / "nowhere"))
    assert "nowhere" in row(nx.complete_graph(6)).note
    monkeypatch.setenv("REIDENT_INCMAXCLQ", sys.executable)  # which runs no such graph
    assert row(nx.complete_graph(6)).note.startswith("not run: SyntaxError")


def test_the_notebook_draws_a_table_that_is_there():
    rows = pd.DataFrame([{"module": "m", "task": "t", "ours_s": 1.0, "rival": "r", "rival_s": 2.0, "ratio": 2.0,
                          "goal": None, "met": pd.NA, "stopped": "", "note": ""}])  # fmt: skip
    assert benchmarks.plot_ratios(rows.astype({"goal": float})).get_xscale() == "log"
