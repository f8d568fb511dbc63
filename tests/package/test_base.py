import hashlib
import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import reident as rd
from reident import DataError, ParameterError
from reident.base import (
    MEMORY,
    afford,
    available,
    check_rng,
    encode_labels,
    read_size,
    stable_hash,
    trial_seed,
    wilson_interval,
)
from reident.data import datasets


def test_a_missing_data_set_is_explained(monkeypatch, tmp_path):
    monkeypatch.setenv("REIDENT_DATA", str(tmp_path))
    entry = {"sha256": "0" * 64, "source": "nowhere", "licence": "none"}
    monkeypatch.setattr(datasets, "registry", lambda: {"some/file.csv": entry})
    with pytest.raises(DataError, match=r"REIDENT_DATA/some/file.csv \(sha256 000.*source: nowhere; licence: none"):
        datasets.remote_file("some/file.csv")
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "file.csv").write_text("other")
    with pytest.raises(DataError, match=r"has sha256 [0-9a-f]{64}, expected 000"):
        datasets.remote_file("some/file.csv")
    entry["sha256"] = hashlib.sha256(b"other").hexdigest()
    assert datasets.remote_file("some/file.csv").read_text() == "other"


@given(st.dictionaries(st.text(), st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()))
def test_stable_hash_depends_on_content_not_on_order(params):
    backwards = dict(reversed(params.items()))
    assert stable_hash(params) == stable_hash(backwards) == stable_hash(json.loads(json.dumps(params)))


def test_streams_differ_between_trials_and_agree_between_processes():
    first = trial_seed(1, "stem", {"a": 1.0}, 0)
    assert first.generate_state(2).tolist() == trial_seed(1, "stem", {"a": 1.0}, 0).generate_state(2).tolist()
    others = [trial_seed(2, "stem", {"a": 1.0}, 0), trial_seed(1, "x", {"a": 1.0}, 0), trial_seed(1, "stem", {}, 0),
              trial_seed(1, "stem", {"a": 1.0}, 1)]  # fmt: skip
    states = {tuple(seed.generate_state(2)) for seed in [first, *others]}
    assert len(states) == 5


def test_check_rng_takes_what_numpy_takes():
    generator = np.random.default_rng(3)
    assert check_rng(generator) is generator
    assert check_rng(np.int64(3)).random() == np.random.default_rng(3).random()
    assert check_rng(np.random.SeedSequence(3)).random() == np.random.default_rng(3).random()
    assert check_rng(None).random() != check_rng(None).random()


def test_labels_agree_across_tables_and_missing_ones_with_nothing():
    left = pd.DataFrame({"sex": ["f", "m", None, "f"], "age": [1, 2, 1, np.nan]})
    right = pd.DataFrame({"sex": pd.Categorical(["m", "f", None]), "age": [2.0, 1.0, 1.0]})
    a, b = encode_labels([left, right], ["sex", "age"], ["left", "right"])
    assert a[0] == b[1] >= 0
    assert a[1] == b[0] >= 0
    assert a[0] != a[1]
    assert a[2:].tolist() == [-1, -1]
    assert b[2] == -1


@pytest.mark.parametrize(("successes", "trials", "level"), [(3, 17, 0.95), (0, 5, 0.9), (40, 40, 0.99), (2.5, 8, 0.8)])
def test_wilson_holds_the_shares_that_a_score_test_keeps(successes, trials, level):
    rate, z = wilson_interval(successes, trials, level=level), norm.ppf((1 + level) / 2)
    shares = np.linspace(1e-6, 1 - 1e-6, 20001)
    kept = shares[np.abs(successes / trials - shares) <= z * np.sqrt(shares * (1 - shares) / trials)]
    assert rate.low == pytest.approx(kept.min(), abs=1e-4)
    assert rate.high == pytest.approx(kept.max(), abs=1e-4)


@pytest.mark.parametrize("trials", [1, 2, 3, 7, 30, 40, 99, 200, 1234])
def test_no_share_lies_beyond_its_interval(trials):
    for successes in range(trials + 1):
        rate = wilson_interval(successes, trials)
        assert 0 <= rate.low <= rate.value <= rate.high <= 1


KM = np.abs(np.subtract.outer(np.arange(1000.0), np.arange(1000.0)))
ONE_LABEL = np.zeros(1000, dtype=int)


def test_what_fits_is_done_under_the_same_limit(monkeypatch):
    monkeypatch.setenv(MEMORY, "1G")
    graph = rd.places.compatibility_graph(ONE_LABEL, KM, ONE_LABEL[:30], KM[:30, :30], window_km=(-0.5, 0.5))
    assert graph.n_vertices == 30_000


def test_memory_is_that_of_the_machine_or_what_is_said(monkeypatch):
    monkeypatch.delenv(MEMORY, raising=False)
    assert 1 << 24 < available() < 1 << 62
    monkeypatch.setenv(MEMORY, "1.5 GiB")
    assert available() == 1.5 * 1024**3
    afford(1.4 * 1024**3, "x", "a thing", "less")
    with pytest.raises(ParameterError, match=r"`x` .* a thing: about 2\.0 GiB, and 1\.5 GiB may be used"):
        afford(2 * 1024**3, "x", "a thing", "less")
    for bad in ("", "much", "0", "-1G", "1X"):
        with pytest.raises(ParameterError, match="`memory` must be a size"):
            read_size(bad)


HIDDEN = np.ma.masked_array([1.0, 2.0], mask=[False, True])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (HIDDEN, "no masked value, got 1"), (np.array([1 + 2j, 2]), "complex"), (["1", "2"], "text"),
        (np.array(["2020", "2021"], "M8[Y]"), "dates"), (pd.to_datetime(["2020-01-01", "2021-01-01"]), "dates"),
        (np.array([1, 2], "m8[s]"), "durations"), (np.array([1, "2"], dtype=object), "numbers only"),
        (nx.path_graph(2), "a graph"),
    ],
)  # fmt: skip
def test_what_is_no_number_is_not_taken_for_one(values, message):
    with pytest.raises(DataError, match=message):
        rd.great_circle_km(values, [1.0, 2.0])


@pytest.mark.parametrize(
    "dtype", [">f8", "u1", "f2", "Int64", "Float64", "int64[pyarrow]", "double[pyarrow]", "object"]
)
def test_numbers_of_every_kind_are_the_same_numbers(dtype):
    values = np.array([1, 2], dtype) if dtype in (">f8", "u1", "f2") else pd.Series([1, 2], dtype=dtype)
    np.testing.assert_array_equal(rd.great_circle_km(values, [1.0, 2.0]), rd.great_circle_km([1.0, 2.0], [1.0, 2.0]))
