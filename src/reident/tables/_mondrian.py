"""Anonymiser. Mondrian for tables: attributes coded in an order, parts turned into labels and losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from reident.base import DataError, FloatArray, IntArray
from reident.kernels.tables.mondrian import mondrian, passes
from reident.tables._criteria import Criteria
from reident.tables._losses import bit_losses
from reident.tables._published import textbook_mondrian
from reident.tables.classes import sorted_codes, text_of
from reident.tables.hierarchy import Hierarchy

#: Categories that a label lists one by one; of more, a label has the first and the last if the order is that of text.
_MOST_LISTED = 50


@dataclass(frozen=True)
class _OrderedColumn:
    """A column coded in its order; a number or a time is its own place, a category's place is its rank."""

    codes: IntArray
    known: pd.Index
    places: FloatArray


def _has_scale(values: pd.Index) -> bool:
    return values.dtype.kind in "iufmM"


def _ranked(codes: IntArray, values: pd.Index) -> _OrderedColumn:
    return _OrderedColumn(codes, values, np.arange(len(values), dtype=np.float64))


def _order_column(column: pd.Series) -> _OrderedColumn:
    """Code a column: numbers and times by value, an ordered Categorical by its order, other values as text."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.remove_unused_categories()
        if column.cat.ordered:
            return _ranked(column.cat.codes.to_numpy(np.int64), column.cat.categories)
        column = column.astype(column.cat.categories.dtype)
    codes, index = sorted_codes(column, "a quasi-identifier")
    if not _has_scale(index):
        return _ranked(codes, index)
    timed = isinstance(index, pd.DatetimeIndex | pd.TimedeltaIndex)
    places = (index.asi8 if timed else index.to_numpy()).astype(np.float64)
    if not np.isfinite(places).all():
        raise DataError(f"a quasi-identifier must be finite, got an infinite value in {column.name!r}")
    return _OrderedColumn(codes, index, places)


@dataclass(frozen=True)
class Partition:
    """The parts of a table: the part of each record, and the released labels of each part.

    Attributes
    ----------
    classes : ndarray of int64, shape (n,)
    columns : mapping of str to Series
        The released quasi-identifiers.
    losses : mapping of str to float
    column_losses : mapping of str to float
        The precision loss of each column.
    """

    classes: IntArray
    columns: Mapping[str, pd.Series]
    losses: Mapping[str, float]
    column_losses: Mapping[str, float]


def partition(
    table: pd.DataFrame,
    quasi: list[str],
    hierarchies: Mapping[str, Hierarchy],
    criteria: Criteria,
    *,
    method: str,
) -> Partition:
    """Partition the records of a table; every part satisfies the criteria."""
    attributes = [_attribute(table[name], hierarchies.get(name)) for name in quasi]
    n = len(table)
    codes: np.ndarray = np.stack([attribute.codes for attribute in attributes], axis=1).astype(np.int32)
    n_codes = np.array([len(attribute.known) for attribute in attributes], dtype=np.int64)
    places = np.zeros((len(attributes), int(n_codes.max())))
    for row, attribute in zip(places, attributes, strict=True):
        row[: attribute.places.size] = attribute.places
    if not _passes(criteria, np.arange(n)):
        raise DataError(
            f"`ell` must be reached by the table as a whole, it is not (l = {criteria.ells[0]:g}): no partition of it "
            "can be that diverse"
        )
    if method == "published":
        order, starts = textbook_mondrian(codes, places, n_codes, criteria.k, lambda part: _passes(criteria, part))
        codes = codes[order]
    else:
        codes = np.asfortranarray(codes)  # the kernel reads column by column
        order, starts = mondrian(
            codes, places, n_codes, criteria.k, criteria.codes.copy(), criteria.rules,
            criteria.ells, criteria.limits, criteria.overall(),
        )  # fmt: skip
    sizes = np.diff(starts)
    classes = np.empty(n, dtype=np.int64)
    classes[order] = np.repeat(np.arange(sizes.size), sizes)
    low = np.minimum.reduceat(codes, starts[:-1], axis=0).astype(np.int64)
    high = np.maximum.reduceat(codes, starts[:-1], axis=0).astype(np.int64)
    columns = {
        name: pd.Series(_labels(attribute, low[:, j], high[:, j], classes), index=table.index)
        for j, (name, attribute) in enumerate(zip(quasi, attributes, strict=True))
    }
    widths, losses = _losses(attributes, low, high, sizes)
    return Partition(classes, columns, losses, dict(zip(quasi, widths, strict=True)))


def _attribute(column: pd.Series, hierarchy: Hierarchy | None) -> _OrderedColumn:
    """Code a column in its order; categories without one as their hierarchy lists them from the top down."""
    has_order = column.dtype.kind in "iufbmM" or (isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered)
    if hierarchy is None or has_order:
        return _order_column(column)
    name = str(column.name)
    codes, values = pd.factorize(column)
    rows = hierarchy.rows_of(pd.Index(values), name)
    order = np.lexsort([hierarchy.codes_at(level)[rows] for level in range(hierarchy.n_levels)])
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return _ranked(rank[codes].astype(np.int64, copy=False), pd.Index(values).take(order))


def _passes(criteria: Criteria, part: IntArray) -> bool:
    """Return whether a part satisfies every rule beside its size."""
    if not criteria.rules.size:
        return True
    overall = criteria.overall()
    counts = np.bincount(criteria.codes[part], minlength=overall.size)
    rules = zip(criteria.rules, criteria.ells, criteria.limits, strict=True)
    return all(passes(counts, part.size, rule, ell, limit, overall) for rule, ell, limit in rules)


def _labels(attribute: _OrderedColumn, low: IntArray, high: IntArray, classes: IntArray) -> pd.Index:
    """Return each record's label: made once for each pair of ends, then looked up."""
    names = [text_of(value) for value in attribute.known]
    if isinstance(attribute.known, pd.DatetimeIndex) and (attribute.known == attribute.known.normalize()).all():
        names = [name[:10] for name in names]  # days without a time
    pairs, unique = pd.factorize(low * len(names) + high)
    scaled, shortened = _has_scale(attribute.known), names == sorted(names)
    ends = (divmod(int(pair), len(names)) for pair in unique)
    labels = [_label(names, *pair, scaled=scaled, shortened=shortened) for pair in ends]
    return pd.Index(labels, dtype="str").take(pairs[classes])


def _label(names: list[str], low: int, high: int, *, scaled: bool, shortened: bool) -> str:
    if low == high:
        return names[low]
    if scaled:
        return f"[{names[low]}, {names[high]}]"
    if shortened and high - low >= _MOST_LISTED:
        return f"{{{names[low]}, ..., {names[high]}}}"
    return "{" + ", ".join(names[low : high + 1]) + "}"


def _losses(
    attributes: list[_OrderedColumn], low: IntArray, high: IntArray, sizes: IntArray
) -> tuple[list[float], dict[str, float]]:
    """Return the mean width of each attribute's ranges, as a share of the table's, and all losses."""
    n = int(sizes.sum())
    widths, bits_lost, bits_all = [], [], []
    for j, attribute in enumerate(attributes):
        scale = attribute.places[-1] - attribute.places[0]
        spans = attribute.places[high[:, j]] - attribute.places[low[:, j]]
        widths.append(float((spans * sizes).sum() / scale / n) if scale > 0 else 0.0)
        counts = np.bincount(attribute.codes, minlength=attribute.places.size)
        before = np.r_[0, np.cumsum(counts)]
        covered = before[high[:, j] + 1] - before[low[:, j]]
        within_bits = float((counts * np.log2(np.maximum(counts, 1))).sum())
        bits_lost.append(float((sizes * np.log2(covered)).sum()) - within_bits)
        bits_all.append(float(n * np.log2(n)) - within_bits)
    width = float(np.mean(widths))
    discernibility = float((sizes.astype(np.float64) ** 2).sum() / n**2)
    bits = bit_losses(np.array(bits_lost), np.array(bits_all))
    return widths, {"precision": width, "discernibility": discernibility, **bits, "ncp": width}
