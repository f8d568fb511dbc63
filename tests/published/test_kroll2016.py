"""What Kroll and Schnell (2016) state, and the trials of their experiment against plain definitions."""

import numpy as np
import pandas as pd
import pytest
from shapely import box

from reident import great_circle_km
from reident.data.datasets import published
from reident.experiments.kroll2016 import CITY_PAIRS, city_pairs, city_trial, draw_files, trial
from reident.experiments.parameters import pinned
from reident.places import impute_from_neighbours, local_slopes, scan_cluster, spatial_eigenvectors

FACTS = published("kroll2016", "statements").set_index("item")["value"]


def test_distances_of_the_city_pairs():
    # Section "Accuracy of the proposed method": 50, 228 and 540 km. Which point of a city is meant is not said.
    cities = city_pairs()
    between = great_circle_km(cities["lat_deg"], cities["lon_deg"])
    released = city_trial(np.random.default_rng(3), n_reference_sets=20, reference_set_size=3)
    for i, pair in zip((0, 2, 4), CITY_PAIRS, strict=True):
        assert between[i, i + 1] == pytest.approx(FACTS[f"{pair}_km"], rel=0.03)
        assert released[f"{pair}_km"] <= between[i, i + 1] + 1e-9
    assert released["plymouth_newcastle_km"] == pytest.approx(496.0415803147569)


def test_figure_1_coordinate_is_the_smallest_distance():
    # Section "Contractive anonymisation": f(p) = min(308.9, 262.3, 162.7) = 162.7.
    from reident.base import EARTH_RADIUS_KM
    from reident.kernels.places.lipschitz import lipschitz_coordinates

    angles = np.array([308.9, 262.3, 162.7]) / EARTH_RADIUS_KM
    references = np.column_stack([np.sin(angles), np.zeros(3), np.cos(angles)])
    coordinate = lipschitz_coordinates(np.array([[0.0, 0.0, 1.0]]), references[None])
    assert coordinate[0, 0] == pytest.approx(162.7)


@pytest.mark.parametrize(("name", "size", "common"), [("england", 400, 40), ("germany", 500, 50)])
def test_files_have_the_papers_sizes(name, size, common):
    files = draw_files(name, 3)
    assert (len(files.original), len(files.known), len(files.truth)) == (size, size, common)
    words = [table[files.quasi].astype(str).agg("/".join, axis=1).value_counts()
             for table in (files.original, files.known)]  # fmt: skip
    assert (words[0] * words[1]).dropna().sum() == pytest.approx(FACTS[f"{name}_candidates"], rel=0.15)
    merged = files.truth.merge(files.original, left_on="release", right_index=True)
    pd.testing.assert_frame_equal(
        merged[["lat_deg", "lon_deg"]].reset_index(drop=True),
        files.known.loc[files.truth["known"], ["lat_deg", "lon_deg"]].reset_index(drop=True),
    )


def test_own_places_with_an_own_area_are_attacked(tmp_path):
    import geopandas as gpd

    rng = np.random.default_rng(5)
    own = pd.DataFrame({"lat_deg": rng.uniform(48, 54, 57), "lon_deg": rng.uniform(7, 14, 57)})
    own["kind"] = rng.integers(0, 4, 57)
    own.to_csv(tmp_path / "places.csv", index=False)
    gpd.GeoDataFrame(geometry=[box(6, 47, 15, 55)], crs="EPSG:4326").to_file(tmp_path / "area.geojson")
    options = {"scenario": pinned(str(tmp_path / "places.csv")), "area": pinned(str(tmp_path / "area.geojson"))}
    (row,) = trial(
        rng, n_reference_sets=60, reference_set_size=1, dataset=1, alphas=[0.9], n_simulations=60, n_common=10,
        quasi=("kind",), **options,
    )  # fmt: skip
    assert row["strong_precision"] >= 0.5
    assert row["effective_size"] == 1


def test_the_named_uses_by_plain_definitions():
    rng = np.random.default_rng(4)
    x = rng.uniform(0, 100, (40, 2))
    d = np.hypot(*(x[:, None] - x[None]).transpose(2, 0, 1))
    values = np.sin(x[:, 0] / 20)
    # The scan: every window, its likelihood ratio written out.
    cases = rng.random(40) < np.where(x[:, 0] < 30, 0.9, 0.1)

    def log_likelihood(hits, size):
        return sum(part * np.log(part / size) for part in (hits, size - hits) if part)

    ref = {}
    for centre in range(40):
        order = np.argsort(d[centre], kind="stable")
        for size in range(1, 11):
            hits, others = cases[order[:size]].sum(), cases[order[size:]].sum()
            if hits / size > others / (40 - size):
                ref[frozenset(order[:size].tolist())] = log_likelihood(hits, size) + log_likelihood(others, 40 - size)
    members, log_ratio = scan_cluster(d, cases)
    assert ref[frozenset(np.flatnonzero(members).tolist())] == pytest.approx(max(ref.values()))
    assert log_ratio == pytest.approx(max(ref.values()) - log_likelihood(cases.sum(), 40))
    assert not scan_cluster(d, np.zeros(40, dtype=bool)).members.any()
    # The regression: weighted least squares around each record.
    y = rng.normal(size=40) + 2 * values
    slopes = local_slopes(d, values, y, neighbours=15)
    for i in (0, 7):
        weight = np.clip(1 - (d[i] / np.sort(d[i])[15]) ** 2, 0, None) ** 2
        assert slopes[i] == pytest.approx(np.polyfit(values, y, 1, w=np.sqrt(weight))[0])
    # Gaps: the mean of the three nearest known records; other values stay.
    gaps = np.where(np.arange(40) < 8, np.nan, values)
    filled = impute_from_neighbours(d, gaps)
    for i in range(8):
        nearest = sorted(range(8, 40), key=lambda j: d[i, j])[:3]
        assert filled[i] == pytest.approx(values[nearest].mean())
    assert (filled[8:] == values[8:]).all()
    # Eigenvectors: orthonormal, centred, the broadest with the largest share of the truncated distances.
    vectors = spatial_eigenvectors(d, n_vectors=5)
    assert np.allclose(vectors.T @ vectors, np.eye(5))
    assert np.allclose(vectors.sum(axis=0), 0)
