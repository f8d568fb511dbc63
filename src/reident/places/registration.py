"""Attack. Locate the records of a released distance matrix without any match."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from reident._check import check_flag, check_integer
from reident._rng import check_rng
from reident._types import FloatArray, IntArray, RNGLike
from reident.kernels.places import registration as kernel
from reident.options import Flag, Whole
from reident.places import localisation as lay
from reident.places.certificate import agreement_km
from reident.places.localisation import Localisation
from reident.places.neighbours import Fit, Neighbours
from reident.places.shape import RADIUS_KM, recover_shape

__all__ = ["registration_attack"]

# Gaps, km, at which a released record may count as the neighbour of a known one; the best one is chosen by the data.
_REACHES_KM = (1.0, 3.0, 9.0, 20.0)
# Cells of the painted map, motions looked at closer for each reach and in all, motions scored at most, and pairs whose
# motions are scored against the same bar.
_MAP_CELLS, _REFINED, _FINALISTS, _MOTIONS, _AT_ONCE = 60_000_000, 8, 4, 3_000_000, 250
# Share of the records whose labels the search does not see.
_HELD_OUT = 1 / 3
# A half of the file, registered by itself for the certificate of each record, gets this share of the pairs.
_FOR_A_HALF = 4


def registration_attack(
    release: Any,
    known: Any,
    *,
    quasi: str | Sequence[str],
    sd_km: ArrayLike | None = None,
    n_pairs: Annotated[int, Whole(1, unit="pairs")] = 4000,
    each_record: Annotated[bool, Flag()] = False,
    rng: RNGLike = None,
) -> Localisation:
    """Locate all released records by laying the shape of their distances on the known places, with no match given.

    A distance matrix fixes the shape of the cloud of records up to a motion of the whole. The motion is searched: a
    pair of released records and a pair of known ones with the same labels and the same distance suggest one, and the
    motion that brings most records next to a known one with their label wins. Refinement and one-to-one assignment
    follow. The certificate tells a true registration from one by chance.

    Parameters
    ----------
    release : MetricMicrodata, or tuple of DataFrame and array-like of shape (n, n)
        Released table and distances, km. The table's index identifies the records. At least 4 records. Not modified.
    known : DataFrame or GeoDataFrame
        The known records with the columns ``lat_deg``, ``lon_deg`` (or points with a CRS); a tuple (table, distances)
        or MetricMicrodata with such a table serves as well. At least 3 records.
    quasi : str or sequence of str
        Columns of both tables that must agree; an empty sequence matches by places alone.
    sd_km : array-like, shape (n, n), optional
        Standard deviation of each released distance as the intruder sees it, km; 0 or infinity leaves a distance out.
        `calibrate_distances` gives it for a Lipschitz embedding. Default: all distances count alike.
    n_pairs : int, default 4000
        Released pairs that may suggest motions. More find a registration with fewer records in common.
    each_record : bool, default False
        Certify each record by itself as well, which takes four further registrations of half the file.
    rng : Generator, int or None
        Drives which pairs suggest motions, which records are held out, and the permutations.

    Returns
    -------
    Localisation
        Positions of all released records, links, and the certificate: the labels of a third of the records are held
        out of the search, and the number of them that the final motion brings next to a known record of their label is
        compared with that under permuted labels.

    Raises
    ------
    DataError, ParameterError
        As for `common_subgraph_attack`; if `known` has no places, there are too few records, or `sd_km` breaks its
        rule.

    Notes
    -----
    Beyond Kroll and Schnell (2016), who know of no other attack on distance matrices. Mirror images cannot be told
    apart by distances; both are tried. Positions of records without a partner in the known file rest on their
    distances alone. Memory O(n^2 + n m). Without labels (`quasi` empty) the certificate does not exist: `p_value` is
    1.

    Examples
    --------
    >>> import pandas as pd
    >>> from reident import great_circle_km
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"age": rng.integers(0, 20, 60), "lat_deg": rng.uniform(48, 54, 60),
    ...                        "lon_deg": rng.uniform(7, 14, 60)})
    >>> release = people[["age"]], great_circle_km(people["lat_deg"], people["lon_deg"])
    >>> found = registration_attack(release, people, quasi="age", rng=1)
    >>> bool(np.abs(found.positions - people[["lat_deg", "lon_deg"]]).max().max() < 1e-3), found.is_certified()
    (True, True)
    """
    began = time.perf_counter()
    table, distances, places, codes, known_codes = lay.check_problem(release, known, quasi)
    n_pairs = check_integer(n_pairs, "n_pairs", low=1)
    each_record = check_flag(each_record, "each_record")
    generator = check_rng(rng)
    sd = lay.check_sd(sd_km, len(table))
    x = recover_shape(distances, sd)

    order = generator.permutation(len(table))
    searched, held_out = np.split(order, [round(len(table) * (1 - _HELD_OUT))])
    neighbours = Neighbours(codes, places.vectors, known_codes)
    best = _search(x, neighbours, searched, n_pairs, generator)
    if best is None:
        return lay.nowhere(table, time.perf_counter() - began)
    reach_km = 2.5 * best.fit.sigma_km
    certificate = neighbours.part(held_out).certificate(x[held_out] @ best.motion.T, reach_km, generator)
    aligned, _, fit = neighbours.realign(x @ best.motion.T)

    def lay_by(half: IntArray) -> FloatArray | None:
        found = _search(x, neighbours, half, max(1, n_pairs // _FOR_A_HALF), generator)
        return None if found is None else x @ found.motion.T

    agreement = agreement_km(x, lay_by) if each_record else None
    return lay.conclude(table, places, neighbours, aligned, fit, best.pairs, certificate, agreement, began)


@dataclass(frozen=True, eq=False)
class _Motion:
    motion: FloatArray
    fit: Fit
    pairs: IntArray


def _search(
    x: FloatArray, neighbours: Neighbours, searched: IntArray, n_pairs: int, rng: np.random.Generator
) -> _Motion | None:
    """Return the motion with the most evidence among the candidates found at several reaches."""
    usable = searched[neighbours.label_share[searched] > 0]
    if usable.size < 2:
        return None
    pairs = _spread_pairs(x, usable, n_pairs, rng)
    part = neighbours.part(usable)
    # A rough look at all candidates, then a close one at the best.
    rough = [
        (motion, *part.realign(x[usable] @ motion.T, rounds=2, starts_km=(reach_km / 2.5,))[1:])
        for reach_km in _REACHES_KM
        for motion in _candidates(x, neighbours, usable, pairs, reach_km)
    ]
    rough.sort(key=lambda candidate: -candidate[2].log_evidence)
    refined = [_refine(x, part, usable, step @ motion) for motion, step, _ in rough[:_FINALISTS]]
    return max(refined, key=lambda motion: motion.fit.log_evidence, default=None)


def _spread_pairs(x: FloatArray, usable: IntArray, n_pairs: int, rng: np.random.Generator) -> IntArray:
    """Draw pairs of the usable, as numbers in it, that lie far apart: a short pair says little of the direction."""
    drawn = np.stack([rng.choice(usable.size, 3 * n_pairs), rng.choice(usable.size, 3 * n_pairs)], axis=1)
    drawn = drawn[drawn[:, 0] != drawn[:, 1]]
    chord = np.linalg.norm(x[usable[drawn[:, 0]]] - x[usable[drawn[:, 1]]], axis=1)
    return np.ascontiguousarray(drawn[chord >= np.quantile(chord, 2 / 3)][:n_pairs])


def _candidates(
    x: FloatArray, neighbours: Neighbours, usable: IntArray, pairs: IntArray, reach_km: float
) -> list[FloatArray]:
    """Return the motions that bring most of the usable records within reach of a known record of their label."""
    y, codes, y_codes = neighbours.y, neighbours.codes, neighbours.y_codes
    members = np.flatnonzero(y_codes >= 0)
    members = members[np.argsort(y_codes[members], kind="stable")]
    n_labels = int(max(codes.max(), y_codes.max())) + 1
    starts = np.searchsorted(y_codes[members], np.arange(n_labels + 1))
    # Everything is seen in the plane that touches the globe at the centre of the known places, in radians.
    axes = np.linalg.svd(y.mean(axis=0)[None])[2][1:]
    plane, reach = y @ axes.T, reach_km / RADIUS_KM
    width = 2 * float(np.abs(plane).max()) + 4 * reach
    # Cells a third of the reach wide, or as small as memory allows.
    cell = max(reach / 3, width * np.sqrt(n_labels / _MAP_CELLS))
    side = int(np.ceil(width / cell)) + 2
    grid = np.zeros((n_labels, side, side), dtype=np.bool_)
    kernel.paint(grid, cell, plane, y_codes, max(reach, cell))
    motions = np.zeros((pairs.shape[0], 3, 3))
    scores = np.zeros(pairs.shape[0], dtype=np.int64)
    motions = np.zeros((pairs.shape[0], 3, 3))
    scores = np.zeros(pairs.shape[0], dtype=np.int64)
    budget = max(1, _MOTIONS // pairs.shape[0])
    least = 2
    for first in range(0, len(pairs), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        kernel.best_motions(
            x[usable], codes[usable], pairs[part], y, starts, members, 1.5 * reach, axes, grid, cell, budget, least,
            motions[part], scores[part],
        )  # fmt: skip
        # Who is not among the best so far will not be among the best of all.
        least = max(least, int(np.sort(scores)[-_REFINED:][0]))
    ahead = np.argsort(-scores, kind="stable")[:_REFINED]
    return [motions[which] for which in ahead if scores[which] > 0]


def _refine(x: FloatArray, part: Neighbours, usable: IntArray, motion: FloatArray) -> _Motion:
    moved, step, fit = part.realign(x[usable] @ motion.T)
    _, which = part.nearest(moved)
    sure = np.flatnonzero(fit.probability > 0.5)
    return _Motion(step @ motion, fit, np.column_stack([usable[sure], which[sure]]))
