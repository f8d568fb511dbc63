"""Batch execution of parameterised notebooks: strict, several at once, resumable, with pages to read.

Every run has a folder of its own in the output folder: the executed notebook, its page without code, the log, a
``record.json`` with parameters, versions and how it ended, and what the notebook wrote (results, figures). A run works
in a hidden folder and is published by renaming it, so that a published folder is always whole.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from reident._old_sweep import _code, _workers
from reident.base import (
    DataError,
    ParameterError,
    check_choice,
    check_integer,
    check_replaceable,
    check_seed,
    record_files,
)
from reident.data._paths import notebooks_folder
from reident.runner._attempts import RECORD, told, working
from reident.runner._board import Board
from reident.runner._execute import run_notebook
from reident.runner._index import read_records, write_index
from reident.runner._inputs import digest_beside
from reident.runner._parameters import check_parameters, notebook_cells, notebook_defaults, notebook_title
from reident.runner.experiments import PROFILES, check_by_notebook, experiments, profile_parameters, trials_folder

__all__ = [
    "NotebookRun",
    "check_parameters",
    "keys_of",
    "notebook_defaults",
    "page_at_the_end",
    "read_records",
    "reproduce",
    "run_notebooks",
    "study_runs",
    "write_index",
]

#: Parameters that say where and how, not what: they do not make another run.
_NOT_IDENTIFYING = ("out", "jobs", "cache", "scheduler")


@dataclass(frozen=True)
class NotebookRun:
    """A notebook with parameters, to be run under a name.

    Attributes
    ----------
    name : str
        The name of the run's folder: letters, digits, ``_``, ``-``, ``.``.
    notebook : path
        The notebook, with exactly one cell tagged `parameters`.
    parameters : dict
        Plain JSON values that replace defaults. A notebook with a parameter `out` gets its folder there.
    page : bool
        Whether to render a page without code.
    minutes : float
        How long it takes beside others that run with it, for the time left.
    timeout : float, optional
        Seconds after which the run is stopped and counts as failed.
    """

    name: str
    notebook: Path
    parameters: dict[str, Any] = field(default_factory=dict)
    page: bool = True
    minutes: float = 1.0
    timeout: float | None = None


def run_notebooks(
    runs: Sequence[NotebookRun],
    out: str | Path,
    *,
    at_once: int = 1,
    scheduler: str | None = None,
    force: bool = False,
    retry_failed: bool = True,
    progress: bool = True,
    label: str = "notebooks",
    each: Callable[[], Any] | None = None,
) -> list[dict[str, Any]]:
    """Execute notebooks, several at once, and publish each in a folder of its own.

    A run is skipped if its record says that the same cells, parameters, files beside the notebook, package and library
    versions ended well. A
    notebook that fails is kept with its error, and the others go on.

    Parameters
    ----------
    runs : sequence of NotebookRun
        What to run; the names must differ.
    out : path
        The output folder.
    at_once : int, default 1
        How many notebooks run at the same time.
    scheduler : str, optional
        The address of a dask scheduler whose workers execute the notebooks; they must see `out`.
    force : bool, default False
        Run also what has ended well before.
    retry_failed : bool, default True
        Run again what has failed before with the same key.
    progress : bool, default True
        Show progress with the time left.
    each : callable, optional
        Called after every run that has ended, as to write the page over those that there are.

    Returns
    -------
    list of dict
        The record of each run, in the order of `runs`.

    Raises
    ------
    ParameterError
        If a parameter is unknown to its notebook or of another type; nothing has run then.
    DataError
        If a file is no notebook, `out` cannot be written, or another process works there.
    """
    at_once = check_integer(at_once, "at_once", low=1)
    out = Path(out)
    _check_names([run.name for run in runs])
    specs = _specs(runs, out, scheduler)
    with working(out) as token:
        records = {spec["name"]: _known(out, spec, force=force, retry_failed=retry_failed) for spec in specs}
        missing = [{**spec, "token": token} for spec in specs if records[spec["name"]] is None]
        for spec in missing:
            check_replaceable(out / spec["name"])
        tasks = [_workers.Task(index, spec, 0, (0, index)) for index, spec in enumerate(missing)]
        if tasks:
            with Board(label, {spec["name"]: spec["minutes"] for spec in missing}, out, enabled=progress) as board:
                for outcome in _execute(tasks, min(at_once, len(tasks)), scheduler):
                    name = outcome.task.params["name"]
                    record = outcome.measures if outcome.error is None else _lost(outcome, name)
                    records[name] = record
                    board.finish(record)
                    if each is not None:
                        with suppress(OSError):  # whoever asked for it says at the end that it cannot be written
                            each()
    return [record for record in records.values() if record is not None]


def _execute(tasks: list[_workers.Task], at_once: int, scheduler: str | None) -> Any:
    if at_once == 1 and scheduler is None:
        yield from _workers.in_process(run_notebook, tasks)
        return
    with _workers.connected(at_once, scheduler, "notebooks") as client:
        yield from _workers.on_workers(run_notebook, tasks, client, _code.IMPORTED_DIGEST, at_once=at_once)


def _lost(outcome: Any, name: str) -> dict[str, Any]:
    """Make a record of a run that our own machinery could not bring to its end, for example for a full disk."""
    error = {"type": type(outcome.error).__name__, "message": str(outcome.error), "traceback": outcome.traceback}
    return {"name": name, "status": "failed", "error": error, "seconds": 0.0, "parameters": {}}


def _check_names(names: list[str]) -> None:
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", name):
            raise ParameterError(f"`name` must be letters, digits, '_', '-' and '.', got {name!r}: it names a folder")
    name, times = Counter(names).most_common(1)[0] if names else ("", 0)
    if times > 1:
        raise ParameterError(f"`runs` must have different names, got {name!r} more than once")


def _specs(runs: Sequence[NotebookRun], out: Path, scheduler: str | None = None) -> list[dict[str, Any]]:
    """Check the runs and write down all that a worker needs for each, as plain JSON."""
    versions, package = _versions(), _code.package_digest()
    read: dict[Path, tuple[dict[str, Any], list[str], str, str]] = {}
    specs = []
    for run in runs:
        if run.notebook not in read:
            sources = [cell["source"] for cell in notebook_cells(run.notebook)]
            beside = digest_beside(run.notebook)
            read[run.notebook] = notebook_defaults(run.notebook), sources, notebook_title(run.notebook), beside
        defaults, sources, title, beside = read[run.notebook]
        try:
            parameters = check_parameters(run.notebook, run.parameters, defaults=defaults)
            check_by_notebook(run.notebook, parameters)
        except ParameterError as error:
            told = f" (in the run with {dict(run.parameters)})" if len(runs) > 1 else ""
            raise ParameterError(f"{error}{told}") from None
        telling = {name: value for name, value in parameters.items() if name not in _NOT_IDENTIFYING}
        identity = json.dumps([sources, telling, package, versions, beside], sort_keys=True)
        specs.append(
            {
                "name": run.name,
                "notebook": str(Path(run.notebook).resolve()),
                "parameters": parameters,
                "own_out": "out" in defaults and "out" not in parameters,
                "out": str(out.resolve()),
                "key": hashlib.sha256(identity.encode()).hexdigest(),
                "versions": versions,
                "title": title,
                "cells": len(sources) + bool(parameters or "out" in defaults),  # papermill adds one with the parameters
                "page": run.page,
                "minutes": run.minutes,
                "timeout": run.timeout,
                "scheduler": scheduler,
            }
        )
    return specs


def _versions() -> dict[str, str]:
    """Return the versions of all the libraries that the package declares."""
    try:
        declared = metadata.requires("reident") or []
    except metadata.PackageNotFoundError:
        return _code.versions()
    wanted = [re.split(r"[^A-Za-z0-9_.-]", line, maxsplit=1)[0] for line in declared if "extra ==" not in line]
    return _code.versions(tuple(sorted(wanted)))


def _known(out: Path, spec: dict[str, Any], *, force: bool, retry_failed: bool) -> dict[str, Any] | None:
    """Return the record of an earlier run that stands for this one."""
    file = out / spec["name"] / RECORD
    if force or not file.is_file():
        return None
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        stands = record["key"] == spec["key"] and (record["status"] == "ok" or not retry_failed)
    except (ValueError, KeyError, TypeError, OSError):
        return None  # a record that is damaged or cannot be read stands for nothing
    return record if stands else None


def keys_of(runs: Sequence[NotebookRun], out: str | Path) -> dict[str, str]:
    """Return the key of each run as things stand: its record has the same where it is of these cells and this code."""
    return {spec["name"]: spec["key"] for spec in _specs(runs, Path(out))}


def study_runs(
    names: Sequence[str] = (), *, profile: str = "quick", jobs: int = 1, seed: int | None = None
) -> tuple[list[NotebookRun], int]:
    """Return the runs that reproduce documents, and the number of them to execute at once.

    `names` are experiments, stems of documents, or notebooks; none means every experiment. Notebooks overlap up to
    `jobs`, since most of a short run is starting up; the sweeps inside share what is left, and those of the long `full`
    profile get all of it.

    Raises
    ------
    ParameterError
        If a name is none of these, or the profile is unknown.
    """
    check_choice(profile, "profile", PROFILES)
    jobs = check_integer(jobs, "jobs", low=1)
    wanted: dict[str, Any] = {"jobs": jobs} | ({} if seed is None else {"seed": check_seed(seed)})
    known = experiments()
    notebooks = {path.stem: path for path in sorted(notebooks_folder().glob("[0-9]*.ipynb"))}
    experiment_of = {path.stem: name for name, path in known.items()}
    stems = {name.partition("_")[0] for name in known}
    chosen: dict[str, Path] = {} if names else dict(known)
    for name in names:
        check_choice(name, "stem", sorted({*known, *stems, *notebooks}))
        if name in notebooks:
            chosen[experiment_of.get(name, name)] = notebooks[name]
        else:
            chosen |= {one: path for one, path in known.items() if name in (one, one.partition("_")[0])}
    at_once = max(1, min(jobs, len(chosen)))
    wanted["jobs"] = jobs if profile == "full" else max(1, jobs // at_once)
    runs = []
    for name, notebook in chosen.items():
        defaults = notebook_defaults(notebook)
        own = profile_parameters(notebook, profile) if name in known else {}
        runs.append(NotebookRun(name, notebook, own | {key: value for key, value in wanted.items() if key in defaults}))
    return runs, at_once


def reproduce(
    names: Sequence[str] = (),
    *,
    profile: str = "quick",
    jobs: int = 1,
    out: str | Path = "results",
    seed: int | None = None,
    force: bool = False,
    retry_failed: bool = True,
    scheduler: str | None = None,
    progress: bool = True,
) -> list[dict[str, Any]]:
    """Run the notebooks of documents and write the index page ``out/index.html``.

    Parameters
    ----------
    names : sequence of str
        Experiments, stems of documents, or notebooks; default: every experiment.
    profile : str
        ``"smoke"``, ``"quick"`` or ``"full"``.
    jobs : int
        How many processors to use.
    out : path
        The output folder; earlier runs in it are kept and shown.
    seed : int, optional
        Replaces the default seed of each notebook.
    force, retry_failed, scheduler, progress
        As for `run_notebooks`.

    Returns
    -------
    list of dict
        The record of each run.
    """
    runs, at_once = study_runs(names, profile=profile, jobs=jobs, seed=seed)
    if not runs:
        raise DataError("no experiment is installed: no notebook came with this installation")
    for run in runs:
        if run.name in experiments():
            run.parameters["cache"] = trials_folder(out, run.name)
    with page_at_the_end(out, lambda: write_index(out)) as write:
        return run_notebooks(
            runs,
            out,
            at_once=at_once,
            scheduler=scheduler,
            force=force,
            retry_failed=retry_failed,
            progress=progress,
            label="reproduce",
            each=write,
        )


@contextmanager
def page_at_the_end(
    out: str | Path, write: Callable[[], Any], names: Sequence[str] = ("index.html",)
) -> Iterator[Callable[[], Any]]:
    """Write the page over all runs, also after an error, which has the last word.

    Parameters
    ----------
    out : path
        The output folder.
    write : callable
        Writes the page.
    names : sequence of str
        The files that it writes in `out`.

    Yields
    ------
    callable
        Writes the page before the end.

    Raises
    ------
    DataError
        If one of these files is there and was not written by the program, or cannot be written.
    """
    check_replaceable(Path(out), names)

    def written() -> None:
        try:
            write()
        finally:
            if Path(out).is_dir():
                record_files(Path(out), names)

    try:
        yield written
    except BaseException:
        with suppress(Exception):
            if Path(out).is_dir():
                written()
        raise
    try:
        written()
    except OSError as error:
        raise DataError(
            f"`out` could not be written any more, got {str(out)!r}: {told(error, Path(out))}; the runs that ended are "
            "whole, and the same call writes the page over them"
        ) from error
