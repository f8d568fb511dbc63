"""A recipe: how a file is read, the roles of its columns, and the chain of methods that makes a release of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from reident.base import DataError, ParameterError, check_choice, check_listed, check_mapping, check_real, check_text
from reident.data._yaml import read_yaml, text_hint, write_yaml
from reident.methods import find
from reident.workbench.making import MISSING, settings_of
from reident.workbench.opening import OpenedFile, open_file
from reident.workbench.roles import ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    columns : mapping of str to mapping
        Column -> ``role`` (a key of `reident.workbench.roles.ROLES`), ``type``, and where wanted ``hierarchy`` and
        ``called``, its name in a release. A released column that the original lacks has the role "new" (``word:
        random`` for one drawn at random) or "derived".
    places : mapping or None
        ``lat``, ``lon``, ``crs`` of the columns with places, and where wanted ``impossible``, "leave out" or "refuse";
        None for none or a geometry.
    public : mapping
        Files that are public: ``area`` (polygons), ``candidates`` (places to swap with).
    missing_values : str
        A key of `MISSING`.
    keep : list of str
        Columns to release as they are.
    withhold : list of str
        Columns to leave out of the release, whatever their role: an intruder may know them all the same.
    population : float or None
        How many persons the weights stand for together; None: as many as they say.
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
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    places: Mapping[str, Any] | None = None
    public: Mapping[str, Any] = field(default_factory=dict)
    missing_values: str = "label"
    keep: list[str] = field(default_factory=list)
    withhold: list[str] = field(default_factory=list)
    population: float | None = None
    chain: list[Mapping[str, Any]] = field(default_factory=list)
    limit: float = 0.25
    tolerate: float = 0.0
    methods: list[Mapping[str, Any]] = field(default_factory=list)

    def with_roles(self, roles: Mapping[str, str]) -> Recipe:
        """Return the recipe with the roles that a custodian chose; columns that are no places any more are none."""
        columns = {name: dict(stated) for name, stated in self.columns.items()}
        for name, role in roles.items():
            if name not in columns:
                raise ParameterError(f"`role` must name a column of the file, got {name!r}: it has {list(columns)}")
            if columns[name].get("role") != check_choice(role, f"role of {name}", tuple(ROLES)):
                columns[name] |= {"role": role, "reason": "chosen"}
        places = self.places
        if places and any(columns[places[axis]]["role"] != "place" for axis in ("lat", "lon")):
            places = None
        return replace(self, columns=columns, places=places)

    def with_places(self, lat: str, lon: str, crs: str | None = None) -> Recipe:
        """Return the recipe with these columns as places: degrees, or north and east in the CRS."""
        for option, name in (("lat", lat), ("lon", lon)):
            check_choice(name, option, tuple(self.columns))
        if lat == lon:
            raise ParameterError(f"`lon` must be another column than `lat`, got {lon!r} for both")
        earlier = [] if self.places is None else [self.places["lat"], self.places["lon"]]
        recipe = self.with_roles({**dict.fromkeys(earlier, "other"), lat: "place", lon: "place"})
        return replace(recipe, places={"lat": lat, "lon": lon, "crs": crs})

    def with_columns(
        self,
        *,
        quasi: Sequence[str] = (),
        sensitive: Sequence[str] = (),
        lat: str | None = None,
        lon: str | None = None,
    ) -> Recipe:
        """Return the recipe for an intruder with knowledge of these columns only, and for these secrets.

        Columns that are no longer protected are left out of the release, those no longer sensitive kept as they are;
        without a quasi-identifier or place only the secrets change.
        """
        for option, names in (("quasi", quasi), ("sensitive", sensitive), ("lat", [lat]), ("lon", [lon])):
            for name in filter(None, names):
                check_choice(name, option, tuple(self.columns))
        known = [*quasi, *(name for name in (lat, lon) if name)]
        if not (known or sensitive):
            return self
        secret = [name for name in self.named("sensitive") if name not in (*known, *sensitive)]
        # The geometry of a geographic file stays what an intruder knows: no option could name it.
        placed = [name for name in self.named("place") if self.columns[name].get("type") != "geometry"]
        protected = [*self.named("quasi-identifier"), *placed, *self.named("node")] if known else []
        roles = dict.fromkeys([*protected, *secret], "other")
        roles |= {name: "place" for name in (lat, lon) if name} | dict.fromkeys(quasi, "quasi-identifier")
        recipe = self.with_roles(roles | dict.fromkeys(sensitive, "sensitive"))
        recipe = replace(recipe, keep=[*recipe.keep, *(name for name in secret if name not in recipe.keep)])
        if not (lat and lon) or (self.places and (self.places["lat"], self.places["lon"]) == (lat, lon)):
            return recipe
        return recipe.with_places(lat, lon)

    def tried(self) -> dict[str, list[dict[str, Any]]]:
        """Return the methods to try by the kind of data they are for, as `risk_utility` takes them."""
        methods: dict[str, list[dict[str, Any]]] = {}
        for step in self.methods:
            entry = find(step["method"], "anonymiser")
            methods.setdefault(entry.data, []).append({"name": entry.name, **(step.get("parameters") or {})})
        return methods

    def check_places(self) -> None:
        """Refuse columns with the role place that are neither latitude nor longitude.

        Raises
        ------
        ParameterError
            If there are such.
        """
        axes = [] if self.places is None else [self.places["lat"], self.places["lon"]]
        loose = [name for name in self.named("place") if name not in axes and self.columns[name]["type"] != "geometry"]
        if loose:
            raise ParameterError(
                f"`places` must say which columns are latitude and longitude, or north and east: {', '.join(loose)} "
                f"{'is a place' if len(loose) == 1 else 'are places'} by the role alone (--lat and --lon)"
            )

    def named(self, role: str) -> list[str]:
        """Return the columns with a role, in the file's order."""
        return [name for name, stated in self.columns.items() if stated.get("role") == role]

    def first(self, role: str) -> str | None:
        """Return the first column with a role; None without one."""
        return next(iter(self.named(role)), None)

    def hierarchies(self) -> dict[str, Any]:
        """Return the form of each column's hierarchy, as far as the recipe names one."""
        return {name: stated["hierarchy"] for name, stated in self.columns.items() if stated.get("hierarchy")}

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
        existing = opened.columns["column"].tolist()
        for key, names in (("columns", self.columns), ("keep", self.keep), ("withhold", self.withhold)):
            for name in names:
                if name not in existing:
                    raise ParameterError(
                        f"`{key}` of the recipe must be columns of the file, got {name!r}: it has {existing}"
                    )

    @staticmethod
    def shapes(data: Any) -> list[str]:
        """Return the kinds of geometry in the data that are no points."""
        return sorted(set(data.geometry.geom_type.dropna()) - {"Point"}) if hasattr(data, "to_crs") else []

    @property
    def ends(self) -> list[str]:
        """The two columns with the ends of relations; empty for records.

        Raises
        ------
        ParameterError
            If there are one or more than two.
        """
        nodes = self.named("node")
        if len(nodes) in (0, 2):
            return nodes
        raise ParameterError(f"`role` node must be that of two columns, the ends of a relation, got {nodes}")

    def shown(self, opened: OpenedFile) -> OpenedFile:
        """Return an opened file with the roles and places of the recipe."""
        stated = [self.columns[name] for name in opened.columns["column"]]
        changed = {name: [column.get(name, "") for column in stated] for name in ("role", "reason")}
        places = None if self.places is None else dict(self.places)
        return replace(opened, columns=opened.columns.assign(**changed), places=places)

    def write(self, path: str | Path) -> Path:
        """Write the recipe as YAML; `read_recipe` reads it back.

        Raises
        ------
        DataError
            If it cannot be written there.
        """
        path = Path(path)
        plain = {name: value for name, value in asdict(self).items() if value not in (None, {}, [])}
        roles = "\n".join(f"#   {role}: {meaning}" for role, meaning in ROLES.items())
        head = f"# How a release is made. Confirm the role of each column:\n{roles}\n"
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
    columns = {
        row.column: {"role": row.role, "type": row.type, "reason": row.reason} for row in opened.columns.itertuples()
    }
    dialect = {name: value for name, value in opened.source.items() if name in _READING and value is not None}
    chosen = {
        name: value
        for name, value in (reading or {}).items()
        if value is not None and (value or name == "missing")  # no cell but the empty one is missing
    }
    return Recipe(
        file=file,
        reading=dialect | chosen,
        columns=columns,
        places=None if opened.places is None else {name: opened.places[name] for name in ("lat", "lon", "crs")},
    )


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
    for name in values:
        check_choice(name, "recipe", tuple(Recipe.__dataclass_fields__))
    recipe = Recipe(**{name: value for name, value in values.items() if value is not None})
    for column, roles in check_mapping(recipe.columns, "columns").items():
        check_text(column, "columns", optional=False)
        check_choice(
            check_mapping(roles, f"columns: {column}").get("role", "other"), f"role of {column}", (*ROLES, *DECLARED)
        )
    recipe = replace(
        recipe, columns={name: _beside(values, Path(path).parent) for name, values in recipe.columns.items()}
    )
    for name in check_mapping(recipe.reading, "reading"):
        check_choice(name, "reading", _READING)
    check_text(recipe.file, "file", optional=False)
    for name in ("keep", "withhold"):
        _check_names(getattr(recipe, name), name)
    if recipe.places is not None:
        for name in check_mapping(recipe.places, "places"):
            check_choice(name, "places", ("lat", "lon", "crs", "impossible"))
        for name in ("lat", "lon"):
            check_text(recipe.places.get(name), f"places: {name}", optional=False)
    for name, file in check_mapping(recipe.public, "public").items():
        check_text(file, f"public: {name}", optional=False)
    check_choice(recipe.missing_values, "missing_values", tuple(MISSING))
    if recipe.population is not None:
        check_real(recipe.population, "population", low=1)
    check_real(recipe.limit, "limit", low=0, high=1)
    check_real(recipe.tolerate, "tolerate", low=0, high=1)
    for name in ("chain", "methods"):
        for step in check_listed(getattr(recipe, name), name):
            _check_step(step, name)
    return recipe


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
