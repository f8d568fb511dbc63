"""What the calls take that the tables of bad inputs change in one place."""

import math
from dataclasses import replace

import geopandas as gpd
import networkx as nx
import numpy as np
import pandas as pd
from shapely.geometry import Polygon, box

import reident
from reident.methods import Entry

NAN, INF = math.nan, math.inf
TABLE = pd.DataFrame({
    "age": [30, 31, 40, 41, 50, 51], "sex": list("mfmfmf"), "pay": [1.0, 2.0, 3.0, 5.0, 8.0, 13.0],
    "tax": [2.0, 1.0, 4.0, 3.0, 6.0, 5.0], "same": [7.0] * 6, "gap": [1.0, NAN, 3.0, 4.0, 5.0, 6.0],
    "ill": list("abcabc"),
})  # fmt: skip
MANY = pd.DataFrame({"age": range(24), "sex": list("mf") * 12, "pay": np.arange(24.0)})
TWICE = pd.DataFrame([[1, 2]], columns=["age", "age"])
D = np.abs(np.subtract.outer([0.0, 1.0, 3.0, 7.0], [0.0, 1.0, 3.0, 7.0]))
LAT, LON = [49.1, 49.2, 49.3, 49.4], [8.1, 8.5, 8.2, 8.9]
AREA = box(8, 49, 9, 50)
BOWTIE = Polygon([(8, 49), (9, 50), (9, 49), (8, 50)])
POINTS = gpd.GeoDataFrame(geometry=gpd.points_from_xy(LON, LAT), crs=4326)
PLACES = pd.DataFrame({"lat_deg": LAT, "lon_deg": LON, "sex": list("mfmf")})
GRAPH = nx.relabel_nodes(nx.karate_club_graph(), {i: f"n{i}" for i in range(34)})
DIRECTED = nx.DiGraph([(0, 1), (1, 2)])
LOOPED = nx.Graph([(0, 1), (1, 1)])
DOUBLED = nx.MultiGraph([(0, 1), (0, 1)])
MICRO = (PLACES[["sex"]], D)
AGES = reident.tables.Hierarchy.from_intervals(TABLE["age"], [10])
TRIALS = pd.DataFrame({"sigma": [1, 1, 2, 2], "risk": [0.5, 0.6, 0.2, 0.3], "use": [0.9, 0.8, 0.5, 0.6]})
RU = reident.ru_frame(TRIALS, method="m", parameter="sigma", risk="risk", utility="use", attack="a", analysis="b")
MEASURE = reident.tables.FuzzyMeasure.from_weights({"pay": 0.5, "tax": 0.5})
PLAN = reident.networks.coalition(GRAPH, ["n0", "n1", "n2"])
PRODUCT = reident.places.compatibility_graph([1, 1, 1, 1], D, [1, 1, 1, 1], D, window_km=(-0.5, 0.5))
EMPTY_BUDGET = reident.queries.Budget(1)
EMPTY_BUDGET.spend(1, "all of it")
LINKS = pd.DataFrame({"release": [0, 1, 2, 3], "known": [0, 1, 2, 3]})
RATED = pd.DataFrame({"user": [0, 1, 2], "item": [0, 0, 1], "stars": [3, 4, 3], "day": [5, 6, 7]})
RATINGS = reident.tables.Ratings.from_table(RATED)
RASTER = POINTS.assign(persons_per_km2=1.0)
MASK = Entry("bad mask", "anonymiser", "places", lambda points: points, "points", source="a test", label="none")
BAD_MASK = replace(MASK, target=lambda points, radius: points)
FAR, WIDE = np.linspace(8, 9, 200_000), np.linspace(8, 9, 40_000)
ALIKE, LINE = np.zeros(1000, dtype=int), np.abs(np.subtract.outer(np.arange(1000.0), np.arange(1000.0)))
