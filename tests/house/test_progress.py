"""The progress display: what it says, where, and that it never disturbs the work."""

import json

import pytest

from reident._old_sweep import _progress
from reident._old_sweep._progress import RELAY, Progress, duration


@pytest.mark.parametrize(("seconds", "said"), [(0.4, "0 s"), (59, "59 s"), (61, "1:01 min"), (7500, "2:05 h")])
def test_durations_are_written_for_people(seconds, said):
    assert duration(seconds) == said


def test_a_log_gets_lines_on_the_error_stream(capsys, monkeypatch):
    clock = iter(range(0, 10_000, 10))
    monkeypatch.setattr(_progress.time, "monotonic", lambda: float(next(clock)))
    with Progress("sweep [x]", 4) as bar:
        for _ in range(4):
            bar.advance()
    shown = capsys.readouterr()
    assert not shown.out
    lines = shown.err.splitlines()
    assert lines[0].startswith("sweep [x]: 0 of 4 trials")
    assert any("left" in line for line in lines)
    assert lines[-1].startswith("sweep [x]: 4 of 4 trials")
    assert lines[-1].endswith("done")


def test_work_found_done_does_not_count_for_the_time_left(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: clock[0])
    with Progress("sweep", 100, done=90, enabled=False) as bar:
        assert bar.left_s is None
        clock[0] = 10.0
        bar.advance()
        assert bar.left_s == pytest.approx(90.0)
        bar.advance(9)
        assert bar.left_s == 0.0


def test_switched_off_it_says_nothing(capsys):
    with Progress("sweep", 1, enabled=False) as bar:
        bar.advance()
    assert capsys.readouterr() == ("", "")


def test_the_runner_can_look_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(RELAY, str(tmp_path / "progress.json"))
    with Progress("sweep", 2) as bar:
        bar.advance()
    state = json.loads((tmp_path / "progress.json").read_text())
    assert (state["label"], state["done"], state["total"], state["unit"]) == ("sweep", 1, 2, "trials")
    assert capsys.readouterr() == ("", "")


def test_work_with_a_forecast_is_relayed_with_the_time_of_all_of_it(tmp_path, monkeypatch):
    clock = [10.0]
    monkeypatch.setenv(RELAY, str(tmp_path / "progress.json"))
    monkeypatch.setattr(_progress.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(_progress, "_EXPECTED", [])
    _progress.expect(began=0.0, seconds=30.0)
    for now, left in ((20.0, 20.0), (400.0, 0.0)):
        clock[0] = now
        with Progress("one of many sweeps", 2):
            state = json.loads((tmp_path / "progress.json").read_text())
            assert (state["all_gone_s"], state["all_left_s"]) == (now, left)


def test_a_display_never_stops_the_work(tmp_path, monkeypatch):
    monkeypatch.setenv(RELAY, str(tmp_path / "absent" / "progress.json"))
    with Progress("sweep", 1) as bar:
        bar.advance()
    assert bar.done == 1
