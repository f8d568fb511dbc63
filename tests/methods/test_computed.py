"""Releases with columns that were computed from what is known: no judged risk below a join on the same computation."""

import contextlib
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reident as rd
from reident.base import DataError
from reident.workbench.released import Calls
from reident.workbench.released_computed import computed_columns, with_parts

pytestmark = pytest.mark.whole

QUASI = ["born", "sex", "zip", "height", "income", "town"]
MONTHS = ("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November",
          "Dezember")  # fmt: skip


def people(n=300, seed=4):
    rng = np.random.default_rng(seed)
    born = pd.Timestamp("1930-01-01") + pd.to_timedelta(rng.integers(0, 75 * 365, n), unit="D")
    return pd.DataFrame(
        {
            "born": born.strftime("%Y-%m-%d"),
            "sex": rng.choice(["f", "m"], n),
            "zip": rng.choice(["01067", "10115", "10117", "20095", "50667", "80331", "97070", "04109"], n),
            "height": rng.normal(170, 9, n).round().astype(int),
            "income": rng.lognormal(10, 0.5, n).round(2),
            "town": rng.choice(["München", "Köln", "Groß Gerau", "Düren", "Jena"], n),
            "ill": rng.choice(["A", "B", "C", "D"], n),
        }
    )


def born(table):
    return pd.to_datetime(table["born"])


def age(table, then="2024-03-05"):
    then = pd.Timestamp(then)
    had = [(then.month, then.day) >= (day.month, day.day) for day in born(table)]
    return then.year - born(table).dt.year - 1 + np.array(had)


#: What an office computes, under a name of its own or under the name of what it is computed from.
COMPUTED = {
    "age": age,
    "age at the end of the year": lambda t: 2024 - born(t).dt.year,
    "age group": lambda t: pd.cut(age(t), [0, 18, 30, 45, 65, 120], right=False).astype(str),
    "age in days": lambda t: (pd.Timestamp("2024-03-05") - born(t)).dt.days,
    "number of a spreadsheet": lambda t: (born(t) - pd.Timestamp("1899-12-30")).dt.days,
    "seconds": lambda t: (born(t) - pd.Timestamp("1970-01-01")).dt.days * 86400,
    "six digits": lambda t: born(t).dt.strftime("%y%m%d"),
    "in words": lambda t: [f"{day.day}. {MONTHS[day.month - 1]} {day.year}" for day in born(t)],
    "week": lambda t: born(t).dt.strftime("%G-W%V"),
    "birthday": lambda t: born(t).dt.strftime("%d.%m."),
    "month": lambda t: born(t).dt.month,
    "decade": lambda t: [f"{year // 10 * 10}er" for year in born(t).dt.year],
    "thousands": lambda t: (t["income"] / 1000).round(3),
    "whole thousands": lambda t: (t["income"] / 1000).round().astype(int),
    "cents": lambda t: (t["income"] * 100).round().astype(int),
    "negative": lambda t: -t["income"],
    "standardised": lambda t: ((t["income"] - t["income"].mean()) / t["income"].std()).round(4),
    "from 0 to 1": lambda t: ((t["income"] - t["income"].min()) / np.ptp(t["income"])).round(5),
    "logarithm": lambda t: np.log(t["income"]).round(6),
    "reciprocal": lambda t: 1 / t["income"],
    "rank": lambda t: t["income"].rank().astype(int),
    "plus a tenth": lambda t: (t["income"] * 1.1).round(3),
    "inches": lambda t: (t["height"] / 2.54).round(1),
    "ratio": lambda t: t["income"] / t["height"],
    "sum": lambda t: t["income"] + t["height"],
    "area": lambda t: t["zip"].str[:2],
    "first letter": lambda t: t["town"].str[0],
}  # fmt: skip


def naive(computed, released, original, beside):
    """Return the share of the persons whom fewer than four records fit, by a join on the computation itself."""
    shown = pd.DataFrame({"computed": list(computed), **{name: released[name] for name in beside}})
    known = pd.DataFrame({"computed": list(computed), **{name: original[name].to_numpy() for name in beside}})
    keys = ["computed", *beside]
    fits = known.merge(shown.groupby(keys).size().rename("fits").reset_index(), on=keys, how="left")["fits"]
    return float((1 / fits > 0.25).mean())


@pytest.mark.parametrize("what", COMPUTED)
@pytest.mark.parametrize("beside", [["sex", "zip"], ["sex"]])
def test_no_judged_risk_is_below_a_join_on_what_was_computed(what, beside):
    table = people()
    computed = pd.Series(COMPUTED[what](table))
    release = table[[*beside, "ill"]].assign(new=computed.to_numpy())
    expected = naive(computed, release, table, beside)
    release = release.sample(frac=1, random_state=1).reset_index(drop=True)
    found = rd.check(release, table, quasi=QUASI, sensitive="ill", attacks=["exact_join", "class_risk"])
    assert found.share_above_limit >= expected - 1e-9
    if what != "area" or "zip" not in beside:
        assert any("'new' of the release was read" in note for note in found.notes)


@pytest.mark.parametrize("what", ["six digits", "in words", "week", "number of a spreadsheet", "seconds"])
def test_dates_written_anew_under_their_own_name_are_read(what):
    table = people()
    release = table[["sex", "ill"]].assign(born=pd.Series(COMPUTED[what](table)))
    found = rd.check(release, table, quasi=QUASI, sensitive="ill", attacks=["exact_join"])
    assert found.attacks.set_index("name").loc["exact_join", "share_above_limit"] > 0.95


@pytest.mark.parametrize("what", ["age", "thousands", "standardised", "week", "first letter", "age group"])
def test_of_a_part_of_the_persons_too(what):
    table = people(500)
    part = np.random.default_rng(2).random(len(table)) < 0.8
    release = table[["sex", "zip", "ill"]].assign(new=pd.Series(COMPUTED[what](table)))[part]
    found = rd.check(release.reset_index(drop=True), table, quasi=QUASI, sensitive="ill", attacks=["exact_join"])
    assert any("'new' of the release was read" in note for note in found.notes)


def test_cells_that_hold_several_columns_and_columns_that_hold_one_are_read():
    table = people()
    several = {
        "separated": table["sex"] + "-" + table["zip"] + "-" + table["height"].astype(str),
        "JSON": [json.dumps({"s": a, "z": b, "h": c}) for a, b, c in table[QUASI[1:4]].to_numpy().tolist()],
        "address": [f"Weg {a}, {b} {c}" for a, b, c in zip(table["height"], table["zip"], table["town"], strict=True)],
    }  # fmt: skip
    for name, cells in several.items():
        release = pd.DataFrame({"cell": cells, "ill": table["ill"]})
        found = rd.check(release, table, quasi=QUASI, sensitive="ill", attacks=["exact_join"])
        assert found.share_above_limit > 0.9, name
    marks = pd.get_dummies(table[["sex", "zip", "town"]], drop_first=True).astype(int).assign(height=table["height"])
    plain = rd.check(table[["sex", "zip", "town", "height"]], table, quasi=QUASI, attacks=["exact_join"])
    found = rd.check(marks, table, quasi=QUASI, attacks=["exact_join"])
    assert found.share_above_limit == plain.share_above_limit > 0.8


def test_a_region_under_a_new_name_is_read_by_the_records_that_the_other_columns_pair():
    table = people()
    region = table["zip"].map({name: "NOSW"[place % 4] for place, name in enumerate(sorted(table["zip"].unique()))})
    release = table[["sex", "height", "town"]].assign(region=region).sample(frac=1, random_state=1)
    found = rd.check(release, table, quasi=["sex", "height", "town", "zip"], attacks=["exact_join"])
    joined = release.groupby(["sex", "height", "town", "region"])["sex"].transform("size")
    assert found.share_above_limit == pytest.approx((joined < 4).mean())


def odd(n=40):
    """Return columns of kinds that programs hand over, few of which mean anything."""
    rng = np.random.default_rng(3)
    when = pd.Series(pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, n), unit="D"))
    return {
        "nothing": [None] * n, "no numbers": np.full(n, np.nan), "no dates": pd.Series([pd.NaT] * n),
        "no whole numbers": pd.Series([pd.NA] * n, dtype="Int64"), "no texts": pd.Series([pd.NA] * n, dtype="string"),
        "truth": rng.random(n) < 0.5, "truth or nothing": pd.Series([True, None] * (n // 2), dtype="boolean"),
        "bytes": rng.integers(0, 255, n).astype("uint8"), "half precision": rng.random(n).astype("float16"),
        "infinite": np.where(rng.random(n) < 0.2, np.inf, rng.random(n)), "tiny": rng.random(n) * 1e-300,
        "dates in a zone": when.dt.tz_localize("Europe/Berlin"), "sparse": pd.arrays.SparseArray([0, 1] * (n // 2)),
        "first and last days": ["-001-01-01", "9999-12-31"] * (n // 2),
        "categories": pd.Categorical(rng.integers(0, 5, n)), "nested JSON": ['{"a": {"b": 1}, "c": [1, 2]}'] * n,
        "broken JSON": ['{"a": ', "{}"] * (n // 2), "hashes and gaps": ["u0yjj", None] * (n // 2),
        "one value": [7.0] + [None] * (n - 1), "mixed": [1, "a", None, True] * (n // 4),
    }  # fmt: skip


@pytest.mark.parametrize("kind", odd())
def test_columns_of_any_kind_are_judged_and_take_nothing_from_what_is_known_beside(kind):
    table, cells = people(40), pd.Series(odd()[kind])
    release = table[["sex", "zip"]]
    plain = rd.check(release, table, quasi=["sex", "zip"], attacks=["exact_join"]).share_above_limit
    for shown, known, quasi in (
        (release.assign(new=cells), table, QUASI),
        (release.assign(born=cells), table, QUASI),
        (release.assign(income=cells), table, QUASI),
        (release.assign(new=cells, k=cells), table.assign(k=cells), [*QUASI, "k"]),
        (release.assign(new=table["income"]), table.assign(k=cells), ["sex", "zip", "k"]),
    ):
        found = rd.check(shown, known, quasi=quasi, attacks=["exact_join"])
        assert found.share_above_limit >= plain > 0
    for few in (release.assign(new=cells).head(2), release.assign(lat=cells, lon=cells).head(0)):
        with contextlib.suppress(DataError):
            rd.check(few, table.assign(lat=50.0, lon=8.0), quasi=["sex"], lat="lat", lon="lon", attacks=["exact_join"])


@pytest.mark.parametrize(
    ("kind", "as_kind", "computed"),
    [
        ("categories", lambda t: t.assign(height=t["height"].astype("category")), COMPUTED["inches"]),
        ("16 bits", lambda t: t.assign(height=t["height"].astype("uint16")), lambda t: t["height"] * 1000.0),
        ("dates in a zone", lambda t: t.assign(born=born(t).dt.tz_localize("Europe/Berlin")), age),
    ],
)  # fmt: skip
def test_what_was_computed_is_read_whatever_kind_of_column_it_was_computed_from(kind, as_kind, computed):
    table = people()
    release = table[["sex", "ill"]].assign(new=pd.Series(computed(table))).sample(frac=1, random_state=1)
    _, found = computed_columns(release, as_kind(table), QUASI)
    assert [one.released for one in found] == ["new"], kind
    assert found[0].told.startswith("'new' of the release was read as computed from")


@pytest.mark.parametrize("cell", [[1, 2], {"a": 1}, {1, 2}, 1 + 2j])
def test_cells_that_hold_several_values_are_refused_by_their_column(cell):
    table = people(20)
    lists = table.assign(new=pd.Series([cell] * 20))
    for release, original, what in ((lists, table, "release"), (table, lists, "original")):
        said = f"the {what} must hold one value a cell, got a {type(cell).__name__}.* in column 'new'"
        with pytest.raises(DataError, match=said):
            rd.check(release, original, quasi=["sex"], attacks=["exact_join"])


def drawn(table, seed):
    """Return columns that have nothing to do with anybody, as a release may have them."""
    rng, n = np.random.default_rng(seed), len(table)
    return pd.DataFrame(
        {
            "number": rng.permutation(n) + 1, "cluster": rng.integers(1, 6, n), "visits": rng.poisson(3, n),
            "amount": rng.lognormal(10, 0.5, n).round(2), "u": rng.random(n).round(3), "z": rng.normal(size=n).round(4),
            "day": rng.choice(["Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"], n), "age": rng.integers(18, 95, n),
            "year": rng.integers(1930, 2005, n), "month": rng.integers(1, 13, n),
            "key": [f"{value:08x}" for value in rng.integers(0, 2**32, n)],
            "place": rng.choice(["Mü", "Kö", "Gr", "Dü", "Je"], n),
        }
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_columns_that_were_drawn_are_read_as_nothing(seed):
    table = people(250 + 50 * seed, seed=seed)
    release = table[["sex", "ill"]].assign(zip=table["zip"].str[:2] + "***").join(drawn(table, seed))
    _, found = computed_columns(release, table, QUASI)
    assert [one.told for one in found] == []


@settings(deadline=None, max_examples=12)
@given(st.floats(0.01, 100), st.floats(-1e4, 1e4), st.booleans(), st.integers(0, 9))
def test_any_straight_line_of_incomes_is_found(slope, start, falling, seed):
    table = people(120, seed=seed)
    new = (-slope if falling else slope) * table["income"] + start
    release = pd.DataFrame({"new": new, "sex": table["sex"]}).sample(frac=1, random_state=seed)
    _, found = computed_columns(release, table, QUASI)
    assert [one.sources for one in found] == [("income",)]
    again = found[0].values(table)
    assert np.isin(again, release["new"]).all()


def test_what_releases_computed_is_computed_of_a_register_too():
    table = people()
    calls = Calls(table, {"quasi": QUASI, "sensitive": None, "lat": None, "lon": None, "id": None}, None)
    calls(table[["sex"]].assign(years=age(table)))
    register = calls.register(table[["born", "sex"]].head(20))
    assert register["years"].tolist() == age(table).head(20).tolist()
    assert calls.quasi == [*QUASI, "years"]


def test_a_column_that_nobody_can_read_refuses_the_release():
    table = people()
    unknown = {
        "income": np.sin(table["income"]).round(4),
        "zip": [f"x{place}" for place in np.random.default_rng(0).permutation(len(table))],
    }
    for name, cells in unknown.items():
        found = rd.check(table[["sex"]].assign(**{name: cells}), table, quasi=QUASI, attacks=["exact_join"])
        assert [one["kind"] for one in found.findings] == ["unread column"]
        assert not found.passed
        assert found.n_above == 0
    noisy = table[["sex"]].assign(income=table["income"] * np.random.default_rng(0).uniform(0.8, 1.25, len(table)))
    assert rd.check(noisy, table, quasi=["sex", "income"], attacks=["exact_join"]).passed


def test_parts_stand_beside_the_cells_that_hold_them():
    table = people(30)
    said, told = with_parts(pd.DataFrame({"key": table["zip"] + "|" + table["sex"]}), table, QUASI)
    assert list(said) == ["key", "key, part 1", "key, part 2"]
    assert said["key, part 1"].tolist() == table["zip"].tolist()
    assert told == []


def marked(table, name, form):
    """Return a column of a release: as it was, computed, or a value of a code that only its office knows."""
    if form == "codes":
        values = sorted(table[name].unique())
        return table[name].map({value: 7 * place for place, value in enumerate(values)})
    return COMPUTED[form](table) if form in COMPUTED else form(table)


FORMS = {
    "born": [*list(COMPUTED)[:12], lambda t: born(t).dt.year, lambda t: born(t).dt.strftime("%Y-%m"),
             lambda t: born(t).dt.strftime("%d.%m.%Y"),
             lambda t: [f"{year // 5 * 5}-{year // 5 * 5 + 4}" for year in born(t).dt.year]],
    "sex": [lambda t: t["sex"].str.upper(), lambda t: t["sex"].map({"f": "weiblich", "m": "männlich"})],
    "zip": ["area", "codes", lambda t: t["zip"].str[:3] + "**", lambda t: t["zip"].astype(int)],
    "height": ["inches", lambda t: t["height"] / 100, lambda t: (t["height"] / 10).round() * 10,
               lambda t: [f"{v // 10 * 10} bis unter {v // 10 * 10 + 10} cm" for v in t["height"]]],
    "income": ["thousands", "whole thousands", "cents", "logarithm", "rank", "standardised"],
    "town": ["first letter", "codes", lambda t: t["town"].str.upper()],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_any_mixture_of_forms_and_names_is_judged_as_a_join_that_knows_them_judges(seed):
    """Codes of several columns beside one another may be read in part only; what a join opens never passes."""
    rng = np.random.default_rng(seed)
    table, release = people(int(rng.integers(150, 400)), seed), {}
    for name, forms in FORMS.items():
        form = rng.choice(np.array([None, "as it was", *forms], object))
        if form is not None:
            cells = table[name] if form == "as it was" else marked(table, name, form)
            release[name if rng.random() < 0.5 else f"V{len(release)}"] = list(cells)
    shown = pd.DataFrame(release)
    sizes = shown.groupby(list(shown), dropna=False)[next(iter(shown))].transform("size")
    expected = float((sizes < 4).mean())
    shown = shown.assign(ill=table["ill"]).sample(frac=1, random_state=seed).reset_index(drop=True)
    found = rd.check(shown, table, quasi=QUASI, sensitive="ill", attacks=["exact_join", "class_risk"])
    assert found.share_above_limit >= 0.85 * expected or found.findings
    assert not (found.passed and expected > 0)


@pytest.mark.parametrize("seed", range(2))
def test_five_alike_pass_under_new_names_and_beside_columns_that_were_drawn(seed):
    table, rng = people(300, seed), np.random.default_rng(seed)
    quasi = ["sex", "zip", "height", "town", "income"]
    release = rd.k_anonymise(table, quasi, k=5, method="mondrian").table[quasi]
    release = release.rename(columns={name: f"V{place}" for place, name in enumerate(quasi) if rng.random() < 0.5})
    # Drawn years of the same range would be read as those of birth: nobody can tell, and the judge errs safely.
    beside = drawn(release, seed).drop(columns="year")
    release = release.reset_index(drop=True).join(beside).sample(frac=1, random_state=seed)
    known = {"quasi": QUASI, "attacks": ["exact_join", "class_risk"]}
    found = rd.check(release, table, **known)
    assert found.share_above_limit == 0
    # The release lacks the days of birth: nobody can tell that they are not in what was drawn.
    assert {"z", "key"} <= {name for one in found.findings for name in one["columns"]} <= set(beside)
    assert rd.check(release, table, **known, new=list(beside)).passed
