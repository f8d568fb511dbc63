"""A release and an intruder's knowledge, in the one form in which attacks and measures of utility read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reident.base import BoolArray, FloatArray, IntArray, check_choice
from reident.networks.graph import DirectedNetwork, Network
from reident.places.distances import great_circle_km
from reident.places.points import LAT as LAT
from reident.places.points import LON as LON
from reident.tables.agreement import Agreement, ComparedColumn, agreement, compare_columns, kept_columns

#: The kinds of release there are.
RELEASES = ("points", "distances", "table", "network")

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Release:
    """A release in the form in which attacks and utilities read it.

    Attributes
    ----------
    form : {"points", "distances", "table", "network"}
        What is released: records with places, records with the distances between them, records, or a network.
    table : DataFrame
        The released records, without those left out: their columns, for points the places too (``lat_deg``,
        ``lon_deg``). The index holds the original's labels (of a network row i is about node i of `network`): the
        truth, which is not released.
    method : str
        Its name in the registry; ``"original"`` for the data as they are.
    options : mapping
        All options of the method, checked.
    n_original : int
        Records before some were left out.
    matrix_km : ndarray of float64, shape (n, n), or None
        The released distances, for the form "distances".
    network : Network, DirectedNetwork or None
        For the form "network".
    """

    form: str
    table: pd.DataFrame
    method: str
    options: Mapping[str, Any]
    n_original: int
    matrix_km: FloatArray | None = None
    network: Network | DirectedNetwork | None = None

    def __post_init__(self) -> None:
        check_choice(self.form, "form", RELEASES)

    @property
    def has_places(self) -> bool:
        """Whether places are released."""
        return self.form == "points"

    @property
    def has_distances(self) -> bool:
        """Whether distances between the records are released, or places."""
        return self.form in ("points", "distances")

    @property
    def has_records(self) -> bool:
        """Whether records with their columns are released."""
        return self.form != "network"

    def labels(self, rows: IntArray) -> NDArray[Any]:
        """Return the original's labels of some records; None for a row of -1."""
        return np.concatenate([self.table.index.to_numpy(object), [None]])[rows]

    def between(self, rows: IntArray) -> FloatArray | None:
        """Return the distances between some records, km; None where none are released."""
        if self.has_places:
            return great_circle_km(*places_of(self.table.iloc[rows]))
        return None if self.matrix_km is None else self.matrix_km[np.ix_(rows, rows)]

    @cached_property
    def distances_km(self) -> FloatArray | None:
        """Distances between the released records, km: those released, or those of released places; None without."""
        return self.between(np.arange(len(self.table))) if self.has_places else self.matrix_km


@dataclass(frozen=True, eq=False)
class Knowledge:
    """The intruder's knowledge, and the truth by which claims are judged.

    Attributes
    ----------
    known : DataFrame
        One row a person: the quasi-identifiers, and the places if these are known (``lat_deg``, ``lon_deg``).
    quasi : sequence of str
        Columns of `known` that the intruder uses beside places.
    truth : ndarray of int64, shape (n_known,)
        The row of the release that is each person's, -1 for a person who is not in it. It serves to judge claims,
        never to make them, except where an attack says so.
    sensitive : str or None
        The column to be learned.
    secrets : mapping of str to Series
        The true values of this and of other columns to be learned, a person a row, to judge claims.
    guarded : mapping of str to sequence
        Of a column to be learned the values that are a secret, as an illness is and its absence is not; default: all.
    households : Series or None
        The household of each person; missing for a person who lives alone.
    weights : Series or None
        How many persons of the population each person stands for.
    persons : Series or None
        The person of each record, by the labels of `known` and of the release; None where each is a person's. Then a
        row of `known` is a record, and attacks count persons (`reident.methods.attacks`).
    hierarchies : mapping
        How categories are generalised, column -> Hierarchy.
    network : Network or None
        The relations that the intruder knows; node i is the person of row i of `known`.
    windows : callable or None
        ``windows(alpha, n_simulations, rng)`` returns the deviations of distances that the intruder tolerates
        (``window_km`` or ``intervals_km``), because they know the method.
    repeat : callable or None
        ``repeat(rng, rows=None)`` makes another release by the same method, of all records or of those of some rows.
    earlier : sequence of Release
        Releases of the same persons from before.
    register : DataFrame or None
        A public list of the population with the quasi-identifiers.
    knows_presence : bool
        Whether the intruder knows that each person is in the file (the prosecutor), or not (the journalist): risks are
        then multiplied by the probability that the person is, which the weights say.
    public : mapping of str to DataFrame
        Public inputs of attacks, as `reident.methods.forms.read_public` returns them.
    n_persons : int
        Persons on whom costly attacks are tried; drawn at random.
    release : Release
        The release that is attacked, set by `on`; `compared`, `unperturbed` and `agreement` compare what is known
        with it.
    """

    known: pd.DataFrame
    quasi: Sequence[str]
    truth: IntArray
    sensitive: str | None = None
    secrets: Mapping[str, pd.Series] = field(default_factory=dict)
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    network: Network | None = None
    windows: Callable[..., dict[str, Any]] | None = None
    repeat: Callable[..., Release] | None = None
    earlier: Sequence[Release] = ()
    register: pd.DataFrame | None = None
    public: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    n_persons: int = 2000
    households: pd.Series | None = None
    weights: pd.Series | None = None
    persons: pd.Series | None = None
    guarded: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    knows_presence: bool = True
    release: Release = field(default=None, repr=False)  # type: ignore[assignment]

    @property
    def has_places(self) -> bool:
        """Whether the intruder knows where the persons live."""
        return {LAT, LON} <= set(self.known.columns)

    @property
    def secret(self) -> pd.Series:
        """The true values of the sensitive column."""
        return self.secrets[str(self.sensitive)]

    @property
    def present(self) -> BoolArray:
        """Mask of the persons in the release."""
        return self.truth >= 0

    @property
    def who(self) -> pd.Index:
        """Person of each row of `known`: its label, or the person column where persons have several records."""
        return self.who_of(self.known.index)

    def who_of(self, labels: pd.Index) -> pd.Index:
        """Return the persons of some records; an unknown person counts as different from all others."""
        if self.persons is None:
            return labels
        persons = self.persons.reindex(labels).to_numpy(object)
        return pd.Index(np.where(pd.isna(persons), labels.to_numpy(object), persons), dtype=object)

    def pairs(self) -> tuple[IntArray, IntArray]:
        """Return the rows of the true pairs, (known, release)."""
        persons = np.flatnonzero(self.present)
        return persons, self.truth[persons]

    def on(self, release: Release, **changes: Any) -> Knowledge:
        """Return this knowledge about a release, with other changes where they are given."""
        return self if release is self.release and not changes else replace(self, release=release, **changes)

    def of(self, persons: IntArray) -> Knowledge:
        """Return the knowledge of some persons, given by their rows, without their relations."""
        columns = {"known": self.known, "households": self.households, "weights": self.weights}
        parts: dict[str, Any] = {
            name: None if column is None else column.iloc[persons] for name, column in columns.items()
        }
        secrets = {name: column.iloc[persons] for name, column in self.secrets.items()}
        return replace(self, truth=self.truth[persons], secrets=secrets, network=None, **parts)

    def about(self, column: str) -> Knowledge:
        """Return the same knowledge of an intruder with another sensitive column as the target."""
        if column == self.sensitive:
            return self
        other = copy(self)  # with what is compared, which is the same
        object.__setattr__(other, "sensitive", column)
        return other

    @cached_property
    def compared(self) -> dict[str, ComparedColumn]:
        """The quasi-identifiers that the release has, compared with it."""
        columns = [column for column in self.quasi if column in self.release.table]
        return compare_columns(self.known, self.release.table, columns, self.hierarchies)

    @cached_property
    def unperturbed(self) -> list[str]:
        """The quasi-identifiers that the release left as they were, generalised or rounded."""
        return kept_columns(self.compared, *self.pairs())

    @cached_property
    def agreement(self) -> Agreement:
        """Which released records agree with each person in the columns that are not perturbed."""
        return agreement(self.compared, self.unperturbed, self.release.table, len(self.known))

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return an object that several attacks need, made once and stored under a name."""
        if name not in self._stored:
            self._stored[name] = make()
        return self._stored[name]

    def sample(self, rng: np.random.Generator) -> IntArray:
        """Draw the rows of the persons for a costly attack, in order."""
        n = len(self.known)
        return np.sort(rng.choice(n, self.n_persons, replace=False)) if n > self.n_persons else np.arange(n)

    @cached_property
    def _stored(self) -> dict[str, Any]:
        return {}


def places_of(table: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
    """Return the latitudes and longitudes of a table, degrees."""
    return table[LAT].to_numpy(float), table[LON].to_numpy(float)


def have_places(table: pd.DataFrame) -> BoolArray:
    """Tell of each record whether it has a place; all True where the table holds none."""
    if not {LAT, LON} <= {*table.columns}:
        return np.ones(len(table), dtype=bool)
    return np.isfinite(table[[LAT, LON]].to_numpy(float)).all(axis=1)


def value_ids(columns: Sequence[Any]) -> IntArray:
    """Return a number for each combination of values, in order of appearance; missing values are equal."""
    groups = pd.DataFrame(index=range(len(columns[0]))).groupby(list(columns), dropna=False, sort=False)
    return groups.ngroup().to_numpy(np.int64)


def own_numbers(column: pd.Series) -> IntArray:
    """Return a number for each value of a column, and another one for each cell that is missing."""
    codes = pd.factorize(column)[0]
    missing = codes < 0
    codes[missing] = codes.max(initial=-1) + 1 + np.arange(missing.sum())
    return codes
