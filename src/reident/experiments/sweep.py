"""Run a trial over a grid of parameters: reproducible random streams, stored results, parallel workers."""

import inspect
import itertools
import json
import logging
import os
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import threadpoolctl
from tqdm import tqdm

from reident.base import (
    ParameterError,
    Parameters,
    PrivacyWarning,
    Row,
    TrialError,
    check_integer,
    check_names,
    check_seed,
    local_cluster,
    occupied,
)
from reident.base.rng import stable_hash
from reident.experiments.code_key import code_key, versions

#: Address of a dask cluster that is used where `scheduler` is not given.
SCHEDULER = "REIDENT_SCHEDULER"

Trial = Callable[..., Mapping[str, Any] | Sequence[Mapping[str, Any]]]
Rows = list[Row]


class Task(NamedTuple):
    """One trial to run: its key, its setting, its repetition and its stream."""

    key: str
    setting: Parameters
    repetition: int
    entropy: list[int]

    def __str__(self) -> str:
        values = self.setting | {"repetition": self.repetition}
        return ", ".join(f"{name}={value!r}" for name, value in values.items())


Finished = tuple[Task, Rows, str]


def sweep(
    trial: Trial,
    grid: Mapping[str, Iterable[Any]] | Sequence[Mapping[str, Any]],
    *,
    repetitions: int = 1,
    seed: int = 0,
    shared: Sequence[str] = (),
    cache: str | Path | None = None,
    jobs: int = 1,
    scheduler: Any = None,
    progress: bool = True,
    context: Any = None,
) -> pd.DataFrame:
    """Run every setting of a grid `repetitions` times and return one row a trial.

    A trial's random stream follows from `seed`, its parameters and its repetition, never from when or where it runs:
    a further value, repetition or worker changes no other row. Since it is seeded on purpose, the warning
    that noise can be repeated is not shown. To look at the results after some data sets and go on where they do not
    suffice, call `sweep` again with more data sets: stored trials are read.

    Parameters
    ----------
    trial : function
        A top-level function ``trial(rng, *, ...)`` that returns a dict of measures, or a list of such dicts.
    grid : mapping of name to values, or sequence of mappings
        The product of the values, or the settings themselves. A parameter that is absent takes the trial's default.
    repetitions, seed : int
        Trials of each setting; seed of all streams.
    shared : sequence of str
        Parameters that do not enter the random stream: trials that differ in these alone draw the same numbers.
    cache : folder, optional
        Finished trials are appended to a file there as they end and are read instead of run, as long as the code of
        the trial, of the subpackages of `reident` it imports, and the versions of its libraries are the same. Comments
        and docstrings do not count. An empty text stores nothing.
    jobs : int
        Worker processes on this machine.
    scheduler : str or dask Client, optional
        A running dask cluster, used instead of `jobs`; by default the one that ``REIDENT_SCHEDULER`` names, if any.
    progress : bool
        Show a progress bar.
    context : object, optional
        Passed to each trial as its keyword `context`, such as confidential data: it is kept in memory alone, is
        forgotten with the sweep, and is no part of the key of a stored trial. Name it by a parameter of the grid.

    Returns
    -------
    DataFrame
        The parameters, `repetition` and the measures, in the order of the grid; `attrs` holds trial, seed, code key
        (where trials are stored), versions, start, the numbers of trials run and read, and seconds.

    Raises
    ------
    ParameterError
        If the grid does not fit the trial's signature; before anything runs.
    TrialError
        If trials failed, after all others were run and stored.

    Examples
    --------
    >>> def trial(rng, *, sigma, n=100):
    ...     return {"mean": rng.normal(0, sigma, n).mean()}
    >>> sweep(trial, {"sigma": [1, 2]}, repetitions=2, progress=False)[["sigma", "repetition"]].to_numpy().tolist()
    [[1, 0], [1, 1], [2, 0], [2, 1]]
    """
    started, began = datetime.now(UTC), time.perf_counter()
    if not callable(trial) or not hasattr(trial, "__code__"):
        raise ParameterError(f"`trial` must be a function, got {trial!r}")
    settings = settings_of(trial, grid)
    repetitions, seed = check_integer(repetitions, "repetitions", low=1), check_seed(seed)
    jobs = check_integer(jobs, "jobs", low=1)
    if unknown := {*check_names(shared, "shared")} - _parameters(trial).keys():
        raise ParameterError(f"`shared` must name parameters of the trial, got {min(unknown)!r}")
    if cache and trial.__module__ == "__main__":
        raise ParameterError(
            "`cache` needs a trial that is imported from a module: the helpers and constants of a notebook's cells "
            "cannot be compared with those of stored trials. Move the trial to a module, or store nothing."
        )
    code = code_key(trial)[:16] if cache else ""
    pairs = itertools.product(settings, range(repetitions))
    plan = [_task(trial, setting, repetition, seed, shared) for setting, repetition in pairs]
    store = Store(Path(cache) / f"{trial.__name__}-{code}.jsonl" if cache else None)
    failures = []
    with store.writing(plan):
        results = {task.key: store.rows[task.key] for task in plan if task.key in store.rows}
        tasks = list({task.key: task for task in plan if task.key not in results}.values())
        finished_tasks = _finished(trial, tasks, jobs, scheduler or os.environ.get(SCHEDULER), context)
        # Closed here, so that workers end with the sweep and not when the interpreter does.
        with closing(finished_tasks), tqdm(
            total=len(plan), initial=len(plan) - len(tasks), desc=trial.__name__, unit="trial",
            disable=not progress, mininterval=1.0,
        ) as bar:  # fmt: skip
            for task, rows, error in finished_tasks:
                bar.update()
                if error:
                    failures.append(f"{task}: {error}")
                else:
                    results[task.key] = rows
                    store.append(task, rows)
    finished = [(task, row) for task in plan if task.key in results for row in results[task.key]]
    frame = pd.DataFrame([{**task.setting, "repetition": task.repetition, **row} for task, row in finished])
    frame.attrs = {
        "trial": f"{trial.__module__}.{trial.__qualname__}", "seed": seed, "code": code, "versions": versions(),
        "started": started.isoformat(timespec="seconds"),
        "n_run": len(tasks), "n_read": len(results) + len(failures) - len(tasks),
        "seconds": round(time.perf_counter() - began, 1),
    }  # fmt: skip
    if failures:
        listed = "\n  ".join(failures[:10])
        advice = "the others are stored" if cache else "with `cache` the others would have been stored"
        raise TrialError(f"{len(failures)} of {len(tasks)} trials failed; {advice}:\n  {listed}", frame)
    return frame


def expanded(grid: Any) -> list[Row]:
    """Return the settings of a grid: the product of the lists of a mapping, or the mappings of a list."""
    lists = [grid, *(grid.values() if isinstance(grid, Mapping) else ())]
    are_lists = all(isinstance(listed, Iterable) and not isinstance(listed, str) for listed in lists)
    if are_lists and isinstance(grid, Mapping):
        grid = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    grid = list(grid) if are_lists else grid
    if not are_lists or not all(isinstance(setting, Mapping) for setting in grid):
        raise ParameterError(f"`grid` must be a mapping of names to lists, or a list of settings, got {grid!r}")
    if not grid:
        raise ParameterError("`grid` must have at least one setting, got none")
    return [dict(setting) for setting in grid]


def settings_of(trial: Trial, grid: Any) -> list[Row]:
    """Return the settings of a grid as plain values, or raise `ParameterError` if the trial does not take them."""
    settings = [{name: _plain(value, name) for name, value in setting.items()} for setting in expanded(grid)]
    parameters = _parameters(trial)
    required = {name for name, parameter in parameters.items() if parameter.default is parameter.empty}
    for setting in settings:
        if unknown := setting.keys() - parameters.keys():
            raise ParameterError(f"`{min(unknown)}` is no parameter of the trial, which takes {', '.join(parameters)}")
        if absent := required - setting.keys():
            raise ParameterError(f"`grid` must give `{min(absent)}`: the trial has no default for it")
    return settings


def _parameters(trial: Trial) -> dict[str, inspect.Parameter]:
    """Return the parameters of a trial without its generator and its context."""
    parameters = dict(itertools.islice(inspect.signature(trial).parameters.items(), 1, None))
    parameters.pop("context", None)
    return parameters


def _plain(value: Any, name: str) -> Any:
    """Return a value as JSON knows it; a whole float becomes an int, so that 1 and 1.0 are one setting."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list | tuple):
        return [_plain(part, name) for part in value]
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and np.isfinite(value)):
        return value
    raise ParameterError(f"`{name}` must hold finite numbers, texts, lists of these or None, got {value!r}")


def _task(trial: Trial, setting: Parameters, repetition: int, seed: int, shared: Sequence[str]) -> Task:
    """Return a trial with key and stream, both without parameters at their default: a new one changes none."""
    defaults = {name: parameter.default for name, parameter in _parameters(trial).items()}
    varied = {
        name: value for name, value in setting.items()
        if defaults[name] is inspect.Parameter.empty or value != _plain(defaults[name], name)
    }  # fmt: skip
    entropy = [seed, stable_hash([{name: value for name, value in varied.items() if name not in shared}, repetition])]
    return Task(f"{stable_hash([varied, repetition, entropy]):032x}", setting, repetition, entropy)


class Store:
    """Finished trials as JSON lines; a torn line is skipped and closed, never cut."""

    def __init__(self, path: Path | None) -> None:
        self.path, self.before = path, b""
        self.rows: dict[str, Rows] = {}
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._read(path)

    @contextmanager
    def writing(self, plan: Sequence[Task]) -> Iterator[None]:
        """Keep other processes from running the trials of `plan` that are not stored, or raise `DataError`."""
        if self.path is None or all(task.key in self.rows for task in plan):
            yield
            return
        with occupied(self.path.with_suffix(".lock"), "cache", self.path.parent):
            self._read(self.path)  # another process may have stored some since
            try:
                yield
            except KeyboardInterrupt:
                n_stored = sum(task.key in self.rows for task in plan)
                message = f"{n_stored} of {len(plan)} trials finished; they are in {self.path}"
                raise KeyboardInterrupt(message) from None

    def _read(self, path: Path) -> None:
        text = path.read_bytes() if path.is_file() else b""
        self.before = b"\n" if text and not text.endswith(b"\n") else b""
        for line in text.splitlines():
            try:
                record = json.loads(line)
                self.rows[record["key"]] = record["rows"]
            except (ValueError, KeyError, TypeError):
                continue

    def append(self, task: Task, rows: Rows) -> None:
        """Write one record by one system call, so that two writers of one file cannot mix their lines."""
        if self.path is None:
            return
        record = {"key": task.key, "setting": task.setting, "repetition": task.repetition, "rows": rows}
        line = self.before + json.dumps(record).encode() + b"\n"
        with self.path.open("ab", buffering=0) as file:
            written = file.write(line)
            if written < len(line):  # the disk is full: the next call says so
                file.write(line[written:])
        self.before = b""
        self.rows[task.key] = rows


def _run(trial: Trial, task: Task, context: Any = None) -> Finished:
    """Run one trial; an error comes back as text."""
    arguments = task.setting if context is None else task.setting | {"context": context}
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*noise that can be repeated", category=PrivacyWarning)
            returned = trial(np.random.default_rng(np.random.SeedSequence(task.entropy)), **arguments)
        rows = [returned] if isinstance(returned, Mapping) else list(returned)
        plain = [{k: v.item() if isinstance(v, np.generic) else v for k, v in row.items()} for row in rows]
        return task, plain, ""
    except Exception as error:  # any error of a trial is reported with its parameters
        return task, [], f"{type(error).__name__}: {error}"


def _returned(context: Any) -> Any:
    return context


def _run_on_worker(trial: Trial, task: Task, context: Any = None) -> Finished:
    """Run one trial in a single thread: the workers share the processors among them."""
    import numba

    numba.set_num_threads(1)
    return _run(trial, task, context)


def _finished(
    trial: Trial, tasks: list[Task], jobs: int, scheduler: Any, context: Any = None
) -> Generator[Finished, None, None]:
    """Run trials in this process or on dask's workers; yield each as it ends."""
    jobs = min(jobs, len(tasks))
    if not tasks:
        return
    if jobs == 1 and not scheduler:
        with threadpoolctl.threadpool_limits(limits=1):
            for task in tasks:
                yield _run(trial, task, context)
        return
    from dask.distributed import as_completed

    with connected(jobs, scheduler) as client:
        # The result of a task is made again on a worker that replaces a dead one, and is forgotten with the client.
        shared = None if context is None else client.submit(_returned, context, pure=False)
        futures = {client.submit(_run_on_worker, trial, task, shared, pure=False, retries=2): task for task in tasks}
        for future in as_completed(list(futures)):
            task, error = futures.pop(future), future.exception()  # a worker that died as often as dask allows
            yield (task, [], f"{type(error).__name__}: {error}") if error else future.result()


@contextmanager
def connected(jobs: int, scheduler: Any) -> Iterator[Any]:
    """Yield a client of a running cluster, or of one with `jobs` processes that ends with it."""
    from dask.distributed import Client

    with ExitStack() as stack:
        for name in ("scheduler", "nanny", "worker"):  # a worker's death is reported with the trial
            log = logging.getLogger(f"distributed.{name}")
            stack.callback(log.setLevel, log.level)
            log.setLevel(logging.CRITICAL)
        if not scheduler:
            scheduler = stack.enter_context(local_cluster(jobs))
        yield scheduler if isinstance(scheduler, Client) else stack.enter_context(Client(scheduler))
