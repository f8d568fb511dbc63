"""Measures of utility: the compared parts of the original and of the release, as numbers, labels, shares or networks.

A measure takes the two first, then the inputs that it names: the columns compared, numbers of the records, the
sensitive column. So a measure of a form that is here needs no code of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from reident.base import DataError, FloatArray, IntArray, ParameterError
from reident.methods._entry import Entry
from reident.methods.outcome import NotApplicable
from reident.methods.release import LAT, LON, Release, places_of
from reident.networks.graph import Network, reordered
from reident.places.distances import great_circle_km
from reident.tables.classes import text_of
from reident.tables.labels import LabelReader, ancestors

#: Values of a category that become a number each, the most frequent first.
_MOST_VALUES = 30
#: Bins of a column.
_MOST_BINS = 10


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
    if entry.form not in _PAIRS:
        raise ParameterError(f"`utilities` must be measures of utility, got {entry.name!r}: form {entry.form!r}")
    arguments = entry.arguments(options)
    try:
        before, after = _PAIRS[entry.form](data, original, release)
        names = [name for name in list(entry.signature)[2:] if name not in arguments]
        if "columns" in names:
            arguments["columns"] = list(before.columns)
        if "values" in names:  # the released records' true values as numbers, a row each
            arguments["values"] = values_of(data, original.loc[release.table.index])
        if "target" in names:
            arguments["target"] = _target(data, original, release)
        value = float(entry.function(before, after, **arguments))
    except NotApplicable:
        return None
    if entry.form in ("distance utility", "point utility") and math.isfinite(value):  # records left out lose theirs
        value *= len(release.table) / release.n_original
    return None if math.isnan(value) else value


def _target(data: Any, original: pd.DataFrame, release: Release) -> pd.Series:
    if data.sensitive is None or data.sensitive not in release.table.columns:
        raise NotApplicable("no sensitive column is released, which could be predicted")
    return original[data.sensitive]


def _released(original: pd.DataFrame, release: Release) -> pd.DataFrame:
    if len(release.table) < 3:
        raise NotApplicable("fewer than 3 records are released")
    return original.loc[release.table.index]


def _distances(_: Any, original: pd.DataFrame, release: Release) -> tuple[Any, Any]:
    """Return distances between the released records, true and released, km."""
    if release.distances_km is None:
        raise NotApplicable("no distances are released")
    return great_circle_km(*places_of(_released(original, release))), release.distances_km


def _points(_: Any, original: pd.DataFrame, release: Release) -> tuple[Any, Any]:
    """Return the released records' places, true and released, as tables of degrees."""
    if not release.has_places:
        raise NotApplicable("no places are released")
    return _released(original, release)[[LAT, LON]], release.table[[LAT, LON]]


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


#: The form of a measure -> the two things that it compares.
_PAIRS = {
    "distance utility": _distances,
    "point utility": _points,
    "value utility": _values,
    "label utility": _labels,
    "share utility": _shares,
    "network utility": _networks,
}


# -- records as numbers, and as shares of bins ---------------------------------------------------------------------


def numbers_of(data: Any, table: pd.DataFrame) -> pd.DataFrame:
    """Return released quasi-identifiers as numbers.

    A generalised number becomes the mean of the values of the original domain that its label covers; a category becomes
    one column for each of its values (the 30 most frequent): the share that it has among the values covered. The
    values of a class are taken to be equally likely.
    """
    parts = {}
    for column in data.quasi:
        values = table[column]
        if column in data.numeric and is_numeric_dtype(values):
            parts[column] = values.to_numpy(float)
            continue
        domain = pd.Index(data.table[column].unique())
        shares, codes = covered(domain, values, data.hierarchies.get(column))
        if column in data.numeric:
            parts[column] = (shares * domain.to_numpy(float)[:, None]).sum(axis=0)[codes]
        else:
            for value in data.table[column].value_counts().index[:_MOST_VALUES]:
                parts[f"{column}={value}"] = shares[domain.get_loc(value)][codes]
    return pd.DataFrame(parts, index=table.index)


def values_of(data: Any, table: pd.DataFrame) -> FloatArray:
    """Return the true values of the records as numbers, a column each: the sensitive one too if it is a number."""
    numbers = numbers_of(data, table)
    if data.sensitive is not None and is_numeric_dtype(table[data.sensitive]):
        numbers = pd.concat([numbers, table[data.sensitive]], axis=1)
    return numbers.to_numpy(float)


def covered(domain: pd.Index, values: pd.Series, hierarchy: Any, *, missing: bool = False) -> tuple[FloatArray, Any]:
    """Return the share of each value of a domain in each distinct label, and the label of each record."""
    codes, labels = pd.factorize(values, use_na_sentinel=not missing)
    place = domain.get_indexer(labels)
    if (place >= 0).all() and domain.is_unique and _plain(domain, hierarchy):
        return np.eye(len(domain))[:, place], codes
    read = LabelReader(domain, labels, hierarchy).cover().astype(float)
    return read / np.maximum(read.sum(axis=0), 1.0), codes


def _plain(domain: pd.Index, hierarchy: Any) -> bool:
    """Return whether values of a domain stand for themselves alone: no label of a hierarchy, interval, list or mask."""
    if is_numeric_dtype(domain) or domain.isna().any():
        return False
    texts = {text_of(value) for value in domain}
    above = set().union(*ancestors(hierarchy).values())
    return not texts & above and not any(sign in text for text in texts for sign in "[]{}()*")


def _place(values: FloatArray, domain: pd.Index, n_bins: int) -> IntArray:
    low, span = domain.min(), domain.max() - domain.min()
    place = np.floor((np.nan_to_num(values, nan=low) - low) / span * n_bins) if span else np.zeros(len(values))
    return np.clip(place, 0, n_bins - 1).astype(np.int64)


def shares_of(data: Any, table: pd.DataFrame, columns: Sequence[str]) -> dict[str, FloatArray]:
    """Return for each column how likely each record is in each of its bins, arrays of shape (records, bins).

    Bins are over the domain of a column, which is public where it has a hierarchy: of numbers of one width, of
    categories one a value, rare ones together. A label that stands for several values lies in each with the same
    probability.
    """
    return {column: _binned(data, column, table[column]) for column in columns}


def _binned(data: Any, column: str, values: pd.Series) -> FloatArray:
    tree = data.hierarchies.get(column)
    listed = data.table[column] if tree is None else tree.to_frame().iloc[:, 0]
    domain = pd.Index(pd.Series(listed).dropna().infer_objects().unique())
    n_bins = min(_MOST_BINS, len(domain))
    if is_numeric_dtype(domain):
        if is_numeric_dtype(values):
            return np.eye(n_bins)[_place(values.to_numpy(float), domain, n_bins)]
        bin_of = _place(domain.to_numpy(float), domain, n_bins)
    else:
        ranks = np.argsort(np.argsort([str(value) for value in domain]))
        bin_of = ranks * n_bins // len(domain)
    shares, codes = covered(domain, values, tree, missing=True)
    in_bins = np.zeros((n_bins, shares.shape[1]))
    np.add.at(in_bins, bin_of, shares)
    in_bins[:, in_bins.sum(axis=0) == 0] = 1 / n_bins  # a label that no value of the domain explains may be anything
    return in_bins.T[codes]
