"""The parameters of a notebook: read from its cell tagged `parameters`, checked before anything runs.

papermill only logs a parameter that a notebook does not have, and takes a text where a number belongs; a batch of an
hour would then have computed the wrong thing.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reident.base import DataError, ParameterError, check_plain
from reident.data._yaml import text_hint

__all__ = ["check_parameters", "notebook_cells", "notebook_defaults", "notebook_title"]

_UNKNOWN = object()


def notebook_cells(notebook: str | Path) -> list[dict[str, Any]]:
    """Return the cells of a notebook file, each source as one text."""
    path = Path(notebook)
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return [{**cell, "source": "".join(cell["source"])} for cell in cells]
    except FileNotFoundError:
        raise DataError(f"`notebook` must be a file that is there, got {str(path)!r}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"`notebook` must be a Jupyter notebook, got {str(path)!r}: {error}") from error


def notebook_title(notebook: str | Path) -> str:
    """Return the first heading of a notebook, or its name."""
    for cell in notebook_cells(notebook):
        for line in cell["source"].splitlines() if cell["cell_type"] == "markdown" else []:
            if line.startswith("# "):
                return str(line[2:].strip())
    return Path(notebook).stem


def notebook_defaults(notebook: str | Path) -> dict[str, Any]:
    """Return the parameters of a notebook with their defaults, from its one cell tagged `parameters`.

    Raises
    ------
    DataError
        If the file is no notebook, or no cell or several have the tag.
    """
    tagged = [cell for cell in notebook_cells(notebook) if "parameters" in cell.get("metadata", {}).get("tags", [])]
    if len(tagged) != 1:
        raise DataError(
            f"`notebook` must have exactly one cell tagged 'parameters', got {len(tagged)} in {Path(notebook).name!r}"
        )
    defaults: dict[str, Any] = {}
    try:
        statements = ast.parse(tagged[0]["source"]).body
    except SyntaxError as error:
        raise DataError(f"the parameters cell of {Path(notebook).name!r} is no Python: {error}") from error
    for statement in statements:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        for target in targets:
            defaults |= _assigned(target, getattr(statement, "value", None))
    return defaults


def _assigned(target: ast.expr | None, value: ast.expr | None) -> dict[str, Any]:
    """Return the names that an assignment gives values to, as ``a, b = 1, 2`` does."""
    if isinstance(target, ast.Name):
        return {target.id: _literal(value)}
    if not isinstance(target, ast.Tuple | ast.List):
        return {}
    values: list[ast.expr | None] = [None] * len(target.elts)
    if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(values):
        values = list(value.elts)
    return {
        name: told for one, part in zip(target.elts, values, strict=True) for name, told in _assigned(one, part).items()
    }


def _literal(node: ast.expr | None) -> Any:
    try:
        return _UNKNOWN if node is None else ast.literal_eval(node)
    except ValueError:
        return _UNKNOWN


def notebook_types(notebook: str | Path) -> dict[str, str]:
    """Return the types that the parameters cell of a notebook names, as text."""
    (tagged,) = [cell for cell in notebook_cells(notebook) if "parameters" in cell.get("metadata", {}).get("tags", [])]
    named = [one for one in ast.parse(tagged["source"]).body if isinstance(one, ast.AnnAssign)]
    return {one.target.id: ast.unparse(one.annotation) for one in named if isinstance(one.target, ast.Name)}


_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,), "float": (float, int), "str": (str,), "bool": (bool,), "list": (list, tuple), "tuple": (list, tuple),
    "dict": (dict,), "None": (type(None),),
}  # fmt: skip


def _fits(value: Any, told: ast.expr) -> bool:
    """Tell whether a value is of a type that an annotation names; what is none of the plain types holds anything."""
    if isinstance(told, ast.BinOp):
        return _fits(value, told.left) or _fits(value, told.right)
    if isinstance(told, ast.Subscript) and _fits(value, told.value):
        return not isinstance(value, list | tuple) or all(_fits(one, told.slice) for one in value)
    plain = ast.unparse(told.value if isinstance(told, ast.Subscript) else told)
    return plain not in _TYPES or (
        isinstance(value, _TYPES[plain]) and (plain == "bool" or not isinstance(value, bool))
    )


def check_parameters(
    notebook: str | Path, parameters: Mapping[str, Any], *, defaults: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return `parameters` as a dict if the notebook has each of them, of the type of its default.

    `defaults` are those of the notebook where they have been read before. A whole number is taken where the default
    is a float, a list where it is a tuple; a default of None takes what the parameter's annotation names, any plain
    JSON value without one.

    Raises
    ------
    ParameterError
        If a parameter is unknown to the notebook, has another type, or is not plain JSON.
    DataError
        If the file is no notebook with one parameters cell.
    """
    if defaults is None:
        defaults = notebook_defaults(notebook)
    name_of_notebook = Path(notebook).name
    for name, value in parameters.items():
        if name not in defaults:
            raise ParameterError(
                f"`{name}` must be a parameter of {name_of_notebook}, which has {', '.join(defaults) or 'none'}"
            )
        check_plain(value, name)
        default = defaults[name]
        if default is None and value is not None:
            told = notebook_types(notebook).get(name, "Any")
            if not _fits(value, ast.parse(told, mode="eval").body):
                raise ParameterError(
                    f"`{name}` must be of type {told} as {name_of_notebook} says, got {value!r}{_hint(value)}"
                )
        if default is None or default is _UNKNOWN:
            continue
        kinds = {type(default)}
        if type(value) in (list, tuple) and type(default) in (list, tuple):
            kinds |= {list, tuple}
        _check_type(value, kinds, name, f"its default {default!r} in {name_of_notebook}")
        # Types inside a list, too: NO among countries would be a truth value, 01067 among postcodes a number.
        kinds = {type(one) for one in default} if isinstance(default, list | tuple) else set()
        kinds |= {int, float} if kinds & {int, float} else set()
        for one in value if kinds and type(None) not in kinds else ():
            _check_type(one, kinds, name, f"what its default {default!r} in {name_of_notebook} holds")
    return dict(parameters)


def _check_type(value: Any, kinds: set[type], name: str, of: str) -> None:
    if type(value) in kinds or (float in kinds and type(value) is int):
        return
    named = " or ".join(sorted(kind.__name__ for kind in kinds))
    raise ParameterError(
        f"`{name}` must be of type {named} as {of}, got {value!r} of type {type(value).__name__}{_hint(value)}"
    )


def _hint(value: Any) -> str:
    return next(filter(None, map(text_hint, value if isinstance(value, list | tuple) else [value])), "")
