"""Attack. The product graph of a release and a known file: which matches of records can be true together."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.spatial.distance import squareform

from reident.base import (
    BoolArray,
    Choice,
    DataError,
    Flag,
    FloatArray,
    IntArray,
    ParameterError,
    Real,
    afford,
    check_array,
    check_choice,
    check_column,
    check_distance_matrix,
    check_flag,
    check_integer,
    checked,
    encode_labels,
)
from reident.cliques.adjacency import Adjacency, count_rows
from reident.kernels._numba import in_threads
from reident.kernels.cliques.bitset import mirror_rows
from reident.kernels.places import compatibility as kernels

#: The lower and the upper end of a window, each a number or a value for each two known records.
Bounds = tuple[Any, Any]

# Rows of bits are kept instead of lists where they are shorter, up to this many vertices (about 500 MB).
_BITS_VERTICES = 64_000
# Memory that sorting the pairs of release records takes, at most.
_BYTES_A_PAIR = 45
# Pieces of the join that threads may take.
_N_PARTS = 8
# Rows of bits, in whole words, that a thread completes at a time.
_RUN = 2048


@dataclass(frozen=True, eq=False)
class CompatibilityGraph(Adjacency):
    """Possible matches, and the pairs of them that agree about the distance of their records: a simple graph.

    Attributes
    ----------
    n_vertices, n_edges : int
        Number of possible matches, and of pairs of them that are compatible; `density` is edges over possible edges.
    pairs : ndarray of int64, shape (n_vertices, 2)
        Row v: positions of vertex v's records in the release and in the known file; ordered by the latter first.
    """

    pairs: IntArray = field(kw_only=True)

    def neighbours(self, v: int) -> IntArray:
        """Return the neighbours of vertex `v`, ascending."""
        return super().neighbours(check_integer(v, "v", low=0, high=self.n_vertices - 1))


@checked
def compatibility_graph(
    labels_release: ArrayLike,
    d_release: ArrayLike,
    labels_known: ArrayLike,
    d_known: ArrayLike,
    *,
    window_km: Bounds | None = None,
    intervals_km: Bounds | None = None,
    missing: Annotated[str | None, Choice(None, "both", "either")] = None,
    directed: Annotated[bool, Flag()] = False,
    label_tolerance: Annotated[float, Real(0)] = 0.0,
) -> CompatibilityGraph:
    """Build the product graph of two sets of labelled records with distances.

    A vertex is a match of a release record and a known record with the same label. Two matches are joined if they are
    of different records on both sides and the distances agree. A clique is a set of matches that can be true together.

    Parameters
    ----------
    labels_release, labels_known : array-like of int or str, shapes (n,) and (m,)
        What both files say about a record. A missing label (None, NaN) agrees with nothing.
    d_release, d_known : array-like of float, shapes (n, n) and (m, m)
        Distances, km: symmetric, zero on the diagonal, zeros elsewhere allowed. Not modified.
    window_km : (low, high)
        Distances agree if the deviation ``d_known - d_release`` lies strictly between `low` and `high`. Numbers, or
        one value for each two known records: shape (m, m), or the m (m - 1) / 2 values above its diagonal, row by row.
    intervals_km : (low, high)
        Instead of `window_km`: distances agree if ``low <= d_release <= high``, for example the tolerance interval of a
        random embedding. Shapes as for `window_km`.
    missing : {None, "both", "either"}
        Whether distances may be missing (NaN). ``"both"``: a missing distance agrees with a missing one and with no
        other, as in the paper. ``"either"``: it agrees with every distance. None refuses missing distances.
    directed : bool
        Whether distances may depend on the direction; they must then agree in both.
    label_tolerance : float
        Above 0, labels are numbers and agree if they differ by at most so much.

    Returns
    -------
    CompatibilityGraph

    Raises
    ------
    DataError, ParameterError
        If labels and distances differ in length, a distance matrix is not square, finite, symmetric, non-negative, a
        window is empty or not a number, or both or none of `window_km` and `intervals_km` are given.

    Notes
    -----
    Implements Kroll (2015), Definition 6; `intervals_km` is the rule of Kroll and Schnell (2016).
    Time O(n^2 log n + m^2 log n + edges), memory 8 bytes an edge, or a bit for each two vertices if that is less. With
    `missing`, `directed` or `label_tolerance` every two vertices are compared, and each two take a bit.

    Examples
    --------
    Example 9 of Kroll (2015): two matches of one record are never compatible.

    >>> graph = compatibility_graph([1], [[0]], [1, 1], [[0, 0.5], [0.5, 0]], window_km=(-1, 1))
    >>> graph.pairs.tolist(), graph.n_edges
    ([[0, 0], [0, 1]], 0)
    """
    comparison = d_release, d_known, window_km, intervals_km, missing, directed
    if label_tolerance > 0:
        numbers = [check_array(labels_release, "labels_release"), check_array(labels_known, "labels_known")]
        matches = np.abs(np.subtract.outer(*numbers)) <= label_tolerance
        return graph_of_matches(matches, *comparison)
    frames = []
    for labels, name in ((labels_release, "labels_release"), (labels_known, "labels_known")):
        column = labels.to_numpy() if isinstance(labels, pd.Series) else labels
        frames.append(check_column(column, name).to_frame("label"))
    codes_release, codes_known = label_codes(frames[0], frames[1], ["label"], ["labels_release", "labels_known"])
    return graph_of_codes(codes_release, codes_known, *comparison)


def label_codes(
    release: pd.DataFrame, known: pd.DataFrame, columns: Sequence[str], names: Sequence[str]
) -> tuple[IntArray, IntArray]:
    """Code the labels of two tables as 0..n-1 where both have them, else -1; without columns all are alike."""
    if not columns:
        return np.zeros(len(release), dtype=np.int64), np.zeros(len(known), dtype=np.int64)
    first, second = encode_labels([release, known], columns, names)[:2]
    shared = np.intersect1d(first[first >= 0], second[second >= 0])
    number = np.full(max(first.max(initial=-1), second.max(initial=-1)) + 2, -1, dtype=np.int64)  # the last: no label
    number[shared] = np.arange(shared.size)
    return number[first], number[second]


def same_codes(codes_release: IntArray, codes_known: IntArray) -> BoolArray:
    """Return which records of the release (rows) have the label of which known records (columns)."""
    return (codes_release[:, None] == codes_known) & (codes_release[:, None] >= 0)


def graph_of_codes(
    codes_release: IntArray,
    codes_known: IntArray,
    d_release: ArrayLike,
    d_known: ArrayLike,
    window_km: Bounds | None,
    intervals_km: Bounds | None,
    missing: str | None,
    directed: bool,
) -> CompatibilityGraph:
    """Return the compatibility graph of two files with these codes of labels."""
    if missing is not None or directed:
        matches = same_codes(codes_release, codes_known)
        return graph_of_matches(matches, d_release, d_known, window_km, intervals_km, missing, directed)
    d_release = complete_distances(d_release, "d_release", size=codes_release.size)
    d_known = complete_distances(d_known, "d_known", size=codes_known.size)
    d_known, low, high, closed = _compared(d_known, window_km, intervals_km)
    n_known, n_codes = codes_known.size, int(codes_release.max(initial=-1)) + 1
    sizes = [np.bincount(codes[codes >= 0], minlength=n_codes)[:n_codes] for codes in (codes_release, codes_known)]
    # Of each label no more records are matched than the file with fewer of them has.
    largest, n_vertices = int(np.minimum(*sizes).sum()), int(np.dot(*sizes))
    advice = "give more label columns or a narrower window, or fewer records"
    size = f"{n_vertices:,} pairs of equal labels"
    n_pairs = sizes[0].sum() ** 2 / 2
    afford(16 * n_vertices + _BYTES_A_PAIR * n_pairs + 8 * n_known**2, "labels_release", size, advice)
    pairs = _possible_pairs(same_codes(codes_release, codes_known))
    offsets = np.searchsorted(pairs[:, 1], np.arange(n_known + 1))

    starts, length, first, second = _release_pairs(codes_release, d_release, n_codes)
    start, end = np.zeros((2, n_known, n_known), dtype=np.int32)
    parts = _parts(offsets)
    # Contiguous and writable: the kernel is compiled for one kind of arrays.
    low, high = np.array(low, order="C"), np.array(high, order="C")
    bounds = (codes_known, d_known, low, high, closed, starts, length, n_codes)
    in_threads(lambda part: kernels.known_ranges(*bounds, *part, start, end), parts)
    n_ends = int(((end - start) * np.where(codes_known[:, None] == codes_known, 2, 1)).sum())
    words = (n_vertices + 63) // 64
    is_dense = n_vertices <= _BITS_VERTICES and 4 * n_ends > 8 * n_vertices * words
    needed = 8 * n_vertices * words if is_dense else 4 * n_ends
    afford(needed, "labels_release", f"{size} and about {n_ends / 2:.1e} edges", advice)

    built = (codes_known, offsets, first, second, start, end)
    if is_dense:
        bits = np.zeros((n_vertices, words), dtype=np.uint64)
        in_threads(lambda part: kernels.fill_bits(*built, *part, bits), parts)
        _mirror(bits)
        return CompatibilityGraph(n_vertices, n_ends // 2, bits=bits, largest=largest, pairs=pairs)
    degrees = np.zeros(n_vertices, dtype=np.int64)
    in_threads(lambda part: kernels.count_neighbours(*built, *part, degrees), parts)
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    indices = np.empty(n_ends, dtype=np.int32)
    in_threads(lambda part: kernels.fill_lists(*built, *part, indptr, indices), parts)
    return CompatibilityGraph(n_vertices, n_ends // 2, indptr, indices, largest=largest, pairs=pairs)


def graph_of_matches(
    matches: BoolArray,
    d_release: ArrayLike,
    d_known: ArrayLike,
    window_km: Bounds | None,
    intervals_km: Bounds | None,
    missing: str | None,
    directed: bool,
) -> CompatibilityGraph:
    """Build the product graph of possible matches, shape (n, m), by comparing each two of them."""
    check_choice(missing, "missing", (None, "both", "either"))
    options = {"missing": missing is not None, "directed": check_flag(directed, "directed")}
    d_release = check_arcs(d_release, "d_release", size=matches.shape[0], **options)
    d_known = check_arcs(d_known, "d_known", size=matches.shape[1], **options)
    d_known, low, high, closed = _compared(d_known, window_km, intervals_km)
    pairs = _possible_pairs(matches)
    n_vertices, words = len(pairs), (len(pairs) + 63) // 64
    size, advice = f"{n_vertices:,} possible matches", "give more label columns, or fewer records"
    afford(8 * n_vertices * words, "labels_release", size, advice)
    bits = np.zeros((n_vertices, words), dtype=np.uint64)
    arguments = pairs, d_release, *(np.array(each, order="C") for each in (d_known, low, high)), closed
    _in_runs(lambda low, high: kernels.fill_directed(*arguments, missing == "either", low, high, bits), n_vertices)
    _mirror(bits)
    largest = int(min(matches.any(axis=0).sum(), matches.any(axis=1).sum()))
    return CompatibilityGraph(n_vertices, int(count_rows(bits).sum()) // 2, bits=bits, largest=largest, pairs=pairs)


def _possible_pairs(matches: BoolArray) -> IntArray:
    """Return the vertices: the pairs (release, known) of records that may match, ordered by the known one."""
    return np.ascontiguousarray(np.argwhere(matches.T)[:, ::-1])


def _mirror(bits: Any) -> None:
    _in_runs(lambda low, high: mirror_rows(bits, low, high), len(bits))


def _in_runs(task: Callable[[int, int], Any], n: int) -> None:
    in_threads(lambda low: task(low, min(low + _RUN, n)), range(0, n, _RUN))


def _compared(
    d_known: FloatArray, window_km: Bounds | None, intervals_km: Bounds | None
) -> tuple[FloatArray, FloatArray, FloatArray, bool]:
    """Return the known side of the deviation, its bounds, and whether these belong to the window."""
    if (window_km is None) == (intervals_km is None):
        raise ParameterError("exactly one of `window_km` and `intervals_km` must be given")
    if window_km is not None:
        return d_known, *_check_bounds(window_km, "window_km", len(d_known), strict=True), False
    low, high = _check_bounds(intervals_km, "intervals_km", len(d_known), strict=False)
    # An interval for the released distance is a closed window around a known distance of zero.
    return np.where(np.isnan(d_known), np.nan, 0.0), -high, -low, True


def check_arcs(distances: ArrayLike, name: str, *, size: int, missing: bool, directed: bool) -> FloatArray:
    """Return distances that may be missing (NaN) or depend on the direction."""
    if directed:
        matrix = np.array(check_array(distances, name), order="C")
        if matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] and (missing or not np.isnan(matrix).any()):
            for end in (np.fmin, np.fmax):
                check_distances_with_gaps(end(matrix, matrix.T), name, size=size)
            return matrix
    return (check_distances_with_gaps if missing else complete_distances)(distances, name, size=size)


def check_distances_with_gaps(distances: ArrayLike, name: str, *, size: int | None = None) -> FloatArray:
    """Return a copy of a distance matrix of which entries may be missing (NaN)."""
    matrix = np.array(check_array(distances, name), order="C")
    gaps = np.isnan(matrix)
    if gaps.shape == gaps.T.shape and (gaps != gaps.T).any():
        row, column = np.argwhere(gaps != gaps.T)[0]
        raise DataError(f"`{name}` must be symmetric, got nan on one side only of ({row}, {column})")
    check_distance_matrix(np.where(gaps, 0.0, matrix), name, size=size)
    return matrix


def complete_distances(distances: ArrayLike, name: str, *, size: int) -> FloatArray:
    """Check a matrix of all distances; the error names the remedy for gaps."""
    try:
        return check_distance_matrix(distances, name, size=size)
    except DataError as error:
        if "must be finite, got nan" not in str(error):
            raise
        advice = "say by `missing` what a missing distance agrees with, fill the gaps, or leave the records out"
        raise DataError(f"{error}: {advice}") from None


def _check_bounds(bounds: Any, name: str, m: int, *, strict: bool) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper bounds for each two known records, as views of shape (m, m)."""
    if not isinstance(bounds, Iterable) or len(ends := tuple(bounds)) != 2:
        raise ParameterError(f"`{name}` must be a pair (low, high), got {bounds!r}")
    low, high = (_spread(bound, name, m) for bound in ends)
    is_constant = low.strides == (0, 0) == high.strides
    empty = (low >= high if strict else low > high) & (is_constant | ~np.eye(m, dtype=bool))
    if empty.any():
        row, column = np.argwhere(empty)[0]
        rule = "low < high" if strict else "low <= high"
        where = "" if is_constant else f" for the known records {row} and {column}"
        raise ParameterError(
            f"`{name}` must have {rule}, got ({low[row, column]:g}, {high[row, column]:g}){where}: "
            "no distance would agree with an empty window"
        )
    return low, high


def _spread(bound: Any, name: str, m: int) -> FloatArray:
    """Return one bound as an array of shape (m, m): of a number, a matrix, or the values above a diagonal."""
    try:
        values = np.asarray(bound, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"`{name}` must hold numbers, got {bound!r}") from None
    if np.isnan(values).any():
        raise ParameterError(f"`{name}` must not hold NaN")
    if values.ndim == 0:
        return np.broadcast_to(values, (m, m))
    if values.shape == (m * (m - 1) // 2,):
        return squareform(values)[:m, :m]  # of none it makes one record
    if values.shape != (m, m):
        raise ParameterError(
            f"`{name}` must be numbers, or arrays of shape ({m}, {m}) or ({m * (m - 1) // 2},), one value for each two "
            f"known records, got shape {values.shape}"
        )
    if not np.array_equal(values, values.T):
        raise ParameterError(f"`{name}` must be symmetric where it is a matrix")
    return values


def _release_pairs(codes_release: IntArray, d_release: FloatArray, n_codes: int) -> tuple[Any, ...]:
    """Sort the pairs of labelled release records by their labels, the smaller first, then by distance.

    Returns where the pairs of labels (a, b) start, at ``a * n_codes + b``, the distances, and the two ranks by label.
    """
    records = np.argsort(codes_release, kind="stable")[np.count_nonzero(codes_release < 0) :]
    codes = codes_release[records]
    ranks = (np.arange(codes.size) - np.searchsorted(codes, codes)).astype(np.int32)
    is_pair = np.triu(np.ones((records.size, records.size), dtype=np.bool_), 1)
    length = d_release[np.ix_(records, records)][is_pair]
    first = np.broadcast_to(ranks[:, None], is_pair.shape)[is_pair]
    second = np.broadcast_to(ranks, is_pair.shape)[is_pair]
    labels = (codes[:, None] * n_codes + codes).astype(np.min_scalar_type(n_codes**2))[is_pair]
    del is_pair
    order = np.argsort(length)
    order = order[np.argsort(labels[order], kind="stable")]  # small numbers are sorted in linear time
    starts = np.searchsorted(labels[order], np.arange(n_codes * n_codes + 1))
    return starts, length[order], first[order], second[order]


def _parts(offsets: IntArray) -> list[tuple[int, int]]:
    """Cut the known records into runs of about equally many vertices, for the threads."""
    ends = np.searchsorted(offsets, np.linspace(0, offsets[-1], _N_PARTS + 1))
    ends[0], ends[-1] = 0, offsets.size - 1
    return [(int(low), int(high)) for low, high in itertools.pairwise(ends)]
