"""Attack. Multilaterate all records of a released distance matrix from a few matches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, FloatArray, Generator, IntArray, RNGLike, check_rng, check_table
from reident.location import localisation as lay
from reident.location.localisation import Localisation
from reident.location.spherical_mds import fit_shape, gaps_km, procrustes

_TRIPLES = 2000


def multilateration_attack(
    release: Any,
    links: Any,
    known: Any,
    *,
    quasi: str | Sequence[str] = (),
    rng: RNGLike = None,
) -> Localisation:
    """Locate all released records from some matches, many of which may be false.

    The distances fix the shape of the cloud of records; the motion that aligns it with the map is the one on which most
    of the matches agree. Then labels and places decide which known record each one is, and the motion is fitted again.

    Parameters
    ----------
    release : MetricMicrodata, or tuple of DataFrame and array-like of shape (n, n)
        Released table and distances, km. The table's index identifies the records. At least 4 records. Not modified.
    links : Linkage, or DataFrame with columns `release` and `known`
        Matches to start from, for example of `common_subgraph_attack`. At least 3; with fewer no record is placed.
    known : DataFrame or GeoDataFrame
        As for `registration_attack`.
    quasi : str or sequence of str
        Columns of both tables that must agree in the second round; an empty sequence (the default) matches by places.
    rng : Generator, int or None
        Drives the choice of triples of matches, and the permutations of the certificate.

    Returns
    -------
    Localisation
        Its certificate counts the neighbours of equal label of the records that `links` does not name. The positions
        are nan if the matches are too few.

    Raises
    ------
    DataError, ParameterError
        As for `registration_attack`; if `links` names an id that is in neither file.

    Notes
    -----
    Announced, not described, at the end of section 5 of Kroll (2015): a few true matches are a start for the rest.
    The orthogonal motion through the triple of matches that most others agree with is fitted to all of these.
    Three true matches suffice, since the many distances of a record average its noise out; false ones do no harm while
    they do not agree on a motion of their own.

    Examples
    --------
    >>> from reident import great_circle_km
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"lat_deg": rng.uniform(48, 54, 60), "lon_deg": rng.uniform(7, 14, 60)})
    >>> release = people[[]], great_circle_km(people["lat_deg"], people["lon_deg"])
    >>> links = pd.DataFrame({"release": [0, 1, 2, 3], "known": [0, 1, 2, 9]})
    >>> found = multilateration_attack(release, links, people.iloc[:30], rng=1)
    >>> bool(np.abs(found.positions - people).max().max() < 1e-3), len(found)
    (True, 30)
    """
    index, distances, known_index, neighbours = lay.check_problem(release, known, quasi)
    pairs = _check_links(links, index, known_index)
    generator = check_rng(rng)
    if len(pairs) < 3:
        return lay.localised(index)
    y = neighbours.y
    x, agrees = _align(fit_shape(distances).x, y, pairs, generator)
    others = np.setdiff1d(np.arange(len(index)), pairs[:, 0])
    gap = gaps_km(x[pairs[agrees, 0]], y[pairs[agrees, 1]])
    reach_km = max(3 * float(np.median(gap)), 0.05)
    p_value = neighbours.part(others).certificate(x[others], reach_km, generator)
    x, _, fit = neighbours.realign(x)
    links = lay.links_between(index, known_index, neighbours, x, fit)
    return lay.localised(index, x, {"motion_p_value": p_value}, links, fit.sigma_km, p_value)


def _check_links(links: Any, release_ids: pd.Index, known_ids: pd.Index) -> IntArray:
    frame = getattr(links, "links", links)
    if not isinstance(frame, pd.DataFrame) or not {"release", "known"} <= set(frame.columns):
        raise DataError(
            f"`links` must be a linkage or a table with the columns release and known, got {type(links).__name__}"
        )
    check_table(frame, "links", min_records=0)
    pairs = np.column_stack([release_ids.get_indexer(frame["release"]), known_ids.get_indexer(frame["known"])])
    absent = np.flatnonzero((pairs < 0).any(axis=1))
    if absent.size:
        row = frame.iloc[absent[0]]
        raise DataError(
            f"`links` must name records of `release` and `known`, got ({row['release']!r}, {row['known']!r}), "
            "which is not in both files"
        )
    return np.unique(pairs, axis=0)


def _align(x: FloatArray, y: FloatArray, pairs: IntArray, rng: Generator) -> tuple[FloatArray, np.ndarray]:
    """Return the shape moved onto the matches, and which matches it agrees with."""
    p, q = x[pairs[:, 0]], y[pairs[:, 1]]
    triples = _triples(len(pairs), rng)
    gap = np.stack([gaps_km(p @ procrustes(p[triple], q[triple]).T, q) for triple in triples])
    # Least median of the better half: needs no scale, and tolerates up to half of false matches; with more of them the
    # smallest few must decide.
    rank = max(2, min(len(pairs) - 1, round(0.4 * len(pairs))))
    best = int(np.sort(gap, axis=1)[:, rank].argmin())
    scale = max(float(np.sort(gap[best])[rank]), 1e-3)
    agrees = gap[best] <= 3 * scale
    return x @ procrustes(p[agrees], q[agrees]).T, agrees


def _triples(n: int, rng: Generator) -> IntArray:
    if n * (n - 1) * (n - 2) // 6 <= _TRIPLES:
        return np.array(list(combinations(range(n), 3)))
    return np.stack([rng.choice(n, 3, replace=False) for _ in range(_TRIPLES)])
