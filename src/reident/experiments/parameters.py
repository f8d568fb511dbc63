"""Check the parameters of a notebook before anything runs: names, types, ranges and own files."""

import ast
import hashlib
import json
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from reident.base import Choice, Flag, Option, ParameterError, Real, Whole


class ExistingFile(Option):
    """The name of a file that exists, or an empty text."""

    def check(self, value: Any, name: str) -> str:
        """Return the name, or raise `ParameterError`."""
        if not isinstance(value, str) or (value and not Path(value).is_file()):
            raise ParameterError(f'`{name}` must be an existing file or "", got {value!r}')
        return value


class _Text(Option):
    """Any text."""

    def check(self, value: Any, name: str) -> str:
        if not isinstance(value, str):
            raise ParameterError(f"`{name}` must be a text, got {value!r}")
        return value


#: Rules of the parameters that every notebook has.
COMMON = {
    "n_datasets": Whole(1, 10_000),
    "repetitions": Whole(1, 10_000),
    "seed": Whole(0, 2**32),
    "jobs": Whole(1, 256),
    "width_mm": Real(50, 400, unit="mm"),
    "figure_format": Choice("png", "pdf", "svg"),
}

_BY_TYPE = {int: Whole(), float: Real(), str: _Text(), bool: Flag()}


def check_parameters(namespace: dict[str, Any], rules: Mapping[str, Option] | None = None) -> None:
    """Check the parameters of the notebook that calls this, in place.

    The parameters are the annotated names of the notebook's `parameters` cell. Each value must be of the annotated
    type (``int``, ``float``, ``str``, ``bool``, or a ``list`` of one of these: at least one value, none twice) and
    follow its rule. Papermill only logs unknown names: here they are refused. A list that ``papermill -p`` hands over
    as a text is read as a list. Call this in the first cell after the parameters::

        check_parameters(globals(), {"sigmas_deg": Real(0, 0.2, unit="degrees", open_low=True)})

    Parameters
    ----------
    namespace : dict
        The notebook's ``globals()``.
    rules : mapping of name to option of `reident.base`, optional
        Ranges and choices, for a list of each of its values. The names in `COMMON` have rules already.

    Raises
    ------
    ParameterError
        If a name is unknown, or a value is of another type or breaks its rule.
    """
    annotations = {name: kind for name, kind in namespace.get("__annotations__", {}).items() if name in namespace}
    if unknown := [name for name in _injected(namespace) if name not in annotations]:
        raise ParameterError(f"`{unknown[0]}` is no parameter of this notebook, which has {', '.join(annotations)}")
    if absent := (rules or {}).keys() - annotations.keys():
        raise ParameterError(f"`{min(absent)}` has a rule but is no annotated name of the `parameters` cell")
    for name, kind in annotations.items():
        is_list = typing.get_origin(kind) is list
        inner = typing.get_args(kind)[0] if is_list else kind
        if inner not in _BY_TYPE:
            if name in (rules or {}):
                raise ParameterError(f"`{name}` must be annotated with int, float, str, bool or a list of these")
            continue  # a name of a later cell
        rule = {**COMMON, **(rules or {})}.get(name, _BY_TYPE[inner])
        namespace[name] = _checked_list(namespace[name], name, rule) if is_list else rule.check(namespace[name], name)


def _checked_list(value: Any, name: str, rule: Option) -> list[Any]:
    """Return a list of distinct values that follow the rule, or raise `ParameterError`."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except ValueError:
            raise ParameterError(f"`{name}` must be a list, such as [1, 2], got {value!r}") from None
    if not isinstance(value, list | tuple) or not value:
        raise ParameterError(f"`{name}` must be a list of at least one value, got {value!r}")
    checked = [rule.check(part, name) for part in value]
    if repeated := [part for number, part in enumerate(checked) if part in checked[:number]]:
        raise ParameterError(f"`{name}` must give each value once, got {repeated[0]!r} twice")
    return checked


def _injected(namespace: dict[str, Any]) -> list[str]:
    """Return the names that papermill sets, from the source of the cell that it adds.

    Read from the source, so that the check may be repeated in JupyterLab after other cells were run.
    """
    names = []
    for source in namespace.get("In", ()):
        if source.startswith("# Parameters\n"):
            for node in ast.parse(source).body:
                names += [target.id for target in getattr(node, "targets", ()) if isinstance(target, ast.Name)]
    return names


def pinned(path: str) -> str:
    """Return a file's name with a digest of its content, so that stored trials of an older content are not used."""
    return f"{path}#{hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]}" if path else ""


def unpinned(pin: str, name: str) -> str:
    """Return the path in a pin, or raise `ParameterError` with the parameter's name if the content has changed."""
    path, sign, _ = pin.partition("#")
    if sign and pinned(path) != pin:
        raise ParameterError(f"`{name}` has changed since the run began: {path}. Run the notebook again.")
    return path


def read_own(pin: str, name: str, columns: Iterable[str] = ()) -> pd.DataFrame:
    """Read a pinned CSV file, or raise `ParameterError` if it has changed or lacks a column."""
    table = pd.read_csv(unpinned(pin, name))
    if missing := {*columns} - {*table}:
        raise ParameterError(f"`{name}` must have a column `{min(missing)}`, got {', '.join(table)}")
    return table
