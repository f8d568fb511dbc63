"""Schema: the roles of a data set's columns, and the declarations of released columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from reident.base import (
    DataError,
    ParameterError,
    Row,
    check_choice,
    check_columns,
    check_listed,
    check_mapping,
    check_real,
    check_several,
)
from reident.data._yaml import write_yaml
from reident.places.points import check_crs

#: What a column can be, and what that means for a release.
ROLES = {
    "identifier": "tells who a record is by itself: never released",
    "quasi-identifier": "others may know it: protected",
    "sensitive": "must not become known: what an intruder wants to learn",
    "place": "where the record is, the geometry of a file: masked",
    "latitude": "where the record is, degrees, or north in a CRS: masked",
    "longitude": "where the record is, degrees, or east in a CRS: masked",
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
    "lat": "latitude",
    "lon": "longitude",
    **{name: name for name in ("sensitive", "identifier", "person", "household", "weight", "other")},
}
#: The intruder knows that a person is in the file, or does not.
INTRUDERS = ("prosecutor", "journalist")
#: A record whose place is not on the earth counts as one without a place, or is an error.
IMPOSSIBLE = ("leave out", "refuse")
#: Roles that one column has at most.
SINGLE = ("person", "household", "weight", "latitude", "longitude")
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
    population : float or None
        How many persons the weights stand for together; None: as many as they say.
    crs : str or None
        The CRS of latitude and longitude, or of a geometry whose file does not say it; None for degrees.
    new : mapping of str to str
        Released columns that say nothing of the original; the value is "random" for a column drawn at random.
    derived : tuple of str
        Released columns that are computed from the original: intruders are assumed to know each person's value.
    """

    columns: Mapping[str, Column]
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

    @property
    def places(self) -> tuple[str, str] | None:
        """The columns with latitude and longitude, or north and east; None without, or for a geometry.

        Raises
        ------
        ParameterError
            If there is only one of them.
        """
        lat, lon = self.single("latitude"), self.single("longitude")
        if (lat is None) != (lon is None):
            raise ParameterError(f"`lat` and `lon` must both be columns, got latitude {lat!r} and longitude {lon!r}")
        return None if lat is None or lon is None else (lat, lon)

    def assign(self, roles: Mapping[str, str], reason: str = "chosen") -> Schema:
        """Return a schema in which some columns have other roles."""
        columns = dict(self.columns)
        check_columns([*columns], [*roles], "role", table_name="file", min_columns=0)
        for name, role in roles.items():
            if columns[name].role != check_choice(role, f"role of {name}", ("", *ROLES)):
                columns[name] = replace(columns[name], role=role, reason=reason if role else "")
        schema = replace(self, columns=columns)
        return replace(schema, crs=None) if self.named("latitude") and not schema.named("latitude") else schema

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
        if lat is not None:
            if lat == lon:
                raise ParameterError(f"`lon` must be another column than `lat`, got {lon!r} for both")
            roles |= {"lat": lat, "lon": lon}
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
        return schema if crs is None and lat is None else replace(schema, crs=check_crs(crs, "crs"))

    def secrets(self, given: Sequence[str]) -> tuple[list[str], dict[str, list[str]]]:
        """Split ``depression=yes`` into the column and the value that is a secret."""
        plain = []
        secrets: dict[str, list[str]] = {}
        for text in given:
            name, sign, value = str(text).partition("=")
            if sign and text not in self.columns:
                secrets.setdefault(name, []).append(value)
            else:
                plain.append(text)
        return [*plain, *secrets], secrets

    def unknown(self) -> Schema:
        """Return a schema of an intruder with no knowledge: no column is known, but for a file's own geometry."""
        known = self.named("quasi-identifier", "node", "place", "latitude", "longitude")
        return self.assign({name: "other" for name in known if self.columns[name].type != "geometry"})

    @property
    def frame(self) -> pd.DataFrame:
        """The schema as a table: one row a column."""
        return pd.DataFrame([{"column": name, **asdict(column)} for name, column in self.columns.items()])

    def profile(self, data: pd.DataFrame) -> pd.DataFrame:
        """Return one row a column of data, as it is described here.

        Returns
        -------
        DataFrame
            ``column``, ``type``, ``role``, ``reason``, ``missing`` records, ``distinct`` values, ``unique`` records,
            with a value that no other has.
        """
        rows = []
        for name, cells in data.items():
            column = self.columns[str(name)]
            counts = (cells.to_wkb() if hasattr(cells, "to_wkb") else cells).value_counts()
            stated = [column.type or str(cells.dtype), column.role or "not used", column.reason]
            rows.append([name, *stated, int(cells.isna().sum()), len(counts), int((counts == 1).sum())])
        return pd.DataFrame(rows, columns=["column", "type", "role", "reason", "missing", "distinct", "unique"])

    def __str__(self) -> str:
        return str(self.frame.to_string(index=False))

    def save(self, path: str | Path) -> Path:
        """Write a recipe.yaml with the roles; `open_dataset` reads it."""
        return write_roles(path, self.listed())

    @classmethod
    def of_recipe(cls, values: Mapping[str, Any], folder: Path = Path()) -> Schema:
        """Return the schema of a recipe's columns, CRS and population, each checked.

        Files of hierarchies may lie in the folder.
        """
        population = values.get("population")
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
            fields = {key: value for key, value in stated.items() if key != "word"}
            form = fields.get("hierarchy")
            file = form.get("file") if isinstance(form, Mapping) else form
            if isinstance(file, str) and not Path(file).is_file() and (folder / file).is_file():
                fields["hierarchy"] = str(folder / file)
            if fields.get("secret") is not None:
                check_listed(fields["secret"], f"secret values of {name}")
                if role != "sensitive":
                    raise ParameterError(f"`secret` of {name} must be left out, its role is not sensitive")
            columns[name] = Column(**fields)
        return cls(columns, population, check_crs(values.get("crs"), "crs"), new, tuple(derived))

    def listed(self) -> Row:
        """Return columns, CRS and population as a recipe lists them."""
        columns = {
            name: {key: value for key, value in asdict(column).items() if value not in ("", None)}
            for name, column in self.columns.items()
        }
        columns |= {name: {"role": "new", **({"word": word} if word else {})} for name, word in self.new.items()}
        columns |= {name: {"role": "derived"} for name in self.derived}
        return {"columns": columns, "crs": self.crs, "population": self.population}


def write_roles(path: str | Path, values: Mapping[str, Any], head: str = "") -> Path:
    """Write the values of a recipe that are not empty, below the meanings of the roles.

    Raises
    ------
    DataError
        If it cannot be written there.
    """
    path = Path(path)
    stated = {name: value for name, value in values.items() if value not in (None, {}, [])}
    meanings = "\n".join(f"#   {role}: {meaning}" for role, meaning in ROLES.items())
    text = f"# How a release is made. Confirm the role of each column:\n{meanings}\n{head}{write_yaml(stated)}"
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise DataError(f"`out` must be a file that can be written, got {str(path)!r}: {error}") from None
    return path
