"""Test whether a released column depends on original columns: closed-form tests first, a learner for the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy.special import chdtrc, gammainc, ndtr

from reident.base import FloatArray, IntArray, quiet
from reident.tables.classes import class_ids
from reident.tables.labels import texts_of
from reident.tables.writing import as_numbers
from reident.workbench.composition import codes_of

#: Chance that a column that is new is refused, over all closed-form tests of one column together.
LEVEL = 1e-3
#: Standard deviations above permuted cells from which the learned test counts.
Z = 4.0
#: Pairs that a test reads at most; fewer than `FEWEST` are too few to find a dependence.
SAMPLE, FEWEST = 5000, 150
#: Ranges into which a column with many values is cut, and values up to which a column is a class of its own.
_CLASSES, _FEW = 12, 30
#: Columns up to which all pairs of columns are looked at; of more, those with a quasi-identifier or place.
_NARROW = 12

Partition = tuple[str, IntArray]


class Features:
    """Original columns as partitions, as orders, and as numbers for trees; made once for all columns of a release.

    Parameters
    ----------
    data : DataFrame
        The original's columns, a true pair a row.
    known : iterable of str
        Columns that intruders may know: of wide tables only pairs of columns with one of them are looked at.
    seed : int
        Draws the sample of `SAMPLE` pairs, ties and permutations.
    """

    def __init__(self, data: pd.DataFrame, known: Iterable[Any] = (), seed: int = 0) -> None:
        n = len(data)
        rng = np.random.default_rng(seed)
        self.rows = np.sort(rng.choice(n, SAMPLE, replace=False)) if n > SAMPLE else np.arange(n)
        self.data, self.known, self.seed = data.iloc[self.rows], {*map(str, known)}, seed
        self.orders = [(str(name), ordered(column)) for name, column in self.data.items()]
        self.single = [part for name in self.data for part in partitions(self.data[name], str(name))]
        few = [part for part in self.single if part[1].max() <= _FEW]
        whole = [(str(name), codes_of(self.data[name])) for name in self.data]
        double = [
            (f"{first} with {second}", class_ids([x, y])[0])
            for parts in (few, whole)
            for i, (first, x) in enumerate(parts)
            for second, y in parts[:i]
            if self._asked(first, second)
        ]
        self.double = [part for part in double if part[1].max() > 0]

    def _asked(self, first: str, second: str) -> bool:
        columns = {name.partition(": ")[0] for name in (first, second)}
        is_looked_at = len(self.data.columns) <= _NARROW or bool(columns & self.known)
        return len(columns) == 2 and is_looked_at

    def plainness(self, tried: tuple[float, str]) -> tuple[float, bool, bool]:
        """Return the key by which the plainest of the strongest partners is named: known, and a whole column."""
        column, _, part = tried[1].partition(": ")
        return tried[0], column not in self.known, part not in ("", "values")

    def matrix(self) -> FloatArray:
        """Return numbers for trees: orders, and partitions of few classes."""
        parts = [values for _, values in self.orders]
        parts += [codes.astype(float) for _, codes in self.single if codes.max() <= _FEW]
        return np.nan_to_num(np.column_stack(parts).astype(float), nan=-1e9)


def ordered(column: pd.Series) -> FloatArray:
    """Return a column as numbers, else as the order of its texts."""
    numbers = as_numbers(column)
    return numbers if numbers is not None else pd.factorize(texts_of(column), sort=True)[0].astype(float)


def partitions(column: pd.Series, name: str) -> list[Partition]:
    """Cut a column into classes: its values, ranges of its order, first and last signs, calendar parts."""
    text, order = texts_of(column).fillna("").astype(str), ordered(column)
    ranks = pd.Series(order).rank(pct=True).fillna(0).to_numpy()
    parts = {
        "values": text, "range": np.minimum((ranks * _CLASSES).astype(int), _CLASSES - 1),
        "last sign": text.str[-1:], "last two signs": text.str[-2:], "first sign": text.str[:1],
    }  # fmt: skip
    whole = order[np.isfinite(order)]
    if len(whole) and (whole == np.floor(whole)).all() and np.abs(whole).max() > 100:
        parts["tens"] = np.nan_to_num(order) // 10 % 10
    if text.str.match(r"\d{4}-\d{2}-\d{2}").mean() > 0.95:
        days = pd.to_datetime(text.str[:10], errors="coerce", format="ISO8601").dt
        parts |= {"month": days.month, "day of month": days.day, "weekday": days.day_of_week, "year": days.year}
    listed: dict[bytes, Partition] = {}
    for kind, values in parts.items():
        codes = pd.factorize(values, use_na_sentinel=False)[0]
        if 0 < codes.max(initial=0) < len(codes) - 1:
            listed.setdefault(codes.tobytes(), (f"{name}: {kind}", codes))
    return list(listed.values())


def p_same(x: IntArray, y: IntArray) -> float:
    """Return the p-value of independence of two partitions.

    Chi-square where each cell expects a record at least; else the number of pairs of records that share both classes
    (Knox), against its moments under permutation and a Poisson law, the larger of both p-values.
    """
    n, nx, ny = len(x), np.bincount(x), np.bincount(y)
    if n < 4:
        return 1.0
    key = x * len(ny) + y
    if nx.min() * ny.min() >= n:
        cells = np.bincount(key, minlength=len(nx) * len(ny))
        expected = np.outer(nx, ny).ravel() / n
        return chdtrc((len(nx) - 1) * (len(ny) - 1), ((cells - expected) ** 2 / expected).sum())
    few = len(nx) * len(ny) <= 4 * n
    counts = (np.bincount(key) if few else np.unique(key, return_counts=True)[1]).astype(float)
    same = (counts * (counts - 1)).sum() / 2
    sizes = nx.astype(float), ny.astype(float)
    (a, a2), (b, b2) = (((c * (c - 1)).sum() / 2, (c * (c - 1) * (c - 2)).sum() / 2) for c in sizes)
    mean = 2 * a * b / (n * (n - 1))
    square = (
        mean
        + 4 * a2 * b2 / (n * (n - 1) * (n - 2))
        + 4 * (a * (a - 1) - 2 * a2) * (b * (b - 1) - 2 * b2) / (n * (n - 1) * (n - 2) * (n - 3))
    )
    spread = np.sqrt(max(square - mean**2, mean * 1e-6, 1e-12))
    poisson = gammainc(same, mean) if same else 1.0
    return max(ndtr((mean + 0.5 - same) / spread), poisson)


def chatterjee(x: FloatArray, y: FloatArray, rng: Generator) -> float:
    """Return Chatterjee's coefficient: 1 where y is a function of x, about 0 where both are independent."""
    rank = np.empty(len(y))
    rank[np.lexsort((rng.random(len(y)), y))] = np.arange(len(y))
    along = rank[np.lexsort((rng.random(len(x)), x))]
    return 1 - 3 * np.abs(np.diff(along)).sum() / (len(y) ** 2 - 1) if len(y) > 1 else 0.0


def p_order(x: FloatArray, y: FloatArray, rng: Generator) -> float:
    """Return the p-value of Chatterjee's coefficient."""
    return 2 * ndtr(-abs(chatterjee(x, y, rng)) * np.sqrt(len(y) / 0.4))


def z_learned(x: FloatArray, y: IntArray, rng: Generator) -> float:
    """Return by how many standard deviations classes are predicted better out of fold than permuted ones."""
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.model_selection import KFold, cross_val_predict

    model, folds = ExtraTreesClassifier(100, min_samples_leaf=2, random_state=0), KFold(5, shuffle=True, random_state=0)
    with quiet(Warning):  # a fold may lack a rare class
        p = 1e-3 + cross_val_predict(model, x, y, cv=folds, method="predict_proba")
    logs, at = np.log(p / p.sum(axis=1, keepdims=True)), np.arange(len(y))
    null = np.array([logs[at, rng.permutation(y)].mean() for _ in range(200)])
    return (logs[at, y].mean() - null.mean()) / max(null.std(), 1e-12)


def dependence(features: Features, column: pd.Series, *, learned: bool = True) -> str:
    """Return the original columns on which a released column depends most, and how they were cut; "" for none.

    Parameters
    ----------
    features : Features
    column : Series
        The released cells, a true pair a row, as the data of `features` were.
    learned : bool
        Whether a learner is asked where the closed-form tests find nothing.
    """
    column = column.iloc[features.rows]
    if column.nunique(dropna=False) < 2:
        return ""
    own_parts, value = partitions(column, str(column.name)), ordered(column)
    rng = np.random.default_rng([features.seed, 1])  # the same draws for each column, whatever was tested before
    n_tests = max(1, len(own_parts) * (len(features.single) + len(features.double)) + len(features.orders))
    tried = [(p_order(order, value, rng), name) for name, order in features.orders]
    for parts in (features.single, features.double):  # the simplest partner is named
        tried += [(p_same(codes, own), name) for name, codes in parts for _, own in own_parts]
        p, partner = min(tried, key=features.plainness, default=(1.0, ""))
        if p * n_tests < LEVEL:
            return partner
    if not learned or len(features.rows) < FEWEST:
        return ""
    classes = next((codes for _, codes in own_parts if codes.max() < _CLASSES), None)
    if classes is None:
        ranks = pd.Series(value).rank(method="first").fillna(0)
        classes = pd.qcut(ranks, _CLASSES, labels=False).to_numpy()
    return "several columns together" if z_learned(features.matrix(), classes, rng) > Z else ""


def column_of(partner: str) -> str:
    """Return the original column on which a released one depends, without how it was cut."""
    return partner.partition(": ")[0].partition(" with ")[0]
