"""The base layer: checks, streams, lazy names, papers, data files."""

import hashlib
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import public
import reident
from reident import DataError, ParameterError, published
from reident.base import (
    check_choice,
    check_columns,
    check_distance_matrix,
    check_ids,
    check_integer,
    check_real,
    check_rng,
    check_table,
    encode_labels,
    stable_hash,
    trial_seed,
)
from reident.data import datasets
from reident.data._paths import data_folder


def test_every_public_name_can_be_imported():
    for name in public.HOMES:
        assert public.named(name) is not None
    assert len(reident.__all__) + len(public.SUBPACKAGES) <= 60
    with pytest.raises(AttributeError, match=r"it is `reident.tables.t_closeness`"):
        _ = reident.tables.t_closeness
    with pytest.raises(AttributeError, match=r"`reident.absent` does not exist"):
        _ = reident.absent


def test_importing_the_package_loads_nothing_heavy():
    heavy = ["numpy", "pandas", "numba", "matplotlib", "scipy", "networkx", "geopandas", "distributed"]
    code = f"import sys, reident; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("name", sorted(datasets.registry()))
def test_embedded_files_are_the_ones_in_the_registry(name):
    entry = datasets.registry()[name]
    assert {"sha256", "source", "licence"} <= entry.keys()
    if entry.get("embedded"):
        found = hashlib.sha256((data_folder() / name).read_bytes()).hexdigest()
        assert found == entry["sha256"]
        assert (
            f"`{name}`" in (data_folder() / "README.md").read_text()
            or name.split("/")[0] in (data_folder() / "README.md").read_text()
        )


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


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: check_rng(True), ParameterError, "`rng` must be a numpy Generator, a whole number or None, got True"),
        (lambda: check_rng(1.5), ParameterError, "got 1.5"),
        (lambda: check_integer(2.0, "k"), ParameterError, "`k` must be a whole number, got 2.0"),
        (lambda: check_integer(True, "k"), ParameterError, "`k` must be a whole number, got True"),
        (lambda: check_integer(1, "k", low=2, why="one is no crowd"), ParameterError, "at least 2, got 1: one is no"),
        (lambda: check_integer(9, "k", high=4), ParameterError, "`k` must be at most 4, got 9"),
        (lambda: check_real("x", "t"), ParameterError, "`t` must be a number, got 'x'"),
        (lambda: check_real(1, "t", low=0, high=1, open_high=True), ParameterError, r"must lie in \[0, 1\) and"),
        (lambda: check_real(np.inf, "t"), ParameterError, "be finite, got inf"),
        (lambda: check_choice([], "kind", ["a"]), ParameterError, r"`kind` must be one of 'a', got \[\]"),
        (lambda: check_table([], "table"), DataError, "`table` must be a pandas DataFrame, got list"),
        (lambda: check_table(pd.DataFrame([[1, 2]], columns=["a", "a"]), "table"), DataError, "got 'a' more than once"),
        (lambda: check_columns(pd.DataFrame({"a": []}), "b", "quasi"), ParameterError, r"got \['b'\]: the table has"),
        (lambda: check_columns(pd.DataFrame({"a": []}), ["a", "a"], "quasi"), ParameterError, "each column once"),
        (lambda: check_columns(pd.DataFrame({"a": []}), [], "quasi"), ParameterError, r"at least 1 column\(s\)"),
        (lambda: check_ids([1, 1], "ids"), DataError, "`ids` must be unique, got 1 more than once"),
        (lambda: check_ids([1, None], "ids"), DataError, "`ids` must not have missing identifiers, got 1"),
        (lambda: check_distance_matrix([[0, 1, 2]], "d"), DataError, r"`d` must be square, got shape \(1, 3\)"),
        (lambda: check_distance_matrix([[0.0]], "d", size=2), DataError, r"one row a record \(2\), got 1"),
        (lambda: check_distance_matrix([["a"]], "d"), DataError, "`d` must hold numbers only"),
        (lambda: published("kroll2014", "table3"), ParameterError, "`stem` must be one of 'kroll2015'"),
        (lambda: published("kroll2015", "table9"), ParameterError, "`table` must be one of"),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_labels_agree_across_tables_and_missing_ones_with_nothing():
    left = pd.DataFrame({"sex": ["f", "m", None, "f"], "age": [1, 2, 1, np.nan]})
    right = pd.DataFrame({"sex": pd.Categorical(["m", "f", None]), "age": [2.0, 1.0, 1.0]})
    a, b = encode_labels([left, right], ["sex", "age"], ["left", "right"])
    assert a[0] == b[1] >= 0
    assert a[1] == b[0] >= 0
    assert a[0] != a[1]
    assert a[2:].tolist() == [-1, -1]
    assert b[2] == -1


def test_labels_of_different_type_are_refused():
    with pytest.raises(
        DataError, match="'age' must have one type in all tables, got number in `left`, text in `right`"
    ):
        encode_labels([pd.DataFrame({"age": [1]}), pd.DataFrame({"age": ["1"]})], ["age"], ["left", "right"])
