"""Attack. Align the shape of released distances with population density, without an identification file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from reident.base import Choice, DataError, FloatArray, IntArray, Real, check_ids, checked
from reident.location.alignment import best_motions, other_headings
from reident.location.localisation import Localisation, check_sd, check_size, localised
from reident.location.nonrigid_refinement import refine_nonrigidly
from reident.location.population_density import PopulationDensity
from reident.location.reference_sets import check_release, check_table
from reident.location.spherical_mds import RADIUS_KM, Shape, fit_parts, gaps_km, usable_pairs

_MIN_PART = 40  # records below which a part of the release is not aligned by itself
# Wrong headings in which either half is aligned as well, and where those of the next half begin, as a share of a turn.
_HEADINGS, _NEXT_HALF = 48, 0.2357
_MIN_HALF = 12  # records below which a half is too small to be laid by itself


@checked
def locate_by_population(
    release: Any,
    places: pd.DataFrame | None,
    area: Any = None,
    sd_km: ArrayLike | None = None,
    *,
    coverage: Annotated[str, Choice("whole", "part")] = "whole",
    scatter_km: Annotated[float, Real(0, unit="km", open_low=True)] = 11.0,
) -> Localisation:
    """Locate all released records by aligning the shape of their distances with population density.

    No identification file, match or label is needed: people live where towns are, and a cloud of some hundred of them
    fits the towns of its country in one position only. A release of distances, or of data from which distances can be
    computed, is a release of a map.

    Parameters
    ----------
    release : array-like of shape (n, n), MetricMicrodata, or tuple of table and array-like
        Released distances, km, nan for one that is not released; the table's index identifies the records. At least 4
        records. Not modified.
    places : DataFrame or None
        A public list of places: `lat_deg`, `lon_deg`, and `population` if known. None: only the outline is used.
    area : polygon, GeoSeries or GeoDataFrame, optional
        Outline of the country, outside which no one lives. Required without `places`.
    sd_km : array-like, shape (n, n), optional
        Standard deviation of each released distance as the intruder sees it, km, for example from simulated
        embeddings; 0 or infinity leaves a distance out. With it, the cloud is also bent to the density.
        Default: all distances count alike.
    coverage : {"whole", "part"}, default "whole"
        Whether the records come from the whole of the map, or perhaps from a part of it only. "part" compares densities
        with their surroundings and costs a little accuracy where the file does cover the whole.
    scatter_km : float, default 11.0
        How far homes scatter around their place, standard deviation in each direction, km.

    Returns
    -------
    Localisation
        `positions` of all records; `certificate` holds for each the distance between its places on two maps without a
        common record of its region, and the probability that two wrong maps agree so well; `gap` is the log-likelihood,
        nats a record, by which the map exceeds the second best that differs. There are no links.

    Raises
    ------
    DataError, ParameterError
        If `release` is no distance matrix or has fewer than 4 records; if `places` and `area` are both missing or break
        their rules; if `sd_km` breaks its rule.

    Notes
    -----
    Beyond Kroll and Schnell (2016), and unpublished. A map that is not certified is not a wrong one, and a release that
    is not located is not a safe one. The certificate is evidence for the alignment, not for the shape, which noise and
    chains of short distances may bend further than the maps disagree. Mirror images have the same distances; both are
    tried. Chains of released distances replace missing ones. Where chains of sure distances (see `sd_km`) do not reach
    all records, the parts that they connect are aligned one by one as well, and each record takes the place with the
    better certificate; where no released distance connects them, the map of all certifies no record. No step is random.
    Time O(n^2) for the shape, O(n) for the search; memory O(n^2).

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
    index, distances = _check_released(release)
    sd = usable_sd = check_sd(sd_km, len(index))
    missing = np.isnan(distances)
    if missing.any():
        distances = np.where(missing, 0.0, distances)
        usable_sd = np.where(missing, np.inf, 1.0 if sd is None else sd)
    part = coverage == "part"
    density = PopulationDensity(places, area, scatter_km=scatter_km, part=part)
    maps = []
    for number, (rows, shape) in enumerate(fit_parts(distances, usable_sd, _MIN_PART)):
        if number == 1 and not part:
            density = PopulationDensity(places, area, scatter_km=scatter_km, part=True)
        placed, apart, chance, lead = _align(shape, density, bent=sd is not None)
        maps.append(pd.DataFrame(placed, rows).assign(agreement_km=apart, chance=chance, map=number, gap=lead))
    if usable_sd is not None and connected_components(usable_pairs(usable_sd), directed=False)[0] > 1:
        # No distance fixes the parts against one another: the whole is no evidence.
        maps[0] = maps[0].assign(agreement_km=np.inf, chance=1.0)
    every = pd.concat(maps).sort_values(["agreement_km", "gap"], ascending=[True, False], kind="stable")
    best = every[~every.index.duplicated()].sort_index().set_axis(index)
    tries = every.index.value_counts(sort=False).sort_index().to_numpy()
    by_chance = chance_of_agreement(best["agreement_km"], density.surface_km2, tries)
    best["p_value"] = np.maximum(by_chance, np.minimum(1.0, tries * best["chance"]))
    return localised(index, best[[0, 1, 2]].to_numpy(), dict(best.drop(columns=[0, 1, 2, "chance"])))


def _check_released(release: Any) -> tuple[pd.Index, FloatArray]:
    """Return the records' ids and distances, nan for missing ones."""
    distances = check_release(release)
    index = check_table(release, len(distances)).index
    check_size(len(index))
    if np.isfinite(distances).sum() <= np.isfinite(np.diagonal(distances)).sum():
        raise DataError("`release` must hold some distance, got nan everywhere")
    return check_ids(index, "release.index"), distances


def _align(shape: Shape, density: PopulationDensity, *, bent: bool) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Align a shape and either half of it with the density.

    Returns the places, how far the halves agree, the share of wrong maps that agree as well, and the lead, nats a
    record.
    """
    x = shape.x
    motions = best_motions(x, density)
    lead = motions[0][0] - motions[1][0] if len(motions) > 1 else float("inf")
    placed = x @ motions[0][1].T
    agreement, others = agreement_of_halves(x, density)
    chance = chance_by_others(x, others, agreement)
    if bent and shape.sd_km is not None:
        placed = shape.follow(refine_nonrigidly(placed[shape.fixed], shape.distances_km, shape.sd_km, density))
    return placed, agreement, chance, lead / len(x)


def regional_halves(x: FloatArray) -> list[tuple[IntArray, IntArray]]:
    """Return the records on either side of a line through the cloud's middle, and of the line perpendicular to it.

    The first line cuts the cloud across its longest direction.
    """
    centred = x - x.mean(axis=0)
    directions = np.linalg.svd(centred, full_matrices=False)[2][:2]
    halves = []
    for direction in directions:
        along = np.argsort(centred @ direction, kind="stable")
        halves.append((np.sort(along[: len(x) // 2]), np.sort(along[len(x) // 2 :])))
    return halves


def agreement_of_halves(x: FloatArray, density: PopulationDensity) -> tuple[FloatArray, list[FloatArray]]:
    """Return, for each record, the distance between its places by either half of the records, km.

    And, for each half, the motions that align it in wrong headings. The larger distance of the two cuts counts; inf
    where a half is too small. A wrong map is often a stable one: halves drawn at random, or a bootstrap, give the same
    wrong place twice. Halves on either side of a line have only the map in common.
    """
    worst, others = np.zeros(len(x)), list[FloatArray]()
    for halves in regional_halves(x):
        if min(map(len, halves)) < _MIN_HALF:
            return np.full(len(x), np.inf), []
        placed = []
        for half in halves:
            motion = best_motions(x[half], density, n_starts=40)[0][1]
            others.append(other_headings(x[half], density, motion, _HEADINGS, len(others) * _NEXT_HALF))
            placed.append(x @ motion.T)
        worst = np.maximum(worst, gaps_km(*placed))
    return worst, others


def chance_by_others(x: FloatArray, others: Sequence[FloatArray], agreement_km: FloatArray) -> FloatArray:
    """Return the share of pairs of wrong maps that put each record as near to one another as two right ones should.

    `others` are motions, shape (k, 3, 3), that align the first half of a cut in wrong headings, then the second half,
    then those of the next cut. A cloud that is small against its map finds the densest town in any heading: the maps of
    its halves agree whether they are right or not, and their agreement is no evidence.
    """
    near = np.cos(np.minimum(agreement_km / RADIUS_KM, np.pi)) - 1e-15
    agreeing, n_pairs = np.zeros(len(x)), 0
    for first, second in zip(others[::2], others[1::2], strict=True):
        other_places = x @ second.swapaxes(1, 2)
        for motion in first:
            agreeing += ((other_places * (x @ motion.T)).sum(axis=2) >= near).sum(axis=0)
        n_pairs += len(first) * len(second)
    return agreeing / n_pairs if n_pairs else np.ones(len(x))


def chance_of_agreement(agreement_km: FloatArray, surface_km2: float, n_tries: ArrayLike = 1) -> FloatArray:
    """Return the chance that two wrong maps put a record so near to one another.

    A wrong map puts it anywhere on the surface: the second place falls within g of the first with probability pi g^2 /
    surface. Only one of the two cuts is counted, since wrong maps of both may have the same cause; `n_tries` maps among
    which the best was taken multiply it.
    """
    return np.asarray(np.minimum(1.0, np.asarray(n_tries) * (np.pi / surface_km2) * agreement_km**2))
