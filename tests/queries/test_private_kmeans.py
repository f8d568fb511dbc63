import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy_loss import assert_loss_at_most, seeded
from reident import PrivacyWarning
from reident.queries import private_kmeans
from reident.queries.kmeans import STEPS, cluster_queries, nearest_centre


def blobs(n=600, seed=0):
    generator = np.random.default_rng(seed)
    middles = np.array([[0.2, 0.2], [0.8, 0.3], [0.5, 0.8]])
    return np.clip(middles[generator.integers(0, 3, n)] + generator.normal(0, 0.04, (n, 2)), 0, 1), middles


@given(
    st.integers(1, 4).flatmap(
        lambda d: st.tuples(
            st.lists(st.lists(st.floats(0, 1), min_size=d, max_size=d), min_size=0, max_size=6),
            st.lists(st.sampled_from([0.0, 1.0, 0.3]), min_size=d, max_size=d),
            st.integers(1, 4),
        )
    ),
    st.booleans(),
)
def test_one_point_changes_both_queries_by_at_most_d_plus_1(case, centred):
    points, more, k = case
    d = len(more)
    centres = np.random.default_rng(3).random((k, d))
    shift = STEPS // 2 if centred else 0
    answers = []
    for listed in (points, [*points, more]):
        steps = np.rint(np.array(listed, dtype=float).reshape(-1, d) * STEPS).astype(np.int64)
        sizes, sums = cluster_queries(steps, centres, shift)
        answers.append(np.append(sizes, sums / STEPS))
    change = np.abs(answers[0] - answers[1]).sum()
    assert change <= 1 + d * (0.5 if centred else 1) + 1e-12


def test_queries_equal_plain_loops():
    points, _ = blobs(50)
    steps = np.rint(points * STEPS).astype(np.int64)
    centres = np.random.default_rng(1).random((4, 2))
    sizes, sums = np.zeros(4, int), np.zeros((4, 2), int)
    for point in steps:
        nearest = min(range(4), key=lambda j: (sum((point / STEPS - centres[j]) ** 2), j))
        sizes[nearest] += 1
        sums[nearest] += point
    comp = cluster_queries(steps, centres)
    assert np.array_equal(comp[0], sizes)
    assert np.array_equal(comp[1], sums)


@pytest.mark.parametrize("kws", [{}, {"centred": True}, {"n_iterations": 6}, {"start": "random", "n_iterations": 8}])
def test_finds_the_clusters_when_there_is_little_noise(kws):
    points, middles = blobs()
    found = seeded(private_kmeans, points, 3, bounds=(0, 1), epsilon=500, rng=2, **kws)
    assert np.abs(found.centres[nearest_centre(middles, found.centres)] - middles).max() < 0.03
    assert found.inertia(points) < 0.004
    assert sorted(np.bincount(nearest_centre(points, found.centres), minlength=3)) == pytest.approx(
        sorted(found.counts), abs=5
    )


def test_centres_are_in_the_units_of_the_bounds():
    points, middles = blobs()
    shifted = pd.DataFrame(points * [10, 4] + [100, -50], columns=["x", "y"])
    found = seeded(private_kmeans, shifted, 3, bounds=[(100, 110), (-50, -46)], epsilon=500, rng=2)
    targets = middles * [10, 4] + [100, -50]
    nearest = [np.abs(found.centres - target).sum(axis=1).min() for target in targets]
    assert max(nearest) < 0.3


@pytest.mark.parametrize("empty", ["split", "keep"])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_noise_larger_than_the_data_gives_centres_within_bounds(empty, n):
    points = np.full((n, 2), 0.5)
    for seed in range(30):
        found = seeded(private_kmeans, points, 4, bounds=(0, 1), epsilon=0.05, empty=empty, rng=seed)
        assert np.isfinite(found.centres).all()
        assert ((found.centres >= 0) & (found.centres <= 1)).all()
        assert (found.counts >= 0).all()


@pytest.mark.slow
def test_privacy_loss_with_bounds_far_from_zero():
    """Bounds (100, 101): a point of about 100 more or less. A sum noised by the bounds' width alone leaks here."""
    n = 1000

    def centre(points, generator):
        return private_kmeans(points, 1, bounds=(100, 101), epsilon=1, n_iterations=1, start=[[100.5]], rng=generator)

    answers = []
    for points, first in (([[100.0]] * 4, 0), ([[100.0]] * 4 + [[101.0]], n)):
        drawn = seeded(lambda p=points, f=first: [centre(p, np.random.default_rng(f + s)) for s in range(n)])
        answers.append(np.array([[found.centres[0, 0], found.counts[0]] for found in drawn]))
    for values in (lambda a: np.round(a[:, 0], 1), lambda a: np.round(a[:, 1])):
        assert_loss_at_most(values(answers[0]), values(answers[1]), 1)


def test_points_outside_are_clipped_and_told():
    with pytest.warns(PrivacyWarning, match="1 of `points` lay outside `bounds`"):
        found = private_kmeans([[0.5, 2.0], [0.1, 0.1]], 1, bounds=(0, 1), epsilon=1)
    assert found.n_clipped == 1
