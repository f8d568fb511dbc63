"""Attack. Results and checks that all location attacks share."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from shapely import MultiPoint

from reident.base import (
    DataError,
    FloatArray,
    IntArray,
    check_array,
    check_columns,
    check_coordinates,
    check_ids,
    check_table,
    encode_labels,
)
from reident.location.neighbours import Fit, Neighbours
from reident.location.spherical_mds import RADIUS_KM
from reident.places.common_subgraph import read_microdata
from reident.places.distances import unit_vectors
from reident.places.points import degrees

__all__ = ["Localisation"]


@dataclass(frozen=True, eq=False)
class Localisation:
    """Where an attack places the released records, whom it takes them for, and whether that can be believed.

    Attributes
    ----------
    positions : DataFrame
        One row a released record, in the release's order and index: `lat_deg`, `lon_deg`.
    links : DataFrame
        The second round: `release` and `known` ids that agree in labels and place, one to one, with their `distance_km`
        and the `probability` that the match is true under a mixture of true and chance neighbours.
    anchors : DataFrame
        The matches that the first alignment rests on: `release`, `known`.
    residual_km : float
        Fitted standard deviation, per direction, of the places of true matches, km; nan if nothing was aligned.
    z_score, p_value : float
        The certificate of the whole motion: how far the number of label-consistent neighbours exceeds that under
        permuted labels, counted on records that the search did not use. A small `p_value` says that the motion is no
        accident. It speaks neither for each record (a shape that is right in one region and wrong in another passes)
        nor for each link. nan where no labels were used.
    seconds : float
        Wall-clock time of the attack, s.
    certificate : DataFrame
        One row a released record: `agreement_km`, how far apart the maps put it that two halves of the file found which
        share no region (the worse of two perpendicular cuts; inf: not compared); `p_value`, the chance that two wrong
        maps agree so well; `map`, the map that placed it, where parts of a release were laid one by one (-1: none);
        `gap`, the log-likelihood in nats a record by which that map exceeds the next that differs (nan: not measured);
        `motion_p_value`, that of the motion of that map (nan where no labels were used).
    """

    positions: pd.DataFrame
    links: pd.DataFrame
    anchors: pd.DataFrame
    residual_km: float
    z_score: float
    p_value: float
    seconds: float
    certificate: pd.DataFrame

    def __len__(self) -> int:
        return len(self.links)

    def is_certified(self, level: float = 0.01) -> bool:
        """Tell whether chance would produce so good a registration at most in a share `level` of cases.

        Of the motion as a whole. False means that there is no evidence, never that the records are safe.
        """
        return bool(self.p_value <= level)

    def certified(self, level: float = 0.01) -> pd.Series:
        """Tell of each record whether its own certificate holds at a level: wrong maps agree so well no more often.

        False means that there is no evidence for its place, never that it is wrong or that the record is safe.
        """
        return self.certificate["p_value"] <= level


@dataclass(frozen=True, eq=False)
class KnownPlaces:
    """The known file as the attacks use it."""

    index: pd.Index
    table: pd.DataFrame
    vectors: FloatArray


def check_known_places(known: Any, name: str = "known") -> KnownPlaces:
    """Return the known records with their places, from a table, a GeoDataFrame of points, or (table, distances)."""
    table = known[0] if isinstance(known, tuple) and len(known) == 2 else getattr(known, "table", known)
    table = check_table(table, name, min_records=3)
    index = check_ids(table.index, f"{name}.index")
    if hasattr(table, "to_crs"):
        if table.crs is None:
            raise DataError(f"`{name}` must have a CRS: without one its coordinates could be degrees or metres")
        places = table.geometry.to_crs("EPSG:4326")
        lat, lon = check_coordinates(places.y, places.x)
    else:
        check_columns(table, ["lat_deg", "lon_deg"], name, table_name=name)
        lat, lon = check_coordinates(table["lat_deg"], table["lon_deg"])
    return KnownPlaces(index, table, unit_vectors(lat, lon))


def check_problem(
    release: Any, known: Any, quasi: str | Sequence[str]
) -> tuple[pd.DataFrame, FloatArray, KnownPlaces, IntArray, IntArray]:
    """Return the released table and distances, the known places, and the label codes of both."""
    release = read_microdata(release, "release")
    if len(release) < 4:
        raise DataError(
            f"`release` must have at least 4 records, got {len(release)}: fewer have no shape to lay on a map"
        )
    places = check_known_places(known)
    for table, name in ((release.table, "release"), (places.table, "known")):
        columns = check_columns(table, quasi, "quasi", table_name=name, min_columns=0)
    if columns:
        codes, known_codes = encode_labels([release.table, places.table], columns, ["release", "known"])
    else:
        codes, known_codes = (np.zeros(n, dtype=np.int64) for n in (len(release), len(places.index)))
    return release.table, release.distances_km, places, codes, known_codes


def check_sd(sd_km: ArrayLike | None, n: int) -> FloatArray | None:
    """Return standard deviations of distances as a symmetric matrix with some usable entry, or None."""
    if sd_km is None:
        return None
    sd = check_array(sd_km, "sd_km")
    if sd.shape != (n, n):
        raise DataError(f"`sd_km` must have shape ({n}, {n}) like the released distances, got {sd.shape}")
    if np.isnan(sd).any() or (sd < 0).any() or not np.array_equal(sd, sd.T):
        raise DataError("`sd_km` must be symmetric, not negative and not nan")
    if not ((sd > 0) & np.isfinite(sd))[~np.eye(n, dtype=bool)].any():
        raise DataError("`sd_km` must leave some distance in: all are 0 or infinite")
    return sd


def conclude(
    table: pd.DataFrame,
    places: KnownPlaces,
    neighbours: Neighbours,
    x: FloatArray,
    fit: Fit,
    anchors: IntArray,
    certificate: tuple[float, float],
    laid: pd.DataFrame,
    began: float,
) -> Localisation:
    """Assemble the result: positions, and the links that are likelier true than chance."""
    pairs, gap, probability = neighbours.assign(x, fit)
    likely = np.flatnonzero(probability > 0.5)
    likely = likely[np.argsort(pairs[likely, 0])]
    links = pd.DataFrame(
        {
            "release": table.index[pairs[likely, 0]],
            "known": places.index[pairs[likely, 1]],
            "distance_km": gap[likely],
            "probability": probability[likely],
        }
    )
    return Localisation(
        _positions(table.index, x),
        links,
        pd.DataFrame({"release": table.index[anchors[:, 0]], "known": places.index[anchors[:, 1]]}),
        fit.sigma_km,
        *certificate,
        time.perf_counter() - began,
        laid,
    )


def nowhere(table: pd.DataFrame, seconds: float) -> Localisation:
    """Return the result of an attack that could not place anything."""
    nobody = np.full(len(table), np.inf)
    laid = certificates(table.index, nobody, np.ones(len(table)), np.full(len(table), -1))
    return replace(located(table.index, np.full((len(table), 3), np.nan), laid, seconds), p_value=1.0)


def located(index: pd.Index, x: FloatArray, certificate: pd.DataFrame, seconds: float) -> Localisation:
    """Return the result of an attack that places records without naming anybody."""
    empty = pd.DataFrame({"release": index[:0], "known": index[:0]})
    nan = float("nan")
    links = empty.assign(distance_km=np.empty(0), probability=np.empty(0))
    return Localisation(_positions(index, x), links, empty, nan, nan, nan, seconds, certificate)


def certificates(
    index: pd.Index,
    agreement_km: FloatArray,
    p_value: FloatArray,
    which: ArrayLike = 0,
    gap: ArrayLike = np.nan,
    motion_p_value: ArrayLike = np.nan,
) -> pd.DataFrame:
    """Return the table of the records' own certificates."""
    own = {"agreement_km": agreement_km, "p_value": p_value}
    return pd.DataFrame({**own, "map": which, "gap": gap, "motion_p_value": motion_p_value}, index=index)


def hull_km2(x: FloatArray) -> float:
    """Return the surface of the region that some places span, km^2: where a wrong map could put a record."""
    middle = x.mean(axis=0)
    flat = RADIUS_KM * x @ np.linalg.svd(middle[None])[2][1:].T
    return max(float(MultiPoint(flat).convex_hull.area), 1.0)


def _positions(index: pd.Index, x: FloatArray) -> pd.DataFrame:
    lat, lon = degrees(x)
    return pd.DataFrame({"lat_deg": lat, "lon_deg": lon}, index=index)
