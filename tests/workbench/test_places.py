import warnings
from dataclasses import replace

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
from shapely import MultiPoint, box

import reident as rd
from commands import call
from judged import protect_into
from reident import DataError, ParameterError
from reident.places import great_circle_pairs_km
from reident.workbench.files import with_places
from reident.workbench.opening import open_file
from reident.workbench.recipe import recipe_of
from samples import drawn


def persons(n=60, seed=0, middle=(40.7, -74.0)):
    lat, lon = (lambda rng, n, at=at: rng.normal(at, 0.1, n).round(5) for at in middle)
    return drawn(n, seed, lat=lat, lon=lon, sex=["f", "m"], age=(20, 80))


def in_geometry(table, crs="EPSG:4326"):
    points = gpd.points_from_xy(table["lon"], table["lat"], crs="EPSG:4326")
    return gpd.GeoDataFrame(table.drop(columns=["lat", "lon"]), geometry=points).to_crs(crs)


@pytest.mark.parametrize(("lat", "lon"), [(231.5, -74.0), (91.5, -74.0), (40.7, 361.0), (np.inf, 0.0)])
def test_an_impossible_place_counts_as_missing_and_is_named(tmp_path, lat, lon):
    table = persons()
    table.loc[7, ["lat", "lon"]] = lat, lon
    with pytest.warns(UserWarning, match=r"1 record\(s\) with an impossible place \(record 8\)"):
        placed = with_places(table, "lat", "lon")
    assert placed[["lat_deg", "lon_deg"]].isna().all(axis=1).tolist() == [i == 7 for i in range(60)]
    path = tmp_path / "persons.csv"
    table.to_csv(path, index=False)
    if np.isinf(lat):
        return
    opened = open_file(path)
    assert any("impossible place, such as record 8" in note for note in opened.notes)
    with pytest.warns(UserWarning, match="impossible place"):
        data = rd.Dataset.of(opened, recipe=recipe_of(opened)).frame
    assert data["lat_deg"].isna().sum() == 1
    with pytest.warns(UserWarning, match="impossible place"):
        made = protect_into(
            table, tmp_path / "release", method="donut", quasi=["sex"], lat="lat", lon="lon",
            options={"inner_m": 100, "outer_m": 2000},
        )  # fmt: skip
    assert len(pd.read_csv(made / "release.csv")) == 59
    with pytest.warns(UserWarning, match="impossible place"):
        verdict = rd.check(made, table, quasi=["sex"], lat="lat", lon="lon", attacks=["nearest_place"], limit=0.25)
    assert len(verdict.persons) == 59


def hints(tmp_path, table, kind="csv"):
    path = tmp_path / f"t.{kind}"
    table.to_csv(path, index=False) if kind == "csv" else in_geometry(table).to_file(path)
    return [note for note in open_file(path).notes if note.startswith(("lat, lon: ", "geometry: "))]


def test_open_says_where_the_places_lie(tmp_path):
    table = persons(120)
    (note,) = hints(tmp_path, table)
    for name, way in (("lat", "north"), ("lon", "east")):
        assert f"{table[name].min():.6g} to {table[name].max():.6g} {way}" in note
    beyond = persons(120, middle=(45.0, -120.0)).rename(columns={"lat": "lon", "lon": "lat"})
    assert "--lat lon --lon lat exchanges them" in hints(tmp_path, beyond)[0]


def test_open_with_exchanged_columns_says_where_the_places_lie_then(tmp_path):
    table = persons(120).rename(columns={"lat": "lon", "lon": "lat"})
    table.to_csv(tmp_path / "t.csv", index=False)
    done = call(tmp_path, "open", "t.csv", "--lat", "lon", "--lon", "lat", code=0)
    assert f"lon, lat: places from {table['lon'].min():.6g} to {table['lon'].max():.6g} north" in done.stdout
    assert "lat, lon: places" not in done.stdout
    alone = call(tmp_path, "open", "t.csv", "--out", "b.yaml", "--lon", "lat")
    assert "`lat` and `lon` must be given together" in alone.stderr


@pytest.mark.parametrize("kind", ["csv", "geojson"])
def test_open_hints_at_odd_places(tmp_path, kind):
    table = persons(120)
    some = table.copy()
    some.loc[:5, ["lat", "lon"]] = table.loc[:5, ["lon", "lat"]].to_numpy()
    _, note = hints(tmp_path, some, kind)
    assert "6 record(s) lie among the others with their two coordinates exchanged" in note
    some = table.copy()
    some.loc[:3, ["lat", "lon"]] = 0.0
    assert hints(tmp_path, some, kind)[1].endswith(": 4 record(s) at 0, 0: perhaps without a place")
    some.loc[:3, "lon"] = 500.0
    assert "4 record(s) with an impossible place, such as record 1" in hints(tmp_path, some, kind)[1]


def test_shapes_and_metres_of_geographic_files(tmp_path):
    points = in_geometry(persons(120))
    metres = points.set_geometry(points.geometry.to_crs("EPSG:32618").set_crs("EPSG:4326", allow_override=True))
    with pytest.raises(DataError, match="most points hold no degrees"):
        with_places(metres, None, None)
    for shapes in (
        points.geometry.map(lambda point: point.buffer(0.1)),
        points.geometry.map(lambda point: MultiPoint([point])),
    ):
        points.set_geometry(shapes).to_file(tmp_path / "a.gpkg")
        opened = open_file(tmp_path / "a.gpkg")
        if shapes.geom_type[0] == "MultiPoint":
            assert (opened.data.geometry.geom_type == "Point").all()
            assert "120 shapes of one point each are read as points" in opened.receipts
        else:
            assert any("holds Polygon, no points" in note for note in opened.notes)


@pytest.mark.parametrize("mask", ["donut", "grid", "swap", "laplace", "rigid"])
@pytest.mark.parametrize("geographic", [False, True])
@pytest.mark.parametrize("high", [180, 360])
def test_longitudes_stay_in_the_range_of_the_file(mask, geographic, high):
    rng = np.random.default_rng(0)
    lon = (rng.uniform(179.9, 180.1, 200) + 180) % 360 - 180
    table = pd.DataFrame({"lat_deg": rng.uniform(-17.1, -16.9, 200), "lon_deg": lon if high == 180 else lon % 360})
    points = table
    if geographic:
        points = gpd.GeoDataFrame(geometry=gpd.points_from_xy(table["lon_deg"], table["lat_deg"], crs="EPSG:4326"))
    after = {
        "donut": lambda: rd.places.mask_donut(points, inner_m=1000, outer_m=20_000, rng=1),
        "grid": lambda: rd.places.mask_grid(points, cell_m=5000),
        "swap": lambda: rd.places.swap_locations(points, points, inner_m=1, outer_m=50_000, rng=1),
        "laplace": lambda: rd.places.mask_planar_laplace(points, epsilon_per_km=0.2, rng=1),
        "rigid": lambda: rd.places.move_rigidly(points, shift_m=30_000, rng=1),
    }[mask]()
    east = after.geometry.x if geographic else after["lon_deg"]
    north = after.geometry.y if geographic else after["lat_deg"]
    assert high - 360 <= east.min()
    assert east.max() <= high
    moved = great_circle_pairs_km(table["lat_deg"], table["lon_deg"], north.to_numpy(), east.to_numpy())
    assert moved.max() < 100


def test_everybody_at_a_pole_is_in_one_cell():
    pole = pd.DataFrame({"lat_deg": [90.0] * 4 + [-90.0] * 4, "lon_deg": [0.0, 90.0, 179.0, -91.0] * 2})
    after = rd.places.mask_grid(pole, cell_m=2000, min_count=4)
    assert len(after) == 8
    assert len(after.drop_duplicates()) == 2
    drawn = rd.places.mask_donut(pole, inner_m=500, outer_m=5000, rng=1)
    assert drawn["lon_deg"].between(-180, 180).all()


@pytest.mark.parametrize("crs", ["EPSG:3857", "EPSG:25833", "EPSG:3035", "EPSG:4326"])
def test_a_grid_cell_has_its_length_on_the_ground(crs):
    table = persons(400, middle=(69.6, 18.9))
    points = in_geometry(table, crs)
    after = rd.places.mask_grid(points, cell_m=2000)
    lat, lon = (np.asarray(one) for one in (after.geometry.to_crs(4326).y, after.geometry.to_crs(4326).x))
    moved_m = 1000 * great_circle_pairs_km(table["lat"], table["lon"], lat, lon)
    assert 0.9 * 1414 < moved_m.max() < 1.06 * 1414


@pytest.mark.parametrize("crs", ["EPSG:4978", "EPSG:5773", "IAU_2015:30100", 'LOCAL_CS["site"]', "EPSG:999999"])
def test_a_crs_that_is_not_of_the_earths_surface_is_refused(crs):
    with pytest.raises(ParameterError, match="`crs` must"):
        with_places(persons(), "lat", "lon", crs)


COUNTIES = gpd.GeoDataFrame(geometry=[box(-74.2, 40.5, -74.0, 40.9), box(-74.0, 40.5, -73.8, 40.9)], crs="EPSG:4326")
TOWNS = pd.DataFrame({"lat_deg": [40.6, 40.8], "lon_deg": [-74.1, -73.9], "persons_per_km2": [900.0, 400.0]})


@pytest.mark.parametrize("mask", ["disc", "donut", "population", "grid", "swap", "dhs", "laplace"])
@pytest.mark.parametrize("crs", [None, "EPSG:32618"])
def test_every_mask_stays_within_its_container(mask, crs):
    table = persons(300)
    inside = table["lat"].between(40.5, 40.9) & table["lon"].between(-74.2, -73.8)
    table = pd.concat([table[inside], pd.DataFrame({"sex": ["f"], "age": [30], "lat": [41.5], "lon": [-74.0]})])
    table = table.reset_index(drop=True)
    points = table.rename(columns={"lat": "lat_deg", "lon": "lon_deg"}) if crs is None else in_geometry(table, crs)
    masks = {
        "disc": lambda: rd.places.mask_disc(points, radius_m=20_000, container=COUNTIES, rng=1),
        "donut": lambda: rd.places.mask_donut(points, inner_m=500, outer_m=9000, container=COUNTIES, rng=1),
        "population": lambda: rd.places.mask_population_donut(
            points, TOWNS, k_min=10, k_max=90_000, container=COUNTIES, rng=1
        ),
        "grid": lambda: rd.places.mask_grid(points, cell_m=7000, container=COUNTIES),
        "swap": lambda: rd.places.swap_locations(points, points, inner_m=1, outer_m=9000, container=COUNTIES, rng=1),
        "dhs": lambda: rd.places.mask_dhs(points, areas=COUNTIES, rng=1),
        "laplace": lambda: rd.places.mask_planar_laplace(points, epsilon_per_km=0.05, container=COUNTIES, rng=1),
    }
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        after = masks[mask]()
    n = len(table)
    assert mask == "laplace" or any(f"record {n}" in str(one.message) for one in told)
    if mask in ("dhs", "laplace"):
        after = after.iloc[:-1]
    assert 0.95 * (n - 1) <= len(after) <= n - 1
    places = after.to_crs(4326).geometry if crs else gpd.points_from_xy(after["lon_deg"], after["lat_deg"])
    before = gpd.points_from_xy(table["lon"], table["lat"])
    shapes = COUNTIES.geometry.set_crs(None, allow_override=True).buffer(1e-9)
    for row, place in zip(after.index, places, strict=True):
        if mask == "laplace":
            assert shapes.intersects(place).any()
        else:
            assert shapes[COUNTIES.contains(before[row])].intersects(place).all()


@pytest.mark.parametrize("kind", ["csv", "gpkg"])
def test_impossible_places_are_refused_on_the_command_line_and_by_a_recipe(tmp_path, kind):
    table = persons()
    table.loc[7, "lat"] = 91.5
    if kind == "csv":
        table.to_csv(tmp_path / "p.csv", index=False)
        places = ["--lat", "lat", "--lon", "lon"]
    else:
        points = gpd.points_from_xy(table["lon"], table["lat"], crs="EPSG:4326")
        gpd.GeoDataFrame(table[["sex"]], geometry=points).to_file(tmp_path / "p.gpkg")
        places = []
    common = ["protect", f"p.{kind}", "--method", "donut", "--set", "outer_m=2000", "--quasi", "sex", *places]
    done = call(tmp_path, *common, "--impossible", "refuse", "--out", "a")
    assert (done.returncode, "impossible place (record 8)" in done.stderr) == (2, True)
    assert call(tmp_path, *common, "--out", "b").returncode == 0
    if kind == "csv":
        recipe = recipe_of(open_file(tmp_path / "p.csv"), "p.csv")
        path = replace(recipe, impossible="refuse").write(tmp_path / "r.yaml")
        with pytest.raises(DataError, match="record 8"):
            _ = rd.open_dataset(tmp_path / "p.csv", recipe=path).frame
