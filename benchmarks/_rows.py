"""The tidy form of every comparison, and how its seconds are measured."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

#: The rival of a task that has none but must end within a time: the goal is then a ratio of 1.
ALLOWED = "time allowed"

#: The columns of the table; one row a task and rival.
COLUMNS = ["module", "task", "ours_s", "rival", "rival_s", "ratio", "goal", "met", "stopped", "note"]


@dataclass(frozen=True)
class Row:
    """One task of ours against one rival, timed in the same run.

    Attributes
    ----------
    task : str
    ours_s : float or None
        Seconds that ours took; None if it could not be run.
    rival : str
        A library, a plain way to do it, or `ALLOWED`; empty if there is nothing to compare with.
    rival_s : float or None
        Seconds that the rival took; None if it was not run.
    goal : float or None
        The ratio wanted: how many times faster ours should be.
    stopped : str
        Who was stopped before the end: "", "ours", "rival" or "both"; "failed" if the benchmark itself did. A stopped
        rival makes the ratio a lower bound; there is none if ours was stopped.
    note : str
        Sizes, quality of the answers, why something was not run.
    """

    task: str
    ours_s: float | None
    rival: str = ""
    rival_s: float | None = None
    goal: float | None = None
    stopped: str = ""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times faster ours is."""
        if self.ours_s is None or self.rival_s is None or self.stopped in ("ours", "both"):
            return None
        return self.rival_s / self.ours_s


def within(task: str, ours_s: float, allowed_s: float, note: str = "", *, stopped: str = "") -> Row:
    """Return the row of a task that has no rival and must end within a time."""
    return Row(task, ours_s, ALLOWED, allowed_s, 1.0, stopped, note)


def timed(call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> tuple[float, Any]:
    """Return the seconds that a call takes, and what it returns.

    `clock` may be ``time.process_time`` where ours and the rival both run in one thread: a busy machine distorts the
    processor's seconds little.
    """
    began = clock()
    result = call()
    return clock() - began, result


def seconds(call: Callable[[], Any], repeats: int = 3, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the median seconds of a call, after one that compiles."""
    call()
    return float(np.median([timed(call, clock)[0] for _ in range(repeats)]))


def peak_gib() -> float:
    """Return the most memory that this process ever held, GiB."""
    # Not getrusage where there is another way: its peak is handed down from the process that started this one.
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+)", status.read_text(encoding="utf-8")) if status.is_file() else None
    if found:
        return int(found[1]) / 2**20
    import resource  # there is none on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2 ** (30 if sys.platform == "darwin" else 20)


def show_number(value: float) -> str:
    """Write a ratio with three digits, or as a whole number."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
