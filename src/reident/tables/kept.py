"""Metric. Results of analyses on a release compared with those on the original, from 0 to 1.

All grow with utility. Those named ``_kept`` are 1 for the original; each stands for one kind of analysis, and none of
them is a verdict. Some read the records as numbers, some as shares: for each column a matrix that says how likely each
record is in each bin of the column, which is how a generalised label is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Annotated

import numpy as np
import pandas as pd

from reident.base import DataError, FloatArray, Whole, checked
from reident.tables.classes import class_ids, encode_column
from reident.tables.utility import _aligned

__all__ = [
    "classes_kept",
    "classification_accuracy",
    "contingencies_kept",
    "discernibility_kept",
    "entropy_kept",
    "marginals_kept",
    "means_kept",
    "propensity_kept",
    "regression_kept",
    "variances_kept",
]

Columns = str | Sequence[str]
Shares = Mapping[str, FloatArray]

#: Records below which no model is fitted.
_FEWEST = 10


def means_kept(original: pd.DataFrame, release: pd.DataFrame, *, columns: Columns) -> float:
    """Return one less the mean shift of the columns' means in standard deviations, at least 0.

    Parameters
    ----------
    original, release : DataFrame
        Numeric columns of the same records (equal index labels); a record that the release leaves out does not count.
    columns : str or sequence of str

    Returns
    -------
    float
        In [0, 1]. A constant column keeps 1 if its mean stayed.
    """
    listed, before, after = _aligned(original, release, columns)
    shares = []
    for column in listed:
        true, released = before[column].to_numpy(float), after[column].dropna().to_numpy(float)
        if not len(released):
            return 0.0
        shift, spread = abs(float(released.mean() - true.mean())), float(true.std())
        shares.append(max(0.0, 1 - shift / spread) if spread > 0 else float(shift < 1e-12))
    return float(np.mean(shares))


def variances_kept(original: pd.DataFrame, release: pd.DataFrame, *, columns: Columns) -> float:
    """Return the mean ratio of the columns' variances, the smaller over the larger; arguments as for `means_kept`."""
    listed, before, after = _aligned(original, release, columns)
    shares = []
    for column in listed:
        released = after[column].dropna().to_numpy(float)
        pair = sorted([float(before[column].to_numpy(float).var()), float(released.var()) if len(released) else 0.0])
        shares.append(pair[0] / pair[1] if pair[1] > 0 else 1.0)
    return float(np.mean(shares))


def regression_kept(original: pd.DataFrame, release: pd.DataFrame, *, columns: Columns) -> float:
    """Return the mean overlap of the 95 % intervals of regression coefficients, each column on all others.

    Parameters
    ----------
    original, release, columns
        As for `means_kept`, at least two columns.

    Returns
    -------
    float
        In [0, 1]: for each coefficient the overlap of the two intervals as a share of either, averaged (Karr et al.
        2006); nan where the original has too few records.

    Notes
    -----
    Coefficients of columns that depend on one another (the categories of one column) are those of least size.
    """
    listed, before, after = _aligned(original, release, columns, at_least=2)
    overlaps: list[float] = []
    tables = [frame.dropna().to_numpy(float) for frame in (before, after)]
    if len(tables[0]) <= len(listed) + 1:
        return float("nan")
    if len(tables[1]) <= len(listed) + 1:
        return 0.0
    for target in range(len(listed)):
        (low, high), (other_low, other_high) = (_intervals(table, target) for table in tables)
        common = np.minimum(high, other_high) - np.maximum(low, other_low)
        for width, single in ((high - low, high == low), (other_high - other_low, other_high == other_low)):
            share = np.divide(common, width, out=np.zeros_like(common), where=~single)
            overlaps += np.clip(np.where(single, common >= -1e-12, share), 0, 1).tolist()
    return float(np.mean(overlaps))


def _intervals(table: FloatArray, target: int) -> tuple[FloatArray, FloatArray]:
    """Return the 95 % intervals of the coefficients of a column on all others, all in units of the column itself."""
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
    """Return how hard it is to tell released from original records: one less four times the propensity's spread.

    Parameters
    ----------
    original, release, columns
        As for `means_kept`.

    Returns
    -------
    float
        In [0, 1]: 1 where a logistic regression finds no difference, 0 where it tells every record. nan for fewer than
        10 records.

    Notes
    -----
    The propensity score mean squared error of Woo et al. (2009); main effects and squares of standardised columns.
    """
    from sklearn.linear_model import LogisticRegression

    listed, before, after = _aligned(original, release, columns)
    parts = [frame[listed].dropna().to_numpy(float) for frame in (before, after)]
    if min(map(len, parts)) < _FEWEST:
        return float("nan") if len(parts[0]) < _FEWEST else 0.0
    x = np.concatenate(parts)
    spread = x.std(axis=0)
    x = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    is_released = np.repeat([0, 1], [len(part) for part in parts])
    model = LogisticRegression(max_iter=200).fit(np.column_stack([x, x**2]), is_released)
    share = is_released.mean()
    error = float(((model.predict_proba(np.column_stack([x, x**2]))[:, 1] - share) ** 2).mean())
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
    """Return how often a tree that learned from released records is right about true records that it has not seen.

    Parameters
    ----------
    original, release, columns
        As for `means_kept`.
    target : Series
        What is to be predicted, by the labels of the original's index; the release has it as it is.
    depth : int, default 5
        Of the tree.

    Returns
    -------
    float
        In [0, 1]; compare with the original's own. nan for fewer than 10 records or a target that does not vary.

    Notes
    -----
    Three parts of the records in turn are left out of learning. Nothing here is random.
    """
    from sklearn.tree import DecisionTreeClassifier

    listed, before, after = _aligned(original, release, columns)
    codes, values = encode_column(target.reindex(original.index).astype(object))
    is_complete = after.notna().all(axis=1).to_numpy()
    if len(codes) < _FEWEST or is_complete.sum() < _FEWEST or len(values) < 2:
        return float("nan")
    true, released, part = before.to_numpy(float), after.to_numpy(float), np.arange(len(codes)) % 3
    right = 0
    for fold in range(3):
        model = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=3, random_state=0)
        trained, tested = is_complete & (part != fold), part == fold
        model.fit(released[trained][:, : len(listed)], codes[trained])
        right += int((model.predict(true[tested]) == codes[tested]).sum())
    return right / len(codes)


def _quasi(table: pd.DataFrame, columns: Columns) -> np.ndarray:
    listed = [columns] if isinstance(columns, str) else list(columns)
    if not len(table):
        return np.zeros(0, dtype=np.int64)
    sizes: np.ndarray = np.bincount(class_ids([encode_column(table[c].astype(str))[0] for c in listed])[0])
    return sizes


def discernibility_kept(original: pd.DataFrame, release: pd.DataFrame, *, columns: Columns) -> float:
    """Return the share of pairs of records that the release tells apart, of those that the original tells apart.

    Parameters
    ----------
    original, release : DataFrame
        The records, labels as they are; a record left out is told apart from nobody.
    columns : str or sequence of str
        The quasi-identifiers.

    Returns
    -------
    float
        In [0, 1]; one less the discernibility metric of Bayardo and Agrawal (2005), relative to the original's.
    """
    n = len(original)
    before, after = (
        (len(table) ** 2 - float((_quasi(table, columns).astype(float) ** 2).sum())) / max(1, n) ** 2
        for table in (original, release)
    )
    return min(1.0, after / before) if before > 0 else 1.0


def classes_kept(original: pd.DataFrame, release: pd.DataFrame, *, columns: Columns) -> float:
    """Return the number of classes of equal records over that of the original, at most 1.

    Arguments as for `discernibility_kept`: the reciprocal of how much larger the mean class is (LeFevre et al. 2006).
    """
    before, after = (len(_quasi(table, columns)) for table in (original, release))
    return min(1.0, after / before) if before else 1.0


def _checked_shares(original: Shares, release: Shares) -> Iterator[tuple[FloatArray, FloatArray]]:
    if set(original) != set(release) or not original:
        raise DataError(f"`original` and `release` must have the same columns, got {set(original) ^ set(release)}")
    for column, shares in original.items():
        if shares.shape[1] != release[column].shape[1]:
            raise DataError(f"column {column!r} must have the same bins in `original` and `release`")
        yield shares, release[column]


def _mass(release: Shares, original: Shares) -> float:
    """Return the share of the records that is released."""
    first = next(iter(original))
    return len(release[first]) / max(1, len(original[first]))


def marginals_kept(original: Shares, release: Shares) -> float:
    """Return one less the total variation between the distributions of each column, averaged.

    Parameters
    ----------
    original, release : mapping of str to ndarray of float64, shape (n records, n bins)
        Column -> how likely each record is in each bin; rows sum to 1. The release may have fewer records.

    Returns
    -------
    float
        In [0, 1]; records left out lose their share.
    """
    gaps = [np.abs(_mean(before) - _mean(after)).sum() / 2 for before, after in _checked_shares(original, release)]
    return float((1 - np.mean(gaps)) * _mass(release, original))


def _mean(shares: FloatArray) -> FloatArray:
    return shares.sum(axis=0) / max(1, len(shares))


def contingencies_kept(original: Shares, release: Shares) -> float:
    """Return one less the total variation between the tables of every two columns, averaged; as `marginals_kept`.

    nan for a single column.
    """
    pairs = list(_checked_shares(original, release))
    gaps = []
    for (first, released_first), (second, released_second) in combinations(pairs, 2):
        before, after = (
            first.T @ second / max(1, len(first)),
            released_first.T @ released_second / max(1, len(released_first)),
        )
        gaps.append(np.abs(before - after).sum() / 2)
    return float((1 - np.mean(gaps)) * _mass(release, original)) if gaps else float("nan")


def entropy_kept(original: Shares, release: Shares) -> float:
    """Return the share of the columns' bits that the labels of the release still say; as `marginals_kept`.

    A label that stands for several bins leaves the entropy of these open (Gionis and Tassa 2009, with the bins equally
    likely); what is wrong is not seen by this measure.
    """
    shares = []
    for before, after in _checked_shares(original, release):
        everything = np.log2(before.shape[1])
        if everything > 0:
            positive = np.where(after > 0, after, 1.0)
            remaining = -(positive * np.log2(positive)).sum(axis=1)
            shares.append(float(1 - remaining.sum() / max(1, len(after)) / everything))
    return float(np.clip(np.mean(shares), 0, 1) * _mass(release, original)) if shares else 1.0
