"""How long sweeps will take, by a few trials of each."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from reident._old_sweep import _workers
from reident._old_sweep._measures import Kinds
from reident._old_sweep._planning import Sweep, Trial, prepare_sweep, stored
from reident._old_sweep._progress import Progress, duration, expect
from reident._old_sweep._workers import SCHEDULER, TrialFunction
from reident.base import check_integer

__all__ = ["forecast"]

# How long a forecast tries the trials of one sweep, and a trial more.
_SAMPLING_SECONDS = 30.0


def forecast(
    sweeps: Iterable[Mapping[str, Any]],
    *,
    samples: int = 4,
    seed: int = 0,
    folder: str | Path | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: bool = True,
) -> float:
    """Estimate from a few trials of each sweep how long they take together, and say so on the error stream.

    Of each sweep `samples` settings, spread evenly over those that are missing, are tried in this process, two
    repetitions each: the first also bears what trials of a setting share, the second shows what a further one takes.
    Fewer are tried where that takes more than half a minute. Their rows are kept in `folder` and not computed again.

    Parameters
    ----------
    sweeps : iterable of mappings
        Arguments of `run` that differ from sweep to sweep: ``grid``, ``trial``, ``repetitions``, ``stem``, ``shared``.
    samples : int, default 4
        Settings to try, of each sweep.
    seed, folder, jobs, scheduler, progress
        As for `run`. How many workers a `scheduler` has is not asked: the estimate is that for `jobs` processes.

    Returns
    -------
    float
        Seconds of wall-clock time that remain. Rough: a quarter of it either way is common, more on a busy machine.
    """
    samples = check_integer(samples, "samples", low=1)
    jobs = check_integer(jobs, "jobs", low=1)
    sweeps = list(sweeps)
    began, seconds = time.monotonic(), 0.0
    with Progress("estimating the time", len(sweeps), unit="sweeps", enabled=progress) as bar:
        for arguments in sweeps:
            sweep = prepare_sweep(
                arguments["grid"], arguments["trial"], arguments.get("repetitions", 1), seed, arguments.get("stem"),
                arguments.get("shared", ()), folder,
            )  # fmt: skip
            if sweep.missing():
                with sweep.alone() as missing:
                    seconds += _sampled(missing, sweep, arguments["trial"], set(arguments.get("shared", ())), samples)
            bar.advance()
    seconds /= jobs
    if progress:
        expect(began, seconds)
        workers = "one process" if jobs == 1 else f"{jobs} processes"
        if scheduler or os.environ.get(SCHEDULER):
            workers += ", with more workers at the scheduler less"
        print(f"about {duration(seconds)} in {workers}, by a few trials of each kind", file=sys.stderr, flush=True)
    return seconds


def _sampled(missing: list[Trial], sweep: Sweep, trial: TrialFunction, shared: set[str], samples: int) -> float:
    """Run a few missing trials of a sweep, keep them, and return the seconds that the others will take."""
    if not missing:
        return 0.0
    firsts = np.unique(np.linspace(0, len(missing) - 1, 2 * samples + 1).round().astype(int)[1::2])
    kinds = Kinds({name for setting in sweep.settings for name in setting}, [])
    first: list[float] = []
    further: list[float] = []
    started = time.monotonic()
    for position in firsts:
        if time.monotonic() - started > _SAMPLING_SECONDS:
            break
        for times, planned in zip((first, further), missing[position : position + 2], strict=False):
            began = time.monotonic()
            (outcome,) = _workers.in_process(trial, [planned.task])
            times.append(time.monotonic() - began)
            row = kinds.check(outcome)
            if sweep.store is not None:
                sweep.store.add(stored(planned, row))
    if sweep.store is not None:
        sweep.store.flush()
    # First trials may also compile, each kind of setting its own functions: what all of them bear is the least excess.
    extra = [a - b for a, b in zip(first, further, strict=False)][1:]
    apart = {json.dumps({k: v for k, v in t.task.params.items() if k not in shared}, sort_keys=True) for t in missing}
    each = float(np.mean(further or first))
    return each * (len(missing) - len(first) - len(further)) + len(apart) * max(0.0, min(extra, default=0.0))
