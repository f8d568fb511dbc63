"""Holohan et al. (2017): published examples, reference optima, trials against plain loops and earlier runs."""

import numpy as np
import pandas as pd
import pytest

import reident as rd
from real_data import needs
from reident import k_anonymise
from reident.data import datasets
from reident.data.datasets import load_adult, remote_file
from reident.experiments.holohan2017 import CHOICE, POPULATIONS, anonymous, draw, lists_trial, released, trial
from reident.experiments.holohan2017_effects import average_of_copies
from reident.tables import Hierarchy
from reident.tables.k_epsilon import class_noise_scales, simulate_class_noise

SEED = 2017


needs_data = needs("adult")


def test_categorical_precision_of_the_papers_postcode():
    """III-A: 237** of a five-digit code loses two of five levels."""
    codes = Hierarchy.from_prefixes(["23701", "23799", "11111"])
    assert codes.n_levels == 6
    assert codes.labels_of("23701")[2] == "237**"
    table = pd.DataFrame({"zip": ["23701", "23799", "11101", "11199"]})
    release = k_anonymise(table, "zip", hierarchies={"zip": Hierarchy.from_prefixes(table["zip"])}, k=2)
    assert release.node == (2,)
    assert release.losses["precision"] == pytest.approx(2 / 5)


def test_numerical_precision_of_the_papers_height():
    """III-A: the interval [165, 180] of heights in [150, 190] loses 15 / 40."""
    table = pd.DataFrame({"height": [150, 150, 150, 150, 165, 180, 190, 190]})
    release = k_anonymise(table, "height", k=2, method="mondrian")
    assert release.table["height"].tolist() == ["150"] * 4 + ["[165, 180]"] * 2 + ["190"] * 2
    assert release.losses["precision"] == pytest.approx(2 / 8 * 0.375)


def test_the_published_mode_breaks_differential_privacy():
    """Ten values from 40 to 50, one of them moved to 80: the other nine betray it by more than exp(epsilon)."""
    values = np.linspace(40, 50, 10)
    moved = np.r_[values[:-1], 80.0]
    narrow, wide = (class_noise_scales(v, np.zeros(10, int), epsilon=1.0)[0] for v in (values, moved))
    # The likelihood ratio of the release in which the nine come out unchanged.
    assert 9 * np.log(wide / narrow) > 6.2


@pytest.mark.parametrize(("k", "share"), [(2, 1.67), (5, 2.42), (10, 3.71), (20, 1.47), (50, 1.76), (100, 4.80)])
def test_table_4_of_adult(k, share):
    """To the published digit, given the persons that were left out and the loss of OLA (both inferred)."""
    published = datasets.published("holohan2017", "table4").query(f"dataset == 'adult' and k == {k}")
    assert published["suppressed_percent"].item() == share
    assert len(draw("adult", SEED).table) == 32_440
    release = anonymous(draw("adult", SEED), "ola", k)
    assert round(100 * release.n_suppressed / 32_440, 2) == share


def test_the_suppression_of_a_trial_against_the_public_step():
    """`trial` counts what `confidence_suppression` suppresses; the risk left is that of the other records."""
    call = {"method": "mondrian", "k": 10, "epsilon": 4.0, "case": "michigan", "n_records": 900}
    rows = trial(np.random.default_rng(5), **call, confidences=[0.9])
    values, classes = released(draw("michigan", SEED, n_records=900), "mondrian", 10)
    scales = class_noise_scales(values, classes, epsilon=4.0)
    noisy = simulate_class_noise(values, classes, scales, rng=np.random.default_rng(5))
    attack = rd.tables.nearest_record_attack(values, noisy, classes)
    assert rows[0]["linking_risk"] == attack.risk
    gone = rd.tables.confidence_suppression(values, noisy, classes, scales=scales, k=10, confidence=0.9)
    assert rows[1]["suppressed"] == gone.share > 0
    assert rows[1]["linking_risk"] == attack.linked[~gone.suppressed].mean()


def test_the_average_of_copies_is_nearer_unless_they_share_a_budget():
    """Section IV: 16 copies of Laplace noise have an average absolute error of about a quarter of one."""
    found = average_of_copies([1, 2])
    assert found["own budgets"].between(0.25, 0.32).all()
    assert (found["shared budget"] > 1).all()


def test_an_own_table_is_released(tmp_path):
    path = tmp_path / "own.csv"
    rng = np.random.default_rng(0)
    own = pd.DataFrame({"age": rng.integers(20, 60, 300), "sex": rng.choice(["f", "m"], 300)})
    own.assign(height=rng.normal(170, 8, 300)).to_csv(path, index=False)
    columns = {"k_quasi": ["age", "sex"], "epsilon_quasi": "height"}
    for method in ("ola", "mondrian"):
        rows = trial(rng, method=method, k=5, epsilon=1.0, case=str(path), **columns)
        assert 0 < rows[0]["linking_risk"] < 1
    with pytest.raises(rd.ParameterError, match="must have a column `weight`"):
        draw(str(path), k_quasi=("age",), epsilon_quasi="weight")


def six():
    names = ["age", "education", "marital-status", "occupation", "sex", "native-country"]
    files = ["age", "education", "marital", "occupation", "sex", "country"]
    return {
        name: Hierarchy.from_csv(remote_file(f"adult/hierarchies_six/{file}.csv"), sep=",")
        for name, file in zip(names, files, strict=True)
    }


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "node", "loss", "n_suppressed", "n_anonymous", "n_minimal"),
    [
        (0.0, (6, 1, 1, 2, 0, 2), 0.638889, 0, 51, 13),
        (0.01, (6, 1, 0, 1, 0, 2), 0.475869, 225, 376, 76),
        (0.05, (5, 1, 0, 0, 0, 2), 0.385245, 1230, 779, 119),
        (0.5, None, None, None, 1488, 16),
    ],
)
@pytest.mark.parametrize("method", ["ola", "optimal"])
def test_reference_optima_of_adult(method, limit, node, loss, n_suppressed, n_anonymous, n_minimal):
    """Optima that ARX and a brute force of all 1,512 nodes found, k = 10."""
    hierarchies = six()
    release = k_anonymise(
        load_adult(), list(hierarchies), hierarchies=hierarchies, k=10, suppression_limit=limit, method=method
    )
    assert int(release.lattice["satisfies"].sum()) == n_anonymous
    assert len(release.solutions) == n_minimal
    if node is not None:
        assert release.node == node
        assert release.loss == pytest.approx(loss, abs=5e-7)
        assert release.n_suppressed == n_suppressed


def test_lists_of_every_population_are_suppressed_within_the_limit():
    for population in POPULATIONS:
        found = lists_trial(
            np.random.default_rng(1), case="michigan", population=population, ks=[2, 10], n_records=1500
        )
        assert [row["k"] for row in found] == [2, 10]
        assert all(0 <= row["suppressed_percent"] <= 100 * CHOICE["suppression_limit"] for row in found)
