"""Output folders: a record lists the files that the program wrote, and only these are ever removed or replaced."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from reident.base.errors import DataError
from reident.base.lock import occupied

#: In a folder: the files that the program wrote there, each with the digest of its content.
RECORD = ".reident.json"

#: Inside an output folder: unfinished work, which the program may remove.
WORK = ".work"

#: In it: the file that the process at work there has locked.
LOCK = "lock"


def foreign_files(folder: Path, names: Collection[str] | None = None) -> list[str]:
    """List the files of a folder that the program did not write, or that were changed since.

    Parameters
    ----------
    folder : path
        The output folder.
    names : collection of str, optional
        Files and subfolders in it to look at; default: all but ``.work``.

    Returns
    -------
    list of str
        Paths relative to the folder. A symbolic link is foreign.
    """
    written = _written(folder)
    return sorted(name for name, file in _files(folder, names) if written.get(name, "") != _digest(file))


def check_replaceable(folder: Path, names: Collection[str] | None = None, parameter: str = "out") -> None:
    """Refuse a folder, or some names in it, where a file would be lost that the program did not write.

    Raises
    ------
    DataError
        If the folder holds such a file, or is none.
    """
    if (folder.exists() and not folder.is_dir()) or (names is None and folder.is_symlink()):
        raise DataError(f"`{parameter}` must be a folder that can be written, got the file or link {str(folder)!r}")
    foreign = foreign_files(folder, names) if folder.exists() else []
    if foreign:
        listed = ", ".join(foreign[:3]) + (f" and {len(foreign) - 3} more" if len(foreign) > 3 else "")
        raise DataError(
            f"`{parameter}` must not hold files that would be lost: {listed} in {str(folder)!r} were not written by "
            "reident, or were changed since; move them, or take another folder"
        )


def record_files(folder: Path, names: Collection[str] | None = None) -> None:
    """Add files and subfolders with these names to the record of a folder; default: record all that it holds."""
    _write(folder, ({} if names is None else _written(folder)) | _digests(folder, names))


def remove_recorded(folder: Path) -> None:
    """Remove the files of a folder that its record names, and the subfolders that are empty then."""
    written = _written(folder)
    for name, file in _files(folder):
        if written.get(name, "") == _digest(file):
            file.unlink()
            for parent in list(PurePosixPath(name).parents)[:-1]:
                with contextlib.suppress(OSError):  # other files are in it
                    (folder / parent).rmdir()


def keep_private(folder: Path) -> None:
    """Let only this user read a folder and all files in it."""
    for place, _, files in os.walk(folder):
        Path(place).chmod(0o700)
        for name in files:
            (Path(place) / name).chmod(0o600)


def private_file(path: Path) -> Path:
    """Create a file that only this user can read, or close one that is there; return its path.

    Raises
    ------
    DataError
        If it cannot be written.
    """
    try:
        path.touch(0o600)
        path.chmod(0o600)
    except OSError as error:
        raise DataError(f"`out` must be a file that can be written, got {str(path)!r}: {error}") from None
    return path


def move_files(source: Path, out: Path, *, last: str) -> None:
    """Put the files of a finished folder in place of those that the record of an output folder names.

    Parameters
    ----------
    made : path
        The finished folder, on the same file system; it is removed.
    out : path
        The output folder.
    last : str
        The name that is moved last: where it is there, everything is.
    """
    names = sorted((path.name for path in source.iterdir()), key=lambda name: name == last)
    check_replaceable(out, names)
    remove_recorded(out)
    _write(out, _digests(source))  # before the files: a killed process leaves none that is not in the record
    for name in names:
        with contextlib.suppress(OSError):
            (out / name).rmdir()  # an empty folder
        (source / name).replace(out / name)
    source.rmdir()


@contextlib.contextmanager
def working(out: Path, *, private: bool = False) -> Iterator[tuple[Path, str]]:
    """Create the folder of unfinished work in an output folder, for this user and this process alone.

    Parameters
    ----------
    out : path
        The output folder.
    private : bool, default False
        Whether only this user may read the output folder, where it is created here.

    Yields
    ------
    tuple of path and str
        The folder, and a token of this process.

    Raises
    ------
    DataError
        If the folder cannot be written, was not made by the program, or another process works there.
    """
    work = out / WORK
    try:
        if work.is_symlink() or (work.exists() and any(work.iterdir()) and not _is_unfinished(work)):
            raise DataError(
                f"`out` must not hold a folder {WORK} that reident did not make, got {str(work)!r}: move it, "
                "or take another folder"
            )
        out.mkdir(0o700 if private else 0o777, parents=True, exist_ok=True)
        work.mkdir(exist_ok=True)
        _claim(work)
        with tempfile.TemporaryFile(dir=work) as probe:
            probe.write(b"\0" * 4096)
    except OSError as error:
        reason = error.strerror or error
        raise DataError(f"`out` must be a folder that can be written, got {str(out)!r}: {reason}") from error
    with occupied(work / LOCK, "out", out) as token:
        yield work, token


def publish_folder(target: Path, fill: Callable[[Path], Any], *, replace: bool = False, parameter: str = "out") -> None:
    """Fill a temporary folder beside the target, then rename it: the target is complete or absent.

    What a killed process left in the temporary folder is removed by the next one with this target.

    Parameters
    ----------
    target : path
        The folder to create.
    fill : callable
        Writes the files into the folder that it is given.
    replace : bool, default False
        Whether an earlier folder is replaced, if its record names all that it holds.
    parameter : str
        The name of the target in errors.

    Raises
    ------
    DataError
        If the target must not be replaced, or cannot be written.
    """
    if replace:
        check_replaceable(target, parameter=parameter)
    unfinished = target.parent / f".{target.name}.unfinished"
    try:
        with working(unfinished, private=True) as (place, _):
            filled, earlier = place / "made", place / "earlier"
            for left in (filled, earlier):
                shutil.rmtree(left, ignore_errors=True)
            try:
                filled.mkdir()
                fill(filled)
                if replace:
                    record_files(filled)
                    if target.exists():
                        target.replace(earlier)
                os.rename(filled, target)  # noqa: PTH104 (fails where the target has appeared and is not empty)
            finally:
                shutil.rmtree(unfinished, ignore_errors=True)
    except OSError as error:
        raise DataError(
            f"`{parameter}` must be in a folder that can be written, got {str(target)!r}: {error.strerror or error}"
        ) from None


def _claim(folder: Path) -> None:
    folder.chmod(0o700)
    (folder / RECORD).write_text('{"unfinished": true}', encoding="utf-8")


def _is_unfinished(folder: Path) -> bool:
    return not folder.is_symlink() and _load(folder).get("unfinished") is True


def _load(folder: Path) -> dict[str, Any]:
    try:
        record = json.loads((folder / RECORD).read_bytes())
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _written(folder: Path) -> dict[str, str]:
    files = _load(folder).get("files")
    return files if isinstance(files, dict) else {}


def _write(folder: Path, digests: dict[str, str]) -> None:
    temporary = folder / f"{RECORD}~"
    temporary.touch(0o600)
    temporary.write_text(json.dumps({"files": digests}, indent=0, sort_keys=True), encoding="utf-8")
    temporary.replace(folder / RECORD)


def _digests(folder: Path, names: Collection[str] | None = None) -> dict[str, str]:
    return {name: digest for name, file in _files(folder, names) if (digest := _digest(file))}


def _files(folder: Path, names: Collection[str] | None = None) -> Iterator[tuple[str, Path]]:
    """Walk the files and links below a folder; no link is followed."""
    for path in sorted(folder.iterdir()) if names is None else [folder / name for name in names]:
        if path.name in (RECORD, WORK) or not os.path.lexists(path):
            continue
        if path.is_symlink() or not path.is_dir():
            yield path.relative_to(folder).as_posix(), path
            continue
        for place, folders, files in os.walk(path):
            links = [name for name in folders if (Path(place) / name).is_symlink()]
            for name in [*files, *links]:
                file = Path(place) / name
                yield file.relative_to(folder).as_posix(), file


def _digest(file: Path) -> str | None:
    """Return the digest of a regular file, None of anything else."""
    if file.is_symlink() or not file.is_file():
        return None
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
