"""A progress line on the error stream, only in a terminal or a notebook."""

from __future__ import annotations

import sys
import time

from reident.base.check_values import check_flag

#: Seconds before a search speaks, and between what it says.
_PATIENCE_S, _PAUSE_S = 2.0, 0.5


def display_kind() -> str:
    """Return the kind of reader of the error stream: a terminal, a notebook, or a log."""
    shell = sys.modules.get("IPython")
    if shell is not None:
        active = shell.get_ipython()
        if active is not None and hasattr(active, "kernel"):
            return "notebook"
    return "terminal" if sys.stderr.isatty() else "log"


class Line:
    """A line that is written over again and again, and gone at the end. A log gets none."""

    def __init__(self, enabled: bool) -> None:
        self._began = self._said = time.monotonic()
        self._enabled = check_flag(enabled, "progress") and display_kind() != "log"
        self._width = 0

    def say(self, text: str) -> None:
        """Show the text and the time gone, if the search is a long one and some time has passed."""
        now = time.monotonic()
        if self._enabled and now - self._began >= _PATIENCE_S and now - self._said >= _PAUSE_S:
            self._said = now
            self._write(f"{text}, {now - self._began:.0f} s gone")

    def close(self) -> None:
        """Wipe the line out."""
        if self._width:
            self._write("")
            self._width = 0
            print(end="\r", file=sys.stderr, flush=True)

    def _write(self, text: str) -> None:
        print(f"\r{text:<{self._width}}", end="", file=sys.stderr, flush=True)
        self._width = max(self._width, len(text))
