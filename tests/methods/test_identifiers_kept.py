"""Identifiers in a release refuse it, rewritten without a key as well; keys, new numbers and `id` do not."""

import base64
import hashlib
import hmac

import numpy as np
import pandas as pd
import pytest

import reident as rd
from reident.workbench.identifiers_kept import identifiers_kept
from reident.workbench.recipe import recipe_of

pytestmark = pytest.mark.whole


def people(first=523_417, step=37):
    rng = np.random.default_rng(3)
    numbers = rng.permutation(first + step * np.arange(240) + rng.integers(0, step, 240))
    return pd.DataFrame(
        {"nr": [f"{number:08d}" for number in numbers], "sex": rng.choice(list("fm"), 240), "ill": ["x", "y"] * 120}
    )


def digest(name, length=None):
    return lambda text: hashlib.new(name, text.encode()).hexdigest()[:length]


KEYLESS = {
    "as it is": str,
    "without leading zeros": lambda text: text.lstrip("0"),
    "in reverse": lambda text: text[::-1],
    "in base64": lambda text: base64.b64encode(text.encode()).decode(),
    "MD5": digest("md5"),
    "SHA1": lambda text: digest("sha1")(text).upper(),
    "SHA256": digest("sha256", 12),
    "SHA512": lambda text: base64.b64encode(hashlib.sha512(text.encode()).digest()).decode(),
    "in hexadecimal": lambda text: f"{int(text):x}",
    "by its digits": lambda text: f"P{text}",
    "with other signs": lambda text: f"{text[:3]}-{text[3:]}",
    "inside a text": lambda text: f"reported of {text} on Monday",
    "its MD5 sum": lambda text: digest("md5")(text.zfill(10)),
    "moved by one number": lambda text: int(text) + 7_000_001,
}


@pytest.mark.parametrize("told", KEYLESS)
@pytest.mark.parametrize("by", ["quasi", "recipe"])
def test_an_identifier_that_anybody_can_compute_refuses_a_release(told, by, tmp_path):
    table = people()
    table.to_csv(tmp_path / "people.csv", index=False)
    release = pd.DataFrame({"code": table["nr"].map(KEYLESS[told]), "sex": table["sex"]}).sample(
        frac=0.8, random_state=1
    )
    opened = rd.open_file(tmp_path / "people.csv")
    roles = {"recipe": recipe_of(opened)} if by == "recipe" else {"quasi": ["sex"]}
    found = rd.check(release, opened.data, attacks=["exact_join"], **roles)
    assert not found.passed
    (finding,) = found.findings
    assert (finding["kind"], finding["columns"]) == ("identifier", ["nr"])
    assert told in finding["sentence"]
    assert "'code' of the release holds the identifier 'nr'" in found.sentence
    assert not any(number in str(found.to_dict()) for number in table["nr"])


@pytest.mark.parametrize(
    "code",
    [
        lambda table: [hmac.new(b"a key", nr.encode(), "sha256").hexdigest() for nr in table["nr"]],
        lambda table: np.random.default_rng(1).permutation(len(table)) + 1,
        lambda table: np.random.default_rng(1).integers(0, 10**8, len(table)),
        lambda table: [f"c{place % 7}" for place in range(len(table))],
    ],
)
def test_keys_and_new_numbers_are_no_identifiers(code):
    table = people()
    release = pd.DataFrame({"code": code(table), "sex": table["sex"]})
    assert rd.check(release, table, quasi=["sex"], attacks=["exact_join"]).passed


def test_numbers_from_one_on_and_the_custodians_own_key_say_nothing():
    table = people().assign(nr=np.random.default_rng(0).permutation(240) + 1)
    release = pd.DataFrame({"number": range(1, 241), "sex": table["sex"]})
    assert rd.check(release, table, quasi=["sex"], attacks=["exact_join"]).passed
    table = people()
    assert rd.check(table[["nr", "sex"]], table, quasi=["sex"], id="nr", attacks=["exact_join"]).passed


def numbered(n=400):
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "pat_nr": rng.permutation(n) + 1, "sex": rng.choice(["f", "m"], n), "age": rng.integers(18, 90, n),
            "ill": rng.choice(["I10", "E11", "F32"], n),
        }
    )  # fmt: skip


@pytest.mark.parametrize("name", ["pat_nr", "PAT-NR", "V1"])
def test_identifiers_from_one_on_that_are_kept_refuse_a_release_and_new_ones_pass(name):
    table = numbered()
    masked = table.assign(age=table["age"] // 20 * 20).sample(frac=1, random_state=2).reset_index(drop=True)
    kept = masked.rename(columns={"pat_nr": name})
    (finding,) = rd.check(kept, table, quasi=["sex"], attacks=["exact_join"]).findings
    assert (finding["kind"], finding["columns"]) == ("identifier", ["pat_nr"])
    for new in (np.arange(400) + 1, np.random.default_rng(3).permutation(400)):
        release = masked.drop(columns="pat_nr").assign(number=new)
        assert rd.check(release, table, quasi=["sex"], attacks=["exact_join"]).passed


def test_numbers_along_a_column_that_both_files_were_numbered_along_are_new_ones():
    table = numbered().sort_values("age", ignore_index=True).assign(pat_nr=np.arange(400) + 1)
    release = table.sample(frac=1, random_state=2).sort_values("age", ignore_index=True)
    release = release.assign(number=np.arange(400) + 1).drop(columns="pat_nr")
    assert not identifiers_kept(table, release, ["pat_nr"])


NAMES = {
    "in another order": lambda first, last: f"{first} {last}",
    "inside a text": lambda first, last: f"report of {last}, {first}, who is well",
    "its MD5 sum": lambda first, last: digest("md5")(f"{last}, {first}".lower()),
}


@pytest.mark.parametrize("written", NAMES)
def test_names_in_another_order_inside_texts_and_as_sums_refuse_a_release(written):
    first, last = ["Anna", "Jonas", "Mia", "Emil", "Ida"], [f"Meier{chr(97 + place)}s" for place in range(20)]
    pairs = [(one, other) for one in first for other in last]
    table = pd.DataFrame({"name": [f"{other}, {one}" for one, other in pairs], "sex": ["f", "m"] * 50})
    release = pd.DataFrame({"k": [NAMES[written](*pair) for pair in pairs], "sex": table["sex"]})
    assert len(identifiers_kept(table, release, ["name"])) == 1
    other = pd.DataFrame({"k": [f"report {place}, all well" for place in range(100)], "sex": table["sex"]})
    assert not identifiers_kept(table, other, ["name"])


def test_identifiers_as_numbers_with_a_point_are_identifiers():
    table = people()
    release = pd.DataFrame({"k": table["nr"].astype(float), "sex": table["sex"]})
    assert len(identifiers_kept(table, release, ["nr"])) == 1


def test_ages_are_not_the_digits_of_running_identifiers():
    """P0000 to P0079 have the digits of any small number."""
    rng = np.random.default_rng(3)
    sex, age = rng.choice(["f", "m"], 80), rng.integers(20, 80, 80)
    table = pd.DataFrame({"nr": [f"P{i:04d}" for i in range(80)], "age": age, "sex": sex})
    release = table[["age", "sex"]].sample(frac=1, random_state=1)
    assert not identifiers_kept(table, release, ["nr"])


def patients(n=600, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "sex": rng.choice(list("fm"), n), "age": rng.integers(18, 90, n),
            "plz": rng.choice([f"{plz:05d}" for plz in range(1067, 1107)], n, p=np.arange(1, 41) / 820),
            "ill": rng.choice(["flu", "gout"], n),
        }
    )  # fmt: skip


@pytest.mark.parametrize("name", ["Nachname", "surname", "last_name", "apellidos", "Familienname"])
def test_surnames_are_identifiers_however_often_they_occur(name, tmp_path):
    rng = np.random.default_rng(1)
    table = patients().assign(**{name: [f"Familie{i}" for i in rng.integers(0, 90, 600)]})
    table.to_csv(tmp_path / "people.csv", index=False)
    assert recipe_of(rd.open_file(tmp_path / "people.csv")).named("identifier") == [name]
    found = rd.check(table[["sex", name]].sample(frac=1, random_state=1), table, quasi="sex", attacks=["exact_join"])
    assert not found.passed
    assert f"'{name}' of the release holds the identifier '{name}'" in found.sentence
    assert rd.check(table[["sex"]], table, quasi="sex", attacks=["exact_join"]).passed


def test_short_identifiers_inside_texts_refuse_a_release():
    rng = np.random.default_rng(2)
    table = patients(300).assign(nr=[f"{i:05d}" for i in rng.choice(100_000, 300, replace=False)])
    shown = table[["sex"]].assign(note=[f"see letter {nr} of the ward" for nr in table["nr"]])
    said = {"quasi": "sex", "attacks": ["exact_join"], "new": "note"}
    found = rd.check(shown.sample(frac=1, random_state=1), table, **said)
    assert "'note' of the release holds the identifier 'nr' of the original, inside a text" in found.sentence
    others = [f"see letter {i:05d} of the ward" for i in rng.choice(100_000, 300, replace=False)]
    days = pd.to_datetime("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, 300), "D")
    for harmless in (others, [f"seen on {day:%d.%m.%Y} again" for day in days]):
        assert rd.check(shown.assign(note=harmless), table, **said).passed


@pytest.mark.parametrize("first", [1, 1001, 700_000])
@pytest.mark.parametrize("shift", [-250, 3, 5000])
def test_dense_identifiers_that_were_moved_refuse_a_release_and_new_numbers_pass(first, shift):
    rng = np.random.default_rng(3)
    table = patients().assign(pat_nr=first + rng.permutation(600))
    said = {"quasi": ["sex"], "attacks": ["exact_join"], "new": "nr", "limit": 1}
    moved = table["pat_nr"] + shift
    shown = table[["sex", "plz", "age"]].assign(nr=moved - min(0, moved.min()))
    found = rd.check(shown.sample(frac=1, random_state=1), table, **said)
    assert "'nr' of the release holds the identifier 'pat_nr' of the original" in found.sentence
    if first == 1:
        assert "moved by one number" in found.sentence
    assert "'plz' of the release" not in found.sentence  # 01067 is no 1067
    for begins in (1, 20_000):
        assert rd.check(shown.assign(nr=begins + rng.permutation(600)), table, **said).passed


def test_a_key_beside_a_coarser_form_of_what_it_is_made_of_refuses_a_release():
    table = patients()
    coarse = table[["sex"]].assign(plz=[f"{plz[:3]}**" for plz in table["plz"]])
    key = [hmac.new(b"secret", plz.encode(), "sha256").hexdigest()[:10] for plz in table["plz"]]
    said = {"quasi": ["sex", "plz"], "attacks": ["exact_join"], "limit": 1}
    assert rd.check(coarse, table, **said).passed
    found = rd.check(coarse.assign(region_key=key).sample(frac=1, random_state=1), table, **said)
    assert not found.passed
    assert "region_key: nobody has judged" in found.findings[0]["sentence"]
    assert "says of plz" in found.findings[0]["sentence"]
    rng = np.random.default_rng(4)
    for other in (rng.integers(0, 40, 600), rng.normal(size=600), rng.integers(0, 7, 600), np.arange(600)):
        assert rd.check(coarse.assign(score=other), table, **said).passed
