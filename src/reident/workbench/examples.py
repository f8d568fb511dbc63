"""Simulate small data to explore with."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd

from reident.base import RNGLike, check_integer, check_rng
from reident.data.datasets import load_census_shares, load_places
from reident.data.simulate import population
from reident.networks.graph import Network, as_network
from reident.places.distances import great_circle_km


def example_places(n: int = 400, *, rng: RNGLike = 0) -> pd.DataFrame:
    """Return simulated persons in Germany: sex, age class, ``lat_deg``, ``lon_deg``; homes near real places."""
    n = check_integer(n, "n", low=1)
    return population(load_places("germany"), n, jitter_km=5.0, shares=load_census_shares(), rng=check_rng(rng))


def example_patients(n: int = 400, *, rng: RNGLike = 0) -> pd.DataFrame:
    """Return simulated patients in England: number, sex, age, hospital, diagnosis, ``lat_deg``, ``lon_deg``.

    Homes are near real towns; the hospital is that of the nearest of the largest ones.
    """
    n = check_integer(n, "n", low=1)
    generator = check_rng(rng)
    towns = load_places("england")
    people = population(towns, n, jitter_km=3.0, shares=load_census_shares(), rng=generator)
    largest = towns.nlargest(12, "population")
    ends = [np.concatenate([people[name], largest[name]]) for name in ("lat_deg", "lon_deg")]
    nearest = great_circle_km(*ends)[:n, n:].argmin(axis=1)
    return pd.DataFrame(
        {
            "patient_id": 10_000 + generator.permutation(n),
            "sex": people["sex"],
            "age": generator.integers(18, 95, n),
            "hospital": largest["name"].to_numpy()[nearest],
            "diagnosis": generator.choice(["asthma", "diabetes", "heart failure", "stroke"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "lat_deg": people["lat_deg"].round(5),
            "lon_deg": people["lon_deg"].round(5),
        }
    )


def example_network(n: int = 60, *, rng: RNGLike = 0) -> Network:
    """Return simulated friendships: few persons have many friends, and friends of friends are often friends."""
    n = check_integer(n, "n", low=4)
    return as_network(nx.powerlaw_cluster_graph(n, 3, 0.4, seed=check_rng(rng)))


def example_table(n: int = 600, *, rng: RNGLike = 0) -> pd.DataFrame:
    """Return simulated employees: age, years of school, hours, pay (all related), sector, and an illness."""
    n = check_integer(n, "n", low=1)
    generator = check_rng(rng)
    age = generator.integers(18, 68, n)
    school = np.clip(np.round(generator.normal(12, 2.5, n)), 6, 20).astype(int)
    hours = np.clip(np.round(generator.normal(37, 8, n)), 4, 70).astype(int)
    growth = 0.015 * (age - 18) + 0.08 * (school - 12) + 0.02 * (hours - 37)
    return pd.DataFrame(
        {
            "age": age,
            "school": school,
            "hours": hours,
            "pay": np.round(np.exp(10 + growth + generator.normal(0, 0.3, n)), -2),
            "sector": generator.choice(["industry", "trade", "health", "state"], n, p=[0.3, 0.3, 0.2, 0.2]),
            "illness": generator.choice(["none", "back", "heart", "cancer"], n, p=[0.6, 0.25, 0.1, 0.05]),
        }
    )
