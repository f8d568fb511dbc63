"""Trials in this process, or on dask's workers: both yield outcomes as they finish."""

from __future__ import annotations

import atexit
import contextlib
import copy
import logging
import math
import statistics
import sys
import threading
import time
import traceback
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import threadpoolctl

from reident._old_sweep import _code
from reident.base import ParameterError, TrialError, local_cluster

_LOG = logging.getLogger("reident")

TrialFunction = Callable[[dict[str, Any], np.random.Generator], Mapping[str, Any]]

#: What a worker calls before its first trial of a sweep, and after the last.
Prepare = tuple[Callable[[], Any], Callable[[], Any]]

#: The address of a dask scheduler named here is used by sweeps that are given none.
SCHEDULER = "REIDENT_SCHEDULER"

#: A batch comes back after about this long, finished or not: short enough to be saved soon and to share the work
#: out evenly at the end, long enough that dask's overhead (about a millisecond) does not count.
BATCH_SECONDS = 0.5

_MAX_BATCH = 500

#: Fetching a finished result takes milliseconds; after so long it counts as lost with its worker.
_FETCH_SECONDS = 10
_ALLOWED_LOSSES = 20

#: Workers stay for the next sweep of the same code, and go when none has come for so long.
_IDLE_SECONDS = 60.0


@dataclass(frozen=True)
class Task:
    """One trial to run: its place in the sweep, its settings, its stream."""

    index: int
    params: dict[str, Any]
    repetition: int
    entropy: tuple[int, int]
    group: int | None = None  # of trials that follow one another and share what one of them prepares


@dataclass(frozen=True)
class Outcome:
    """What a trial returned, or the error that it raised and its traceback as text."""

    task: Task
    measures: Any = None
    error: BaseException | None = None
    traceback: str = ""


def run_task(trial: TrialFunction, task: Task) -> Outcome:
    """Run one trial with a stream of its own."""
    rng = np.random.default_rng(np.random.SeedSequence(task.entropy))
    try:
        return Outcome(task, measures=trial(copy.deepcopy(task.params), rng))
    except Exception as error:
        return Outcome(task, error=error, traceback=traceback.format_exc())


def in_process(trial: TrialFunction, tasks: list[Task]) -> Iterator[Outcome]:
    """Run the trials one after another here.

    BLAS and OpenMP get one thread as on a worker: with more, sums come out in another order, and the last digit of
    a row would depend on how it was run.
    """
    with threadpoolctl.threadpool_limits(limits=1):
        for task in tasks:
            yield run_task(trial, task)


def run_batch(
    trial: TrialFunction, tasks: list[Task], seconds: float, digest: str, carried: Any = None
) -> tuple[list[Outcome], list[float]]:
    """Run trials on a worker until the time is over; what was not reached goes back to the queue.

    A group that was begun is ended: elsewhere what its trials share would be prepared once more.
    """
    import numba

    if digest != _code.IMPORTED_DIGEST:
        raise ParameterError("`scheduler` must lead to workers with the same version of reident: their sources differ")
    outcomes: list[Outcome] = []
    times: list[float] = []
    started = time.monotonic()
    numba.set_num_threads(1)  # of the thread that runs this batch; the workers share the processors among them
    with threadpoolctl.threadpool_limits(limits=1), carried or contextlib.nullcontext():
        for task, following in zip(tasks, [*tasks[1:], None], strict=True):
            begun = time.monotonic()
            outcomes.append(_portable(run_task(trial, task)))
            times.append(time.monotonic() - begun)
            over = time.monotonic() - started > seconds and not _go_together(task, following)
            if over or outcomes[-1].error is not None:
                break
    return outcomes, times


def _go_together(task: Task, following: Task | None) -> bool:
    return task.group is not None and following is not None and task.group == following.group


def _portable(outcome: Outcome) -> Outcome:
    """Replace an error that cannot travel between processes by its text."""
    if outcome.error is None:
        return outcome
    described = RuntimeError(f"{type(outcome.error).__name__}: {outcome.error}")
    return Outcome(outcome.task, error=described, traceback=outcome.traceback)


def on_workers(
    trial: TrialFunction,
    tasks: list[Task],
    client: Any,
    digest: str,
    *,
    at_once: int | None = None,
    carried: Any = None,
) -> Iterator[Outcome]:
    """Run the trials on dask's workers, in batches sized by how long trials take, or `at_once` of them one by one.

    A batch whose worker died is redone by dask elsewhere. What was on several dying workers is run once more, one
    trial at a time and alone at the end, so that the trial at fault can be named and no other suffers for it.
    """
    return _Dispatch(trial, tasks, client, (digest, carried), at_once).outcomes()


class _Dispatch:
    """The state of one sweep on workers: what waits, what flies, what is suspected of killing workers."""

    def __init__(
        self, trial: TrialFunction, tasks: list[Task], client: Any, told: tuple[str, Any], at_once: int | None = None
    ) -> None:
        from distributed import as_completed

        self._trial, self._client, self._told, self._at_once = trial, client, told, at_once
        self._queue = deque(tasks)
        self._suspects: deque[Task] = deque()
        self._solo = False
        self._losses: Counter[int] = Counter()
        self._recent: deque[float] = deque(maxlen=50)
        self._flying: dict[Any, list[Task]] = {}
        self._arrivals = as_completed(loop=client.loop)
        self._threads, self._looked = 1, -math.inf

    def outcomes(self) -> Iterator[Outcome]:
        """Yield every trial's outcome once."""
        try:
            while self._queue or self._flying or self._suspects:
                self._launch()
                future = next(self._arrivals)
                batch = self._flying.pop(future.key)
                if future.status == "finished":
                    yield from self._results(future, batch)
                elif future.status == "error":
                    yield from self._failure(future.exception(), batch)
                else:
                    self._lost(batch)
        finally:
            for future in list(self._arrivals.futures):
                with contextlib.suppress(Exception):
                    future.cancel()

    def _launch(self) -> None:
        if time.monotonic() - self._looked > 2.0:
            self._threads, self._looked = max(1, sum(self._client.nthreads().values())), time.monotonic()
        while self._queue and len(self._flying) < (self._at_once or 2 * self._threads):
            size = 1 if self._at_once else _batch_size(len(self._queue), self._threads, self._recent)
            batch = [self._queue.popleft() for _ in range(size)]
            while self._queue and _go_together(batch[-1], self._queue[0]):
                batch.append(self._queue.popleft())
            self._submit(batch)
        if not self._flying:
            self._solo = True
            self._submit([self._suspects.popleft()])

    def _submit(self, batch: list[Task]) -> None:
        future = self._client.submit(run_batch, self._trial, batch, BATCH_SECONDS, *self._told, pure=False)
        self._flying[future.key] = batch
        self._arrivals.add(future)

    def _results(self, future: Any, batch: list[Task]) -> Iterator[Outcome]:
        try:
            outcomes, times = future.result(timeout=_FETCH_SECONDS)
        except Exception as error:  # its worker died before we had the result: dask may wait for it for ever
            _LOG.debug("a result was lost: %s", error)
            self._lost(batch)
            return
        self._recent.extend(times)
        self._queue.extendleft(reversed(batch[len(outcomes) :]))
        yield from outcomes

    def _failure(self, error: Any, batch: list[Task]) -> Iterator[Outcome]:
        from distributed import KilledWorker

        if not isinstance(error, KilledWorker):
            raise TrialError(f"the workers could not run `trial` {_name(self._trial)}: {error}") from error
        if self._solo:
            described = RuntimeError("its worker died every time it was tried (killed for its memory?)")
            yield Outcome(batch[0], error=described)
        self._suspects.extend(batch)

    def _lost(self, batch: list[Task]) -> None:
        for task in batch:
            self._losses[task.index] += 1
            if self._losses[task.index] > _ALLOWED_LOSSES:
                raise TrialError(f"the result of {task.params}, repetition {task.repetition}, was lost too often")
        self._queue.extendleft(reversed(batch))


def _batch_size(waiting: int, threads: int, recent: deque[float]) -> int:
    if not recent:
        return 1
    fitting = int(BATCH_SECONDS / max(statistics.median(recent), 1e-6))
    return max(1, min(fitting, _MAX_BATCH, math.ceil(waiting / (2 * threads))))


def _name(function: Any) -> str:
    return str(getattr(function, "__qualname__", function))


# --- clusters -----------------------------------------------------------------------------------------------------

_LOCK = threading.Lock()
_OPEN: dict[str, Any] = {}


@contextlib.contextmanager
def connected(jobs: int, scheduler: str | None, digest: str) -> Iterator[Any]:
    """Give a client: of the scheduler at an address, or of `jobs` local single-threaded worker processes.

    Local workers are kept for the next sweep of the same code (they take seconds to start) and end when idle.
    """
    if scheduler is not None:
        with _client_of(scheduler) as client:
            yield client
        return
    with _hidden_main():
        with _LOCK:
            _cancel_timer()
            if _OPEN.get("key") != (jobs, digest):
                _close()
                _start(jobs)
                _OPEN["key"] = (jobs, digest)
        try:
            yield _OPEN["client"]
        except BaseException:
            with _LOCK:
                _close()  # a failed or interrupted sweep leaves no worker busy with it
            raise
    with _LOCK:
        _OPEN["timer"] = threading.Timer(_IDLE_SECONDS, close_workers)
        _OPEN["timer"].daemon = True
        _OPEN["timer"].start()


@contextlib.contextmanager
def prepared(client: Any, prepare: Prepare | None) -> Iterator[Any]:
    """Give workers what trials of a sweep read: in memory, by no file, and for as long as this client lives.

    It is the result of a task, so that dask makes it again on a worker that replaces a dead one, and forgets it with
    the client, however that ends.
    """
    if prepare is None:
        yield None
        return
    carried = client.submit(_Carried, uuid.uuid4().hex, *prepare, pure=False)
    try:
        yield carried
    finally:
        with contextlib.suppress(Exception):  # the workers may be gone with the sweep
            carried.cancel()


_CARRYING = threading.Lock()
_USERS: Counter[str] = Counter()


class _Carried:
    """What a worker calls before a batch of trials and after it, however many run at once."""

    def __init__(self, name: str, begin: Callable[[], Any], end: Callable[[], Any]) -> None:
        self._name, self._begin, self._end = name, begin, end

    def __enter__(self) -> None:
        with _CARRYING:
            _USERS[self._name] += 1
            if _USERS[self._name] == 1:
                self._begin()

    def __exit__(self, *_: object) -> None:
        with _CARRYING:
            _USERS[self._name] -= 1
            if not _USERS[self._name]:
                del _USERS[self._name]
                self._end()


def close_workers() -> None:
    """End the local workers that wait for a further sweep."""
    with _LOCK:
        _cancel_timer()
        _close()


def _cancel_timer() -> None:
    timer = _OPEN.pop("timer", None)
    if timer is not None:
        timer.cancel()


def _close() -> None:
    for name in ("client", "cluster"):
        thing = _OPEN.pop(name, None)
        if thing is not None:
            with contextlib.suppress(Exception):
                thing.close()
    _OPEN.pop("key", None)


atexit.register(close_workers)


def _start(jobs: int) -> None:
    from distributed import Client

    _OPEN["cluster"] = local_cluster(jobs)
    _OPEN["client"] = Client(_OPEN["cluster"], set_as_default=False)


def _client_of(scheduler: str) -> Any:
    from distributed import Client

    try:
        return Client(scheduler, timeout=10, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ParameterError(
            f"`scheduler` must be the address of a running dask scheduler, got {scheduler!r}: {error}"
        ) from error


@contextlib.contextmanager
def _hidden_main() -> Iterator[None]:
    """Keep new workers, also those that replace a dead one, from importing the user's script again.

    They need nothing from it, as dask sends its functions by value, and a script without the usual guard would start
    a sweep inside each worker.
    """
    main = sys.modules["__main__"]
    hidden: dict[str, Any] = {name: main.__dict__[name] for name in ("__file__", "__spec__") if name in main.__dict__}
    main.__dict__.update(dict.fromkeys(hidden))
    try:
        yield
    finally:
        main.__dict__.update(hidden)
