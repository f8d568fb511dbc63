"""Attack. Record linkage: a released record is linked to the nearest known one, or to that of most match weight."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd

from reident.base import (
    Choice,
    DataError,
    FloatArray,
    IntArray,
    ParameterError,
    check_choice,
    check_columns,
    check_mapping,
    check_numeric,
    check_real,
    check_table,
    checked,
)
from reident.kernels._numba import in_parts
from reident.kernels.tables.nearest import build_tree, nearest_records
from reident.tables._match_weights import estimate_weights, heaviest_records
from reident.tables.choquet.fuzzy_measure import FuzzyMeasure, choquet_integral, shapley_values

DISTANCES = ("dbrl1", "dbrl2", "mahalanobis", "weighted_mean", "probabilistic")

#: Aggregated distances are tied if they differ by no more than this relative amount, which is rounding.
TIE = 1e-12
# Released records that a thread searches at once: for fewer, starting it takes longer than they do.
_FEWEST = 512


@dataclass(frozen=True)
class RecordLinkage:
    """The links of a nearest-record attack and how many are right.

    Attributes
    ----------
    links : DataFrame
        One row a released record, in the release's order: `release` and `known` (index labels; among ties the known
        record that comes first), `distance` (aggregated squared distance; for "probabilistic" the bits of match weight
        that are lacking of the greatest possible one), `n_nearest` (known records tied at that
        distance), `true_distance` (to the true partner, NaN for none), `outcome` and `credit`.
        Outcomes: "correct" (the true partner alone is nearest), "tied" (it is among several nearest), "wrong", "absent"
        (no true partner among the known records), "unknown" (truth was not given).
    ratio : float
        Sum of the credits divided by the number of released records; NaN where truth was not given.
    distance : str
        The distance used.
    ties : str
        "strict": a tied record earns 0; "share": 1 / n_nearest, the mean of a guess among the tied.
    columns : list of str
        The columns compared.
    ignored : list of str
        Those of them that were constant in a file.
    agreement : DataFrame or None
        For "probabilistic", one row a column and level of agreement: `variable`, `level` (1 is the closest), `at_most`
        (greatest difference, in standard deviations), `m` and `u` (share of true pairs, estimated, and of all pairs in
        the level), `bits` (its match weight, log2(m / u)).
    """

    links: pd.DataFrame
    ratio: float
    distance: str
    ties: str
    columns: list[str]
    ignored: list[str]
    agreement: pd.DataFrame | None = None


@checked
def link_records(
    release: pd.DataFrame,
    known: pd.DataFrame,
    *,
    columns: str | Sequence[str] | None = None,
    distance: Annotated[str, Choice("dbrl2", "dbrl1", "mahalanobis", "probabilistic")] | Any = "dbrl1",
    weights: Mapping[str, float] | Sequence[float] | None = None,
    truth: Mapping[Hashable, Hashable] | pd.Series | str | None = None,
    ties: Annotated[str, Choice("share", "strict")] = "strict",
) -> RecordLinkage:
    """Link each released record to the nearest known record and count the right links.

    The attack of an intruder who holds values of the same columns, with names, from elsewhere. A link does not show its
    certainty: wrong links look like right ones, and harm too.

    Parameters
    ----------
    release, known : DataFrame
        The protected table and the intruder's. Neither is modified.
    columns : list of str, optional
        Numeric columns to compare; all columns that both tables have for None.
    distance : str, FuzzyMeasure, DataFrame or LearnedLinkage
        "dbrl1": Euclidean on columns standardised in each file by that file's mean and standard deviation;
        "dbrl2": Euclidean on differences divided by their standard deviation over all pairs of records;
        "mahalanobis": with the covariance matrix of these differences, that is the sum of both files' covariance
        matrices; "weighted_mean": the squared differences of "dbrl1" aggregated by `weights`;
        "probabilistic": most match weight (Fellegi and Sunter), estimated without true pairs. A learned linkage (with
        its scaling of columns), a fuzzy measure (the Choquet integral of the squared differences of "dbrl1") or a
        positive semidefinite matrix of columns by columns (of d' M d for the differences d of "dbrl1") may be given.
    weights : mapping of str to float or sequence of float, optional
        Non-negative weights for "weighted_mean", scaled to sum 1.
    truth : mapping or Series, "unknown" or None
        Label in `release` -> label in `known`. None pairs records of equal index label. "unknown": only link.
    ties : {"strict", "share"}
        The credit of a record whose true partner is one of several nearest: 0, or its share.

    Returns
    -------
    RecordLinkage

    Raises
    ------
    ParameterError
        If a column is absent, the distance unknown, or weights or a measure do not fit the columns.
    DataError
        If a column is not numeric or incomplete, labels repeat, no label of the release occurs in `known`, or
        every column is constant in a file.

    Notes
    -----
    Abril et al. (2012), section 2.1. A column that is constant in either file, up to rounding, is left out of every
    distance and listed in `ignored`, so that no division is by 0. Differences in "dbrl2" and "mahalanobis" are taken
    over all pairs, so that the intruder needs no true pair to compute them. A tree of
    bounding boxes finds the nearest: time about O(n log m) for few columns, O(n m p) at worst; memory O((n + m) p).

    "probabilistic": Fellegi and Sunter (1969). The absolute difference of each "dbrl1" column
    falls into one of about log2(m) levels, set by shares of all pairs: the farthest holds half of them, the next a
    quarter, down to one known record a released one. u is counted over all pairs, m estimated by expectation
    maximisation with the chance of a match fixed at 1 / m, as where every released record has one partner among the m
    known, and under the condition that m / u falls from level to level: a larger difference is never evidence for a
    match. Of known records of one weight the nearest by "dbrl1" is taken. Columns are taken as independent. Weights
    come from at most 4 million pairs; time O(n m p).

    Examples
    --------
    >>> import pandas as pd
    >>> known = pd.DataFrame({"pay": [1.0, 2, 5], "tax": [3.0, 1, 4]}, index=["Ann", "Bea", "Cy"])
    >>> linked = link_records(known + 0.1, known)
    >>> linked.links["known"].tolist(), linked.ratio
    (['Ann', 'Bea', 'Cy'], 1.0)
    """
    chosen = _resolve(distance, weights, columns)
    listed = common_columns(release, known, chosen.columns)
    pairs = true_pairs(release, known, truth)
    a, b = check_numeric(release, listed, "release"), check_numeric(known, listed, "known")
    used = informative(a, b)
    if not used.any():
        raise DataError(
            f"every column of {listed!r} is constant in `release` or `known`: no distance separates records"
        )
    agreement = None
    if chosen.kind == "probabilistic":
        a, b = standardised(a[:, used]), standardised(b[:, used])
        estimated = estimate_weights(a, b)
        nearest, smallest, tied, true_distance = heaviest_records(a, b, estimated, pairs)
        agreement = estimated.table([c for c, keep in zip(listed, used, strict=True) if keep])
    else:
        a, b, mu = _coordinates(a[:, used], b[:, used], chosen, listed, used)
        nearest, smallest, tied, true_distance = _search(a, b, mu, pairs)
    outcome, credit = _outcomes(smallest, tied, true_distance, pairs, ties, known_truth=not isinstance(truth, str))
    links = pd.DataFrame(
        {
            "release": release.index,
            "known": known.index[nearest],
            "distance": smallest,
            "n_nearest": tied,
            "true_distance": true_distance,
            "outcome": outcome,
            "credit": credit,
        }
    )
    ratio = float(credit.mean())
    ignored = [c for c, keep in zip(listed, used, strict=True) if not keep]
    return RecordLinkage(links, ratio, chosen.kind, ties, listed, ignored, agreement)


def informative(a: FloatArray, b: FloatArray) -> np.ndarray:
    """Return the columns that vary in both files by more than rounding."""
    return np.logical_and(*(x.std(axis=0) > 1e-12 * np.abs(x).max(axis=0) for x in (a, b)))


def standardised(values: FloatArray) -> FloatArray:
    """Return columns minus their mean, divided by their (population) standard deviation."""
    return np.ascontiguousarray((values - values.mean(axis=0)) / values.std(axis=0))


def spread_of(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the standard deviation of the differences of each column over all pairs of records: "dbrl2"."""
    return np.asarray(np.sqrt(a.var(axis=0) + b.var(axis=0)))


class _Distance(NamedTuple):
    """A kind of distance, the columns that it compares, and the inputs of its kind."""

    kind: str
    columns: Any
    weights: Any = None
    measure: FuzzyMeasure | None = None
    matrix: pd.DataFrame | None = None
    spread: pd.Series | None = None


def _resolve(distance: Any, weights: Any, columns: Any) -> _Distance:
    """Return the kind of distance and its inputs, from a name, a measure, a matrix, or a learned linkage."""
    if isinstance(distance, str):
        kind = check_choice(distance, "distance", DISTANCES)
        if (weights is None) == (kind == "weighted_mean"):
            rule = "given" if kind == "weighted_mean" else "left out"
            raise ParameterError(f"`weights` must be {rule} for `distance` = {kind!r}")
        return _Distance(kind, columns, weights)
    if weights is not None:
        raise ParameterError("`weights` must be left out where `distance` is an object that has its own")
    own = {"matrix": distance} if isinstance(distance, pd.DataFrame) else {"measure": distance}
    if not isinstance(distance, pd.DataFrame | FuzzyMeasure):
        own = {name: getattr(distance, name, None) for name in ("weights", "measure", "matrix", "spread")}
    found = _Distance("choquet", columns, **own)
    if found.matrix is not None:
        return found._replace(kind="bilinear", columns=list(found.matrix.columns) if columns is None else columns)
    if not isinstance(found.measure, FuzzyMeasure):
        raise ParameterError(
            f"`distance` must be one of {DISTANCES}, a FuzzyMeasure, a matrix or a LearnedLinkage, got {distance!r}"
        )
    found = found._replace(columns=list(found.measure.variables) if columns is None else columns)
    return found if found.weights is None else found._replace(kind="weighted_mean", measure=None)


def _half(matrix: pd.DataFrame, columns: list[str]) -> FloatArray:
    """Return a factor of the given matrix (factor times its transpose), in the order of the columns compared."""
    if not set(columns) == set(matrix.columns) == set(matrix.index) or len(matrix) != len(matrix.columns):
        raise ParameterError(f"`distance` must have the columns compared, {columns!r}, as rows and columns")
    values = check_numeric(matrix.loc[columns], columns, "distance")
    spread, vectors = np.linalg.eigh((values + values.T) / 2)
    if abs(values - values.T).max() > 1e-9 * abs(values).max() or spread[0] < -1e-9 * spread[-1] or spread[-1] <= 0:
        raise ParameterError("`distance` must be symmetric and positive semidefinite, and not 0")
    return np.asarray(vectors * np.sqrt(np.maximum(spread, 0.0)))


def common_columns(
    release: pd.DataFrame, known: pd.DataFrame, columns: str | Sequence[str] | None, known_name: str = "known"
) -> list[str]:
    """Return the columns to compare: those named, or all that both tables have."""
    check_table(release, "release")
    check_table(known, known_name)
    if columns is None:
        columns = [column for column in release.columns if column in known.columns]
        if not columns:
            raise DataError(f"`release` and `{known_name}` must have a column in common, they have none")
    listed = check_columns(release, columns, "columns", table_name="release")
    return check_columns(known, listed, "columns", table_name=known_name)


def check_unique(table: pd.DataFrame, name: str) -> None:
    """Require an index without repetitions."""
    if not table.index.is_unique:
        twice = table.index[table.index.duplicated()][0]
        raise DataError(f"the index of `{name}` must be unique, got {twice!r} more than once: it pairs the records")


def true_pairs(release: pd.DataFrame, known: pd.DataFrame, truth: Any) -> IntArray:
    """Return the position in `known` of each released record's true partner, -1 for none."""
    if isinstance(truth, str):
        check_choice(truth, "truth", ("unknown",))
        return np.full(len(release), -1, np.int64)
    check_unique(release, "release")
    check_unique(known, "known")
    if truth is not None and not isinstance(truth, pd.Series):
        check_mapping(truth, "truth")
    labels = release.index if truth is None else pd.Index(pd.Series(truth).reindex(release.index))
    positions = np.asarray(known.index.get_indexer(labels), np.int64)
    if (positions < 0).all():
        raise DataError(
            "`truth` must pair some released record with a known one, got none: give the tables one index, or `truth` "
            "as a mapping of labels, or truth='unknown'"
        )
    return positions


def _coordinates(
    a: FloatArray, b: FloatArray, distance: _Distance, columns: list[str], used: np.ndarray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return coordinates whose squared differences the distance adds up, or aggregates by the measure returned."""
    no_measure = np.empty(0)
    if distance.kind == "mahalanobis":
        # Singular directions, in which records do not differ, are left out: a pseudo-inverse.
        spread = spread_of(a, b)
        a, b = (a - a.mean(axis=0)) / spread, (b - a.mean(axis=0)) / spread
        covariance = sum(np.atleast_2d(np.cov(x, rowvar=False, ddof=0)) for x in (a, b))
        values, vectors = np.linalg.eigh(covariance)
        keep = values > 1e-10 * values.max()
        whitening = vectors[:, keep] / np.sqrt(values[keep])
        return a @ whitening, b @ whitening, no_measure
    if distance.spread is not None or distance.kind == "dbrl2":
        spread = spread_of(a, b) if distance.spread is None else distance.spread[columns].to_numpy()[used]
        a, b = a / spread, b / spread
    else:
        a, b = standardised(a), standardised(b)
    if distance.matrix is not None:
        half = _half(distance.matrix, columns)[used]
        return a @ half, b @ half, no_measure
    if distance.measure is not None:
        return a, b, _measure_on(distance.measure, columns, used)
    weights = np.full(a.shape[1], 1.0 / a.shape[1])
    if distance.kind == "weighted_mean":
        weights = _weights_of(distance.weights, columns, used)
    return a * np.sqrt(weights), b * np.sqrt(weights), no_measure


def _measure_on(measure: FuzzyMeasure, columns: list[str], used: np.ndarray) -> FloatArray:
    """Return a measure as seen where the columns that are not used have distance 0."""
    if list(measure.variables) != columns:
        raise ParameterError(
            f"the measure must be on the columns compared, {columns!r}, in this order, got {measure.variables!r}"
        )
    masks = np.zeros(2 ** int(used.sum()), np.int64)  # only sets of used variables count
    for place, bit in enumerate(np.flatnonzero(used)):
        masks |= ((np.arange(masks.size) >> place) & 1) << bit
    mu = measure.values[masks]  # noqa: PD011
    if mu[-1] <= 0:
        raise ParameterError("the measure must not be 0 on the set of the columns that vary: all distances would be 0")
    return mu


def _weights_of(weights: Any, columns: list[str], used: np.ndarray) -> FloatArray:
    """Return the weights of the used columns, as shares of those of all."""
    if isinstance(weights, Mapping | pd.Series):
        lacking = [column for column in columns if column not in weights]
        if lacking:
            raise ParameterError(f"`weights` must have an entry for each column, got none for {lacking!r}")
        weights = [weights[column] for column in columns]
    if len(weights) != len(columns):
        raise ParameterError(f"`weights` must have one entry a column ({len(columns)}), got {len(weights)}")
    vector = np.array([check_real(value, "weights", low=0.0) for value in weights])
    if vector[used].sum() <= 0:
        raise ParameterError(f"`weights` must not all be 0 on the columns that vary, got {vector.tolist()}")
    return vector[used] / vector.sum()


def _search(
    a: FloatArray, b: FloatArray, mu: FloatArray, pairs: IntArray
) -> tuple[IntArray, FloatArray, IntArray, FloatArray]:
    """Search a tree of the known records for the nearest; return these, distances, ties, and true distances."""
    # A box is cut where it matters most; a Shapley value of 0 means that a column never matters.
    importance = shapley_values(mu / mu[-1]) if mu.size else np.ones(b.shape[1])
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    order, spans, low, high = build_tree(b, importance)
    points = b[order]
    parts = in_parts(lambda part: nearest_records(a[part], points, order, spans, low, high, mu, TIE), len(a), _FEWEST)
    nearest, distance, ties = map(np.concatenate, zip(*parts, strict=True))
    paired, true_distance = pairs >= 0, np.full(len(a), np.nan)
    squares = (a[paired] - b[pairs[paired]]) ** 2
    true_distance[paired] = choquet_integral(squares, mu) if mu.size else squares.sum(axis=1)
    return nearest, distance, ties, true_distance


def _outcomes(
    smallest: FloatArray, tied: IntArray, true_distance: FloatArray, pairs: IntArray, ties: str, *, known_truth: bool
) -> tuple[np.ndarray, FloatArray]:
    if not known_truth:
        return np.full(len(pairs), "unknown", dtype=object), np.full(len(pairs), np.nan)
    hit = true_distance <= smallest * (1.0 + TIE)
    outcome = np.select([pairs < 0, hit & (tied == 1), hit], ["absent", "correct", "tied"], "wrong").astype(object)
    credit = np.where(outcome == "correct", 1.0, 0.0)
    if ties == "share":
        credit = np.where(hit, 1.0 / tied, 0.0)
    return outcome, credit
