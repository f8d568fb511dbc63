import itertools

import numpy as np
import pytest
from scipy import stats

from reident import (
    MetricMicrodata,
    ParameterError,
    common_subgraph_attack,
    great_circle_km,
    linkage_quality,
    perturb_coordinates,
    published,
)
from reident.cliques import max_cliques
from reident.data import points_in_area
from reident.data.datasets import load_boundary, load_example2, load_poets
from reident.experiments.kroll2015 import deviation, draw_files, read_files, trial
from reident.experiments.parameters import pinned
from reident.places import compatibility_graph, distance_deviation_quantiles


def test_example_2_to_the_printed_digit():
    people = load_example2()
    d = great_circle_km(people["lat_deg"], people["lon_deg"]).round(1)
    names = people["name"].tolist()
    for row in published("kroll2015", "example2").itertuples():
        assert d[names.index(row.a), names.index(row.b)] == row.distance_km


def test_example_10_has_eleven_vertices_nine_edges_and_one_maximum_clique():
    (target, d_target), (known, d_known) = load_poets()
    labels = [(table["cob"].astype(str) + table["language"]).to_numpy() for table in (target, known)]
    graph = compatibility_graph(labels[0], d_target, labels[1], d_known, window_km=(-5, 5))
    assert (graph.pairs + 1).tolist() == published("kroll2015", "table2")[["target", "identification"]].values.tolist()
    assert graph.n_edges == 9
    listed = max_cliques(graph)
    assert listed.is_complete
    assert [tuple(v + 1 for v in clique) for clique in listed.cliques] == [(1, 2, 3, 5)]


@pytest.mark.parametrize("row", published("kroll2015", "table3").to_dict("records"), ids=lambda row: row["sigma_deg"])
def test_table_3_within_its_sampling_error(row):
    reference = distance_deviation_quantiles(
        load_boundary("germany"), sigma_deg=row["sigma_deg"], n_pairs=40_000, rng=1
    )
    # Level .001 for each of 80 numbers: a sample of 1000, against a reference of 40,000.
    z = stats.norm.ppf(0.9995) * np.sqrt(1 + 1000 / 40_000)
    for p in (0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95):
        spread = z * np.sqrt(p * (1 - p) / 1000)
        low, high = reference.quantiles_km([p - spread, p + spread])
        assert low < row[f"q{p:.2f}"] < high
    kurtosis = stats.kurtosis(reference.deviations_km, fisher=False)
    assert row["variance_km2"] == pytest.approx(reference.variance_km2, rel=z * np.sqrt((kurtosis - 1) / 1000))


def largest_common_subgraph(labels, distances, window_km):
    """Return the size of the largest matching of equal labels whose distances agree, by trying every matching."""
    n = len(labels[0])
    for size in range(n, 0, -1):
        for a, b in itertools.product(itertools.combinations(range(n), size), itertools.permutations(range(n), size)):
            close = np.abs(distances[0][np.ix_(a, a)] - distances[1][np.ix_(b, b)]) <= window_km
            if close.all() and (labels[0][list(a)] == labels[1][list(b)]).all():
                return size
    return 0


def test_theorem_7_largest_cliques_are_largest_common_subgraphs():
    rng = np.random.default_rng(7)
    for _ in range(40):
        labels = rng.integers(2, size=(2, 4))
        d = [great_circle_km(*rng.uniform(0, 0.1, (2, 4))) for _ in range(2)]
        graph = compatibility_graph(labels[0], d[0], labels[1], d[1], window_km=(-3, 3))
        assert len(max_cliques(graph, rng=0).cliques[0]) == largest_common_subgraph(labels, d, 3.0)


def test_exact_distances_to_three_points_fix_a_fourth():
    """Section 5. On the sphere a distance is an angle to a known direction: three of them are linear equations."""
    lat, lon = np.radians(points_in_area(load_boundary("germany"), 400, rng=3)).reshape(2, 100, 4)
    points = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)
    known, point = points[:, :3], points[:, 3]
    angles_km = 6371 * np.arccos((known * point[:, None]).sum(axis=-1))
    found = np.linalg.solve(known, np.cos(angles_km / 6371)[..., None])[..., 0]
    assert 6371 * np.linalg.norm(found - point, axis=1).max() < 0.01


def test_a_trial_is_the_public_attack():
    """`trial` shares one product graph among its rules; the public function makes its own."""
    files = draw_files(2016, n_original=150, n_known=150, n_common=30)
    rng = np.random.default_rng(5)
    masked = perturb_coordinates(files.original["lat_deg"], files.original["lon_deg"], sigma_deg=0.02, rng=rng)
    quasi = ["sex", "age_class"]
    release = MetricMicrodata(files.original[quasi], great_circle_km(*masked))
    known = MetricMicrodata(files.known[quasi], great_circle_km(files.known["lat_deg"], files.known["lon_deg"]))
    window_km = deviation(0.02, 2016).window_km(0.7)
    options = {"quasi": quasi, "ties": "published", "time_limit_s": None, "progress": False}
    attack = common_subgraph_attack(release, known, window_km=window_km, rng=rng, **options)
    quality = linkage_quality(attack.links, files.truth)
    sizes = {"n_original": 150, "n_known": 150, "n_common": 30}
    result = trial(np.random.default_rng(5), sigma_deg=0.02, alpha=0.7, dataset=2016, **sizes)
    assert (result["precision"], result["recall"]) == (quality.precision, quality.recall)
    assert result["n_edges"] == attack.n_edges
    true = {tuple(pair) for pair in files.truth[["release", "known"]].to_numpy()}
    places = {"release": files.original.index, "known": files.known.index}
    joined = 0
    for (a, u), (b, v) in itertools.combinations(sorted(true), 2):
        i, j = (places["release"].get_loc(name) for name in (a, b))
        k, m = (places["known"].get_loc(name) for name in (u, v))
        joined += window_km[0] < known.distances_km[k, m] - release.distances_km[i, j] < window_km[1]
    assert result["common_edges"] == pytest.approx(joined / (len(true) * (len(true) - 1) / 2))


def test_own_files_are_attacked_as_drawn_ones_are(tmp_path):
    files = draw_files(2016, n_original=150, n_known=150, n_common=30)
    person = files.truth.set_index("known")["release"]
    known = files.known.rename(index=person.to_dict())
    for name, frame in (("table", files.original), ("known", known)):
        frame.rename_axis("id").to_csv(tmp_path / f"{name}.csv")
    own = {name: pinned(str(tmp_path / f"{name}.csv")) for name in ("table", "known")}
    result = trial(np.random.default_rng(1), sigma_deg=0.005, alpha=0.9, dataset=1, **own)
    assert result["precision"] == 1
    (tmp_path / "known.csv").write_text("id,lat_deg\na,1\n")
    with pytest.raises(ParameterError, match="`known` must have a column `lon_deg`"):
        read_files(own["table"], pinned(str(tmp_path / "known.csv")))


@pytest.mark.parametrize("noise", [{}, {"sigma_deg": 0.01, "sigma_km": 1.0}])
def test_one_kind_of_noise_is_given(noise):
    with pytest.raises(ParameterError, match="give one of"):
        trial(np.random.default_rng(1), alpha=0.5, dataset=1, **noise)
