"""Child processes that do not import from the folder in which they start, and that end with their parent."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

#: Set for Python: the folder in which a process starts, and that of its script, are not searched for modules.
SAFE_PATH = {"PYTHONSAFEPATH": "1"}

_TETHER = "REIDENT_TETHER"

#: A process that has been asked to end has so long.
_GRACE_SECONDS = 20.0


def isolated_environment() -> dict[str, str]:
    """Return the environment of a child process that does not import from the folder in which it starts."""
    listed = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    path = os.pathsep.join(os.path.abspath(entry) for entry in listed)  # noqa: PTH100 (resolves no link)
    return {**os.environ, **SAFE_PATH, "PYTHONPATH": path}


def start_module(module: str, arguments: Sequence[str], folder: Path) -> tuple[subprocess.Popen[str], IO[str]]:
    """Run a module in a folder of data, isolated from it.

    Parameters
    ----------
    module : str
        The module; it must call `end_with_parent`.
    arguments : sequence of str
        Its command line.
    folder : path
        The working directory.

    Returns
    -------
    process : subprocess.Popen
        The process, with its output and errors as pipes of text.
    tether : file
        The process ends when this file is closed or this process ends, however that happens.
    """
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", module, *arguments],
        cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
        env={**isolated_environment(), "PYTHONUTF8": "1", _TETHER: "stdin"},
    )  # fmt: skip
    tether, process.stdin = process.stdin, None  # `communicate` would close it
    assert tether is not None
    return process, tether


def end_with_parent() -> None:
    """Ask this process to end as soon as the one that started it by `start_module` has ended."""
    if os.environ.pop(_TETHER, None):
        threading.Thread(target=_watch, daemon=True).start()


def _watch() -> None:
    with contextlib.suppress(OSError):
        os.read(0, 1)  # nothing is ever written: it returns when the other end is closed
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE_SECONDS)
    os._exit(143)
