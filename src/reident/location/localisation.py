"""Attack. Results of location attacks, and checks of their input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base import (
    DataError,
    FloatArray,
    check_array,
    check_columns,
    check_ids,
    check_table,
    encode_labels,
)
from reident.location.neighbours import Fit, Neighbours
from reident.location.spherical_mds import usable_pairs
from reident.places.common_subgraph import read_microdata
from reident.places.compatibility import complete_distances
from reident.places.points import degrees, read_places, unit_vectors


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
    check_ids(check_table(table, "known", min_records=3).index, "known.index")
    return table, unit_vectors(*read_places(table, "known"))


def check_problem(
    release: Any, known: Any, quasi: str | Sequence[str]
) -> tuple[pd.Index, FloatArray, pd.Index, Neighbours]:
    """Return the released ids and distances, the known ids, and the neighbours by label."""
    release = read_microdata(release, "release")
    distances = complete_distances(release.distances_km, "release", size=len(release))
    check_size(len(release))
    table, y = check_known_places(known)
    for frame, name in ((release.table, "release"), (table, "known")):
        columns = check_columns(frame, quasi, "quasi", table_name=name, min_columns=0)
    if columns:
        codes, known_codes = encode_labels([release.table, table], columns, ["release", "known"])
    else:
        codes, known_codes = (np.zeros(n, dtype=np.int64) for n in (len(release), len(table)))
    return release.table.index, distances, table.index, Neighbours(codes, y, known_codes)


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
    if (sd < 0).any() or not np.array_equal(sd, sd.T):  # nan is not equal to itself
        raise DataError("`sd_km` must be symmetric, not negative and not nan")
    if not usable_pairs(sd).any():
        raise DataError("`sd_km` must leave some distance in: all are 0 or infinite")
    return sd


def links_between(index: pd.Index, known: pd.Index, neighbours: Neighbours, x: FloatArray, fit: Fit) -> pd.DataFrame:
    """Return the links that are likelier true than chance."""
    pairs, gap, probability = neighbours.assign(x, fit)
    likely = np.flatnonzero(probability > 0.5)
    likely = likely[np.argsort(pairs[likely, 0])]
    ids = {"release": index[pairs[likely, 0]], "known": known[pairs[likely, 1]]}
    return pd.DataFrame(ids | {"distance_km": gap[likely], "probability": probability[likely]})


def localised(
    index: pd.Index,
    x: FloatArray | None = None,
    certificate: Mapping[str, ArrayLike] | None = None,
    links: pd.DataFrame | None = None,
    residual_km: float = np.nan,
    p_value: float = np.nan,
) -> Localisation:
    """Return the result of an attack; without `x` it places no record."""
    if x is None:
        x, certificate, p_value = np.full((len(index), 3), np.nan), {"map": -1}, 1.0
    if links is None:
        links = pd.DataFrame({"release": index[:0], "known": index[:0], "distance_km": [], "probability": []})
    lat, lon = degrees(x)
    positions = pd.DataFrame({"lat_deg": lat, "lon_deg": lon}, index=index)
    usual = {"agreement_km": np.inf, "p_value": 1.0, "map": 0, "gap": np.nan, "motion_p_value": np.nan}
    return Localisation(
        positions, links, residual_km, p_value, pd.DataFrame({**usual, **(certificate or {})}, index=index)
    )
