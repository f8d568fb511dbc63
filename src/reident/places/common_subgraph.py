"""Attack. The graph theoretic linkage attack: match two files by labels and by the distances between their records."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base import (
    BoolArray,
    Choice,
    DataError,
    FloatArray,
    IntArray,
    ParameterError,
    Real,
    RNGLike,
    Whole,
    check_array,
    check_choice,
    check_columns,
    check_flag,
    check_ids,
    check_mapping,
    check_real,
    check_rng,
    check_table,
    checked,
)
from reident.cliques.cliques import TIME_LIMIT_S, Clique, Cliques, max_clique, max_cliques
from reident.cliques.quasi import quasi_clique
from reident.places.compatibility import (
    Bounds,
    CompatibilityGraph,
    check_arcs,
    graph_of_codes,
    graph_of_matches,
    label_codes,
    same_codes,
)

#: Maximum cliques that are listed at most.
_MOST_LISTED = 10_000


@dataclass(frozen=True, eq=False)
class MetricMicrodata:
    """Microdata in a metric space: a table, and the distances between its records (Kroll 2015, section 3).

    Attributes
    ----------
    table : DataFrame
        One row a record; the index identifies the records.
    distances_km : ndarray of float64, shape (n, n)
        Distances between the records, in the order of the table, km. Zeros off the diagonal are allowed.
    missing : {None, "both", "either"}
        Whether distances may be missing (NaN), and what such a distance agrees with: see `compatibility_graph`.
    directed : bool
        Whether distances may depend on the direction.

    Raises
    ------
    DataError
        If ids are missing or repeated, or the matrix is not square, finite, symmetric, non-negative, or not of the
        table's length.
    """

    table: pd.DataFrame
    distances_km: FloatArray
    missing: str | None = None
    directed: bool = False

    def __post_init__(self) -> None:
        check_table(self.table, "table", min_records=0)
        check_ids(self.table.index, "table.index")
        check_choice(self.missing, "missing", (None, "both", "either"))
        options = {"missing": self.missing is not None, "directed": check_flag(self.directed, "directed")}
        matrix = check_arcs(self.distances_km, "distances_km", size=len(self.table), **options)
        object.__setattr__(self, "distances_km", matrix)

    def __len__(self) -> int:
        return len(self.table)


@dataclass(frozen=True, eq=False)
class Linkage:
    """The matches that a linkage attack claims; with `gamma` below 1 of a quasi-clique, without proof.

    Attributes
    ----------
    links : DataFrame
        One row a match: `release` and `known`, the ids of the two records.
    all_links : DataFrame
        The matches of every maximum clique that was listed: `clique` (0, 1, ...), `release`, `known`.
    clique : Clique
        The clique behind `links`, as vertices of the product graph.
    is_optimal : bool
        Whether it is proven that no larger set of matches is consistent.
    n_max_cliques : int
        The number of maximum cliques; at least so many if `is_enumerated` is false.
    is_enumerated : bool
        Whether all maximum cliques were listed.
    n_candidates, n_edges : int
        Order and size of the product graph: matches with agreeing labels, and pairs of them with agreeing distances.
    seconds : float
        Wall-clock time of the attack, s.
    """

    links: pd.DataFrame
    all_links: pd.DataFrame
    clique: Clique
    is_optimal: bool
    n_max_cliques: int
    is_enumerated: bool
    n_candidates: int
    n_edges: int
    seconds: float

    def __len__(self) -> int:
        return len(self.links)


@dataclass(frozen=True, eq=False)
class ClassicalLinkage:
    """The matches that linkage by labels alone claims, and the number of pairs with agreeing labels."""

    links: pd.DataFrame
    n_candidates: int

    def __len__(self) -> int:
        return len(self.links)


@checked
def common_subgraph_attack(
    release: MetricMicrodata | tuple[pd.DataFrame, ArrayLike],
    known: MetricMicrodata | tuple[pd.DataFrame, ArrayLike],
    *,
    quasi: str | Sequence[str],
    window_km: Bounds | None = None,
    intervals_km: Bounds | None = None,
    label_tolerances: Mapping[str, float] | None = None,
    ties: Annotated[str, Choice("first", "random", "all", "published")] = "random",
    gamma: Annotated[float, Real(0, 1, unit="share of neighbours", open_low=True)] = 1.0,
    time_limit_s: Annotated[float | None, Real(0, unit="s", open_low=True)] = TIME_LIMIT_S,
    node_limit: Annotated[int | None, Whole(1, unit="nodes")] = None,
    progress: bool = True,
    rng: RNGLike = None,
) -> Linkage:
    """Link two files by a maximum approximate common subgraph.

    The attacker holds a file with names (`known`) and reads from the release, for each record, what both files say
    (`quasi`), and the distances between records. The largest set of matches in which all labels and all distances
    agree is claimed to be true. That is a claim, not a proof: in dense product graphs large sets agree by chance, and
    several largest sets may exist. Compare the outcome with the truth by `linkage_quality`.

    Parameters
    ----------
    release, known : MetricMicrodata, or tuple of DataFrame and array-like of shape (n, n)
        Tables and distances, km. The tables' indexes identify the records. Not modified. Files with distances that
        are missing or depend on the direction are given as `MetricMicrodata`, which says so.
    quasi : str or sequence of str
        The columns of both tables that must agree exactly. A missing value agrees with nothing. An empty sequence
        matches by distances alone.
    window_km, intervals_km
        When two distances agree; give one of them. See `compatibility_graph`.
    label_tolerances : mapping of str to float, optional
        Columns of numbers in `quasi` that agree if they differ by at most so much.
    ties : {"random", "first", "all", "published"}
        Which of several maximum cliques to claim: ``"random"`` lists all and draws one, each equally likely;
        ``"first"`` takes the one that the search meets, which begins at vertices of large degree and so favours the
        truth; ``"all"`` lists all, draws none, and claims the first in lexicographic order; ``"published"`` takes the
        one that the papers' search ends with (``search="published"`` of `max_clique`). At most 10,000 are listed; of a
        list cut short a draw is not a draw among all.
    gamma : float
        Below 1, claim a gamma-quasi-clique instead: each match must be compatible with at least this share of the
        others. Found by a heuristic (`quasi_clique`), never proven; `ties` then has no part. In (0, 1].
    time_limit_s, node_limit, progress
        As for `max_clique`, a minute by default. The attack never claims an unproven clique to be maximum.
    rng : Generator, int or None
        Drives the search and the draw.

    Returns
    -------
    Linkage
        Empty if no two records have agreeing labels.

    Raises
    ------
    ParameterError
        If `quasi` names an absent column, `ties` is unknown, or a window or limit breaks its rule.
    DataError
        If ids are missing or repeated, distances are no distances, or a quasi-identifier differs in type.

    Warns
    -----
    SearchLimitWarning
        If a limit ended the search or the listing.

    Notes
    -----
    Implements the attack of Kroll (2015), section 4, and with `intervals_km` its form in Kroll and Schnell (2016). The
    product graph is that of Definition 6; by Theorem 7 its cliques are the approximate common subgraphs.

    Examples
    --------
    >>> table = pd.DataFrame({"sex": ["f", "m", "f"]}, index=["Ann", "Bob", "Cem"])
    >>> distances = np.array([[0, 3, 4], [3, 0, 5], [4, 5, 0]])
    >>> order = [2, 0, 1]
    >>> release = table.iloc[order].reset_index(drop=True), distances[np.ix_(order, order)]
    >>> linkage = common_subgraph_attack(release, (table, distances), quasi="sex", window_km=(-0.5, 0.5), rng=0)
    >>> linkage.links
       release known
    0        1   Ann
    1        2   Bob
    2        0   Cem
    """
    began = time.perf_counter()
    tolerances = check_mapping(label_tolerances, "label_tolerances", optional=True)
    generator = check_rng(rng)
    check_flag(progress, "progress")
    release, known = read_microdata(release, "release"), read_microdata(known, "known")
    if release.missing and known.missing and release.missing != known.missing:
        raise ParameterError(f"`missing` must be the same in both files, got {release.missing!r} and {known.missing!r}")
    first, second = release.table, known.table
    missing, directed = release.missing or known.missing, release.directed or known.directed
    arguments = (release.distances_km, known.distances_km, window_km, intervals_km, missing, directed)
    if tolerances:
        graph = graph_of_matches(_matches(first, second, quasi, tolerances), *arguments)
    else:
        codes_release, codes_known = _label_codes(first, second, quasi)
        graph = graph_of_codes(codes_release, codes_known, *arguments)
    options: dict[str, Any] = {"time_limit_s": time_limit_s, "node_limit": node_limit, "progress": progress}
    options["rng"] = generator
    if gamma == 1 and ties in ("random", "all"):
        listed = max_cliques(graph, limit=_MOST_LISTED, **options)
    else:
        search = "published" if ties == "published" else "strong"
        best = quasi_clique(graph, gamma=gamma, **options) if gamma < 1 else max_clique(graph, search=search, **options)
        bounds = best.is_optimal, best.upper_bound, best.n_nodes, best.seconds
        listed = Cliques((best.vertices,), len(best), False, *bounds)
    chosen = int(generator.integers(len(listed.cliques))) if ties == "random" else 0
    vertices = listed.cliques[chosen]
    return Linkage(
        links=_links(first, second, graph.pairs[np.array(vertices, dtype=np.int64)]),
        all_links=_all_links(first, second, graph, listed),
        clique=Clique(vertices, listed.is_optimal, listed.upper_bound, listed.n_nodes, listed.seconds),
        is_optimal=listed.is_optimal,
        n_max_cliques=len(listed.cliques),
        is_enumerated=listed.is_complete,
        n_candidates=graph.n_vertices,
        n_edges=graph.n_edges,
        seconds=time.perf_counter() - began,
    )


@checked
def classical_linkage(
    release: pd.DataFrame | MetricMicrodata,
    known: pd.DataFrame | MetricMicrodata,
    *,
    quasi: str | Sequence[str],
    ties: Annotated[str, Choice("all", "unique", "random")] = "all",
    rng: RNGLike = None,
) -> ClassicalLinkage:
    """Link two files by labels alone: the attack without distances.

    Parameters
    ----------
    release, known : DataFrame or MetricMicrodata
        The tables; their indexes identify the records. Not modified.
    quasi : str or sequence of str
        The columns that must agree exactly. A missing value agrees with nothing.
    ties : {"all", "unique", "random"}
        What to claim where several records share a label: every agreeing pair; only pairs whose label occurs once in
        each file; or one random assignment of the records of a label, one to one.
    rng : Generator, int or None
        Drives the random assignment.

    Returns
    -------
    ClassicalLinkage
        The matches and the number of agreeing pairs.

    Raises
    ------
    ParameterError, DataError
        As for `common_subgraph_attack`.
    """
    generator = check_rng(rng)
    tables = []
    for data, name in ((release, "release"), (known, "known")):
        table = data.table if isinstance(data, MetricMicrodata) else check_table(data, name, min_records=0)
        check_ids(table.index, f"{name}.index")
        tables.append(table)
    codes_release, codes_known = _label_codes(tables[0], tables[1], quasi)
    n_candidates = 0
    rows = [np.zeros((0, 2), dtype=np.int64)]
    for code in range(int(codes_release.max(initial=-1)) + 1):
        first = np.flatnonzero(codes_release == code)
        second = np.flatnonzero(codes_known == code)
        n_candidates += first.size * second.size
        if ties == "random":
            size = min(first.size, second.size)
            first = generator.permutation(first)[:size]
            second = np.sort(generator.permutation(second)[:size])
            rows.append(np.column_stack([first, second]))
        elif ties == "all" or first.size == second.size == 1:
            rows.append(np.column_stack([np.tile(first, second.size), np.repeat(second, first.size)]))
    pairs = np.concatenate(rows)
    pairs = pairs[np.lexsort(pairs.T)]
    links = pd.DataFrame({"release": tables[0].index[pairs[:, 0]], "known": tables[1].index[pairs[:, 1]]})
    return ClassicalLinkage(links, n_candidates)


def read_microdata(data: Any, name: str) -> MetricMicrodata:
    """Return a file as `MetricMicrodata`."""
    if isinstance(data, MetricMicrodata):
        return data
    if not isinstance(data, tuple) or len(data) != 2:
        raise DataError(f"`{name}` must be MetricMicrodata or a tuple (table, distances), got {type(data).__name__}")
    try:
        return MetricMicrodata(*data)
    except DataError as error:
        raise DataError(f"in `{name}`: {error}") from None


def _label_codes(
    table_release: pd.DataFrame, table_known: pd.DataFrame, quasi: str | Sequence[str]
) -> tuple[IntArray, IntArray]:
    for table, name in ((table_release, "release"), (table_known, "known")):
        columns = check_columns(table, quasi, "quasi", table_name=name, min_columns=0)
    return label_codes(table_release, table_known, columns, ["release", "known"])


def _links(release: pd.DataFrame, known: pd.DataFrame, pairs: IntArray) -> pd.DataFrame:
    return pd.DataFrame({"release": release.index[pairs[:, 0]], "known": known.index[pairs[:, 1]]})


def _all_links(release: pd.DataFrame, known: pd.DataFrame, graph: CompatibilityGraph, listed: Cliques) -> pd.DataFrame:
    vertices = np.array(listed.cliques, dtype=np.int64).reshape(len(listed.cliques), listed.size)
    links = _links(release, known, graph.pairs[vertices.ravel()])
    links.insert(0, "clique", np.repeat(np.arange(len(listed.cliques)), listed.size))
    return links


def _matches(
    release: pd.DataFrame, known: pd.DataFrame, quasi: str | Sequence[str], tolerances: Mapping[str, float]
) -> BoolArray:
    """Return which records of the release (rows) and the known file (columns) agree in all labels."""
    columns = check_columns(release, quasi, "quasi", table_name="release", min_columns=0)
    for column in tolerances:
        if column not in columns:
            raise ParameterError(f"`label_tolerances` must name columns of `quasi`, got {column!r}")
    exact = [column for column in columns if column not in tolerances]
    matches = same_codes(*_label_codes(release, known, exact))
    check_columns(known, [*tolerances], "label_tolerances", table_name="known", min_columns=0)
    for column, tolerance in tolerances.items():
        first, second = (check_array(table[column], column) for table in (release, known))
        matches &= np.abs(np.subtract.outer(first, second)) <= check_real(tolerance, "label_tolerances", low=0)
    return matches
