"""Dataset: confidential records with the roles of their columns, in the forms that methods and attacks take."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.base import (
    IntArray,
    ParameterError,
    Parameters,
    check_choice,
    check_columns,
    check_listed,
    check_mapping,
    check_several,
    check_table,
)
from reident.methods.release import LAT, LON, Knowledge
from reident.networks.files import Relations, read_graph, relations_of
from reident.networks.graph import Network, as_network, by_name, reordered
from reident.places.points import check_crs
from reident.tables.labels import places_among
from reident.workbench.files import with_places, without_apostrophes
from reident.workbench.microdata import (
    Microdata,
    has_places,
    hierarchies_of,
    in_columns,
    is_graph,
    microdata,
    persons_of,
)
from reident.workbench.opening import OpenedFile, open_file
from reident.workbench.readers import geometry_of
from reident.workbench.recipe import open_by_recipe, read_recipe_of
from reident.workbench.roles import survey_weights
from reident.workbench.schema import IMPOSSIBLE, INTRUDERS, UNKNOWN, Column, Schema

#: Keywords of `Dataset` that are no roles, with their values for none.
_SETTINGS = {
    "hierarchies": None, "public": None, "register": None, "earlier": (), "control": None, "must_keep": (),
    "epsilon_quasi": (), "release_crs": None, "impossible": IMPOSSIBLE[0],
    "intruder": INTRUDERS[0],
}  # fmt: skip


class Dataset:
    """Confidential records with their schema: the one argument of `protect`, `evaluate`, `assess` and `check`.

    Parameters
    ----------
    data : DataFrame, GeoDataFrame, OpenedFile, or a network
        Row i is record i: pairs and reports name it by this number. Not modified. Of a network, whatever `as_network`
        takes, the nodes are the records.
    schema : Schema, optional
        Default: what `open_file` proposed for an opened file, else no roles.
    network : graph or path, optional
        Relations between persons. Attacks on records use it where its nodes are the index of `data`.
    **keywords
        Roles: ``quasi``, ``sensitive``, ``identifier``, ``other`` (names), ``person``, ``household``, ``weight`` (one
        name), ``places`` (two names) or ``lat`` and ``lon``, ``crs``, ``population``.

        ``hierarchies``: mapping of columns to Hierarchy or to a form of one. ``public``, ``register``, ``earlier``,
        ``control``: public inputs of methods; a public list of the population; earlier releases of the same persons;
        records of the same population that took no part in making a synthetic table. ``epsilon_quasi``: numeric
        quasi-identifiers that may get noise inside classes. ``must_keep``: what an advised release must not withhold,
        "place", or a quasi-identifier, and with it all that are released. ``impossible``: whether a record whose
        place is not on the earth counts as one without a place ("leave out", the default) or is an error ("refuse").
        ``release_crs``: what the coordinates of a
        release mean, where they differ from the original's. ``intruder``: knows that a person is in the file
        ("prosecutor", the default), or does not ("journalist"): then the survey weights say how probable that is.

    Attributes
    ----------
    limit, tolerate : float
        Tolerable risk of a person, and tolerable share of persons above it, where a recipe states them.
    named_network : Network or None
        The relations, nodes under their own names; of `network` node i is record i.
    receipts : list of str
        What reading the file changed, a sentence each.

    Examples
    --------
    >>> people = Dataset(pd.DataFrame({"age": [30, 30, 41], "ill": ["a", "b", "a"]}), quasi="age", sensitive="ill")
    >>> people.quasi, people.sensitive, len(people)
    (['age'], ['ill'], 3)
    """

    _settings: Parameters = _SETTINGS

    def __init__(self, data: Any, schema: Schema | None = None, *, network: Any = None, **keywords: Any) -> None:
        self.opened: OpenedFile | None = None
        self.receipts, proposed = list[str](), None
        self.marks, self.limit, self.tolerate = pd.DataFrame(), 0.25, 0.0
        if isinstance(data, OpenedFile):
            self.opened, self.receipts, proposed, data = data, data.receipts, data.schema, data.data
        if isinstance(data, Relations):
            data, self.marks = data.network, data.marks
        if is_graph(data):
            network = by_name(as_network(data, "data"))
            data = persons_of(network)
        elif network is not None:
            is_file = isinstance(network, str | Path)
            network = by_name(read_graph(network) if is_file else as_network(network, "network"))
        self.labels = pd.Index(data.index) if isinstance(data, pd.DataFrame) else pd.RangeIndex(0)
        check_table(data, "data")
        data = without_apostrophes(data) if len(data.columns) else data
        self.data = data.set_axis(np.arange(len(data)))
        is_proposed = schema is None
        schema = schema or proposed or self._without_roles()
        unstated = {name: Column() for name in self.data.columns if name not in schema.columns}
        schema = replace(schema, columns={**schema.columns, **unstated})
        geometry = geometry_of(self.data)
        if geometry is not None and not is_proposed and schema.columns[geometry].role not in ("", "place"):
            self.data = pd.DataFrame(self.data.drop(columns=geometry))
        named = [n for n, column in schema.columns.items() if column.role not in ("", "other") and n != geometry]
        check_columns(self.data, named, "schema", table_name="data", min_columns=0)
        self.schema = schema
        self.named_network = network
        self.network = None if network is None else self._ordered(network)
        self._take(keywords)
        self.schema = schema.with_roles(**keywords) if keywords else schema

    def _take(self, keywords: Parameters) -> None:
        """Take keywords that are no roles out of all keywords, check and store them."""
        given = {name: keywords.pop(name) for name in list(keywords) if name in _SETTINGS}
        settings = self._settings = self._settings | given
        self.forms = dict(check_mapping(settings["hierarchies"], "hierarchies", optional=True))
        self.public = dict(settings["public"] or {})
        tables = {name: settings[name] for name in ("register", "control")}
        self.register, self.control = (None if t is None else check_table(t, name) for name, t in tables.items())
        self.earlier = check_listed(settings["earlier"], "earlier")
        self.must_keep = check_several(settings["must_keep"], "must_keep")
        self.epsilon_quasi = check_columns(
            self.data, settings["epsilon_quasi"], "epsilon_quasi", table_name="data", min_columns=0
        )
        self.intruder = check_choice(settings["intruder"], "intruder", INTRUDERS)
        self.impossible = check_choice(settings["impossible"], "impossible", IMPOSSIBLE)
        self.release_crs = check_crs(settings["release_crs"], "release_crs")

    @classmethod
    def of(cls, data: Any, *, recipe: Any = None, **keywords: Any) -> Dataset:
        """Return a data set: as it is, with further roles, or made of a table, a file or a network and keywords.

        Parameters
        ----------
        data : Dataset, path, OpenedFile, table or network
        recipe : Recipe or path, optional
            Its roles, limit and tolerance are taken.
        **keywords
            Keywords of `Dataset`.
        """
        if isinstance(data, Dataset):
            return data.with_roles(**keywords) if keywords else data
        if isinstance(data, str | Path):
            return open_dataset(data, recipe, **keywords)
        if recipe is None:
            return cls(data, **keywords)
        recipe = read_recipe_of(recipe)
        keywords = {"intruder": recipe.intruder, "impossible": recipe.impossible, **keywords}
        schema, is_opened = recipe.schema, isinstance(data, OpenedFile)
        if is_opened:
            cells = data.data
            geometry = geometry_of(cells)
            if loose := [name for name in schema.named("place") if name != geometry]:
                raise ParameterError(
                    f"`role` of {loose[0]!r} must be latitude or longitude: only a geometry is a place"
                )
            is_place = geometry in schema.named("place")
            if is_place and (shapes := sorted(set(cells.geometry.geom_type.dropna()) - {"Point"})):
                raise ParameterError(
                    f"`{geometry}` must hold points to be where records are, got {', '.join(shapes)}: the "
                    "role other leaves it out"
                )
        if is_opened and schema.ends:
            dataset = cls(relations_of(data.data, schema.ends, recipe.file), **keywords)
        else:
            dataset = cls(data, schema, **keywords)
        dataset.limit, dataset.tolerate = recipe.limit, recipe.tolerate
        return dataset

    def _without_roles(self) -> Schema:
        schema = Schema({name: Column() for name in self.data.columns})
        return schema.with_roles(lat=LAT, lon=LON) if {LAT, LON} <= set(schema.columns) else schema

    def _ordered(self, network: Network) -> Network | None:
        """Return the network with node i as record i; None where its nodes are not the records."""
        place = self.labels.get_indexer(pd.Index(list(network.nodes)))
        if (place < 0).any() or len(self.labels) != network.n_nodes:
            return None
        return reordered(network, place)

    def _changed(self, **attributes: Any) -> Dataset:
        dataset = copy.copy(self)
        for name in ("table", "frame", "hierarchies", "guarded"):
            dataset.__dict__.pop(name, None)
        dataset.__dict__.update(attributes)
        return dataset

    def part(self, rows: IntArray) -> Dataset:
        """Return the data set of some records, the population that weights stand for in proportion."""
        population = self.schema.population
        share = None if population is None else population * len(rows) / max(1, len(self))
        data, labels = self.data.iloc[rows].reset_index(drop=True), self.labels[rows]
        schema = replace(self.schema, population=share)
        return self._changed(data=data, labels=labels, schema=schema, network=None, named_network=None)

    def without(self, columns: Sequence[str]) -> Dataset:
        """Return the same data without the roles of some columns."""
        noisy = [name for name in self.epsilon_quasi if name not in columns]
        roles = {name: "" for name in columns if self.schema.columns[name].role in ("quasi-identifier", "sensitive")}
        stored = {"frame": self.frame, "table": self.table, "hierarchies": self.hierarchies}
        settings = {**self._settings, "epsilon_quasi": noisy}
        return self._changed(schema=self.schema.assign(roles), epsilon_quasi=noisy, _settings=settings, **stored)

    @property
    def names(self) -> pd.Index:
        """The name of each record: of nodes their own, else the row number."""
        return self.labels if not len(self.data.columns) else self.data.index

    def __len__(self) -> int:
        return len(self.data)

    def with_roles(self, **keywords: Any) -> Dataset:
        """Return the same data with other roles, or with other keywords of `Dataset`."""
        dataset = self._changed()
        dataset._take(keywords)
        dataset.schema = self.schema.with_roles(**keywords)
        return dataset

    @property
    def quasi(self) -> list[str]:
        """The columns that an intruder may know, beside places."""
        return list(dict.fromkeys([*self.schema.named("quasi-identifier"), *self.epsilon_quasi]))

    @property
    def sensitive(self) -> list[str]:
        """The columns that must not become known."""
        return self.schema.named("sensitive")

    @property
    def first_sensitive(self) -> str | None:
        """The sensitive column with the fewest values, None without one: methods look at it."""
        return min(self.sensitive, key=lambda name: self.data[name].nunique(), default=None)

    @property
    def places(self) -> tuple[str, str] | None:
        """The columns with latitude and longitude (or north and east); None without, or for a geometry."""
        return self.schema.places

    @property
    def crs(self) -> str | None:
        """The CRS of the columns with places, None for degrees."""
        return self.schema.crs

    @cached_property
    def frame(self) -> Any:
        """The records, columns with places in ``lat_deg`` and ``lon_deg``; a GeoDataFrame keeps its geometry."""
        lat, lon = self.places or (None, None)
        refuses = self.impossible != IMPOSSIBLE[0]
        return with_places(self.data, lat, lon, self.crs, refuses=refuses) if len(self.data.columns) else self.data

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
        return hierarchies_of(stated | self.forms, self.data)

    @cached_property
    def guarded(self) -> dict[str, list[Any]]:
        """The values that are a secret, of the sensitive columns of which some values are none.

        Raises
        ------
        ParameterError
            If no record has such a value.
        """
        columns = {name: self.schema.columns[name].secret for name in self.sensitive}
        guarded = {name: list(values) for name, values in columns.items() if values is not None}
        for name, values in guarded.items():
            present = pd.Index(self.data[name].dropna().unique(), dtype=object)
            for value, place in zip(values, places_among(pd.Series(values, dtype=object), present), strict=True):
                if place < 0:
                    raise ParameterError(
                        f"`sensitive` must name a value of {name}, got {value!r}: it has "
                        f"{', '.join(map(str, present[:6]))}"
                    )
        return guarded

    def weights(self) -> tuple[pd.Series | None, str]:
        """Return the number of persons that each record stands for, and a note about changes of the weights."""
        name = self.schema.single("weight")
        return (None, "") if name is None else survey_weights(self.data[name], self.schema.population)

    def persons(self) -> pd.Series | None:
        """Return the person of each record; None where each record is a person."""
        name = self.schema.single("person")
        return None if name is None or self.data[name].is_unique else self.data[name]

    def records(self, kind: str | None = None, **keywords: Any) -> Microdata:
        """Return the records in the form in which methods take them; see `microdata`."""
        return microdata(self, kind, **keywords)

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
        columns = (table[self.quasi] if known is None else known).set_axis(table.index)
        if self.has_places:
            columns = columns.assign(**{name: table[name] for name in (LAT, LON)})
        if self.intruder != INTRUDERS[0] and self.schema.single("weight") is None:
            raise ParameterError(
                "`intruder` journalist needs survey weights, which say how many persons each record stands for, got "
                "none: `weight` names their column, in a recipe its role is weight"
            )
        secrets = {name: table[name] for name in self.sensitive}
        household = self.schema.single("household")
        return Knowledge(
            known=columns, quasi=listed, truth=truth, sensitive=next(iter(secrets), None), secrets=secrets,
            persons=self.persons(), guarded=self.guarded, knows_presence=self.intruder == INTRUDERS[0],
            households=None if household is None else table[household], weights=self.weights()[0],
            hierarchies=self.hierarchies, network=self.network, register=self.register, **further,
        )  # fmt: skip


def open_dataset(path: str | Path | None = None, recipe: Any = None, **keywords: Any) -> Dataset:
    """Open a file as a data set: with the roles of a recipe, else with those that are proposed.

    Parameters
    ----------
    path : path, optional
        A file of any kind that `open_file` opens. Default: the one that the recipe names.
    recipe : path or Recipe, optional
        What `reident open` or `Schema.save` wrote.
    **keywords
        Keywords of `open_file` (how the file is read) and of `Dataset` (roles).

    Returns
    -------
    Dataset
        Its attribute `receipts` lists what reading changed.
    """
    reading = {name: keywords.pop(name) for name in list(keywords) if name in inspect.signature(open_file).parameters}
    if "crs" in reading and ("lat" in keywords or "places" in keywords):  # what the columns with places mean
        keywords["crs"] = reading.pop("crs")
    opened, stated = open_by_recipe(path, recipe, **reading)
    return Dataset.of(opened, recipe=stated, **keywords)
