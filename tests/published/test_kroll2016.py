"""What kroll2016 states, and what the study needs to state it honestly."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from reident import great_circle_km
from reident.data import datasets
from reident.data.papers import published
from reident.places.common_subgraph import common_subgraph_attack
from reident.studies.kroll2016 import frames as study_frames
from reident.studies.kroll2016 import scenarios, trials, uses
from reident.studies.kroll2016.figures import FIGURES
from rows_of_figures import assert_rows_aligned


@pytest.fixture(autouse=True)
def _fresh_scenarios():
    scenarios.scenario.cache_clear()
    yield
    scenarios.scenario.cache_clear()


def test_distances_of_the_city_pairs():
    # Section "Accuracy of the proposed method": 50, 228 and 540 km. Which point of a city is meant is not said.
    facts = published("kroll2016", "statements").set_index("item")["value"]
    cities = trials.city_pairs()
    between = great_circle_km(cities["lat_deg"], cities["lon_deg"])
    for i, pair in zip((0, 2, 4), trials.PAIRS, strict=True):
        assert between[i, i + 1] == pytest.approx(facts[f"{pair}_km"], rel=0.03)


def test_what_the_appendix_says_of_distances_that_are_nearly_exact():
    columns = ["liverpool_manchester_km", "london_sheffield_km", "plymouth_newcastle_km"]
    rows = [
        {"n_reference_sets": d, "reference_set_size": k, **dict.fromkeys(columns, 100 - off * (i + k))}
        for d, off in ((20, 8.0), (100, 4.0), (500, 0.01))
        for k in (1, 3, 5)
        for i in range(4)
    ]
    frames = {"cities": pd.DataFrame(rows), "city_pairs": pd.DataFrame({"distance_km": [100.0] * 3})}
    figure = FIGURES["appendix-city-pairs"](SimpleNamespace(frames=frames))
    told = [ax.texts[0].get_text() if ax.texts else "" for ax in figure.axes]
    exact = "all released distances\nlie between 99.92 km\nand the true 100.00 km"
    assert told == ["", "", exact] * 3


def test_figure_1_coordinate_is_the_smallest_distance():
    # Section "Contractive anonymisation": f(p) = min(308.9, 262.3, 162.7) = 162.7.
    from reident.base import EARTH_RADIUS_KM
    from reident.kernels.places.lipschitz import lipschitz_coordinates

    angles = np.array([308.9, 262.3, 162.7]) / EARTH_RADIUS_KM
    references = np.column_stack([np.sin(angles), np.zeros(3), np.cos(angles)])
    coordinate = lipschitz_coordinates(np.array([[0.0, 0.0, 1.0]]), references[None])
    assert coordinate[0, 0] == pytest.approx(162.7)


@pytest.mark.parametrize(("name", "size", "common"), [("england", 400, 40), ("germany", 500, 50)])
def test_scenarios_have_the_papers_sizes(name, size, common):
    files = scenarios.scenario(name, 3)
    assert (len(files.original), len(files.known), len(files.truth)) == (size, size, common)
    facts = published("kroll2016", "statements").set_index("item")["value"]
    labels = [
        table[files.quasi].astype(str).agg("/".join, axis=1).value_counts() for table in (files.original, files.known)
    ]
    candidates = (labels[0] * labels[1]).dropna().sum()
    assert candidates == pytest.approx(facts[f"{name}_candidates"], rel=0.15)
    merged = files.truth.merge(files.original, left_on="release", right_index=True)
    pd.testing.assert_frame_equal(
        merged[["lat_deg", "lon_deg"]].reset_index(drop=True),
        files.known.loc[files.truth["known"], ["lat_deg", "lon_deg"]].reset_index(drop=True),
    )


def test_hospitals_are_drawn_from_the_real_list():
    listed = scenarios.hospitals(1)
    assert len(listed) == 847
    assert (listed["trust_prefix"].str.len() == 2).all()
    assert "NA" in set(datasets.load_nhs_hospitals()["trust_prefix"])  # a text, not a missing value


def test_intervals_link_a_small_file_through_the_clique_attack():
    from shapely import box

    from reident import embed_distances, linkage_quality, tolerance_intervals

    rng = np.random.default_rng(0)
    people = pd.DataFrame({"age": rng.integers(0, 4, 20)}, index=[f"k{i}" for i in range(20)])
    lat, lon = rng.uniform(48, 54, 20), rng.uniform(7, 14, 20)
    options = {"n_reference_sets": 60, "reference_set_size": 1, "area": box(6, 47, 15, 55)}
    released = embed_distances(lat[:12], lon[:12], **options, rng=1)
    known = tolerance_intervals(lat, lon, **options, alpha=0.9, n_simulations=60, rng=2)
    linked = common_subgraph_attack(
        (people.iloc[:12].rename(index=lambda name: name.replace("k", "r")), released),
        (people, great_circle_km(lat, lon)),
        quasi="age",
        intervals_km=(known.lo, known.hi),
        rng=0,
    )
    truth = [(f"r{i}", f"k{i}") for i in range(12)]
    quality = linkage_quality(linked, truth)
    assert quality.precision >= 0.5
    assert quality.recall >= 0.4


@pytest.mark.slow
def test_smoke_run_draws_every_figure(smoke):
    results, _ = smoke("kroll2016")
    located = results.frames["locating"].set_index("method")
    assert located.loc["original", "registration_within_5km"] > 0.9
    assert located.loc["lipschitz_embedding", "equalities_within_1km"] > 0.9
    placed = results.frames["locating"]
    fewer = placed.assign(**{name: np.nan for name in placed if name.startswith("equalities_")})
    twice = replace(results, frames={**results.frames, "locating": pd.concat([placed, fewer])})
    (legend,) = FIGURES["locating"](twice).legends
    assert [text.get_text().partition(" (")[2] for text in legend.get_texts()] == ["", "", "1 of 2)"]
    for draw in FIGURES.values():
        assert_rows_aligned(draw(results))
    names = FIGURES["figure-1-one-coordinate"](results).axes[0].texts
    boxes = [name.get_window_extent() for name in names]
    assert len(boxes) == 4
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


@pytest.mark.parametrize("source", ["real", "simulated"])
def test_titles_lie_inside_and_what_was_not_run_is_said(source):
    """One line had been wider than the figure; without trials two empty panels were drawn."""
    row = {"scenario": "england", "alpha": 0.1, "n_reference_sets": 20, "n": 10, "share_proven": 1.0}
    rows = [
        {**row, "measure": measure, "reference_set_size": size, "mean": 0.5, "low": 0.4, "high": 0.6}
        for measure in ("precision", "recall", "strong_precision", "strong_recall") for size in (1, 10)
    ]  # fmt: skip
    file = {"scenario": ["england"], "source": [source], "file": ["target"], "common": [True]}
    trials = pd.DataFrame({"scenario": ["england"], "alpha": [0.1]})
    frames = {"files": pd.DataFrame(file), "first": trials, "first_summary": pd.DataFrame(rows)}
    results = SimpleNamespace(frames=frames, profile="quick")
    for name, said in (("figure-5-england-first-alpha-0.1", "95 %"), ("figure-7-england-first-alpha-0.9", "not run")):
        figure = FIGURES[name](results)
        figure.canvas.draw()
        texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
        assert any(said in text.get_text() for text in texts)
        boxes = [text.get_window_extent() for text in texts if "alpha" in text.get_text()]
        assert len(boxes) == 1
        assert figure.bbox.x0 <= boxes[0].x0 <= boxes[0].x1 <= figure.bbox.x1


def test_the_named_uses_by_plain_definitions():
    rng = np.random.default_rng(4)
    x = rng.uniform(0, 100, (40, 2))
    d = np.hypot(*(x[:, None] - x[None]).transpose(2, 0, 1))
    values = np.sin(x[:, 0] / 20)
    same = uses.NamedUses(d, values, seed=1).on(d)
    assert same["pcnm_overlap"] == pytest.approx(1)
    assert same["imputation_error"] == 1
    assert same["scan_overlap"] == same["scan_overlap_true"]
    assert same["gwr_slope_error"] == same["gwr_slope_error_true"]
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
    assert ref[frozenset(np.flatnonzero(uses.scan(d, cases)).tolist())] == pytest.approx(max(ref.values()))
    # The regression: weighted least squares around each record.
    y = rng.normal(size=40) + 2 * values
    slopes = uses.local_slopes(d, values, y, neighbours=15)
    for i in (0, 7):
        weight = np.clip(1 - (d[i] / np.sort(d[i])[15]) ** 2, 0, None) ** 2
        assert slopes[i] == pytest.approx(np.polyfit(values, y, 1, w=np.sqrt(weight))[0])


def test_every_reference_area_is_where_its_name_says():
    from shapely import MultiPoint

    england = datasets.load_boundary("england").union_all()
    for name in ("bounding_box", "disc"):
        assert scenarios.reference_area(name, "england").buffer(1e-6).contains(england)
    places = datasets.load_places("england")
    largest = places.nlargest(5, "population")
    inside = scenarios.reference_area("population", "england")
    assert inside.area < england.area / 10
    assert inside.contains(MultiPoint(largest[["lon_deg", "lat_deg"]].to_numpy()))


@pytest.mark.slow
def test_an_embedding_that_the_clique_attack_calls_safe_is_opened_by_its_equal_differences():
    """What the notebook says of the map: few true claims by the paper's attack, and everybody located by the other."""
    setting = {"n_reference_sets": 20, "reference_set_size": 10}
    found = trials.equalities_trial({"dataset": 3, "rounding_km": 0.0, **setting}, np.random.default_rng(3))
    assert found["equalities_certified"]
    assert found["equalities_within_1m"] >= 0.95
    assert found["equalities_wrong"] == 0
    located = pd.DataFrame(
        {
            "label": ["embedding"] * 2 + ["noise"],
            "size": ["a", "a", "b"],
            "multilateration_within_5km": [0.1, 0.2, 0.3],
            "registration_within_5km": [0.2, 0.1, 0.4],
            "equalities_within_5km": [found["equalities_within_5km"], np.nan, np.nan],
        }
    )
    worst = study_frames._worst(located)
    assert (worst >= located[["multilateration_within_5km", "registration_within_5km"]].max(axis=1)).all()
    assert worst.tolist() == [found["equalities_within_5km"]] * 2 + [0.4]
