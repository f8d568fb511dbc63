import numpy as np
import pandas as pd
import pytest

from naive_linkage import as_measure, choquet, fellegi_sunter, nearest, random_measure, standardise
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
    extra, values, given = {}, None, distance
    if distance == "weighted_mean":
        extra["weights"] = [0.0, 3.0, 1.0, 0.5][:p]
    if distance == "choquet":
        values = random_measure(np.random.default_rng(5), p)
        given = FuzzyMeasure(values, list(known.columns))
    comp = link_records(release, known, distance=given, **extra)
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


def link(release, known, **options):
    return link_records(release, known, distance="probabilistic", **options)


@pytest.mark.parametrize(("n", "m", "p"), [(12, 20, 2), (25, 25, 3)])
def test_agrees_with_a_textbook_em(n, m, p):
    release, known = files(n, m, p)
    linked = link(release, known)
    a, b = standardise(release.to_numpy()), standardise(known.to_numpy())
    table = linked.agreement
    limits = [rows["at_most"].iloc[:-1].tolist() for _, rows in table.groupby("variable")]
    ref_m, ref_u = fellegi_sunter(a, b, limits, rounds=100)
    np.testing.assert_allclose(table["u"], np.concatenate(ref_u), rtol=1e-9)
    np.testing.assert_allclose(table["m"], np.concatenate(ref_m), rtol=1e-6, atol=1e-12)
    bits = [np.log2(np.maximum(x, 1e-12) / np.array(y)) for x, y in zip(ref_m, ref_u, strict=True)]
    for i, row in enumerate(linked.links.itertuples()):
        weights = [sum(bits[c][sum(abs(a[i, c] - y[c]) > t for t in limits[c])] for c in range(p)) for y in b]
        nearness = [-((a[i] - y) ** 2).sum() for y in b]
        best, closest = max(zip(np.round(weights, 9), nearness, strict=True))
        assert row.distance == pytest.approx(sum(x.max() for x in bits) - best, abs=1e-4)
        first = [w > best - 2e-9 and d > closest - 1e-12 for w, d in zip(weights, nearness, strict=True)]
        assert row.n_nearest == sum(first)
        assert (row.outcome in ("correct", "tied")) == first[known.index.get_loc(release.index[i])]


def test_levels_halve_and_an_exact_release_is_linked():
    known = files(60, 64, 3)[1]
    linked = link(known.sample(frac=1, random_state=3), known)
    assert linked.ratio == 1
    table = linked.agreement
    assert (table.groupby("variable")["level"].max() == 7).all()
    assert table.groupby("variable")["u"].last().tolist() == pytest.approx([0.5] * 3, abs=1e-3)
    assert table.groupby("variable")[["m", "u"]].sum().to_numpy() == pytest.approx(1)


def skewed(kind, n, p, seed):
    """Draw columns on which agreement is frequent: mostly zeros, yes or no, small counts, nearly all alike."""
    rng = np.random.default_rng(seed)
    if kind == "zeros":
        values = np.where(rng.random((n, p)) < 0.8, 0.0, rng.lognormal(8, 1, (n, p)).round())
    elif kind == "yes or no":
        values = (rng.random((n, p)) < 0.2).astype(float)
    elif kind == "counts":
        values = rng.poisson(0.7, (n, p)).astype(float)
    else:
        values = np.zeros((n, p))
        values[-1] = 1.0
    return pd.DataFrame(values, columns=[f"v{i}" for i in range(p)])


@pytest.mark.parametrize("kind", ["zeros", "yes or no", "counts", "one other"])
@pytest.mark.parametrize(("n", "p"), [(200, 3), (200, 6), (10, 2), (3, 2)])
def test_a_file_with_itself_is_linked_at_least_as_well_as_by_plain_distance(kind, n, p):
    for seed in range(3):
        table = skewed(kind, n, p, seed)
        if (np.ptp(table, axis=0) == 0).all():
            continue
        plain, linked = (link_records(table, table, distance=one, ties="share") for one in ("dbrl1", "probabilistic"))
        assert linked.ratio >= plain.ratio - 1e-9
        for _, rows in linked.agreement.groupby("variable"):
            assert (np.diff(rows["m"] / rows["u"]) <= 1e-9).all()
            assert rows["m"].sum() == pytest.approx(1)
