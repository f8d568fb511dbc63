"""Show the progress of several notebooks: a bar, and the cell of each notebook that runs."""

from __future__ import annotations

import contextlib
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tqdm import tqdm

from reident.base import WORK
from reident.runner._execute import CELLS


class Board:
    """Count the notebooks that have ended, and show how far the others are, twice a second (in a log every 15 s)."""

    def __init__(self, label: str, total: int, out: Path, *, enabled: bool) -> None:
        self._out, self._enabled = out, enabled
        self._pause_s = 0.5 if sys.stderr.isatty() else 15.0
        self._bar = tqdm(total=total, desc=label, unit="notebook", disable=not enabled, mininterval=self._pause_s)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        if self._enabled:
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stop.set()
        self._bar.close()

    def finish(self, record: dict[str, Any]) -> None:
        """Count a run as finished and print how it ended."""
        if self._enabled:
            end = "done" if record["status"] == "ok" else f"failed ({record['error']['type']})"
            figures = self._out / record["name"] / "figures"
            place = f", figures in {figures}" if figures.is_dir() else ""
            self._bar.write(f"{record['name']}: {end} after {record['seconds']:.0f} s{place}", file=sys.stderr)
        self._bar.update()

    def _watch(self) -> None:
        while not self._stop.wait(self._pause_s):
            self._bar.set_postfix_str("; ".join(self._running()))

    def _running(self) -> list[str]:
        lines = []
        for file in sorted((self._out / WORK).glob(f"*/{CELLS}")):
            with contextlib.suppress(OSError):
                lines.append(f"{file.parent.name.partition('~')[0]}: {file.read_text()}")
        return lines
