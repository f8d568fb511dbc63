"""Small data of each kind for the tests of methods, with public inputs that cover them."""

import geopandas as gpd
import networkx as nx
import numpy as np
import pandas as pd
import shapely

from judged import records
from reident.networks.graph import as_network

AREA = shapely.box(7, 49, 10, 52)
NETWORK = as_network(nx.karate_club_graph())


def drawn(n, seed, **columns):
    """Draw columns in turn: from a list, of whole numbers from (low, high), or any from there if an end has a point.

    A text is the pattern of a running number; any other column is drawn by a function of the generator and `n`.
    """
    rng = np.random.default_rng(seed)

    def column(of):
        if isinstance(of, str):
            return [of.format(i) for i in range(n)]
        if isinstance(of, list):
            return rng.choice(of, n)
        if isinstance(of, tuple):
            return rng.uniform(*of, n) if float in map(type, of) else rng.integers(*of, n)
        return of(rng, n)

    return pd.DataFrame({name: column(of) for name, of in columns.items()})


def places(n, seed, lat=(50, 51), lon=(8, 9)):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"lat_deg": rng.uniform(*lat, n), "lon_deg": rng.uniform(*lon, n)})


def people(n=60):
    """Return persons with a place each; those above 45 have the gout."""
    table = drawn(
        n, 3, sex=["f", "m"], age=(20, 60), pay=lambda rng, n: rng.normal(100, 20, n), ill=["flu", "cancer", "gout"],
        urban=["U", "R"],
    )  # fmt: skip
    table["ill"] = np.where(table["age"] > 45, "gout", table["ill"])
    return table.join(places(n, 4))


CELLS = np.arange(0.05, 1, 0.1)  # of a raster that covers all places
SQUARES = [shapely.box(x, y, x + 0.5, y + 0.5) for x in (8, 8.5) for y in (50, 50.5)]
PUBLIC = {
    "area": AREA,
    "candidates": places(300, 9),
    "areas": gpd.GeoDataFrame({"population": [300.0, 40, 900, 60]}, geometry=SQUARES, crs="EPSG:4326"),
    "density": pd.DataFrame(
        {
            "lat_deg": np.repeat(CELLS, 10) + 50,
            "lon_deg": np.tile(CELLS, 10) + 8,
            "persons_per_km2": np.linspace(0.2, 50, 100),
        }
    ),
}
ROLES = {
    "places": {"quasi": ["sex", "urban"], "sensitive": "ill"},
    "table": {"quasi": ["sex", "age", "pay"], "sensitive": "ill"},
}


def data_of(kind, n=60, **changes):
    if kind == "network":
        return records(NETWORK, quasi=())
    return records(people(n), kind=kind, public=PUBLIC, **ROLES[kind] | changes)
