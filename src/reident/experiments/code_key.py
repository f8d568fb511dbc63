"""Identify the code that a trial's numbers depend on, so that changed code never meets an old result."""

import dis
import hashlib
import importlib.metadata
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import CodeType
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
        if file.stat().st_mtime > _IMPORTED and file.is_relative_to(_PACKAGE):
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


@cache
def _read(file: Path) -> tuple[str, set[tuple[str, ...]]]:
    """Return a hash of a module's compiled code, without docstrings and line numbers, and the modules it imports."""
    code = compile(file.read_text("utf-8"), "", "exec", optimize=2, dont_inherit=True)
    parts = list(_parts(code))
    described = [
        (_steps(part), part.co_exceptiontable, part.co_names, part.co_varnames, part.co_freevars, part.co_flags,
         part.co_argcount, part.co_posonlyargcount, part.co_kwonlyargcount, [*map(_constant, part.co_consts)])
        for part in parts
    ]  # fmt: skip
    return hashlib.sha256(repr(described).encode()).hexdigest(), _imported(parts)


def _parts(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a module and of all functions and classes in it."""
    yield code
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _parts(value)


def _steps(code: CodeType) -> bytes:
    """Return the instructions of compiled code without those that do nothing, such as one where a docstring was."""
    pairs = zip(code.co_code[::2], code.co_code[1::2], strict=True)
    return bytes(itertools.chain.from_iterable(pair for pair in pairs if pair[0] != dis.opmap["NOP"]))


def _constant(value: object) -> object:
    """Return a constant as it is written in each process the same: code by its name, a set in order."""
    if isinstance(value, CodeType):
        return value.co_qualname
    return sorted(map(repr, value)) if isinstance(value, frozenset) else value


def _imported(parts: Sequence[CodeType]) -> set[tuple[str, ...]]:
    """Return the modules of reident that code imports, as ``("kernels", "places")``."""
    names = set()
    for part in parts:
        if not any(name.split(".")[0] == "reident" for name in part.co_names):
            continue
        for before, step in itertools.pairwise(dis.get_instructions(part)):
            if step.opname != "IMPORT_NAME":
                continue
            module, listed = step.argval, before.argval or ()  # the names after `from module import`
            if module == "reident" and listed:
                public = [getattr(reident, name) for name in listed]
                names |= {getattr(value, "__module__", None) or value.__name__ for value in public}
            else:
                names |= {module, *(f"{module}.{name}" for name in listed)}
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
