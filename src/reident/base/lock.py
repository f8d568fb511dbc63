"""File locks that end with their process, and temporary folders."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import uuid
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from reident.base.errors import DataError

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
def occupied(lock: Path, name: str, folder: Path) -> Iterator[str]:
    """Keep other processes from working in `folder`, the parameter `name`; give a token of this attempt.

    The lock is one on the open file `lock`, which the system lets go of however the process ends.

    Raises
    ------
    DataError
        If another process works there: it says which, and since when.
    """
    with lock.open("a+b") as file:
        if not _try(file, wait=False):
            other = holder(lock)
            raise DataError(
                f"`{name}` must be a folder without another process, got {str(folder)!r}: another reident "
                f"(pid {other.get('pid', 'unknown')}, since {other.get('since', 'just now')}) works here; wait, or "
                "take another folder"
            )
        token = uuid.uuid4().hex[:12]
        entry = {"pid": os.getpid(), "since": datetime.now().isoformat(" ", "seconds"), "token": token}
        file.truncate(0)
        file.write(json.dumps(entry).encode())
        file.flush()
        try:
            yield token
        finally:
            with contextlib.suppress(OSError):
                file.truncate(0)


def holder(lock: Path) -> dict[str, Any]:
    """Return the process that has the lock of a folder, as far as it is written: its `pid`, `since` and `token`."""
    try:
        entry = json.loads(lock.read_bytes())
    except (OSError, ValueError):
        return {}
    return entry if isinstance(entry, dict) else {}


@contextlib.contextmanager
def scratch(*, longest: int | None = None) -> Iterator[Path]:
    """Create a temporary folder that only this user can read, and remove it at the end.

    A killed process leaves its folder behind, for the operating system to remove: no other folder is ever touched.

    Parameters
    ----------
    longest : int, optional
        How many signs the path may have: a socket's path is limited to about a hundred. Where that of the temporary
        directory is longer, the folder is in ``/tmp``.
    """
    prefix, place = "reident-", Path(tempfile.gettempdir())
    if longest is not None and len(str(place / prefix)) + 8 > longest and Path("/tmp").is_dir():
        place = Path("/tmp")
    with tempfile.TemporaryDirectory(prefix=prefix, dir=place, ignore_cleanup_errors=True) as folder:
        yield Path(folder)
