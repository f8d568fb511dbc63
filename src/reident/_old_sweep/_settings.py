"""What a grid says: its settings, checked, in the order of the rows."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reident._old_sweep._parts import BOOKKEEPING
from reident.base import ParameterError, check_plain

__all__ = ["Settings", "expand"]

Settings = Mapping[str, Iterable[Any]] | Sequence[Mapping[str, Any]]


def expand(grid: Settings) -> list[dict[str, Any]]:
    """Return every setting of a grid, in the order of the rows.

    Parameters
    ----------
    grid : mapping of str to values, or sequence of mappings
        A mapping gives the product of its values, the last name varying fastest; a sequence gives its settings as
        they are. Values are plain JSON: None, bool, int, float, str, and lists and dicts of these.

    Raises
    ------
    ParameterError
        If the grid is empty, a value is no plain JSON (the message names the parameter), or a setting comes twice.

    Examples
    --------
    >>> expand({"k": [2, 3], "method": ["mdav"]})
    [{'k': 2, 'method': 'mdav'}, {'k': 3, 'method': 'mdav'}]
    """
    if isinstance(grid, Mapping):
        if not grid:
            raise ParameterError("`grid` must hold at least one parameter, got none")
        for name, values in grid.items():
            if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
                raise ParameterError(f"`grid` must give a list of values for {name!r}, got {values!r}")
        columns = {name: list(values) for name, values in grid.items()}
        empty = [name for name, values in columns.items() if not values]
        if empty:
            raise ParameterError(f"`grid` must give at least one value for {empty[0]!r}, got none")
        settings = [dict(zip(columns, values, strict=True)) for values in itertools.product(*columns.values())]
    elif isinstance(grid, Sequence) and not isinstance(grid, str | bytes):
        if not all(isinstance(setting, Mapping) for setting in grid):
            raise ParameterError("`grid` must be a mapping of lists or a list of mappings, got a list of other things")
        settings = [dict(setting) for setting in grid]
    else:
        raise ParameterError(f"`grid` must be a mapping of lists or a list of mappings, got {type(grid).__name__}")
    if not settings:
        raise ParameterError("`grid` must hold at least one setting, got none")
    _check_settings(settings)
    return settings


def _check_settings(settings: list[dict[str, Any]]) -> None:
    seen: dict[str, int] = {}
    for position, setting in enumerate(settings):
        for name, value in setting.items():
            if not isinstance(name, str) or not name:
                raise ParameterError(f"`grid` must name its parameters by text, got {name!r}")
            if name in BOOKKEEPING:
                raise ParameterError(f"`grid` must not use the name {name!r}: it is a column of the result")
            check_plain(value, name)
        same = json.dumps(_numbers_alike(setting), sort_keys=True)
        if same in seen:
            raise ParameterError(
                f"`grid` must hold each setting once, got {setting!r} at positions {seen[same]} and {position}"
            )
        seen[same] = position


def _numbers_alike(value: Any) -> Any:
    """Write 1.0 as 1, since a frame's column cannot tell them apart."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _numbers_alike(item) for key, item in value.items()}
    return [_numbers_alike(item) for item in value] if isinstance(value, list) else value
