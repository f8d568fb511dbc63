"""What is running and how far it is, gathered from the working folders of the runs."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from reident._old_sweep._progress import Progress, duration
from reident.runner._attempts import WORK, attempt_of
from reident.runner._execute import CELLS, PROGRESS

#: Seconds that a study takes after its sweeps: summaries, figures and cells.
_AFTER_S = 15.0


class Board:
    """The progress of several notebooks: an overall count with the time left, and a line for each that runs.

    `minutes` says of each how long it takes beside the others.
    """

    def __init__(self, label: str, minutes: Mapping[str, float], out: Path, *, enabled: bool) -> None:
        self._minutes, self._out, self._work = minutes, out, out / WORK
        self._bar = Progress(label, len(minutes), unit="notebooks", enabled=enabled)
        self._enabled = enabled
        self._finished: set[str] = set()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._bar.__enter__()
        if self._enabled:
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5)
        self._bar.partial(0.0, {})
        self._bar.__exit__(kind, error, tb)

    def finish(self, record: dict[str, Any]) -> None:
        """Count a run as finished and say how it ended."""
        self._finished.add(record["name"])
        said = "done" if record["status"] == "ok" else f"failed ({record['error']['type']})"
        if self._enabled:
            figures = self._out / record["name"] / "figures"
            where = f", figures in {figures}" if figures.is_dir() else ""
            self._bar.say(f"{record['name']}: {said} after {duration(record['seconds'])}{where}")
        self._bar.advance()

    def _watch(self) -> None:
        while not self._stop.wait(0.5):
            self._look()

    def _look(self) -> None:
        """Show how far those are that run."""
        lines, done = {}, sum(self._minutes[name] for name in self._finished)
        for name, work in self._begun():
            gone, left, line = _state(work)
            if line:
                lines[name] = line
            if gone:
                done += self._minutes[name] * gone / (gone + left)
        items = len(self._minutes) * done / sum(self._minutes.values())
        self._bar.partial(items - len(self._finished), lines)

    def _begun(self) -> list[tuple[str, Path]]:
        """Return the runs that have a working folder, and it: a few, however many wait or are done."""
        with contextlib.suppress(OSError):
            found = ((str(attempt_of(work)), work) for work in sorted(self._work.iterdir()))
            return [(name, work) for name, work in found if name in self._minutes and name not in self._finished]
        return []


def _state(work: Path) -> tuple[float, float, str]:
    """Return the seconds that a notebook's work took and will take, and a line about it; empty if it does not run.

    Only a study that forecast its time knows, others took 0: of the cells, one does nearly all the work.
    """
    cells, _ = _read(work / CELLS)
    if not cells:
        return 0.0, 0.0, ""
    gone = left = 0.0
    line = f"cell {cells['cell'] + 1} of {cells['cells']}"
    sweep, age = _read(work / PROGRESS)
    if not sweep:
        return gone, left, line
    running = sweep["done"] < sweep["total"]
    if "all_gone_s" in sweep:
        gone = sweep["all_gone_s"] + age
        # A sweep that has ended a while ago was the last one.
        left = max(0.0, sweep["all_left_s"] - age) + _AFTER_S if running or age < 3 else max(1.0, _AFTER_S - age)
    if running:
        line += f", {sweep['label']}: {sweep['done']} of {sweep['total']} {sweep['unit']}"
        line += f", about {duration(sweep['left_s'])} left" if sweep["left_s"] else ""
    return gone, left, line


def _read(file: Path) -> tuple[dict[str, Any] | None, float]:
    """Return what a running notebook wrote, None if there is nothing or it is old, and its age in seconds."""
    with contextlib.suppress(OSError, ValueError):
        age = time.time() - file.stat().st_mtime
        if age < 3600:
            state = json.loads(file.read_text())
            return state if isinstance(state, dict) else None, max(0.0, age)
    return None, 0.0
