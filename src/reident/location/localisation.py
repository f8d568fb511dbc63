"""Attack. Results of location attacks, and checks of their input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from shapely import MultiPoint

from reident.base import (
    DataError,
    FloatArray,
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
    """Places of released records, links to known records, and the evidence for both.

    Attributes
    ----------
    positions : DataFrame
        One row a released record, in the release's order and index: `lat_deg`, `lon_deg`.
    links : DataFrame
        Ids `release` and `known` that agree in labels and place, one to one, with their `distance_km` and the
        `probability` that the match is true under a mixture of true and chance neighbours.
    residual_km : float
        Fitted standard deviation, per direction, of the places of true matches, km; nan if nothing was aligned.
    p_value : float
        Certificate of the motion as a whole: the share of permutations of labels under which as many records have a
        known neighbour of their label, counted on records that the search did not use. It speaks neither for each
        record (a shape that is right in one region and wrong in another passes) nor for each link. nan where no labels
        were used.
    certificate : DataFrame
        One row a released record. `agreement_km`: distance between the places that two halves of the file without a
        common region give it, the larger of two cuts (inf: not compared). `p_value`: the probability that two wrong
        maps agree so well. `map`: the number of the map that placed it, where parts of a release were aligned one by
        one (-1: none). `gap`: the log-likelihood, nats a record, by which that map exceeds the next that differs (nan:
        not measured). `motion_p_value`: the p-value of that map's motion (nan where no labels were used).
    """

    positions: pd.DataFrame
    links: pd.DataFrame
    residual_km: float
    p_value: float
    certificate: pd.DataFrame

    def __len__(self) -> int:
        return len(self.links)

    def is_certified(self, level: float = 0.01) -> bool:
        """Return whether the p-value of the motion is at most `level`.

        False means that there is no evidence, never that the records are safe.
        """
        return bool(self.p_value <= level)

    def certified(self, level: float = 0.01) -> pd.Series:
        """Return for each record whether its own p-value is at most `level`.

        False means that there is no evidence for its place, never that the place is wrong or the record safe.
        """
        return self.certificate["p_value"] <= level


def check_known_places(known: Any) -> tuple[pd.DataFrame, FloatArray]:
    """Return the known records and their unit vectors, from a table, a GeoDataFrame, or (table, distances)."""
    table = known[0] if isinstance(known, tuple) and len(known) == 2 else getattr(known, "table", known)
    table = check_table(table, "known", min_records=3)
    check_ids(table.index, "known.index")
    if hasattr(table, "to_crs"):
        if table.crs is None:
            raise DataError("`known` must have a CRS: without one its coordinates could be degrees or metres")
        points = table.geometry.to_crs("EPSG:4326")
        lat, lon = points.y, points.x
    else:
        check_columns(table, ["lat_deg", "lon_deg"], "known", table_name="known")
        lat, lon = table["lat_deg"], table["lon_deg"]
    return table, unit_vectors(*check_coordinates(lat, lon))


def check_problem(
    release: Any, known: Any, quasi: str | Sequence[str]
) -> tuple[pd.Index, FloatArray, pd.Index, Neighbours]:
    """Return the released ids and distances, the known ids, and the neighbours by label."""
    release = read_microdata(release, "release")
    check_size(len(release))
    table, y = check_known_places(known)
    for frame, name in ((release.table, "release"), (table, "known")):
        columns = check_columns(frame, quasi, "quasi", table_name=name, min_columns=0)
    if columns:
        codes, known_codes = encode_labels([release.table, table], columns, ["release", "known"])
    else:
        codes, known_codes = (np.zeros(n, dtype=np.int64) for n in (len(release), len(table)))
    return release.table.index, release.distances_km, table.index, Neighbours(codes, y, known_codes)


def check_size(n: int) -> None:
    """Raise DataError for fewer than four records."""
    if n < 4:
        raise DataError(f"`release` must have at least 4 records, got {n}: fewer have no shape to lay on a map")


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


def linked(
    index: pd.Index, known: pd.Index, neighbours: Neighbours, x: FloatArray, fit: Fit, p_value: float,
    certificate: pd.DataFrame,
) -> Localisation:  # fmt: skip
    """Return the result with the links that are likelier true than chance."""
    pairs, gap, probability = neighbours.assign(x, fit)
    likely = np.flatnonzero(probability > 0.5)
    likely = likely[np.argsort(pairs[likely, 0])]
    links = pd.DataFrame(
        {
            "release": index[pairs[likely, 0]],
            "known": known[pairs[likely, 1]],
            "distance_km": gap[likely],
            "probability": probability[likely],
        }
    )
    return Localisation(_positions(index, x), links, fit.sigma_km, p_value, certificate)


def unlinked(index: pd.Index, x: FloatArray, certificate: pd.DataFrame, p_value: float = np.nan) -> Localisation:
    """Return the result without links."""
    links = pd.DataFrame({"release": index[:0], "known": index[:0], "distance_km": [], "probability": []})
    return Localisation(_positions(index, x), links, np.nan, p_value, certificate)


def unlocated(index: pd.Index) -> Localisation:
    """Return the result of an attack that places no record."""
    return unlinked(index, np.full((len(index), 3), np.nan), certificates(index, which=-1), 1.0)


def certificates(
    index: pd.Index,
    agreement_km: ArrayLike = np.inf,
    p_value: ArrayLike = 1.0,
    which: ArrayLike = 0,
    gap: ArrayLike = np.nan,
    motion_p_value: ArrayLike = np.nan,
) -> pd.DataFrame:
    """Return the table of the records' certificates."""
    columns = {"agreement_km": agreement_km, "p_value": p_value, "map": which, "gap": gap}
    return pd.DataFrame({**columns, "motion_p_value": motion_p_value}, index=index)


def hull_km2(x: FloatArray) -> float:
    """Return the area of the convex hull of places, km^2: where a wrong map could put a record."""
    middle = x.mean(axis=0)
    flat = RADIUS_KM * x @ np.linalg.svd(middle[None])[2][1:].T
    return max(float(MultiPoint(flat).convex_hull.area), 1.0)


def _positions(index: pd.Index, x: FloatArray) -> pd.DataFrame:
    lat, lon = degrees(x)
    return pd.DataFrame({"lat_deg": lat, "lon_deg": lon}, index=index)
