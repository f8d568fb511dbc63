import json
import re
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

import reident as rd
from commands import call
from judged import protect_into
from reident.methods import find
from reident.workbench.files import read_file
from samples import AREA, drawn, places

N = 60


@pytest.fixture
def people():
    pay = lambda rng, n: rng.normal(50_000, 9_000, n).round(3) + 0.123  # noqa: E731
    places = {"lat": (50.0, 51.0), "lon": (8.0, 9.0)}
    return drawn(N, 1, name="Person-{:04d}", sex=["f", "m"], age=(20, 90), pay=pay, ill=["flu", "gout"], **places)


def _tokens(values):
    """Return how a number may be written: in full, in single precision, with nine digits and with seven."""
    return {
        form
        for value in values
        for form in (repr(float(value)), repr(float(np.float32(value))), f"{value:.9f}", f"{value:.7f}")
    }


def _written(secret: str, text: str) -> bool:
    """Tell whether a text holds a secret; seven digits after the point count where the number ends with them.

    1,770 released distances of 16 digits hold one of 60 longitudes' first seven in one run of a thousand, by chance.
    """
    if secret not in text:
        return False
    short = len(secret.partition(".")[2]) < 9 and secret.replace(".", "", 1).isdecimal()
    return not short or re.search(rf"(?<!\d){re.escape(secret)}(?!\d)", text) is not None


def _leaks(folder: Path, secrets: set[str]) -> list[str]:
    """Search the bytes of every file, and every value of every table and array, for secrets."""
    found = []
    for path in folder.rglob("*"):
        texts = [path.read_bytes().decode("latin-1")]
        if path.suffix == ".npy":
            texts.append("\n".join(map(repr, np.load(path, allow_pickle=False).ravel().tolist())))
        if path.suffix in (".parquet", ".gpkg", ".xlsx"):
            table = read_file(path)
            if hasattr(table, "to_crs"):
                degrees = table.to_crs("EPSG:4326").geometry
                table = pd.DataFrame(table.drop(columns=table.geometry.name)).assign(x=degrees.x, y=degrees.y)
            texts.append("\n".join(repr(v) if isinstance(v, float) else str(v) for v in table.to_numpy().ravel()))
        for text in texts:
            found += [f"{path.name}: {secret}" for secret in secrets if _written(secret, text)]
    return found


PLACES = [
    ("coordinate_noise", {"sigma_deg": 0.05}), ("disc", {"radius_m": 3000.0}),
    ("donut", {"inner_m": 500.0, "outer_m": 3000.0}), ("grid", {"cell_m": 5000.0}), ("rigid_motion", {}),
    ("distance_noise", {"sigma_km": 3.0}), ("lipschitz_embedding", {"n_reference_sets": 5}),
    ("swap", {"outer_m": 30_000.0}),
]  # fmt: skip


@pytest.mark.parametrize(("method", "options"), PLACES)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_places_do_not_leak(people, tmp_path, method, options, suffix):
    before = people.copy()
    inputs = {"area": AREA, "candidates": places(200, 2)}
    out = protect_into(
        people, tmp_path / "release", method=method, options=options, quasi=["sex"], lat="lat", lon="lon",
        suffix=suffix, **{name: inputs[name] for name in inputs if name in find(method).public},
    )  # fmt: skip
    pd.testing.assert_frame_equal(people, before)
    secrets = _tokens(people["lat"]) | _tokens(people["lon"]) | set(people["name"]) | {str(tmp_path)}
    assert _leaks(out, secrets) == []
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["chain"][0]["method"] == method
    assert manifest["chain"][0]["parameters"].items() >= options.items()
    assert not {"seed", "rng", "reference_sets", "area", "index", "file"} & set(manifest)
    assert {path.name for path in tmp_path.iterdir()} == {"release", "release.pairs.csv"}
    assert (tmp_path / "release.pairs.csv").stat().st_mode & 0o777 == 0o600
    assert ("distances_km.npy" in {path.name for path in out.iterdir()}) == (
        method in ("distance_noise", "lipschitz_embedding")
    )


def test_geopackage_does_not_leak(people, tmp_path):
    points = gpd.GeoDataFrame(
        people[["name", "sex"]], geometry=gpd.points_from_xy(people["lon"], people["lat"], crs="EPSG:4326")
    ).to_crs("EPSG:25832")
    out = protect_into(points, tmp_path / "r", method="donut", quasi="sex", suffix=".gpkg")
    secrets = _tokens(people["lat"]) | _tokens(people["lon"]) | set(people["name"])
    secrets |= _tokens(points.geometry.x) | _tokens(points.geometry.y)
    assert _leaks(out, secrets) == []
    released = read_file(out / "release.gpkg")
    assert released.crs == points.crs
    assert min(points.geometry.distance(one).min() for one in released.geometry) > 1


TABLES = [
    ("add_noise", {"relative": 0.3}), ("microaggregation", {"k": 5}), ("mondrian", {"k": 5}),
    ("k_anonymity", {"k": 5, "suppression_limit": 0.2}), ("k_epsilon", {"k": 5, "epsilon": 1.0}),
]  # fmt: skip


@pytest.mark.parametrize(("method", "options"), TABLES)
def test_tables_do_not_leak(people, tmp_path, method, options):
    noisy = ["pay"] if method == "k_epsilon" else []
    out = protect_into(
        people, tmp_path / "release", method=method, options=options, quasi=["sex", "age", "pay"], sensitive="ill",
        epsilon_quasi=noisy,
    )  # fmt: skip
    secrets = set(people["name"]) | _tokens(people["lat"])
    secrets |= _tokens(people["pay"])
    assert _leaks(out, secrets) == []
    released = pd.read_csv(out / "release.csv")
    assert set(released.columns) == {"sex", "age", "pay", "ill"}
    if method == "mondrian":
        assert rd.tables.k_anonymity(released, ["sex", "age", "pay"]) >= 5


def test_order_and_noise_differ_from_release_to_release(people, tmp_path):
    people["mark"] = np.arange(N)
    given = {"quasi": "sex", "lat": "lat", "lon": "lon", "keep": "mark", "keep_identifiers": True}
    made = [protect_into(people, tmp_path / name, method="coordinate_noise", **given) for name in "ab"]
    both = [pd.read_csv(folder / "release.csv") for folder in made]
    # 60 records in their old order, or twice in the same, by chance: 1 / 60!.
    assert both[0]["mark"].tolist() != list(range(N))
    assert both[0]["mark"].tolist() != both[1]["mark"].tolist()
    matched = both[0].merge(both[1], on="mark")
    assert (matched["lat_x"] != matched["lat_y"]).all()


def test_without_a_place_a_geographic_file_becomes_a_table(people, tmp_path):
    """A GeoPackage without geometry was written as text under its name, and no program opened it."""
    points = gpd.points_from_xy(people["lon"], people["lat"], crs=4326)
    gpd.GeoDataFrame(people[["sex", "age", "ill"]], geometry=points).to_file(tmp_path / "a.gpkg")
    opened = rd.workbench.open_file(tmp_path / "a.gpkg")
    out = protect_into(
        opened, tmp_path / "out", method="mondrian", options={"k": 20}, quasi=["sex"], keep=["ill"], suffix=".gpkg"
    )
    assert sorted(path.name for path in out.iterdir()) == ["manifest.json", "release.csv"]
    assert "a CSV file, not .gpkg" in (out / "manifest.json").read_text()
    assert rd.check(out, tmp_path / "a.gpkg", quasi=["sex"], attacks=["exact_join"]).passed


@pytest.mark.parametrize("k", [1, 2])
def test_that_k_of_1_protects_nobody_is_said(people, tmp_path, k):
    people.to_csv(tmp_path / "people.csv", index=False)
    made = call(tmp_path, f"protect people.csv --method mondrian --set k={k} --quasi sex,age --out r", code=0)
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text("utf-8"))
    assert f"guaranteed: {manifest['guarantee']}" in made.stdout
    smallest = read_file(tmp_path / "r" / "release.csv").groupby(["sex", "age"]).size().min()
    says_so = "with k = 1" in made.stdout
    assert says_so == (k == 1)
    assert smallest == 1 if k == 1 else smallest >= k


@pytest.mark.parametrize("named", [None, "patient_id"])
@pytest.mark.parametrize(("alike", "told"), [(5, "of persons it does not hold"), (1, "it holds of persons, too")])
def test_what_k_says_of_persons_with_several_records_is_said(tmp_path, named, alike, told):
    """Records of one person are alike, or fall into different classes."""
    person = np.repeat(np.arange(60), 5)
    table = pd.DataFrame({"patient_id": person, "age": 30 + (person if alike > 1 else np.tile(np.arange(5), 60))})
    made = protect_into(
        table, tmp_path / "out", method="mondrian", options={"k": 5}, quasi="age", person=named, keep="patient_id",
        keep_identifiers=True,
    )  # fmt: skip
    release = pd.read_csv(made / "release.csv")
    fewest = release.groupby("age")["patient_id"].nunique().min()
    assert (fewest >= 5) == (alike == 1)
    assert release.groupby("age").size().min() >= 5
    manifest = json.loads((made / "manifest.json").read_text("utf-8"))
    assert manifest["guarantee"].endswith(f"k = 5 counts records, of which one person may have several: {told}")
    # Where noise tells records apart, k is about fewer columns than are released: nothing is said of persons.
    both = protect_into(
        table.assign(pay=np.arange(300.0)), tmp_path / "both", method="k_epsilon", options={"k": 5, "epsilon": 1.0},
        quasi=["age", "pay"], epsilon_quasi="pay", person=named,
    )  # fmt: skip
    assert pd.read_csv(both / "release.csv").groupby(["age", "pay"]).size().min() < 5
    said = json.loads((both / "manifest.json").read_text("utf-8"))["guarantee"]
    assert said.endswith("k = 5 counts records, of which one person may have several")
    noisy = protect_into(table, tmp_path / "noisy", method="add_noise", quasi="age")
    assert "person" not in json.loads((noisy / "manifest.json").read_text("utf-8"))["guarantee"]


def test_the_manifest_is_a_key_to_the_release(tmp_path, people):
    people.to_csv(tmp_path / "p.csv", index=False, sep=";", encoding="cp1252")
    line = ["protect", "p.csv", "--method", "mondrian", "--set", "k=5", "--quasi", "age,sex", "--out", "release"]
    done = call(tmp_path, *line, code=0)
    assert "columns left out: name, pay, ill, lat, lon (--keep" in done.stdout
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text())
    assert manifest["written_with"]["separator"] == ";"
    assert "both included" in manifest["labels"]["[a, b]"]


def test_a_method_takes_the_roles_of_a_recipe(tmp_path, people):
    people.to_csv(tmp_path / "people.csv", index=False)
    call(tmp_path, "open people.csv", code=0)
    assert "name a method" in call(tmp_path, "protect --recipe recipe.yaml --out r", code=2).stderr
    call(tmp_path, "protect --recipe recipe.yaml --method mondrian --set k=4 --out r", code=0)
    assert {"sex", "age"} <= set(pd.read_csv(tmp_path / "r" / "release.csv"))
    with (tmp_path / "recipe.yaml").open("a") as recipe:
        recipe.write("chain: [{method: mondrian, parameters: {k: 4}}]\n")
    both = call(tmp_path, "protect --recipe recipe.yaml --method mondrian --out s", code=2)
    assert "has a chain of methods" in both.stderr
    call(tmp_path, "protect --recipe recipe.yaml --out s", code=0)
