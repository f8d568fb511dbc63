import numpy as np
import pandas as pd
import pytest

import reident as rd
from reident.base import DataError, ParameterError
from reident.workbench.composition import class_sizes
from reident.workbench.examples import example_patients
from samples import drawn


def gaps(n=200, seed=1):
    table = drawn(n, seed, age=(20, 80), sex=["f", "m"], region=list("abcd"), ill=["flu", "gout", "none"])
    table = table.astype({"age": float})
    table.loc[:12, "age"] = np.nan
    table.loc[:12, "ill"] = "hiv"
    return table


def smallest(cells):
    rows = [tuple("" if pd.isna(value) else str(value) for value in row) for row in cells.to_numpy(object)]
    return min(rows.count(row) for row in rows)


@pytest.mark.parametrize("missing", ["label", "wildcard", "drop", "suppress"])
@pytest.mark.parametrize("method", ["mondrian", "microaggregation"])
def test_the_sentence_of_a_manifest_is_what_a_stranger_counts(method, missing):
    quasi = ["age", "sex", "region"]
    dataset = rd.Dataset(gaps(), quasi=quasi)
    release = rd.protect(dataset, rd.Pipeline(rd.Step(method, k=5), missing), rng=1)
    columns = ["age"] if method == "microaggregation" else quasi
    least = smallest(release.cells[columns])
    assert f"with at least {least - 1} others, counted on the released cells" in release.guarantee
    assert ("if it may be any value" in release.guarantee) == (least < 5)
    assert least >= 5 or missing == "wildcard"


@pytest.mark.parametrize(
    ("option", "missing"), [({"t": 0.3}, "label"), ({"t": 0.3}, "suppress"), ({"ell": 2}, "suppress")]
)
def test_a_release_that_does_not_keep_its_promise_is_not_made(option, missing):
    dataset = rd.Dataset(gaps(), quasi=["age", "sex"], sensitive="ill")
    with pytest.raises(DataError, match="must keep"):
        rd.protect(dataset, rd.Pipeline(rd.Step("mondrian", k=5, **option), missing), rng=1)
    kept = rd.protect(dataset, rd.Pipeline(rd.Step("mondrian", k=5, **option), "drop"), rng=1)
    assert "values of ill" in kept.guarantee


def test_k_is_counted_over_the_place_too():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"sex": rng.choice(["f", "m"], 100), "lat": rng.uniform(50, 51, 100)})
    table["lon"] = rng.uniform(8, 9, 100)
    dataset = rd.Dataset(table, quasi="sex", places=("lat", "lon"))
    release = rd.protect(dataset, [rd.Step("mondrian", k=5), rd.Step("disc", radius_m=500.0)], rng=0)
    assert "together with its place a record shares sex with at least 0 others" in release.guarantee


def test_class_sizes_by_plain_counting():
    rng = np.random.default_rng(3)
    cells = pd.DataFrame({"a": rng.choice(["x", "y", None], 60), "b": rng.integers(0, 3, 60)})
    rows = [tuple(row) for row in cells.astype(object).where(cells.notna(), "").astype(str).to_numpy()]
    assert class_sizes(cells).tolist() == [rows.count(row) for row in rows]
    agree = [sum(all(p in ("", q) or q == "" for p, q in zip(a, b, strict=True)) for b in rows) for a in rows]
    assert class_sizes(cells, wildcards=True).tolist() == agree


def test_a_step_that_draws_and_changes_nothing_is_refused():
    table = pd.DataFrame({"pay": np.arange(15.0)})
    with pytest.raises(DataError, match="must change a cell"):
        rd.protect(rd.Dataset(table, quasi="pay"), rd.Step("add_noise", relative=1e-15), rng=0)


def test_pairs_say_which_record_is_whose(tmp_path):
    table = pd.DataFrame({"mark": np.arange(40), "age": np.arange(40) % 4})
    release = rd.protect(
        rd.Dataset(table, quasi="age"), rd.Pipeline(rd.Step("mondrian", k=5), keep="mark"), rng=0, keep_identifiers=True
    )
    assert (table["mark"].to_numpy()[release.rows] == release.cells["mark"].to_numpy()).all()
    folder = release.save(tmp_path / "rel")
    listed = pd.read_csv(tmp_path / "rel.pairs.csv")
    released = pd.read_csv(folder / "release.csv")
    assert (released["mark"].to_numpy()[listed["released_row"]] == listed["original_row"]).all()
    with pytest.raises(ParameterError, match="never overwritten"):
        release.save(tmp_path / "rel")
    (tmp_path / "other.pairs.csv").write_text("mine")
    with pytest.raises(ParameterError, match="never overwritten"):
        release.save(tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_schema_goes_through_a_recipe(tmp_path):
    table = gaps().assign(lat=50.0, lon=8.0)
    dataset = rd.Dataset(table, quasi=["age", "sex"], sensitive="ill", lat="lat", lon="lon")
    path = dataset.schema.save(tmp_path / "recipe.yaml")
    again = rd.Dataset.of(table, recipe=path)
    assert (again.quasi, again.sensitive, again.places) == (["age", "sex"], ["ill"], ("lat", "lon"))
    path.write_text(path.read_text() + "limit: 0.1\n")
    assert rd.Dataset.of(table, recipe=path).limit == 0.1
    other = again.with_roles(quasi="region")
    assert other.quasi == ["region"]
    assert again.quasi == ["age", "sex"]
    with pytest.raises(ParameterError, match="`person` must be one column"):
        rd.Dataset(table, person=["age", "sex"])
    with pytest.raises(ParameterError, match="`quazi` must be left out, it is no role"):
        rd.Dataset(table, quazi="age")


def test_declarations_of_a_recipe_are_those_of_check(tmp_path):
    table = gaps()[["sex", "region"]]
    (tmp_path / "recipe.yaml").write_text(
        "columns:\n  sex: {role: quasi-identifier, called: Geschlecht}\n  region: {role: other}\n"
        "  wave: {role: new}\n  code: {role: new, word: random}\n  score: {role: derived}\n"
    )
    order = np.random.default_rng(0).permutation(200)
    shown = table[["sex"]].iloc[order].rename(columns={"sex": "Geschlecht"}).reset_index(drop=True)
    shown = shown.assign(wave=1, code=np.random.default_rng(1).permutation(200), score=0)
    verdict = rd.check(shown, table, order, recipe=tmp_path / "recipe.yaml", attacks=["exact_join"])
    assert verdict.passed, verdict.sentence
    assert verdict.declared == {"wave": "new", "code": "new: random", "score": "derived"}


def test_an_option_of_a_method_may_be_called_method():
    step = rd.Step("k_epsilon", method="mondrian", k=3)
    assert step.entry.name == "k_epsilon"
    assert step.settings["method"] == "mondrian"
    assert rd.Step("k_anonymity_lattice", k=3).listed["method"] == "k_anonymity"  # its former name


@pytest.fixture
def patients(tmp_path):
    table = example_patients(40).rename(columns={"diagnosis": "illness", "lat_deg": "lat", "lon_deg": "lon"})
    table = table.assign(income=range(1000, 1040), admitted="01.02.2020")
    table.to_csv(tmp_path / "patients.csv", index=False, sep=";")
    return tmp_path / "patients.csv"


def test_from_the_file_to_the_verdict(patients, tmp_path):
    dataset = rd.open_dataset(patients)
    assert any("admitted" in line for line in dataset.receipts)
    dataset = dataset.with_roles(quasi=["sex", "age"], sensitive=["illness", "income"], lat="lat", lon="lon")
    assert dataset.receipts
    dataset.schema.save(tmp_path / "recipe.yaml")
    again = rd.open_dataset(patients, recipe=tmp_path / "recipe.yaml")
    assert (again.quasi, again.sensitive, again.places) == (dataset.quasi, dataset.sensitive, dataset.places)
    assert str(again.schema) == str(dataset.schema)

    steps = [rd.Step("k_anonymity", k=5), rd.Step("add_noise", columns=["income"], relative=0.05), rd.Step("donut")]
    release = rd.protect(dataset, rd.Pipeline(steps))
    release.save(tmp_path / "release")
    report = rd.evaluate(release)
    assert len(report.frame)
    assert len(report.worst)
    assert report.plot().has_data()
    verdict = rd.check(tmp_path / "release", dataset, limit=0.25)
    assert verdict.passed == (not verdict.findings and verdict.share_above_limit == 0)
    # The verdict counts the same persons as the report of the release.
    assert verdict.share_above_limit == pytest.approx(report.share_above_limit)


def test_declare_is_found_where_it_was_and_sweep_stays_a_function():
    from reident.sweep.result import declare

    from reident.experiments import results

    assert declare is results.declare
    assert callable(rd.sweep)
