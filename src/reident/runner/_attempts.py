"""Where runs work until they are published: a folder an attempt, under a lock, and one rename at the end."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reident.base import WORK, DataError, check_replaceable, holder, outputs, record_files

__all__ = ["RECORD", "WORK", "attempt_of", "publish", "read_record", "told", "working", "workplace"]

#: Written last: a folder that has it is whole.
RECORD = "record.json"

#: Between the name of a run and what tells its attempts apart; no name holds it.
_SIGN = "~"


@contextlib.contextmanager
def working(out: Path) -> Iterator[str]:
    """Keep an output folder for this process, settle what an earlier one left, give the token of its attempts.

    Raises
    ------
    DataError
        If the folder cannot be written, or another process works there.
    """
    with outputs.working(out) as (_, token):
        settle(out)
        yield token


def told(error: BaseException, out: Path) -> str:
    """Say what went wrong with a folder, a full disk by its name even where another error came of it."""
    with contextlib.suppress(OSError):
        if getattr(error, "errno", None) == 28 or shutil.disk_usage(out).free < 1 << 16:
            return "no space is left on its disk"
    return getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"


def workplace(out: Path, name: str) -> Path:
    """Give an attempt a folder of its own, with the parts of sweeps that earlier ones left; theirs stay whole."""
    work = out / WORK / f"{name}{_SIGN}{uuid.uuid4().hex[:12]}"
    work.mkdir(parents=True)
    for earlier in [out / name, *_attempts(out, name)]:
        if earlier != work and (earlier / "parts").is_dir():
            shutil.copytree(earlier / "parts", work / "parts", copy_function=_linked, dirs_exist_ok=True)
    return work


def attempt_of(work: Path) -> str | None:
    """Return the run whose attempt a folder inside `WORK` is, None if it is none."""
    return work.name.partition(_SIGN)[0] if work.is_dir() and not work.name.startswith("old-") else None


def _attempts(out: Path, name: str) -> list[Path]:
    return [entry for entry in sorted((out / WORK).iterdir()) if attempt_of(entry) == name]


def _linked(source: str, target: str) -> None:
    """Share a part, which never changes, between two folders."""
    if Path(target).exists():
        return
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def publish(out: Path, work: Path, *, token: str | None = None) -> None:
    """Put the finished working folder of a run in place of the published one, in one step where the system has it.

    Raises
    ------
    DataError
        If the process that asked for the run is gone, by its `token`: another may be at the same run.
    """
    if token is not None and holder(out / WORK).get("token") != token:
        raise DataError(f"the run {work.name!r} was given up: the reident that asked for it has ended")
    target = out / str(attempt_of(work))
    check_replaceable(target)
    record_files(work)
    if not target.exists():
        work.replace(target)
    elif not _exchanged(work, target):
        old = out / WORK / f"old-{uuid.uuid4().hex}"
        target.replace(old)
        work.replace(target)
        shutil.rmtree(old, ignore_errors=True)
    for left in _attempts(out, target.name):
        shutil.rmtree(left, ignore_errors=True)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two folders in one step, if the system can."""
    if sys.platform != "linux":
        return False
    exchange, here = 2, -100  # RENAME_EXCHANGE, AT_FDCWD
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    return bool(rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)


def settle(out: Path) -> None:
    """Finish what an interruption left between two steps: publish complete runs, remove replaced ones.

    What is not complete stays for its parts until the run is published.
    """
    for entry in sorted((out / WORK).iterdir()):
        record = read_record(entry / RECORD)
        if entry.name.startswith("old-"):
            shutil.rmtree(entry, ignore_errors=True)
        elif record is not None and record.get("attempt", entry.name) == entry.name:
            publish(out, entry)
        elif record is not None:  # exchanged with its successor, not removed yet
            shutil.rmtree(entry, ignore_errors=True)


def read_record(file: Path) -> dict[str, Any] | None:
    """Read the record of a run; None if there is none or it is damaged."""
    try:
        record = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None
