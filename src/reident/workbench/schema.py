"""Schema: the roles of a data set's columns, and the declarations of released columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from reident.base import (
    DataError,
    ParameterError,
    check_choice,
    check_columns,
    check_listed,
    check_mapping,
    check_real,
    check_several,
    check_text,
)
from reident.data._yaml import read_yaml, write_yaml
from reident.places.points import check_crs

#: What a column can be, and what that means for a release.
ROLES = {
    "identifier": "tells who a record is by itself: never released",
    "quasi-identifier": "others may know it: protected",
    "sensitive": "must not become known: what an intruder wants to learn",
    "place": "where the record is: masked",
    "weight": "how many persons of the population a record stands for",
    "person": "records with the same value are one person's: persons are counted, and it is never released",
    "household": "records with the same value live together",
    "node": "one end of a relation: two such columns are a network",
    "free text": "may name persons: never released",
    "other": "left out unless it is named",
}
#: What the cells of a column are.
TYPES = ("integer", "number", "date", "text", "geometry")
#: Roles of released columns that the original lacks: what `--new` and `--derived` of `reident check` say.
DECLARED = ("new", "derived")
#: Keywords for roles, and the words of a recipe.
WORDS = {
    "quasi": "quasi-identifier",
    **{name: name for name in ("sensitive", "identifier", "person", "household", "weight", "other")},
}
#: The intruder knows that a person is in the file, or does not.
INTRUDERS = ("prosecutor", "journalist")
#: A record whose place is not on the earth counts as one without a place, or is an error.
IMPOSSIBLE = ("leave out", "refuse")
#: Roles that one column has at most.
SINGLE = ("person", "household", "weight")
#: What to do where no column is known.
UNKNOWN = (
    "nothing says what an intruder knows; --quasi names columns, in a recipe they have the role quasi-identifier "
    "(reident open --role COLUMN=quasi-identifier)"
)


@dataclass(frozen=True)
class Column:
    """One column: its role ("" for none), its type, the reason for both, and its name in a release.

    Of a sensitive column `secret` lists the values that must not become known; None: none of them must.
    """

    role: str = ""
    type: str = ""
    reason: str = ""
    hierarchy: Any = None
    called: str = ""
    secret: Sequence[Any] | None = None


@dataclass(frozen=True)
class Schema:
    """The roles of columns, the columns with places, and the declarations of released columns.

    Attributes
    ----------
    columns : mapping of str to Column
    places : mapping or None
        ``lat``, ``lon`` and ``crs`` of the columns with places (north and east where the CRS is not that of degrees);
        None for none or a geometry.
    population : float or None
        How many persons the weights stand for together; None: as many as they say.
    crs : str or None
        The CRS of a geometry whose file does not say it.
    new : mapping of str to str
        Released columns that say nothing of the original; the value is "random" for a column drawn at random.
    derived : tuple of str
        Released columns that are computed from the original: intruders are assumed to know each person's value.
    """

    columns: Mapping[str, Column]
    places: Mapping[str, Any] | None = None
    population: float | None = None
    crs: str | None = None
    new: Mapping[str, str] = field(default_factory=dict)
    derived: tuple[str, ...] = ()

    def named(self, *roles: str) -> list[str]:
        """Return the columns of some roles, in the order of the data."""
        return [name for name, column in self.columns.items() if column.role in roles]

    def single(self, role: str) -> str | None:
        """Return the column of a role that one column has at most."""
        names = self.named(role)
        if len(names) > 1:
            raise ParameterError(f"`{role}` must be one column, got {', '.join(names)}: keep one of them")
        return names[0] if names else None

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

    def assign(self, roles: Mapping[str, str], reason: str = "chosen") -> Schema:
        """Return a schema in which some columns have other roles; columns that are no places any more are none."""
        columns = dict(self.columns)
        check_columns([*columns], [*roles], "role", table_name="file", min_columns=0)
        for name, role in roles.items():
            if columns[name].role != check_choice(role, f"role of {name}", ("", *ROLES)):
                columns[name] = replace(columns[name], role=role, reason=reason if role else "")
        places = self.places
        if places and any(columns[places[axis]].role != "place" for axis in ("lat", "lon")):
            places = None
        return replace(self, columns=columns, places=places)

    def with_places(self, lat: str, lon: str | None, crs: str | None = None) -> Schema:
        """Return a schema with these columns as places: degrees, or north and east in the CRS."""
        for word, name in (("lat", lat), ("lon", lon)):
            check_columns([*self.columns], [name], word, table_name="file")
        if lat == lon:
            raise ParameterError(f"`lon` must be another column than `lat`, got {lon!r} for both")
        earlier = [] if self.places is None else [self.places["lat"], self.places["lon"]]
        listed_columns = self.assign({**dict.fromkeys(earlier, ""), lat: "place", str(lon): "place"}, "stated")
        return replace(listed_columns, places={"lat": lat, "lon": lon, "crs": crs})

    def with_roles(
        self, *, lat: str | None = None, lon: str | None = None, crs: str | None = None,
        places: Sequence[str] | None = None, population: float | None = None, **roles: str | Iterable[str] | None,
    ) -> Schema:  # fmt: skip
        """Return a schema with other roles; a role that is given replaces the columns that had it."""
        if places is not None:
            lat, lon = check_several(places, "places")
        if (lat is None) != (lon is None):
            raise ParameterError("`lat` and `lon` must be given together, got only one of them")
        schema = self
        for word, given in roles.items():
            if word not in WORDS:
                raise ParameterError(f"`{word}` must be left out, it is no role: there are {', '.join(WORDS)}")
            role = WORDS[word]
            names = check_several(given, word)
            secrets: dict[str, list[str]] = {}
            if role == "sensitive":
                names, secrets = self.secrets(names)
            check_columns([*self.columns], names, word, table_name="data", min_columns=0)
            if role == "sensitive" and (both := [n for n in names if schema.columns[n].role == "quasi-identifier"]):
                raise ParameterError(f"`sensitive` must not be a quasi-identifier too, got {both[0]!r}")
            earlier = [name for name in schema.named(role) if name not in names]
            schema = schema.assign(dict.fromkeys(earlier, "") | dict.fromkeys(names, role), "stated")
            columns = {name: replace(schema.columns[name], secret=values) for name, values in secrets.items()}
            schema = replace(schema, columns={**schema.columns, **columns})
        for role in SINGLE:
            schema.single(role)
        if population is not None:
            if schema.single("weight") is None:
                raise ParameterError(
                    "`population` must come with the column of weights that is scaled to it, got none: `weight` names "
                    "one, on the command line --role COLUMN=weight of reident open"
                )
            schema = replace(schema, population=check_real(population, "population", low=1))
        if lat is not None:
            return schema.with_places(lat, lon, crs)
        return schema if crs is None else replace(schema, crs=check_crs(crs, "crs"))

    def secrets(self, given: Sequence[str]) -> tuple[list[str], dict[str, list[str]]]:
        """Split ``depression=yes`` into the column and the value that is a secret."""
        secrets: dict[str, list[str]] = {}
        for text in given:
            name, sign, value = text.partition("=") if isinstance(text, str) else (text, "", "")
            if sign and text not in self.columns:
                secrets.setdefault(name, []).append(value)
        plain = [text for text in given if text in self.columns or not (isinstance(text, str) and "=" in text)]
        return [*plain, *secrets], secrets

    def unknown(self) -> Schema:
        """Return a schema of an intruder with no knowledge: no column is known, but for a file's own geometry."""
        known = [*self.named("quasi-identifier", "node"), *self.named("place")]
        return self.assign({name: "other" for name in known if self.columns[name].type != "geometry"})

    def check_places(self) -> None:
        """Refuse columns with the role place that are neither latitude nor longitude.

        Raises
        ------
        ParameterError
            If there are such.
        """
        axes = [] if self.places is None else [self.places["lat"], self.places["lon"]]
        loose = [name for name in self.named("place") if name not in axes and self.columns[name].type != "geometry"]
        if loose:
            raise ParameterError(
                f"`places` must say which columns are latitude and longitude, or north and east: {', '.join(loose)} "
                f"{'is a place' if len(loose) == 1 else 'are places'} by the role alone (--lat and --lon)"
            )

    @property
    def frame(self) -> pd.DataFrame:
        """The schema as a table: one row a column."""
        return pd.DataFrame([{"column": name, **asdict(column)} for name, column in self.columns.items()])

    def __str__(self) -> str:
        return str(self.frame.to_string(index=False))

    def save(self, path: str | Path) -> Path:
        """Write the roles into recipe.yaml; `open_dataset` and `Schema.load` read it."""
        return write_roles(path, self.listed())

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read the roles of recipe.yaml."""
        return cls.of_recipe(read_values(path), Path(path).parent)

    @classmethod
    def of_recipe(cls, values: Mapping[str, Any], folder: Path = Path()) -> Schema:
        """Return the schema of a recipe's columns, places and population, each checked.

        Files of hierarchies may lie in the folder.
        """
        places, population = values.get("places"), values.get("population")
        if places is not None:
            for name in check_mapping(places, "places"):
                check_choice(name, "places", ("lat", "lon", "crs"))
            for name in ("lat", "lon"):
                check_text(places.get(name), f"places: {name}", optional=False)
        if population is not None:
            check_real(population, "population", low=1)
        columns, new, derived = {}, {}, []
        for name, stated in check_mapping(values.get("columns") or {}, "columns").items():
            if not isinstance(name, str):
                raise ParameterError(f"`columns` must have texts as names, got {name!r}: in quotes it is text")
            for key in check_mapping(stated, f"columns: {name}"):
                check_choice(key, f"entry of {name}", (*Column.__dataclass_fields__, "word"))
            role = check_choice(stated.get("role", "other"), f"role of {name}", (*ROLES, *DECLARED))
            check_choice(stated.get("type", ""), f"type of {name}", ("", *TYPES))
            if role == "new":
                new[name] = str(stated.get("word", ""))
                continue
            if role == "derived":
                derived.append(name)
                continue
            fields = {key: value for key, value in stated.items() if key in Column.__dataclass_fields__}
            form = fields.get("hierarchy")
            file = form.get("file") if isinstance(form, Mapping) else form
            if isinstance(file, str) and not Path(file).is_file() and (folder / file).is_file():
                fields["hierarchy"] = str(folder / file)
            if fields.get("secret") is not None:
                check_listed(fields["secret"], f"secret values of {name}")
                if role != "sensitive":
                    raise ParameterError(f"`secret` of {name} must be left out, its role is not sensitive")
            columns[name] = Column(**fields)
        return cls(columns, places, population, new=new, derived=tuple(derived))

    def listed(self) -> dict[str, Any]:
        """Return columns, places and population as a recipe lists them."""
        columns: dict[str, dict[str, Any]] = {
            name: {key: value for key, value in asdict(column).items() if value not in ("", None)}
            for name, column in self.columns.items()
        }
        columns |= {name: {"role": "new", **({"word": word} if word else {})} for name, word in self.new.items()}
        columns |= {name: {"role": "derived"} for name in self.derived}
        return {"columns": columns, "places": self.places, "population": self.population}


def write_roles(path: str | Path, values: Mapping[str, Any], head: str = "") -> Path:
    """Write the values of a recipe that are not empty, below the meanings of the roles.

    Raises
    ------
    DataError
        If it cannot be written there.
    """
    path = Path(path)
    plain = {name: value for name, value in values.items() if value not in (None, {}, [])}
    meanings = "\n".join(f"#   {role}: {meaning}" for role, meaning in ROLES.items())
    try:
        path.write_text(
            f"# How a release is made. Confirm the role of each column:\n{meanings}\n{head}" + write_yaml(plain),
            encoding="utf-8",
        )
    except OSError as error:
        raise DataError(f"`out` must be a file that can be written, got {str(path)!r}: {error}") from None
    return path


def read_values(path: str | Path) -> Mapping[str, Any]:
    """Read a recipe as plain values."""
    try:
        values = read_yaml(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DataError(f"`recipe` must be a YAML file that can be read, got {str(path)!r}: {error}") from None
    return check_mapping(values, "recipe")
