"""Points of a grid, digits of released numbers and unnamed columns raise no alarm; what is true among them does."""

import numpy as np
import pandas as pd
import pytest

import reident as rd
from reident.workbench.files import write_file

pytestmark = pytest.mark.whole

PLACES = {"lat": "lat", "lon": "lon"}


@pytest.mark.parametrize("per_degree", [4, 8, 50])
def test_points_of_a_grid_are_no_true_places_and_short_ones_are(tmp_path, per_degree):
    rng = np.random.default_rng(per_degree)
    data = pd.DataFrame({"lat": rng.uniform(50, 51, 800), "lon": rng.uniform(9, 10, 800)})
    alone = data.round(5) + 0.01002
    alone.iloc[7] = data.iloc[7].round(5)
    grid = (data * per_degree).round() / per_degree
    for shown, n in ((grid, 0), (data, 800), (data.round(4), 800), (data.round(5), 800), (alone.round(5), 1)):
        shown.to_csv(tmp_path / "release.csv", index=False)
        assert sum(one.n for one in rd.audit_bytes(tmp_path, data, shown, **PLACES) if one.kind == "true place") == n
    lattice = pd.DataFrame(rng.integers(50_000, 51_000, (800, 2)) * 100, columns=["lat", "lon"])  # metres, by hundreds
    for shown, n in (((lattice / 1000).round() * 1000, 0), (lattice, 800)):
        shown.to_csv(tmp_path / "release.csv", index=False)
        assert sum(one.n for one in rd.audit_bytes(tmp_path, lattice, shown, **PLACES) if one.kind == "true place") == n


def test_a_column_whose_name_is_none_is_read_as_any_other(tmp_path):
    words = [f"word{i}" for i in range(40)]
    table = pd.DataFrame({"b": words, "a": range(40)})
    table.columns = pd.Index([None, "a"], dtype=object)
    table[["a"]].assign(b=words).sample(frac=1, random_state=1).to_csv(tmp_path / "r.csv", index=False)
    shown = table.sample(frac=1, random_state=1)
    assert rd.audit_bytes(tmp_path / "r.csv", table, shown) == []


@pytest.mark.parametrize("dialect", [{"separator": ";", "decimal": ","}, {"separator": "\t"}, {}])
def test_released_numbers_of_any_size_and_dialect_raise_no_alarm(tmp_path, dialect):
    rng = np.random.default_rng(3)
    n = 3000
    before = pd.DataFrame({"pay": rng.lognormal(12, 1, n).round(2), "id": rng.permutation(10**6)[:n] + 10**6})
    noisy = before[["pay"]].sample(frac=1, random_state=2).reset_index(drop=True) * rng.uniform(0.9, 1.1, (n, 1))
    for digits in (0, 1, 2, 5):
        shown = noisy.round(digits)
        write_file(shown, tmp_path / "release.csv", dialect)
        assert rd.audit_bytes(tmp_path, before, shown) == []


def test_digits_of_released_numbers_are_no_codes(tmp_path):
    """An income of 14235,56 does not give away the postcode 14235 of somebody else."""
    original = pd.DataFrame({"zip": ["14235", "99999", "01067"], "income": [14235.56, 20000.5, 51.01067]})
    released = original.assign(zip="*")
    released.to_csv(tmp_path / "release.csv", sep=";", decimal=",", index=False)
    found = rd.audit_bytes(tmp_path / "release.csv", original, released, unchanged=["income"])
    assert [one for one in found if one.kind == "hidden value"] == []
    (tmp_path / "release.csv").write_text((tmp_path / "release.csv").read_text() + "99999")
    found = rd.audit_bytes(tmp_path / "release.csv", original, released, unchanged=["income"])
    assert [one.columns for one in found if one.kind == "hidden value"] == [("zip",)]
