"""Attack. Disclosure by the classes of a release: homogeneity, background knowledge, skewness, similarity."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import pandas as pd

from reident.base import (
    BoolArray,
    DataError,
    FloatArray,
    IntArray,
    ParameterError,
    Real,
    check_columns,
    check_mapping,
    check_real,
    check_table,
    checked,
)
from reident.tables._criteria import sensitive_runs
from reident.tables.classes import check_no_gaps, check_sensitive, encode_column, suppressed_rows, table_classes


@dataclass(frozen=True, eq=False)
class Breaches:
    """The records with a disclosed sensitive value, and by how much.

    Attributes
    ----------
    attack : str
    records : DataFrame, one row a breached record and value, indexed as the release
        ``equivalence_class`` (number of the class, in order of appearance), ``value`` (the value learned), ``prior``
        (its probability before the class was known: its share of the released records), ``posterior`` (within the
        class), ``gain`` (posterior - prior).
    n_records : int
        Records of the release that are in a class.
    """

    attack: str
    records: pd.DataFrame
    n_records: int = field(repr=False)

    @property
    def n_breached(self) -> int:
        """The number of records breached."""
        return int(self.records.index.nunique())

    @property
    def share(self) -> float:
        """The share of the records in classes that is breached."""
        return self.n_breached / self.n_records if self.n_records else 0.0


@dataclass(frozen=True)
class _Classes:
    """A release as the pairs of a class and a sensitive value that occur, in order."""

    index: pd.Index
    ids: IntArray  # class of each record
    of_class: IntArray
    value: IntArray
    counts: IntArray
    domain: list[Any]
    prior: FloatArray  # share of each value among all records
    posterior: FloatArray  # share of each pair's value in its class

    def breaches(
        self, attack: str, classes: IntArray, prior: FloatArray, posterior: FloatArray, names: Sequence[Any]
    ) -> Breaches:
        """Name the records of breached classes, with the value learned in each."""
        breached = pd.DataFrame(
            {
                "equivalence_class": classes,
                "value": pd.Series(list(names), dtype=object),
                "prior": prior,
                "posterior": posterior,
                "gain": posterior - prior,
            }
        )
        places = pd.DataFrame({"equivalence_class": self.ids, "place": np.arange(len(self.ids))})
        records = places.merge(breached, on="equivalence_class")
        return Breaches(attack, records.set_index(self.index.take(records.pop("place"))), len(self.ids))

    def pair_breaches(self, attack: str, hit: BoolArray, prior: FloatArray, posterior: FloatArray) -> Breaches:
        """Name the records of the pairs that `hit` marks; the prior is by value, the posterior by pair."""
        value = self.value[hit]
        names = [self.domain[place] for place in value]
        return self.breaches(attack, self.of_class[hit], prior[value], posterior[hit], names)


def _read(release: Any, quasi: str | Sequence[str], sensitive: str) -> _Classes:
    table = check_table(getattr(release, "table", release), "release")
    quasi = check_columns(table, quasi, "quasi", table_name="release")
    check_sensitive(table, sensitive, quasi, "release")
    table = table.loc[~suppressed_rows(table, quasi, "*")]
    check_no_gaps(table[sensitive], "release")
    ids = table_classes(table, quasi)[0]
    codes, values = encode_column(table[sensitive])
    runs, prior = sensitive_runs(ids, codes), np.bincount(codes) / len(codes)
    return _Classes(table.index, ids, runs.owner(), runs.values, runs.counts, list(values), prior, runs.shares())


def homogeneity_attack(release: Any, *, quasi: str | Sequence[str], sensitive: str) -> Breaches:
    """Find the records in classes with a single sensitive value: the class discloses it.

    Parameters
    ----------
    release : DataFrame, or a result with a `table`
        The anonymised records; suppressed ones are in no class.
    quasi : str or sequence of str
    sensitive : str

    Returns
    -------
    Breaches
        Posterior 1 for every record named.

    Raises
    ------
    ParameterError, DataError
        If the table is empty, a column is absent or used twice, or a sensitive value is missing.

    Notes
    -----
    Vanhoef (2012), section 3.3.2. l-diversity with l > 1 prevents it.

    Examples
    --------
    >>> release = pd.DataFrame({"zip": ["13*", "13*", "14*", "14*"], "ill": ["flu", "cancer", "cancer", "cancer"]})
    >>> homogeneity_attack(release, quasi="zip", sensitive="ill").records.index.tolist()
    [2, 3]
    """
    classes = _read(release, quasi, sensitive)
    return classes.pair_breaches("homogeneity", classes.posterior == 1, classes.prior, classes.posterior)


@checked
def background_knowledge_attack(
    release: Any,
    *,
    quasi: str | Sequence[str],
    sensitive: str,
    knowledge: Mapping[Hashable, float],
    min_posterior: Annotated[float, Real(0, 1, open_low=True)] = 0.5,
) -> Breaches:
    """Weigh the values of each class by the intruder's knowledge of the person, and find those that become probable.

    Parameters
    ----------
    release, quasi, sensitive
        As in `homogeneity_attack`.
    knowledge : mapping
        Sensitive value -> how much less (below 1) or more (above 1) likely it is for the person than for people at
        large; 0 excludes it. Values that are not mentioned have 1.
    min_posterior : float in (0, 1]
        From which probability a value counts as learned.

    Returns
    -------
    Breaches
        Records of classes where the knowledge raises a value to at least `min_posterior`. The prior is the share
        among all records, weighed by the same knowledge, so that the gain is due to the release.

    Raises
    ------
    ParameterError, DataError
        As in `homogeneity_attack`; and if the knowledge names no value of the release, or a negative weight.

    Notes
    -----
    Vanhoef (2012), section 3.3.2. A class whose every value the knowledge excludes is skipped: the person cannot be
    in it.
    """
    classes = _read(release, quasi, sensitive)
    for value, weight in check_mapping(knowledge, "knowledge").items():
        check_real(weight, f"knowledge[{value!r}]", low=0)
    unknown = [value for value in knowledge if value not in classes.domain]
    if unknown or not knowledge:
        raise ParameterError(f"`knowledge` must be about values of {sensitive!r} {classes.domain!r}, got {unknown!r}")
    weights = np.array([knowledge.get(value, 1.0) for value in classes.domain])
    weighed = classes.counts * weights[classes.value]
    totals = np.bincount(classes.of_class, weights=weighed)[classes.of_class]
    posterior = np.divide(weighed, totals, out=np.zeros_like(weighed), where=totals > 0)
    prior = classes.prior * weights
    prior = prior / prior.sum() if prior.sum() > 0 else prior
    # The knowledge must have raised it: disclosure by the class alone is another attack's.
    hit = (posterior >= min_posterior) & (posterior > classes.posterior + 1e-12)
    return classes.pair_breaches("background knowledge", hit, prior, posterior)


@checked
def skewness_attack(
    release: Any,
    *,
    quasi: str | Sequence[str],
    sensitive: str,
    min_gain: Annotated[float, Real(0, 1, open_low=True, open_high=True)] = 0.25,
) -> Breaches:
    """Find the records in classes that make a value much more probable than it is among all records.

    Even a diverse class harms if it is far from the whole: one half where one in a hundred is usual.

    Parameters
    ----------
    release, quasi, sensitive
        As in `homogeneity_attack`.
    min_gain : float in (0, 1)
        By how much the probability must rise.

    Returns
    -------
    Breaches

    Raises
    ------
    DataError, ParameterError
        If a column is absent or `min_gain` is not between 0 and 1.

    Notes
    -----
    Vanhoef (2012), section 3.3.2; t-closeness bounds its gain.
    """
    classes = _read(release, quasi, sensitive)
    hit = classes.posterior - classes.prior[classes.value] >= min_gain
    return classes.pair_breaches("skewness", hit, classes.prior, classes.posterior)


@checked
def similarity_attack(
    release: Any,
    *,
    quasi: str | Sequence[str],
    sensitive: str,
    groups: Mapping[Hashable, Hashable] | Callable[[Any], Hashable] | None = None,
    width: Annotated[float | None, Real(0, unit="the column's unit", open_low=True)] = None,
) -> Breaches:
    """Find the records in classes of different values that mean the same.

    Parameters
    ----------
    release, quasi, sensitive
        As in `homogeneity_attack`.
    groups : mapping or callable, optional
        Sensitive value -> its meaning, for example several cancers -> "cancer".
    width : float, optional
        Instead, for numbers: values of a class that lie within this distance mean the same.

    Returns
    -------
    Breaches
        Classes with at least two values that all lie in one group (or within `width`); ``value`` is the group, or the
        interval as (low, high), ``prior`` its share among all records. A class with a single value is homogeneous and
        not named here.

    Raises
    ------
    ParameterError, DataError
        As in `homogeneity_attack`; if neither or both of `groups` and `width` are given, or a value has no group.

    Notes
    -----
    Vanhoef (2012), section 3.3.2.
    """
    classes = _read(release, quasi, sensitive)
    if (groups is None) == (width is None):
        raise ParameterError("`groups` or `width` must be given, and not both")
    if groups is not None:
        meaning = _meanings(groups, classes.domain)
        group, names = pd.factorize(pd.Series(meaning, dtype=object), use_na_sentinel=False)
        hit, lowest, _ = _alike(classes, group, 0)
        learned = lowest[hit]
        prior = np.bincount(group, weights=classes.prior)[learned]
        return classes.breaches("similarity", hit, prior, np.ones(hit.size), list(names[learned]))
    assert width is not None
    numbers = pd.to_numeric(pd.Series(classes.domain), errors="coerce").to_numpy(np.float64)
    if np.isnan(numbers).any():
        raise DataError(
            f"`sensitive` must hold numbers for a `width`, got {classes.domain[int(np.isnan(numbers).argmax())]!r}"
        )
    hit, low, high = _alike(classes, numbers, width)
    order = np.argsort(numbers)
    below = np.concatenate([[0.0], np.cumsum(classes.prior[order])])
    first = np.searchsorted(numbers[order], low[hit], side="left")
    last = np.searchsorted(numbers[order], high[hit], side="right")
    ends = list(zip(low[hit].tolist(), high[hit].tolist(), strict=True))
    return classes.breaches("similarity", hit, below[last] - below[first], np.ones(hit.size), ends)


def _meanings(groups: Mapping[Hashable, Hashable] | Callable[[Any], Hashable], domain: list[Any]) -> list[Hashable]:
    if callable(groups):
        return [groups(value) for value in domain]
    absent = [value for value in domain if value not in groups]
    if absent:
        raise ParameterError(f"`groups` must hold every sensitive value, got none for {absent!r}")
    return [groups[value] for value in domain]


def _alike(classes: _Classes, numbers: np.ndarray, width: float) -> tuple[IntArray, np.ndarray, np.ndarray]:
    """Return the classes of several values that lie within a width, and the ends of every class."""
    ends = pd.Series(numbers[classes.value]).groupby(classes.of_class).agg(["min", "max", "size"])
    low, high = ends["min"].to_numpy(), ends["max"].to_numpy()
    return np.flatnonzero((ends["size"] > 1) & (high - low <= width)), low, high
