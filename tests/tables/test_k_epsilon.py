import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy_loss import assert_loss_at_most, loss_bounds
from reident import PrivacyWarning
from reident.tables import differencing_attack
from reident.tables.class_noise import (
    confidence_suppression,
    epsilon_for_error,
    expected_relative_error,
    relative_error,
)
from reident.tables.class_noise_attacks import nearest_record_attack
from reident.tables.disclosure import k_anonymity
from reident.tables.k_epsilon import class_noise_scales, k_epsilon_anonymise, simulate_class_noise
from samples import drawn

BOUNDS = {"height": (140.0, 220.0), "weight": (30.0, 200.0)}


def people(n=40, seed=0):
    sizes = {"height": lambda rng, n: rng.normal(170, 8, n), "weight": lambda rng, n: rng.normal(75, 12, n)}
    return drawn(n, seed, age=(20, 60), sex=["f", "m"], **sizes, ill=list("abc"))


def release_of(table, **change):
    call = {"k_quasi": ["age", "sex"], "epsilon_quasi": ["height", "weight"], "k": 4, "epsilon": 1.0, "bounds": BOUNDS}
    return k_epsilon_anonymise(table, **{**call, **change})


def test_a_release_keeps_its_promises():
    table = people()
    release = release_of(table)
    assert k_anonymity(release.table, ["age", "sex"]) >= 4
    assert sorted(release.source.tolist()) == list(range(40))
    assert release.source.tolist() != list(range(40))  # chance 1 / 40!
    assert release.table.index.tolist() == list(range(40))
    assert release.table["ill"].tolist() == table["ill"].iloc[release.source].tolist()
    for name, (low, high) in BOUNDS.items():
        step = release.granularity[name]
        assert (release.table[name] % step == 0).all()
        np.testing.assert_allclose(release.scales[name], 2 * (high - low), atol=2 * step)  # two columns share 1
    assert "local differential privacy" in release.guarantee


def test_the_published_mode_is_never_called_differential_privacy():
    with pytest.warns(PrivacyWarning, match="not differentially private"):
        release = release_of(people(), bounds=None)
    assert "NOT differentially private" in release.guarantee
    classes = release.k_anonymous.classes
    ref = class_noise_scales(people()["height"], classes, epsilon=1.0, n_columns=2)
    np.testing.assert_allclose(release.scales["height"], ref, atol=4 * release.granularity["height"])


def test_constant_classes_are_told_and_published_exactly():
    table = people().assign(height=170.0)
    with pytest.warns(PrivacyWarning) as caught:
        release = release_of(table, epsilon_quasi="height", bounds=None)
    assert any("published exactly" in str(warning.message) for warning in caught)
    assert release.n_constant == {"height": release.k_anonymous.n_classes}
    assert (release.table["height"] == 170).all()
    with pytest.warns(PrivacyWarning) as caught:
        release_of(table, epsilon_quasi="height", bounds=None, rng=1)
    assert any("shuffle is repeatable" in str(warning.message) for warning in caught)
    assert release_of(table, epsilon_quasi="height", bounds={"height": (140, 220)}).n_constant == {"height": 0}


def test_values_outside_the_bounds_are_moved_and_counted():
    release = release_of(people(), bounds={"height": (165, 170), "weight": (30, 200)})
    heights = people()["height"]
    assert release.n_clipped["height"] == int(((heights < 165) | (heights > 170)).sum())


def low_digits(values, step):
    """Return the share of values that are multiples of `step`."""
    return float((np.asarray(values) / step % 1 == 0).mean())


def test_the_support_of_the_noise_tells_nothing():
    """Of floating-point noise, outputs near 0 that came from 2^20 have lost their low digits: one tells 0 from 2^20."""
    far = 2.0**20
    table = pd.DataFrame({"age": 1, "height": np.repeat([0.0, far], 4000)})
    release = k_epsilon_anonymise(
        table, k_quasi="age", epsilon_quasi="height", k=2, epsilon=1, bounds={"height": (0, far)}
    )
    original = table["height"].to_numpy()[release.source]
    noisy = release.table["height"].to_numpy()
    step = release.granularity["height"]
    assert low_digits(noisy[original == 0], step) == low_digits(noisy[original == far], step) == 1.0
    odd = [low_digits(noisy[original == start], 2 * step) for start in (0.0, far)]
    # About half of each are even multiples; 5 standard errors of a difference of two shares of 4,000.
    assert abs(odd[0] - odd[1]) < 5 * np.sqrt(0.5 / 4000)


def test_public_bounds_bound_the_privacy_loss():
    """Of two records at the ends of the range; the bound is nearly reached, so that the test could fail."""
    table = pd.DataFrame({"age": 1, "x": np.repeat([0.0, 10.0], 40_000)})
    release = k_epsilon_anonymise(table, k_quasi="age", epsilon_quasi="x", k=2, epsilon=1.0, bounds={"x": (0, 10)})
    cells = np.round(release.table["x"].to_numpy() / 5)
    ends = [cells[table["x"].to_numpy()[release.source] == end] for end in (0.0, 10.0)]
    assert_loss_at_most(*ends, 1.0)
    assert loss_bounds(*ends, level=1e-4) > 0.7


def test_expected_error_is_formula_8_and_what_happens():
    rng = np.random.default_rng(2)
    values, classes = rng.normal(170, 8, 3000), rng.integers(0, 30, 3000)
    total = 0.0
    for c in range(30):
        ec = values[classes == c]
        harmonic = ec.size / sum(1 / value for value in ec)
        total += (ec.max() - ec.min()) / harmonic * ec.size / values.size / 2.0
    comp = expected_relative_error(values, classes, epsilon=2.0)
    assert comp == pytest.approx(total, rel=1e-12)
    scales = class_noise_scales(values, classes, epsilon=2.0)
    realised = [relative_error(values, simulate_class_noise(values, classes, scales, rng=seed)) for seed in range(40)]
    # 5 standard errors of 40 runs.
    assert np.mean(realised) == pytest.approx(comp, abs=5 * np.std(realised) / np.sqrt(40))


def test_epsilon_for_an_error_gives_that_error():
    rng = np.random.default_rng(3)
    values, classes = rng.normal(170, 8, 400), rng.integers(0, 9, 400)
    for error, more in ((0.05, {}), (0.5, {"n_columns": 3}), (0.01, {"width": 100.0})):
        epsilon = epsilon_for_error(values, classes, error=error, **more)
        assert expected_relative_error(values, classes, epsilon=epsilon, **more) == pytest.approx(error)


def test_the_expected_error_leaves_out_suppressed_records_and_takes_absolute_values():
    assert expected_relative_error([0.0, 1.0, 2.0], [-1, 0, 0], epsilon=1) == 0.75
    assert expected_relative_error([-1.0, 1.0], [0, 0], epsilon=1) == 2.0  # mixed signs: absolute values


VALUES = st.lists(st.tuples(st.integers(0, 6), st.integers(-3, 9), st.integers(-1, 2)), min_size=1, max_size=25).filter(
    lambda rows: any(row[2] >= 0 for row in rows)
)


def numbered(rows):
    """Return original, noisy, classes without gaps."""
    original, noisy, classes = (np.array(column) for column in zip(*rows, strict=True))
    codes = np.full(classes.size, -1)
    codes[classes >= 0] = np.unique(classes[classes >= 0], return_inverse=True)[1]
    return original.astype(float), noisy / 2, codes


@given(VALUES, st.sampled_from(["all", "random", "none"]))
def test_linking_against_plain_loops(rows, ties):
    original, noisy, classes = numbered(rows)
    success = []
    for i in np.flatnonzero(classes >= 0):
        gaps = np.abs(noisy[i] - original[classes == classes[i]])
        own, n_nearest = abs(noisy[i] - original[i]), int((gaps == gaps.min()).sum())
        hit = own == gaps.min()
        success.append({"all": float(hit), "random": hit / n_nearest, "none": float(hit and n_nearest == 1)}[ties])
    attack = nearest_record_attack(original, noisy, classes, ties=ties)
    assert attack.risk == pytest.approx(np.mean(success))
    assert attack.low <= attack.risk <= attack.high
    assert attack.baseline == (classes.max() + 1) / len(success)
    assert np.isnan(attack.linked).sum() == (classes < 0).sum()


@given(VALUES, st.integers(1, 4), st.sampled_from([0.5, 0.99]), st.sampled_from(["release", "original"]))
def test_confidence_suppression_against_plain_loops(rows, k, confidence, centre):
    original, noisy, classes = numbered(rows)
    scales = np.array([0.7, 0.3, 0.0])[: classes.max() + 1]
    found = confidence_suppression(original, noisy, classes, scales=scales, k=k, confidence=confidence, centre=centre)
    counts = np.full(classes.size, -1)
    for i in np.flatnonzero(classes >= 0):
        middle = (noisy if centre == "release" else original)[i]
        radius = -scales[classes[i]] * np.log(1 - confidence)
        own = original[classes == classes[i]]
        counts[i] = ((own >= middle - radius) & (own <= middle + radius)).sum()
    gone = (counts > 0) & (counts < k) & (classes >= 0)
    for c in range(classes.max() + 1):
        members = classes == c
        if members.sum() - (counts[members] < k).sum() < k:
            gone[members] = True
    assert found.candidates.tolist() == counts.tolist()
    assert found.suppressed.tolist() == gone.tolist()
    assert found.share == pytest.approx(gone.sum() / (classes >= 0).sum())


@pytest.mark.parametrize("columns", [["height"], ["height", "weight"]])
@pytest.mark.parametrize(("confidence", "epsilon"), [(0.5, 1.0), (0.9, 4.0), (0.99, 16.0)])
def test_the_confidence_step_takes_away_what_any_column_tells(columns, confidence, epsilon):
    """The same noise without the step gives the records that the step has to take away."""
    table, k = people(200, seed=3), 4
    call = {"epsilon_quasi": columns, "bounds": None, "k": k, "epsilon": epsilon, "rng": 7}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        every, some = release_of(table, **call), release_of(table, **call, confidence=confidence)
    classes = every.k_anonymous.classes
    noisy = every.table[columns].set_axis(every.source).sort_index()
    told = np.zeros(len(table), dtype=bool)
    for name in columns:
        original = np.round(table[name] / every.granularity[name]) * every.granularity[name]
        given = {"scales": every.scales[name], "k": k, "confidence": confidence}
        told |= confidence_suppression(original, noisy[name], classes, **given).suppressed
    gone = {*np.flatnonzero(told | (pd.Series(~told).groupby(classes).transform("sum") < k))}
    assert 0 < len(gone) < len(table)
    assert {*some.source} == {*range(len(table))} - gone
    assert (some.n_suppressed, every.n_suppressed, some.confidence) == (len(gone), 0, confidence)
    assert k_anonymity(some.table, ["age", "sex"]) >= k
    pd.testing.assert_frame_equal(some.table[columns].set_axis(some.source).sort_index(), noisy.drop(index=[*gone]))


def naive_log_likelihood(value, original, release, members, target, epsilon, width):
    """Add the log-densities of all noise that would have been drawn had the target this value."""
    values = {i: value if i == target else original[i] for i in members}
    scale = (width or max(values.values()) - min(values.values())) / epsilon
    return sum(-math.log(2 * scale) - abs(release[i] - values[i]) / scale for i in members)


@pytest.mark.parametrize("width", [None, 100.0])
def test_evidence_is_that_of_all_densities(width):
    rng = np.random.default_rng(3)
    original, classes = rng.uniform(140, 200, 14), np.repeat([0, 1], [5, 9])
    scales = class_noise_scales(original, classes, epsilon=2, width=width)
    release = simulate_class_noise(original, classes, scales, rng=rng)
    attack = differencing_attack(original, release, classes, [1, 8], epsilon=2, bounds=(120, 220), width=width)
    assert attack.broken == (attack.table["evidence"] > 2 + 1e-9).mean()
    assert attack.broken == 0 or width is None
    for row in attack.table.itertuples():
        members = np.flatnonzero(classes == classes[row.record])
        values = np.unique([*np.linspace(120, 220, 401), original[row.record]])
        ref = np.array(
            [naive_log_likelihood(v, original, release, members, row.record, 2, width) for v in values.tolist()]
        )
        assert row.evidence == pytest.approx(ref.max() - ref.min())
        share = np.cumsum(np.exp(ref - ref.max()))
        assert row.guess == values[np.searchsorted(share / share[-1], 0.5)]
        assert row.low <= row.guess <= row.high


def test_a_class_of_one_value_is_certain():
    attack = differencing_attack([5.0, 5, 5], [5.0, 5, 5], [0, 0, 0], [0], epsilon=1, bounds=(0, 10))
    row = attack.table.iloc[0]
    assert (row["guess"], row["low"], row["high"], row["evidence"]) == (5, 5, 5, np.inf)


def test_a_seed_is_told_and_repeats():
    with pytest.warns(PrivacyWarning):
        once = release_of(people(), rng=5)
    with pytest.warns(PrivacyWarning):
        again = release_of(people(), rng=5)
    pd.testing.assert_frame_equal(once.table, again.table)
    # The columns draw from one stream, not from two equal ones.
    noise = {name: once.table[name] - people()[name].iloc[once.source].to_numpy() for name in BOUNDS}
    assert abs(np.corrcoef(noise["height"], noise["weight"])[0, 1]) < 0.8
