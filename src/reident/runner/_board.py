"""What is running and how far it is, gathered from the working folders of the runs."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from reident.runner._attempts import WORK, attempt_of
from reident.runner._execute import CELLS, PROGRESS
from reident.sweep._progress import Progress, duration


class Board:
    """The progress of several notebooks: an overall count with the time left, and a line for each that runs."""

    def __init__(self, label: str, names: list[str], out: Path, *, enabled: bool) -> None:
        self._names, self._out, self._work = frozenset(names), out, out / WORK
        self._bar = Progress(label, len(names), unit="notebooks", enabled=enabled)
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
            lines, partial = {}, 0.0
            for name, work in self._begun():
                share, line = _state(work)
                partial += share
                if line:
                    lines[name] = line
            self._bar.partial(partial, lines)

    def _begun(self) -> list[tuple[str, Path]]:
        """Return the runs that have a working folder, and it: a few, however many wait or are done."""
        with contextlib.suppress(OSError):
            found = ((str(attempt_of(work)), work) for work in sorted(self._work.iterdir()))
            return [(name, work) for name, work in found if name in self._names - self._finished]
        return []


def _state(work: Path) -> tuple[float, str]:
    """Return the share of a notebook's work known to be done, and a line about it; empty if it does not run.

    Only a study that forecast its time knows: of the cells, one does nearly all the work.
    """
    cells = _read(work / CELLS)
    if not cells:
        return 0.0, ""
    share, line = 0.0, f"cell {cells['cell'] + 1} of {cells['cells']}"
    sweep = _read(work / PROGRESS)
    if sweep and sweep["done"] < sweep["total"]:
        share = sweep.get("share", 0.0)
        line += f", {sweep['label']}: {sweep['done']} of {sweep['total']} {sweep['unit']}"
        line += f", about {duration(sweep['left_s'])} left" if sweep["left_s"] else ""
    return share, line


def _read(file: Path) -> dict[str, Any] | None:
    with contextlib.suppress(OSError, ValueError):
        if time.time() - file.stat().st_mtime < 3600:
            state = json.loads(file.read_text())
            return state if isinstance(state, dict) else None
    return None
