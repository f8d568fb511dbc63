"""Dataset and Schema: confidential records with the roles of their columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from reident.base import (
    IntArray,
    ParameterError,
    check_choice,
    check_columns,
    check_instance,
    check_listed,
    check_mapping,
    check_real,
    check_several,
    check_table,
)
from reident.methods.release import Knowledge
from reident.networks.files import Relations, read_graph, relations_of
from reident.networks.graph import Network, as_network, by_name, reordered
from reident.places.points import check_crs
from reident.workbench.files import with_places, without_apostrophes
from reident.workbench.hierarchies import hierarchies_of
from reident.workbench.microdata import (
    LAT,
    LON,
    Microdata,
    has_places,
    in_columns,
    is_graph,
    microdata,
    persons_of,
)
from reident.workbench.opening import OpenedFile, open_file
from reident.workbench.roles import NO_WEIGHT, UNKNOWN, survey_weights

if TYPE_CHECKING:
    from reident.workbench.recipe import Recipe

__all__ = ["Column", "Dataset", "Schema", "dataset_of", "open_dataset"]

#: Keywords for roles, and the words of a recipe.
WORDS = {
    "quasi": "quasi-identifier",
    **{name: name for name in ("sensitive", "identifier", "person", "household", "weight", "other")},
}
#: Roles that one column has at most.
SINGLE = ("person", "household", "weight")


@dataclass(frozen=True)
class Column:
    """One column: its role ("" for none), its type, the reason for both, and its name in a release."""

    role: str = ""
    type: str = ""
    reason: str = ""
    hierarchy: Any = None
    called: str = ""


@dataclass(frozen=True)
class Schema:
    """The roles of columns, the columns with places, and the declarations of released columns.

    Attributes
    ----------
    columns : mapping of str to Column
    places : mapping or None
        ``lat``, ``lon`` and ``crs`` of the columns with places (north and east where the CRS is not that of degrees).
    population : float or None
        How many persons the weights stand for together.
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

    def with_roles(
        self, *, lat: str | None = None, lon: str | None = None, crs: str | None = None,
        places: Sequence[str] | None = None, population: float | None = None, **roles: str | Iterable[str] | None,
    ) -> Schema:  # fmt: skip
        """Return a schema with other roles; a role that is given replaces the columns that had it."""
        columns = dict(self.columns)
        if places is not None:
            lat, lon = check_several(places, "places")
        if (lat is None) != (lon is None):
            raise ParameterError("`lat` and `lon` must be given together, got only one of them")
        for word, given in roles.items():
            role = WORDS[check_choice(word, "role", tuple(WORDS))]
            names = check_several(() if given is None else given, word)
            if twice := [name for name in names if names.count(name) > 1]:
                raise ParameterError(f"`{word}` must name each column once, got {twice[0]!r} more than once")
            if absent := [name for name in names if name not in columns]:
                raise ParameterError(
                    f"`{word}` must name columns of `original`, got {absent!r}: it has {list(columns)!r}"
                )
            for name in self.named(role):
                columns[name] = replace(columns[name], role="", reason="")
            for name in names:
                if role == "sensitive" and columns[name].role == "quasi-identifier":
                    raise ParameterError(f"`sensitive` must not be a quasi-identifier too, got {name!r}")
                columns[name] = replace(columns[name], role=role, reason="stated")
        made = replace(self, columns=columns)
        for role in SINGLE:
            made.single(role)
        if population is not None:
            if made.single("weight") is None:
                raise ParameterError(NO_WEIGHT)
            made = replace(made, population=check_real(population, "population", low=1))
        if lat is None:
            return made if crs is None else replace(made, crs=check_crs(crs, "crs"))
        for word, place in (("lat", lat), ("lon", lon)):
            if place not in columns:
                raise ParameterError(
                    f"`{word}` must name a column of the file, got {place!r}: it has {list(columns)!r}"
                )
        own = [] if self.places is None else [self.places["lat"], self.places["lon"]]
        columns |= {name: replace(columns[name], role="") for name in own if columns[name].role == "place"}
        columns |= {name: replace(columns[name], role="place", reason="stated") for name in (lat, str(lon))}
        return replace(made, places={"lat": lat, "lon": lon, "crs": crs})

    @property
    def frame(self) -> pd.DataFrame:
        """The schema as a table: one row a column."""
        return pd.DataFrame([{"column": name, **asdict(column)} for name, column in self.columns.items()])

    def __str__(self) -> str:
        """Return the table."""
        return str(self.frame.to_string(index=False))

    def save(self, path: str | Path) -> Path:
        """Write the roles into recipe.yaml; `open_dataset` and `Schema.load` read it."""
        return self.recipe().write(path)

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read the roles of recipe.yaml."""
        from reident.workbench.recipe import read_recipe

        return cls.of_recipe(read_recipe(path))

    @classmethod
    def of_recipe(cls, recipe: Recipe) -> Schema:
        """Return the roles and declarations of a recipe."""
        columns, new, derived = {}, {}, []
        for name, stated in recipe.columns.items():
            role = stated.get("role", "")
            if role == "new":
                new[name] = str(stated.get("word", ""))
            elif role == "derived":
                derived.append(name)
            else:
                kept = {key: value for key, value in stated.items() if key in Column.__dataclass_fields__}
                columns[name] = Column(**kept)
        return cls(columns, recipe.places, recipe.population, None, new, tuple(derived))

    def recipe(self, recipe: Recipe | None = None) -> Recipe:
        """Return a recipe with these roles and declarations."""
        from reident.workbench.recipe import Recipe

        columns: dict[str, dict[str, Any]] = {
            name: {key: value for key, value in asdict(column).items() if value not in ("", None)}
            for name, column in self.columns.items()
        }
        columns |= {name: {"role": "new", **({"word": word} if word else {})} for name, word in self.new.items()}
        columns |= {name: {"role": "derived"} for name in self.derived}
        return replace(recipe or Recipe(), columns=columns, places=self.places, population=self.population)


class Dataset:
    """Confidential records with their schema: the one argument of `protect`, `evaluate`, `assess` and `check`.

    Parameters
    ----------
    data : DataFrame, GeoDataFrame, OpenedFile, or a network
        Row i is record i: pairs and reports name it by this number. Not modified. Of a network, whatever `as_network`
        takes, the nodes are the records.
    schema : Schema, optional
        Default: what `open_file` proposed for an opened file, else no roles.
    network : graph, optional
        Relations between persons. Attacks on records use it where its nodes are the index of `data`.
    hierarchies : mapping of str to Hierarchy or to a form of one, optional
    public, register, earlier, control
        Public inputs of methods; a public list of the population; earlier releases of the same persons; records of the
        same population that took no part in making a synthetic table.
    epsilon_quasi : str or sequence of str, optional
        Numeric quasi-identifiers that may get noise inside classes.
    must_keep : str or sequence of str, optional
        What an advised release must not withhold: "place", or a quasi-identifier, and with it all that are released.
    release_crs : str, optional
        What the coordinates of a release mean, where they differ from the original's.
    impossible : {"leave out", "refuse"}, optional
        Whether a record whose place is not on the earth counts as one without a place (default) or is refused.
    **roles
        ``quasi``, ``sensitive``, ``identifier``, ``other`` (names), ``person``, ``household``, ``weight`` (one name),
        ``places`` (two names) or ``lat`` and ``lon``, ``crs``, ``population``.

    Examples
    --------
    >>> people = Dataset(pd.DataFrame({"age": [30, 30, 41], "ill": ["a", "b", "a"]}), quasi="age", sensitive="ill")
    >>> people.quasi, people.sensitive, len(people)
    (['age'], ['ill'], 3)
    """

    def __init__(
        self,
        data: Any,
        schema: Schema | None = None,
        *,
        network: Any = None,
        hierarchies: Mapping[str, Any] | None = None,
        public: Mapping[str, Any] | None = None,
        register: Any = None,
        earlier: Sequence[Any] = (),
        control: Any = None,
        must_keep: str | Sequence[str] = (),
        epsilon_quasi: str | Sequence[str] = (),
        release_crs: str | None = None,
        impossible: str | None = None,
        **roles: Any,
    ) -> None:
        self.opened = data if isinstance(data, OpenedFile) else None
        self.marks = pd.DataFrame()
        if self.opened is not None:
            data = self.opened.data
        if isinstance(data, Relations):
            data, self.marks = data.network, data.marks
        if is_graph(data):
            network = by_name(as_network(data, "data"))
            data = persons_of(network)
        elif network is not None and not isinstance(network, str | Path):
            network = by_name(as_network(network, "network"))
        self.labels = pd.Index(data.index) if isinstance(data, pd.DataFrame) else pd.RangeIndex(0)
        check_table(data, "original")
        data = without_apostrophes(data) if len(data.columns) else data
        self.data = data.set_axis(np.arange(len(data)), axis=0)
        stated = schema is not None
        schema = schema or self._proposed()
        schema = replace(
            schema, columns={**schema.columns, **{c: Column() for c in self.data.columns if c not in schema.columns}}
        )
        if (
            stated
            and hasattr(self.data, "to_crs")
            and schema.columns[self.data.geometry.name].role not in ("", "place")
        ):
            self.data = pd.DataFrame(self.data.drop(columns=self.data.geometry.name))
        self.schema = schema.with_roles(**roles) if roles else schema
        absent = [name for name in self.schema.columns if name not in self.data.columns]
        if lost := [name for name in absent if self.schema.columns[name].role not in ("", "other")]:
            raise ParameterError(f"`schema` must name columns of the data, got {lost[0]!r}: they lack it")
        if isinstance(network, str | Path):
            network = by_name(read_graph(network))
        #: The relations, nodes under their own names; of `network` node i is record i.
        self.named_network = network
        self.network = None if network is None else self._ordered(network)
        self._forms, self.public = dict(check_mapping(hierarchies, "hierarchies", optional=True)), dict(public or {})
        self.register = None if register is None else check_table(register, "register")
        self.earlier = list(check_listed(earlier, "earlier"))
        self.control = None if control is None else check_table(control, "control")
        self.impossible = impossible
        self.release_crs, self.must_keep = check_crs(release_crs, "release_crs"), check_several(must_keep, "must_keep")
        #: Tolerable risk of a person, and tolerable share of persons above it, where a recipe states them.
        self.limit, self.tolerate = 0.25, 0.0
        self.epsilon_quasi = check_columns(data, epsilon_quasi, "epsilon_quasi", table_name="original", min_columns=0)

    @classmethod
    def of(cls, data: Any, **given: Any) -> Dataset:
        """Return a data set: as it is, with further roles, or made of a table, a file or a network and keywords."""
        if isinstance(data, Dataset):
            return data.with_roles(**given) if given else data
        if isinstance(data, str | Path):
            return open_dataset(data, **given)
        if (recipe := given.pop("recipe", None)) is None:
            return cls(data, **given)
        return cls(data, Schema.of_recipe(recipe := read_recipe_of(recipe)), **given)._by(recipe)

    def _by(self, recipe: Recipe) -> Dataset:
        """Take limit and tolerance of a recipe."""
        self.limit, self.tolerate = recipe.limit, recipe.tolerate
        return self

    def _proposed(self) -> Schema:
        if self.opened is not None:
            from reident.workbench.recipe import recipe_of

            return Schema.of_recipe(recipe_of(self.opened))
        columns = {name: Column() for name in self.data.columns}
        places = {"lat": LAT, "lon": LON, "crs": None} if {LAT, LON} <= set(columns) else None
        if places:
            columns |= {name: Column("place") for name in (LAT, LON)}
        return Schema(columns, places)

    def _ordered(self, network: Network) -> Network | None:
        """Return the network with node i as record i; None where its nodes are not the records."""
        place = self.labels.get_indexer(pd.Index(list(network.nodes)))
        if (place < 0).any() or len(self.labels) != network.n_nodes:
            return None
        return reordered(network, place)

    def part(self, rows: IntArray) -> Dataset:
        """Return the data set of some records, the population that weights stand for in proportion."""
        made = self.with_roles()
        made.data, made.labels = self.data.iloc[rows].reset_index(drop=True), self.labels[rows]
        share = len(rows) / max(1, len(self))
        population = self.schema.population
        made.schema = replace(self.schema, population=None if population is None else population * share)
        made.network = made.named_network = None
        return made

    @property
    def names(self) -> pd.Index:
        """The name of each record: of nodes their own, else the row number."""
        return self.labels if not len(self.data.columns) else self.data.index

    def __len__(self) -> int:
        return len(self.data)

    def with_roles(self, **given: Any) -> Dataset:
        """Return the same data with other roles, or with other keywords of `Dataset`."""
        own: dict[str, Any] = {
            "network": self.named_network, "hierarchies": self._forms, "public": self.public, "register": self.register,
            "earlier": self.earlier, "control": self.control, "epsilon_quasi": self.epsilon_quasi,
            "release_crs": self.release_crs, "must_keep": self.must_keep, "impossible": self.impossible,
        }  # fmt: skip
        own |= {name: given.pop(name) for name in list(given) if name in own}
        made = Dataset.__new__(Dataset)
        made.__dict__.update(self.__dict__)
        for name in ("table", "frame", "hierarchies"):
            made.__dict__.pop(name, None)
        made.schema = self.schema.with_roles(**given)
        made._forms, made.public = dict(own["hierarchies"] or {}), dict(own["public"] or {})
        made.register, made.earlier, made.control = own["register"], list(own["earlier"]), own["control"]
        made.release_crs = check_crs(own["release_crs"], "release_crs")
        made.must_keep = check_several(own["must_keep"], "must_keep")
        made.impossible = own["impossible"]
        made.epsilon_quasi = check_columns(
            self.data, own["epsilon_quasi"], "epsilon_quasi", table_name="original", min_columns=0
        )
        return made

    @property
    def quasi(self) -> list[str]:
        """The columns that an intruder may know, beside places."""
        return list(dict.fromkeys([*self.schema.named("quasi-identifier"), *self.epsilon_quasi]))

    @property
    def sensitive(self) -> list[str]:
        """The columns that must not become known."""
        return self.schema.named("sensitive")

    @property
    def fewest(self) -> list[str]:
        """The sensitive columns, the one with the fewest values first: methods look at that one."""
        return sorted(self.sensitive, key=lambda name: self.data[name].nunique())

    @property
    def places(self) -> tuple[str, str] | None:
        """The columns with latitude and longitude (or north and east); None without, or for a geometry."""
        told = self.schema.places
        return None if told is None else (told["lat"], told["lon"])

    @property
    def crs(self) -> str | None:
        """The CRS of the columns with places, None for degrees."""
        return self.schema.crs if self.schema.places is None else self.schema.places.get("crs")

    @cached_property
    def frame(self) -> Any:
        """The records, columns with places in ``lat_deg`` and ``lon_deg``; a GeoDataFrame keeps its geometry."""
        lat, lon = self.places or (None, None)
        impossible = self.impossible or (self.schema.places or {}).get("impossible", "leave out")
        return with_places(self.data, lat, lon, self.crs, impossible) if len(self.data.columns) else self.data

    @cached_property
    def table(self) -> pd.DataFrame:
        """The records as a plain table, places in ``lat_deg`` and ``lon_deg``."""
        return in_columns(self.frame, "original")

    @property
    def has_places(self) -> bool:
        """Whether places are declared, or the data have a geometry."""
        return has_places(self.frame)

    @cached_property
    def hierarchies(self) -> Mapping[str, Any]:
        """The hierarchy of each column that states one."""
        stated = {name: column.hierarchy for name, column in self.schema.columns.items() if column.hierarchy}
        return hierarchies_of({**stated, **self._forms}, pd.DataFrame(self.data))

    def weights(self) -> tuple[pd.Series | None, str]:
        """Return the number of persons that each record stands for, and a note about changes of the weights."""
        name = self.schema.single("weight")
        return (None, "") if name is None else survey_weights(self.data[name], self.schema.population)

    def records(self, *, kind: str | None = None, sensitive: str | None = None, **further: Any) -> Microdata:
        """Return the records in the form in which methods take them; see `reident.workbench.microdata.microdata`.

        Parameters
        ----------
        kind : {"places", "table", "network"}, optional
            Default: a network, else places where the data have them, else a table.
        sensitive : str, optional
            Default: the sensitive column with the fewest values.
        **further
            Keywords of `microdata`, in the place of those of the data set.
        """
        if self.named_network is not None and kind in (None, "network"):
            return microdata(self.named_network, quasi=(), kind="network")
        first = sensitive or next(iter(self.fewest), None)
        given: dict[str, Any] = {
            "quasi": self.quasi, "sensitive": first, "kind": kind, "hierarchies": self.hierarchies,
            "epsilon_quasi": self.epsilon_quasi, "public": self.public, "person": self.schema.single("person"),
        }  # fmt: skip
        return microdata(further.pop("data", self.frame), **{**given, **further})

    def knowledge(self, truth: IntArray, *, known: pd.DataFrame | None = None, **further: Any) -> Knowledge:
        """Return an intruder with all quasi-identifiers, places and relations of each record: the worst case.

        Parameters
        ----------
        truth : ndarray of int64
            The released row of each record, -1 for none.
        known : DataFrame, optional
            Stands for the quasi-identifiers, where a release writes columns in another way.
        """
        table = self.table
        listed = self.quasi if known is None else list(known)
        if not (listed or self.has_places or self.network is not None):
            raise ParameterError(f"`quasi`, places or `network` must be given: {UNKNOWN}")
        own = (table[self.quasi] if known is None else known).set_axis(table.index)
        if self.has_places:
            own = own.assign(**{name: table[name] for name in (LAT, LON)})
        secrets = {name: table[name] for name in self.sensitive}
        first = next(iter(secrets), None)
        person, household = self.schema.single("person"), self.schema.single("household")
        return Knowledge(
            known=own, quasi=listed, truth=truth, sensitive=first,
            secrets=None if first is None else secrets.pop(first), other_secrets=secrets,
            persons=None if person is None or table[person].is_unique else table[person],
            households=None if household is None else table[household],
            weights=self.weights()[0], hierarchies=self.hierarchies,
            network=self.network, register=self.register, **further,
        )  # fmt: skip


def open_dataset(path: str | Path, recipe: Any = None, **given: Any) -> Dataset:
    """Open a file as a data set: with the roles of a recipe, else with those that are proposed.

    Parameters
    ----------
    path : path
        A file of any kind that `open_file` opens.
    recipe : path or Recipe, optional
        What `reident open` or `Schema.save` wrote.
    **given
        Keywords of `open_file` (how the file is read) and of `Dataset` (roles).

    Returns
    -------
    Dataset
        ``opened.receipts`` of it says what reading changed.
    """
    import inspect

    from reident.workbench.recipe import recipe_of

    told = None if recipe is None else read_recipe_of(recipe)
    reading = {name: given.pop(name) for name in list(given) if name in inspect.signature(open_file).parameters}
    if "crs" in reading and ("lat" in given or "places" in given):  # what the columns with places mean
        given["crs"] = reading.pop("crs")
    opened = open_file(path, **{**({} if told is None else dict(told.reading)), **reading})
    return dataset_of(opened, told or recipe_of(opened, str(path)), **given)


def dataset_of(opened: OpenedFile, recipe: Recipe, **given: Any) -> Dataset:
    """Return an opened file as a data set with the roles of a recipe."""
    recipe.check_places()
    if recipe.ends:
        return Dataset(relations_of(opened.data, recipe.ends, recipe.file), **given)._by(recipe)
    data = opened.data
    if hasattr(data, "to_crs") and data.geometry.name in recipe.named("place") and (shapes := recipe.shapes(data)):
        raise ParameterError(
            f"`{data.geometry.name}` must hold points to be where records are, got {', '.join(shapes)}: the role other "
            "leaves it out"
        )
    return Dataset(opened, Schema.of_recipe(recipe), **given)._by(recipe)


def read_recipe_of(recipe: Any) -> Recipe:
    """Return a recipe, read from its file if it is a path."""
    from reident.workbench.recipe import Recipe, read_recipe

    if isinstance(recipe, str | Path):
        return read_recipe(recipe)
    check_instance(recipe, "recipe", Recipe, "`read_recipe` gives it")
    given: Recipe = recipe
    return given
