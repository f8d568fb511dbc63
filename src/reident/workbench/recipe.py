"""A recipe: how a file is read, the roles of its columns, and the chain of methods that makes a release of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from reident.base import (
    DataError,
    Options,
    ParameterError,
    check_choice,
    check_columns,
    check_instance,
    check_listed,
    check_mapping,
    check_several,
    check_share,
    check_text,
)
from reident.data._yaml import read_yaml, text_hint
from reident.methods import find
from reident.workbench.making import MISSING, steps_of
from reident.workbench.opening import OpenedFile, open_file
from reident.workbench.schema import IMPOSSIBLE, INTRUDERS, Schema, write_roles

_READING = ("separator", "decimal", "encoding", "sheet", "layer", "crs", "missing", "text", "names")


@dataclass(frozen=True)
class Recipe:
    """Reading, roles and methods of a release, to be changed by hand, repeated and checked.

    Attributes
    ----------
    file : str
        The file's name, relative to the recipe.
    reading : mapping
        The options of `open_file` that read it.
    schema : Schema
        In the file ``columns``, each with ``role`` (a key of `reident.workbench.schema.ROLES`), ``type``, and where
        wanted ``hierarchy`` and ``called``, its name in a release; ``crs``; ``population``. A released column that
        the original lacks has the role "new" (``word: random`` for one drawn at random) or "derived".
    missing_values : str
        A key of `MISSING`.
    keep : list of str
        Columns to release as they are.
    withhold : list of str
        Columns to leave out of the release, whatever their role: an intruder may know them all the same.
    chain : list of mapping
        The steps in their order: ``method``, where wanted ``columns``, and ``parameters``, each a value or, for
        `assess` to search, a list of values.
    limit, tolerate : float
        The tolerable risk of a person, and the share of persons who may lie above it.
    intruder : {"prosecutor", "journalist"}
        Whether the intruder knows who is in the file.
    impossible : {"leave out", "refuse"}
        Whether a record whose place is not on the earth counts as one without a place, or is an error.
    methods : list of mapping
        What `assess` tries instead of everything that fits: ``method`` and, where wanted, ``parameters``, each a value
        or a list of values.
    """

    file: str = ""
    reading: Options = field(default_factory=dict)
    schema: Schema = field(default_factory=lambda: Schema({}))
    missing_values: str = "label"
    keep: list[str] = field(default_factory=list)
    withhold: list[str] = field(default_factory=list)
    chain: list[Options] = field(default_factory=list)
    limit: float = 0.25
    tolerate: float = 0.0
    intruder: str = INTRUDERS[0]
    impossible: str = IMPOSSIBLE[0]
    methods: list[Options] = field(default_factory=list)

    def write(self, path: str | Path) -> Path:
        """Write the recipe as YAML; `read_recipe` reads it back.

        Raises
        ------
        DataError
            If it cannot be written there.
        """
        values = {name: getattr(self, name) for name in _STATED}
        gaps = "; ".join(f"{name} ({meaning})" for name, meaning in MISSING.items())
        return write_roles(path, values | self.schema.listed(), f"# missing_values: {gaps}\n")


#: The entries of a recipe beside those of its schema.
_STATED = [name for name in Recipe.__dataclass_fields__ if name != "schema"]


def recipe_of(opened: OpenedFile, file: str = "", reading: Options | None = None) -> Recipe:
    """Return the recipe that `open_file` proposes for a file: roles and types, and no method yet."""
    dialect = {name: value for name, value in opened.source.items() if name in _READING and value is not None}
    for name, value in (reading or {}).items():
        if value is not None and (value or name == "missing"):  # no cell but the empty one is missing
            dialect[name] = value
    return Recipe(file=file, reading=dialect, schema=opened.schema)


def open_by_recipe(file: str | Path | None, recipe: Any = None, **reading: Any) -> tuple[OpenedFile, Recipe]:
    """Open a file, or that of a recipe; return it with the recipe, the proposed one where none is given.

    Parameters
    ----------
    file : path or None
    recipe : path or Recipe, optional
        How the file is read; options of `open_file` replace what it says.
    **reading
        Options of `open_file`.

    Raises
    ------
    ParameterError
        If no file is named, or the file lacks a column of the recipe.
    """
    stated = Recipe() if recipe is None else read_recipe_of(recipe)
    if file is None and not stated.file:
        raise ParameterError("`file` or a `recipe` that names one must be given")
    folder = Path(recipe).parent if isinstance(recipe, str | Path) else Path()
    path = folder / stated.file if file is None else file
    options, columns = dict(stated.reading) | reading, stated.schema.columns
    opened = open_file(path, **options, types={name: column.type for name, column in columns.items()})
    for key, names in (("columns", columns), ("keep", stated.keep), ("withhold", stated.withhold)):
        check_columns([*opened.schema.columns], [*names], key, table_name=stated.file or "file", min_columns=0)
    texts = check_several(options.get("text"), "text")
    for name, column in columns.items():
        wanted, found = column.type, opened.schema.columns[name].type
        if wanted not in ("", found) and {wanted, found} != {"integer", "number"} and name not in texts:
            raise ParameterError(f"`type` of {name} must be {found}, as its cells are, or text, got {wanted!r}")
    return opened, recipe_of(opened, str(path), reading) if recipe is None else stated


def read_recipe(path: str | Path) -> Recipe:
    """Read a recipe from YAML, everything in it checked.

    Parameters
    ----------
    path : path
        A YAML file.

    Returns
    -------
    Recipe
        What it says.

    Raises
    ------
    DataError
        If the file cannot be read.
    ParameterError
        If a name, role, method or parameter in it is unknown; the message says which.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Recipe(chain=[{"method": "mondrian", "parameters": {"k": 5}}]).write(f"{folder}/recipe.yaml")
    ...     read_recipe(path).chain
    [{'method': 'mondrian', 'parameters': {'k': 5}}]
    """
    try:
        values = check_mapping(read_yaml(Path(path).read_text("utf-8")), "recipe")
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DataError(f"`recipe` must be a YAML file that can be read, got {str(path)!r}: {error}") from None
    of_schema = ("columns", "crs", "population")
    if "places" in values:
        raise ParameterError(
            "`places` must be left out: the roles latitude and longitude say it, and `crs` beside them"
        )
    for name in values:
        check_choice(name, "recipe", (*_STATED, *of_schema))
    stated = {name: value for name, value in values.items() if value is not None}
    schema = Schema.of_recipe({name: stated.pop(name, None) for name in of_schema}, Path(path).parent)
    recipe = Recipe(schema=schema, **stated)
    for name in check_mapping(recipe.reading, "reading"):
        check_choice(name, "reading", _READING)
    check_text(recipe.file, "file", optional=False)
    for name in ("keep", "withhold"):
        _check_names(getattr(recipe, name), name)
    check_choice(recipe.missing_values, "missing_values", MISSING)
    check_share(recipe.limit, "limit")
    check_share(recipe.tolerate, "tolerate")
    check_choice(recipe.intruder, "intruder", INTRUDERS)
    check_choice(recipe.impossible, "impossible", IMPOSSIBLE)
    for name in ("chain", "methods"):
        if isinstance(getattr(recipe, name), Mapping):
            raise ParameterError(f"`{name}` must be a list of steps, each behind a hyphen, got one without")
        for step in check_listed(getattr(recipe, name), name):
            _check_step(step, name)
    return recipe


def read_recipe_of(recipe: Any) -> Recipe:
    """Return a recipe, read from its file if it is a path."""
    if isinstance(recipe, str | Path):
        return read_recipe(recipe)
    check_instance(recipe, "recipe", Recipe, "`read_recipe` gives it")
    return recipe


def _check_names(names: Any, of: str) -> None:
    """Require a list of texts."""
    if not isinstance(names, list | tuple):
        raise ParameterError(f"`{of}` must be a list of names, got {names!r}")
    for name in names:
        if not isinstance(name, str):
            raise ParameterError(f"`{of}` must hold names, got {name!r}: in quotes it is text{text_hint(name)}")


def _check_step(step: Any, of: str) -> None:
    allowed = {"method", "parameters", *(["columns"] if of == "chain" else [])}
    if set(check_mapping(step, of)) - allowed or "method" not in step:
        raise ParameterError(f"`{of}` must hold steps of {', '.join(sorted(allowed))}, got {dict(step)!r}")
    entry = find(step["method"], "anonymiser")
    if step.get("columns") is not None:
        _check_names(step["columns"], "columns")
    settings = dict(check_mapping(step.get("parameters") or {}, "parameters"))
    for name, value in settings.items():
        if value == []:
            raise ParameterError(f"`{name}` of {entry.name} must have a value or a list of at least one, got []")
    steps_of(step)
