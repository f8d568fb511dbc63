"""Numbers that Kroll (2015) prints."""

import numpy as np
import pytest
from scipy import stats

from reident import (
    classical_linkage,
    common_subgraph_attack,
    compatibility_graph,
    distance_deviation_quantiles,
    great_circle_km,
    linkage_quality,
    max_cliques,
    published,
)
from reident.data.datasets import load_boundary, load_census_shares, load_example2, load_poets
from reident.studies import kroll2015 as study
from reident.studies.kroll2015 import trials


def test_example_2_to_the_printed_digit():
    people = load_example2()
    d = great_circle_km(people["lat_deg"], people["lon_deg"]).round(1)
    names = people["name"].tolist()
    for row in published("kroll2015", "example2").itertuples():
        assert d[names.index(row.a), names.index(row.b)] == row.distance_km


def test_example_10_has_eleven_vertices_nine_edges_and_one_maximum_clique():
    (target, d_target), (known, d_known) = load_poets()
    labels = [(table["cob"].astype(str) + table["language"]).to_numpy() for table in (target, known)]
    graph = compatibility_graph(labels[0], d_target, labels[1], d_known, window_km=(-5, 5))
    assert (graph.pairs + 1).tolist() == published("kroll2015", "table2")[["target", "identification"]].values.tolist()
    assert graph.n_edges == 9
    listed = max_cliques(graph)
    assert listed.is_complete
    assert [tuple(v + 1 for v in clique) for clique in listed.cliques] == [(1, 2, 3, 5)]


def test_example_10_ends_with_the_actual_overlap():
    target, known = load_poets()
    quasi = ["cob", "language"]
    assert classical_linkage(target[0], known[0], quasi=quasi).n_candidates == 11
    linkage = common_subgraph_attack(target, known, quasi=quasi, window_km=(-5, 5), rng=1)
    same = [(i, j) for i in target[0].index for j in known[0].index if target[0]["name"][i] == known[0]["name"][j]]
    quality = linkage_quality(linkage.links, same)
    assert (quality.precision, quality.recall) == (1, 1)
    assert linkage.is_optimal


def test_expected_order_of_the_product_graph():
    # 450 * 500 + 50 * 449 pairs of different people agree by chance, 50 pairs are one person.
    chance = (load_census_shares()["share"] ** 2).sum()
    assert 50 + (500 * 500 - 50) * chance == pytest.approx(15517, abs=20)


@pytest.mark.parametrize("row", published("kroll2015", "table3").to_dict("records"), ids=lambda row: row["sigma_deg"])
def test_table_3_within_its_sampling_error(row):
    reference = distance_deviation_quantiles(
        load_boundary("germany"), sigma_deg=row["sigma_deg"], n_pairs=40_000, rng=1
    )
    # Level .001 for each of 80 numbers: a sample of 1000, against a reference of 40,000.
    z = stats.norm.ppf(0.9995) * np.sqrt(1 + 1000 / 40_000)
    for p in (0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95):
        spread = z * np.sqrt(p * (1 - p) / 1000)
        low, high = reference.quantiles_km([p - spread, p + spread])
        assert low < row[f"q{p:.2f}"] < high
    kurtosis = stats.kurtosis(reference.deviations_km, fisher=False)
    assert row["variance_km2"] == pytest.approx(reference.variance_km2, rel=z * np.sqrt((kurtosis - 1) / 1000))


@pytest.mark.slow
def test_study_runs_and_compares_every_printed_number_of_its_profile(smoke):
    results, _ = smoke("kroll2015")
    comparison = results.comparison.set_index("item")
    exact = comparison[comparison["needs"] == "nothing"]
    assert (exact["verdict"] == "agrees").all()
    assert len(exact) == 12
    profile = study.PROFILES["smoke"]
    n_cells = len(profile.sigmas_deg) * len(profile.alphas)
    cells = comparison[comparison["reproduced"].notna() & comparison["row"].notna()]
    assert cells["kind"].str.startswith("number").sum() == 6 + 8 * len(profile.sigmas_deg) + 2 * n_cells
    predicted = sum(alpha < 0.5 for alpha in profile.alphas)
    assert (cells["kind"] == "level").sum() == 3 * predicted  # one a rule for ties
    assert results.frames["trials"]["is_optimal"].all()
    deviations = results.frames["deviations"]
    assert deviations["reproduced"].between(deviations["low"], deviations["high"]).all()
    assert set(comparison.loc[comparison.index.str.startswith("Table 3"), "verdict"]) <= {"agrees", "cannot tell"}
    calibrated = comparison[comparison["kind"].str.endswith("calibrated") & comparison["row"].notna()]
    assert set(calibrated["verdict"]) == {"cannot tell"}  # two data sets are too few


@pytest.mark.slow
def test_attack_on_the_study_files_without_noise_finds_everybody():
    from reident import MetricMicrodata

    original, known, truth = trials.files(1)
    release, background = (
        MetricMicrodata(table[trials.QUASI], great_circle_km(table["lat_deg"], table["lon_deg"]))
        for table in (original, known)
    )
    linkage = common_subgraph_attack(release, background, quasi=trials.QUASI, window_km=(-1e-6, 1e-6), rng=1)
    quality = linkage_quality(linkage.links, truth)
    assert quality.recall == 1
    assert quality.precision == 1
