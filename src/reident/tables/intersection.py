"""Attack. Intersection of several releases of the same persons, each harmless alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from reident.base import (
    BoolArray,
    DataError,
    FloatArray,
    IntArray,
    ParameterError,
    afford,
    check_columns,
    check_listed,
    check_mapping,
    check_table,
)
from reident.kernels.tables.intersection import gather_classes
from reident.tables.classes import (
    check_no_gaps,
    check_sensitive,
    class_ids,
    encode_column,
    first_rows,
    suppressed_rows,
)
from reident.tables.labels import LabelReader

#: Up to how many values left count as a partial breach.
PARTIAL_LIMIT = 3


@dataclass(frozen=True)
class IntersectionQuality:
    """Success of the attack, given the true sensitive values. Shares are of the whole population.

    Attributes
    ----------
    n : int
        Persons attacked.
    perfect, perfect_correct : float
        Share with one candidate left; share with one candidate left that is true.
    partial, partial_correct : float
        Share with few candidates left; share with few left and the true one among them.
    contradicted : float
        Share with no candidate left: the releases cannot all hold this person as located.
    confidence : float
        Mean probability of the true value: 1 / number of candidates if it is among them, else 0.
    guessed : float
        Share of persons whose most probable value is true.
    baseline : float
        Share of the commonest value, which a guess without the releases reaches.
    """

    n: int
    perfect: float
    perfect_correct: float
    partial: float
    partial_correct: float
    contradicted: float
    confidence: float
    guessed: float
    baseline: float


@dataclass(frozen=True, eq=False)
class IntersectionAttack:
    """Result of intersecting several releases, for each person.

    Attributes
    ----------
    table : DataFrame, one row a person of the population
        ``n_candidates`` (sensitive values left), ``breach`` ("perfect": one is left, "partial": at most
        `PARTIAL_LIMIT`, "none", "contradiction": none is left), ``confidence`` (1 / n_candidates, 0 if none),
        ``value`` (the value of a perfect breach, else missing), ``guess`` and ``posterior`` (the most probable value
        and its probability, weighing each release's class by its counts), ``n_located`` (releases in which a class
        was found), ``n_classes`` (the largest number of classes that had to be united in a release).
    values : tuple
        All sensitive values of the releases, in the order of the columns below.
    possible : ndarray of bool, shape (n, n_values)
        Whether a value is left for a person.
    probabilities : ndarray of float64, shape (n, n_values)
        The attacker's distribution for each person, as if the releases were independent given the value.
    """

    table: pd.DataFrame
    values: tuple[Any, ...]
    possible: BoolArray = field(repr=False)
    probabilities: FloatArray = field(repr=False)

    def candidates(self, person: Any) -> list[Any]:
        """Return the sensitive values left for a person, given by the population's index."""
        places = np.flatnonzero(self.table.index == person)
        if places.size != 1:
            raise ParameterError(f"`person` must be one label of the population's index, got {person!r}")
        return [value for value, is_possible in zip(self.values, self.possible[places[0]], strict=True) if is_possible]

    def assess(self, truth: pd.Series | Sequence[Any]) -> IntersectionQuality:
        """Compare with the true sensitive values, in the order of the population."""
        true = pd.Index(truth)
        if len(true) != len(self.table):
            raise DataError(f"`truth` must have one value a person ({len(self.table)}), got {len(true)}")
        codes = pd.Index(self.values).get_indexer(true)
        rows = np.arange(len(codes))
        is_truth_possible = self.possible[rows, codes] & (codes >= 0)
        n_left = self.table["n_candidates"].to_numpy()
        perfect, partial = ((self.table["breach"] == kind).to_numpy() for kind in ("perfect", "partial"))
        return IntersectionQuality(
            n=len(codes),
            perfect=float(perfect.mean()),
            perfect_correct=float((perfect & is_truth_possible).mean()),
            partial=float(partial.mean()),
            partial_correct=float((partial & is_truth_possible).mean()),
            contradicted=float((n_left == 0).mean()),
            confidence=float(np.where(is_truth_possible, 1 / np.maximum(n_left, 1), 0).mean()),
            guessed=float((self.probabilities.argmax(axis=1) == codes).mean()),
            baseline=float(true.value_counts(normalize=True).iloc[0]),
        )


def intersection_attack(
    releases: Sequence[Any],
    population: pd.DataFrame,
    *,
    quasi: str | Sequence[str],
    sensitive: str,
    hierarchies: Mapping[str, Any] | None = None,
) -> IntersectionAttack:
    """Intersect the possible sensitive values of the same people over several anonymised releases.

    The attacker knows the quasi-identifiers of people who are in all releases. In each release they find the class
    of a person and the sensitive values in it; the person's value is in all these sets. For people who are not in all
    releases the answer may be wrong without a sign of it.

    Parameters
    ----------
    releases : sequence of DataFrame, or of results with a `table`
        The released tables, as `k_anonymise` returns them. Each has the sensitive column and at least one
        quasi-identifier. Suppressed records are in no class.
    population : DataFrame
        The attacker's knowledge: one row a person, original values of the quasi-identifiers. A sensitive column in it
        is ignored.
    quasi : str or sequence of str
        The quasi-identifiers, columns of the population. A release without some of them is located by the others.
    sensitive : str
        The sensitive attribute, a column of every release.
    hierarchies : mapping of str to Hierarchy or DataFrame, optional
        How categories are generalised, for labels that cannot be read by themselves ("white-collar"). Intervals, sets,
        masks and "*" can (`reident.tables.labels.LabelReader`).

    Returns
    -------
    IntersectionAttack

    Raises
    ------
    ParameterError, DataError
        If there is no release, a table is empty, a column is absent, a release shares no quasi-identifier with the
        population, a sensitive value is missing, or no label of a column can be read.

    Notes
    -----
    Vanhoef (2012), Algorithm 3.1 with Definition 3.6. If several classes cover a person (overlapping regions), their
    values are united, so that the true value is never lost. Computed once for each distinct combination of values;
    classes that cover it are found by intersecting bit sets. Time about n_combinations x n_classes / 64 a release.

    Examples
    --------
    >>> hospital_a = pd.DataFrame({"zip": ["130**"] * 2, "ill": ["heart disease", "cancer"]})
    >>> hospital_b = pd.DataFrame({"zip": ["1305*"] * 2, "ill": ["cancer", "flu"]})
    >>> attack = intersection_attack([hospital_a, hospital_b], pd.DataFrame({"zip": ["13053"]}, index=["Alice"]),
    ...                              quasi="zip", sensitive="ill")
    >>> attack.candidates("Alice")
    ['cancer']
    """
    after = _locate(releases, population, quasi, sensitive, hierarchies)
    return after(len(releases))


def intersection_course(
    releases: Sequence[Any],
    population: pd.DataFrame,
    *,
    quasi: str | Sequence[str],
    sensitive: str,
    hierarchies: Mapping[str, Any] | None = None,
) -> list[IntersectionAttack]:
    """Return the attacker's knowledge after the first release, the first two, and so on.

    Errors are those of `intersection_attack`. The sensitive values are those of all releases from the start.

    Parameters
    ----------
    releases, population, quasi, sensitive, hierarchies
        As for `intersection_attack`.

    Returns
    -------
    list of IntersectionAttack
        One a number of releases.
    """
    after = _locate(releases, population, quasi, sensitive, hierarchies)
    return [after(n + 1) for n in range(len(releases))]


def _locate(
    releases: Sequence[Any],
    population: pd.DataFrame,
    quasi: str | Sequence[str],
    sensitive: str,
    hierarchies: Mapping[str, Any] | None,
) -> Callable[[int], IntersectionAttack]:
    """Find the classes of every person in every release; the result intersects the first n releases."""
    quasi = check_columns(check_table(population, "population"), quasi, "quasi", table_name="population")
    trees = check_mapping(hierarchies, "hierarchies", optional=True)
    for column, hierarchy in trees.items():
        if column not in quasi:
            raise ParameterError(f"`hierarchies` must be of quasi-identifiers {quasi!r}, got one of {column!r}")
        if not hasattr(hierarchy, "to_frame") and not isinstance(hierarchy, pd.DataFrame):
            raise ParameterError(f"`hierarchies` must hold Hierarchy objects, got {hierarchy!r} for {column!r}")
    tables = _tables(releases, quasi, sensitive)
    coded = {column: encode_column(population[column]) for column in quasi}
    person, n_combinations = class_ids([coded[column][0] for column in quasi])
    first = first_rows(person, n_combinations)
    distinct = {column: (codes[first], values) for column, (codes, values) in coded.items()}
    values = _sensitive_values(tables, sensitive)
    counts = [_gather(table, distinct, sensitive, values, trees) for table in tables]
    totals = [table[sensitive].astype(object).value_counts().reindex(values, fill_value=0) for table in tables]

    def after(n: int) -> IntersectionAttack:
        frame, possible, probabilities = _intersect(counts[:n], np.sum(totals[:n], axis=0), values)
        table = frame.take(person).set_axis(population.index, axis=0)
        return IntersectionAttack(table, tuple(values), possible[person], probabilities[person])

    return after


def _tables(releases: Sequence[Any], quasi: list[str], sensitive: str) -> list[pd.DataFrame]:
    listed = [getattr(release, "table", release) for release in check_listed(releases, "releases")]
    if isinstance(releases, pd.DataFrame) or not listed:
        raise ParameterError("`releases` must be a sequence of at least one release; for one give a list of one")
    for place, table in enumerate(listed):
        name = f"releases[{place}]"
        check_sensitive(check_table(table, name), sensitive, quasi, name)
        if not any(column in table.columns for column in quasi):
            raise DataError(
                f"`{name}` must have at least one of `quasi` {quasi!r}, got {list(table.columns)!r}: "
                "no person can be located in it"
            )
        check_no_gaps(table[sensitive], name)
    return listed


def _sensitive_values(tables: list[pd.DataFrame], sensitive: str) -> pd.Index:
    distinct = pd.Index(pd.unique(pd.concat([table[sensitive].astype(object) for table in tables])))
    try:
        return pd.Index(sorted(distinct), dtype=object)
    except TypeError:
        return distinct


def _gather(
    table: pd.DataFrame,
    distinct: Mapping[str, tuple[IntArray, pd.Index]],
    sensitive: str,
    values: pd.Index,
    hierarchies: Mapping[str, Any],
) -> tuple[IntArray, IntArray]:
    """Return, for each combination, the counts of the sensitive values in its classes, and how many classes it has."""
    columns = [column for column in distinct if column in table.columns]
    table = table.loc[~suppressed_rows(table, columns, "*")]
    labels = {column: encode_column(table[column]) for column in columns}
    ids, n_classes = class_ids([labels[column][0] for column in columns])
    counts = np.zeros((n_classes, len(values)), dtype=np.int64)
    np.add.at(counts, (ids, values.get_indexer(pd.Index(table[sensitive], dtype=object))), 1)
    class_labels = np.stack([labels[column][0] for column in columns], axis=1)[first_rows(ids, n_classes)]
    codes = np.stack([distinct[column][0] for column in columns], axis=1)
    description = f"{len(codes):,} combinations of values by {len(values):,} sensitive values"
    afford(24 * len(codes) * len(values), "population", description, "take a sample, or group the sensitive values")
    covered = [LabelReader(distinct[c][1], labels[c][1], hierarchies.get(c)).cover() for c in columns]
    for column, matrix in zip(columns, covered, strict=True):
        if not matrix.any():
            examples = [str(label) for label in labels[column][1][:5]]
            raise DataError(
                f"no label of {column!r} covers a value of the population, got {examples!r}: give `hierarchies` for it"
            )
    offsets = np.cumsum([0, *map(len, covered)])[:-1]
    cover = np.concatenate([_pack(matrix, class_labels[:, j]) for j, matrix in enumerate(covered)])
    gathered, n_covering = np.zeros((len(codes), len(values)), dtype=np.int64), np.zeros(len(codes), dtype=np.int64)
    gather_classes(codes + offsets, cover, counts, gathered, n_covering)
    return gathered, n_covering


def _pack(matrix: BoolArray, columns: IntArray) -> Any:
    """Return chosen columns of a Boolean matrix as rows of 64-bit words, column c as bit c % 64 of word c // 64."""
    n_bytes = 8 * -(-columns.size // 64)
    description = f"{len(matrix):,} values by {columns.size:,} classes"
    afford(len(matrix) * n_bytes, "releases", description, "take a sample of the records")
    packed = np.zeros((len(matrix), n_bytes), dtype=np.uint8)
    for bits, row in zip(packed, matrix, strict=True):
        bits[: -(-columns.size // 8)] = np.packbits(row[columns], bitorder="little")
    return packed.view(np.dtype("<u8"))


def _intersect(
    class_counts: list[tuple[IntArray, IntArray]], pooled: FloatArray, values: pd.Index
) -> tuple[pd.DataFrame, BoolArray, FloatArray]:
    """Return the table, the possible values and their probabilities of each combination."""
    n_combinations = len(class_counts[0][1])
    with np.errstate(divide="ignore"):
        prior = np.log(pooled / pooled.sum())
    possible = np.ones((n_combinations, len(values)), dtype=np.bool_)
    weight = np.tile(prior, (n_combinations, 1))
    n_located, n_classes = np.zeros((2, n_combinations), dtype=np.int64)
    for counts, n_covering in class_counts:
        located = n_covering > 0
        possible[located] &= counts[located] > 0
        with np.errstate(divide="ignore"):
            inside = np.log(counts[located] / counts[located].sum(axis=1, keepdims=True))
        # A value that no release so far has is impossible with any divisor.
        weight[located] += inside - np.where(np.isfinite(prior), prior, 0)
        n_located += located
        n_classes = np.maximum(n_classes, n_covering)
    top = weight.max(axis=1, keepdims=True)
    probabilities = np.exp(weight - np.where(np.isfinite(top), top, 0))
    total = probabilities.sum(axis=1, keepdims=True)
    # If no value is left, the releases contradict each other, and the attacker is back at the prior.
    probabilities = np.where(total > 0, probabilities / np.where(total > 0, total, 1), np.exp(prior))
    n_left = possible.sum(axis=1)
    is_partial = (n_left <= PARTIAL_LIMIT) & (n_left < len(values))
    breach = np.select([n_left == 0, n_left == 1, is_partial], ["contradiction", "perfect", "partial"], "none")
    names = np.asarray(values, dtype=object)
    table = pd.DataFrame(
        {
            "n_candidates": n_left,
            "breach": pd.Categorical(breach, ["perfect", "partial", "none", "contradiction"]),
            "confidence": np.where(n_left > 0, 1 / np.maximum(n_left, 1), 0.0),
            "value": pd.Series(names[possible.argmax(axis=1)]).where(n_left == 1),
            "guess": names[probabilities.argmax(axis=1)],
            "posterior": probabilities.max(axis=1),
            "n_located": n_located,
            "n_classes": n_classes,
        }
    )
    return table, possible, probabilities
