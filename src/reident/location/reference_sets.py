"""Attack. Recover the hidden coordinates of a Lipschitz embedding from the equations that its distances satisfy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from reident.base import BoolArray, DataError, FloatArray, IntArray, check_positive
from reident.cliques.adjacency import pack_rows
from reident.kernels.location import reference_sets as kernel
from reident.location.rounded_coordinates import recover_rounded
from reident.places.compatibility import check_distances_with_gaps

# Two rows that share a set differ by the same number up to the last places of the largest distance.
_ROUNDINGS = 16 * np.finfo(float).eps
# Row pairs compared for each record at most, and records whose rows are sampled to count equalities.
_ROWS_APART, _ROWS_SAMPLED = 250, 60
_FEWEST_RECORDS = 4  # a class of fewer rests on a single equation


class EqualDifferences(NamedTuple):
    """Count of equal differences between two rows of a released matrix.

    Attributes
    ----------
    n_equal : int
        Entries (a, y) whose difference to (b, y) has the size of another one of the same two rows.
    n_compared : int
        Number of differences compared.
    share : float
        `n_equal` / `n_compared`; nan if there were no differences.
    """

    n_equal: int
    n_compared: int
    share: float


@dataclass(frozen=True, eq=False)
class HiddenCoordinates:
    """Coordinates behind a released matrix of their largest differences.

    Attributes
    ----------
    values_km : ndarray of float64, shape (n, m)
        One column a reference set, the fullest first: the distance of each record to the nearest place of the set, km,
        up to one shift and one sign a column; nan where the matrix does not give it. Two columns may be parts of one.
    n_equal : int
        Equal differences between two rows, the equations that all rests on; with a step, the distances that the values
        were fitted to.
    explained : float
        Share of the released distances that are the difference of two recovered values, up to the step.
    n_contradictions : int
        Sets of equations left out because they contradict one another; 0 for an embedding. With a step, columns left
        out because distances that they had not seen do not confirm them.
    """

    values_km: FloatArray
    n_equal: int
    explained: float
    n_contradictions: int


def exact_equalities(release: Any) -> EqualDifferences:
    """Count the exact equalities that only a matrix made of differences of coordinates has.

    In an ordinary matrix the difference of two distances to one record is a number of its own. Where the released
    numbers are differences of hidden coordinates (a Lipschitz embedding, a projection to a line), the same number comes
    back for many records, from which `recover_coordinates` starts. A share near 0 is evidence against this attack, not
    for the safety of the release.

    Parameters
    ----------
    release : array_like of shape (n, n), MetricMicrodata, or tuple of DataFrame and array-like
        Released distances, km; nan for a distance that is not released. Not modified.

    Returns
    -------
    EqualDifferences
        Counted over pairs of some 60 rows, spread over the matrix. In a matrix of rounded numbers equalities come by
        chance.

    Raises
    ------
    DataError
        If `release` holds no distance matrix.

    Notes
    -----
    Equal means equal up to 16 roundings of the largest distance. Rows without a difference (two records at one place)
    are compared once. Time O(n).

    Examples
    --------
    >>> line = np.array([0.0, 1.1, 3.4, 7.9, 9.2, 15.3])
    >>> exact_equalities(np.abs(np.subtract.outer(line, line))).share > 0.5
    True
    >>> rng = np.random.default_rng(0)
    >>> plane = rng.random(40) + 1j * rng.random(40)
    >>> exact_equalities(np.abs(np.subtract.outer(plane, plane))).n_equal
    0
    """
    distances, _ = _distinct(check_release(release))
    rows = np.unique(np.linspace(0, len(distances) - 1, _ROWS_SAMPLED).round().astype(np.int64))
    tol, n_equal, n_compared = _tolerance_km(distances), 0, 0
    for number, row in enumerate(rows):
        others = rows[number + 1 :]
        sizes = np.abs(distances[others] - distances[row])
        # The column of the second row holds the same number as that of the first.
        sizes[np.arange(others.size), others] = np.nan
        sizes = np.sort(np.where(sizes > tol, sizes, np.nan), axis=1)
        close = np.diff(sizes, axis=1, append=np.nan) <= tol
        n_compared += int(np.isfinite(sizes).sum())
        n_equal += int((close | np.roll(close, 1, axis=1)).sum())
    return EqualDifferences(n_equal, n_compared, n_equal / n_compared if n_compared else math.nan)


def recover_coordinates(release: Any, step_km: float | None = None) -> HiddenCoordinates:
    """Recover the hidden coordinates of a Lipschitz embedding from the released matrix alone.

    Neither the reference sets nor their number or size need be known, nor any record. Each coordinate comes back up to
    a shift and a sign, to the last digits of the released numbers; `locate_by_reference_sets` turns them into places.
    Rounding does not prevent it: with steps of .1 km values come back to some 5 m, with steps of 1 km to 50 m.

    Parameters
    ----------
    release : array_like of shape (n, n), MetricMicrodata, or tuple of DataFrame and array-like
        Released distances, km; nan for a distance that is not released. Not modified.
    step_km : float, optional
        Step to which the distances are rounded, km, above 0; for noise on each distance, three standard deviations.
        `estimate_step` reads it off the matrix. Default: the numbers are exact.

    Returns
    -------
    HiddenCoordinates
        Without columns where the matrix is no matrix of largest differences. Exact numbers give no wrong value; with a
        step single values are off by more than it (as measured, three in a hundred with steps up to 1 km, one in nine
        in the worst of the small files; one in eight with steps of 3 km). Values have no certificate of their own, the
        places that `locate_by_reference_sets` reads from them do. Ordinary distances, rounded, may give a few columns,
        distances from single records, that explain little.

    Raises
    ------
    DataError, ParameterError
        If `release` holds no distance matrix, or `step_km` is not above 0.

    Notes
    -----
    Where one set i is active for (a, y) and for (b, y), and y lies on one side of both, D_ay - D_by is f_i(a) - f_i(b)
    or its negative: the same size for all such y. In double precision unrelated differences agree with a probability
    of about 1e-11, so that each equality names entries of one set; a union-find joins them, each class is walked along
    its entries, and classes that agree on two records are one. Each row is compared with all others, or with 500
    others where there are more than that. Time O(n^3), from 500 records on O(500 n^2); memory O(n^2).

    With a step, the two rows in which most differences fall into one window begin a column. Its known values bound
    those of every other record, f(y) - D_xy <= f(x) <= f(y) + D_xy, and where x is active the extreme bounds coincide.
    The distances that the column explains are set aside, the next column comes from the rest; a least-squares fit of
    all columns to all distances averages the rounding away. The finer the step and the fewer the records, the fewer
    bounds must coincide: with n records two up to 25 / n km, four up to 100 / n km or .2 km, five up to 200 / n km, six
    above. A tenth of the distances is hidden from the search: a column that they do not confirm is left out.

    Beyond Kroll and Schnell (2016), who consider the coordinates lost once the largest difference is formed.

    Examples
    --------
    >>> from shapely import box
    >>> from reident import embed_distances
    >>> rng = np.random.default_rng(1)
    >>> released = embed_distances(
    ...     rng.uniform(48, 54, 60), rng.uniform(7, 14, 60), n_reference_sets=5, reference_set_size=3,
    ...     area=box(6, 47, 15, 55), rng=1,
    ... )
    >>> recover_coordinates(released).values_km.shape
    (60, 5)
    """
    matrix = check_release(release)
    if step_km is not None:
        step = check_positive(step_km, "step_km", why="leave it out for exact numbers")
        return _described(matrix, *recover_rounded(matrix, step), step)
    distances, copy = _distinct(matrix)
    n, tol = len(distances), _tolerance_km(distances)
    apart = np.arange(1, n // 2 + 1)
    if apart.size > _ROWS_APART:
        apart = apart[np.linspace(0, apart.size - 1, _ROWS_APART).astype(np.int64)]
    classes, turned, n_equal = kernel.equal_differences(distances, tol, apart)
    # Walking along entries adds their roundings up.
    pieces, n_contradictions = _pieces(distances, classes, turned, 100 * tol)
    columns = pieces[kernel.merge_pieces(pieces, pack_rows(~np.isnan(pieces)), 100 * tol)]
    return _described(matrix, columns[:, copy], n_equal, n_contradictions, 100 * tol)


def _described(
    matrix: FloatArray, columns: FloatArray, n_equal: int, n_contradictions: int, tol: float
) -> HiddenCoordinates:
    columns = columns[np.argsort(-np.isfinite(columns).sum(axis=1), kind="stable")]
    x, y = np.nonzero(np.triu(~np.isnan(matrix), 1))
    explained = matrix[x, y] <= tol  # records at one place need no value
    for f in columns:
        explained |= np.abs(np.abs(f[x] - f[y]) - matrix[x, y]) <= tol
    share = float(explained.mean()) if x.size else 1.0
    return HiddenCoordinates(np.ascontiguousarray(columns.T), n_equal, share, n_contradictions)


def check_release(release: Any) -> FloatArray:
    """Return the released distances, nan where missing, from a matrix, MetricMicrodata or (table, matrix)."""
    distances: Any = release[1] if isinstance(release, tuple) and len(release) == 2 else release
    distances = getattr(distances, "distances_km", distances)
    matrix = check_distances_with_gaps(distances, "release")
    if not matrix.size:
        raise DataError("`release` must have the distances of at least one record, got none")
    return matrix


def check_table(release: Any, n: int) -> pd.DataFrame:
    """Return the released table, or one without columns, of n records."""
    table = release[0] if isinstance(release, tuple) else getattr(release, "table", release)
    if not isinstance(table, pd.DataFrame):
        return pd.DataFrame(index=pd.RangeIndex(n))
    if len(table) != n:
        raise DataError(f"`release` must have one row of distances a record ({len(table)}), got {n}")
    return pd.DataFrame(index=table.index) if table is release else table


def _tolerance_km(distances: FloatArray) -> float:
    return float(_ROUNDINGS * max(float(np.nanmax(distances, initial=0.0)), np.finfo(float).tiny))


def _distinct(matrix: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the matrix with one record a place, and for each record the number of its place.

    Records at one place agree in all their differences, whatever the set.
    """
    same = matrix == 0.0
    np.fill_diagonal(same, True)
    representative = same.argmax(axis=1)
    first, copy = np.unique(representative, return_inverse=True)
    return np.ascontiguousarray(matrix[np.ix_(first, first)]), copy


def _pieces(distances: FloatArray, classes: IntArray, turned: BoolArray, tol: float) -> tuple[FloatArray, int]:
    """Return the coordinates that the classes of entries give, a row a class, and how many contradict themselves."""
    n = len(distances)
    order = np.argsort(classes, kind="stable")
    counts = np.bincount(classes, minlength=1)
    ends = np.cumsum(counts)
    pieces, n_contradictions = [], 0
    for which in np.flatnonzero(counts >= _FEWEST_RECORDS):
        piece = np.empty(n)
        if kernel.walk_class(order[ends[which] - counts[which] : ends[which]], turned, distances, tol, piece):
            pieces.append(piece)
        else:
            n_contradictions += 1
    pieces.sort(key=lambda piece: -int(np.isfinite(piece).sum()))
    return np.array(pieces).reshape(-1, n), n_contradictions
