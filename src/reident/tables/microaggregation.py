"""Anonymiser. Microaggregation: replace each record's values by the mean of a small cluster of similar records."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from reident.base import (
    Choice,
    FloatArray,
    IntArray,
    ParameterError,
    Whole,
    afford,
    check_array,
    check_columns,
    check_integer,
    check_listed,
    check_numeric,
    check_table,
    checked,
)
from reident.kernels.tables.mdav import mdav_clusters
from reident.tables._masked import MaskedTable, masked_table


@dataclass(frozen=True)
class Microaggregation(MaskedTable):
    """A microaggregated table; see `MaskedTable` for `table`, `columns`, `information_loss`.

    Attributes
    ----------
    clusters : DataFrame of int64
        Cluster of each record (row, the table's index) in each group of columns (column, 0, 1, ...).
    """

    clusters: pd.DataFrame


@checked
def microaggregate(
    table: pd.DataFrame,
    groups: str | Sequence[str] | Sequence[Sequence[str]],
    k: Annotated[int, Whole(1, unit="records")] | Sequence[int],
    *,
    method: Annotated[str, Choice("mdav", "pairs")] = "mdav",
    scale: Annotated[str | None, Choice(None, "std")] = None,
) -> Microaggregation:
    """Replace the values in groups of numeric columns by the means of clusters of at least k similar records.

    Within one group of columns every released combination of values occurs at least k times (k-anonymity of that
    group), but not across groups: the clusters of two groups cross, and a record's combination over all groups is often
    unique, which linkage exploits.

    Parameters
    ----------
    table : DataFrame
        The original. Not modified. Columns outside the groups are released as they are.
    groups : sequence of sequences of str, or str
        Groups of columns, each clustered on its own. A flat list of names is one group; a single name is a group
        of one column.
    k : int or sequence of int
        Smallest size of a cluster, for all groups or one a group.
    method : {"mdav", "pairs"}
        How clusters are formed. "pairs": as the tool that Abril et al. (2012) name did it in its years (2009 to 2011):
        about the two records that are farthest apart, k nearest each, and the tail in the table's order. It needs
        groups of several columns, and is slow beyond some thousand records.
    scale : {None, "std"}
        Distances on the columns as they are (the default, as in Abril et al. 2012: the column of larger variance
        stays almost intact), or on columns divided by their standard deviations.

    Returns
    -------
    Microaggregation
        `table`, `clusters`, `information_loss` and more.

    Raises
    ------
    ParameterError
        If a column is absent or in two groups, k is below 1 or above the number of records, there is not one k a
        group, or a group of "pairs" has one column.
    DataError
        If a column is not numeric or has missing values.

    Notes
    -----
    MDAV (Domingo-Ferrer and Torra 2005). "pairs" follows the tool's behaviour, read from its public history, not its
    code; a group of one column made it stop, so that the seventh column of M7-999 was not protected by it. Ties go to
    the record that comes first. A constant column is left unscaled by ``scale="std"``: it does not change any distance.
    Time about O(n log n) in few columns, O(n^2 p / k) at worst; memory O(n p), for "pairs" O(n^2).

    Examples
    --------
    >>> import pandas as pd
    >>> money = pd.DataFrame({"pay": [1.0, 2, 3, 10, 11, 12], "tax": [0.0, 0, 0, 3, 3, 3]})
    >>> protected = microaggregate(money, ["pay", "tax"], 3)
    >>> protected.table["pay"].tolist()
    [2.0, 2.0, 2.0, 11.0, 11.0, 11.0]
    >>> round(protected.information_loss, 3)
    0.016
    """
    check_table(table, "table")
    listed, sizes = _groups_and_sizes(table, groups, k)
    columns = [column for group in listed for column in group]
    original = check_numeric(table, columns, "table")
    masked = np.empty_like(original)
    clusters, start = {}, 0
    for position, (group, size) in enumerate(zip(listed, sizes, strict=True)):
        part = slice(start, start + len(group))
        start += len(group)
        spread = original[:, part].std(axis=0)
        values = original[:, part] / np.where((spread > 0) & (scale == "std"), spread, 1.0)
        if method == "pairs" and len(group) == 1:
            raise ParameterError(
                f"`method` = 'pairs' needs groups of several columns, got {group!r}: the tool stopped there"
            )
        clusters[position] = (mdav_clusters if method == "mdav" else _pair_clusters)(np.ascontiguousarray(values), size)
        masked[:, part] = _means(original[:, part], clusters[position])
    released = masked_table(table, columns, masked)
    return Microaggregation(**vars(released), clusters=pd.DataFrame(clusters, index=table.index))


def _groups_and_sizes(
    table: pd.DataFrame, groups: str | Sequence[str] | Sequence[Sequence[str]], k: int | Sequence[int]
) -> tuple[list[list[str]], list[int]]:
    raw: list[object] = [groups] if isinstance(groups, str) else check_listed(groups, "groups")
    if not raw:
        raise ParameterError("`groups` must hold at least one group of columns, got none")
    if all(isinstance(group, Hashable) and not isinstance(group, tuple) for group in raw):
        raw = [raw]
    listed = [
        check_columns(table, group, f"groups[{position}]")  # type: ignore[arg-type]
        for position, group in enumerate(raw)
    ]
    columns = [column for group in listed for column in group]
    if twice := [column for column in dict.fromkeys(columns) if columns.count(column) > 1]:
        raise ParameterError(f"`groups` must not overlap, got {twice!r} in several groups: a column is replaced once")
    each = [k] * len(listed) if check_array(k, "k", None).ndim == 0 else list(k)  # type: ignore[arg-type]
    if len(each) != len(listed):
        raise ParameterError(f"`k` must be one number or one a group ({len(listed)}), got {len(each)} numbers")
    n = len(table)
    why = f"a cluster has at least k of the table's {n} records"
    return listed, [check_integer(size, "k", low=1, high=n, why=why) for size in each]


def _means(values: FloatArray, clusters: IntArray) -> FloatArray:
    counts = np.bincount(clusters)
    sums = np.stack([np.bincount(clusters, weights=column) for column in values.T], axis=1)
    return (sums / counts[:, None])[clusters]


def _pair_clusters(points: FloatArray, k: int) -> IntArray:
    """Partition records into clusters of k to 2k - 1 about pairs of the two most distant ones.

    While 3k records are left: of the two that are farthest apart, the first with its k - 1 nearest, then the second
    with the k - 1 nearest of the others. The rest is divided in the order of the table, k at a time, the last cluster
    taking the remainder. Of equally distant pairs and records the first is taken.
    """
    n = len(points)
    afford(24 * n**2, "table", f"{n:,} records in pairs", "use `method` = 'mdav'")
    clusters = np.full(n, -1, dtype=np.int64)
    label, remaining = 0, np.arange(n)
    squares = cdist(points, points, "sqeuclidean")
    later = np.where(np.tri(n, dtype=bool), -1.0, squares)  # each pair once
    farthest, partner = later.max(axis=1), later.argmax(axis=1)
    while remaining.size >= 3 * k:
        first = farthest.argmax()
        for centre in (first, partner[first]):
            nearest = remaining[np.argsort(squares[centre, remaining], kind="stable")[:k]]
            clusters[nearest] = label
            label += 1
            later[nearest] = later[:, nearest] = -1.0
            farthest[nearest] = -1.0
            remaining = np.flatnonzero(clusters < 0)
        stale = remaining[clusters[partner[remaining]] >= 0]
        farthest[stale], partner[stale] = later[stale].max(axis=1), later[stale].argmax(axis=1)
    clusters[remaining] = label + np.minimum(np.arange(remaining.size) // k, max(remaining.size // k, 1) - 1)
    return clusters
