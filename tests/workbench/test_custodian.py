"""What a custodian and a methodologist type, from the file to the verdict and the map."""

import pytest

import reident as rd
from reident.workbench.examples import example_patients


@pytest.fixture
def patients(tmp_path):
    table = example_patients(150).rename(columns={"diagnosis": "illness", "lat_deg": "lat", "lon_deg": "lon"})
    table = table.assign(income=range(1000, 1150), admitted="01.02.2020")
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


def test_from_the_data_to_the_advice(tmp_path):
    table = example_patients(80)[["sex", "age", "diagnosis"]]
    found = rd.assess(rd.Dataset(table, quasi=["sex", "age"], sensitive="diagnosis"), limit=0.25, progress=False)
    assert found.search.passed == ("nothing is advised" not in found.advice)
    assert (tmp_path / "assessment" / "report.html") == found.save(tmp_path / "assessment")
    assert found.plot().has_data()
    assert len(found.frame)


def test_names_of_the_former_version_are_read():
    assert rd.Step("k_anonymity_lattice", k=3).listed["method"] == "k_anonymity"
    with pytest.raises(rd.ParameterError, match="registered anonymiser"):
        rd.Step(["k_anonymity"])


def test_declare_is_found_where_it_was_and_sweep_stays_a_function():
    from reident.sweep.result import declare

    from reident.experiments import results

    assert declare is results.declare
    assert callable(rd.sweep)
