"""The sweep engine: a grid of settings times repetitions becomes a tidy frame, one row a trial.

A trial is a module-level function ``trial(params, rng)`` that returns a mapping of measures (names carry units). Its
random stream follows from what it is (seed, stem, settings, repetition), not from when or where it runs, so that any
number of workers gives the same rows, and a larger grid repeats the rows of the smaller one.

With a `folder`, finished trials are on disk within seconds, and a sweep that was interrupted in whatever way goes on
where it was. A stored row is used again only if everything it depends on is the same: settings, repetition, seed, stem,
the sources of the package up to this layer, the registry of its data, the trial's own module, and the versions of the
numerical libraries. Results of older code stay on disk and are simply not matched. One process at a time computes a
sweep in a folder; others may read there what has finished.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from reident._old_sweep import _code, _workers
from reident._old_sweep._forecast import forecast
from reident._old_sweep._measures import Kinds
from reident._old_sweep._planning import Sweep, Trial, prepare_sweep, stored, trial_rng
from reident._old_sweep._progress import Progress
from reident._old_sweep._settings import Settings, expand
from reident._old_sweep._summary import summarise
from reident._old_sweep._workers import SCHEDULER, Task, TrialFunction, close_workers
from reident.base import ParameterError, check_integer

__all__ = ["close_workers", "expand", "finished", "forecast", "run", "summarise", "trial_rng"]


def run(
    grid: Settings,
    trial: TrialFunction,
    *,
    repetitions: int = 1,
    seed: int = 0,
    stem: str | None = None,
    shared: Iterable[str] = (),
    together: Iterable[str] = (),
    folder: str | Path | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: bool = True,
    prepare: _workers.Prepare | None = None,
) -> pd.DataFrame:
    """Run a trial for every setting and repetition and return one row each.

    Parameters
    ----------
    grid : mapping of str to values, or sequence of mappings
        The settings, see `expand`.
    trial : callable
        ``trial(params, rng)`` with the setting as a dict and a Generator of its own; returns a mapping of measure
        names to scalars (number, bool, text, None), the same names for every setting. A module-level function; if it
        prepares something heavy it caches that itself (``functools.lru_cache``).
    repetitions : int, default 1
        Trials a setting.
    seed : int, default 0
        The root of all streams.
    stem : str, optional
        The sweep's name, part of the streams and of the keys. Default: the trial's module and name.
    shared : iterable of str
        Parameters that do not vary the stream: settings that differ only there share their random numbers, which
        sharpens their comparison.
    together : iterable of str
        Parameters whose settings one worker runs one after another where they follow one another, with all their
        repetitions: what trials prepare and cache for all of them is then prepared once, not once a worker.
    folder : path, optional
        Where finished trials are kept, in a folder named by the stem. A second run reads them and computes the
        rest; an enlarged grid or more repetitions compute only what is new.
    jobs : int, default 1
        1 runs in this process, more on that many local worker processes with one thread each.
    scheduler : str, optional
        The address of a dask scheduler that is running; its workers are used and `jobs` is ignored. Default: that in
        the environment variable ``REIDENT_SCHEDULER``, if there is one.
    progress : bool, default True
        Show a progress bar with the time left.
    prepare : pair of callables, optional
        Two functions without arguments: what each worker calls before its first trial, and when the sweep has ended.
        They bring along, in memory, what trials need and no file may hold. Not called in this process.

    Returns
    -------
    DataFrame
        The parameters, `repetition`, `seed_key` (see `trial_rng`), the measures. The order of rows is that of
        `expand`, repetitions innermost, whatever the order of execution.

    Raises
    ------
    ParameterError
        If an argument breaks its rule; nothing has run then.
    DataError
        If `folder` cannot be written, or another process computes this sweep there: rows finished earlier are safe,
        and the lock goes with its process, however that ends.
    TrialError
        If a trial raises, kills its workers, or returns other measures than the first; it names the setting, and
        what had finished is kept.
    KeyboardInterrupt
        After Ctrl-C, with what had finished on disk and a message that says so.

    Examples
    --------
    >>> def trial(params, rng):
    ...     return {"mean": rng.normal(params["mu"], size=9).mean()}
    >>> frame = run({"mu": [0.0, 1.0]}, trial, repetitions=2, stem="doc", progress=False)
    >>> frame.columns.tolist(), len(frame)
    (['mu', 'repetition', 'seed_key', 'mean'], 4)
    """
    if not callable(trial):
        raise ParameterError(f"`trial` must be a function of (params, rng), got {trial!r}")
    jobs = check_integer(jobs, "jobs", low=1)
    scheduler = scheduler or os.environ.get(SCHEDULER) or None
    if scheduler is not None and not isinstance(scheduler, str):
        raise ParameterError(f"`scheduler` must be an address such as 'tcp://host:8786' or None, got {scheduler!r}")
    sweep = prepare_sweep(grid, trial, repetitions, seed, stem, shared, folder, together)
    if sweep.missing():
        with sweep.alone() as missing:
            where = _where(jobs, scheduler, sweep.digest, len(missing))
            _compute(sweep, missing, trial, where, progress, prepare)
    return _frame(sweep.settings, sweep.plan, sweep.measures)


def finished(
    grid: Settings,
    trial: TrialFunction,
    *,
    folder: str | Path,
    repetitions: int = 1,
    seed: int = 0,
    stem: str | None = None,
    shared: Iterable[str] = (),
) -> pd.DataFrame:
    """Return the rows of a sweep that have finished so far, here or in another process; nothing is run.

    Takes the arguments of `run`; the frame is empty while there is none.
    """
    sweep = prepare_sweep(grid, trial, repetitions, seed, stem, shared, folder)
    there = [(planned, row) for planned, row in zip(sweep.plan, sweep.measures, strict=True) if row is not None]
    return _frame(sweep.settings, [planned for planned, _ in there], [row for _, row in there])


def _where(jobs: int, scheduler: str | None, digest: str, n_missing: int) -> tuple[int, str | None, str] | None:
    """Say where to run; None for this process, which is also best for a single trial."""
    if scheduler is None and (jobs == 1 or n_missing == 1):
        return None
    return jobs, scheduler, digest


def _outcomes(
    trial: TrialFunction,
    tasks: list[Task],
    where: tuple[int, str | None, str] | None,
    prepare: _workers.Prepare | None,
) -> Iterator[_workers.Outcome]:
    if where is None:
        yield from _workers.in_process(trial, tasks)
        return
    with _workers.connected(*where) as client, _workers.prepared(client, prepare) as carried:
        yield from _workers.on_workers(trial, tasks, client, _code.IMPORTED_DIGEST, carried=carried)


def _compute(
    sweep: Sweep,
    missing: list[Trial],
    trial: TrialFunction,
    where: tuple[int, str | None, str] | None,
    progress: bool,
    prepare: _workers.Prepare | None,
) -> None:
    """Run the missing trials, check and keep each, fill the sweep's measures (modified in place)."""
    if not missing:
        return
    plan, measures, store = sweep.plan, sweep.measures, sweep.store
    names = {name for planned in plan for name in planned.task.params}
    kinds = Kinds(names, [row for row in measures if row is not None])
    done = len(plan) - len(missing)
    outcomes = _outcomes(trial, [planned.task for planned in missing], where, prepare)
    try:
        with Progress(sweep.stem, len(plan), done=done, enabled=progress) as bar:
            for outcome in outcomes:
                planned = plan[outcome.task.index]
                row = kinds.check(outcome)
                measures[outcome.task.index] = row
                if store is not None:
                    store.add(stored(planned, row))
                bar.advance()
    except KeyboardInterrupt:
        finished = sum(row is not None for row in measures)
        kept = "nothing was stored" if store is None else f"they are in {store.folder}; the same call goes on there"
        print(
            f"{sweep.stem}: stopped with {finished} of {len(plan)} trials finished; {kept}", file=sys.stderr, flush=True
        )
        raise
    finally:
        outcomes.close()  # type: ignore[attr-defined]
        if store is not None:
            store.flush()


def _frame(settings: list[dict[str, Any]], plan: list[Trial], measures: list[dict[str, Any] | None]) -> pd.DataFrame:
    columns = list(dict.fromkeys(name for setting in settings for name in setting))
    data: dict[str, Any] = {name: [planned.task.params.get(name) for planned in plan] for name in columns}
    data["repetition"] = [planned.task.repetition for planned in plan]
    data["seed_key"] = [planned.seed_key for planned in plan]
    rows = [row for row in measures if row is not None]
    for name in rows[0] if rows else ():
        data[name] = [row[name] for row in rows]
    return pd.DataFrame(data)
