"""The intruder's knowledge, compared with a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd

from reident.base import BoolArray, IntArray
from reident.methods.release import LAT, LON, Release
from reident.networks.graph import Network
from reident.tables.agreement import Agreement, ComparedColumn, agreement, compare_columns, kept_columns

__all__ = ["Knowledge"]

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Knowledge:
    """The intruder's knowledge.

    Attributes
    ----------
    known : DataFrame
        One row a person: the quasi-identifiers, and the places if these are known (``lat_deg``, ``lon_deg``).
    quasi : sequence of str
        Columns of `known` that the intruder uses beside places.
    truth : ndarray of int64, shape (n_known,), or None
        The row of the release that is each person's, -1 for who is not in it; None where nobody can tell. It serves to
        judge claims, never to make them, except where an attack says so.
    sensitive : str or None
        The column to be learned, and
    secrets : Series or None
        its true values, a person a row, to judge claims.
    further : mapping of str to Series
        Other columns to be learned, with their true values.
    households : Series or None
        The household of each person; missing for who lives alone.
    weights : Series or None
        How many persons of the population each person stands for.
    persons : Series or None
        Whose each record is, by the labels of `known` and of the release; None where each is a person's. Then a row of
        `known` is a record, and attacks count persons (`reident.methods.persons`).
    hierarchies : mapping
        How categories are generalised, column -> Hierarchy.
    network : Network or None
        The relations that the intruder knows; node i is the person of row i of `known`.
    windows : callable or None
        ``windows(alpha, n_simulations, rng, rule)`` returns the deviations of distances that the intruder tolerates
        (``window_km`` or ``intervals_km``), because they know the method.
    again : callable or None
        ``again(rng, rows=None)`` makes another release by the same method, of all records or of those of some rows.
    earlier : sequence of Release
        Releases of the same persons from before.
    register : DataFrame or None
        A public list of the population with the quasi-identifiers.
    public : mapping of str to DataFrame
        Public inputs of attacks, as `reident.methods.given.read_public` returns them.
    n_persons : int
        Persons on whom costly attacks are tried; drawn at random.
    """

    known: pd.DataFrame
    quasi: Sequence[str]
    truth: IntArray | None = None
    sensitive: str | None = None
    secrets: pd.Series | None = None
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    network: Network | None = None
    windows: Callable[..., dict[str, Any]] | None = None
    again: Callable[..., Release] | None = None
    earlier: Sequence[Release] = ()
    register: pd.DataFrame | None = None
    public: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    n_persons: int = 2000
    further: Mapping[str, pd.Series] = field(default_factory=dict)
    households: pd.Series | None = None
    weights: pd.Series | None = None
    persons: pd.Series | None = None

    @property
    def has_places(self) -> bool:
        """Whether the intruder knows where the persons live."""
        return {LAT, LON} <= set(self.known.columns)

    @property
    def present(self) -> BoolArray:
        """Mask of the persons in the release; all True where the truth is unknown."""
        return np.ones(len(self.known), dtype=bool) if self.truth is None else self.truth >= 0

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

    def pairs(self) -> tuple[IntArray | None, IntArray | None]:
        """Return the rows of the true pairs, (known, release); None twice where the truth is unknown."""
        if self.truth is None:
            return None, None
        persons = np.flatnonzero(self.truth >= 0)
        return persons, self.truth[persons]

    def of(self, persons: IntArray) -> Knowledge:
        """Return the knowledge of some persons, given by their rows, without their relations."""
        return replace(
            self,
            known=self.known.iloc[persons],
            truth=None if self.truth is None else self.truth[persons],
            secrets=None if self.secrets is None else self.secrets.iloc[persons],
            further={name: column.iloc[persons] for name, column in self.further.items()},
            households=None if self.households is None else self.households.iloc[persons],
            weights=None if self.weights is None else self.weights.iloc[persons],
            network=None,
        )

    def about(self, column: str) -> Knowledge:
        """Return the same knowledge of an intruder with another sensitive column as the target."""
        if column == self.sensitive:
            return self
        other = replace(self, sensitive=column, secrets=self.further[column])
        other.__dict__["_stored"] = self._stored  # what is compared is the same
        return other

    def compared(self, release: Release) -> dict[str, ComparedColumn]:
        """Compare the quasi-identifiers that the release has; done once a release."""

        def compare() -> dict[str, ComparedColumn]:
            columns = [column for column in self.quasi if column in release.table.columns]
            return compare_columns(self.known, release.table, columns, self.hierarchies)

        return self.once(release, "compared", compare)

    def kept(self, release: Release) -> list[str]:
        """Return the quasi-identifiers that the release left as they were, generalised or rounded."""
        return self.once(release, "kept", lambda: kept_columns(self.compared(release), *self.pairs()))

    def agreement(self, release: Release) -> Agreement:
        """Return which released records agree with each person in the columns kept."""
        compared, kept = self.compared(release), self.kept(release)
        return self.once(release, "agreement", lambda: agreement(compared, kept, release.table, len(self.known)))

    def once(self, release: Release, name: str, make: Callable[[], T]) -> T:
        """Return an object that several attacks on a release need, made once and stored under a name."""
        # The release is stored, too, so that its id stays its own.
        stored = self._stored.setdefault(id(release), (release, {}))[1]
        if name not in stored:
            stored[name] = make()
        return cast(T, stored[name])

    def sample(self, rng: np.random.Generator) -> IntArray:
        """Draw the rows of the persons for a costly attack, in order."""
        n = len(self.known)
        return np.sort(rng.choice(n, self.n_persons, replace=False)) if n > self.n_persons else np.arange(n)

    @cached_property
    def _stored(self) -> dict[int, tuple[Release, dict[str, Any]]]:
        return {}
