import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

from reident import great_circle_km
from reident.places import (
    great_circle_pairs_km,
    mask_disc,
    mask_donut,
    mask_grid,
    mask_population_donut,
    move_rigidly,
    swap_locations,
)


def homes(n=200, crs=None, seed=0, lat=(49.0, 53.0)):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {"lat_deg": rng.uniform(*lat, n), "lon_deg": rng.uniform(7, 13, n), "age": rng.integers(0, 90, n)},
        index=pd.Index([f"p{i}" for i in rng.permutation(n)], name="person"),
    )
    if crs is None:
        return table
    points = gpd.points_from_xy(table.pop("lon_deg"), table.pop("lat_deg"), crs="EPSG:4326")
    return gpd.GeoDataFrame(table, geometry=points).rename_geometry("home").to_crs(crs)


def degrees(points):
    if isinstance(points, gpd.GeoDataFrame):
        places = points.geometry.to_crs("EPSG:4326")
        return places.y.to_numpy(), places.x.to_numpy()
    return points["lat_deg"].to_numpy(), points["lon_deg"].to_numpy()


def moved_m(before, after):
    before = before.loc[after.index]
    return 1000 * great_circle_pairs_km(*degrees(before), *degrees(after))


MASKS = {
    "disc": lambda points, rng: mask_disc(points, radius_m=800, rng=rng),
    "donut": lambda points, rng: mask_donut(points, inner_m=300, outer_m=800, rng=rng),
    "grid": lambda points, rng: mask_grid(points, cell_m=900),
    "swap": lambda points, rng: swap_locations(points, points, inner_m=1, outer_m=200_000, rng=rng),
    "rigid": lambda points, rng: move_rigidly(points, rng=rng),
}


@pytest.mark.parametrize("crs", [None, "EPSG:4326", "EPSG:25832"])
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_same_kind_of_table_comes_back_and_the_input_stays(mask, crs):
    points = homes(crs=crs)
    before = points.copy()
    after = mask(points, 3)
    pd.testing.assert_frame_equal(pd.DataFrame(points), pd.DataFrame(before))
    assert type(after) is type(points)
    assert list(after.columns) == list(points.columns)
    pd.testing.assert_index_equal(after.index, points.index)
    pd.testing.assert_series_equal(after["age"], points["age"])
    if crs is not None:
        assert after.crs == points.crs
        assert after.geometry.name == "home"
    assert not after.attrs
    assert (moved_m(points, after) > 0).all()
    again = mask(points, 3)
    pd.testing.assert_frame_equal(pd.DataFrame(after), pd.DataFrame(again))


def test_population_donut_holds_the_persons_it_says():
    # An even population, point by point: the naive count of those nearer to the true place than the released one is.
    points = homes(400, lat=(50.0, 50.1))
    town = pd.DataFrame({"lat_deg": [50.0, 50.0], "lon_deg": [7.0, 13.0], "persons_per_km2": [2000.0, 20.0]})
    after = mask_population_donut(points, town, k_min=30, k_max=120, rng=0)
    dense = points["lon_deg"].to_numpy() < 10
    persons = np.pi * (moved_m(points, after) / 1000) ** 2 * np.where(dense, 2000.0, 20.0)
    assert persons.min() >= 30 * (1 - 1e-6)
    assert persons.max() <= 120 * (1 + 1e-6)
    # Uniform over the ring's surface: as many in each quarter of it, in town and in the country. Level 1e-6.
    counts = np.histogram(persons[dense], bins=np.linspace(30, 120, 5))[0]
    assert (abs(counts - dense.sum() / 4) < 5 * np.sqrt(dense.sum() * 3 / 16)).all()


def test_population_donut_suppresses_where_nobody_lives():
    points = homes(50)
    empty = pd.DataFrame({"lat_deg": [50.0, 50.0], "lon_deg": [7.0, 13.0], "persons_per_km2": [0.0, 20.0]})
    after = mask_population_donut(points, empty, k_min=1, k_max=9, rng=0)
    great = great_circle_pairs_km
    nearer = great(*degrees(points), np.full(50, 50.0), np.full(50, 7.0)) > great(
        *degrees(points), np.full(50, 50.0), np.full(50, 13.0)
    )
    assert list(after.index) == list(points.index[nearer])


@pytest.mark.parametrize("lat", [(0.0, 0.1), (70.0, 70.1)])
def test_donut_is_isotropic_and_keeps_its_radii(lat):
    # A donut drawn in degrees has a variance ratio of 1 / cos^2 of the latitude: 8.5 at 70 degrees.
    points = homes(20_000, lat=lat)
    after = mask_donut(points, inner_m=1000, outer_m=3000, rng=0)
    distance = moved_m(points, after)
    assert distance.min() > 1000 - 1e-3
    assert distance.max() < 3000 + 1e-3
    north = (after["lat_deg"] - points["lat_deg"]) * 111_194.9
    east = (after["lon_deg"] - points["lon_deg"]) * 111_194.9 * np.cos(np.radians(points["lat_deg"]))
    # Five standard errors of a variance ratio from 20,000 draws (kurtosis below that of a normal distribution).
    assert abs(east.var() / north.var() - 1) < 5 * 2 / np.sqrt(20_000)
    assert abs(north.mean()) < 5 * north.std() / np.sqrt(20_000)
    # Uniform over the surface: half of it lies beyond the radius whose square is halfway.
    assert abs((distance > np.sqrt((1 + 9) / 2) * 1000).mean() - 0.5) < 5 * 0.5 / np.sqrt(20_000)


@pytest.mark.parametrize("crs", [None, "EPSG:25832"])
def test_grid_moves_to_centres_and_suppresses_rare_cells(crs):
    points = homes(400, crs=crs)
    after = mask_grid(points, cell_m=50_000, min_count=4)
    cells = pd.Series(list(zip(*np.round(degrees(after), 7), strict=True))).value_counts()
    assert 0 < len(after) < 400
    assert cells.min() >= 4
    assert moved_m(points, after).max() < 50_000 * np.sqrt(0.5) * 1.02
    everyone = mask_grid(points, cell_m=50_000)
    rare = pd.Series(list(zip(*np.round(degrees(everyone), 7), strict=True)), index=everyone.index)
    assert set(after.index) == set(rare.index[rare.map(rare.value_counts()) >= 4])


def test_swap_never_returns_the_true_place():
    points = homes(50)
    addresses = homes(300, seed=9)
    after = swap_locations(points, addresses, inner_m=100, outer_m=30_000, rng=0)
    assert 0 < len(after) < 50
    assert moved_m(points, after).min() >= 100
    assert moved_m(points, after).max() <= 30_000 + 1e-3
    at_address = set(zip(*degrees(addresses), strict=True))
    assert set(zip(*degrees(after), strict=True)) <= at_address
    # No candidate but the points themselves: all are suppressed.
    assert swap_locations(points, points.iloc[:0], outer_m=1000, rng=0).empty
    assert swap_locations(points.iloc[:1], points.iloc[:1], inner_m=1, outer_m=1000, rng=0).empty


@pytest.mark.parametrize("reflect", [False, True])
def test_rigid_motion_keeps_every_distance(reflect):
    points = homes(40)
    after = move_rigidly(points, shift_m=300_000, reflect=reflect, rng=2)
    np.testing.assert_allclose(great_circle_km(*degrees(after)), great_circle_km(*degrees(points)), atol=1e-6)
    assert moved_m(points, after).max() > 100_000
