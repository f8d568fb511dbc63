import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import reident as rd
from commands import call
from judged import protect_into
from reident.base import ParameterError
from reident.methods import find
from reident.workbench.command_options import set_options


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"sex": rng.choice(["f", "m"], 60), "lat": rng.uniform(50, 51, 60), "lon": 8 + rng.random(60)})
    table.to_csv(folder / "people.csv", index=False)
    table[["sex"]].to_excel(folder / "people.xlsx", index=False)
    east, north = 500_000 + 1000 * rng.random(60), 5_000_000 + 1000 * rng.random(60)
    with pytest.warns(UserWarning, match="'crs' was not provided"):
        gpd.GeoDataFrame(table[["sex"]], geometry=gpd.points_from_xy(east, north)).to_file(folder / "nocrs.gpkg")
    squares = [shapely.box(8 + i / 2, 50, 8.5 + i / 2, 51) for i in range(2)]
    gpd.GeoDataFrame({"n": [100, 200]}, geometry=squares, crs=4326).to_file(folder / "districts.gpkg")
    pd.DataFrame({"u": [0, 1, 2, 3] * 2, "v": [1, 2, 3, 0, 2, 3, 0, 1]}).drop_duplicates().to_csv(
        folder / "friends.csv", index=False
    )
    return folder


def test_a_public_input_is_refused_by_every_function_that_takes_one(folder, tmp_path):
    table = pd.read_csv(folder / "people.csv")
    areas = rd.workbench.open_file(folder / "districts.gpkg").data
    known, places = {"lat": "lat", "lon": "lon"}, table.rename(columns={"lat": "lat_deg", "lon": "lon_deg"})
    with pytest.raises(ParameterError, match="`areas` must be left out"):
        protect_into(table, tmp_path / "r", method="donut", quasi="sex", public={"areas": areas}, **known)
    with pytest.raises(ParameterError, match="`area` must be left out"):
        rd.risk_utility(places, ["disc"], ["nearest_place"], public={"area": areas})
    with pytest.raises(ParameterError, match="`candidates` must be left out"):
        rd.assess(table[["sex"]], quasi="sex", public={"candidates": places}, progress=False)
    with pytest.raises(ParameterError, match="`candidates` must be left out"):
        rd.assess(table, quasi="sex", methods=["disc"], public={"candidates": places}, progress=False, **known)


def test_a_crs_is_that_of_coordinates_or_refused(folder, tmp_path):
    points = rd.workbench.open_file(folder / "nocrs.gpkg").data
    release = protect_into(points, tmp_path / "r", method="donut", quasi="sex", crs="EPSG:32618")
    assert gpd.read_file(release / "release.gpkg").crs == "EPSG:32618"
    with pytest.raises(ParameterError, match="must be that of the file, EPSG:32618"):
        protect_into(points.set_crs("EPSG:32618"), tmp_path / "q", method="donut", quasi="sex", crs="EPSG:3857")
    call(folder, "protect nocrs.gpkg --crs EPSG:32618 --quasi sex --method donut --out", tmp_path / "s", code=0)
    with pytest.raises(ParameterError, match="`crs` must come with `lat` and `lon`"):
        protect_into(pd.DataFrame(points[["sex"]]), tmp_path / "t", method="mondrian", quasi="sex", crs="EPSG:32618")


@pytest.mark.parametrize(
    ("file", "option"),
    [
        ("people.csv", {"sheet": "a"}), ("people.csv", {"layer": "a"}), ("people.xlsx", {"separator": ";"}),
        ("people.xlsx", {"decimal": ","}), ("people.xlsx", {"encoding": "latin-1"}), ("nocrs.gpkg", {"sheet": "a"}),
        ("nocrs.gpkg", {"names": ["a", "b"]}),
    ],
)  # fmt: skip
def test_an_option_about_another_kind_of_file_is_refused(folder, file, option):
    with pytest.raises(ParameterError, match=f"`{next(iter(option))}` must be left out for '{file}'"):
        rd.workbench.open_file(folder / file, **option)


def test_parameters_of_a_method_are_set_once_and_by_a_method():
    entry = find("mondrian", "anonymiser")
    assert set_options(entry, ["k=5", "c=none"]) == {"k": 5, "c": None}
    with pytest.raises(ParameterError, match="k once, got 'k=7'"):
        set_options(entry, ["k=5", "k=7"])
    with pytest.raises(ParameterError, match="must come with --method"):
        set_options(None, ["k=5"])


def test_what_is_said_of_records_is_refused_for_a_network(folder, tmp_path):
    for option in (["--quasi", "u"], ["--crs", "EPSG:4326"], ["--missing-values", "drop"], ["--person", "u"]):
        done = call(folder, "protect friends.csv --method naive --out", tmp_path / "r", *option, code=2)
        assert "must be left out for a network" in done.stderr
    done = call(folder, "protect people.csv --quasi sex --method mondrian --ends a,b --out r")
    assert "`ends` must be left out" in done.stderr


@pytest.mark.parametrize("option", [["--public", "areas=districts.gpkg"], ["--public", "candidates=people.csv"]])
def test_a_public_input_that_the_method_does_not_take_is_refused_on_the_command_line(folder, tmp_path, option):
    line = "protect people.csv --quasi sex --lat lat --lon lon --method donut --out"
    done = call(folder, line, tmp_path / "r", *option, code=2)
    assert "must be left out, nothing here uses it (donut)" in done.stderr
    assert not (tmp_path / "r").exists()
