import json
import math

import numpy as np
import pandas as pd
import pytest
import yaml

import reident as rd
from commands import call
from office import households
from reident.base import ParameterError
from reident.tables.record_risk import individual_risk
from reident.workbench.recipe import Recipe
from samples import drawn


@pytest.fixture(scope="module")
def files():
    home = lambda rng, n: np.where(rng.random(n) < 0.2, None, rng.integers(0, 25, n).astype(str))  # noqa: E731
    survey = drawn(
        90, 5, nr="n{}", age=(20, 60), sex=["f", "m"], ill=["flu", "gout", "none"], party=list("abbbb"), home=home,
        stands_for=(1, 40),
    )  # fmt: skip
    low = survey["age"] // 5 * 5
    labels = [f"[{a}, {a + 5})" for a in low]
    release = survey[["nr", "sex", "ill", "party"]].assign(age=labels).sample(frac=1, random_state=0)
    sizes = survey.groupby([low, "sex"])["nr"].transform("size")
    return survey, release, low, sizes


def judged(files, limit=0.25, **said):
    said = {"attacks": ["exact_join"], "quasi": ["age", "sex"], "pairs": "nr", "limit": limit} | said
    return rd.check(files[1], files[0], **said)


@pytest.mark.parametrize("limit", [0.1, 0.25, 1.0])
def test_a_household_is_found_where_one_member_is(files, limit):
    survey, _, _, sizes = files
    alone = judged(files, limit)
    found = judged(files, limit, household="home")
    risk = (1 / sizes).to_numpy()
    home = survey["home"].to_numpy()
    together = [max(risk[j] for j in range(len(home)) if j == i or (home[i] and home[i] == home[j])) for i in range(90)]
    persons = found.persons.loc[survey.index]
    assert alone.persons.loc[survey.index, "risk"].tolist() == pytest.approx(risk.tolist())
    assert persons["risk"].tolist() == pytest.approx(together)
    assert persons["above"].tolist() == [one > limit for one in together]
    assert found.share_above_limit == pytest.approx(np.mean(np.array(together) > limit))
    assert found.share_above_limit >= alone.share_above_limit
    extra = int((np.array(together) > limit).sum() - (risk > limit).sum())
    n = persons["above"].sum()
    assert any(f"{extra} of the {n} persons above the limit" in note for note in found.notes) == (n > 0)


def modelled(low, survey, weights):
    """One over the people who share the labels, the mean over how many there may be."""
    classes = pd.DataFrame({"low": low, "sex": survey["sex"], "weight": weights})
    return individual_risk(classes, ["low", "sex"], "weight")["risk"]


def test_weights_say_how_much_of_the_population_is_above_the_limit(files, tmp_path):
    survey, _, low, sizes = files
    limit = 0.05
    found = judged(files, limit, weight="stands_for")
    found.save(tmp_path)
    weights, risk = survey["stands_for"], 1 / sizes
    theirs = modelled(low, survey, weights)
    told = found.population
    assert told.persons == pytest.approx(weights.sum())
    assert told.share_above_limit == pytest.approx(weights[risk > limit].sum() / weights.sum())
    assert told.risk == pytest.approx(theirs.mean(), rel=1e-6)
    assert told.worst == pytest.approx(theirs.max(), rel=1e-6)
    assert told.sampled_share_above_limit == pytest.approx(weights[theirs > limit].sum() / weights.sum())
    assert 0 < told.sampled_share_above_limit < told.share_above_limit <= 1
    written = json.loads((tmp_path / "verdict.json").read_text())
    assert written["population"]["persons"] == pytest.approx(weights.sum())
    assert any(f"{weights.sum():,.0f} persons" in note for note in written["notes"])
    assert judged(files, limit).to_dict()["population"] is None
    assert not math.isnan(told.risk)


@pytest.mark.parametrize("population", [None, 9000])
def test_normalised_weights_count_as_they_can_or_are_scaled_to_the_population(files, population):
    survey, _, low, _ = files
    weights = survey["stands_for"] / survey["stands_for"].mean()
    weights[[3, 8]] = [0.0, np.nan]
    stands_for = weights.fillna(0)
    stands_for = (stands_for if population is None else stands_for * population / stands_for.sum()).clip(lower=1)
    limit = 0.05
    given = survey.assign(stands_for=weights)
    found = rd.check(
        files[1], given, quasi=["age", "sex"], pairs="nr", limit=limit, weight="stands_for", population=population,
        attacks=["exact_join"],
    )  # fmt: skip
    risk = modelled(low, survey, stands_for)
    assert found.population.persons == pytest.approx(stands_for.sum())
    assert found.population.risk == pytest.approx(risk.mean(), rel=1e-6)
    assert found.population.worst == pytest.approx(risk.max(), rel=1e-6)
    below = int((stands_for == 1).sum())
    told = [note for note in found.notes if "stands_for" in note]
    assert len(told) == 1
    assert f"{below} below 1 or missing count as 1" in told[0]
    assert ("--population" in told[0]) == (population is None)
    assert (f"population of {9000:,}" in told[0]) == (population is not None)


def test_every_sensitive_column_is_attacked(files):
    survey, release, low, _ = files
    released = release.assign(nr=release["nr"])
    limit = 0.4
    found = judged(files, limit, sensitive=["ill", "party"], attacks=["modal_value", "exact_join"])
    assert found.attacks["name"].tolist() == ["modal_value of ill", "modal_value of party", "exact_join"]
    above = np.zeros(len(survey), dtype=bool)
    for column in ("ill", "party"):
        prior = released[column].value_counts(normalize=True)
        shares = []
        for _, own in survey.groupby([low, "sex"]):
            counts = own[column].value_counts(normalize=True).sort_index()
            value = counts.idxmax()
            gained = (counts[value] - prior[value]) / (1 - prior[value])
            above[own.index] |= gained > limit + 1e-12
            shares.append((own[column] == value).sum())
        row = found.attacks.set_index("name").loc[f"modal_value of {column}"]
        assert row["risk"] == pytest.approx(sum(shares) / len(survey))
    above |= (1 / files[3] > limit).to_numpy()
    assert found.persons.loc[survey.index, "above"].tolist() == above.tolist()
    single = judged(files, limit, sensitive="ill", attacks=["modal_value"])
    assert single.attacks["name"].tolist() == ["modal_value"]
    with pytest.raises(ParameterError, match="`sensitive` must not be a quasi-identifier too, got 'age'"):
        judged(files, sensitive=["ill", "age"])


@pytest.fixture(scope="module")
def homes():
    rng = np.random.default_rng(0)
    home = np.repeat(np.arange(150), rng.choice([1, 2, 3, 4, 5, 7], 150, p=[0.3, 0.3, 0.2, 0.1, 0.07, 0.03]))
    n = len(home)
    lat, lon, moved = rng.uniform(50, 50.5, 150), rng.uniform(8, 8.7, 150), rng.normal(0, 0.02, (150, 2))
    persons = pd.DataFrame(
        {
            "nr": [f"n{i}" for i in range(n)],
            "home": [f"h{one}" for one in home],
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(0, 3, n) * 30,
            "lat": lat[home],
            "lon": lon[home],
        }
    )
    release = persons.assign(lat=persons["lat"] + moved[home, 0], lon=persons["lon"] + moved[home, 1])
    return persons, release.iloc[rng.permutation(n)]


def members(table, by, quasi):
    return {one: tuple(sorted(map(tuple, own[quasi].to_numpy().tolist()))) for one, own in table.groupby(by)}


@pytest.mark.parametrize("quasi", [[], ["sex", "age"]])
def test_households_are_told_by_all_their_members(homes, quasi):
    persons, release = homes
    kinds = members(persons, "home", quasi)
    alike = pd.Series(kinds).value_counts()
    naive = 1 / persons["home"].map(kinds).map(alike).to_numpy()
    shown = release[["nr", "home", *quasi]].assign(home=release["home"].str[1:].radd("x"))
    said = {"lat": "lat", "lon": "lon", "pairs": "nr", "household": "home", "attacks": ["household_join"]}
    found = rd.check(shown, persons, quasi=quasi, **said)
    assert found.persons["risk"].to_numpy() == pytest.approx(naive)
    assert found.share_above_limit == pytest.approx((naive > 0.25).mean())
    alone = rd.check(shown, persons, quasi=quasi, **{**said, "attacks": ["exact_join"]})
    assert alone.share_above_limit <= found.share_above_limit
    hidden = rd.check(shown.drop(columns="home"), persons, quasi=quasi, **said) if quasi else None
    assert hidden is None or "does not show who lives together" in hidden.attacks["reason"].iloc[0]


@pytest.mark.parametrize(("quasi", "key"), [([], []), (["sex"], ["home"]), (["sex", "age"], [])])
def test_households_moved_together_are_found_by_the_nearest_of_as_many_members(homes, quasi, key):
    persons, release = homes
    kinds, theirs = members(persons, "home", quasi), members(release, ["lat", "lon"], quasi)
    where, true = np.array(list(theirs)), release.groupby("home")[["lat", "lon"]].first()
    right = []
    for home, own in persons.groupby("home"):
        gaps = np.hypot(*(where - own[["lat", "lon"]].to_numpy()[0]).T)
        gaps[[kind != kinds[home] for kind in theirs.values()]] = np.inf
        right += [bool((where[np.argmin(gaps)] == true.loc[home]).all())] * len(own)
    said = {"lat": "lat", "lon": "lon", "pairs": "nr", "household": "home", "quasi": quasi}
    found = rd.check(release[["nr", *key, *quasi, "lat", "lon"]], persons, **said, attacks=["household_join"])
    row = found.attacks.iloc[0]
    assert row["high"] >= np.mean(right)
    assert row["risk"] >= np.mean(right) - 0.03
    assert found.share_above_limit >= np.mean(right) - 0.03
    # Each by himself is one of his household, and the mean of the household's places tells no less than one of them.
    single = rd.check(release[["nr", *quasi, "lat", "lon"]], persons, **said, attacks=["nearest_place"])
    assert row["risk"] > single.attacks["risk"].iloc[0]


@pytest.mark.parametrize("quasi", [[], ["sex", "age"]])
def test_spatial_k_counts_households_where_they_are_known(homes, quasi):
    persons, release = homes
    places = persons.groupby("home")[["lat", "lon"]].first()
    said = {"lat": "lat", "lon": "lon", "pairs": "nr", "household": "home", "quasi": quasi, "attacks": ["spatial_k"]}
    found = rd.check(release[["nr", *quasi, "lat", "lon"]], persons, **said)
    least = most = 0.0
    for _, record in release.iterrows():
        own = places.loc[persons["home"][(persons[quasi] == record[quasi]).all(axis=1)].unique()]
        apart = np.hypot(own["lat"] - record["lat"], (own["lon"] - record["lon"]) * np.cos(np.radians(50.25)))
        low, high = ((apart <= apart[record["home"]] * reach).sum() for reach in (0.98, 1.02))
        least += 1 / high
        most += 1 / max(1, low)
    row = found.attacks.iloc[0]
    assert row["verdict"] == "a measure"
    assert found.share_above_limit == 0
    assert least / len(persons) - 1e-9 <= row["risk"] <= most / len(persons) + 1e-9


def test_an_intruder_who_does_not_know_who_is_in_the_file_is_as_sure_as_the_weights_say(files, tmp_path):
    survey, _, low, sizes = files
    whole = survey.assign(stands_for=survey["stands_for"] + 1)
    files = (whole, *files[1:])
    knows = judged(files, 0.1).persons.loc[whole.index, "risk"]
    verdict = judged(files, 0.1, weight="stands_for", intruder="journalist")
    persons = verdict.persons.loc[whole.index]
    model = modelled(low, whole, whole["stands_for"])
    wanted = knows * (model * sizes).clip(upper=1)  # one record of the class is the person's, if the person is there
    assert persons["risk"].tolist() == pytest.approx(wanted.tolist())
    assert persons["above"].tolist() == (wanted > 0.1).tolist()
    assert persons["above"].sum() < (knows > 0.1).sum()
    assumed = [any("not to know" in note for note in one.notes) for one in (judged(files), verdict)]
    assert assumed == [False, True]
    recipe = tmp_path / "recipe.yaml"
    Recipe(schema=rd.Dataset(whole, quasi=["age", "sex"], weight="stands_for").schema, intruder="journalist").write(
        recipe
    )
    again = rd.check(files[1], rd.Dataset.of(whole, recipe=recipe), pairs="nr", limit=0.1, attacks=["exact_join"])
    assert again.share_above_limit == verdict.share_above_limit
    with pytest.raises(ParameterError, match="weight"):
        judged(files, intruder="journalist")
    with pytest.raises(ParameterError, match="'spy'"):
        judged(files, intruder="spy")


@pytest.fixture(scope="module")
def illness_files():
    """A survey with a rare illness, and a release of it with ages in intervals; most classes have no case."""
    rng = np.random.default_rng(3)
    n = 200
    age = rng.integers(20, 60, n)
    survey = pd.DataFrame({"nr": np.arange(n), "age": age, "depressed": np.where(rng.random(n) < 0.06, "yes", "no")})
    survey.loc[(age >= 20) & (age < 25), "depressed"] = "yes"
    low = age // 5 * 5
    release = survey.assign(age=[f"[{a}, {a + 5})" for a in low]).iloc[rng.permutation(n)]
    return survey, release, low


def judged_illness(illness_files, sensitive, attack="modal_value"):
    survey, release, _ = illness_files
    return rd.check(release, survey, pairs="nr", quasi=["age"], sensitive=sensitive, attacks=[attack], limit=0.25)


def test_learning_that_a_person_has_not_the_secret_value_is_no_disclosure(illness_files):
    survey, _, low = illness_files
    is_case = survey["depressed"] == "yes"
    share, prior = is_case.groupby(low).transform("mean"), is_case.mean()
    gain = ((share - prior) / (1 - prior)).clip(lower=0)
    for attack in ("modal_value", "skewness"):
        found = judged_illness(illness_files, "depressed=yes", attack).persons.loc[survey.index]
        wanted = gain if attack == "modal_value" else gain.where(share - prior >= 0.25, 0)
        assert found["risk"].tolist() == pytest.approx(wanted.tolist())
    assert judged_illness(illness_files, "depressed").share_above_limit > 0.5
    assert judged_illness(illness_files, "depressed=yes").share_above_limit == pytest.approx((gain > 0.25).mean())


@pytest.mark.parametrize("attack", ["homogeneity", "background_knowledge", "attribute_inference"])
def test_other_attacks_claim_the_secret_value_alone(illness_files, attack):
    _, _, low = illness_files
    found = judged_illness(illness_files, "depressed=yes", attack)
    all_ill = low == 20
    above = found.persons.loc[illness_files[0].index, "above"].to_numpy(bool)
    assert not above[~all_ill].any()
    if attack != "attribute_inference":  # a model without the person says the same: a statistic, no disclosure
        assert above[all_ill].all()


def test_a_coded_column_keeps_its_secret(illness_files):
    survey, release, low = illness_files
    coded = release.assign(depressed=release["depressed"].map({"yes": "b", "no": "a"}))
    plain = judged_illness(illness_files, "depressed=yes")
    assert judged_illness((survey, coded, low), "depressed=yes").persons["risk"].equals(plain.persons["risk"])


def test_the_map_judges_the_secret_value_alone(illness_files):
    survey = illness_files[0].drop(columns="nr")
    options = {"quasi": ["age"], "methods": [{"name": "mondrian", "k": 5}], "attacks": ["homogeneity"], "seed": 1}
    every, only = (
        rd.risk_utility(survey, sensitive=named, repetitions=1, progress=False, **options)
        for named in ("depressed", "depressed=yes")
    )
    assert only["above"].max() < every["above"].max() / 2
    assert every["recall"].max() <= 1


def written(folder, table):
    table.to_csv(folder / "haushalte.csv", sep=";", index=False, encoding="latin-1")
    call(folder, "open", "haushalte.csv", "--try", "grid:cell_m=5000", "--try", "mondrian:k=100", code=0)
    return folder / "recipe.yaml"


def with_chain(recipe, k, least):
    told = yaml.safe_load(recipe.read_text("utf-8"))
    told["chain"] = [
        {"method": "mondrian", "parameters": {"k": k}},
        {"method": "grid", "parameters": {"cell_m": 5000.0, "min_count": least}},
    ]
    recipe.write_text(yaml.safe_dump(told, allow_unicode=True), "utf-8")


def agrees(value, label):
    if value == "":
        return "(missing)" in label or label == "*"
    if label[:1] == "[":
        low, high = map(float, label.strip("[]").split(", "))
        return low <= float(value) <= high
    return value in label.strip("{}").split(", ") or label == "*"


def fewest(table, release):
    """The fewest records at the nearest released place that agree with each person; 0 where none does."""
    as_number = {name: (lambda text: float(text.replace(",", "."))) for name in ("Breite", "Länge")}
    places, homes = (t[["Breite", "Länge"]].map(as_number["Breite"]) for t in (release, table[table["Breite"] != ""]))
    cells = places.drop_duplicates().to_numpy()
    labels = release[["PLZ", "Alter", "Geschlecht"]]
    distinct = labels.drop_duplicates()
    found = []
    for row, home in homes.iterrows():
        gaps = np.hypot(cells[:, 0] - home["Breite"], (cells[:, 1] - home["Länge"]) * np.cos(np.radians(49)))
        there = labels[(places.to_numpy() == cells[gaps.argmin()]).all(axis=1)]
        fit = [all(agrees(table[name][row], label[name]) for name in labels) for _, label in distinct.iterrows()]
        found.append(len(there.merge(distinct[fit])))
    return np.array(found)


@pytest.mark.slow
def test_from_the_file_of_households_to_a_release_with_places_that_passed(tmp_path):
    table = households(360).reset_index(drop=True)
    recipe = written(tmp_path, table)
    assert "role: household" in recipe.read_text("utf-8")
    for k, least, code in ((160, 32, 0), (40, 1, 3)):
        with_chain(recipe, k, least)
        call(tmp_path, "protect", "--recipe", "recipe.yaml", "--out", f"release{k}", code=0)
        release = pd.read_csv(tmp_path / f"release{k}/release.csv", sep=";", dtype=str, encoding="latin-1")
        release = release.fillna("")
        judged = call(
            tmp_path, f"check --quick release{k} --against haushalte.csv --recipe recipe.yaml --out {k}", code=code
        )
        assert ("passed" in judged.stdout.splitlines()[0]) == (code == 0)
        assert len(release) > 0.3 * len(table)
        assert not set(release["Breite"] + release["Länge"]) & set(table["Breite"] + table["Länge"])
        counts = fewest(table, release)
        naive = (1 / counts[counts > 0] > 0.25).mean()
        above = yaml.safe_load((tmp_path / f"{k}/verdict.json").read_text("utf-8"))["share_above_limit"]
        assert above >= naive - 1e-9
        assert (naive == 0) == (code == 0)
