"""The sweep engine: a grid of settings times repetitions becomes a tidy frame, one row a trial.

A trial is a module-level function ``trial(params, rng)`` that returns a mapping of measures (names carry units). Its
random stream follows from what it is (seed, stem, settings, repetition), not from when or where it runs, so that any
number of workers gives the same rows, and a larger grid repeats the rows of the smaller one.

With a `folder`, finished trials are on disk within seconds, and a sweep that was interrupted in whatever way goes on
where it was. A stored row is used again only if everything it depends on is the same: settings, repetition, seed, stem,
the sources of the package up to this layer, the registry of its data, the trial's own module, and the versions of the
numerical libraries. Results of older code stay on disk and are simply not matched.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
import os
import re
import sys
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident._check import check_integer, check_plain
from reident._cost import afford
from reident._rng import stable_hash
from reident.errors import ParameterError
from reident.sweep import _code, _workers
from reident.sweep._measures import Kinds
from reident.sweep._parts import BOOKKEEPING, PartStore
from reident.sweep._progress import Progress, duration, expect
from reident.sweep._summary import summarise
from reident.sweep._workers import Task, TrialFunction, close_workers

__all__ = ["close_workers", "expand", "finished", "forecast", "run", "summarise", "trial_rng"]

_LOG = logging.getLogger("reident")

# How long a forecast tries the trials of one sweep, and a trial more.
_SAMPLING_SECONDS = 30.0

Settings = Mapping[str, Iterable[Any]] | Sequence[Mapping[str, Any]]

#: The address of a dask scheduler named here is used by sweeps that are given none.
SCHEDULER = "REIDENT_SCHEDULER"


def expand(grid: Settings) -> list[dict[str, Any]]:
    """Return every setting of a grid, in the order of the rows.

    Parameters
    ----------
    grid : mapping of str to values, or sequence of mappings
        A mapping gives the product of its values, the last name varying fastest; a sequence gives its settings as
        they are. Values are plain JSON: None, bool, int, float, str, and lists and dicts of these.

    Raises
    ------
    ParameterError
        If the grid is empty, a value is no plain JSON (the message names the parameter), or a setting comes twice.

    Examples
    --------
    >>> expand({"k": [2, 3], "method": ["mdav"]})
    [{'k': 2, 'method': 'mdav'}, {'k': 3, 'method': 'mdav'}]
    """
    if isinstance(grid, Mapping):
        if not grid:
            raise ParameterError("`grid` must hold at least one parameter, got none")
        for name, values in grid.items():
            if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
                raise ParameterError(f"`grid` must give a list of values for {name!r}, got {values!r}")
        columns = {name: list(values) for name, values in grid.items()}
        empty = [name for name, values in columns.items() if not values]
        if empty:
            raise ParameterError(f"`grid` must give at least one value for {empty[0]!r}, got none")
        settings = [dict(zip(columns, values, strict=True)) for values in itertools.product(*columns.values())]
    elif isinstance(grid, Sequence) and not isinstance(grid, str | bytes):
        if not all(isinstance(setting, Mapping) for setting in grid):
            raise ParameterError("`grid` must be a mapping of lists or a list of mappings, got a list of other things")
        settings = [dict(setting) for setting in grid]
    else:
        raise ParameterError(f"`grid` must be a mapping of lists or a list of mappings, got {type(grid).__name__}")
    if not settings:
        raise ParameterError("`grid` must hold at least one setting, got none")
    _check_settings(settings)
    return settings


def _check_settings(settings: list[dict[str, Any]]) -> None:
    seen: dict[str, int] = {}
    for position, setting in enumerate(settings):
        for name, value in setting.items():
            if not isinstance(name, str) or not name:
                raise ParameterError(f"`grid` must name its parameters by text, got {name!r}")
            if name in BOOKKEEPING:
                raise ParameterError(f"`grid` must not use the name {name!r}: it is a column of the result")
            check_plain(value, name)
        same = json.dumps(_numbers_alike(setting), sort_keys=True)
        if same in seen:
            raise ParameterError(
                f"`grid` must hold each setting once, got {setting!r} at positions {seen[same]} and {position}"
            )
        seen[same] = position


def _numbers_alike(value: Any) -> Any:
    """Write 1.0 as 1, since a frame's column cannot tell them apart."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _numbers_alike(item) for key, item in value.items()}
    return [_numbers_alike(item) for item in value] if isinstance(value, list) else value


@dataclass(frozen=True)
class _Trial:
    key: str
    seed_key: str
    task: Task


def run(
    grid: Settings,
    trial: TrialFunction,
    *,
    repetitions: int = 1,
    seed: int = 0,
    stem: str | None = None,
    shared: Iterable[str] = (),
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
        If `folder` cannot be written; rows finished earlier are safe.
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
    sweep = _prepare(grid, trial, repetitions, seed, stem, shared, folder)
    missing = sweep.missing()
    if missing:
        where = _where(jobs, scheduler, sweep.digest, len(missing))
        _compute(missing, sweep.plan, sweep.measures, trial, sweep.store, where, sweep.stem, progress, prepare)
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
    sweep = _prepare(grid, trial, repetitions, seed, stem, shared, folder)
    there = [(planned, row) for planned, row in zip(sweep.plan, sweep.measures, strict=True) if row is not None]
    return _frame(sweep.settings, [planned for planned, _ in there], [row for _, row in there])


@dataclass(frozen=True, eq=False)
class _Sweep:
    """A sweep's trials, and the measures of those that had finished before."""

    stem: str
    digest: str
    settings: list[dict[str, Any]]
    plan: list[_Trial]
    store: PartStore | None
    measures: list[dict[str, Any] | None]

    def missing(self) -> list[_Trial]:
        return [planned for planned, row in zip(self.plan, self.measures, strict=True) if row is None]


def _prepare(
    grid: Settings,
    trial: TrialFunction,
    repetitions: int,
    seed: int,
    stem: str | None,
    shared: Iterable[str],
    folder: str | Path | None,
) -> _Sweep:
    if stem is None:
        stem = f"{trial.__module__}.{trial.__qualname__}"
    settings = expand(grid)
    digest = _trial_digest(trial)
    plan = _plan(settings, check_integer(repetitions, "repetitions", low=1), seed, stem, shared, digest)
    store = None if folder is None else PartStore(Path(folder) / _slug(stem))
    found = {} if store is None else store.load({planned.key for planned in plan})
    return _Sweep(stem, digest, settings, plan, store, [found.get(planned.key) for planned in plan])


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
            sweep = _prepare(
                arguments["grid"], arguments["trial"], arguments.get("repetitions", 1), seed, arguments.get("stem"),
                arguments.get("shared", ()), folder,
            )  # fmt: skip
            seconds += _sampled(sweep, arguments["trial"], set(arguments.get("shared", ())), samples)
            bar.advance()
    seconds /= jobs
    if progress:
        expect(began, seconds)
        workers = "one process" if jobs == 1 else f"{jobs} processes"
        if scheduler or os.environ.get(SCHEDULER):
            workers += ", with more workers at the scheduler less"
        print(f"about {duration(seconds)} in {workers}, by a few trials of each kind", file=sys.stderr, flush=True)
    return seconds


def _sampled(sweep: _Sweep, trial: TrialFunction, shared: set[str], samples: int) -> float:
    """Run a few missing trials of a sweep, keep them, and return the seconds that the others will take."""
    missing = sweep.missing()
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
                sweep.store.add(_stored(planned, row))
    if sweep.store is not None:
        sweep.store.flush()
    # First trials may also compile, each kind of setting its own functions: what all of them bear is the least excess.
    extra = [a - b for a, b in zip(first, further, strict=False)][1:]
    apart = {json.dumps({k: v for k, v in t.task.params.items() if k not in shared}, sort_keys=True) for t in missing}
    each = float(np.mean(further or first))
    return each * (len(missing) - len(first) - len(further)) + len(apart) * max(0.0, min(extra, default=0.0))


def trial_rng(seed: int, seed_key: str) -> np.random.Generator:
    """Return the Generator that a row's trial drew from, to run that trial again by hand.

    `seed` is that of the sweep, `seed_key` the row's.
    """
    return np.random.default_rng(np.random.SeedSequence([seed, int(seed_key, 16)]))


def _slug(stem: str) -> str:
    readable = re.sub(r"[^A-Za-z0-9_.-]+", "-", stem).strip("-.")[:60]
    return readable if readable == stem else f"{readable}-{hashlib.sha256(stem.encode()).hexdigest()[:8]}"


def _trial_digest(trial: TrialFunction) -> str:
    """Hash all that a row depends on beside its settings."""
    sources = _code.package_digest(trials_only=True)
    if sources != _code.IMPORTED_DIGEST:
        # What runs may be neither the old files nor the new ones, so nothing is matched, now or later.
        _LOG.warning("the sources changed since they were imported: stored rows are not used until a restart")
        sources = uuid.uuid4().hex
    parts = [sources, _code.function_digest(trial), sorted(_code.versions().items())]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _plan(
    settings: list[dict[str, Any]], repetitions: int, seed: int, stem: str, shared: Iterable[str], digest: str
) -> list[_Trial]:
    seed = check_integer(seed, "seed", low=0, why="a seed has no sign")
    if not isinstance(stem, str) or not stem:
        raise ParameterError(f"`stem` must be a name, got {stem!r}")
    common = {shared} if isinstance(shared, str) else set(shared)
    names = {name for setting in settings for name in setting}
    if common - names:
        raise ParameterError(
            f"`shared` must name parameters of the grid, got {sorted(common - names)}: the grid has {sorted(names)}"
        )
    n_trials = repetitions * len(settings)
    afford(
        2000 * n_trials, "repetitions", f"{n_trials:,} trials", "run fewer at once: a larger sweep goes on from them"
    )
    plan: list[_Trial] = []
    for setting in settings:
        varying = {name: value for name, value in setting.items() if name not in common}
        for repetition in range(repetitions):
            entropy = stable_hash([stem, varying, repetition])
            seed_key = f"{entropy:032x}"
            identity = json.dumps([digest, seed, stem, seed_key, setting, repetition], sort_keys=True)
            key = hashlib.sha256(identity.encode()).hexdigest()[:40]
            plan.append(_Trial(key, seed_key, Task(len(plan), setting, repetition, (seed, entropy))))
    return plan


def _where(jobs: int, scheduler: str | None, digest: str, n_missing: int) -> tuple[int, str | None, str] | None:
    """Say where to run; None for this process, which is also best for a single trial."""
    if scheduler is None and (jobs == 1 or n_missing == 1):
        return None
    return jobs, scheduler, digest


def _outcomes(
    trial: TrialFunction,
    tasks: list[Task],
    where: tuple[int, str | None, str] | None,
    prepare: _workers.Prepare | None = None,
) -> Iterator[_workers.Outcome]:
    if where is None:
        yield from _workers.in_process(trial, tasks)
        return
    with _workers.connected(*where) as client, _workers.prepared(client, prepare):
        yield from _workers.on_workers(trial, tasks, client, _code.IMPORTED_DIGEST)


def _compute(
    missing: list[_Trial],
    plan: list[_Trial],
    measures: list[dict[str, Any] | None],
    trial: TrialFunction,
    store: PartStore | None,
    where: tuple[int, str | None, str] | None,
    stem: str,
    progress: bool,
    prepare: _workers.Prepare | None = None,
) -> None:
    """Run the missing trials, check and keep each, fill `measures` (modified in place)."""
    names = {name for planned in plan for name in planned.task.params}
    kinds = Kinds(names, [row for row in measures if row is not None])
    done = len(plan) - len(missing)
    outcomes = _outcomes(trial, [planned.task for planned in missing], where, prepare)
    try:
        with Progress(stem, len(plan), done=done, enabled=progress) as bar:
            for outcome in outcomes:
                planned = plan[outcome.task.index]
                row = kinds.check(outcome)
                measures[outcome.task.index] = row
                if store is not None:
                    store.add(_stored(planned, row))
                bar.advance()
    except KeyboardInterrupt:
        finished = sum(row is not None for row in measures)
        kept = "nothing was stored" if store is None else f"they are in {store.folder}; the same call goes on there"
        print(f"{stem}: stopped with {finished} of {len(plan)} trials finished; {kept}", file=sys.stderr, flush=True)
        raise
    finally:
        outcomes.close()  # type: ignore[attr-defined]
        if store is not None:
            store.flush()


def _stored(planned: _Trial, row: dict[str, Any]) -> dict[str, Any]:
    task = planned.task
    described = json.dumps(task.params, sort_keys=True)
    kept = dict(zip(BOOKKEEPING, [planned.key, described, task.repetition, planned.seed_key], strict=True))
    return {**kept, **row}


def _frame(settings: list[dict[str, Any]], plan: list[_Trial], measures: list[dict[str, Any] | None]) -> pd.DataFrame:
    columns = list(dict.fromkeys(name for setting in settings for name in setting))
    data: dict[str, Any] = {name: [planned.task.params.get(name) for planned in plan] for name in columns}
    data["repetition"] = [planned.task.repetition for planned in plan]
    data["seed_key"] = [planned.seed_key for planned in plan]
    rows = [row for row in measures if row is not None]
    for name in rows[0] if rows else ():
        data[name] = [row[name] for row in rows]
    return pd.DataFrame(data)
