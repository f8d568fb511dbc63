"""Cost before work: estimate memory and time of a call, and refuse it where they are not available."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from reident.base.errors import ParameterError

#: Bytes that may be used, such as 8G, instead of what the machine has.
MEMORY = "REIDENT_MEMORY"

_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}

#: Simple steps that a search may take: some minutes of one processor.
_STEPS = 4e9

#: What is left to others of the memory that is free.
_SHARE = 0.9


def read_size(text: str) -> int:
    """Return bytes from a text such as 800M or 8GiB.

    Raises
    ------
    ParameterError
        If it is no size.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if match is None or float(match[1]) == 0:
        raise ParameterError(f"`memory` must be a size such as 800M or 8G, got {text!r}")
    return int(float(match[1]) * 1024 ** _UNITS[match[2].upper()])


def available() -> int:
    """Return the number of bytes that may be used: ``REIDENT_MEMORY``, else the free memory within the limits."""
    if setting := os.environ.get(MEMORY):
        return read_size(setting)
    limits = [_free()]
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        soft = resource.getrlimit(resource.RLIMIT_AS)[0]
        if soft != resource.RLIM_INFINITY:
            limits.append(soft)
    with contextlib.suppress(OSError, ValueError):
        group_limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        limits.append(group_limit - int(Path("/sys/fs/cgroup/memory.current").read_text()))
    return int(_SHARE * max(0, min(limits)))


def _free() -> int:
    with contextlib.suppress(OSError):
        match = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
        if match:
            return int(match[1]) * 1024
    with contextlib.suppress(AttributeError, ValueError, OSError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return 1 << 62


def afford(needed: float, name: str, what: str, advice: str) -> None:
    """Require that so many bytes are there.

    Raises
    ------
    ParameterError
        If they are not: it names the parameter, what would be made of it, what that needs, and what makes it smaller.
    """
    if needed <= 1 << 27:  # an eighth of a gigabyte is not asked for
        return
    free = available()
    if needed > free:
        raise ParameterError(
            f"`{name}` must lead to what fits into memory, got {what}: about {_size(needed)}, and {_size(free)} may "
            f"be used ({MEMORY} sets another limit); {advice}"
        )


def check_work(steps: float, name: str, what: str, advice: str) -> None:
    """Require that a search takes minutes at most.

    Raises
    ------
    ParameterError
        If it would take more than some billion steps: it names the parameter, what would be searched, and what makes
        it smaller.
    """
    if steps > _STEPS:
        raise ParameterError(
            f"`{name}` must lead to at most minutes of work, got {what}: about {steps:.0e} steps of at most "
            f"{_STEPS:.0e}; {advice}"
        )


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1024**3:,.1f} GiB" if n_bytes < 1 << 50 else f"{n_bytes / 1024**3:.1e} GiB"


def processors(jobs: int) -> int:
    """Return `jobs`, or the number of processors that this process may use for 0."""
    if jobs:
        return jobs
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
