"""Metric. Utility of a release: results of analyses on it compared with those on the original; all grow with utility.

Those named ``_kept`` are 1 for the original. They read distances, numbers, labels, or *shares*: for each column a
matrix of the probability of each record in each bin of the column, which is how generalised labels are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Annotated

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.spatial.distance import squareform

from reident.base import (
    BoolArray,
    DataError,
    FloatArray,
    IntArray,
    Whole,
    check_columns,
    check_distance_matrix,
    check_table,
    checked,
)
from reident.tables.classes import encode_column, table_classes

Columns = str | Sequence[str]
Shares = Mapping[str, FloatArray]


def _distances(original_km: ArrayLike, release_km: ArrayLike) -> tuple[FloatArray, FloatArray]:
    original = check_distance_matrix(original_km, "original_km")
    release = check_distance_matrix(release_km, "release_km", size=len(original))
    if len(original) < 3:
        raise DataError(f"`original_km` must be of at least 3 records, got {len(original)}: one distance has no spread")
    return original, release


def distance_precision(original_km: ArrayLike, release_km: ArrayLike) -> float:
    """Return the reciprocal variance of the deviation of released from true distances, 1 / km^2.

    Parameters
    ----------
    original_km, release_km : array_like of float, shape (n, n)
        Distances between the same records in the same order, km; n at least 3.

    Returns
    -------
    float
        Infinite if every distance deviates by the same amount, as in the original.

    Notes
    -----
    Kroll (2015), section 5, there over random pairs of points of the area, here over the pairs of the release itself.
    """
    deviation = squareform(np.subtract(*_distances(original_km, release_km)), checks=False)
    # Rounding of great circles, about 1e-9 km, is no deviation.
    spread = float(deviation.var(ddof=1)) if np.ptp(deviation) > 1e-6 else 0.0
    return 1 / spread if spread > 0 else float("inf")


def distances_kept(original_km: ArrayLike, release_km: ArrayLike) -> float:
    """Return the correlation of released with true distances, 0 if either are all alike or it is negative.

    Parameters
    ----------
    original_km, release_km
        As for `distance_precision`.

    Returns
    -------
    float
        From 0 to 1.
    """
    original, release = (squareform(km, checks=False) for km in _distances(original_km, release_km))
    if np.ptp(original) == 0 or np.ptp(release) == 0:
        return 0.0
    return float(np.clip(np.corrcoef(original, release)[0, 1], 0.0, 1.0))


@checked
def neighbours_kept(
    original_km: ArrayLike, release_km: ArrayLike, *, n_neighbours: Annotated[int, Whole(1, unit="records")] = 10
) -> float:
    """Return the mean share of each record's nearest neighbours that are among its nearest in the release.

    A random order keeps n_neighbours / (n - 1) of them.

    Parameters
    ----------
    original_km, release_km
        As for `distance_precision`.
    n_neighbours : int, default 10
        Of fewer records all but one of the others. Among equally near ones the record that comes first is taken.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    DataError, ParameterError
        If a matrix is no distance matrix, the two differ in size, or there are too few records.
    """
    original, release = _distances(original_km, release_km)
    count = min(n_neighbours, len(original) - 2)
    both = _nearest(original, count) & _nearest(release, count)
    return float(both.sum()) / (count * len(original))


def _nearest(matrix: FloatArray, count: int) -> BoolArray:
    """Mark the nearest records of each; of equally near ones the first are taken."""
    others = matrix.copy()
    np.fill_diagonal(others, np.inf)
    last = np.partition(others, count - 1, axis=1)[:, count - 1 : count]
    near, tied = others < last, others == last
    for row in np.flatnonzero(near.sum(axis=1) + tied.sum(axis=1) > count):
        tied[row, np.flatnonzero(tied[row])[count - int(near[row].sum()) :]] = False
    is_nearest: BoolArray = near | tied
    return is_nearest


def _aligned(
    original: pd.DataFrame, release: pd.DataFrame, columns: Columns, *, at_least: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Return the numbers of both tables, a row an original record; rows of records left out are NaN."""
    check_table(original, "original")
    check_table(release, "release", min_records=0)
    listed = check_columns(original, columns, "columns", table_name="original", min_columns=at_least)
    check_columns(release, listed, "columns", table_name="release")
    for frame, name in ((original, "original"), (release, "release")):
        other = [column for column in listed if not pd.api.types.is_numeric_dtype(frame[column])]
        if other:
            dtype = frame[other[0]].dtype
            raise DataError(f"`{name}` must have numbers in the columns compared, got {dtype} in {other[0]!r}")
        if not frame.index.is_unique:
            raise DataError(f"the index of `{name}` must be unique: it pairs the records")
    stray = release.index.difference(original.index)
    if len(stray):
        raise DataError(f"`release` must hold records of `original` only, got {len(stray)} others, e.g. {stray[0]!r}")
    return original[listed].to_numpy(float), release[listed].reindex(original.index).to_numpy(float)


def _complete(original: pd.DataFrame, release: pd.DataFrame, columns: Columns, at_least: int = 1) -> list[FloatArray]:
    """Return the complete rows of both tables."""
    both = _aligned(original, release, columns, at_least=at_least)
    return [values[~np.isnan(values).any(axis=1)] for values in both]


def information_kept(original: pd.DataFrame, release: pd.DataFrame, *, columns: Columns) -> float:
    """Return the share of the values' variation that is left in the release, averaged over columns.

    Parameters
    ----------
    original, release : DataFrame
        Numeric columns of the same records (equal index labels); the release may leave records out.
    columns : str or sequence of str

    Returns
    -------
    float
        In [0, 1]: a column keeps ``1 - SSE / SST``, at least 0, where SSE sums squared differences of the released
        values from the true ones and SST of the true ones from their mean, which replaces a record left out. A
        constant column keeps 1 if it stayed as it was. One minus the information loss of Domingo-Ferrer and
        Mateo-Sanz (2002).
    """
    shares = []
    for true, released in zip(*(values.T for values in _aligned(original, release, columns)), strict=True):
        error = float(((np.where(np.isnan(released), true.mean(), released) - true) ** 2).sum())
        total = float(((true - true.mean()) ** 2).sum())
        shares.append(max(0.0, 1 - error / total) if total > 0 else float(error == 0))
    return float(np.mean(shares))


def _columns(original: pd.DataFrame, release: pd.DataFrame, columns: Columns) -> Iterator[tuple[FloatArray, ...]]:
    for true, released in zip(*(values.T for values in _aligned(original, release, columns)), strict=True):
        yield true, released[~np.isnan(released)]


def means_kept(original: pd.DataFrame, release: pd.DataFrame, *, columns: Columns) -> float:
    """Return one less the mean shift of the columns' means in standard deviations, at least 0.

    Arguments as for `information_kept`; a record left out does not count. A constant column keeps 1 if its mean stayed.
    """
    shares = []
    for true, released in _columns(original, release, columns):
        if not released.size:
            return 0.0
        shift, spread = abs(float(released.mean() - true.mean())), float(true.std())
        shares.append(max(0.0, 1 - shift / spread) if spread > 0 else float(shift < 1e-12))
    return float(np.mean(shares))


def variances_kept(original: pd.DataFrame, release: pd.DataFrame, *, columns: Columns) -> float:
    """Return the mean ratio of the columns' variances, the smaller over the larger; arguments as for `means_kept`."""
    shares = []
    for true, released in _columns(original, release, columns):
        small, large = sorted([float(true.var()), float(released.var()) if released.size else 0.0])
        shares.append(small / large if large > 0 else 1.0)
    return float(np.mean(shares))


def correlations_kept(original: pd.DataFrame, release: pd.DataFrame, *, columns: Sequence[str]) -> float:
    """Return one minus the mean absolute change of the correlations between columns, at least 0.

    Parameters
    ----------
    original, release, columns
        As for `information_kept`, at least two columns. A constant column has correlation 0 with all others.

    Returns
    -------
    float
        In [0, 1].
    """
    first, second = (_correlations(values) for values in _complete(original, release, columns, 2))
    return float(max(0.0, 1 - np.abs(first - second)[np.triu_indices(len(first), 1)].mean()))


def _correlations(values: FloatArray) -> FloatArray:
    if len(values) < 2:
        return np.zeros((values.shape[1],) * 2)
    spread = values.std(axis=0)
    scaled = (values - values.mean(axis=0)) / np.where(spread > 1e-12 * np.abs(values).max(axis=0), spread, np.inf)
    return np.asarray(scaled.T @ scaled / len(values))


def regression_kept(original: pd.DataFrame, release: pd.DataFrame, *, columns: Columns) -> float:
    """Return the mean overlap of the 95 % intervals of regression coefficients, each column on all others.

    Arguments as for `means_kept`, at least two columns; nan where the original has too few records. For each
    coefficient the overlap as a share of either interval, averaged (Karr et al. 2006). Coefficients of columns that
    depend on one another (the categories of one column) are those of least size.
    """
    tables = _complete(original, release, columns, 2)
    n_columns = tables[0].shape[1]
    if min(map(len, tables)) <= n_columns + 1:
        return float("nan") if len(tables[0]) <= n_columns + 1 else 0.0
    overlaps = []
    for target in range(n_columns):
        ends = np.array([_intervals(table, target) for table in tables])  # by table, low or high, coefficient
        common = ends[:, 1].min(axis=0) - ends[:, 0].max(axis=0)
        widths = ends[:, 1] - ends[:, 0]
        shares = np.divide(common, widths, out=np.zeros_like(widths), where=widths > 0)
        overlaps.append(np.clip(np.where(widths > 0, shares, common >= -1e-12), 0, 1))
    return float(np.mean(overlaps))


def _intervals(table: FloatArray, target: int) -> tuple[FloatArray, FloatArray]:
    """Return the 95 % intervals of the coefficients of a column on all others."""
    x = np.delete(table, target, axis=1)
    x, y = x - x.mean(axis=0), table[:, target] - table[:, target].mean()
    inverse = np.linalg.pinv(x.T @ x, rcond=1e-10, hermitian=True)
    beta = inverse @ x.T @ y
    degrees = max(1, len(y) - np.linalg.matrix_rank(x) - 1)
    reach = 1.96 * np.sqrt(np.clip(np.diag(inverse), 0, None) * float(((y - x @ beta) ** 2).sum()) / degrees)
    reach = np.where(reach < 1e-9 * (np.abs(beta) + 1e-300), 0.0, reach)  # an exact fit leaves rounding
    return beta - reach, beta + reach


@checked
def propensity_kept(original: pd.DataFrame, release: pd.DataFrame, *, columns: Columns) -> float:
    """Return the propensity-score utility, 1 - pMSE / (c (1 - c)), c the share of released records.

    Arguments as for `means_kept`. 1 where a logistic regression (main effects and squares of standardised columns)
    finds no difference between released and original records, 0 where it separates them (Woo et al. 2009). nan for
    fewer than 10 records.
    """
    from sklearn.linear_model import LogisticRegression

    parts = _complete(original, release, columns)
    if min(map(len, parts)) < 10:
        return float("nan") if len(parts[0]) < 10 else 0.0
    x = np.concatenate(parts)
    spread = x.std(axis=0)
    x = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    x = np.column_stack([x, x**2])
    is_released = np.repeat([0, 1], [len(part) for part in parts])
    share = is_released.mean()
    propensity = LogisticRegression(max_iter=200).fit(x, is_released).predict_proba(x)[:, 1]
    error = float(((propensity - share) ** 2).mean())
    return max(0.0, 1 - error / float(share * (1 - share)))


@checked
def classification_accuracy(
    original: pd.DataFrame,
    release: pd.DataFrame,
    *,
    columns: Columns,
    target: pd.Series,
    depth: Annotated[int, Whole(1, unit="levels")] = 5,
) -> float:
    """Return the accuracy of a tree trained on released records, on true records that it has not seen.

    Arguments as for `means_kept`; `target` is the column predicted, by the labels of the original's index, `depth` that
    of the tree. Compare with the original's accuracy. nan for fewer than 10 records or a target that does not vary.
    Three parts of the records in turn are left out of training. There is no randomness.
    """
    from sklearn.tree import DecisionTreeClassifier

    true, released = _aligned(original, release, columns)
    codes, values = encode_column(target.reindex(original.index).astype(object))
    is_complete = ~np.isnan(released).any(axis=1)
    if len(codes) < 10 or is_complete.sum() < 10 or len(values) < 2:
        return float("nan")
    part, right = np.arange(len(codes)) % 3, 0
    for fold in range(3):
        model = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=3, random_state=0)
        trained, tested = is_complete & (part != fold), part == fold
        model.fit(released[trained], codes[trained])
        right += int((model.predict(true[tested]) == codes[tested]).sum())
    return right / len(codes)


def _class_sizes(table: pd.DataFrame, columns: Columns) -> IntArray:
    listed = [columns] if isinstance(columns, str) else list(columns)
    return np.bincount(table_classes(table[listed].astype(str), listed)[0])


def discernibility_kept(original: pd.DataFrame, release: pd.DataFrame, *, columns: Columns) -> float:
    """Return the number of pairs of records with different labels in the release, over that in the original.

    In [0, 1]: one less the discernibility metric of Bayardo and Agrawal (2005), relative to the original's. Labels are
    compared as they are; a record left out differs from none.
    """
    before, after = (len(table) ** 2 - int((_class_sizes(table, columns) ** 2).sum()) for table in (original, release))
    return min(1.0, after / before) if before > 0 else 1.0


def classes_kept(original: pd.DataFrame, release: pd.DataFrame, *, columns: Columns) -> float:
    """Return the number of classes of equal records over that of the original, at most 1.

    The reciprocal of how much larger the mean class is (LeFevre et al. 2006).
    """
    before, after = (len(_class_sizes(table, columns)) for table in (original, release))
    return min(1.0, after / before) if before else 1.0


def _paired(original: Shares, release: Shares) -> tuple[list[tuple[FloatArray, FloatArray]], float]:
    """Return the shares of each column in both, and the share of the records that is released."""
    if set(original) != set(release) or not original:
        raise DataError(f"`original` and `release` must have the same columns, got {set(original) ^ set(release)}")
    for column, shares in original.items():
        if shares.shape[1] != release[column].shape[1]:
            raise DataError(f"column {column!r} must have the same bins in `original` and `release`")
    pairs = [(shares, release[column]) for column, shares in original.items()]
    return pairs, len(pairs[0][1]) / max(1, len(pairs[0][0]))


def marginals_kept(original: Shares, release: Shares) -> float:
    """Return one less the total variation between the distributions of each column, averaged.

    Column -> the probability of each record in each bin, shape (records, bins), in both; rows sum to 1. The release may
    have fewer records: those left out lose their share.
    """
    pairs, released = _paired(original, release)
    means = ([shares.sum(axis=0) / max(1, len(shares)) for shares in pair] for pair in pairs)
    gaps = [np.abs(before - after).sum() / 2 for before, after in means]
    return float((1 - np.mean(gaps)) * released)


def contingencies_kept(original: Shares, release: Shares) -> float:
    """Return one less the total variation between the tables of every two columns, averaged; as `marginals_kept`.

    nan for a single column.
    """
    pairs, released = _paired(original, release)
    gaps = []
    for first, second in combinations(pairs, 2):
        before, after = (one.T @ other / max(1, len(one)) for one, other in zip(first, second, strict=True))
        gaps.append(np.abs(before - after).sum() / 2)
    return float((1 - np.mean(gaps)) * released) if gaps else float("nan")


def entropy_kept(original: Shares, release: Shares) -> float:
    """Return the share of the columns' bits that the labels of the release determine; as `marginals_kept`.

    A label of several bins leaves the entropy of these open (Gionis and Tassa 2009, with the bins equally likely).
    """
    pairs, released = _paired(original, release)
    shares = []
    for _, after in pairs:
        total = np.log2(after.shape[1])
        if total > 0:
            positive = np.where(after > 0, after, 1.0)
            shares.append(float(1 + (positive * np.log2(positive)).sum() / max(1, len(after)) / total))
    return float(np.clip(np.mean(shares), 0, 1) * released) if shares else 1.0
