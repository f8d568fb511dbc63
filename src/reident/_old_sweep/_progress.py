"""One progress display with the time left, for a terminal, a notebook's kernel and a batch log."""

from __future__ import annotations

import html
import json
import math
import os
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from reident.base import display_kind

#: A file named here receives the state as JSON, so that the runner can show what a kernel is busy with.
RELAY = "REIDENT_PROGRESS_FILE"

# When the work of this process began and when all of it is expected to be done, in monotonic seconds.
_EXPECTED: list[float] = []


def expect(began: float, seconds: float) -> None:
    """Let the runner know that work that `began` then will take so many seconds more, with one sweep after another."""
    _EXPECTED[:] = [began, time.monotonic() + seconds]


def duration(seconds: float) -> str:
    """Write a time span for people: 41 s, 3:05 min, 2:10 h."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds) // 60
    if minutes < 60:
        return f"{minutes}:{round(seconds) % 60:02d} min"
    return f"{minutes // 60}:{minutes % 60:02d} h"


class Progress:
    """Count finished items of `total` and show the share, the time gone and the time left.

    A terminal gets a bar in place, a notebook one output that is updated, anything else (a batch log) a line now
    and then. All goes to the error stream, never among the results.
    """

    def __init__(self, label: str, total: int, *, unit: str = "trials", done: int = 0, enabled: bool = True) -> None:
        self.label, self.total, self.unit = label, total, unit
        self.done = self._before = done
        self._enabled = enabled
        self._started = time.monotonic()
        self._drawn = self._relayed = -math.inf
        self._share = 0.0
        self._lines: dict[str, str] = {}
        self._line_tasks: dict[str, Any] = {}
        self._relay = os.environ.get(RELAY) if enabled else None
        self._bar: Any = None
        self._task: Any = None
        self._handle: Any = None
        self._kind = "none" if self._relay or not enabled else display_kind()

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        if self._kind == "terminal":
            self._open_bar()
        self._draw(force=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._draw(force=True)
        if self._bar is not None:
            self._bar.stop()

    def advance(self, count: int = 1) -> None:
        """Count `count` more items as finished."""
        self.done += count
        self._draw()

    def partial(self, share: float, lines: dict[str, str]) -> None:
        """Take into account items that are partly done: `share` of an item in all, with a line about each of them.

        `share` is negative where those that are done were the smaller ones.
        """
        self._share, self._lines = share, lines
        self._draw()

    def say(self, text: str) -> None:
        """Print a line that stays, above the bar."""
        if self._bar is not None:
            self._bar.console.print(text, highlight=False, markup=False)
        else:
            print(text, file=sys.stderr, flush=True)

    @property
    def left_s(self) -> float | None:
        """The estimated time left in seconds; None while nothing is known."""
        fresh = self.done - self._before + self._share
        if self.done >= self.total:
            return 0.0
        if fresh <= 0:
            return None
        return (time.monotonic() - self._started) / fresh * (self.total - self.done - self._share)

    def text(self) -> str:
        """Say the state in one line."""
        gone, left = duration(time.monotonic() - self._started), self.left_s
        ahead = "" if left is None else ", done" if self.done >= self.total else f", about {duration(left)} left"
        return f"{self.label}: {self.done} of {self.total} {self.unit}, {gone} gone{ahead}"

    def _open_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars

        self._bar = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=Console(stderr=True),
        )
        self._bar.start()
        self._task = self._bar.add_task(self.label, total=self.total, completed=self.done, left="")

    def _draw(self, *, force: bool = False) -> None:
        pause = {"terminal": 0.1, "notebook": 0.5, "log": 15.0, "none": math.inf}[self._kind]
        now = time.monotonic()
        if self._relay and (force or now - self._relayed >= 0.5):
            self._relayed = now
            self._write_relay()
        if not force and now - self._drawn < pause:
            return
        self._drawn = now
        if self._kind == "terminal":
            left = self.left_s
            shown = "" if not left else f"about {duration(left)} left"
            self._bar.update(self._task, completed=self.done + self._share, left=shown)
            self._draw_lines()
        elif self._kind == "notebook":
            self._draw_notebook()
        elif self._kind == "log":
            lines = [f"  {name}: {line}" for name, line in self._lines.items()]
            print("\n".join([self.text(), *lines]), file=sys.stderr, flush=True)

    def _draw_lines(self) -> None:
        for name in [name for name in self._line_tasks if name not in self._lines]:
            self._bar.remove_task(self._line_tasks.pop(name))
        for name, line in self._lines.items():
            if name not in self._line_tasks:
                self._line_tasks[name] = self._bar.add_task("", total=None, left="")
            self._bar.update(self._line_tasks[name], description=f"  {name}: {line}", visible=True)

    def _draw_notebook(self) -> None:
        from IPython.display import display

        text = self.text()
        bundle = {
            "text/plain": text,
            "text/html": f'<progress value="{self.done}" max="{max(self.total, 1)}"></progress> {html.escape(text)}',
        }
        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(bundle, raw=True)

    def _write_relay(self) -> None:
        state = {"label": self.label, "done": self.done, "total": self.total, "unit": self.unit, "left_s": self.left_s}
        if _EXPECTED:
            began, end = _EXPECTED
            now = time.monotonic()
            state |= {"all_gone_s": now - began, "all_left_s": max(0.0, end - now)}
        target = Path(str(self._relay))
        try:
            temporary = target.with_suffix(".tmp")
            temporary.write_text(json.dumps(state))
            temporary.replace(target)
        except OSError:
            self._relay = None  # a display must never stop the work
