"""Attack. Locate all records of a released distance matrix with no identification file: a list of towns will do."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from reident.base import Choice, DataError, FloatArray, IntArray, Real, check_choice, check_ids
from reident.location.alignment import best_motions, other_headings
from reident.location.localisation import Localisation, certificates, check_sd, located
from reident.location.nonrigid_refinement import refine_nonrigidly
from reident.location.population_density import PopulationDensity
from reident.location.reference_sets import check_release
from reident.location.spherical_mds import Shape, fit_shape
from reident.location.split_half_validation import agreement_km, chance_by_others, chance_of_agreement

__all__ = ["locate_by_population"]

# Records below which a part of the release is not laid by itself.
_MIN_PART = 40


# Wrong headings in which either half is laid as well, and where those of the next half begin, as a share of a turn.
_HEADINGS, _NEXT_HALF = 48, 0.2357


@dataclass(frozen=True, eq=False)
class _Map:
    """Some records laid on the map: who, where, how well either half agrees, how often halves of wrong maps do.

    `gap`: how far ahead of the next map.
    """

    rows: IntArray
    x: FloatArray
    agreement_km: FloatArray
    chance: FloatArray
    gap: float


def locate_by_population(
    release: Any,
    places: pd.DataFrame | None,
    area: Any = None,
    sd_km: ArrayLike | None = None,
    *,
    coverage: Annotated[str, Choice("whole", "part")] = "whole",
    scatter_km: Annotated[float, Real(0, unit="km", open_low=True)] = 11.0,
) -> Localisation:
    """Locate all released records by laying the shape of their distances on a public map of where people live.

    No identification file, no match and no label is needed: people live where towns are, and a cloud of some hundred
    of them fits the towns of its country in one way only. Distances are enough; so whoever releases distances, or
    anything from which distances can be computed, releases a map.

    Parameters
    ----------
    release : array-like of shape (n, n), MetricMicrodata, or tuple of table and array-like
        Released distances, km, nan for one that is not released; the table's index identifies the records. At least 4
        records. Not modified.
    places : DataFrame or None
        A public list of places: `lat_deg`, `lon_deg`, and `population` if known. None: only the outline is used.
    area : polygon, GeoSeries or GeoDataFrame, optional
        Outline of the country, outside which nobody lives. Required without `places`.
    sd_km : array-like, shape (n, n), optional
        Standard deviation of each released distance as the intruder sees it, km; 0 or infinity leaves a distance out.
        `calibrate_distances` gives it for a Lipschitz embedding. With it, the cloud is also bent to the map. Default:
        all distances count alike.
    coverage : {"whole", "part"}, default "whole"
        Whether the records come from the whole of the map, or perhaps from a part of it only. "part" compares densities
        with their surroundings and costs a little accuracy where the file does cover the whole.
    scatter_km : float, default 11.0
        How far homes scatter around their place, standard deviation in each direction, km.

    Returns
    -------
    Localisation
        `positions` of all records; `certificate` says of each how far apart two maps that share no record of its
        region put it, and how often two wrong maps would agree so well; `gap` is the log-likelihood, in nats a record,
        by which the map exceeds the second best that differs. There are no links: nobody's name was used.

    Raises
    ------
    DataError, ParameterError
        If `release` is no distance matrix or has fewer than 4 records; if `places` and `area` are both missing or break
        their rules; if `sd_km` breaks its rule.

    Notes
    -----
    Found nowhere in print; beyond Kroll and Schnell (2016). A map that is not certified is not a wrong one, and a
    release that is not located is not a safe one: no evidence is not evidence of safety. The certificate speaks for the
    map, not for the shape, which noise and chains of short distances may bend further than the maps disagree. Mirror
    images cannot be told apart by distances; both are tried. Chains of released distances stand in for missing ones.
    Where chains of sure distances (see `sd_km`) do not reach all records, the parts that hang together are laid one by
    one as well, and each record takes the place with the better certificate; where no released distance connects them,
    the whole certifies nobody. Nothing here is random. Time O(n^2) for the shape, O(n) for the search; memory O(n^2).

    Examples
    --------
    >>> from reident import great_circle_km
    >>> rng = np.random.default_rng(0)
    >>> towns = pd.DataFrame({"lat_deg": rng.uniform(48, 54, 60), "lon_deg": rng.uniform(7, 14, 60),
    ...                       "population": 1000 / rng.uniform(0.02, 1, 60)})
    >>> homes = towns.sample(150, replace=True, weights="population", random_state=1)
    >>> found = locate_by_population(great_circle_km(homes["lat_deg"], homes["lon_deg"]), towns)
    >>> off = found.positions.to_numpy() - homes[["lat_deg", "lon_deg"]].to_numpy()
    >>> bool(np.abs(off).max() < 0.1), bool(found.certified().all())
    (True, True)
    """
    began = time.perf_counter()
    index, distances = _released(release)
    sd = told = check_sd(sd_km, len(index))
    missing = np.isnan(distances)
    if missing.any():
        distances = np.where(missing, 0.0, distances)
        told = np.where(missing, np.inf, 1.0 if sd is None else sd)
    part = check_choice(coverage, "coverage", ("whole", "part")) == "part"
    homes = PopulationDensity(places, area, scatter_km=scatter_km, part=part)
    shape = fit_shape(distances, told)
    maps = [_lay(np.arange(len(index)), shape, homes, bent=sd is not None)]
    given = ~missing if told is None else np.isfinite(told) & (told > 0)
    if connected_components(given, directed=False)[0] > 1:
        # Nothing tells how the parts lie to one another: the whole is laid for want of better, and certifies nobody.
        unknown = np.ones(len(index))
        maps[0] = replace(maps[0], agreement_km=np.inf * unknown, chance=unknown)
    if shape.part.any():
        pieces = homes if part else PopulationDensity(places, area, scatter_km=scatter_km, part=True)
        for number in range(shape.part.max() + 1):
            rows = np.flatnonzero(shape.part == number)
            if len(rows) >= _MIN_PART:
                square = np.ix_(rows, rows)
                own = fit_shape(distances[square], None if told is None else told[square])
                maps.append(_lay(rows, own, pieces, bent=sd is not None))
    x, certificate = _best_of(maps, index, homes.surface_km2)
    return located(index, x, certificate, time.perf_counter() - began)


def _released(release: Any) -> tuple[pd.Index, FloatArray]:
    """Return the records' ids and distances, nan where there is none."""
    distances = check_release(release)
    table = release[0] if isinstance(release, tuple) else getattr(release, "table", release)
    index = table.index if isinstance(table, pd.DataFrame) else pd.RangeIndex(len(distances))
    if len(index) != len(distances):
        raise DataError(f"`release` must have one row of distances a record ({len(index)}), got {len(distances)}")
    if len(index) < 4:
        raise DataError(
            f"`release` must have at least 4 records, got {len(index)}: fewer have no shape to lay on a map"
        )
    if np.isfinite(distances).sum() <= np.isfinite(np.diagonal(distances)).sum():
        raise DataError("`release` must hold some distance, got nan everywhere")
    return check_ids(index, "release.index"), distances


def _lay(rows: IntArray, shape: Shape, homes: PopulationDensity, *, bent: bool) -> _Map:
    """Lay some records on the map, and either half of them by itself."""
    x = shape.x
    found = best_motions(x, homes)
    lead = found[0][0] - found[1][0] if len(found) > 1 else float("inf")
    laid = x @ found[0][1].T
    others: list[FloatArray] = []

    def by_half(half: IntArray) -> FloatArray:
        motion = best_motions(x[half], homes, n_starts=40)[0][1]
        others.append(other_headings(x[half], homes, motion, _HEADINGS, len(others) * _NEXT_HALF))
        return np.asarray(x @ motion.T)

    agreement = agreement_km(x, by_half)
    chance = chance_by_others(x, others, agreement)
    if bent and shape.sd_km is not None:
        laid = shape.follow(refine_nonrigidly(laid[shape.fixed], shape.distances_km, shape.sd_km, homes))
    return _Map(rows, laid, agreement, chance, lead / len(rows))


def _best_of(maps: list[_Map], index: pd.Index, surface_km2: float) -> tuple[FloatArray, pd.DataFrame]:
    """Return each record's place and certificate from the map on which the certificate is best."""
    n = len(index)
    x, agreement, chance = np.zeros((n, 3)), np.full(n, np.inf), np.ones(n)
    which, gap = np.full(n, -1), np.full(n, -np.inf)
    tries = np.zeros(n, dtype=np.int64)
    for number, one in enumerate(maps):
        rows = one.rows
        tries[rows] += 1
        better = (one.agreement_km < agreement[rows]) | ((one.agreement_km == agreement[rows]) & (one.gap > gap[rows]))
        chosen = rows[better]
        x[chosen], agreement[chosen], chance[chosen] = one.x[better], one.agreement_km[better], one.chance[better]
        which[chosen], gap[chosen] = number, one.gap
    by_chance = np.maximum(chance_of_agreement(agreement, surface_km2, tries), np.minimum(1.0, tries * chance))
    return x, certificates(index, agreement, by_chance, which, gap)
