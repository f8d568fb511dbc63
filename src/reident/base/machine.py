"""Processors of this machine."""

from __future__ import annotations

import os

__all__ = ["processors"]


def processors(jobs: int) -> int:
    """Return `jobs`, or the number of processors that this process may use for 0."""
    if jobs:
        return jobs
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
