"""A recipe: how a file is read, the roles of its columns, and the chain of methods that makes a release of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from reident.base import (
    DataError,
    ParameterError,
    check_choice,
    check_instance,
    check_listed,
    check_mapping,
    check_real,
    check_text,
)
from reident.data._yaml import read_yaml, text_hint, write_yaml
from reident.methods import find
from reident.workbench.making import MISSING, settings_of
from reident.workbench.opening import OpenedFile, open_file
from reident.workbench.schema import ROLES, Schema

__all__ = ["Recipe", "read_recipe", "recipe_of"]

#: Roles of released columns that the original lacks: what `--new` and `--derived` of `reident check` say.
DECLARED = ("new", "derived")
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
        wanted ``hierarchy`` and ``called``, its name in a release; ``places``; ``population``. A released column that
        the original lacks has the role "new" (``word: random`` for one drawn at random) or "derived".
    public : mapping
        Files that are public: ``area`` (polygons), ``candidates`` (places to swap with).
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
    methods : list of mapping
        What `assess` tries instead of everything that fits: ``method`` and, where wanted, ``parameters``, each a value
        or a list of values.
    """

    file: str = ""
    reading: Mapping[str, Any] = field(default_factory=dict)
    schema: Schema = field(default_factory=lambda: Schema({}))
    public: Mapping[str, Any] = field(default_factory=dict)
    missing_values: str = "label"
    keep: list[str] = field(default_factory=list)
    withhold: list[str] = field(default_factory=list)
    chain: list[Mapping[str, Any]] = field(default_factory=list)
    limit: float = 0.25
    tolerate: float = 0.0
    methods: list[Mapping[str, Any]] = field(default_factory=list)

    def tried(self) -> dict[str, list[dict[str, Any]]]:
        """Return the methods to try by the kind of data they are for, as `risk_utility` takes them."""
        methods: dict[str, list[dict[str, Any]]] = {}
        for step in self.methods:
            entry = find(step["method"], "anonymiser")
            methods.setdefault(entry.data, []).append({"name": entry.name, **(step.get("parameters") or {})})
        return methods

    def open(self, folder: str | Path = ".") -> OpenedFile:
        """Open the file of the recipe, from the folder in which the recipe lies."""
        opened = open_file(Path(folder) / self.file, **dict(self.reading))
        self.check_columns(opened)
        return opened

    def check_columns(self, opened: OpenedFile) -> None:
        """Refuse columns of the recipe that the file does not have.

        Raises
        ------
        ParameterError
            If there is such a column; it is named.
        """
        existing = list(opened.schema.columns)
        for key, names in (("columns", self.schema.columns), ("keep", self.keep), ("withhold", self.withhold)):
            for name in names:
                if name not in existing:
                    raise ParameterError(
                        f"`{key}` of the recipe must be columns of the file, got {name!r}: it has {existing}"
                    )

    def write(self, path: str | Path) -> Path:
        """Write the recipe as YAML; `read_recipe` reads it back.

        Raises
        ------
        DataError
            If it cannot be written there.
        """
        path = Path(path)
        values = {name: getattr(self, name) for name in Recipe.__dataclass_fields__ if name != "schema"}
        roles = {"columns": self.schema.listed(), "places": self.schema.places, "population": self.schema.population}
        plain = {name: value for name, value in (values | roles).items() if value not in (None, {}, [])}
        meanings = "\n".join(f"#   {role}: {meaning}" for role, meaning in ROLES.items())
        head = f"# How a release is made. Confirm the role of each column:\n{meanings}\n"
        head += "# missing_values: " + "; ".join(f"{name} ({meaning})" for name, meaning in MISSING.items()) + "\n"
        try:
            path.write_text(head + write_yaml(plain), encoding="utf-8")
        except OSError as error:
            raise DataError(f"`out` must be a file that can be written, got {str(path)!r}: {error}") from None
        return path

    def steps(self) -> Iterator[tuple[Any, dict[str, Any], list[str] | None]]:
        """Yield each step of the chain as its entry of the registry, its parameters and its columns."""
        for step in self.chain:
            columns = step.get("columns")
            yield find(step["method"], "anonymiser"), dict(step.get("parameters") or {}), columns and list(columns)


def recipe_of(opened: OpenedFile, file: str = "", reading: Mapping[str, Any] | None = None) -> Recipe:
    """Return the recipe that `open_file` proposes for a file: roles and types, and no method yet."""
    dialect = {name: value for name, value in opened.source.items() if name in _READING and value is not None}
    chosen = {
        name: value
        for name, value in (reading or {}).items()
        if value is not None and (value or name == "missing")  # no cell but the empty one is missing
    }
    return Recipe(file=file, reading=dialect | chosen, schema=opened.schema)


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
        values = read_yaml(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DataError(f"`recipe` must be a YAML file that can be read, got {str(path)!r}: {error}") from None
    check_mapping(values, "recipe")
    of_schema = ("columns", "places", "population")
    for name in values:
        check_choice(name, "recipe", (*(set(Recipe.__dataclass_fields__) - {"schema"}), *of_schema))
    stated = {name: value for name, value in values.items() if value is not None}
    schema = _read_schema({name: stated.pop(name) for name in of_schema if name in stated}, Path(path).parent)
    recipe = Recipe(schema=schema, **stated)
    for name in check_mapping(recipe.reading, "reading"):
        check_choice(name, "reading", _READING)
    check_text(recipe.file, "file", optional=False)
    for name in ("keep", "withhold"):
        _check_names(getattr(recipe, name), name)
    for name, file in check_mapping(recipe.public, "public").items():
        check_text(file, f"public: {name}", optional=False)
    check_choice(recipe.missing_values, "missing_values", tuple(MISSING))
    check_real(recipe.limit, "limit", low=0, high=1)
    check_real(recipe.tolerate, "tolerate", low=0, high=1)
    for name in ("chain", "methods"):
        for step in check_listed(getattr(recipe, name), name):
            _check_step(step, name)
    return recipe


def read_recipe_of(recipe: Any) -> Recipe:
    """Return a recipe, read from its file if it is a path."""
    if isinstance(recipe, str | Path):
        return read_recipe(recipe)
    check_instance(recipe, "recipe", Recipe, "`read_recipe` gives it")
    given: Recipe = recipe
    return given


def _read_schema(values: Mapping[str, Any], folder: Path) -> Schema:
    """Return the schema of a recipe's columns, places and population, each checked."""
    columns = check_mapping(values.get("columns", {}), "columns")
    for name, column in columns.items():
        check_text(name, "columns", optional=False)
        role = check_mapping(column, f"columns: {name}").get("role", "other")
        check_choice(role, f"role of {name}", (*ROLES, *DECLARED))
    places, population = values.get("places"), values.get("population")
    if places is not None:
        for name in check_mapping(places, "places"):
            check_choice(name, "places", ("lat", "lon", "crs", "impossible"))
        for name in ("lat", "lon"):
            check_text(places.get(name), f"places: {name}", optional=False)
    if population is not None:
        check_real(population, "population", low=1)
    beside = {name: _beside(column, folder) for name, column in columns.items()}
    return Schema.of(beside, places=places, population=population)


def _check_names(names: Any, of: str) -> None:
    """Require a list of texts."""
    if not isinstance(names, list | tuple):
        raise ParameterError(f"`{of}` must be a list of names, got {names!r}")
    for name in names:
        if not isinstance(name, str):
            raise ParameterError(f"`{of}` must hold names, got {name!r}: in quotes it is text{text_hint(name)}")


def _beside(column: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """Return a column with the path of its hierarchy file, which may lie beside the recipe."""
    form = column.get("hierarchy")
    name = form.get("file") if isinstance(form, Mapping) else form
    if not isinstance(name, str) or Path(name).is_file() or not (folder / name).is_file():
        return column
    return {**column, "hierarchy": str(folder / name)}


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
    settings_of(entry, {name: value if isinstance(value, list) else [value] for name, value in settings.items()})
