"""A package from outside: a mask with a public input of its own, and an attack. It imports only what is public."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pandas as pd

from reident.base import PublicPlaces, Real, checked
from reident.methods import Entry
from reident.methods.outcome import NotApplicable, Outcome


@checked
def snap_to_stops(
    lat: Any,
    lon: Any,
    stops: Annotated[Any, PublicPlaces("the stops of public transport", ("lines",))],
    *,
    blur_deg: Annotated[float, Real(0, 2, unit="degrees")] = 0.0,
    rng: Any = None,
) -> tuple[Any, Any]:
    """Move every place to the nearest stop, blurred."""
    north, east = (
        np.subtract.outer(lat, stops["lat_deg"].to_numpy()),
        np.subtract.outer(lon, stops["lon_deg"].to_numpy()),
    )
    nearest = stops.iloc[(north**2 + east**2).argmin(axis=1)]
    blur = np.random.default_rng(rng).normal(0, blur_deg, (2, len(lat)))
    return nearest["lat_deg"].to_numpy() + blur[0], nearest["lon_deg"].to_numpy() + blur[1]


def same_parallel(release: Any, knowledge: Any, *, north: Annotated[float, Real(-1, 1)] = 0.0, rng: Any = None) -> Any:
    """Claim for each person the released record whose latitude is nearest to the own, moved north."""
    del rng
    if release.form != "points":
        raise NotApplicable("no places are released")
    mine = knowledge.known["lat_deg"].to_numpy() + north
    rows = np.abs(np.subtract.outer(mine, release.table["lat_deg"].to_numpy())).argmin(axis=1)
    claims = pd.DataFrame(
        {
            "claim": release.table.index[rows],
            "confidence": 1.0,
            "right": (rows == knowledge.truth).astype(float),
            "base": 1 / len(release.table),
            "present": knowledge.present,
        },
        index=knowledge.known.index,
    )
    return Outcome(claims, "identity", "the intruder knows latitudes exactly")


METHODS = [
    Entry(
        "snap_to_stops", "anonymiser", "places", snap_to_stops, "points", source="an example", label="snapped to stops",
        grid={"blur_deg": (0.01, 0.1)},
    ),
    Entry("same_parallel", "attack", "places", same_parallel, "claims", source="an example", label="same parallel"),
]  # fmt: skip
