"""Releases that other programs and hands made: no judged risk below a naive join that reads what they wrote."""

import numpy as np
import pandas as pd
import pytest

import reident as rd
from commands import call
from reident.base import DataError, ParameterError
from reident.tables.labels import interval_of
from reident.workbench.released import as_called

pytestmark = pytest.mark.whole

ATTACKS = ["exact_join", "class_risk", "modal_value"]


def people(n=300, seed=3):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "nr": [f"P{i:05d}" for i in rng.permutation(n)],
            "age": rng.integers(18, 80, n),
            "sex": rng.choice(list("fm"), n),
            "zip": rng.choice(["10115", "10117", "20095", "80331", "01067"], n),
            "ill": rng.choice(["A", "B", "C", "D"], n),
        }
    )


def judged(release, original, **said):
    known = {"quasi": ["age", "sex", "zip"], "sensitive": "ill", "attacks": ATTACKS} | said
    return rd.check(release, original, **known)


def row(found, name="exact_join"):
    return found.attacks.set_index("name").loc[name]


LABELS = {
    "[{low}, {high})": {}, "[{low},{high}[": {}, "{low}-{last}": {}, "{low} bis {last}": {}, "{low}–{last} years": {},
    "{low} to {last}": {}, "{low} - unter {high} Jahre": {}, "von {low} bis unter {high}": {}, "{low}..{last}": {},
    "over {before} up to {last}": {},
}  # fmt: skip


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("top", [None, "70+", "70 und älter", "70 years and over", "70 plus", "ab 70", ">= 70"])
def test_intervals_in_words_are_joined_as_a_person_reads_them(label, top):
    table = people()
    low = table["age"] // 10 * 10
    texts = [label.format(low=a, high=a + 10, last=a + 9, before=a - 1) for a in low]
    if top is not None:
        texts = [top if a == 70 else text for a, text in zip(low, texts, strict=True)]
    release = table[["sex", "zip", "ill"]].assign(age=texts).sample(frac=1, random_state=1)
    naive = 1 / table.groupby([low, "sex", "zip"])["nr"].transform("size")
    found = judged(release, table, attacks=["exact_join"])
    assert row(found)["risk"] == pytest.approx(naive.mean())
    assert row(found)["share_above_limit"] == pytest.approx((naive > 0.25).mean())


@pytest.mark.parametrize(
    ("label", "interval"),
    [
        ("1.000 bis unter 2.000 Euro", (1000, 2000, True, False)), ("1,5 bis 2,5", (1.5, 2.5, True, True)),
        ("unter 18 Jahre", (-np.inf, 18, False, False)), ("up to 19", (-np.inf, 19, False, True)),
        ("18 and under", (-np.inf, 18, False, True)), ("über 20 bis 30", (20, 30, False, True)),
        ("zwischen 20 und 30", (20, 30, True, True)), ("mehr als 3 Personen", (3, np.inf, False, False)),
        ("0.5-1.0", (0.5, 1, True, True)), ("12 Monkeys", None), ("E11.9", None), ("01.02.2021", None),
        ("2021-01-05", None), ("12-14-16", None), ("A-12", None), ("3 rooms", None), ("10115", None), ("5+5", None),
    ],
)  # fmt: skip
def test_what_is_an_interval_and_what_is_none(label, interval):
    assert interval_of(label) == interval


RENAMED = {
    "capitals": str.upper,
    "blanks": lambda name: f" {name} ",
    "other words": {"age": "Alter", "sex": "Geschlecht", "zip": "PLZ", "ill": "Diagnose"}.__getitem__,
    "numbers": {"age": "V1", "sex": "V2", "zip": "V3", "ill": "V4"}.__getitem__,
}


@pytest.mark.parametrize("names", RENAMED)
@pytest.mark.parametrize("coarser", [False, True])
def test_renamed_columns_are_attacked_as_what_they_are(names, coarser):
    table = people()
    release = table.drop(columns="nr").sample(frac=1, random_state=1)
    if coarser:
        release["age"] = [f"{a // 5 * 5}-{a // 5 * 5 + 4}" for a in release["age"]]
        release["zip"] = release["zip"].str[:3] + "**"
    same = judged(release, table)
    found = judged(release.rename(columns=RENAMED[names]), table)
    pd.testing.assert_frame_equal(found.attacks, same.attacks)
    assert not found.passed
    assert sum("was read as" in note for note in found.notes) == 4


@pytest.mark.parametrize(("own", "said"), [("Länge", "LANGE"), ("Straße", "strasse"), ("Fall-Nr", "fall_nr")])
def test_names_that_lost_their_signs_are_read(own, said):
    numbers = np.random.default_rng(0).permutation(40)
    found, told = as_called(pd.DataFrame({said: numbers[::-1] * 7}), pd.DataFrame({own: numbers}), [own])
    assert list(found) == [own]
    assert told == [f"{said!r} of the release was read as {own!r}: the name differs in its letters only."]


def test_renamed_places_and_persons_are_found():
    rng = np.random.default_rng(0)
    table = people().assign(lat=rng.uniform(50, 51, 300).round(5), lon=rng.uniform(8, 9, 300).round(5))
    release = table[["nr", "lat", "lon"]].rename(columns={"nr": "ID", "lat": "Breite", "lon": "Laenge"})
    known = {"lat": "lat", "lon": "lon", "id": "nr", "attacks": ["nearest_place"]}
    found = rd.check(release.sample(frac=1, random_state=1), table, **known)
    assert found.share_above_limit == 1
    assert "'ID' of the release was read as 'nr': it holds its values." in found.notes


def test_a_column_that_could_be_two_is_asked_for_and_nothing_passes_unread(tmp_path):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({name: rng.permutation(["1", "2", "3"] * 20) for name in ("a", "b")})
    release = table.rename(columns={"a": "x", "b": "y"})
    release.to_csv(tmp_path / "release.csv", index=False)
    table.to_csv(tmp_path / "table.csv", index=False)
    line = ["check", "release.csv", "--against", "table.csv", "--quasi", "a,b", "--limit", "0.1"]
    done = call(tmp_path, *line)
    assert done.returncode == 2
    assert "--called a=x says so" in done.stderr
    done = call(tmp_path, *line, "--called", "a=x", "--called", "b=y")
    assert done.returncode == 3
    assert "'x' of the release was read as 'a': it is said to be." in done.stdout
    half = call(tmp_path, *line, "--called", "a=x").stdout
    assert "'y' of the release was read as 'b': it holds its values." in half
    with pytest.raises(ParameterError, match="got 'z': the release lacks it"):
        as_called(release, table, ["a"], called={"a": "z"})
    with pytest.raises(DataError, match="nothing could be attacked"):
        rd.check(release, table, quasi=["a", "b"])


@pytest.mark.parametrize("absent", ["NA", "NaN", "<NA>", "."])
def test_gaps_as_other_programs_write_them_are_gaps(absent, tmp_path):
    table = people()
    release = table.drop(columns="nr").astype(object)
    release.loc[::7, "zip"] = absent
    release.loc[::9, "age"] = absent
    gaps = release.mask(release == absent)
    release.sample(frac=1, random_state=1).to_csv(tmp_path / "release.csv", index=False)
    found, same = judged(tmp_path / "release.csv", table), judged(gaps, table)
    assert row(found)["risk"] == pytest.approx(row(same)["risk"])
    told = f"{absent} in the release was read as missing ({(release['zip'] == absent).sum()}"
    assert any(told in note for note in found.notes) == (absent in ("NA", "."))  # files are opened with the others
    theirs = table.assign(zip=table["zip"].where(table.index % 5 > 0, absent))
    kept = judged(theirs.drop(columns="nr"), theirs)
    assert not any("read as missing" in note for note in kept.notes)


def test_a_register_with_other_headers_is_the_same_register():
    table = people()
    release = table.drop(columns="nr").assign(age=[f"{a // 10 * 10}-{a // 10 * 10 + 9}" for a in table["age"]])
    register = pd.concat([table, people(3000, 9)])[["age", "sex", "zip"]]
    of = {"quasi": ["age", "sex", "zip"], "attacks": ["register_join"]}
    same = rd.check(release, table, register=register, **of)
    found = rd.check(release, table, register=register.rename(columns=str.upper), **of)
    naive = 1 / register.groupby([register["age"] // 10, "sex", "zip"])["sex"].transform("size").iloc[:300]
    assert row(same, "register_join")["risk"] == pytest.approx(naive.mean())
    pd.testing.assert_frame_equal(found.attacks, same.attacks)


def test_codes_are_read_by_how_often_they_occur():
    table = people(1000)
    order = {code: i for i, code in enumerate(table["zip"].unique())}
    coded = table.drop(columns="nr").assign(zip=table["zip"].map(order), sex=table["sex"].map({"f": 2, "m": 1}))
    coded["ill"] = coded["ill"].map({"A": "K9", "B": "K1", "C": "K5", "D": "K7"})
    same = judged(table.drop(columns="nr").sample(frac=1, random_state=2), table)
    found = judged(coded.sample(frac=1, random_state=2), table)
    pd.testing.assert_frame_equal(found.attacks, same.attacks)
    assert sum("codes, which were read by how often they occur" in note for note in found.notes) == 3
    assert "sex: the release has codes, which were read by how often they occur: " in " ".join(found.notes)


def test_labels_that_nobody_can_read_are_told():
    table = people()
    coarse = {code: f"K{i // 2}" for i, code in enumerate(sorted(table["zip"].unique()))}
    coded = table.drop(columns="nr").assign(zip=np.random.default_rng(0).permutation(table["zip"].map(coarse)))
    notes = [note for note in judged(coded, table).notes if note.startswith("zip: 300 labels")]
    assert len(notes) == 1
    assert not any("stand for no value" in note for note in judged(table.drop(columns="nr"), table).notes)


@pytest.fixture(scope="module")
def located():
    rng = np.random.default_rng(4)
    return people().assign(lat=rng.uniform(50, 51, 300).round(5), lon=rng.uniform(8, 9, 300).round(5))


def in_metres(table, system, names, digits=1, zone=0.0):
    from pyproj import Transformer

    east, north = Transformer.from_crs("EPSG:4326", system, always_xy=True).transform(table["lon"], table["lat"])
    return pd.DataFrame(
        {"sex": table["sex"], names[0]: zone + np.round(east, digits), names[1]: np.round(north, digits)}
    )


def in_texts(table, name, text):
    texts = [text.format(lat=a, lon=b) for a, b in zip(table["lat"], table["lon"], strict=True)]
    return pd.DataFrame({"sex": table["sex"], name: texts})


HELD = {
    "other names": lambda t: t[["sex", "lat", "lon"]].rename(columns={"lat": "c1", "lon": "c2"}),
    "exchanged": lambda t: t[["sex", "lat", "lon"]].rename(columns={"lat": "lon", "lon": "lat"}),
    "capitals": lambda t: t[["sex", "lat", "lon"]].rename(columns=str.upper),
    "one text": lambda t: in_texts(t, "at", "{lat}, {lon}"),
    "WKT": lambda t: in_texts(t, "g", "POINT ({lon} {lat})")[["g"]],
    "UTM": lambda t: in_metres(t, "EPSG:25832", ("x", "y")),
    "UTM with its zone": lambda t: in_metres(t, "EPSG:25832", ("east", "north"), zone=32e6),
    "the web's metres": lambda t: in_metres(t, "EPSG:3857", ("a", "b")),
    "Gauss-Krueger": lambda t: in_metres(t, "EPSG:31467", ("rechts", "hoch"), digits=0),
}


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("geographic", [False, True])
def test_places_are_attacked_in_whatever_form_they_are_released(located, held, geographic):
    release = HELD[held](located).sample(frac=1, random_state=1)
    original, known = located, {"lat": "lat", "lon": "lon"}
    if geographic:
        import geopandas as gpd

        points = gpd.points_from_xy(located["lon"], located["lat"], crs=4326)
        original, known = gpd.GeoDataFrame(located.drop(columns=["lat", "lon"]), geometry=points), {}
    found = rd.check(release, original, attacks=["nearest_place"], **known)
    assert row(found, "nearest_place")["risk"] > 0.98
    assert found.share_above_limit == 1
    assert any("laces of the release" in note or "exchanged" in note or "'LAT'" in note for note in found.notes)


def test_numbers_that_are_no_places_are_none_and_places_that_nobody_knows_are_told(located):
    release = located[["sex", "age"]].assign(score=np.arange(300) % 50 + 1, much=np.arange(300) * 1000.5)
    found = rd.check(release, located, quasi=["age"], lat="lat", lon="lon", attacks=["nearest_place", "exact_join"])
    assert row(found, "nearest_place")["reason"] == "no places are released"
    told = "The original has places, which nobody is said to know: --lat lat --lon lon lets them be attacked."
    assert told in rd.check(release, located, quasi=["age"], attacks=["exact_join"]).notes
    assert told not in found.notes


DATES = {
    "year": lambda days: days.dt.year, "year as text": lambda days: days.dt.year.astype(str),
    "month": lambda days: days.dt.strftime("%Y-%m"), "German month": lambda days: days.dt.strftime("%m.%Y"),
    "quarter": lambda days: days.dt.year.astype(str) + "-Q" + days.dt.quarter.astype(str),
    "decade": lambda days: days.dt.strftime("%Y").str[:3] + "*", "day": lambda days: days.dt.strftime("%Y-%m-%d"),
}  # fmt: skip


@pytest.mark.parametrize("part", DATES)
@pytest.mark.parametrize("as_text", [False, True])
def test_parts_of_dates_are_joined_with_their_days(part, as_text):
    rng = np.random.default_rng(0)
    days = pd.Series(pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 9000, 300), unit="D"))
    table = pd.DataFrame(
        {"born": days.dt.strftime("%Y-%m-%d") if as_text else days, "sex": rng.choice(list("fm"), 300)}
    )
    release = table.assign(born=DATES[part](days))
    naive = (1 / release.groupby(["born", "sex"])["sex"].transform("size")).mean()
    found = rd.check(release.sample(frac=1, random_state=1), table, quasi=["born", "sex"], attacks=["exact_join"])
    assert row(found)["risk"] == pytest.approx(naive)


@pytest.mark.parametrize("method", ["k_anonymity_lattice", "mondrian"])
def test_dates_that_were_generalised_here_are_joined_too(method, tmp_path):
    rng = np.random.default_rng(0)
    days = pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 9000, 400), unit="D")
    table = pd.DataFrame({"born": days, "sex": rng.choice(list("fm"), 400)})
    made = rd.protect(table, tmp_path / "made", method=method, options={"k": 5}, quasi=["born", "sex"])
    released = pd.read_csv(made / "release.csv")
    naive = (1 / released.groupby(["born", "sex"])["sex"].transform("size")).sum() / 400
    assert row(rd.check(made, table, quasi=["born", "sex"], attacks=["exact_join"]))["risk"] >= 0.9 * naive


def recoded(n=600, n_jobs=80, groups=None, seed=4):
    """Persons with many jobs, and a release with codes for them, or for groups of them."""
    rng = np.random.default_rng(seed)
    jobs = [f"job {i:02d}" for i in range(n_jobs)]
    persons = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(18, 90, n),
            "height": rng.integers(150, 200, n),
            "job": rng.choice(jobs, n, p=(w := 1 / np.arange(3, n_jobs + 3)) / w.sum()),
        }
    )
    group = rng.integers(0, groups, n_jobs) if groups else rng.permutation(n_jobs)
    codes = {job: f"K{1000 + 17 * one}" for job, one in zip(jobs, group, strict=True)}
    release = persons.assign(job=persons["job"].map(codes)).iloc[rng.permutation(n)]
    return persons, release, codes


@pytest.mark.parametrize("groups", [None, 60, 12])
@pytest.mark.parametrize("n_jobs", [80, 120])
def test_codes_of_many_values_and_of_groups_are_read_by_paired_records(groups, n_jobs):
    persons, release, codes = recoded(n_jobs=n_jobs, groups=groups)
    found = rd.check(release, persons, quasi=["sex", "age", "job"], attacks=["exact_join"])
    assert any("codes, which were read by" in note for note in found.notes)
    # The intruder who knows the codes joins by them: values that no pair tells may have any code, which says less.
    known = persons.assign(job=persons["job"].map(codes))
    sizes = known.groupby(["sex", "age", "job"])["age"].transform("size")
    naive = (1 / sizes > 0.25).mean()
    alone = rd.check(release.drop(columns="job"), persons, quasi=["sex", "age"], attacks=["exact_join"])
    assert alone.share_above_limit < naive
    assert found.share_above_limit == pytest.approx(naive, abs=0.03)
    assert found.attacks["risk"].iloc[0] > 0.9 * (1 / sizes).mean()


def test_codes_that_follow_no_value_are_not_read():
    persons, release, _ = recoded()
    rng = np.random.default_rng(0)
    for made in (release.assign(job=rng.permutation(release["job"])), release.assign(job=rng.choice(["X", "Y"], 600))):
        found = rd.check(made, persons, quasi=["sex", "age", "job"], attacks=["exact_join"])
        assert not any("codes, which were read" in note for note in found.notes)
        assert any("stand for no value" in note for note in found.notes)
