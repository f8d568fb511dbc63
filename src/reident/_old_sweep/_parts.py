"""The finished trials of a sweep on disk: many small parquet files, each whole or not there.

A part is written under a temporary name and renamed, and its final name is the hash of its bytes: a part that a
crash, a full disk or a bad sector has changed no longer fits its name, is set aside, and its trials are run again.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
import uuid
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from reident.base import DataError

_LOG = logging.getLogger("reident")

#: Bookkeeping columns of a part; all others are measures.
BOOKKEEPING = ("_key", "_parameters", "repetition", "seed_key")

#: Rows wait at most so long in memory: what a killed driver can lose.
FLUSH_SECONDS = 2.0

_STALE_SECONDS = 3600.0


class PartStore:
    """Rows of one sweep, buffered shortly and then written as parts into `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows: list[dict[str, Any]] = []
        self._flushed = time.monotonic()
        self._prepare()

    def _prepare(self) -> None:
        """Fail before any work starts if the folder cannot be written."""
        probe = self.folder / f".{uuid.uuid4().hex}.tmp"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            probe.write_bytes(b"\0" * 4096)
            probe.unlink()
            for stale in self.folder.glob(".*.tmp"):
                if time.time() - stale.stat().st_mtime > _STALE_SECONDS:
                    stale.unlink(missing_ok=True)
        except OSError as error:
            probe_left = probe.exists()
            if probe_left:
                probe.unlink(missing_ok=True)
            raise DataError(
                f"`folder` must be a folder that can be written, got {str(self.folder)!r}: {error.strerror or error}"
            ) from error

    def load(self, keys: Collection[str] | None = None) -> dict[str, dict[str, Any]]:
        """Return the measures of those trials among `keys`, or of all, that are on disk; set damaged parts aside."""
        found: dict[str, dict[str, Any]] = {}
        damaged = []
        for part in sorted(self.folder.glob("part-*.parquet")):
            rows = _read(part)
            if rows is None:
                damaged.append(part)
                continue
            for row in rows:
                if keys is None or row["_key"] in keys:
                    found[row["_key"]] = {name: value for name, value in row.items() if name not in BOOKKEEPING}
        for part in damaged:
            part.replace(part.with_suffix(".damaged"))
        if damaged:
            _LOG.warning("%d damaged part(s) of %s set aside; their trials run again", len(damaged), self.folder)
        return found

    def add(self, row: dict[str, Any]) -> None:
        """Take a finished trial's row; it is on disk two seconds later at the latest."""
        self._rows.append(row)
        if time.monotonic() - self._flushed >= FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is buffered as one part.

        Raises
        ------
        DataError
            If the disk refuses. Parts written earlier are untouched.
        """
        self._flushed = time.monotonic()
        if not self._rows:
            return
        temporary = self.folder / f".{uuid.uuid4().hex}.tmp"
        try:
            pq.write_table(pa.Table.from_pylist(self._rows), temporary)
            name = hashlib.sha256(temporary.read_bytes()).hexdigest()
            os.replace(temporary, self.folder / f"part-{name[:40]}.parquet")  # noqa: PTH105 (the atomic step)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise DataError(
                f"`folder` could not be written any more ({error.strerror or error}): the rows finished earlier are "
                f"safe in {str(self.folder)!r}; make room there and run again, and only the missing ones are computed"
            ) from error
        self._rows = []


def _read(part: Path) -> list[dict[str, Any]] | None:
    """Return a part's rows, None if it is damaged."""
    content = part.read_bytes()
    if part.stem != f"part-{hashlib.sha256(content).hexdigest()[:40]}":
        return None
    try:
        return pq.read_table(pa.BufferReader(content)).to_pylist()
    except (pa.ArrowException, OSError):
        return None
