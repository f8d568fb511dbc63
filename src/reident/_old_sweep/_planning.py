"""What a sweep will run: the trials of its settings, their streams and keys, and what is there of them already."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reident._old_sweep import _code
from reident._old_sweep._parts import BOOKKEEPING, PartStore
from reident._old_sweep._settings import Settings, expand
from reident._old_sweep._workers import Task, TrialFunction
from reident.base import ParameterError, afford, check_integer, check_seed, occupied, stable_hash

__all__ = ["Sweep", "Trial", "prepare_sweep", "stored", "trial_rng"]

_LOG = logging.getLogger("reident")


@dataclass(frozen=True)
class Trial:
    """One trial: the key of its stored row, that of its stream, and what to run."""

    key: str
    seed_key: str
    task: Task


@dataclass(frozen=True, eq=False)
class Sweep:
    """A sweep's trials, and the measures of those that had finished before."""

    stem: str
    digest: str
    settings: list[dict[str, Any]]
    plan: list[Trial]
    store: PartStore | None
    measures: list[dict[str, Any] | None]

    def missing(self) -> list[Trial]:
        return [planned for planned, row in zip(self.plan, self.measures, strict=True) if row is None]

    @contextmanager
    def alone(self) -> Iterator[list[Trial]]:
        """Keep others from computing this sweep in its folder; give the trials that nobody has finished by now.

        Raises
        ------
        DataError
            If another process computes it there; a process that was killed does no more.
        """
        if self.store is None:
            yield self.missing()
            return
        with occupied(self.store.folder, "folder"):
            found = self.store.load({planned.key for planned in self.missing()})
            for position, planned in enumerate(self.plan):
                if planned.key in found:
                    self.measures[position] = found[planned.key]
            yield self.missing()


def prepare_sweep(
    grid: Settings,
    trial: TrialFunction,
    repetitions: int,
    seed: int,
    stem: str | None,
    shared: Iterable[str],
    folder: str | Path | None,
    together: Iterable[str] = (),
) -> Sweep:
    """Check the arguments of a sweep and find which of its trials are stored already."""
    if stem is None:
        stem = f"{trial.__module__}.{trial.__qualname__}"
    settings = expand(grid)
    digest = _trial_digest(trial)
    plan = _plan(settings, check_integer(repetitions, "repetitions", low=1), seed, stem, shared, digest, together)
    store = None if folder is None else PartStore(Path(folder) / _slug(stem))
    found = {} if store is None else store.load({planned.key for planned in plan})
    return Sweep(stem, digest, settings, plan, store, [found.get(planned.key) for planned in plan])


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
    settings: list[dict[str, Any]],
    repetitions: int,
    seed: int,
    stem: str,
    shared: Iterable[str],
    digest: str,
    together: Iterable[str],
) -> list[Trial]:
    seed = check_seed(seed)
    if not isinstance(stem, str) or not stem:
        raise ParameterError(f"`stem` must be a name, got {stem!r}")
    names = {name for setting in settings for name in setting}
    common, side_by_side = _named(shared, "shared", names), _named(together, "together", names)
    n_trials = repetitions * len(settings)
    afford(
        2000 * n_trials, "repetitions", f"{n_trials:,} trials", "run fewer at once: a larger sweep goes on from them"
    )
    plan: list[Trial] = []
    group, grouped = 0, None
    for setting in settings:
        apart = {name: value for name, value in setting.items() if name not in side_by_side}
        group, grouped = group + (apart != grouped), apart
        varying = {name: value for name, value in setting.items() if name not in common}
        for repetition in range(repetitions):
            entropy = stable_hash([stem, varying, repetition])
            seed_key = f"{entropy:032x}"
            identity = json.dumps([digest, seed, stem, seed_key, setting, repetition], sort_keys=True)
            key = hashlib.sha256(identity.encode()).hexdigest()[:40]
            task = Task(len(plan), setting, repetition, (seed, entropy), group if side_by_side else None)
            plan.append(Trial(key, seed_key, task))
    return plan


def _named(parameters: Iterable[str], name: str, names: set[str]) -> set[str]:
    found = {parameters} if isinstance(parameters, str) else set(parameters)
    if found - names:
        raise ParameterError(
            f"`{name}` must name parameters of the grid, got {sorted(found - names)}: the grid has {sorted(names)}"
        )
    return found


def stored(planned: Trial, row: dict[str, Any]) -> dict[str, Any]:
    """Return the row as it is kept in a folder."""
    task = planned.task
    described = json.dumps(task.params, sort_keys=True)
    kept = dict(zip(BOOKKEEPING, [planned.key, described, task.repetition, planned.seed_key], strict=True))
    return {**kept, **row}
