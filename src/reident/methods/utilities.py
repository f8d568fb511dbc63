"""Calls of measures of utility: the compared parts of the original and of the release.

A measure takes the two first, then what it names: the columns compared, numbers of the records, the sensitive column.
So a measure of a form that is here needs no code of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, ParameterError
from reident.methods._entry import Entry
from reident.methods.given import Given
from reident.methods.outcome import NotApplicable
from reident.methods.reading import cells_of, numbers_of, shares_of, values_of
from reident.methods.release import LAT, LON, Release
from reident.networks.graph import Network, reordered
from reident.places.distances import great_circle_km

__all__ = ["FURTHER", "UTILITIES", "Utility", "measure_utility"]


@dataclass(frozen=True)
class Utility:
    """One form of measures: the two things that they compare.

    Attributes
    ----------
    pair : callable
        Returns what is compared, or raises `NotApplicable` where the release has nothing of it.
    shared : bool
        Whether the value is taken of the records that are released, and those left out lose their share.
    """

    pair: Callable[[Any, pd.DataFrame, Release], tuple[Any, Any]]
    shared: bool = False

    def measure(
        self, entry: Entry, arguments: Mapping[str, Any], data: Any, original: pd.DataFrame, release: Release
    ) -> float:
        """Return the value of a measure with checked arguments."""
        before, after = self.pair(data, original, release)
        inputs = {
            name: FURTHER[name](data, original, release, before)
            for name in list(entry.signature)[2:]
            if name in FURTHER and name not in arguments
        }
        value = float(entry.function(before, after, **inputs, **arguments))
        share = len(release.table) / release.n_original if self.shared else 1.0
        return value * share if math.isfinite(value) else value


def _target(data: Any, original: pd.DataFrame, release: Release, _: Any) -> pd.Series:
    if data.sensitive is None or data.sensitive not in release.table.columns:
        raise NotApplicable("no sensitive column is released, which could be predicted")
    return original[data.sensitive]


#: What each further name of an argument means, of the data, the records, the release and the first of the pair.
FURTHER: dict[str, Given] = {
    "columns": Given(
        "list", "value label", "the columns compared",
        lambda data, original, release, before: list(before.columns),  # noqa: ARG005
    ),
    "values": Given(
        "ndarray", "distance point", "the released records' true values as numbers, a row each",
        lambda data, original, release, _: values_of(data, original.loc[release.table.index]),
    ),
    "target": Given("Series", "value label share", "the sensitive column of all records", _target),
}  # fmt: skip


def _kept(original: pd.DataFrame, release: Release, fewest: int) -> pd.DataFrame:
    if len(release.table) < fewest:
        raise NotApplicable(f"fewer than {fewest} records are released")
    return original.loc[release.table.index]


def _distances(_: Any, original: pd.DataFrame, release: Release) -> tuple[Any, Any]:
    """Return distances between the released records, true and released, km."""
    if release.distances_km is None:
        raise NotApplicable("no distances are released")
    originals = _kept(original, release, 3)
    return great_circle_km(originals[LAT].to_numpy(float), originals[LON].to_numpy(float)), release.distances_km


def _points(_: Any, original: pd.DataFrame, release: Release) -> tuple[Any, Any]:
    """Return the released records' places, true and released, as tables of degrees."""
    if not release.has_places:
        raise NotApplicable("no places are released")
    return _kept(original, release, 1)[[LAT, LON]], release.table[[LAT, LON]]


def _quasi(data: Any, release: Release) -> list[str]:
    listed = [column for column in data.quasi if column in release.table.columns]
    if not listed or not release.has_records:
        raise NotApplicable("no quasi-identifier is released")
    return listed


def _values(data: Any, original: pd.DataFrame, release: Release) -> tuple[Any, Any]:
    """Return quasi-identifiers as numbers, see `numbers_of`; all records of the original, by index label."""
    _quasi(data, release)
    return numbers_of(data, original), numbers_of(data, release.table)


def _labels(data: Any, original: pd.DataFrame, release: Release) -> tuple[Any, Any]:
    """Return quasi-identifiers as they are written."""
    listed = _quasi(data, release)
    return original[listed], release.table[listed]


def _shares(data: Any, original: pd.DataFrame, release: Release) -> tuple[Any, Any]:
    """Return how likely each record is in each bin of each column, see `shares_of`.

    The sensitive column is one of them where it is released; columns that a method adds or drops are not compared.
    """
    listed = _quasi(data, release)
    listed += [data.sensitive] if data.sensitive in release.table.columns else []
    return shares_of(data, original, listed), shares_of(data, release.table, listed)


def _networks(data: Any, original: pd.DataFrame, release: Release) -> tuple[Any, Any]:
    """Return the two networks, nodes named by the original's labels."""
    if not isinstance(release.network, Network) or data.network is None:
        raise NotApplicable("no network without directions is released")
    place = original.index.get_indexer(release.table.index)
    if (place < 0).any() or len(place) != len(original):
        raise DataError("the released network must have the nodes of the original")
    return reordered(data.network, np.arange(len(original))), reordered(release.network, place)


def _answers(data: Any, original: pd.DataFrame, release: Release) -> tuple[Any, Any]:
    """Return answers to counting queries about every two columns: those given, or those that records give."""
    if "cells" in release.answers:
        return release.answers["cells"].answers(original), release.answers["counts"]
    cells = cells_of(data)
    if not release.has_records or not set(cells.columns) <= set(release.table.columns):
        raise NotApplicable("neither answers nor the records' columns are released")
    return cells.answers(original), cells.answers(release.table)


#: The form of an entry of a metric -> how it is called.
UTILITIES: dict[str, Utility] = {
    "distance utility": Utility(_distances, shared=True),
    "point utility": Utility(_points, shared=True),
    "value utility": Utility(_values),
    "label utility": Utility(_labels),
    "share utility": Utility(_shares),
    "network utility": Utility(_networks),
    "answer utility": Utility(_answers),
}


def measure_utility(
    entry: Entry, options: Mapping[str, Any], data: Any, original: pd.DataFrame, release: Release
) -> float | None:
    """Return the utility of a release by a registered measure; None where the measure does not apply.

    Parameters
    ----------
    entry : Entry
        A metric.
    options : mapping
        Its parameters.
    data : Microdata
        Roles, hierarchies and public domain of the columns.
    original : DataFrame
        The records that were to be released, labels as in the release.
    release : Release
    """
    if entry.form not in UTILITIES:
        raise ParameterError(f"`utilities` must be measures of utility, got {entry.name!r}: form {entry.form!r}")
    try:
        value = UTILITIES[entry.form].measure(entry, entry.arguments(options), data, original, release)
    except NotApplicable:
        return None
    return None if np.isnan(value) else value
