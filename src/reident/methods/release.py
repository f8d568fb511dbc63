"""A release in the one form in which every attack and every measure of utility reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reident.base import DataError, FloatArray, IntArray, check_choice
from reident.networks.graph import DirectedNetwork, Network
from reident.places.distances import great_circle_km
from reident.places.points import LAT, LON

__all__ = ["LAT", "LON", "RELEASES", "Release"]

#: The kinds of release there are.
RELEASES = ("points", "distances", "table", "network", "answers")


@dataclass(frozen=True, eq=False)
class Release:
    """A release in the form in which attacks and utilities read it.

    Attributes
    ----------
    form : {"points", "distances", "table", "network", "answers"}
        What is released: records with places, records with the distances between them, records, a network, or numbers
        about records that are kept back.
    table : DataFrame
        The released records, without those left out: their columns, for points the places too (``lat_deg``,
        ``lon_deg``). The index holds the original's labels (for a network row i tells who is node i of `network`): the
        truth, which is kept back. For answers it has no columns.
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
    answers : mapping of str to object
        For the form "answers": ``counts``, and ``cells``, which says what was asked (`reident.methods.reading.Cells`).
    made : object
        What the method itself returned, with what only this method tells, such as losses.
    """

    form: str
    table: pd.DataFrame
    method: str
    options: Mapping[str, Any]
    n_original: int
    matrix_km: FloatArray | None = None
    network: Network | DirectedNetwork | None = None
    answers: Mapping[str, Any] = field(default_factory=dict)
    made: Any = None

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
        return self.form in ("points", "distances", "table")

    def labels(self, rows: IntArray) -> NDArray[Any]:
        """Return the original's labels of some records; None for a row of -1."""
        return self._labels[rows]

    @cached_property
    def _labels(self) -> NDArray[Any]:
        return np.concatenate([self.table.index.to_numpy(object), [None]])

    def between(self, rows: IntArray) -> FloatArray | None:
        """Return the distances between some records, km; None where none are released."""
        if self.has_places:
            part = self.table.iloc[rows]
            return great_circle_km(part[LAT].to_numpy(float), part[LON].to_numpy(float))
        return None if self.matrix_km is None else self.matrix_km[np.ix_(rows, rows)]

    @cached_property
    def distances_km(self) -> FloatArray | None:
        """Distances between the released records, km: those released, or those of released places; None without."""
        if self.form == "points":
            return great_circle_km(self.table[LAT].to_numpy(), self.table[LON].to_numpy())
        return self.matrix_km

    def distances(self) -> FloatArray:
        """Return `distances_km`.

        Raises
        ------
        DataError
            If the form has none.
        """
        if self.distances_km is None:
            raise DataError(f"a release of the form {self.form!r} has no distances between its records")
        return self.distances_km
