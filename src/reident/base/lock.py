"""Locks on files that die with their process: whoever is killed leaves nothing behind that keeps others out."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from reident.base.errors import DataError

#: Folders for passing things begin with it.
_PREFIX = "reident-"

#: A folder that has no lock yet is being made.
_YOUNG_SECONDS = 60.0

if sys.platform == "win32":
    import msvcrt

    def _try(file: BinaryIO, *, wait: bool) -> bool:
        file.seek(1 << 30)  # beyond what is written: others may read who holds it
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try(file: BinaryIO, *, wait: bool) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextlib.contextmanager
def hold(file: BinaryIO) -> Iterator[None]:
    """Wait for an open file and keep every other process, and every other opening of it, out."""
    while not _try(file, wait=True):
        pass
    try:
        yield
    finally:
        if sys.platform == "win32":
            file.seek(1 << 30)
            msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_UN)


@contextlib.contextmanager
def occupied(folder: Path, name: str) -> Iterator[str]:
    """Keep other processes from working in `folder`; give a token that names this attempt.

    The lock is one on the open file `folder`/lock, which the system lets go of however the process ends.

    Raises
    ------
    DataError
        If another process works there: it says which, and since when.
    """
    with (folder / "lock").open("a+b") as file:
        if not _try(file, wait=False):
            other = holder(folder)
            raise DataError(
                f"`{name}` must be a folder where nobody works, got {str(folder.parent)!r}: another reident "
                f"(pid {other.get('pid', 'unknown')}, since {other.get('since', 'just now')}) works here; wait, or "
                "take another folder"
            )
        token = uuid.uuid4().hex[:12]
        told = {"pid": os.getpid(), "since": datetime.now().isoformat(" ", "seconds"), "token": token}
        file.truncate(0)
        file.write(json.dumps(told).encode())
        file.flush()
        try:
            yield token
        finally:
            with contextlib.suppress(OSError):
                file.truncate(0)


def holder(folder: Path) -> dict[str, Any]:
    """Return who works in a folder, as far as it is written: its `pid`, `since` and `token`."""
    try:
        told = json.loads((folder / "lock").read_bytes())
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Give a temporary folder that goes at the end, and remove those whose process was killed before it could.

    It is the user's alone. Each holds a lock of its process: one that can be had is nobody's any more.
    """
    _sweep()
    with (
        tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder,
        (Path(folder) / "lock").open("ab") as file,
    ):
        _try(file, wait=False)
        yield Path(folder)


def _sweep() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # another user's, or gone meanwhile
            lock = folder / "lock"
            if lock.exists():
                with lock.open("r+b") as file:
                    if not _try(file, wait=False):
                        continue
            elif time.time() - folder.stat().st_mtime < _YOUNG_SECONDS:
                continue
            if not folder.is_symlink() and (sys.platform == "win32" or folder.stat().st_uid == os.getuid()):
                shutil.rmtree(folder, ignore_errors=True)
