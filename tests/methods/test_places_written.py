"""Places that a release holds in any form that people write, or moved all together, are attacked as places."""

import json

import numpy as np
import pandas as pd
import pytest

import reident as rd
from reident.places.points import degrees_of
from reident.workbench.turned_places import turned_back
from reident.workbench.written_places import degrees_in, places_in

pytestmark = pytest.mark.whole


def people(n=200, seed=5, south=50.0, west=8.0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "lat": rng.uniform(south, south + 1, n).round(6), "lon": rng.uniform(west, west + 1.5, n).round(6),
            "sex": rng.choice(["f", "m"], n), "ill": rng.choice(["A", "B", "C"], n),
        }
    )  # fmt: skip


def dms(value, letters, form="{d}°{m:02d}'{s:04.1f}\"{letter}"):
    size = abs(value)
    whole, minutes = int(size), int(size % 1 * 60)
    return form.format(d=whole, m=minutes, s=(size * 60 % 1) * 60, letter=letters[int(value < 0)])


def geohash(lat, lon, length=9):
    """Encode by halving, a bit at a time."""
    low, high, bits = [-180.0, -90.0], [180.0, 90.0], ""
    for place in range(5 * length):
        axis = place % 2
        middle, value = (low[axis] + high[axis]) / 2, (lon, lat)[axis]
        bits += str(int(value >= middle))
        (low if value >= middle else high)[axis] = middle
    return "".join("0123456789bcdefghjkmnpqrstuvwxyz"[int(bits[i : i + 5], 2)] for i in range(0, len(bits), 5))


def plus_code(lat, lon):
    code, north, east = "", int((lat + 90) * 8000 + 1e-9), int((lon + 180) * 8000 + 1e-9)
    for _ in range(5):
        code = "23456789CFGHJMPQRVWX"[north % 20] + "23456789CFGHJMPQRVWX"[east % 20] + code
        north, east = north // 20, east // 20
    return f"{code[:8]}+{code[8:]}"


def metres(table, crs):
    import geopandas as gpd

    there = gpd.GeoSeries(gpd.points_from_xy(table["lon"], table["lat"], crs="EPSG:4326")).to_crs(crs)
    return there.x.to_numpy(), there.y.to_numpy()


def mgrs(table):
    """Encode the squares of zone 32, band U, which holds 48 to 56 degrees north."""
    east, north = metres(table, "EPSG:32632")
    letters = ["ABCDEFGHJKLMNPQRSTUVWXYZ"[8 + int(x // 1e5) - 1] for x in east]
    rows = ["ABCDEFGHJKLMNPQRSTUV"[(int(y // 1e5) + 5) % 20] for y in north]
    parts = zip(letters, rows, east % 1e5, north % 1e5, strict=True)
    return [f"32U {a}{b} {int(x):05d} {int(y):05d}" for a, b, x, y in parts]


def cells(table, form):
    return {"x": [form(a, b) for a, b in table[["lat", "lon"]].to_numpy().tolist()]}


def both(table, read):
    return {"lat": [read(v, "NS") for v in table["lat"]], "lon": [read(v, "EW") for v in table["lon"]]}


def turned(table, degrees=20.0, crs="EPSG:25832"):
    x, y = metres(table, crs)
    x, y, turn = x - x.mean(), y - y.mean(), np.radians(degrees)
    return {"a": np.cos(turn) * x - np.sin(turn) * y + 7000, "b": np.sin(turn) * x + np.cos(turn) * y - 300}


def grid(table, form, size, unit):
    """Name the cells of the grid of Europe."""
    x, y = (np.floor(one / size).astype(int) * unit for one in metres(table, "EPSG:3035"))
    return {"x": [form.format(north, east) for north, east in zip(y, x, strict=True)]}


FORMS = {
    "minutes and seconds": lambda t: both(t, dms),
    "decimal minutes": lambda t: both(t, lambda v, _: f"{int(v)} {v % 1 * 60:.4f}"),
    "a sign of degrees": lambda t: both(t, lambda v, _: f"{v:.5f}°"),
    "both in one cell": lambda t: cells(t, lambda a, b: f"{dms(a, 'NS')} {dms(b, 'EW')}"),
    "an address of a map": lambda t: cells(t, lambda a, b: f"https://map.example/?q={a},{b}"),
    "GeoJSON": lambda t: cells(t, lambda a, b: json.dumps({"type": "Point", "coordinates": [b, a]})),
    "geohash": lambda t: cells(t, geohash),
    "plus code": lambda t: cells(t, plus_code),
    "MGRS": lambda t: {"x": mgrs(t)},
    "a cell of the grid": lambda t: grid(t, "CRS3035RES100mN{}E{}", 100, 100),
    "a cell with size first": lambda t: grid(t, "100mE{1}N{0}", 100, 1),
    "a cell of a kilometre": lambda t: grid(t, "1kmN{}E{}", 1000, 1),
    "whole millionths": lambda t: {"lat": (t["lat"] * 1e6).astype(int), "lon": (t["lon"] * 1e6).astype(int)},
    "radians": lambda t: {"lat": np.radians(t["lat"]), "lon": np.radians(t["lon"])},
    "kilometres": lambda t: dict(zip("ab", (v / 1000 for v in metres(t, "EPSG:25832")), strict=True)),
    "another origin": lambda t: turned(t, 0),
    "turned": turned,
    "turned half round": lambda t: turned(t, 180),
    "mirrored": lambda t: turned(t) | {"a": -turned(t)["a"]},
    "degrees moved": lambda t: {"a": t["lat"] - 10, "b": t["lon"] + 3},
    "degrees exchanged and mirrored": lambda t: {"lat": 50 + (t["lon"] - 8), "lon": 8 + (t["lat"] - 50)},
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_places_in_any_form_are_attacked_as_the_same_places_in_degrees_are(form):
    table = people()
    release = table[["sex", "ill"]].assign(**FORMS[form](table)).sample(frac=1, random_state=2).reset_index(drop=True)
    found = rd.check(release, table, quasi=["sex"], lat="lat", lon="lon", attacks=["nearest_place"])
    assert found.share_above_limit == 1.0
    assert any("Places of the release were read in" in note for note in found.notes)


@pytest.mark.parametrize("form", ["geohash", "plus code", "MGRS", "both in one cell", "turned", "a sign of degrees"])
def test_places_in_any_form_are_attacked_beside_records_without_one(form):
    table = people()
    there = np.arange(len(table)) % 5 > 0
    plain, found = (
        rd.check(
            table[["sex"]].join(places[there]), table, quasi=["sex"], lat="lat", lon="lon", attacks=["nearest_place"]
        )
        for places in (table[["lat", "lon"]], pd.DataFrame(FORMS[form](table)))
    )
    assert found.share_above_limit == plain.share_above_limit > 0.8
    assert any("Places of the release were read in" in note for note in found.notes)


@pytest.mark.parametrize("share", [1.0, 0.7])
@pytest.mark.parametrize("south", [50.0, -34.0])
def test_a_motion_of_all_places_is_found_from_a_part_of_them_on_either_side_of_the_equator(share, south):
    table = people(400, south=south, west=150.0)
    part = table.sample(frac=share, random_state=1)
    zone = "EPSG:32756" if south < 0 else "EPSG:32656"
    plane = np.stack(list(turned(part, 77.0, zone).values()), axis=1)
    lat, lon = turned_back(plane, table["lat"].to_numpy(), table["lon"].to_numpy())
    np.testing.assert_allclose(lat, part["lat"], atol=2e-3)
    np.testing.assert_allclose(lon, part["lon"], atol=2e-3)


@pytest.mark.parametrize("seed", range(5))
def test_numbers_that_are_no_places_are_laid_on_none(seed):
    table, rng = people(300, seed), np.random.default_rng(seed)
    numbers = {
        "people": np.stack([rng.normal(170, 9, 300).round(), rng.normal(70, 12, 300).round(1)], axis=1),
        "other places": people(300, seed + 50)[["lon", "lat"]].to_numpy(),
        "moved by noise": table[["lon", "lat"]].to_numpy() + rng.normal(0, 0.1, (300, 2)),
    }
    for name, pair in numbers.items():
        assert turned_back(pair, table["lat"].to_numpy(), table["lon"].to_numpy()) is None, name


def test_one_coordinate_alone_is_joined():
    table = people()
    for name in ("lat", "lon"):
        release = table[["sex", name]].sample(frac=1, random_state=2)
        found = rd.check(release, table, quasi=["sex"], lat="lat", lon="lon", attacks=["exact_join"])
        assert found.share_above_limit == 1.0
        assert f"'{name}' of the release is one coordinate of a place, and was joined as a number." in found.notes


def test_texts_are_read_as_the_numbers_that_they_say():
    table = people(50)
    for read, size in ((geohash, 1e-4), (plus_code, 1e-4)):
        told = pd.Series(cells(table, read)["x"])
        (_, lat, lon), *_ = places_in(told)
        assert np.abs(lat - table["lat"]).max() < size
        assert np.abs(lon - table["lon"]).max() < size
    (_, lat, lon), *_ = places_in(pd.Series(mgrs(table)))
    x, y = metres(table, "EPSG:32632")
    there = degrees_of(np.floor(x) + 0.5, np.floor(y) + 0.5, "EPSG:32632")
    np.testing.assert_allclose([lat, lon], there, atol=1e-7)
    texts = pd.Series(["8°30'00\"W", "33° 51.5' S", "-33.5", "12,25°", "N 50 30 00", "here"])
    np.testing.assert_allclose(degrees_in(texts), [-8.5, -33 - 51.5 / 60, -33.5, 12.25, 50.5, np.nan])
    assert list(places_in(pd.Series(["Weg 5", "Tor 7, hinten", "x"] * 9))) == []


@pytest.mark.parametrize(
    "beside",
    [
        lambda t: {"y": t["lat"], "x": t["lon"]},
        lambda t: cells(t, lambda a, b: f"POINT({b} {a})"),
        lambda t: dict(zip("ab", metres(t, "EPSG:25832"), strict=True)),
    ],
)
@pytest.mark.parametrize("shape", [False, True])
def test_exact_places_beside_coarse_ones_are_attacked(beside, shape):
    import geopandas as gpd

    table = people()
    coarse = table[["sex"]].assign(lat=table["lat"].round(), lon=table["lon"].round())
    if shape:
        points = gpd.points_from_xy(coarse.pop("lon"), coarse.pop("lat"), crs="EPSG:4326")
        coarse = gpd.GeoDataFrame(coarse, geometry=points)
    release = coarse.assign(**beside(table)).sample(frac=1, random_state=2).reset_index(drop=True)
    known = {"quasi": ["sex"], "lat": "lat", "lon": "lon", "attacks": ["nearest_place"]}
    found = rd.check(release, table, **known)
    assert found.share_above_limit == 1.0
    assert any("Places of the release were read in" in note for note in found.notes)


def test_coarse_places_beside_fine_ones_leave_these_what_they_are():
    table = people()
    release = table.assign(y=table["lat"].round(1), x=table["lon"].round(1)).sample(frac=1, random_state=2)
    found = rd.check(release, table, lat="lat", lon="lon", attacks=["nearest_place"])
    assert found.share_above_limit == 1.0
    assert not any("were read in" in note for note in found.notes)
