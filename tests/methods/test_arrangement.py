"""Arranging records on known places by simulated embeddings."""

import numpy as np
import pandas as pd
import pytest
from shapely import box

from reident import DataError, ParameterError, embed_distances, great_circle_pairs_km
from reident.kernels.places.arrangement import gibbs_sweep
from reident.places.arrangement import _count_classes, simulate_pairs

EMBEDDING = {"n_reference_sets": 30, "reference_set_size": 2, "area": box(6, 47, 15, 55)}


def places(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"lat_deg": rng.uniform(48, 54, n), "lon_deg": rng.uniform(7, 14, n)})


def test_classes_are_counted_by_definition():
    rng = np.random.default_rng(0)
    p, q, edges = rng.random((4, 3)), rng.random((4, 3)), np.array([0.2, 0.5])
    comp = np.zeros((4, 3, 4))
    _count_classes(p, q, edges, comp)
    ref = np.zeros((4, 3, 4))
    for a in range(4):
        for b in range(4):
            which = (edges <= np.abs(p[a] - q[b]).max()).sum()
            ref[a, which, b] += 1
            ref[b, which, a] += 1
    np.testing.assert_array_equal(comp, ref)


def test_a_cold_sweep_takes_each_records_likeliest_place():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(5, 2, 5))
    classes = rng.integers(0, 2, (4, 4))
    classes = np.triu(classes, 1) + np.triu(classes, 1).T
    comp = np.array([0, 3, 1, 4])
    ref = comp.copy()
    gibbs_sweep(table, classes, comp, 1e9, np.full(4, 0.5))
    for i in range(4):
        ref[i] = np.argmax([sum(table[ref[j], classes[i, j], a] for j in range(4) if j != i) for a in range(5)])
    np.testing.assert_array_equal(comp, ref)


@pytest.mark.slow
def test_an_embedding_that_hides_little_is_arranged():
    people = places(60, 0)
    release = embed_distances(people["lat_deg"], people["lon_deg"], **EMBEDDING, rng=1)
    pairs = simulate_pairs(release, people["lat_deg"], people["lon_deg"], **EMBEDDING, n_simulations=40, rng=2)
    found = pairs.arrange(n_sweeps=20, start=np.arange(60), rng=3).positions
    apart = great_circle_pairs_km(found["lat_deg"], found["lon_deg"], people["lat_deg"], people["lon_deg"])
    # Places are about 75 km apart.
    assert np.median(apart) < 60
    again = pairs.arrange(n_sweeps=10, rng=4)
    pd.testing.assert_frame_equal(again.positions, pairs.arrange(n_sweeps=10, rng=4).positions)


def test_bad_input():
    people = places(4, 0)
    with pytest.raises(ParameterError, match="`n_simulations`"):
        simulate_pairs(np.zeros((4, 4)), people["lat_deg"], people["lon_deg"], **EMBEDDING, n_simulations=0)
    with pytest.raises(DataError, match="`d_release`"):
        simulate_pairs(np.zeros((4, 3)), people["lat_deg"], people["lon_deg"], **EMBEDDING)
    pairs = simulate_pairs(np.zeros((4, 4)), people["lat_deg"], people["lon_deg"], **EMBEDDING, n_simulations=1, rng=0)
    with pytest.raises(ParameterError, match="`n_sweeps`"):
        pairs.arrange(n_sweeps=1)
