"""How a measure of utility is called: what it compares of the original with what of the release.

A measure takes the two first, then what it names: the columns compared, numbers of the records, the sensitive column.
So a measure of a form that is here needs no code of its own.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, ParameterError
from reident.methods._entry import Entry
from reident.methods.outcome import NotApplicable
from reident.methods.reading import cells_of, numbers_of, shares_of, values_of
from reident.methods.release import LAT, LON, Release
from reident.networks.graph import Network, reordered
from reident.places.distances import great_circle_km

__all__ = ["UTILITIES", "Utility", "measure_utility"]


class Utility(ABC):
    """One form of measures: the two things that they compare."""

    #: Whether the value is taken of the records that are released, and those left out lose their share.
    shared = False

    @abstractmethod
    def pair(self, data: Any, original: pd.DataFrame, release: Release) -> tuple[Any, Any]:
        """Return what is compared, or raise `NotApplicable` where the release has nothing of it."""

    def measure(
        self, entry: Entry, arguments: Mapping[str, Any], data: Any, original: pd.DataFrame, release: Release
    ) -> float:
        """Return the value of a measure with checked arguments."""
        before, after = self.pair(data, original, release)
        given = {
            name: GIVEN[name](data, original, release, before)
            for name in list(entry.signature)[2:]
            if name in GIVEN and name not in arguments
        }
        value = float(entry.function(before, after, **given, **arguments))
        share = len(release.table) / release.n_original if self.shared else 1.0
        return value * share if math.isfinite(value) else value


def _target(data: Any, original: pd.DataFrame, release: Release, _: Any) -> pd.Series:
    if data.sensitive is None or data.sensitive not in release.table.columns:
        raise NotApplicable("no sensitive column is released, which could be predicted")
    return original[data.sensitive]


#: What each further name of an argument means.
GIVEN: dict[str, Any] = {
    "columns": lambda data, original, release, before: list(before.columns),  # noqa: ARG005
    "values": lambda data, original, release, _: values_of(data, original.loc[release.table.index]),
    "target": _target,
}


def _kept(original: pd.DataFrame, release: Release, least: int) -> pd.DataFrame:
    if len(release.table) < least:
        raise NotApplicable(f"fewer than {least} records are released")
    return original.loc[release.table.index]


class DistanceUtility(Utility):
    """Distances between the released records, true and released, km."""

    shared = True

    def pair(self, data: Any, original: pd.DataFrame, release: Release) -> tuple[Any, Any]:  # noqa: ARG002
        if release.distances_km is None:
            raise NotApplicable("no distances are released")
        kept = _kept(original, release, 3)
        return great_circle_km(kept[LAT].to_numpy(float), kept[LON].to_numpy(float)), release.distances_km


class PointUtility(Utility):
    """The released records' places, true and released, as tables of degrees."""

    shared = True

    def pair(self, data: Any, original: pd.DataFrame, release: Release) -> tuple[Any, Any]:  # noqa: ARG002
        if not release.has_places:
            raise NotApplicable("no places are released")
        return _kept(original, release, 1)[[LAT, LON]], release.table[[LAT, LON]]


def _quasi(data: Any, release: Release) -> list[str]:
    listed = [column for column in data.quasi if column in release.table.columns]
    if not listed or not release.has_records:
        raise NotApplicable("no quasi-identifier is released")
    return listed


class ValueUtility(Utility):
    """Quasi-identifiers as numbers, see `numbers_of`; all records of the original, by index label."""

    def pair(self, data: Any, original: pd.DataFrame, release: Release) -> tuple[Any, Any]:
        _quasi(data, release)
        return numbers_of(data, original), numbers_of(data, release.table)


class LabelUtility(Utility):
    """Quasi-identifiers as they are written."""

    def pair(self, data: Any, original: pd.DataFrame, release: Release) -> tuple[Any, Any]:
        listed = _quasi(data, release)
        return original[listed], release.table[listed]


class ShareUtility(Utility):
    """How likely each record is in each bin of each column, see `shares_of`; the sensitive column where it is released.

    Columns that a method adds or drops are not compared.
    """

    def pair(self, data: Any, original: pd.DataFrame, release: Release) -> tuple[Any, Any]:
        listed = _quasi(data, release)
        listed += [data.sensitive] if data.sensitive in release.table.columns else []
        return shares_of(data, original, listed), shares_of(data, release.table, listed)


class NetworkUtility(Utility):
    """The two networks, nodes named by the original's labels."""

    def pair(self, data: Any, original: pd.DataFrame, release: Release) -> tuple[Any, Any]:
        if not isinstance(release.network, Network) or data.network is None:
            raise NotApplicable("no network without directions is released")
        place = original.index.get_indexer(release.table.index)
        if (place < 0).any() or len(place) != len(original):
            raise DataError("the released network must have the nodes of the original")
        return reordered(data.network, np.arange(len(original))), reordered(release.network, place)


class AnswerUtility(Utility):
    """Answers to counting queries about the tables of every two columns: those given, or those that records give."""

    def pair(self, data: Any, original: pd.DataFrame, release: Release) -> tuple[Any, Any]:
        if "cells" in release.answers:
            return release.answers["cells"].answers(original), release.answers["counts"]
        cells = cells_of(data)
        if not release.has_records or not set(cells.columns) <= set(release.table.columns):
            raise NotApplicable("neither answers nor the records' columns are released")
        return cells.answers(original), cells.answers(release.table)


#: The form of an entry of a metric -> how it is called.
UTILITIES: dict[str, Utility] = {
    "distance utility": DistanceUtility(),
    "point utility": PointUtility(),
    "value utility": ValueUtility(),
    "label utility": LabelUtility(),
    "share utility": ShareUtility(),
    "network utility": NetworkUtility(),
    "answer utility": AnswerUtility(),
}


def measure_utility(
    entry: Entry, options: Mapping[str, Any], data: Any, original: pd.DataFrame, release: Release
) -> float | None:
    """Return what a release is still good for by a registered measure; None where it has nothing to be measured.

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
