"""Attack. Undoing masks of places: averaging repeated releases, and reflecting at Voronoi edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, FloatArray, check_ids, check_listed
from reident.places.points import degrees, read_places
from reident.places.shape import unit_vectors

__all__ = ["average_releases", "unmask_voronoi"]

# Released places nearer to one another than this are one point, radians (6 cm).
_SAME = 1e-8


def average_releases(releases: Sequence[Any]) -> pd.DataFrame:
    """Average the places that several releases of one register give each record.

    A mask draws new noise for each release, and the intruder has them all: the error of the mean falls with the square
    root of their number, whatever the mask, if its displacements have no preferred direction.

    Parameters
    ----------
    releases : sequence of DataFrame or GeoDataFrame
        Masked releases; the index says which record is which. A record may be missing from some of them.

    Returns
    -------
    DataFrame
        `lat_deg`, `lon_deg` and `n_releases` of every record of any release, in order of first appearance.

    Raises
    ------
    DataError, ParameterError
        If there is no release, or one has no places or ids that repeat.

    Examples
    --------
    >>> first = pd.DataFrame({"lat_deg": [50.0], "lon_deg": [8.0]}, index=["Ann"])
    >>> average_releases([first, first.assign(lon_deg=8.2)]).round(3)
         lat_deg  lon_deg  n_releases
    Ann     50.0      8.1           2
    """
    releases = check_listed(releases, "releases")
    if not releases:
        raise DataError("`releases` must hold at least one release, got none")
    frames = []
    for number, release in enumerate(releases):
        name = f"releases[{number}]"
        lat, lon = read_places(release, name)
        frames.append(pd.DataFrame(unit_vectors(lat, lon), index=check_ids(release.index, f"{name}.index")))
    grouped = pd.concat(frames).groupby(level=0, sort=False)
    lat, lon = degrees(grouped.mean().to_numpy())
    counts = grouped.size()
    return pd.DataFrame({"lat_deg": lat, "lon_deg": lon, "n_releases": counts.to_numpy()}, index=counts.index)


def unmask_voronoi(release: Any, known: Any) -> pd.DataFrame:
    """Find the exact places of persons whose Voronoi-masked point coincides with that of a person one knows.

    Two persons who are each other's nearest neighbours are released at one point, half way between them; the place of
    one, reflected at it, is the place of the other.

    Parameters
    ----------
    release : GeoDataFrame or DataFrame
        What `mask_voronoi` released.
    known : GeoDataFrame or DataFrame
        True places of some of the records; the index says of which.

    Returns
    -------
    DataFrame
        `lat_deg`, `lon_deg` of the records found, and `by`, the record whose place gave theirs away.

    Raises
    ------
    DataError, ParameterError
        If one of the two has no places or ids that repeat, or `known` names a record that was not released.
    """
    at = unit_vectors(*read_places(release, "release"))
    own = unit_vectors(*read_places(known, "known"))
    index = check_ids(release.index, "release.index")
    rows = index.get_indexer(check_ids(known.index, "known.index"))
    if (rows < 0).any():
        raise DataError(f"`known` must name released records, got {known.index[np.argmin(rows)]}, which is not")
    found: list[tuple[int, FloatArray, Any]] = []
    for row, place in zip(rows, own, strict=True):
        same = np.flatnonzero(np.linalg.norm(at - at[row], axis=1) < _SAME)
        others = np.setdiff1d(same, rows)
        if same.size == 2 and others.size == 1:
            found.append((int(others[0]), 2 * (place @ at[row]) * at[row] - place, index[row]))
    lat, lon = degrees(np.array([place for _, place, _ in found]).reshape(-1, 3))
    return pd.DataFrame(
        {"lat_deg": lat, "lon_deg": lon, "by": [who for _, _, who in found]},
        index=index[[row for row, _, _ in found]],
    )
