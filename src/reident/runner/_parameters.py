"""Read a notebook: its cells, title and parameters, and a digest of the files that it may read.

papermill only logs a parameter that a notebook does not have, and takes a text where a number belongs: here both are
refused before anything runs.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reident.base import WORK, DataError, ParameterError, check_plain, foreign_files
from reident.base.outputs import RECORD
from reident.data._yaml import text_hint
from reident.data.datasets import notebooks_folder

#: Default of a parameter that is no literal: any value is accepted.
_COMPUTED = object()

#: Files above this size, bytes, enter a digest by size and time of change.
_LARGE = 1 << 26


def notebook_cells(notebook: str | Path) -> list[dict[str, Any]]:
    """Return the cells of a notebook file, each source as one text."""
    path = Path(notebook)
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return [{**cell, "source": "".join(cell["source"])} for cell in cells]
    except FileNotFoundError:
        raise DataError(f"`notebook` must be an existing file, got {str(path)!r}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"`notebook` must be a Jupyter notebook, got {str(path)!r}: {error}") from error


def notebook_sources(notebook: str | Path, kind: str) -> list[str]:
    """Return the source of each cell of a kind, ``"code"`` or ``"markdown"``."""
    return [cell["source"] for cell in notebook_cells(notebook) if cell["cell_type"] == kind]


def notebook_title(notebook: str | Path) -> str:
    """Return the first heading of a notebook, or its name."""
    heading = re.search(r"^# (.+)$", "\n".join(notebook_sources(notebook, "markdown")), re.MULTILINE)
    return heading[1].strip() if heading else Path(notebook).stem


def notebook_defaults(notebook: str | Path) -> dict[str, Any]:
    """Return the parameters of a notebook with their defaults, from its one cell tagged `parameters`.

    A file that is no notebook, or has no such cell or several, is a `DataError`.
    """
    return {name: default for name, (default, _) in _assignments(notebook).items()}


def _assignments(notebook: str | Path) -> dict[str, tuple[Any, ast.expr | None]]:
    """Return default and annotation of each parameter."""
    tagged = [cell for cell in notebook_cells(notebook) if "parameters" in cell.get("metadata", {}).get("tags", [])]
    if len(tagged) != 1:
        raise DataError(
            f"`notebook` must have exactly one cell tagged 'parameters', got {len(tagged)} in {Path(notebook).name!r}"
        )
    try:
        statements = ast.parse(tagged[0]["source"]).body
    except SyntaxError as error:
        raise DataError(f"the parameters cell of {Path(notebook).name!r} is not valid Python: {error}") from error
    assignments: dict[str, tuple[Any, ast.expr | None]] = {}
    for statement in statements:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            default = _literal(statement.value), getattr(statement, "annotation", None)
            assignments |= {target.id: default for target in targets if isinstance(target, ast.Name)}
    return assignments


def _literal(node: ast.expr | None) -> Any:
    try:
        return _COMPUTED if node is None else ast.literal_eval(node)
    except ValueError:
        return _COMPUTED


def check_parameters(notebook: str | Path, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return `parameters` as a dict if the notebook has each of them, of the type of its default.

    Integers are accepted for floats, lists for tuples. Elements of a list must be of a type in the default list. Where
    the default is None, the annotation gives the type. A parameter that is unknown, of another type, or not plain JSON
    is a `ParameterError`, a file that is no notebook a `DataError`.
    """
    assignments, file = _assignments(notebook), Path(notebook).name
    for name, value in parameters.items():
        if name not in assignments:
            raise ParameterError(
                f"`{name}` must be a parameter of {file}, which has {', '.join(assignments) or 'none'}"
            )
        check_plain(value, name)
        default, annotation = assignments[name]
        kind = ast.unparse(annotation) if default is None and annotation is not None else _kind_of(default)
        if not _fits(value, ast.parse(kind, mode="eval").body):
            parts = value if isinstance(value, list) else [value]
            hint = next(filter(None, map(text_hint, parts)), "")
            if "str" in kind and any(isinstance(part, int | float) for part in parts):
                hint = ": in quotes it is text"
            raise ParameterError(f"`{name}` must be of type {kind} in {file}, got {value!r}{hint}")
    return dict(parameters)


def _kind_of(default: Any) -> str:
    """Return the type of a default as an annotation; a tuple is given as a list."""
    if isinstance(default, list | tuple):
        kinds = " | ".join(dict.fromkeys(map(_kind_of, default)))
        return f"list[{kinds}]" if kinds else "list"
    return "Any" if default is None or default is _COMPUTED else type(default).__name__


_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,), "float": (float, int), "str": (str,), "bool": (bool,), "list": (list,), "tuple": (list,),
    "dict": (dict,), "None": (type(None),),
}  # fmt: skip


def _fits(value: Any, annotation: ast.expr) -> bool:
    """Return whether a value has the type of an annotation; annotations of other types accept any value."""
    if isinstance(annotation, ast.BinOp):
        return _fits(value, annotation.left) or _fits(value, annotation.right)
    if isinstance(annotation, ast.Subscript):
        parts = value if isinstance(value, list) else []
        return _fits(value, annotation.value) and all(_fits(part, annotation.slice) for part in parts)
    kinds = _TYPES.get(ast.unparse(annotation))
    return kinds is None or (isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool)))


def digest_of_inputs(folder: Path) -> str:
    """Return a digest of the files in a notebook's folder and below it, which it may read or import.

    Notebooks, files of batches, hidden files and outputs of this program do not count.
    """
    digest = hashlib.sha256()
    if folder != notebooks_folder().resolve():
        for file in sorted(_inputs(folder)):
            digest.update(f"{file.relative_to(folder).as_posix()}\0{_state(file)}\n".encode())
    return digest.hexdigest()


def _inputs(folder: Path, depth: int = 3) -> Iterator[Path]:
    """Yield the files of a folder, and of its subfolders to a depth that keeps a home folder from being read whole."""
    visible = [path for path in folder.iterdir() if not path.name.startswith((".", "__pycache__"))]
    names = [path.name for path in visible if path.is_file() and not _is_batch(path)]
    if (folder / RECORD).is_file():
        names = foreign_files(folder, names)
    yield from (folder / name for name in names)
    for path in visible:
        has_outputs = (path / RECORD).exists() or (path / WORK).exists()
        if depth and path.is_dir() and not path.is_symlink() and not has_outputs:
            yield from _inputs(path, depth - 1)


def _is_batch(file: Path) -> bool:
    return file.suffix == ".ipynb" or (
        file.suffix in (".yaml", ".yml") and bool(re.search(rb"^notebook:", file.read_bytes(), re.MULTILINE))
    )


def _state(file: Path) -> str:
    status = file.stat()
    if status.st_size > _LARGE:
        return f"{status.st_size} {status.st_mtime_ns}"
    return hashlib.sha256(file.read_bytes()).hexdigest()
