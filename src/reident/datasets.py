"""Real data sets and the embedded ones: `load_*` functions that check what they read.

Nothing is fetched at import or in a default run. A real data set is looked for in the folder named by the environment
variable ``REIDENT_DATA``, then in pooch's cache, then at its URL; its sha256 must be the one in ``data/registry.toml``.
Embedded files are part of the package and are checked against ``data/registry.toml`` in the tests.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from reident._paths import data_folder
from reident._validation import check_choice
from reident.errors import DataError

__all__ = ["embedded_file", "remote_file"]


@cache
def registry() -> dict[str, dict[str, Any]]:
    """Return what ``data/registry.toml`` says: file name -> sha256, url (remote files), licence, source."""
    with (data_folder() / "registry.toml").open("rb") as file:
        return tomllib.load(file)


def embedded_file(name: str) -> Path:
    """Return the path of a file that travels with the package."""
    path = data_folder() / name
    if not path.is_file():
        raise DataError(f"the embedded file {name!r} is missing from {data_folder().name}/: is the checkout complete?")
    return path


def remote_file(name: str) -> Path:
    """Return the path of a real data set's file, fetched if need be, its checksum verified.

    Parameters
    ----------
    name : str
        A file named in ``data/registry.toml``, for example ``"casc/census.csv"``.

    Raises
    ------
    DataError
        If the file is nowhere to be had or is not the one it should be. The message says what is missing, where it
        comes from, which checksum it must have and where to put it.
    """
    entry = registry()[check_choice(name, "name", sorted(registry()))]
    folder = os.environ.get("REIDENT_DATA")
    if folder and (Path(folder) / name).is_file():
        return _verified(Path(folder) / name, entry["sha256"])
    advice = (
        f"put it at $REIDENT_DATA/{name} (sha256 {entry['sha256']}; source: {entry['source']}; "
        f"licence: {entry['licence']}; REIDENT_DATA is {folder or 'not set'})"
    )
    if not entry.get("url"):
        raise DataError(f"the data set {name!r} is not here and is never downloaded: {advice}")
    import pooch

    try:
        fetched = pooch.retrieve(
            entry["url"],
            known_hash=f"sha256:{entry['sha256']}",
            fname=name.replace("/", "_"),
            path=pooch.os_cache("reident"),
        )
    except Exception as error:
        raise DataError(
            f"the data set {name!r} could not be fetched from {entry['url']} ({error}): {advice}"
        ) from error
    return Path(fetched)


def _verified(path: Path, sha256: str) -> Path:
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        raise DataError(
            f"the file {path.name!r} has sha256 {found}, expected {sha256}: it is damaged or another edition"
        )
    return path
