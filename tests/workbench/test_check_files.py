import re
import sqlite3

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import reident as rd
from commands import checked as run
from reident.base import DataError, ParameterError
from reident.places.points import read_places


@pytest.fixture
def metres(tmp_path):
    """Patients with places in metres, UTM zone 32, and a release of them moved by some 20 km in degrees."""
    from pyproj import Transformer

    rng = np.random.default_rng(3)
    n = 120
    lat, lon = rng.uniform(48, 49, n), rng.uniform(9, 11, n)
    persons = pd.DataFrame({"nr": np.arange(n), "sex": rng.choice(["f", "m"], n)})
    made = {}
    for name, system in (("utm32", "EPSG:25832"), ("utm33", "EPSG:25833"), ("degrees", "EPSG:4326")):
        to = Transformer.from_crs("EPSG:4326", system, always_xy=True)
        for which, dy, dx in (("true", 0, 0), ("moved", rng.normal(0, 1e-3, n), rng.normal(0, 1e-3, n))):
            east, north = to.transform(lon + dx, lat + dy)
            made[f"{which} {name}"] = tmp_path / f"{which}-{name}.csv"
            digits = 5 if name == "degrees" else 1
            table = persons.assign(Hochwert=np.round(north, digits), Rechtswert=np.round(east, digits))
            table.iloc[rng.permutation(n)].to_csv(made[f"{which} {name}"], index=False)
    return made


@pytest.mark.parametrize("shown", ["utm32", "utm33", "degrees"])
def test_places_in_metres_are_attacked_in_any_system(metres, shown):
    named = ["--lat", "Hochwert", "--lon", "Rechtswert", "--id", "nr", "--crs", "EPSG:25832"]
    systems = {"utm32": [], "utm33": ["--release-crs", "EPSG:25833"], "degrees": ["--release-crs", "EPSG:4326"]}
    against = ["--against", metres["true utm32"]]
    found = run(metres[f"moved {shown}"], *against, *named, *systems[shown])
    assert found.exit_code == 3, found.output
    nearest = next(line for line in found.output.splitlines() if line.startswith("  nearest_place"))
    assert float(nearest.split("limit: ")[1].split("%")[0]) > 90
    true = pd.read_csv(metres["true utm32"]).set_index("nr")
    moved = pd.read_csv(metres["moved utm32"]).set_index("nr").loc[true.index]
    gaps = np.hypot(*(true[[name]].to_numpy() - moved[[name]].to_numpy().T for name in ("Hochwert", "Rechtswert")))
    assert float(nearest.split("limit: ")[1].split("%")[0]) >= 100 * (gaps.argmin(axis=1) == np.arange(120)).mean() - 3


def test_a_wrong_reference_system_is_said_in_a_sentence(metres):
    named = ["--against", metres["true utm32"], "--lat", "Hochwert", "--lon", "Rechtswert"]
    for options, said in (
        (["--crs", "EPSG:99999"], "`crs` must name a coordinate system, such as EPSG:25832, got 'EPSG:99999'"),
        (["--crs", "utm"], "`crs` must name a coordinate system"),
        (["--crs", "EPSG:25832", "--release-crs", "x"], "`release_crs` must name a coordinate system"),
        (["--crs", "EPSG:27700"], "hold no places in EPSG:27700: is it that, and are north and east not interchanged?"),
        ([], "hold no degrees: for metres a CRS must be named"),
    ):
        with pytest.raises((DataError, ParameterError), match=re.escape(said)):
            raise run(metres["moved utm32"], *named, *options, "--id", "nr").exception
    with pytest.raises(DataError, match=r"in the release `lat` and `lon`.*--release-crs EPSG"):
        raise run(metres["moved degrees"], *named, "--crs", "EPSG:25832", "--id", "nr").exception
    with pytest.raises(ParameterError, match="`crs` must come with `lat` and `lon`"):
        raise run(metres["moved utm32"], *named[:2], "--quasi", "sex", "--crs", "EPSG:25832").exception
    told = run(metres["moved utm32"], *named[:2], "--quasi", "sex", "--id", "nr")
    assert "--lat Hochwert --lon Rechtswert --crs EPSG:... lets them be attacked" in told.output


def test_a_geographic_file_without_its_system_is_read_as_told(metres, tmp_path):
    for which in ("true", "moved"):
        table = pd.read_csv(metres[f"{which} utm32"])
        points = gpd.points_from_xy(table["Rechtswert"], table["Hochwert"])
        gpd.GeoDataFrame(table[["nr", "sex"]], geometry=points, crs=25832).to_file(tmp_path / f"{which}.shp")
        (tmp_path / f"{which}.prj").unlink()
    found = run(tmp_path / "moved.shp", "--against", tmp_path / "true.shp", "--crs", "EPSG:25832", "--id", "nr")
    assert found.exit_code == 3, found.output
    assert "nearest_place          above the limit" in found.output


def test_a_release_in_another_system_than_the_original_is_read_by_its_own(tmp_path):
    rng = np.random.default_rng(2)
    sex, order = rng.choice(list("fm"), 200), rng.permutation(200)
    true = gpd.points_from_xy(rng.uniform(8, 9, 200), rng.uniform(50, 51, 200), crs="EPSG:4326")
    original = gpd.GeoDataFrame({"sex": sex}, geometry=true)
    original.to_file(tmp_path / "o.gpkg")
    original.iloc[order].to_crs("EPSG:25832").to_file(tmp_path / "r.gpkg")
    verdict = rd.check(tmp_path / "r.gpkg", rd.open_dataset(tmp_path / "o.gpkg"), order, attacks=["nearest_place"])
    assert "places" in [finding.subject for finding in verdict.findings]
    text = original[["sex"]].assign(geometry=original.geometry.to_wkt()).iloc[order]
    verdict = rd.check(pd.DataFrame(text), original, order, quasi="sex", attacks=["exact_join"])
    assert any("holds places" in finding.problem for finding in verdict.findings)


def test_an_index_of_a_parquet_file_is_a_column(tmp_path):
    people = pd.DataFrame({"sex": list("fm") * 50, "nr": np.arange(100) * 7})
    order = np.random.default_rng(0).permutation(100)
    people[["sex"]].set_axis(people["nr"].to_numpy()).iloc[order].to_parquet(tmp_path / "r.parquet")
    verdict = rd.check(tmp_path / "r.parquet", people, order, quasi="sex", attacks=["exact_join"])
    assert "index" in [finding.subject for finding in verdict.findings]


def test_cells_are_rewritten_into_a_new_file_of_a_kind_that_holds_nothing_else(tmp_path):
    people = pd.DataFrame({"sex": list("fm") * 50})
    people.to_csv(tmp_path / "o.csv", index=False)
    common = [tmp_path / "o.csv", "--against", tmp_path / "o.csv", "--quasi", "sex", "--rewrite"]
    for name in ("o.csv", "r.doc"):
        with pytest.raises(DataError, match="`rewrite` must"):
            raise run(*common, tmp_path / name).exception
    with pytest.raises(DataError, match="without a geometry"):
        raise run(*common, tmp_path / "r.gpkg").exception


def test_a_geometry_that_the_original_lacks_is_undeclared():
    people = pd.DataFrame({"sex": list("fm") * 50, "age": np.arange(100)})
    points = gpd.points_from_xy(np.linspace(8, 9, 100), np.linspace(50, 51, 100), crs="EPSG:4326")
    order = np.random.default_rng(0).permutation(100)
    shown = gpd.GeoDataFrame(people[["sex"]], geometry=points).iloc[order]
    verdict = rd.check(shown, people, order, quasi=["sex", "age"])
    assert [finding.subject for finding in verdict.findings] == ["geometry"]


def test_cells_of_places_are_sent_back_to_the_geometry():
    sex, points = list("fm") * 50, gpd.points_from_xy(np.linspace(8, 9, 100), np.linspace(50, 51, 100), crs="EPSG:4326")
    people, order = gpd.GeoDataFrame({"sex": sex}, geometry=points), np.random.default_rng(0).permutation(100)
    far = gpd.points_from_xy(points.x + 0.3, points.y[::-1])
    cells = pd.DataFrame({"sex": sex, "lat": far.y, "lon": far.x}).iloc[order]
    refused = rd.check(cells, people, order, quasi=["sex"])
    remedies = {finding.subject: finding.remedy for finding in refused.findings}
    assert {"lat", "lon"} <= remedies.keys()
    assert all("geometry" in remedies[name] for name in ("lat", "lon"))
    followed = rd.check(
        gpd.GeoDataFrame(cells[["sex"]], geometry=far[order], crs="EPSG:4326"), people, order, quasi=["sex"]
    )
    assert not {"lat", "lon", "geometry"} & {finding.subject for finding in followed.findings}


def test_shapes_that_are_no_points_name_what_gives_points():
    shapes = {"centroid": shapely.box(8, 50, 9, 51), "explode": shapely.MultiPoint([(8, 50), (9, 51)])}
    for remedy, shape in shapes.items():
        frame = gpd.GeoDataFrame({"sex": ["f"]}, geometry=[shape], crs="EPSG:25832")
        with pytest.raises(DataError, match=f"`{remedy}`"):
            read_places(frame)
        points = frame.explode() if remedy == "explode" else frame.set_geometry(frame.centroid)
        assert len(read_places(points)[0]) == len(points)


@pytest.mark.parametrize("kind", ["xlsx", "gpkg", "gpkg without places"])
def test_a_release_with_a_further_table_is_refused(tmp_path, kind):
    rng = np.random.default_rng(4)
    people = pd.DataFrame({"sex": rng.choice(list("fm"), 200), "age": rng.integers(1, 99, 200)})
    people["lat"], people["lon"] = rng.uniform(50, 51, 200), rng.uniform(8, 9, 200)
    order = rng.permutation(200)
    shown = people[["sex"]].iloc[order].reset_index(drop=True)
    people.to_csv(tmp_path / "o.csv", index=False)
    path = tmp_path / f"r.{kind[:4]}"
    if kind == "xlsx":
        with pd.ExcelWriter(path) as book:
            shown.to_excel(book, sheet_name="Daten", index=False)
            pd.DataFrame().to_excel(book, sheet_name="Leer", index=False)
    else:
        points = gpd.points_from_xy(rng.uniform(8, 9, 200), rng.uniform(50, 51, 200), crs="EPSG:4326")
        gpd.GeoDataFrame(shown, geometry=points).to_file(path, layer="Daten")
    options = {"quasi": ["sex", "age"], "lat": "lat", "lon": "lon", "attacks": ["exact_join"]}
    assert rd.check(path, tmp_path / "o.csv", order, **options).passed
    more = pd.DataFrame({"age": people["age"][:9]})
    if kind == "xlsx":
        with pd.ExcelWriter(path, mode="a") as book:
            more.to_excel(book, sheet_name="Roh", index=False)
            book.sheets["Roh"].sheet_state = "veryHidden"
    elif kind == "gpkg":
        gpd.GeoDataFrame(more, geometry=points[:9]).to_file(path, layer="Roh")
    else:
        with sqlite3.connect(path) as connection:
            more.to_sql("Roh", connection, index=False)
        connection.close()
    verdict = rd.check(path, tmp_path / "o.csv", order, **options)
    assert not verdict.passed
    assert "holds 2 tables with content, 'Daten', 'Roh'" in verdict.sentence


def test_pairs_that_leave_released_records_out_are_refused(tmp_path):
    """Records without a pair would count as nobody's, and a release of true values would pass."""
    table = pd.DataFrame({"nr": range(60), "age": range(60), "sex": ["f", "m"] * 30})
    release, rows = table[["age", "sex"]], pd.DataFrame({"original_row": range(60), "released_row": range(60)})
    assert rd.check(release, table, rows, quasi=["age", "sex"], attacks=["exact_join"]).status == "refused"
    with pytest.raises(DataError, match="each of the 60 released rows its original row"):
        rd.check(release, table, rows.iloc[:5], quasi=["age", "sex"], attacks=["exact_join"])
    with pytest.raises(DataError, match="must have the same values in both files, got 55 of 60"):
        rd.check(table.assign(nr=table["nr"] + 55), table, "nr", quasi=["age", "sex"], attacks=["exact_join"])


def test_a_network_without_common_names_is_not_judged_by_the_same_order(tmp_path):
    rng = np.random.default_rng(0)
    ends = pd.DataFrame(np.sort(rng.integers(0, 30, (90, 2)), axis=1), columns=["from", "to"]).drop_duplicates()
    ends = ends[ends["from"] != ends["to"]]
    ends.map(lambda node: f"p{node}").to_csv(tmp_path / "original.csv", index=False)
    ends.map(lambda node: f"x{node}").to_csv(tmp_path / "release.csv", index=False)
    done = run(tmp_path / "release.csv", "--against", tmp_path / "original.csv", "--network", "--same-order")
    assert isinstance(done.exception, DataError)
    assert "released nodes its original node" in str(done.exception)
