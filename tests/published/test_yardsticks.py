"""Numbers of other projects and of public benchmarks: what their tests and documents print, computed here.

Facts with their source, no code: docs/checked-against.md is the page for readers.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import reident as rd
from real_data import needs
from reident import k_anonymise, link_records, max_clique, microaggregate
from reident.data.datasets import load_casc

ARX_COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
ARX_COLUMNS += ["salary-class"]
ARX = "adult/adult_arx_30162.csv.gz"


def real(path):
    return Path(os.environ["REIDENT_DATA"], path)


@pytest.fixture(scope="module")
def arx():
    table = pd.read_csv(real(ARX), sep=";", dtype=str, keep_default_na=False)
    folder = real("adult/hierarchies_nine")
    return table, {name: rd.tables.Hierarchy.from_csv(folder / f"{name}.csv") for name in ARX_COLUMNS}


def bits(table):
    """Return the bits that all cells of a table hold: minus the logarithm of each value's share."""
    return sum(float(-np.log2(table.groupby(name)[name].transform("size") / len(table)).sum()) for name in table)


def bits_left(table, hierarchies, node):
    """Return the bits of all cells once every column is on its level of the node; nothing is suppressed."""
    levels = zip(table, node, strict=True)
    return bits(pd.DataFrame({name: hierarchies[name].generalise(table[name], level) for name, level in levels}))


@needs(ARX)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "limit", "expected", "node"),
    [
        (5, 0.04, 255559.85455731067, (1, 0, 1, 1, 3, 2, 2, 0, 1)),
        (100, 0.0, 453196.8932458743, (0, 4, 1, 1, 3, 2, 2, 1, 1)),
    ],
)
def test_arx_non_uniform_entropy(arx, k, limit, expected, node):
    """ARX, JUnit tests of non-uniform entropy on Adult: bits summed over columns; its number is what the node loses."""
    table, hierarchies = arx
    release = k_anonymise(
        table, ARX_COLUMNS, hierarchies=hierarchies, k=k, suppression_limit=limit, method="optimal", loss="bits"
    )
    assert release.node == node
    assert bits(table) - bits_left(table, hierarchies, node) == pytest.approx(expected, rel=1e-12)
    if not limit:
        assert release.loss * bits(table) == pytest.approx(expected, rel=1e-12)


@needs(ARX)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "node", "loss"),
    [
        ({"k": 1, "ell": 5, "diversity": "entropy", "loss": "bits"}, (1, 1, 1, 1, 3, 2, 2, 1), 324620.5269918692),
        ({"k": 5, "t": 0.2, "loss": "discernibility"}, (1, 4, 1, 1, 3, 2, 2, 1), 456853172),
        ({"k": 1, "t": 0.2, "distance": "hierarchical", "loss": "bits"}, (0, 4, 1, 1, 3, 2, 2, 1), 398400.0741806447),
    ],
)
def test_arx_diversity_and_closeness(arx, rules, node, loss):
    table, hierarchies = arx
    quasi = [name for name in ARX_COLUMNS if name != "occupation"]
    release = k_anonymise(
        table, quasi, hierarchies=hierarchies, method="optimal", suppression_limit=0.0, sensitive="occupation", **rules
    )
    assert release.node == node
    whole = bits(table[quasi]) if rules["loss"] == "bits" else len(table) ** 2
    assert release.loss * whole == pytest.approx(loss, rel=1e-12)


@needs(ARX)
def test_arx_population_uniques(arx):
    """ARX, TestRiskMetrics: four digits, by sampling fraction and model."""
    table, _ = arx
    n_classes = rd.tables.equivalence_classes(table, ARX_COLUMNS).max() + 1
    assert n_classes / len(table) == pytest.approx(0.6465751607983555, rel=1e-15)  # the average risk of a record
    for fraction, model, expected in (
        (0.1, "pitman", 0.2768499), (0.01, "pitman", 0.1446083),
        (0.1, "zayatz", 0.3207402), (0.2, "zayatz", 0.3577099), (1.0, "zayatz", 0.5142895),
    ):  # fmt: skip
        found = rd.tables.population_uniques(table, ARX_COLUMNS, sampling_fraction=fraction, model=model)
        assert found == pytest.approx(expected, abs=5e-7), (fraction, model)


SDC = pd.DataFrame(
    {
        "A": [2.0, 3, 2, 2, 3, 3, 1, 2],
        "B": [3.0, 3, 3, 3, 3, 3, 4, 3],
        "C": [1.0, 3, 1, 2, 1, 1, 1, 1],
        "weight": [18.0, 45.5, 39, 17, 92, 8, 123.5, 51],
    }
)
GAPS = SDC.assign(A=SDC["A"].where(SDC.index != 7), C=SDC["C"].where(~SDC.index.isin([2, 6])))


def test_sdcmicro_individual_risk():
    """sdcMicro, test_indivRisk: without gaps, and with gaps that stand for any value; exact, with survey weights."""
    risk = rd.tables.individual_risk(SDC, ["A", "B", "C"], "weight")
    assert risk["sample"].tolist() == [3, 1, 3, 1, 2, 2, 1, 3]
    expected = [0.01355297, 0.08579129, 0.01355297, 0.17707583, 0.01877883, 0.01877883, 0.03931625, 0.01355297]
    assert risk["risk"].to_numpy() == pytest.approx(expected, abs=5e-9)
    gaps = rd.tables.individual_risk(GAPS, ["A", "B", "C"], "weight", missing="wildcard")
    assert gaps["sample"].tolist() == [3, 1, 4, 2, 3, 3, 1, 5]
    expected = [0.013552968, 0.085791288, 0.010504889, 0.032466112, 0.009756889, 0.009756889, 0.039316254, 0.005962551]
    assert gaps["risk"].to_numpy() == pytest.approx(expected, abs=5e-10)
    unweighted = rd.tables.individual_risk(GAPS, ["A", "B", "C"], missing="wildcard")["risk"]
    assert unweighted.round(5).tolist() == [0.33333, 1, 0.25, 0.5, 0.33333, 0.33333, 1, 0.2]
    assert rd.tables.k_anonymity(GAPS, ["A", "B", "C"], missing="wildcard") == 1


def test_sdcmicro_suda_scores():
    """sdcMicro, test_suda2: the guideline's ten rows, the book's example, and contributions in any order of columns."""
    guideline = pd.DataFrame(
        {
            "residence": ["u", "u", "u", "u", "r", "u", "u", "u", "u", "u"],
            "gender": ["f", "f", "f", "m", "f", "m", "f", "m", "f", "f"],
            "education": ["si", "si", "pi", "sc", "sc", "sc", "pc", "ps", "si", "si"],
            "labour": ["e", "e", "n", "e", "x", "e", "n", "x", "n", "n"],
        }
    )
    assert rd.tables.special_uniques(guideline)[0].tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    age, gender, income = ["20s"] * 7 + ["60s"], ["m"] * 4 + ["f"] * 3 + ["m"], ["50+"] * 2 + ["50-"] * 6
    book = pd.DataFrame({"age": age, "gender": gender, "income": income, "education": list("hhhhuhmu")})
    assert rd.tables.special_uniques(book)[0].tolist()[4:] == [4, 2, 6, 8]
    small = pd.DataFrame({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]})
    for order in (["a", "b", "c"], ["c", "a", "b"], ["c", "b", "a"]):
        shares = rd.tables.special_uniques(small[order])[1]
        assert shares.to_dict() == {"a": 50, "b": 37.5, "c": 37.5}


CLIQUES = {"brock200_4": 17, "c-fat200-5": 58, "p_hat300-1": 8, "p_hat300-3": 36, "san200_0.7_1": 30}
CLIQUES |= {"san200_0.9_3": 44, "sanr200_0.7": 18}


@needs("dimacs/brock200_4.txt.gz")
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CLIQUES))
def test_dimacs_cliques(name):
    """Second DIMACS challenge: clique numbers, those that are proven within seconds."""
    edges = pd.read_csv(real(f"dimacs/{name}.txt.gz"), sep=" ", header=None).to_numpy()
    n = int(edges.max())
    adjacency = np.zeros((n, n), dtype=bool)
    adjacency[edges[:, 0] - 1, edges[:, 1] - 1] = True
    adjacency |= adjacency.T
    found = max_clique(adjacency, time_limit_s=60)
    assert len(found.vertices) == CLIQUES[name]
    assert found.is_optimal
    members = np.array(found.vertices)
    assert adjacency[np.ix_(members, members)].sum() == len(members) * (len(members) - 1)


def test_census_nearest_record():
    """Census, 1,080 x 12: the share linked by the nearest record."""
    census = load_casc("census").drop(columns="AFNLWGT").astype(float)
    numbers = np.random.default_rng(0)
    noisy = census + 0.5 * census.std().to_numpy() * numbers.normal(size=census.shape)
    assert link_records(noisy, census).ratio == pytest.approx(0.260, abs=0.04)
    swapped = rd.tables.swap_ranks(census, list(census.columns), percent=15, rng=1).table
    assert link_records(swapped, census).ratio == pytest.approx(0.312, abs=0.04)
    grouped = microaggregate(census, [list(census.columns)], 10, scale="std").table
    assert link_records(grouped, census, ties="share").ratio == pytest.approx(0.071, abs=0.03)
