import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

import reident as rd
from judged import attacked
from reident.methods.attacks import run_attack
from reident.methods.outcome import person_risks
from reident.methods.release import Knowledge, Release
from reident.places.points import unit_vectors
from reident.tables.labels import LabelReader
from reident.workbench.making import Step, make
from samples import drawn

QUICK = ["exact_join", "nearest_record", "record_assignment", "homogeneity", "modal_value", "skewness"]


def people(n=300, seed=0, towns=60):
    ill = lambda rng, n: rng.choice(["flu", "gout", "cancer"], n, p=[0.6, 0.3, 0.1])  # noqa: E731
    table = drawn(n, seed, sex=["f", "m"], age=(18, 90), town=(0, towns), ill=ill, lat=(48.0, 49.0), lon=(8.0, 9.0))
    return table.assign(id=range(n), town=table["town"].map("D-{:05d}".format))


def row_of(found, name):
    return found.set_index("name").loc[name]


# Naive intruders, a few lines each.


def naive_join(release, original, columns):
    right = 0.0
    for _, person in original.iterrows():
        same = [record["id"] for _, record in release.iterrows() if all(record[c] == person[c] for c in columns)]
        right += (person["id"] in same) / len(same) if same else 0.0
    return right / len(original)


def naive_modal(release, original, columns):
    right = 0
    for _, person in original.iterrows():
        same = release[(release[columns] == person[columns]).all(axis=1)]["ill"]
        right += len(same) > 0 and person["ill"] == same.value_counts().index[0]
    return right / len(original)


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.integers(5, 40), st.integers(1, 30), st.booleans())
def test_exact_join_is_never_below_the_naive_one(seed, n, towns, drop):
    table = people(n, seed, towns)[["id", "sex", "age", "town", "ill"]]
    release = table.sample(frac=1, random_state=seed % 1000)
    release = release.drop(columns="age") if drop else release
    columns = [c for c in ("sex", "age", "town") if c in release]
    found = attacked(release, table, quasi=["sex", "age", "town"], sensitive="ill", id="id", attacks=QUICK)
    naive = naive_join(release, table, columns)
    assert row_of(found, "exact_join")["risk"] == pytest.approx(naive)
    assert row_of(found, "modal_value")["risk"] >= naive_modal(release, table, columns) - 1e-9
    assert found["worst"].max() >= naive


@pytest.mark.parametrize("radius_m", [2000.0, 20000.0])
def test_spatial_k_counts_who_agrees_with_the_record_where_labels_overlap(radius_m):
    table = people(120, 5, 3).assign(age=np.random.default_rng(5).integers(20, 60, 120))
    moved = rd.places.mask_disc(table.rename(columns={"lat": "lat_deg", "lon": "lon_deg"}), radius_m=radius_m, rng=5)
    low, wide = table["age"] - np.arange(120) % 7, 8 + 4 * (np.arange(120) % 3)
    release = table.drop(columns="age").assign(
        age=[f"[{a}, {a + b})" for a, b in zip(low, wide, strict=True)], lat=moved["lat_deg"], lon=moved["lon_deg"]
    )
    naive = []
    for i in range(120):
        agree = table["age"].between(low[i], low[i] + wide[i] - 1) & (table["sex"] == table["sex"][i])
        near = rd.great_circle_km(
            [release["lat"][i], *table["lat"]], [release["lon"][i], *table["lon"]]
        )[0, 1:]  # fmt: skip
        naive.append(1 / (agree.to_numpy() & (near <= near[i] + 1e-6)).sum())
    found = attacked(
        release, table, quasi=["sex", "age"], lat="lat", lon="lon", id="id", attacks=["spatial_k"]
    )  # fmt: skip
    assert row_of(found, "spatial_k")["risk"] == pytest.approx(np.mean(naive))


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(5, 40))
def test_degrees_are_never_judged_below_the_naive_guess(seed, n):
    graph = nx.gnm_random_graph(n, 2 * n, seed=seed)
    persons = pd.DataFrame({"x": range(n)})
    found = attacked(graph, persons, quasi="x", network=graph, attacks=["degree", "neighbourhood"])
    degrees = [d for _, d in graph.degree]
    naive = float(np.mean([1 / degrees.count(d) for d in degrees]))
    assert row_of(found, "degree")["risk"] == pytest.approx(naive)
    assert row_of(found, "neighbourhood")["risk"] >= naive - 1e-9
    assert row_of(found, "degree")["worst"] == pytest.approx(1 / min(degrees.count(d) for d in degrees))


def agrees(label, value):
    """Whether a released label may stand for a value: itself, all, an interval, a list."""
    text = str(label)
    if text in (str(value), "*"):
        return True
    inner = text[1:-1].split(", ")
    if text[0] == "[" and not isinstance(value, str):
        low, high = map(float, inner)
        return low <= value < high or (text[-1] == "]" and value == high)
    return text[0] in "[{" and str(value) in inner


@settings(max_examples=12)
@given(
    st.integers(0, 10**6), st.integers(20, 45), st.integers(2, 6), st.floats(100, 20_000), st.booleans(), st.booleans()
)
@pytest.mark.slow
def test_no_chain_is_judged_below_naive_intruders(seed, n, k, radius_m, lattice, noisy):
    """Labels coarsened, places masked, a number noised, in one release: each naive intruder reads what is left."""
    table = people(n, seed, towns=3).rename(columns={"lat": "lat_deg", "lon": "lon_deg"})
    table["pay"] = np.random.default_rng(seed).normal(3000, 500, n)
    name = "k_anonymity" if lattice else "mondrian"
    chain = [(name, {"k": k}, ["sex", "age", "town"]), ("disc", {"radius_m": radius_m}, None)]
    chain += [("add_noise", {"relative": 0.2}, ["pay"])] if noisy else []
    steps = [Step(one, columns=columns, **given) for one, given, columns in chain]
    quasi = ["sex", "age", "town", "pay"] if noisy else ["sex", "age", "town"]
    data = rd.Dataset(table, quasi=quasi, sensitive="ill")
    release = make(data, steps, rng=np.random.default_rng(seed)).table
    release = release.drop(columns=[] if noisy else ["pay"]).sample(frac=1, random_state=seed % 1000)
    found = attacked(
        release, table, quasi=quasi, sensitive="ill", id="id", lat="lat_deg", lon="lon_deg",
        attacks=["exact_join", "nearest_place", "modal_value"],
    )  # fmt: skip
    mine, theirs = table["id"].to_numpy(), release["id"].to_numpy()
    labels = {c: release[c].to_numpy(object) for c in ("sex", "age", "town")}
    alike = np.array(
        [[all(agrees(labels[c][j], person[c]) for c in labels) for j in range(len(release))]
         for _, person in table.iterrows()]
    )  # fmt: skip
    inside = np.isin(mine, theirs)
    own = (mine[:, None] == theirs)[inside]
    alike = alike[inside]
    joined = ((alike & own).any(axis=1) / np.maximum(alike.sum(axis=1), 1)).mean()
    assert row_of(found, "exact_join")["risk"] >= joined - 1e-9
    assert row_of(found, "exact_join")["worst"] >= (1 / alike.sum(axis=1)[alike.any(axis=1)]).max() - 1e-9
    km = rd.places.great_circle_cross_km(table["lat_deg"], table["lon_deg"], release["lat_deg"], release["lon_deg"])[
        inside
    ]
    nearest = np.where(alike, km, np.inf).argmin(axis=1)
    placed = (alike.any(axis=1) & own[np.arange(len(own)), nearest]).mean()
    assert row_of(found, "nearest_place")["risk"] >= placed - 1e-9
    ill, secret = release["ill"].to_numpy(object), table["ill"].to_numpy(object)[inside]
    guessed = [
        pd.Series(ill[row]).value_counts().reindex(sorted(set(ill))).idxmax() == value if row.any() else False
        for row, value in zip(alike, secret, strict=True)
    ]
    assert row_of(found, "modal_value")["risk"] >= np.mean(guessed) - 1e-9


def test_rounded_and_generalised_values_are_read_back():
    table = people(400, 3)
    rounded = table[["id", "sex", "age", "town"]].assign(age=(table["age"] / 5).round() * 5)
    found = row_of(attacked(rounded, table, quasi=["sex", "age", "town"], id="id", attacks=QUICK), "exact_join")
    keys = [table["sex"], table["town"]]
    ages = table["age"].to_numpy()
    naive = 0.0
    for i in range(len(table)):
        same = (keys[0] == keys[0][i]) & (keys[1] == keys[1][i]) & (np.abs(rounded["age"] - ages[i]) <= 2.5)
        naive += same[i] / same.sum()
    assert found["risk"] == pytest.approx(naive / len(table))
    made = rd.k_anonymise(
        table.set_index("id"), ["age", "town"], k=5, method="mondrian",
        hierarchies={c: rd.workbench.microdata.automatic_hierarchy(table[c]) for c in ("age", "town")},
    ).table.reset_index()  # fmt: skip
    kept = row_of(attacked(made, table, quasi=["age", "town"], id="id", attacks=QUICK), "exact_join")
    assert kept["worst"] <= 1 / 5
    shown = [LabelReader(pd.Index(table[column]), pd.Index(made[column])).cover() for column in ("age", "town")]
    covers = np.logical_and(*shown)
    assert kept["risk"] == pytest.approx(np.mean(np.diag(covers) / covers.sum(axis=1)))
    assert kept["verdict"] == "within the limit"


def test_gaps_in_a_column_of_numbers_leave_the_rest_numbers():
    """Incomes within a tenth of the range in each town: who has one is known to within it, and some have none."""
    rng = np.random.default_rng(9)
    town = rng.integers(0, 40, 400)
    table = pd.DataFrame({"id": range(400), "town": town.astype(str), "pay": 100.0 * town + rng.integers(0, 50, 400)})
    table.loc[rng.random(400) < 0.05, "pay"] = np.nan
    found = attacked(table, table, quasi="town", sensitive="pay", id="id", attacks=["similarity"])
    there = table.groupby("town")["pay"].transform("count") / table.groupby("town")["pay"].transform("size")
    assert row_of(found, "similarity")["risk"] == pytest.approx(table["pay"].notna().mean())
    assert row_of(found, "similarity")["worst"] == pytest.approx(there.max(), abs=0.02)
    assert row_of(found, "similarity")["share_above_limit"] == 1


def test_of_many_persons_a_part_tells_the_size_of_the_noise(monkeypatch):
    rng = np.random.default_rng(3)
    known = pd.DataFrame({"lat_deg": rng.uniform(47, 55, 8000), "lon_deg": rng.uniform(6, 15, 8000)})
    release = Release("points", known + rng.normal(0, 0.01, known.shape), "coordinate_noise", {"sigma_deg": 0.01}, 8000)
    knowledge = Knowledge(known, [], np.arange(8000), n_persons=8000)
    of_all = run_attack("nearest_place", knowledge.on(release)).claims
    monkeypatch.setattr("reident.methods.nearest._FROM", 1000)
    of_some = run_attack("nearest_place", knowledge.on(release)).claims
    assert (of_some["claim"] == of_all["claim"]).all()
    # The sizes that are tried lie a fifth apart.
    assert of_some["confidence"].mean() == pytest.approx(of_all["confidence"].mean(), abs=0.05)
    places = unit_vectors(*release.table.to_numpy().T)
    at = cKDTree(places).query(unit_vectors(*known.to_numpy().T))[1]
    assert (of_all["claim"] == at).all()


def test_places_with_gaps_are_attacked_as_far_as_they_go():
    """One missing coordinate had ended the check; nobody without a place is counted among those found by theirs."""
    rng = np.random.default_rng(3)
    people = pd.DataFrame(
        {"id": np.arange(60), "sex": rng.choice(["f", "m"], 60), "lat": rng.uniform(50, 51, 60),
         "lon": rng.uniform(8, 9, 60)}
    )  # fmt: skip
    people.loc[:5, "lat"] = np.nan
    people.loc[6:9, "lon"] = np.nan
    released = people.sample(frac=1, random_state=1)
    roles = {"quasi": "sex", "lat": "lat", "lon": "lon"}
    found = rd.check(released, people, "id", **roles, attacks="quick", earlier=[released])
    assert found.n_above == 50
    attacks = found.attacks.set_index("name")
    assert attacks.loc["nearest_place", ["risk", "n", "n_above"]].tolist() == [1.0, 50, 50]


@pytest.mark.parametrize(("n", "sd_km"), [(400, 1.0), (200, 5.0)])
def test_the_posterior_of_a_mask_is_as_sure_as_it_is_right_and_an_assignment_finds_more(n, sd_km):
    """Uniform places in a square of 100 km at the equator, normal noise, six draws."""
    degree, found = 6371 * np.pi / 180, []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        known = pd.DataFrame(rng.uniform(0, 100 / degree, (n, 2)), columns=["lat_deg", "lon_deg"])
        table = known + rng.normal(0, sd_km / degree, (n, 2))
        release = Release("points", table, "coordinate_noise", {"sigma_deg": sd_km / degree}, n)
        knowledge = Knowledge(known, [], np.arange(n))
        outcomes = [run_attack(name, knowledge.on(release)) for name in ("known_mask", "place_assignment")]
        judged, assigned = (person_risks(outcome, 0.25)[0] for outcome in outcomes)
        found.append((outcomes[0].claims["confidence"].mean(), judged["risk"], assigned["risk"]))
    sure, right, assigned = np.mean(found, axis=0)
    assert sure == pytest.approx(right, abs=5 * np.sqrt(right * (1 - right) / (6 * n)))
    assert assigned > right


def test_a_report_comes_back_from_its_json_as_it_was():
    dataset = rd.Dataset(people(120), quasi=["sex", "age", "town"], sensitive="ill", lat="lat", lon="lon")
    report = rd.evaluate(rd.protect(dataset, Step("disc", radius_m=2000.0)), quick=True)
    assert "spatial_k" not in report.applied["name"].tolist()  # a measure without a verdict, as its reason says
    assert "measures" in report.skipped["spatial_k"]
    stored = rd.RiskReport.of_json(report.to_json(), report.persons.index)
    pd.testing.assert_frame_equal(stored.frame, report.frame)
    pd.testing.assert_frame_equal(stored.persons, report.persons)
    assert (stored.share_above_limit, stored.by_household) == (report.share_above_limit, report.by_household)
    assert (stored.skipped, stored.highest, stored.attack) == (report.skipped, report.highest, report.attack)
