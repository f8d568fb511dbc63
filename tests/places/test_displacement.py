import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
from shapely import box

from reident.places import great_circle_pairs_km, mask_areal_elimination, mask_dhs, mask_planar_laplace
from reident.places.displacement import _merged


def homes(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"lat_deg": rng.uniform(50, 52, n), "lon_deg": rng.uniform(8, 11, n), "urban": rng.random(n) < 0.5},
        index=[f"p{i}" for i in range(n)],
    )


def moved_km(before, after):
    before = before.loc[after.index]
    return great_circle_pairs_km(before["lat_deg"], before["lon_deg"], after["lat_deg"], after["lon_deg"])


def test_dhs_moves_as_it_says():
    before = homes(6000)
    km = moved_km(before, mask_dhs(before, urban="urban", rng=1))
    urban = before["urban"].to_numpy()
    assert km[urban].max() <= 2 + 1e-6
    assert km[~urban].max() <= 10 + 1e-6
    # One in a hundred rural clusters draws from 10 km, half of those end beyond 5 km: five standard errors.
    far, n = (km[~urban] > 5).sum(), (~urban).sum()
    assert abs(far - 0.005 * n) < 5 * np.sqrt(0.005 * n)
    # Uniform distance, not uniform over the surface: half move less than half of the most.
    assert abs((km[urban] < 1).mean() - 0.5) < 5 * 0.5 / np.sqrt(urban.sum())


def test_dhs_stays_in_its_district():
    before = homes(300)
    districts = gpd.GeoSeries([box(8 + i / 20, 50, 8 + (i + 1) / 20, 52) for i in range(60)], crs=4326)
    after = mask_dhs(before, urban="urban", areas=districts, rng=2)
    assert (np.floor(before["lon_deg"] * 20 + 1e-9) == np.floor(after["lon_deg"] * 20 + 1e-9)).all()
    assert moved_km(before, after).mean() > 0.5


def test_planar_laplace_has_the_density_that_its_guarantee_needs():
    # Gamma(2, 1 / epsilon): mean 2 / epsilon, variance 2 / epsilon^2; five standard errors.
    before = pd.DataFrame({"lat_deg": np.full(20_000, 51.0), "lon_deg": 9.0})
    after = mask_planar_laplace(before, epsilon_per_km=0.5, rng=3)
    km = moved_km(before, after)
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
    before = homes(200)
    before.loc["p0", "lat_deg"] = 60.0
    with pytest.warns(UserWarning, match=r"1 record\(s\) lie outside `areas` and are left out \(record 1\)"):
        after = mask_areal_elimination(before, areas, population="persons", k=100, rng=1)
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
