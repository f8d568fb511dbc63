"""Attack. Align the shape of released distances with known places, without any match."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from reident.base import (
    BoolArray,
    FloatArray,
    Generator,
    IntArray,
    RNGLike,
    Whole,
    afford,
    check_rng,
    checked,
)
from reident.kernels._numba import in_parts
from reident.kernels.location import registration as kernel
from reident.location import localisation as lay
from reident.location.localisation import Localisation
from reident.location.neighbours import Fit, Neighbours
from reident.location.spherical_mds import RADIUS_KM, fit_parts

# Gaps, km, at which a released record may count as the neighbour of a known one; the best one is chosen by the data.
_REACHES_KM = (1.0, 3.0, 9.0, 20.0)
# Cells of the painted map, motions looked at closer for each reach and in all, motions scored at most, and pairs whose
# motions are scored against the same bar.
_MAP_CELLS, _REFINED, _FINALISTS, _MOTIONS, _AT_ONCE = 60_000_000, 8, 4, 3_000_000, 250
# Share of records that a plain motion brings to a known one, and that no motion three reaches aside may bring.
_PLAIN, _ASIDE = 0.95, 0.8
# Share of the records whose labels the search does not see.
_HELD_OUT = 1 / 3
# Records below which a part that sure distances leave is not aligned by itself.
_MIN_PART = 12


@checked
def registration_attack(
    release: Any,
    known: Any,
    *,
    quasi: str | Sequence[str],
    sd_km: ArrayLike | None = None,
    n_pairs: Annotated[int, Whole(1, unit="pairs")] = 4000,
    rng: RNGLike = None,
) -> Localisation:
    """Locate all released records by aligning the shape of their distances with known places.

    A distance matrix fixes the shape of the cloud of records up to a motion. A pair of released records and a pair of
    known ones with the same labels and distance suggest a motion; the one that brings most records next to a known
    record of their label wins. Refinement and one-to-one assignment follow, and a permutation test of the motion.

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
        Standard deviation of each released distance as the intruder sees it, km, for example from simulated
        embeddings; 0 or infinity leaves a distance out. Default: all distances count alike.
    n_pairs : int, default 4000
        Released pairs that may suggest motions. More find a registration with fewer records in common.
    rng : Generator, int or None
        Drives which pairs suggest motions, which records are held out, and the permutations.

    Returns
    -------
    Localisation
        Positions of all released records, links, and the certificate: the labels of a third of the records are
        withheld from the search, and the number of these records that the motion brings next to a known record of their
        label is compared with that under permuted labels.

    Raises
    ------
    DataError, ParameterError
        As for `common_subgraph_attack`; if `known` has no places, there are too few records, or `sd_km` breaks its
        rule.

    Notes
    -----
    Beyond Kroll and Schnell (2016), who name no other attack on distance matrices. Mirror images have the same
    distances; both are tried. Records without a partner in the known file are placed by their distances alone. Where
    chains of sure distances (see `sd_km`) do not reach all records, the parts that they connect are aligned one by one
    as well, and a record takes the place on the map with the smaller p-value; `p_value` is then the least of them times
    their number. Without labels (`quasi` empty) there is no test: `p_value` is 1. Memory O(n^2 + n m).

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
    index, distances, known_index, neighbours = lay.check_problem(release, known, quasi)
    afford(200 * n_pairs, "n_pairs", f"{n_pairs:,} pairs", "draw fewer")
    rng = check_rng(rng)
    sd = lay.check_sd(sd_km, len(index))
    shapes = fit_parts(distances, sd, _MIN_PART)
    aligned = [_align(rows, shape.x, neighbours.part(rows), n_pairs, rng) for rows, shape in shapes]
    maps = [each for each in aligned if each is not None]
    if not maps:
        return lay.localised(index)
    x, which, p_value = np.repeat(neighbours.y[:1], len(index), axis=0), np.full(len(index), -1), np.ones(len(index))
    for number, (rows, placed, _, p) in enumerate(maps):
        # A part's own motion counts where it is no less sure.
        better = (p <= p_value[rows]) | (which[rows] < 0)
        x[rows[better]], which[rows[better]], p_value[rows[better]] = placed[better], number, p
    fit = maps[0][2]
    if len(maps) > 1 or (which < 0).any():
        neighbours = Neighbours(np.where(which < 0, -1, neighbours.codes), neighbours.y, neighbours.y_codes)
        fit = neighbours.fit(neighbours.nearest(x)[0], neighbours.density(x))
    lowest = min(1.0, len(maps) * min(p for *_, p in maps))
    links = lay.links_between(index, known_index, neighbours, x, fit)
    x[which < 0] = np.nan
    return lay.localised(index, x, {"map": which, "motion_p_value": p_value}, links, fit.sigma_km, lowest)


def _align(
    rows: IntArray, x: FloatArray, neighbours: Neighbours, n_pairs: int, rng: Generator
) -> tuple[IntArray, FloatArray, Fit, float] | None:
    """Align the shape of some records; return the records, their places, the fit, and the p-value of the motion."""
    searched, held_out = np.split(rng.permutation(len(rows)), [round(len(rows) * (1 - _HELD_OUT))])
    best = _search(x, neighbours, searched, n_pairs, rng)
    if best is None:
        return None
    motion, fit = best
    placed = x @ motion.T
    p_value = neighbours.part(held_out).certificate(placed[held_out], 2.5 * fit.sigma_km, rng)
    placed, _, fit = neighbours.realign(placed)
    return rows, placed, fit, p_value


def _search(
    x: FloatArray, neighbours: Neighbours, searched: IntArray, n_pairs: int, rng: Generator
) -> tuple[FloatArray, Fit] | None:
    """Return the motion with the most evidence among the candidates of several reaches, and its fit."""
    usable = searched[neighbours.label_share[searched] > 0]
    if usable.size < 2:
        return None
    pairs = _spread_pairs(x, usable, n_pairs, rng)
    budget = _MOTIONS // len(pairs)
    # Records of one place and label suggest the same motions: one pair of each two such places is tried.
    places = np.column_stack([np.round(x, 7), neighbours.codes])[usable]  # to .6 m
    alike = np.unique(places, axis=0, return_inverse=True)[1].ravel()
    pairs = pairs[np.sort(np.unique(alike[pairs], axis=0, return_index=True)[1])]
    part = neighbours.part(usable)
    # A glance at all reaches before any is searched through: a coarse one may be plain where a fine one is not.
    for n_tried in sorted({min(_AT_ONCE, len(pairs)), len(pairs)}):
        rough: list[tuple[FloatArray, FloatArray, Fit]] = []
        for reach_km in _REACHES_KM:
            found, plain = _candidates(x, neighbours, usable, pairs[:n_tried], reach_km, budget)
            rough += [(m, *part.realign(x[usable] @ m.T, rounds=2, starts_km=(reach_km / 2.5,))[1:]) for m in found]
            if plain:
                break
        if plain:
            break
    # A rough look at all candidates, then a close one at the best.
    rough.sort(key=lambda candidate: -candidate[2].log_evidence)
    refined = []
    for motion, step, _ in rough[:_FINALISTS]:
        _, last, fit = part.realign(x[usable] @ (step @ motion).T)
        refined.append((last @ (step @ motion), fit))
    return max(refined, key=lambda each: each[1].log_evidence, default=None)


def _spread_pairs(x: FloatArray, usable: IntArray, n_pairs: int, rng: Generator) -> IntArray:
    """Draw pairs of the usable, as numbers in it, that lie far apart: a short pair says little of the direction."""
    ends = np.stack([rng.choice(usable.size, 3 * n_pairs), rng.choice(usable.size, 3 * n_pairs)], axis=1)
    ends = ends[ends[:, 0] != ends[:, 1]]
    if not ends.size:
        # Few draws may all be of one record with itself.
        return rng.choice(usable.size, (1, 2), replace=False)
    chord = np.linalg.norm(x[usable[ends[:, 0]]] - x[usable[ends[:, 1]]], axis=1)
    return np.ascontiguousarray(ends[chord >= np.quantile(chord, 2 / 3)][:n_pairs])


def _candidates(
    x: FloatArray, neighbours: Neighbours, usable: IntArray, pairs: IntArray, reach_km: float, budget: int
) -> tuple[list[FloatArray], bool]:
    """Return the motions that bring most of the usable records within reach of a known record of their label.

    And whether these are plain: they leave hardly a record out, which a motion some reaches away would. Of each pair at
    most `budget` motions are scored.
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
    paint(grid, cell, plane[members], y_codes[members], max(reach, cell))
    motions, scores = np.zeros((len(pairs), 3, 3)), np.zeros(len(pairs), dtype=np.int64)
    bar, plain_hits = 2, _enough(grid, cell, plane[members], y_codes[members], reach) * usable.size
    points, labels = x[usable], codes[usable]

    def look(first: int, bar: int, rows: slice) -> None:
        part = slice(first + rows.start, first + rows.stop)
        kernel.best_motions(
            points, labels, pairs[part], y, starts, members, 1.5 * reach, axes, grid, cell, max(1, budget), bar,
            motions[part], scores[part],
        )  # fmt: skip

    for first in range(0, len(pairs), _AT_ONCE):
        in_parts(partial(look, first, bar), min(_AT_ONCE, len(pairs) - first))
        # A motion that is not among the best so far is not among the best of all.
        bar = max(bar, int(np.sort(scores)[-_REFINED:][0]))
        if bar >= plain_hits:
            break
    ahead = np.argsort(-scores, kind="stable")[:_REFINED]
    return [motions[which] for which in ahead if scores[which] > 0], bar >= plain_hits


def paint(grid: BoolArray, cell: float, plane: FloatArray, codes: IntArray, reach: float) -> None:
    """Mark, in layer `codes[i]` of a grid, the cells with a centre within reach of point i of the plane."""
    steps, side = int(np.ceil(reach / cell)) + 1, grid.shape[1]
    corner = np.floor(plane / cell).astype(np.int64) + side // 2
    cells = corner[:, :, None] + np.arange(-steps, steps + 1)
    off = (cells - side // 2 + 0.5) * cell - plane[:, :, None]
    near = off[:, 0, :, None] ** 2 + off[:, 1, None] ** 2 <= reach**2
    on_grid = ((cells >= 0) & (cells < side)) & ((corner >= 0) & (corner < side)).all(axis=1)[:, None, None]
    point, row, column = np.nonzero(near & on_grid[:, 0, :, None] & on_grid[:, 1, None])
    grid[codes[point], cells[point, 0, row], cells[point, 1, column]] = True


def _enough(grid: BoolArray, cell: float, plane: FloatArray, codes: IntArray, reach: float) -> float:
    """Return the share of records in marked cells that only a right motion has; infinity where wrong ones may, too.

    A motion that is off by three reaches is tried on the known places themselves, in eight directions.
    """
    for angle in np.linspace(0, 2 * np.pi, 8, endpoint=False):
        off = plane + 3 * reach * np.array([np.cos(angle), np.sin(angle)])
        i, j = (np.floor(off / cell).astype(np.int64) + np.array(grid.shape[1:]) // 2).T
        inside = (i >= 0) & (j >= 0) & (i < grid.shape[1]) & (j < grid.shape[2])
        if grid[codes[inside], i[inside], j[inside]].sum() > _ASIDE * len(plane):
            return np.inf
    return _PLAIN
