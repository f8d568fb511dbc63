"""What code and which libraries a result came from, as one digest: changed code never meets an old result."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

from reident.data._paths import data_folder

_PACKAGE = Path(__file__).resolve().parent.parent

#: What no trial may import, as a test of the layers makes sure, nor the figures of studies: it changes no row.
_ABOVE = ("plotting", "runner", "cli")

#: Libraries whose version may change a number.
_NUMERICAL = ("numpy", "scipy", "numba", "pandas", "scikit-learn", "highspy", "networkx", "shapely", "geopandas")


def _digest(files: Iterable[Path], root: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.relative_to(root).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _draws(path: Path) -> bool:
    return path.parts[0].removesuffix(".py") in _ABOVE or path.name.startswith("figures")


def package_digest(*, trials_only: bool = False) -> str:
    """Hash the package's sources and the registry of its data, as they are on disk now.

    `trials_only` leaves out what no trial reads: figures, the runner and the command line.
    """
    files = [file for file in _PACKAGE.rglob("*.py") if "__pycache__" not in file.parts]
    if trials_only:
        files = [file for file in files if not _draws(file.relative_to(_PACKAGE))]
    registry = data_folder() / "registry.toml"
    registered = hashlib.sha256(registry.read_bytes()).hexdigest() if registry.is_file() else ""
    return hashlib.sha256(f"{_digest(files, _PACKAGE)} {registered}".encode()).hexdigest()


#: The sources as this process found them when it imported the package.
IMPORTED_DIGEST = package_digest(trials_only=True)


@cache
def versions(names: tuple[str, ...] = _NUMERICAL) -> dict[str, str]:
    """Return the installed version of each library, "" for one that is absent."""
    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = ""
    return found


def function_digest(function: Callable[..., Any]) -> str:
    """Hash the code of a function: its module's file, or for one typed into a notebook its own source."""
    module = inspect.getmodule(function)
    if module is not None and module.__name__ != "__main__" and _source_file(module) is not None:
        if module.__name__.partition(".")[0] == "reident":
            return ""  # covered by `package_digest`
        return hashlib.sha256(_source_file(module).read_bytes()).hexdigest()  # type: ignore[union-attr]
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        text = repr((code.co_code, code.co_consts, code.co_names)) if code else repr(function)
    return hashlib.sha256(text.encode()).hexdigest()


def _source_file(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file) if file and Path(file).is_file() else None
