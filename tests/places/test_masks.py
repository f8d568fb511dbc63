import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from shapely import box

import reident as rd
from reident import great_circle_km, perturb_coordinates
from reident.places.displacement import _merged


def homes(n=200, crs=None, seed=0, lat=(49.0, 53.0), lon=(7, 13)):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {"lat_deg": rng.uniform(*lat, n), "lon_deg": rng.uniform(*lon, n), "age": rng.integers(0, 90, n)},
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
    return 1000 * rd.places.great_circle_pairs_km(*degrees(before), *degrees(after))


MASKS = {
    "disc": lambda points, rng: rd.places.mask_disc(points, radius_m=800, rng=rng),
    "donut": lambda points, rng: rd.places.mask_donut(points, inner_m=300, outer_m=800, rng=rng),
    "grid": lambda points, rng: rd.places.mask_grid(points, cell_m=900),
    "swap": lambda points, rng: rd.places.swap_locations(points, points, inner_m=1, outer_m=200_000, rng=rng),
    "rigid": lambda points, rng: rd.places.move_rigidly(points, rng=rng),
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
    after = rd.places.mask_population_donut(points, town, k_min=30, k_max=120, rng=0)
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
    after = rd.places.mask_population_donut(points, empty, k_min=1, k_max=9, rng=0)
    great = rd.places.great_circle_pairs_km
    nearer = great(*degrees(points), np.full(50, 50.0), np.full(50, 7.0)) > great(
        *degrees(points), np.full(50, 50.0), np.full(50, 13.0)
    )
    assert list(after.index) == list(points.index[nearer])


@pytest.mark.parametrize("lat", [(0.0, 0.1), (70.0, 70.1)])
def test_donut_is_isotropic_and_keeps_its_radii(lat):
    # A donut drawn in degrees has a variance ratio of 1 / cos^2 of the latitude: 8.5 at 70 degrees.
    points = homes(20_000, lat=lat)
    after = rd.places.mask_donut(points, inner_m=1000, outer_m=3000, rng=0)
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
    after = rd.places.mask_grid(points, cell_m=50_000, min_count=4)
    cells = pd.Series(list(zip(*np.round(degrees(after), 7), strict=True))).value_counts()
    assert 0 < len(after) < 400
    assert cells.min() >= 4
    assert moved_m(points, after).max() < 50_000 * np.sqrt(0.5) * 1.02
    everyone = rd.places.mask_grid(points, cell_m=50_000)
    rare = pd.Series(list(zip(*np.round(degrees(everyone), 7), strict=True)), index=everyone.index)
    assert set(after.index) == set(rare.index[rare.map(rare.value_counts()) >= 4])


def test_swap_never_returns_the_true_place():
    points = homes(50)
    addresses = homes(300, seed=9)
    after = rd.places.swap_locations(points, addresses, inner_m=100, outer_m=30_000, rng=0)
    assert 0 < len(after) < 50
    assert moved_m(points, after).min() >= 100
    assert moved_m(points, after).max() <= 30_000 + 1e-3
    at_address = set(zip(*degrees(addresses), strict=True))
    assert set(zip(*degrees(after), strict=True)) <= at_address
    # No candidate but the points themselves: all are suppressed.
    assert rd.places.swap_locations(points, points.iloc[:0], outer_m=1000, rng=0).empty
    assert rd.places.swap_locations(points.iloc[:1], points.iloc[:1], inner_m=1, outer_m=1000, rng=0).empty


@pytest.mark.parametrize("reflect", [False, True])
def test_rigid_motion_keeps_every_distance(reflect):
    points = homes(40)
    after = rd.places.move_rigidly(points, shift_m=300_000, reflect=reflect, rng=2)
    np.testing.assert_allclose(great_circle_km(*degrees(after)), great_circle_km(*degrees(points)), atol=1e-6)
    assert moved_m(points, after).max() > 100_000


def test_coordinate_noise_is_normal_and_independent():
    lat, lon = perturb_coordinates(np.full(4000, 50.0), np.full(4000, 9.0), sigma_deg=0.02, rng=1)
    for noise in (lat - 50, lon - 9):
        assert stats.kstest(noise / 0.02, "norm").pvalue > 0.001
    assert abs(np.corrcoef(lat, lon)[0, 1]) < 4 / np.sqrt(4000)


def test_a_point_pushed_over_the_pole_comes_down_on_the_other_side():
    class Push(np.random.Generator):
        """Noise of 3 degrees northward, then none eastward."""

        steps = iter([3.0, 0.0])

        def normal(self, *args, **kws):
            return next(self.steps)

    lat, lon = perturb_coordinates([89.0], [10.0], sigma_deg=1.0, rng=Push(np.random.PCG64(0)))
    assert (lat[0], lon[0]) == pytest.approx((88.0, -170.0))


def test_deviation_window_holds_its_share():
    sample = rd.places.distance_deviation_quantiles(box(6, 47, 15, 55), sigma_deg=0.01, n_pairs=2000, rng=2)
    lo, hi = sample.window_km(0.5)
    assert np.mean((sample.deviations_km > lo) & (sample.deviations_km < hi)) == pytest.approx(0.5, abs=0.001)
    assert sample.window_km(0.9)[0] < lo < 0 < hi < sample.window_km(0.9)[1]
    assert sample.quantiles_km([0.5])[0] == np.median(sample.deviations_km)
    assert sample.variance_km2 == pytest.approx(np.var(sample.deviations_km, ddof=1))


def test_distance_noise_keeps_the_form_of_a_distance_matrix():
    d = great_circle_km([50.0, 51.0, 52.0, 50.0], [9.0, 10.0, 9.5, 9.0])
    released = rd.places.perturb_distances(d, sigma_km=5.0, rng=3)
    assert (released == released.T).all()
    assert (np.diagonal(released) == 0).all()
    assert (released >= 0).all()
    assert (rd.places.perturb_distances(d, sigma_km=0.0) == d).all()


def test_distance_noise_has_the_stated_size_and_window():
    lat, lon = np.random.default_rng(4).uniform([[40], [0]], [[60], [20]], (2, 80))
    d = great_circle_km(lat, lon)
    rows, columns = np.nonzero((d > 100) & (np.arange(80)[:, None] < np.arange(80)))
    noise = (d - rd.places.perturb_distances(d, sigma_km=7.0, rng=5))[rows, columns]
    assert stats.kstest(noise / 7.0, "norm").pvalue > 0.001
    lo, hi = rd.places.distance_noise_window_km(7.0, 0.8)
    assert np.mean((noise > lo) & (noise < hi)) == pytest.approx(0.8, abs=0.03)


def clusters(n):
    return homes(n, lat=(50, 52), lon=(8, 11)).assign(urban=np.random.default_rng(0).random(n) < 0.5)


def test_dhs_moves_as_it_says():
    before = clusters(6000)
    km = moved_m(before, rd.places.mask_dhs(before, urban="urban", rng=1)) / 1000
    urban = before["urban"].to_numpy()
    assert km[urban].max() <= 2 + 1e-6
    assert km[~urban].max() <= 10 + 1e-6
    # One in a hundred rural clusters draws from 10 km, half of those end beyond 5 km: five standard errors.
    far, n = (km[~urban] > 5).sum(), (~urban).sum()
    assert abs(far - 0.005 * n) < 5 * np.sqrt(0.005 * n)
    # Uniform distance, not uniform over the surface: half move less than half of the most.
    assert abs((km[urban] < 1).mean() - 0.5) < 5 * 0.5 / np.sqrt(urban.sum())


def test_dhs_stays_in_its_district():
    before = clusters(300)
    districts = gpd.GeoSeries([box(8 + i / 20, 50, 8 + (i + 1) / 20, 52) for i in range(60)], crs=4326)
    after = rd.places.mask_dhs(before, urban="urban", areas=districts, rng=2)
    assert (np.floor(before["lon_deg"] * 20 + 1e-9) == np.floor(after["lon_deg"] * 20 + 1e-9)).all()
    assert moved_m(before, after).mean() > 500


def test_planar_laplace_has_the_density_that_its_guarantee_needs():
    # Gamma(2, 1 / epsilon): mean 2 / epsilon, variance 2 / epsilon^2; five standard errors.
    before = pd.DataFrame({"lat_deg": np.full(20_000, 51.0), "lon_deg": 9.0})
    after = rd.places.mask_planar_laplace(before, epsilon_per_km=0.5, rng=3)
    km = moved_m(before, after) / 1000
    assert abs(km.mean() - 4) < 5 * np.sqrt(8 / km.size)
    # The ratio of densities at one released place, of true places d apart, stays below exp(epsilon d): in rings.
    counts, edges = np.histogram(km, np.arange(0, 16, 1.0))
    surface = np.pi * np.diff(edges**2)
    density = counts / surface
    for i in range(14):
        for j in range(i + 1, 15):
            # Any place of ring i and any of ring j are at least j - i - 1 and at most j - i + 1 apart in distance.
            slack = 1 + 5 * np.sqrt(1 / max(counts[i], 1) + 1 / max(counts[j], 1))
            assert density[i] <= density[j] * np.exp(0.5 * (j - i + 1)) * slack
    east = (after["lon_deg"] - 9) * np.cos(np.radians(51))
    assert abs(east.var() / (after["lat_deg"] - 51).var() - 1) < 0.1  # no preferred direction


def test_merged_areas_have_enough_inhabitants():
    rng = np.random.default_rng(0)
    cells = [box(8 + i / 4, 50 + j / 4, 8 + (i + 1) / 4, 50 + (j + 1) / 4) for i in range(12) for j in range(8)]
    areas = gpd.GeoDataFrame({"persons": rng.integers(0, 60, 96)}, geometry=cells, crs=4326)
    merged = _merged(np.array(cells), areas["persons"].to_numpy(float), 100)
    sizes = areas["persons"].groupby(merged).sum()
    assert sizes.min() >= 100
    assert sizes.sum() == areas["persons"].sum()
    before = clusters(200)
    before.loc[before.index[0], "lat_deg"] = 60.0
    with pytest.warns(UserWarning, match=r"1 record\(s\) lie outside `areas` and are left out \(record 1\)"):
        after = rd.places.mask_areal_elimination(before, areas, population="persons", k=100, rng=1)
    assert list(after.index) == list(before.index[1:])  # a point in no area is left out
    column, row = ((f["lon_deg"].to_numpy() - 8) * 4 for f in (before.loc[after.index], after))
    where = [
        merged[(np.floor((f["lon_deg"] - 8) * 4) * 8 + np.floor((f["lat_deg"] - 50) * 4)).astype(int)]
        for f in (before.loc[after.index], after)
    ]
    assert (where[0] == where[1]).all()
    assert not np.allclose(column, row)


def test_an_island_goes_to_its_nearest_area():
    cells = np.array([box(0, 0, 1, 1), box(1, 0, 2, 1), box(5, 0, 6, 1)])
    merged = _merged(cells, np.array([10.0, 10.0, 1.0]), 5)
    assert merged[2] == merged[1] != merged[0]
