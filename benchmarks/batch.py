"""A batch of notebooks against starting their kernels: what a run costs beyond its kernel.

``REIDENT_BATCH_RUNS`` says how many runs (default 60; the goal is stated for 2,000). Times are wall-clock seconds a run
with two notebooks at once; beyond the kernel, a run should cost less than .2 s however many runs there are.
"""

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._rows import Row, timed, within

RUNS = int(os.environ.get("REIDENT_BATCH_RUNS", "60"))
AT_ONCE = 2
#: Seconds a run beyond its kernel's start.
ALLOWED_S = 0.2


def start_kernel(rng: np.random.Generator, *, x: int) -> dict[str, Any]:  # noqa: ARG001 (a trial)
    """Start a kernel, run a cell and end it, as any way of running a notebook must."""
    from jupyter_client.manager import KernelManager

    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="reident-") as sockets:
        # as the runner's kernels: one in fifteen locks itself up at its end, and is waited for half this time
        manager = KernelManager(kernel_name="python3", transport="ipc", ip=f"{sockets}/kernel", shutdown_wait_time=2.0)
        manager.start_kernel(extra_arguments=["--log-level=CRITICAL"])
        client = manager.client()
        client.start_channels()
        client.wait_for_ready(timeout=120)
        client.execute(f"print({x})", reply=True, timeout=120)
        client.stop_channels()
        manager.shutdown_kernel()
    return {"seconds": time.monotonic() - began}


def _notebook(path: Path) -> Path:
    def cell(source: str, **metadata: Any) -> dict[str, Any]:
        code = {"cell_type": "code", "outputs": [], "execution_count": None}
        return {**code, "id": f"c{len(source)}", "metadata": metadata, "source": source}

    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [cell("x = 1", tags=["parameters"]), cell("print(x)")]
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook))
    return path


def _runs(notebook: Path, numbers: range) -> list[Any]:
    from reident.runner import NotebookRun

    return [NotebookRun(f"run-{number}", notebook, {"x": number}, page=False) for number in numbers]


def _batch() -> list[Row]:
    """Time an empty notebook's runs, kernels alone, 20 more runs beside those there are, and a resumed batch."""
    from reident import sweep
    from reident.runner import run_notebooks

    with tempfile.TemporaryDirectory(prefix="reident-") as folder:
        notebook, out = _notebook(Path(folder, "empty.ipynb")), Path(folder, "out")

        def a_run(numbers: range) -> float:
            spent, records = timed(
                lambda: run_notebooks(_runs(notebook, numbers), out, at_once=AT_ONCE, progress=False)
            )
            assert {record["status"] for record in records} == {"ok"}
            return spent / len(numbers)

        a_run(range(AT_ONCE))  # the workers start, and import what they need
        whole = a_run(range(AT_ONCE, RUNS + AT_ONCE))
        more = a_run(range(RUNS + AT_ONCE, RUNS + AT_ONCE + 20))
        resumed = a_run(range(RUNS + AT_ONCE))
    kernels = sweep(start_kernel, {"x": list(range(20))}, jobs=AT_ONCE, progress=False)
    kernel = kernels["seconds"].mean() / AT_ONCE  # not the wall-clock time, which has the workers' start in it

    def row(task: str, a_run_s: float) -> Row:
        note = f"{a_run_s:.3f} s a run, a kernel alone {kernel:.3f} s"
        return within(f"beyond the kernel, {task}", max(a_run_s - kernel, 1e-3), ALLOWED_S, note)

    return [
        row(f"each of {RUNS} runs, {AT_ONCE} at once", whole),
        row(f"each of 20 runs beside {RUNS} finished ones", more),
        within(f"each of {RUNS} runs that are there already", resumed, ALLOWED_S),
    ]


GROUPS = {"batch": _batch}
