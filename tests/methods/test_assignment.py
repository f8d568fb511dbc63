"""Optimal assignment against every permutation, and where it beats and loses to the nearest record."""

import itertools

import numpy as np
import pandas as pd
import pytest

from reident import DataError, assign_records, link_records


@pytest.mark.parametrize("seed", range(12))
def test_no_other_assignment_is_cheaper(seed):
    rng = np.random.default_rng(seed)
    n, m = 4, int(rng.integers(4, 7))
    known = pd.DataFrame(rng.normal(size=(m, 2)), columns=["x", "y"])
    release = known.iloc[rng.permutation(m)[:n]] + rng.normal(scale=0.8, size=(n, 2))
    found = assign_records(release, known)
    a, b = ((t - t.mean()) / t.std(ddof=0) for t in (release, known))
    cost = ((a.to_numpy()[:, None] - b.to_numpy()[None]) ** 2).mean(axis=2)
    best = min(sum(cost[i, j] for i, j in enumerate(p)) for p in itertools.permutations(range(m), n))
    assert found.links["distance"].sum() == pytest.approx(best)
    assert found.links["known"].is_unique
    assert found.ratio == np.mean(found.links["known"] == found.links["release"])
    nearest = link_records(release, known).links
    assert (nearest["distance"] <= found.links["distance"] + 1e-9).all()


def test_an_assignment_can_find_more_and_less_than_the_nearest_record():
    """As in both examples of Herranz et al. (2015): a gain on average, and files where one shift displaces others."""
    known = pd.DataFrame({"x": [0.0, 1, 2, 3]}, index=list("abcd"))
    close = pd.DataFrame({"x": [0.4, 0.45, 2, 3.1]}, index=list("abcd"))
    assert (assign_records(close, known).ratio, link_records(close, known).ratio) == (1, 0.75)
    rng = np.random.default_rng(1)
    known = pd.DataFrame(rng.normal(size=(30, 2)), columns=["x", "y"])
    gains = []
    for _ in range(40):
        noisy = known + rng.normal(scale=0.6, size=known.shape)
        gains.append(assign_records(noisy, known).ratio - link_records(noisy, known).ratio)
    assert min(gains) < 0 < np.mean(gains)


def test_who_is_not_there_is_absent_and_nobody_is_linked_twice():
    known = pd.DataFrame({"x": [0.0, 1, 2]}, index=["a", "b", "c"])
    release = pd.DataFrame({"x": [0.1, 5]}, index=["a", "z"])
    links = assign_records(release, known).links.set_index("release")
    assert links.loc["a", "outcome"] == "correct"
    assert links.loc["z", "outcome"] == "absent"
    unknown = assign_records(release, known, truth="unknown")
    assert set(unknown.links["outcome"]) == {"unknown"}
    assert np.isnan(unknown.ratio)
    with pytest.raises(DataError, match=r"`known` must have at least as many records as `release` \(3\), got 2"):
        assign_records(known, known.iloc[:2])
