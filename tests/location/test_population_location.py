import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
from shapely.geometry import Polygon

from reident import great_circle_km
from reident.location import locate_by_population
from reident.location import spherical_mds as shapes
from reident.location.population_density import PopulationDensity
from reident.location.population_location import chance_by_others, chance_of_agreement
from reident.location.spherical_mds import fit_shape, gaps_km, procrustes
from reident.places import great_circle_pairs_km
from reident.places.points import unit_vectors

COUNTRY = Polygon([(5, 47), (13, 46), (14, 50), (10, 51), (9, 54), (6, 53), (7, 50)])


def towns(n=80, seed=0, area=COUNTRY):
    rng = np.random.default_rng(seed)
    west, south, east, north = area.bounds
    lat, lon = rng.uniform(south, north, 20 * n), rng.uniform(west, east, 20 * n)
    inside = np.flatnonzero([area.contains(point) for point in points(lat, lon)])[:n]
    return pd.DataFrame({"lat_deg": lat[inside], "lon_deg": lon[inside], "population": rng.pareto(1.1, n) + 0.3})


def points(lat, lon):
    from shapely.geometry import Point

    return [Point(x, y) for x, y in zip(lon, lat, strict=True)]


def people(places, n, seed=1, scatter_km=8.0):
    rng = np.random.default_rng(seed)
    homes = places.sample(n, replace=True, weights="population", random_state=seed)[["lat_deg", "lon_deg"]]
    homes = homes + rng.normal(0, scatter_km / 111, (n, 2)) / np.column_stack(
        [np.ones(n), np.cos(np.radians(homes["lat_deg"]))]
    )
    return homes.set_axis([f"r{i}" for i in range(n)])


def distances(homes):
    return great_circle_km(homes["lat_deg"], homes["lon_deg"])


def errors_km(found, homes):
    at = found.positions
    return great_circle_pairs_km(at["lat_deg"], at["lon_deg"], homes["lat_deg"], homes["lon_deg"])


def test_a_list_of_towns_locates_all_records():
    certified = []
    for seed in range(3):
        places = towns(seed=seed)
        homes = people(places, 200, seed + 1)
        found = locate_by_population((homes[[]], distances(homes)), places, COUNTRY)
        assert errors_km(found, homes).max() < 15  # at most 9 in 20 countries, where homes scatter by 8
        certified.append(found.certified().mean())
    assert np.mean(certified) > 0.4  # 0.78 in these 20, from none to all
    assert list(found.positions.index) == list(homes.index)
    assert len(found.links) == 0


@pytest.mark.whole
def test_the_outline_alone_locates_all_records():
    rng = np.random.default_rng(4)
    lat, lon = rng.uniform(46, 54, 1500), rng.uniform(5, 14, 1500)
    inside = [COUNTRY.contains(point) for point in points(lat, lon)]
    homes = pd.DataFrame({"lat_deg": lat[inside], "lon_deg": lon[inside]})
    found = locate_by_population(distances(homes), None, COUNTRY)
    assert np.median(errors_km(found, homes)) < 8


@pytest.mark.slow
def test_people_of_one_town_are_laid_on_a_larger_one_and_not_certified():
    # Small clouds find the densest town in any case: the agreement of their halves is no evidence.
    places = towns()
    for seed, town in enumerate(np.argsort(places["population"])[:4]):
        homes = people(places.iloc[[town]], 60, seed)
        found = locate_by_population(distances(homes), places, COUNTRY, coverage="part" if seed % 2 else "whole")
        wrong = errors_km(found, homes) > 25
        assert (found.certified().to_numpy() & wrong).mean() < 0.05
    assert wrong.all()


def test_the_share_of_wrong_maps_that_agree_is_counted_in_pairs():
    rng = np.random.default_rng(0)
    x = unit_vectors(rng.uniform(48, 54, 9), rng.uniform(7, 12, 9))
    others = [np.stack([np.linalg.qr(rng.normal(0, 0.3, (3, 3)) + np.eye(3))[0] for _ in range(5)]) for _ in range(4)]
    near_km = np.array([0, 20, 300, 1000, 3000, 8000, 12000, 30000, np.inf])
    ref = np.zeros(9)
    for first, second in ((0, 1), (2, 3)):
        for a in others[first]:
            for b in others[second]:
                ref += gaps_km(x @ a.T, x @ b.T) <= near_km
    comp = chance_by_others(x, others, near_km)
    np.testing.assert_allclose(comp, ref / 50)
    assert 0 < comp[4] < 1 == comp[-1]
    still = np.broadcast_to(np.eye(3), (2, 3, 3))
    np.testing.assert_array_equal(chance_by_others(x, [still] * 4, np.zeros(9)), 1)
    np.testing.assert_array_equal(chance_by_others(x, [], near_km), 1)


def test_the_chance_of_agreement_holds_for_maps_at_random():
    # Two places drawn at random on a disc: p <= level in at most a share `level` of cases, at every level.
    rng = np.random.default_rng(0)
    radius, angle = 300 * np.sqrt(rng.random((2, 20_000))), rng.uniform(0, 2 * np.pi, (2, 20_000))
    gap = np.hypot(*np.diff([radius * np.cos(angle), radius * np.sin(angle)], axis=1)[:, 0])
    p = chance_of_agreement(gap, np.pi * 300**2)
    for level in (0.001, 0.01, 0.1, 0.5):
        assert (p <= level).mean() <= level + 4 * np.sqrt(level * (1 - level) / 20_000)
    assert chance_of_agreement(np.array([np.inf, 0.0]), 100.0).tolist() == [1.0, 0.0]
    assert chance_of_agreement(np.array([1.0]), 100 * np.pi, [3]) == pytest.approx(0.03)


def test_the_map_of_homes_is_a_density_inside_the_outline():
    homes = PopulationDensity(towns(), COUNTRY, scatter_km=11.0)
    density = np.exp(homes.log_density(1.0))
    assert density.sum() * homes.cell_km**2 == pytest.approx(1.0, abs=1e-6)
    inside = homes.inside
    assert 0.96 < density[inside].sum() * homes.cell_km**2 < 1
    assert np.ptp(density[~inside]) < 1e-12
    surface = gpd.GeoSeries([COUNTRY.segmentize(0.1)], crs=4326).to_crs(3035).area[0] / 1e6
    assert homes.surface_km2 == pytest.approx(surface, rel=0.01)
    lat, lon = np.array([47.0, 53.0]), np.array([8.0, 8.5])
    there = unit_vectors(lat, lon)
    np.testing.assert_allclose(homes.vectors(homes.cells(there)), there, atol=1e-12)


def lobes():
    """Two regions with an empty gap between them, wider than any sure distance."""
    west = Polygon([(2, 45), (4, 45), (4.5, 47), (2, 47.5)])
    east = Polygon([(10, 48), (12.5, 48.5), (12, 51), (10.5, 50)])
    return west, east


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_parts_that_no_chain_connects_are_laid_one_by_one(seed):
    west, east = lobes()
    places = pd.concat([towns(60, 2 * seed + 1, west), towns(60, 2 * seed + 2, east)], ignore_index=True)
    places["population"] = np.tile(towns(60, 3 + seed)["population"], 2)
    area = west.union(east)
    homes = people(places, 240, seed + 1, scatter_km=6.0)
    d = distances(homes)
    sd = np.where(d < 60, 1.0, 400.0)
    broken = np.where(d < 60, d, 300.0)
    np.fill_diagonal(broken, 0)
    assert len(np.unique(fit_shape(broken, sd).part)) >= 2
    found = locate_by_population(broken, places, area, sd, scatter_km=6.0)
    error_km, part = errors_km(found, homes), found.certificate["map"].to_numpy()
    x, truth = (unit_vectors(at["lat_deg"], at["lon_deg"]) for at in (found.positions, homes))
    # In 6 drawings each part has its shape, and one of 14 lies elsewhere: 0 is the map of all, which is wrong.
    alone = [part == i for i in np.unique(part) if i]
    assert max(np.median(gaps_km(x[i] @ procrustes(x[i], truth[i]).T, truth[i])) for i in alone) < 20
    assert np.median([np.median(error_km[i]) for i in alone]) < 15
    assert (found.certified().to_numpy() & (error_km > 25)).mean() < 0.05


def test_a_chain_stands_in_only_for_a_distance_less_sure_than_itself():
    # Four records in a row, 100 km apart; the long distances are wrong, one of them is said to be sure.
    row = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0))) * 100
    sd = np.where(row <= 100, 1.0, 500.0)
    sd[0, 3] = sd[3, 0] = 20.0
    given = np.where(row <= 100, row, row + 50)
    shape = fit_shape(given, sd)
    assert shape.distances_km[0, 2] == 200  # chained: 10 + .1 * 200 is surer than 500
    assert shape.distances_km[0, 3] == 350  # kept: a chain of 300 km is less sure than 20
    assert not shape.part.any()


def test_missing_distances_are_bridged_by_chains():
    places = towns()
    homes = people(places, 150)
    d = distances(homes)
    gaps = np.triu(np.random.default_rng(0).random(d.shape) < 0.4, 1)
    d[gaps | gaps.T | (d > 300)] = np.nan
    np.fill_diagonal(d, 0)
    found = locate_by_population((homes[[]], d), places, COUNTRY)
    assert np.median(errors_km(found, homes)) < 6
    assert list(found.positions.index) == list(homes.index)


def test_the_map_of_unconnected_parts_certifies_no_record():
    places = towns()
    homes = people(places, 150)
    d = distances(homes)
    d[d > 15] = np.nan
    found = locate_by_population((homes[[]], d), places, COUNTRY)
    whole = found.certificate["map"] == 0
    assert whole.any()
    assert (found.certificate.loc[whole, "p_value"] == 1).all()
    assert (found.certified().to_numpy() & (errors_km(found, homes) > 25)).mean() < 0.05


def test_who_has_no_sure_distance_lies_at_the_nearest_landmark(monkeypatch):
    homes = people(towns(), 60)
    d, sd = distances(homes), np.ones((60, 60))
    sd[5], sd[:, 5] = np.inf, np.inf
    monkeypatch.setattr(shapes, "_MANY", 50)
    monkeypatch.setattr(shapes, "_LANDMARKS", 40)
    found = fit_shape(d, sd)
    assert 5 not in found.fixed
    assert np.isfinite(found.x).all()
    np.testing.assert_allclose(np.linalg.norm(found.x, axis=1), 1)
