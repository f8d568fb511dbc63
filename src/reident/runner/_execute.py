"""Execute one notebook in a working folder, and publish the folder in its place by renaming it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import math
import os
import re
import shutil
import time
import uuid
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import reident
from reident.base import LOCK, WORK, DataError, check_replaceable, holder, outputs, record_files, scratch
from reident.data.datasets import data_folder
from reident.experiments.sweep import SCHEDULER
from reident.kernels._cache import cache_folder
from reident.pages import write_page

#: Files of a run's folder. The record is written last: a folder that has it is complete.
NOTEBOOK, PAGE, LOG, CELLS, RECORD = "notebook.ipynb", "notebook.html", "log.txt", "cells.txt", "record.json"

#: Between the name of a run and the number of an attempt; no name contains it.
_SIGN = "~"


def run_notebook(spec: dict[str, Any]) -> dict[str, Any]:
    """Execute one notebook as the spec says (`notebook_runs` makes it), publish its folder and return the record.

    A run that cannot be stored, as on a full disk, is a `DataError`.
    """
    if spec["scheduler"]:
        import distributed

        if spec["package"] != package_digest():
            raise DataError("`scheduler` must lead to workers with the same version of reident: their sources differ")
        with contextlib.suppress(ValueError, AttributeError):  # not on a worker
            distributed.secede()  # the sweeps of the notebook run on the same cluster and need this slot
    out = Path(spec["out"])
    work = out / WORK / f"{spec['name']}{_SIGN}{uuid.uuid4().hex[:12]}"
    try:
        work.mkdir(parents=True)
        record = _run(spec, work)
        publish(out, work, token=spec["token"])
    except (OSError, ValueError) as error:  # a notebook cut short by a full disk is no JSON
        if isinstance(error, DataError):
            raise
        raise DataError(f"`out` cannot be written any more, got {str(out)!r}: {reason(error, out)}") from error
    return record


@contextlib.contextmanager
def working(out: Path) -> Iterator[str]:
    """Reserve an output folder for this process, publish complete runs of an interrupted one, and yield a token."""
    with outputs.working(out) as (work, token):
        for entry in sorted(path for path in work.iterdir() if path.is_dir()):
            if (entry / RECORD).is_file() and _SIGN in entry.name:
                publish(out, entry)
            else:
                shutil.rmtree(entry, ignore_errors=True)
        yield token


def run_of(work: Path) -> str:
    """Return the name of the run that has this working folder."""
    return work.name.partition(_SIGN)[0]


def publish(out: Path, work: Path, *, token: str | None = None) -> None:
    """Put the working folder of a run in place of the published one, if the process with this token still runs."""
    if token is not None and holder(out / WORK / LOCK).get("token") != token:
        raise DataError(f"the run {work.name!r} was given up: the reident process that started it has ended")
    target = out / run_of(work)
    check_replaceable(target)
    record_files(work)
    earlier = out / WORK / f"old-{uuid.uuid4().hex}"
    if target.exists():  # a process killed between the two renames leaves a complete folder, which `working` publishes
        target.replace(earlier)
    work.replace(target)
    shutil.rmtree(earlier, ignore_errors=True)


def reason(error: BaseException, out: Path) -> str:
    """Return why a folder cannot be written; a full disk is reported even where another error followed from it."""
    with contextlib.suppress(OSError):
        if getattr(error, "errno", None) == 28 or shutil.disk_usage(out).free < 1 << 16:
            return "no space is left on its disk"
    return getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"


def _run(spec: dict[str, Any], work: Path) -> dict[str, Any]:
    """Execute a notebook in its working folder and write there all that is to be published."""
    parameters = spec["parameters"] | ({"out": str(work.resolve())} if spec["own_out"] else {})
    started, clock = datetime.now(UTC), time.monotonic()
    options = {name: spec[name] for name in ("cells", "timeout", "scheduler")}
    error = execute(Path(spec["notebook"]), parameters, work, **options)
    record = {name: spec[name] for name in ("name", "title", "key", "versions")} | {
        "notebook": Path(spec["notebook"]).name,
        "status": "ok" if error is None else "failed",
        "error": error,
        "parameters": {name: value for name, value in parameters.items() if name != "out"},
        "started": started.isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - clock, 2),
        "reident": reident.__version__,
    }
    if spec["page"]:
        _write_page(work, record)
    (work / CELLS).unlink(missing_ok=True)
    (work / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return record


def execute(
    notebook: Path,
    parameters: dict[str, Any],
    work: Path,
    *,
    cells: int | None = None,
    timeout: float | None = None,
    scheduler: str | None = None,
) -> dict[str, str] | None:
    """Execute a notebook with papermill into a folder, with its log; return the error, None if all went well.

    With the number of its `cells` a file in the folder says which of them runs.
    """
    import nbclient.exceptions
    import nbformat.warnings
    import papermill
    from papermill.exceptions import PapermillExecutionError
    from traitlets.config import Config

    logging.getLogger("asyncio").addFilter(_is_news)
    logging.getLogger("papermill").setLevel(logging.CRITICAL)  # parameters and errors have messages of ours
    warnings.filterwarnings("ignore", category=nbformat.warnings.MissingIDFieldWarning)
    begin = math.inf

    def start_cell(cell_index: int, **_: Any) -> None:
        nonlocal begin
        begin = min(begin, time.monotonic())
        if cells is not None:
            with contextlib.suppress(OSError):
                (work / CELLS).write_text(f"cell {cell_index + 1} of {cells}")

    def seconds_left(_cell: Any) -> float:
        assert timeout is not None
        return max(0.1, begin + timeout - time.monotonic())  # from the first cell on: a kernel may be slow to start

    for _ in range(2):
        try:
            with (
                _kernel_environment(scheduler),
                scratch(longest=80) as sockets,
                (work / LOG).open("w", encoding="utf-8") as log,
            ):
                # Sockets and keys in a private folder: no other user of the machine can listen to a kernel. One kernel
                # in fifteen locks itself up at its end (its last flush waits for a thread that has ended), and half
                # the wait time later it is terminated.
                files = {"ip": str(sockets / "kernel"), "connection_file": str(sockets / "kernel.json")}
                kernel = {"transport": "ipc", "shutdown_wait_time": 2.0, **files}
                papermill.execute_notebook(
                    _literally(notebook),
                    _literally(work / NOTEBOOK),
                    parameters=parameters,
                    kernel_name="python3",  # a notebook written by a program may lack both
                    language="python",
                    progress_bar=False,
                    stdout_file=log,
                    stderr_file=log,
                    # papermill's own `cwd` changes the folder of the whole process
                    resources={"metadata": {"path": str(notebook.resolve().parent)}},
                    on_cell_start=start_cell,
                    timeout_func=None if timeout is None else seconds_left,
                    config=Config({"KernelManager": kernel}),
                    extra_arguments=["--log-level=CRITICAL"],  # a kernel reports an interrupt on our terminal
                )
            return None
        except PapermillExecutionError as error:
            plain = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback))
            return {"type": error.ename, "message": error.evalue, "traceback": plain}
        except nbclient.exceptions.CellTimeoutError:
            return {"type": "TimeoutError", "message": f"not done after {timeout:g} s", "traceback": ""}
        except (nbclient.exceptions.DeadKernelError, RuntimeError, TimeoutError, OSError) as error:
            failure = {"type": type(error).__name__, "message": str(error), "traceback": ""}
            if begin < math.inf:  # a kernel now and then fails to start on a busy machine
                return failure
    return failure


def _is_news(record: logging.LogRecord) -> bool:
    """Filter out asyncio's report of a kernel that died after an interrupt: its task is not awaited any more."""
    from nbclient.exceptions import DeadKernelError

    return record.exc_info is None or not isinstance(record.exc_info[1], DeadKernelError)


def _literally(path: Path) -> str:
    """Guard a path against papermill, which fills in braces."""
    return str(path).replace("{", "{{").replace("}", "}}")


@contextlib.contextmanager
def _kernel_environment(scheduler: str | None = None) -> Iterator[None]:
    """Let kernels import the same package as this process, and sweeps in them use the scheduler."""
    home, before = str(Path(reident.__file__).resolve().parent.parent), dict(os.environ)
    changed = {
        "PYTHONPATH": os.pathsep.join([home, *filter(None, [before.get("PYTHONPATH")])]),
        "PYTHONSAFEPATH": "",  # a notebook imports modules from its folder, as in Jupyter
        "NUMBA_CACHE_DIR": before.get("NUMBA_CACHE_DIR") or str(cache_folder()),
    } | ({SCHEDULER: scheduler} if scheduler else {})
    os.environ |= changed
    try:
        yield
    finally:
        for name in changed:
            os.environ.pop(name, None)  # on a worker several runs may end at a time
            os.environ |= {name: before[name]} if name in before else {}


def _write_page(work: Path, record: dict[str, Any]) -> None:
    """Render the executed notebook without its code, as a page that loads no other file."""
    import nbformat
    from markupsafe import Markup

    cells = None
    if (work / NOTEBOOK).is_file():
        notebook = nbformat.read(work / NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
        body = _exporter().from_notebook_node(notebook)[0]
        # links to other notebooks lead to no page here
        cells = Markup(re.sub(r'<a href="(?![a-z]+:|#)[^"]+\.ipynb[^"]*"[^>]*>(.*?)</a>', r"\1", body))
    write_page(work / PAGE, "notebook", title=record["title"], notebook=NOTEBOOK, record=record, cells=cells)


@cache
def _exporter() -> Any:
    """Return this process's exporter: its templates are compiled once, not for every page."""
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(template_name="basic", exclude_input=True, exclude_output_prompt=True)
    exporter.exclude_anchor_links = True
    return exporter


@cache
def package_digest() -> str:
    """Return a digest of the package's sources and of the registry of its data."""
    folder = Path(reident.__file__).parent
    digest = hashlib.sha256()
    for file in [*sorted(folder.rglob("*.py")), data_folder() / "registry.toml"]:
        digest.update(f"{file.name}\0".encode() + file.read_bytes())
    return digest.hexdigest()
