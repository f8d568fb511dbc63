"""Vanhoef (2012), chapters 1 to 7: published values, hand examples, naive twins and the trials of the experiments."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import reident as rd
from reident import ParameterError, k_anonymise
from reident.data.datasets import load_vanhoef2012_table
from reident.experiments.parameters import pinned
from reident.experiments.vanhoef2012_tables import failures, proofs, releases
from reident.queries import min_entropy
from reident.queries.pan_private import density_error_bound
from reident.tables import Hierarchy, k_anonymity, l_diversity, simulate_ratings

#: Trials are called here without a sweep, which hides the warning about seeded noise.
pytestmark = pytest.mark.filterwarnings("ignore:.*noise that can be repeated:reident.PrivacyWarning")


def test_tables_3_1_and_3_2():
    quasi = ["zip", "age", "nationality"]
    assert k_anonymity(load_vanhoef2012_table("3.1"), quasi) == 4
    table = load_vanhoef2012_table("3.2")
    assert k_anonymity(table, quasi) == 4
    assert l_diversity(table, quasi, "condition") == 3
    assert round(l_diversity(table, quasi, "condition", kind="entropy"), 1) == 2.8


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
    roles = {"quasi": ["age", "town"], "sensitive": "illness"}
    options = {"table": pinned(str(file)), **roles, "n_common": 80, "n_own": 80}
    rows = releases.intersection_trial(rng, criterion="l", k=3, strength=2, releases=2, **options)
    assert [row["n_releases"] for row in rows] == [1, 2]
    for method, strength in (("k-anonymity", 3), (releases.HISTOGRAMS, 3.0)):
        game = releases.argument_trial(rng, method=method, strength=strength, releases=2, **options)
        assert 0 < game[0]["utility"] <= 1
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


def test_another_number_is_another_person_to_a_reader_of_the_release():
    searches = simulate_ratings(60, 80, 900, rng=3)
    released, owners = failures.renumbered(searches, 365)
    expected, groups = {}, {}
    for place, (user, day) in enumerate(zip(searches.users.tolist(), searches.days.tolist(), strict=True)):
        expected.setdefault((user, day // 365), set()).add(place)
    for place, number in enumerate(released.users.tolist()):
        groups.setdefault(number, set()).add(place)
    assert sorted(map(sorted, groups.values())) == sorted(map(sorted, expected.values()))
    assert released.n_users == len(groups) == len(owners)
    np.testing.assert_array_equal(owners[released.users], searches.users)


def test_suppression_removes_whole_classes_and_narrows_none():
    """holohan2017, erratum 7: at one node the classes of k = 60 are the large ones of k = 20, unchanged."""
    rng = np.random.default_rng(7)
    jobs = list("abcdefgh")
    table = pd.DataFrame({"job": rng.choice(jobs, 900, p=[0.4, 0.2, 0.1, 0.1, 0.08, 0.06, 0.04, 0.02])})
    table["height"] = rng.normal(170, 10, 900)
    tree = {"job": Hierarchy([[job, "*"] for job in jobs])}
    found = {}
    for k in (20, 60):
        release = k_anonymise(table, "job", hierarchies=tree, k=k, suppression_limit=0.3)
        assert release.node == (0,)
        found[k] = {frozenset(np.flatnonzero(release.classes == one)) for one in np.unique(release.classes) if one >= 0}
        assert sum(map(len, found[k])) == 900 - release.n_suppressed
    assert found[60] < found[20]
    assert found[60] == {members for members in found[20] if len(members) >= 60}

    def widths(classes):
        """Return the mean width of the records' classes in height, the diameter that the noise is scaled to."""
        spread = {members: np.ptp(table["height"].to_numpy()[list(members)]) for members in classes}
        return sum(len(members) * width for members, width in spread.items()) / sum(map(len, classes))

    # What goes is the small classes, which are the narrow ones: what stays is wider on average, not narrower.
    assert widths(found[60]) > widths(found[20])


def test_a_hard_utility_vector_is_likely():
    """vanhoef2012, errata 28 and 29: the breaches in G have probability 1 - 2^-l at least, by W and not by P."""
    rng = np.random.default_rng(4)
    ell, extra = 2, 1.0
    for _ in range(50):
        joint = rng.dirichlet(np.full(2**9 * 2**ell, 4.0)).reshape(2**9, 2**ell)
        joint[:, 0] = 0
        joint[rng.integers(2**9), 0] = 2 ** -(3 * ell + extra) / 4  # a rare breach that one utility vector goes with
        joint /= joint.sum()
        assert min_entropy(joint.sum(axis=1)) >= 3 * ell + extra
        breaches = joint.sum(axis=0)
        hard = np.array([min_entropy(column / column.sum()) >= ell + extra for column in joint.T])
        assert hard.tolist() == [False, True, True, True]
        assert breaches[hard].sum() > 1 - 2**-ell
        assert breaches[0] < 2 ** (ell + extra) * joint[:, 0].max()


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
