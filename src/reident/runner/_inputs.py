"""The files that a notebook may read or import: those in its folder."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from reident.base import WORK, foreign_files
from reident.base.outputs import RECORD
from reident.data._paths import notebooks_folder

#: Of a larger file the size and the time of its last change stand for its content, bytes.
_LARGE = 1 << 26

#: Of a folder with more files than this only those directly in it count.
_MOST = 5_000


def digest_beside(notebook: str | Path) -> str:
    """Return a digest of the files in a notebook's folder and below it.

    Not counted: notebooks, files of sweeps, hidden files, outputs of this program. The notebooks of the package read
    nothing there.
    """
    folder = Path(notebook).resolve().parent
    digest = hashlib.sha256()
    if folder == notebooks_folder().resolve():
        return digest.hexdigest()
    files = []
    for file in _below(folder):
        files.append(file)
        if len(files) > _MOST:
            files = list(_directly(folder))
            break
    for file in sorted(files):
        digest.update(f"{file.relative_to(folder).as_posix()}\0{_state(file)}\n".encode())
    return digest.hexdigest()


def _directly(folder: Path) -> Iterator[Path]:
    names = [path.name for path in folder.iterdir() if path.is_file() and _counts(path)]
    if (folder / RECORD).is_file():
        names = foreign_files(folder, names)
    yield from (folder / name for name in names)


def _below(folder: Path) -> Iterator[Path]:
    yield from _directly(folder)
    for path in folder.iterdir():
        left_out = path.name.startswith((".", "__pycache__")) or path.is_symlink() or not path.is_dir()
        if not left_out and not any((path / name).exists() for name in (RECORD, WORK)):
            yield from _below(path)


def _counts(file: Path) -> bool:
    if file.name.startswith(".") or file.suffix == ".ipynb":
        return False
    return file.suffix not in (".yaml", ".yml") or not re.search(rb"^notebook:", file.read_bytes(), re.MULTILINE)


def _state(file: Path) -> str:
    told = file.stat()
    if told.st_size > _LARGE:
        return f"{told.st_size} {told.st_mtime_ns}"
    return hashlib.sha256(file.read_bytes()).hexdigest()
