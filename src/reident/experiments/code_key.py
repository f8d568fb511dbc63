"""Identify the code that a trial's numbers depend on, so that changed code never meets an old result."""

import ast
import hashlib
import importlib.metadata
import itertools
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import reident
from reident.base import ParameterError
from reident.data.datasets import data_folder

#: Subpackages whose source never changes a trial's numbers.
PRESENTATION = {"plotting", "pages", "runner", "cli", "workbench", "experiments", "rumap"}
NUMERICAL = ("numpy", "scipy", "numba", "pandas", "scikit-learn", "highspy", "networkx", "shapely", "geopandas")

_PACKAGE = Path(__file__).parents[1]
_IMPORTED = time.time()


@cache
def versions() -> dict[str, str]:
    """Return the version of each library that may change a number."""
    return {name: importlib.metadata.version(name) for name in ("reident", *NUMERICAL)}


def code_key(trial: Callable[..., Any]) -> str:
    """Hash the code behind a trial: its module, the modules beside it and the subpackages it imports, and libraries.

    Comments, docstrings and layout do not count. A function typed into a notebook has no key. A file that was changed
    after this process had imported it is a `ParameterError`: the key would be that of the new code, the numbers old.
    """
    if trial.__module__ == "__main__" or not Path(trial.__code__.co_filename).is_file():
        return "typed into a notebook"
    files, key = _files_and_key(Path(trial.__code__.co_filename))
    for file in files:
        if file.is_relative_to(_PACKAGE) and file.stat().st_mtime > _IMPORTED:
            raise ParameterError(
                f"`cache` cannot be used: {file.relative_to(_PACKAGE)} has changed since it was imported. "
                "Restart the kernel, or store nothing."
            )
    return key


@cache
def _files_and_key(module: Path) -> tuple[list[Path], str]:
    """Return the files that the trials of a module depend on, and the key."""
    waiting, done, followed = [module], dict[Path, str](), set[tuple[str, ...]]()
    while waiting:
        file = waiting.pop()
        if file not in done:
            done[file], imports = _read(file)
            waiting += itertools.chain.from_iterable(map(_files_of, imports - followed))
            followed |= imports
    files = sorted(done)
    parts = [done[file] for file in files]
    parts += [f"{name} {version}" for name, version in versions().items() if name != "reident"]
    registry = data_folder() / "registry.toml"
    parts += [registry.read_text("utf-8")] if registry.is_file() else []
    return files, hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node with all statements in it; expressions hold no docstring and no import."""
    yield node
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, name, ()):
            yield from _statements(child)


@cache
def _read(file: Path) -> tuple[str, set[tuple[str, ...]]]:
    """Return a hash of a module's code without comments, docstrings and layout, and the modules that it imports.

    Its syntax tree is not kept: many of them slow the garbage collector down.
    """
    tree = ast.parse(file.read_text("utf-8"))
    for node in _statements(tree):
        body = getattr(node, "body", ())
        is_text = [isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) for part in body]
        if any(is_text):
            node.body = [part for part, drop in zip(body, is_text, strict=True) if not drop]  # type: ignore[attr-defined]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), _imported(tree)


def _imported(tree: ast.AST) -> set[tuple[str, ...]]:
    """Return the modules of reident that a module imports, as ``("kernels", "places")``."""
    names = set()
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "reident":
            public = [getattr(reident, alias.name) for alias in node.names]
            names |= {getattr(value, "__module__", None) or value.__name__ for value in public}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    if "reident" in names:  # any public name may follow
        names |= {f"reident.{folder.name}" for folder in _PACKAGE.iterdir() if folder.is_dir()}
    return {tuple(name.split(".")[1:]) for name in names if name.startswith("reident.")}


@cache
def _files_of(parts: tuple[str, ...]) -> list[Path]:
    """Return the source files of an import: a whole subpackage, a single module of experiments and the workbench."""
    if parts[0] in PRESENTATION:
        module = _PACKAGE.joinpath(*parts).with_suffix(".py")
        return [module] if parts[0] in ("experiments", "workbench") and module.is_file() else []
    module = _PACKAGE / f"{parts[0]}.py"
    return sorted((_PACKAGE / parts[0]).rglob("*.py")) or ([module] if module.is_file() else [])
