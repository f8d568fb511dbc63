"""Attack. Locate the records of a released distance matrix without any match."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base import BoolArray, Flag, FloatArray, IntArray, RNGLike, Whole, afford, check_rng, checked
from reident.kernels._numba import in_parts
from reident.kernels.location import registration as kernel
from reident.location import localisation as lay
from reident.location.localisation import Localisation
from reident.location.neighbours import Fit, Neighbours
from reident.location.spherical_mds import RADIUS_KM, fit_shape, recover_shape
from reident.location.split_half_validation import agreement_km, chance_of_agreement

__all__ = ["registration_attack"]

# Gaps, km, at which a released record may count as the neighbour of a known one; the best one is chosen by the data.
_REACHES_KM = (1.0, 3.0, 9.0, 20.0)
# Cells of the painted map, motions looked at closer for each reach and in all, motions scored at most, and pairs whose
# motions are scored against the same bar.
_MAP_CELLS, _REFINED, _FINALISTS, _MOTIONS, _AT_ONCE = 60_000_000, 8, 4, 3_000_000, 250
# Share of records that a plain motion brings to a known one, and that no motion three reaches aside may bring.
_PLAIN, _ASIDE = 0.95, 0.8
# Share of the records whose labels the search does not see.
_HELD_OUT = 1 / 3
# A half of the file, registered by itself for the certificate of each record, gets this share of the pairs.
_FOR_A_HALF = 4
# Records that make a part, where sure distances leave several, worth to be laid by itself.
_MIN_PART = 12


@checked
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
    distances alone. Where chains of sure distances (see `sd_km`) do not reach all records, the parts that hang together
    are laid one by one as well, and a record takes the place on the map with the better certificate; `p_value` is then
    the best of them times their number. Memory O(n^2 + n m). Without labels (`quasi` empty) the certificate does not
    exist: `p_value` is 1.

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
    afford(200 * n_pairs, "n_pairs", f"{n_pairs:,} pairs", "draw fewer")
    generator = check_rng(rng)
    sd = lay.check_sd(sd_km, len(table))
    neighbours = Neighbours(codes, places.vectors, known_codes)
    shape = fit_shape(distances, sd)
    drawn = [_lay(np.arange(len(table)), shape.x, neighbours, n_pairs, each_record, generator)]
    for number in range(shape.part.max() + 1 if shape.part.any() else 0):
        rows = np.flatnonzero(shape.part == number)
        if len(rows) >= _MIN_PART:
            square = np.ix_(rows, rows)
            own = recover_shape(distances[square], None if sd is None else sd[square])
            drawn.append(_lay(rows, own, neighbours, n_pairs, each_record, generator))
    maps = [one for one in drawn if one is not None]
    if not maps:
        return lay.nowhere(table, time.perf_counter() - began)
    return _concluded(table, places, neighbours, maps, began)


@dataclass(frozen=True, eq=False)
class _Map:
    """Some records laid on the known places by themselves: their places, matches and certificates."""

    rows: IntArray
    x: FloatArray
    fit: Fit
    pairs: IntArray
    certificate: tuple[float, float]
    agreement_km: FloatArray


def _lay(
    rows: IntArray, x: FloatArray, everybody: Neighbours, n_pairs: int, each_record: bool, rng: np.random.Generator
) -> _Map | None:
    """Lay the shape of some records on the known places; None where no motion is found."""
    neighbours = everybody.part(rows)
    order = rng.permutation(len(rows))
    searched, held_out = np.split(order, [round(len(rows) * (1 - _HELD_OUT))])
    best = _search(x, neighbours, searched, n_pairs, rng)
    if best is None:
        return None
    reach_km = 2.5 * best.fit.sigma_km
    certificate = neighbours.part(held_out).certificate(x[held_out] @ best.motion.T, reach_km, rng)
    aligned, _, fit = neighbours.realign(x @ best.motion.T)

    def lay_by(half: IntArray) -> FloatArray | None:
        found = _search(x, neighbours, half, max(1, n_pairs // _FOR_A_HALF), rng)
        return None if found is None else x @ found.motion.T

    agreement = agreement_km(x, lay_by) if each_record else np.full(len(rows), np.inf)
    pairs = np.column_stack([rows[best.pairs[:, 0]], best.pairs[:, 1]])
    return _Map(rows, aligned, fit, pairs, certificate, agreement)


def _concluded(
    table: pd.DataFrame, places: lay.KnownPlaces, neighbours: Neighbours, maps: list[_Map], began: float
) -> Localisation:
    """Return the result of the map of all records and those of parts: a part's, where its motion is no less sure."""
    n = len(table)
    x = np.repeat(places.vectors[:1], n, axis=0)
    which, tries, agreement, p_value = np.full(n, -1), np.zeros(n, dtype=np.int64), np.full(n, np.inf), np.ones(n)
    for number, one in enumerate(maps):
        tries[one.rows] += 1
        taken = (one.certificate[1] <= p_value[one.rows]) | (which[one.rows] < 0)
        rows = one.rows[taken]
        x[rows], which[rows], agreement[rows] = one.x[taken], number, one.agreement_km[taken]
        p_value[rows] = one.certificate[1]
    fit, anchors, certificate = maps[0].fit, maps[0].pairs, maps[0].certificate
    if len(maps) > 1 or (which < 0).any():
        neighbours = Neighbours(np.where(which < 0, -1, neighbours.codes), neighbours.y, neighbours.y_codes)
        fit = neighbours.fit(neighbours.nearest(x)[0], neighbours.density(x))
        anchors = np.concatenate([one.pairs[which[one.pairs[:, 0]] == number] for number, one in enumerate(maps)])
        z_score, lowest = min((one.certificate for one in maps), key=lambda certificate: certificate[1])
        certificate = z_score, min(1.0, len(maps) * lowest)
    laid = lay.certificates(
        table.index, agreement, chance_of_agreement(agreement, lay.hull_km2(places.vectors), tries), which,
        motion_p_value=p_value,
    )  # fmt: skip
    found = lay.conclude(table, places, neighbours, x, fit, anchors, certificate, laid, began)
    found.positions.loc[which < 0] = np.nan
    return found


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
    rough: list[tuple[FloatArray, FloatArray, Fit]] = []
    for reach_km in _REACHES_KM:
        found, plain = _candidates(x, neighbours, usable, pairs, reach_km)
        rough += [(m, *part.realign(x[usable] @ m.T, rounds=2, starts_km=(reach_km / 2.5,))[1:]) for m in found]
        if plain:
            break
    rough.sort(key=lambda candidate: -candidate[2].log_evidence)
    refined = [_refine(x, part, usable, step @ motion) for motion, step, _ in rough[:_FINALISTS]]
    return max(refined, key=lambda motion: motion.fit.log_evidence, default=None)


def _spread_pairs(x: FloatArray, usable: IntArray, n_pairs: int, rng: np.random.Generator) -> IntArray:
    """Draw pairs of the usable, as numbers in it, that lie far apart: a short pair says little of the direction."""
    drawn = np.stack([rng.choice(usable.size, 3 * n_pairs), rng.choice(usable.size, 3 * n_pairs)], axis=1)
    drawn = drawn[drawn[:, 0] != drawn[:, 1]]
    if not drawn.size:
        # Few draws may all be of one record with itself.
        return rng.choice(usable.size, (1, 2), replace=False)
    chord = np.linalg.norm(x[usable[drawn[:, 0]]] - x[usable[drawn[:, 1]]], axis=1)
    return np.ascontiguousarray(drawn[chord >= np.quantile(chord, 2 / 3)][:n_pairs])


def _candidates(
    x: FloatArray, neighbours: Neighbours, usable: IntArray, pairs: IntArray, reach_km: float
) -> tuple[list[FloatArray], bool]:
    """Return the motions that bring most of the usable records within reach of a known record of their label.

    And whether these are plain: they leave hardly a record out, which a motion some reaches away would.
    """
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
    budget = max(1, _MOTIONS // pairs.shape[0])
    least, enough = 2, _enough(grid, cell, plane, y_codes, reach) * usable.size
    points, labels = x[usable], codes[usable]

    def look(first: int, least: int) -> None:
        def at(rows: slice) -> None:
            part = slice(first + rows.start, first + rows.stop)
            kernel.best_motions(
                points, labels, pairs[part], y, starts, members, 1.5 * reach, axes, grid, cell, budget, least,
                motions[part], scores[part],
            )  # fmt: skip

        in_parts(at, min(_AT_ONCE, len(pairs) - first))

    for first in range(0, len(pairs), _AT_ONCE):
        look(first, least)
        # Who is not among the best so far will not be among the best of all.
        least = max(least, int(np.sort(scores)[-_REFINED:][0]))
        if least >= enough:
            break
    ahead = np.argsort(-scores, kind="stable")[:_REFINED]
    return [motions[which] for which in ahead if scores[which] > 0], least >= enough


def _enough(grid: BoolArray, cell: float, plane: FloatArray, codes: IntArray, reach: float) -> float:
    """Return the share of records in marked cells that only a right motion has; infinity where wrong ones may, too.

    A motion that is off by three reaches is tried on the known places themselves, in eight directions.
    """
    there = codes >= 0
    for angle in np.linspace(0, 2 * np.pi, 8, endpoint=False):
        off = plane[there] + 3 * reach * np.array([np.cos(angle), np.sin(angle)])
        i, j = (np.floor(off / cell).astype(np.int64) + np.array(grid.shape[1:]) // 2).T
        inside = (i >= 0) & (j >= 0) & (i < grid.shape[1]) & (j < grid.shape[2])
        if grid[codes[there][inside], i[inside], j[inside]].sum() > _ASIDE * there.sum():
            return np.inf
    return _PLAIN


def _refine(x: FloatArray, part: Neighbours, usable: IntArray, motion: FloatArray) -> _Motion:
    moved, step, fit = part.realign(x[usable] @ motion.T)
    _, which = part.nearest(moved)
    sure = np.flatnonzero(fit.probability > 0.5)
    return _Motion(step @ motion, fit, np.column_stack([usable[sure], which[sure]]))
