"""Vanhoef (2012), chapters 1 to 7: published values, hand examples, naive twins and the trials of the experiments."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import reident as rd
from reident import ParameterError
from reident.data.datasets import load_vanhoef2012_table
from reident.experiments.kroll2015 import pinned
from reident.experiments.vanhoef2012_tables import (
    histories,
    mechanisms,
    proofs,
    releases,
)
from reident.queries.pan_private import density_error_bound, pan_privacy_loss
from reident.tables import k_anonymity, l_diversity, simulate_ratings


def test_tables_3_1_and_3_2():
    quasi = ["zip", "age", "nationality"]
    assert k_anonymity(load_vanhoef2012_table("3.1"), quasi) == 4
    table = load_vanhoef2012_table("3.2")
    assert k_anonymity(table, quasi) == 4
    assert l_diversity(table, quasi, "condition") == 3
    assert round(l_diversity(table, quasi, "condition", kind="entropy"), 1) == 2.8


# -- theorems ----------------------------------------------------------------------------------------------------------


def test_the_theorems_of_chapters_2_to_6_on_small_inputs():
    rng = np.random.default_rng(1)
    assert proofs.laplace_ratio(2.0) == pytest.approx(1)
    first, second = rng.dirichlet(np.ones(6), 2)
    assert proofs.largest_event_difference(first, second) == pytest.approx(
        rd.queries.statistical_distance(first, second)
    )
    assert proofs.processing_excess(rng, 50) <= 1e-12
    assert proofs.guessable_breaches(rng, n_draws=40) <= 1 / 4
    assert proofs.vector_loss() == pytest.approx(1)
    assert proofs.adaptive_loss() == pytest.approx(1)
    assert 0.8 < proofs.choice_loss() <= 1 + 1e-12


def test_sensitivities():
    rng = np.random.default_rng(3)
    assert proofs.histogram_sensitivity(rng) == 1
    assert proofs.kmeans_sensitivity(rng) == pytest.approx(3)
    assert proofs.degree_sensitivities() == {"sequence": 2, "histogram": 4}


def test_algorithm_6_1_keeps_its_promise_with_the_corrected_noise_alone():
    for epsilon in (0.01, 0.1, 0.5, 1.5):
        assert pan_privacy_loss(epsilon) <= 2 * epsilon + 1e-9
    assert pan_privacy_loss(0.1, variant="printed") / 0.1 == pytest.approx(34.2, abs=0.05)


def test_claim_6_4_forgets_the_laplace_noise():
    assert proofs.claim_failure(100, 0.1, 0.3) == pytest.approx(0.293, abs=5e-4)
    assert proofs.claim_failure(3000, 0.5, 0.3) < 0.05


@pytest.mark.parametrize("epsilon", [0.3, 1.1])
def test_failure_of_claim_6_4_equals_a_direct_sum(epsilon):
    universe, density = 12, 0.25
    present, reach = 3, math.sqrt(8 * math.log(40) / 12) / epsilon
    one = (1 - math.exp(-epsilon)) / (1 + math.exp(-epsilon))
    inside = 0.0
    for absent_ones, present_ones in itertools.product(range(10), range(4)):
        p = math.comb(9, absent_ones) / 2**9 * math.comb(3, present_ones)
        p *= (0.5 + epsilon / 4) ** present_ones * (0.5 - epsilon / 4) ** (3 - present_ones)
        for noise in range(-150, 151):
            answer = 4 * ((absent_ones + present_ones + noise) / universe - 0.5) / epsilon
            if abs(answer - present / universe) < reach:
                inside += p * one * math.exp(-epsilon * abs(noise))
    assert proofs.claim_failure(universe, epsilon, density) == pytest.approx(1 - inside, abs=1e-9)
    assert density_error_bound(universe, epsilon=epsilon) > reach


# -- several releases --------------------------------------------------------------------------------------------------


def test_shuffling_keeps_the_entropy_and_severity_never_falls_with_a_further_release():
    sizes = {"criterion": "k", "k": 5, "strength": 5, "sensitive": "income", "n_common": 60, "n_own": 60}
    plain, shuffled = (
        pd.DataFrame(releases.intersection_trial(np.random.default_rng(3), shuffled=flag, **sizes))
        for flag in (False, True)
    )
    assert plain["entropy_bits"].tolist() == pytest.approx(shuffled["entropy_bits"].tolist())
    for frame in (plain, shuffled):
        assert frame["n_releases"].tolist() == [1, 2, 3, 4, 5]
        assert (frame[["perfect", "confidence"]].diff().dropna() >= -1e-12).all(axis=None)
        assert (frame["contradicted"] == 0).all()


def test_one_release_of_raw_records_gives_the_share_of_unique_combinations():
    """A naive twin: persons whose class has one value of the attribute."""
    row = releases.intersection_trial(
        np.random.default_rng(4), criterion="none", k=1, strength=1, releases=1, n_common=200, n_own=100
    )[0]
    common, (sample,) = releases.overlapping_samples(
        releases.load_people(), np.random.default_rng(4), releases=1, n_common=200, n_own=100
    )
    quasi = list(releases.QUASI)
    single = sum(
        sample.loc[(sample[quasi] == person[quasi]).all(axis=1), "occupation"].unique().size == 1
        for _, person in common.iterrows()
    )
    assert row["perfect"] == pytest.approx(single / 200)
    assert row["utility"] == 1


def test_an_own_table_takes_the_place_of_adult(tmp_path):
    rng = np.random.default_rng(1)
    own = pd.DataFrame({"age": rng.integers(20, 80, 300), "town": rng.choice(list("abc"), 300),
                        "illness": rng.choice(["x", "y", "z"], 300)})  # fmt: skip
    file = tmp_path / "own.csv"
    own.to_csv(file, index=False)
    options = {
        "table": pinned(str(file)),
        "quasi": ["age", "town"],
        "sensitive": "illness",
        "n_common": 80,
        "n_own": 80,
    }
    rows = releases.intersection_trial(rng, criterion="l", k=3, strength=2, releases=2, **options)
    assert [row["n_releases"] for row in rows] == [1, 2]
    for method, strength in (("k-anonymity", 3), (releases.HISTOGRAMS, 3.0)):
        game = releases.argument_trial(rng, method=method, strength=strength, releases=2, **options)
        assert 0 < game[0]["utility"] <= 1
    own.iloc[:200].to_csv(file, index=False)
    releases.load_people.cache_clear()
    with pytest.raises(ParameterError, match="`table` has changed"):
        releases.intersection_trial(rng, criterion="k", k=3, strength=3, releases=1, **options)
    with pytest.raises(ParameterError, match="must sum to at most 200"):
        releases.overlapping_samples(own.iloc[:200], rng, releases=1, n_common=150, n_own=80)


def test_a_histogram_gives_no_more_than_its_share_of_epsilon_and_a_raw_table_everything():
    rng = np.random.default_rng(5)
    people = releases.load_people().iloc[:400]
    values = sorted(releases.load_people()["occupation"].unique())
    truth = pd.Index(values).get_indexer(people["occupation"])
    prior = np.full(len(values), 1 / len(values))
    _, courses = releases.histogram_course([people] * 3, truth, prior, 4.0, rng)
    for n, course in enumerate(courses, 1):
        assert releases.intruder(course, truth, prior)["most"] <= n * 4.0 / 10 + 1e-9
        assert course.sum(axis=1) == pytest.approx(np.ones(len(truth)))
    most = releases.CERTAIN_NATS
    assert releases.intruder(np.eye(len(values))[truth], truth, prior) == {
        "right": 1.0, "named": 1.0, "gain": most, "most": most,
    }  # fmt: skip
    assert releases.intruder(np.tile(prior, (400, 1)), truth, prior)["gain"] == pytest.approx(0)
    assert releases.table_error(people, people) == pytest.approx(0, abs=1e-12)


# -- histories and query systems ---------------------------------------------------------------------------------------


def test_another_number_is_another_person_to_a_reader_of_the_release():
    searches = simulate_ratings(60, 80, 900, rng=3)
    released, owners = histories.renumbered(searches, 365)
    expected, groups = {}, {}
    for place, (user, day) in enumerate(zip(searches.users.tolist(), searches.days.tolist(), strict=True)):
        expected.setdefault((user, day // 365), set()).add(place)
    for place, number in enumerate(released.users.tolist()):
        groups.setdefault(number, set()).add(place)
    assert sorted(map(sorted, groups.values())) == sorted(map(sorted, expected.values()))
    assert released.n_users == len(groups) == len(owners)
    np.testing.assert_array_equal(owners[released.users], searches.users)


# -- mechanisms --------------------------------------------------------------------------------------------------------


def test_the_hyperplanes_of_figure_6_1():
    points = mechanisms.hyperplane_points()
    angles, scores = mechanisms.hyperplane_scores()
    assert scores.max() == len(points)
    best = angles[scores == len(points)]
    assert np.abs(np.angle(np.exp(1j * best))).min() < 0.01, "the vertical axis is the best line"
    across = scores[np.abs(angles - np.pi / 2).argmin()]
    assert 3 <= len(points) - across <= 5, "the horizontal axis errs on a few points"
    near = np.abs(np.angle(np.exp(1j * (angles - np.pi / 2)))) < 0.1
    assert scores[near].min() == across, "and turning it a little costs nothing"
    assert scores[np.abs(np.angle(np.exp(1j * (angles + 0.3)))) < 0.1].min() < 0.6 * len(points)


def test_the_median_mechanism_beats_laplace_noise_and_few_queries_are_hard():
    row = mechanisms.median_trial(np.random.default_rng(2012))
    assert row["hard_share"] < 0.25
    assert row["error"] < row["laplace_error"]
