import numpy as np
import pandas as pd
import pytest

from naive_linkage import as_measure, choquet, nearest, random_measure, standardise
from naive_linkage import some_released as files
from reident import link_records
from reident.tables import FuzzyMeasure


def pair_distances(release, known, distance, weights=None, values=None):
    a, b = release.to_numpy(), known.to_numpy()
    if distance == "dbrl2":
        gaps = (a[:, None] - b[None]).reshape(-1, a.shape[1])
        squares = ((a[:, None] - b[None]) / gaps.std(0)) ** 2
        return squares.mean(2)
    if distance == "mahalanobis":
        inverse = np.linalg.inv(np.cov(a.T, ddof=0) + np.cov(b.T, ddof=0))
        gaps = a[:, None] - b[None]
        return np.einsum("ijk,kl,ijl->ij", gaps, inverse, gaps)
    squares = (standardise(a)[:, None] - standardise(b)[None]) ** 2
    if distance == "choquet":
        measure = as_measure(values, a.shape[1])
        return np.array([[choquet(list(pair), measure) for pair in row] for row in squares])
    weights = np.ones(a.shape[1]) if weights is None else np.asarray(weights)
    return squares @ (weights / weights.sum())


@pytest.mark.parametrize("distance", ["dbrl1", "dbrl2", "mahalanobis", "weighted_mean", "choquet"])
@pytest.mark.parametrize(("n", "m", "p"), [(20, 35, 3), (35, 35, 2), (1, 40, 4)])
def test_agrees_with_all_pairs(distance, n, m, p):
    release, known = files(max(n, 3), m, p)
    extra, values = {}, None
    if distance == "weighted_mean":
        extra["weights"] = [0.0, 3.0, 1.0, 0.5][:p]
    if distance == "choquet":
        values = random_measure(np.random.default_rng(5), p)
        extra["measure"] = FuzzyMeasure(values, list(known.columns))
    comp = link_records(release, known, distance=distance, **extra)
    ref = pair_distances(release, known, distance, extra.get("weights"), values)
    least, first, count = nearest(ref)
    np.testing.assert_allclose(comp.links["distance"], least, rtol=1e-9)
    assert comp.links["known"].tolist() == known.index[first].tolist()
    assert comp.links["n_nearest"].tolist() == count.tolist()
    true = ref[np.arange(len(release)), release.index]
    np.testing.assert_allclose(comp.links["true_distance"], true, rtol=1e-9)
    assert comp.ratio == pytest.approx((known.index[first] == release.index).mean())


def test_ties_by_the_stated_rule():
    known = pd.DataFrame({"a": [0.0, 0, 1, 5], "b": [0.0, 0, 2, 1]})
    release = known.copy()
    strict = link_records(release, known)
    assert strict.links["outcome"].tolist() == ["tied", "tied", "correct", "correct"]
    assert strict.links["n_nearest"].tolist() == [2, 2, 1, 1]
    assert strict.links["known"].tolist() == [0, 0, 2, 3]
    assert strict.ratio == 0.5
    assert link_records(release, known, ties="share").ratio == 0.75


def test_truth_as_mapping_unknown_and_absent():
    known = pd.DataFrame({"a": [0.0, 1, 4]}, index=["x", "y", "z"])
    release = pd.DataFrame({"a": [4.1, 0.9, 0.1]})
    linked = link_records(release, known, truth={0: "z", 1: "y"})
    assert linked.links["outcome"].tolist() == ["correct", "correct", "absent"]
    assert linked.ratio == pytest.approx(2 / 3)
    free = link_records(release, known, truth="unknown")
    assert np.isnan(free.ratio)
    assert set(free.links["outcome"]) == {"unknown"}


def test_constant_columns_are_left_out_and_named():
    release, known = files(10, 20, 2)
    with_constant = link_records(release.assign(c=1.0), known.assign(c=[*[1.0] * 19, 2.0]))
    assert with_constant.ignored == ["c"]
    assert with_constant.links["known"].equals(link_records(release, known).links["known"])
