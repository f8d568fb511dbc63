"""Run notebooks: strict parameters, several at once, none twice; each result is published in a folder of its own."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import Any

from tqdm import tqdm

from reident.base import WORK, ParameterError, check_integer, check_replaceable
from reident.experiments.sweep import connected
from reident.runner._execute import CELLS, RECORD, package_digest, run_notebook, run_of, working
from reident.runner._parameters import (
    check_parameters,
    digest_of_inputs,
    notebook_cells,
    notebook_defaults,
    notebook_title,
)
from reident.runner.experiments import check_by_notebook

#: Parameters that change no result.
_NOT_IDENTIFYING = ("out", "jobs", "cache", "scheduler")


@dataclass(frozen=True)
class NotebookRun:
    """Describe one execution of a notebook."""

    name: str  # of the run's folder: letters, digits, "_", "-", "."
    notebook: Path  # with exactly one cell tagged `parameters`
    #: Plain JSON values that replace defaults. A notebook with a parameter `out` gets its folder there.
    parameters: dict[str, Any] = field(default_factory=dict)
    page: bool = True  # whether to render a page without code
    timeout: float | None = None  # seconds after which the run is stopped and counts as failed


def run_notebooks(
    runs: Sequence[NotebookRun],
    out: str | Path,
    *,
    at_once: int = 1,
    scheduler: str | None = None,
    force: bool = False,
    progress: bool = True,
    label: str = "notebooks",
    each: Callable[[], Any] | None = None,
) -> list[dict[str, Any]]:
    """Execute notebooks, several at once, and publish each in a folder of its own; return their records in this order.

    A run is skipped if its record says that the same cells, parameters, files beside the notebook, package and library
    versions ended well, unless `force`. A notebook that fails is stored with its error, and the others go on. `at_once`
    notebooks run at the same time, on the workers of the dask `scheduler` if its address is given; they must have
    access to `out`. `each` is called after every run, for example to write an index page; `label` names the progress
    bar.

    A parameter that is unknown to its notebook or of another type is a `ParameterError` before anything runs; a file
    that is no notebook, an `out` that cannot be written, or another process at work there, a `DataError`.
    """
    at_once = check_integer(at_once, "at_once", low=1)
    out = Path(out)
    _check_names([run.name for run in runs])
    specs = _specs(runs, out, scheduler)
    with working(out) as token:
        records = {spec["name"]: _known(out, spec, force=force) for spec in specs}
        missing = [{**spec, "token": token} for spec in specs if records[spec["name"]] is None]
        for spec in missing:
            check_replaceable(out / spec["name"])
        with _progress(label, len(missing), out, enabled=progress and bool(missing)) as end:
            for record in _executed(missing, min(at_once, len(missing)), scheduler):
                records[record["name"]] = record
                end(record)
                if each is not None:
                    with suppress(OSError):  # `page_at_the_end` reports it
                        each()
    return [record for record in records.values() if record is not None]


@contextmanager
def _progress(label: str, total: int, out: Path, *, enabled: bool) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Show how many notebooks have ended, and twice a second (in a log every 15 s) the cells that run.

    Yields a function that counts a run as ended, from its record.
    """
    pause_s = 0.5 if sys.stderr.isatty() else 15.0
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(pause_s):
            with suppress(OSError):  # the run ends while its file is read
                cells = sorted((out / WORK).glob(f"*/{CELLS}"))
                bar.set_postfix_str("; ".join(f"{run_of(file.parent)}: {file.read_text()}" for file in cells))

    def end(record: dict[str, Any]) -> None:
        if enabled:
            how = "done" if record["status"] == "ok" else f"failed ({record['error']['type']})"
            figures = out / record["name"] / "figures"
            place = f", figures in {figures}" if figures.is_dir() else ""
            bar.write(f"{record['name']}: {how} after {record['seconds']:.0f} s{place}", file=sys.stderr)
        bar.update()

    with tqdm(total=total, desc=label, unit="notebook", disable=not enabled, mininterval=pause_s) as bar:
        threading.Thread(target=watch, daemon=True).start()
        try:
            yield end
        finally:
            is_over.set()


def _executed(specs: list[dict[str, Any]], at_once: int, scheduler: str | None) -> Iterator[dict[str, Any]]:
    """Execute the notebooks in this process or on dask's workers; yield the record of each as it ends."""
    if not specs:
        return
    if at_once == 1 and scheduler is None:
        for spec in specs:
            try:
                yield run_notebook(spec)
            except Exception as error:  # the other notebooks go on
                yield _failed(spec, error)
        return
    from dask.distributed import as_completed

    with connected(at_once, scheduler) as client:
        waiting = iter(specs)
        running = {client.submit(run_notebook, spec, pure=False): spec for spec in islice(waiting, at_once)}
        done = as_completed(list(running))
        for future in done:
            spec, failure = running.pop(future), future.exception()
            yield _failed(spec, failure) if failure else future.result()
            for following in islice(waiting, 1):
                running[client.submit(run_notebook, following, pure=False)] = following
                done.add(next(reversed(running)))


def _failed(spec: dict[str, Any], error: BaseException) -> dict[str, Any]:
    text = "".join(traceback.format_exception(error))
    described = {"type": type(error).__name__, "message": str(error), "traceback": text}
    return {"name": spec["name"], "status": "failed", "error": described, "seconds": 0.0, "parameters": {}}


def _check_names(names: list[str]) -> None:
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", name):
            raise ParameterError(f"`name` must be letters, digits, '_', '-' and '.', got {name!r}: it names a folder")
        if names.count(name) > 1:
            raise ParameterError(f"`runs` must have different names, got {name!r} more than once")


def _specs(runs: Sequence[NotebookRun], out: Path, scheduler: str | None = None) -> list[dict[str, Any]]:
    """Check the runs and return for each the plain JSON that a worker needs."""
    common = {"out": str(out.resolve()), "scheduler": scheduler, "versions": _versions(), "package": package_digest()}
    inputs = {folder: digest_of_inputs(folder) for folder in {run.notebook.resolve().parent for run in runs}}
    specs = []
    for run in runs:
        sources = [cell["source"] for cell in notebook_cells(run.notebook)]
        takes_out = "out" in notebook_defaults(run.notebook)
        try:
            parameters = check_parameters(run.notebook, run.parameters)
            identifying = {name: value for name, value in parameters.items() if name not in _NOT_IDENTIFYING}
            if identifying:  # else its own values
                check_by_notebook(run.notebook, parameters)
        except ParameterError as error:
            place = f" (in the run with {dict(run.parameters)})" if len(runs) > 1 else ""
            raise ParameterError(f"{error}{place}") from None
        notebook = run.notebook.resolve()
        identity = [sources, identifying, common["package"], common["versions"], inputs[notebook.parent]]
        own = {
            "notebook": str(notebook),
            "title": notebook_title(notebook),
            "cells": len(sources) + bool(parameters or takes_out),  # papermill adds one with the parameters
            "own_out": takes_out and "out" not in parameters,
            "key": hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest(),
        }
        specs.append(asdict(run) | common | own)
    return specs


@cache
def _versions() -> dict[str, str]:
    """Return the versions of Python and of all libraries that the package declares."""
    declared = [line for line in metadata.requires("reident") or [] if "extra ==" not in line]
    names = sorted(re.split(r"[^A-Za-z0-9_.-]", line, maxsplit=1)[0] for line in declared)
    return {"python": platform.python_version()} | {name: metadata.version(name) for name in names}


def _known(out: Path, spec: dict[str, Any], *, force: bool) -> dict[str, Any] | None:
    """Return the record of an earlier run with the same key that ended well."""
    file = out / spec["name"] / RECORD
    if force or not file.is_file():
        return None
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        is_valid = record["key"] == spec["key"] and record["status"] == "ok"
    except (ValueError, KeyError, TypeError, OSError):
        return None  # damaged or not readable
    return record if is_valid else None


def keys_of(runs: Sequence[NotebookRun], out: str | Path) -> dict[str, str]:
    """Return the key of each run: a record with the same key is of the present cells, parameters and code."""
    return {spec["name"]: spec["key"] for spec in _specs(runs, Path(out))}
