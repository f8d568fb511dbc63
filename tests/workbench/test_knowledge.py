import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reident as rd
from judged import as_release
from reident.workbench import knowledge
from reident.workbench.evaluate import knowledge_of
from samples import drawn


def people(n, seed):
    return drawn(n, seed, sex=["f", "m"], age=(30, 34), town=list("abcd")).assign(id=range(n))


def price(release, table, quasi, **given):
    dataset = rd.Dataset(table, quasi=quasi)
    made = as_release(release, dataset, "id")
    return knowledge.price(made, knowledge_of(made, dataset), **given)


def naive(table, columns, limit):
    """Return the share of persons with fewer than 1 / limit equals, and the mean chance to pick the right one."""
    sizes = [sum(all(a[c] == b[c] for c in columns) for _, b in table.iterrows()) for _, a in table.iterrows()]
    return float(np.mean([1 / size > limit + 1e-12 for size in sizes])), float(np.mean([1 / size for size in sizes]))


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.integers(4, 18), st.sampled_from([0.2, 0.25, 0.5]))
def test_every_subset_and_every_order_by_naive_enumeration(seed, n, limit):
    table = people(n, seed)
    quasi = ["sex", "age", "town"]
    release = table.sample(frac=1, random_state=seed % 100)
    found = price(release, table, quasi, limit=limit)
    told = found.subsets.set_index("known")
    assert len(told) == 7
    value = {(): (float(1 / n > limit + 1e-12), 1 / n)}
    for k in (1, 2, 3):
        for columns in itertools.combinations(quasi, k):
            value[columns] = naive(table, columns, limit)
            row = told.loc[", ".join(columns)]
            assert (row["share_above_limit"], row["risk"]) == pytest.approx(value[columns])
    gains = dict.fromkeys(quasi, (0.0, 0.0))
    for order in itertools.permutations(quasi):
        for place, column in enumerate(order):
            before, after = (tuple(c for c in quasi if c in order[:stop]) for stop in (place, place + 1))
            gains[column] = tuple(
                g + (a - b) / 6 for g, a, b in zip(gains[column], value[after], value[before], strict=True)
            )
    shared = found.columns.set_index("column")
    for column in quasi:
        assert shared.loc[column].tolist() == pytest.approx(list(gains[column]))
    worst = found.worst.set_index("size")
    assert worst.loc[1, "share_above_limit"] == max(value[(c,)][0] for c in quasi)
    assert worst.loc[3, "known"] == "sex, age, town"


def test_noise_is_no_evidence_and_many_columns_are_drawn():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"c{i}": rng.integers(0, 3, 60) for i in range(10)}).assign(id=range(60))
    release = table.assign(c0=table["c0"] + rng.normal(0, 5, 60))
    found = price(release, table, [f"c{i}" for i in range(10)])
    assert found.subsets["size"].tolist().count(3) == 120
    assert found.subsets["size"].max() == 10
    shared = found.columns.set_index("column")
    assert shared.loc["c0", "risk"] == 0
    empty = 1 / 60
    assert shared["risk"].sum() == pytest.approx(found.worst.iloc[-1]["risk"] - empty)


def test_the_place_is_a_piece_of_knowledge():
    rng = np.random.default_rng(1)
    table = people(80, 1).assign(lat_deg=rng.uniform(50, 51, 80), lon_deg=rng.uniform(8, 9, 80))
    release = table.assign(lat_deg=table["lat_deg"] + 1e-4)
    found = price(release, table, "sex")
    told = found.subsets.set_index("known")
    assert told.loc["sex", "share_above_limit"] == 0
    assert told.loc["place", "share_above_limit"] == 1
    assert found.columns["column"].iloc[0] == "place"
