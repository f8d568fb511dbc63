"""One notebook run, on whatever process it falls to: execute, keep what came of it, publish in one step."""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import re
import time
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import reident
from reident._old_sweep._progress import RELAY
from reident._old_sweep._workers import SCHEDULER
from reident.base import DataError, scratch
from reident.kernels._cache import cache_folder
from reident.pages import write_page
from reident.runner._attempts import RECORD, publish, told, workplace

#: What a run leaves in its folder beside what the notebook itself writes.
NOTEBOOK, PAGE, LOG, CELLS, PROGRESS = "notebook.ipynb", "notebook.html", "log.txt", "cells.json", "progress.json"


def run_notebook(spec: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:  # noqa: ARG001 (a trial)
    """Execute one notebook as the spec says and publish its folder; a notebook's own error is part of the record.

    The spec is plain JSON: name, notebook, parameters, out (the output folder), token (of who asks), key, versions,
    title, page.

    Raises
    ------
    DataError
        If the run cannot be kept, as on a full disk.
    """
    if spec["scheduler"]:
        _make_way()
    out = Path(spec["out"])
    try:
        work = workplace(out, spec["name"])
        record = _run(spec, work)
        publish(out, work, token=spec["token"])
    except (OSError, ValueError) as error:  # a notebook cut short by a full disk is no JSON
        if isinstance(error, DataError):
            raise
        raise DataError(f"`out` could not be written any more, got {str(out)!r}: {told(error, out)}") from error
    return record


def _run(spec: dict[str, Any], work: Path) -> dict[str, Any]:
    """Execute a notebook in its working folder and leave there all that is to be published."""
    parameters = dict(spec["parameters"])
    if spec["own_out"]:
        parameters["out"] = str(work.resolve())
    started = datetime.now(UTC)
    clock = time.monotonic()
    error = _execute({**spec, "parameters": parameters}, work)
    record = {
        "name": spec["name"],
        "title": spec["title"],
        "notebook": Path(spec["notebook"]).name,
        "status": "ok" if error is None else "failed",
        "error": error,
        "parameters": {name: value for name, value in parameters.items() if name != "out"},
        "key": spec["key"],
        "attempt": work.name,
        "started": started.isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - clock, 2),
        "reident": reident.__version__,
        "versions": spec["versions"],
    }
    if spec["page"]:
        _write_page(work, record)
    for passing in (CELLS, PROGRESS):
        (work / passing).unlink(missing_ok=True)
    (work / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return record


def _make_way() -> None:
    """Give our place on the worker free: the sweeps of the notebook run on the same cluster and need it."""
    import distributed

    with contextlib.suppress(ValueError, AttributeError):  # not on a worker
        distributed.secede()


def _execute(spec: dict[str, Any], work: Path) -> dict[str, str] | None:
    """Execute with papermill; return what went wrong, None if nothing did."""
    import nbclient.exceptions
    import nbformat.warnings
    import papermill
    from papermill.exceptions import PapermillExecutionError
    from traitlets.config import Config

    logging.getLogger("asyncio").addFilter(_is_news)
    logging.getLogger("papermill").setLevel(logging.CRITICAL)  # parameters and errors have sentences of ours
    warnings.filterwarnings("ignore", category=nbformat.warnings.MissingIDFieldWarning)
    source = Path(spec["notebook"])
    begun = False
    end = math.inf

    def note_cell(cell_index: int, **_: Any) -> None:
        nonlocal begun
        begun = True
        with contextlib.suppress(OSError):
            (work / CELLS).write_text(json.dumps({"cell": cell_index, "cells": spec["cells"]}))

    def seconds_left(_: Any) -> float:
        nonlocal end
        end = min(end, time.monotonic() + spec["timeout"])  # from the first cell on: a kernel may be slow to start
        return max(0.1, end - time.monotonic())

    for attempt in (1, 2):
        try:
            with (
                _kernel_environment(work, spec["scheduler"]),
                scratch(longest=80) as sockets,
                (work / LOG).open("w", encoding="utf-8") as log,
            ):
                # sockets and keys in a folder of ours: no other user of the machine can listen to a kernel; one kernel
                # in fifteen locks itself up when told to end (its last flush waits for a thread that has ended), and
                # half the wait time later it is terminated
                own = {"ip": str(sockets / "kernel"), "connection_file": str(sockets / "kernel.json")}
                kernel = {"transport": "ipc", "shutdown_wait_time": 2.0, **own}
                papermill.execute_notebook(
                    _literally(source),
                    _literally(work / NOTEBOOK),
                    parameters=spec["parameters"],
                    # said here, since a notebook written by a program may not say it
                    kernel_name="python3",
                    language="python",
                    progress_bar=False,
                    stdout_file=log,
                    stderr_file=log,
                    # papermill's own `cwd` changes the folder of the whole process
                    resources={"metadata": {"path": str(source.resolve().parent)}},
                    on_cell_start=note_cell,
                    timeout_func=None if spec["timeout"] is None else seconds_left,
                    config=Config({"KernelManager": kernel}),
                    # a kernel that is told to end reports the interrupt as an error, on our terminal
                    extra_arguments=["--log-level=CRITICAL"],
                )
            return None
        except PapermillExecutionError as error:
            if _raised_as_expected(work / NOTEBOOK):
                return None
            return {"type": error.ename, "message": error.evalue, "traceback": _plain(error.traceback)}
        except nbclient.exceptions.CellTimeoutError:
            return {"type": "TimeoutError", "message": f"not done after {spec['timeout']:g} s", "traceback": ""}
        except (nbclient.exceptions.DeadKernelError, RuntimeError, TimeoutError, OSError) as error:
            if attempt == 1 and not begun:
                continue  # a kernel now and then fails to start on a busy machine
            return {"type": type(error).__name__, "message": str(error), "traceback": ""}
    raise AssertionError("unreachable")


def _is_news(record: logging.LogRecord) -> bool:
    """Hold back what asyncio says of a kernel that died after an interrupt: nobody waits for its task any more."""
    from nbclient.exceptions import DeadKernelError

    return record.exc_info is None or not isinstance(record.exc_info[1], DeadKernelError)


def _plain(traceback: list[str]) -> str:
    """Take the colours for a terminal out of a traceback."""
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(traceback))


def _literally(path: Path) -> str:
    """Guard a path against papermill, which fills in braces."""
    return str(path).replace("{", "{{").replace("}", "}}")


def _raised_as_expected(file: Path) -> bool:
    """Tell whether only cells tagged `raises-exception` raised; papermill's marks of a failure are removed then."""
    import nbformat

    notebook = nbformat.read(file, as_version=4)  # type: ignore[no-untyped-call]
    for cell in notebook.cells:
        raised = any(output.output_type == "error" for output in cell.get("outputs", ()))
        if raised and "raises-exception" not in cell.metadata.get("tags", []):
            return False
    marks = ("papermill-error-cell-tag", "papermill-error-cell")
    notebook.cells = [cell for cell in notebook.cells if not {*marks} & {*cell.metadata.get("tags", [])}]
    nbformat.write(notebook, file)  # type: ignore[no-untyped-call]
    return True


@contextlib.contextmanager
def _kernel_environment(work: Path, scheduler: str | None = None) -> Iterator[None]:
    """Let kernels import the same package as this process and report their progress to us."""
    home = str(Path(reident.__file__).resolve().parent.parent)
    ours = {
        "PYTHONPATH": os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])]),
        RELAY: str(work / PROGRESS),
        "PYTHONSAFEPATH": "",  # a notebook imports modules from its folder, as in Jupyter, on a worker, too
        "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR") or str(cache_folder()),
    }
    if scheduler:
        ours[SCHEDULER] = scheduler
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _write_page(work: Path, record: dict[str, Any]) -> None:
    """Render the executed notebook without its code, in a page that loads nothing from elsewhere."""
    import nbformat
    from markupsafe import Markup

    cells = None
    if (work / NOTEBOOK).is_file():
        notebook = nbformat.read(work / NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
        shown = _exporter().from_notebook_node(notebook)[0]
        # Other notebooks are not beside the page, and may not have been run.
        cells = Markup(re.sub(r'<a href="(?![a-z]+:|#)[^"]+\.ipynb[^"]*"[^>]*>(.*?)</a>', r"\1", shown))
    write_page(
        work / PAGE,
        "notebook",
        title=record["title"],
        notebook=NOTEBOOK,
        settings=", ".join(f"{name} = {value!r}" for name, value in record["parameters"].items()),
        seconds=record["seconds"],
        day=record["started"][:10],
        failed="" if record["status"] == "ok" else _brief(record),
        cells=cells,
    )


@cache
def _exporter() -> Any:
    """Give this process its exporter: its templates are compiled once, not for every page."""
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(template_name="basic", exclude_input=True, exclude_output_prompt=True)
    exporter.exclude_anchor_links = True
    return exporter


def _brief(record: dict[str, Any]) -> str:
    error = record["error"] or {}
    return f"{error.get('type', '')}: {error.get('message', '')}".strip(": ")
