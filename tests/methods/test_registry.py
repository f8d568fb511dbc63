"""Every registered method: its parameters are the function's, and it runs on small data."""

import inspect

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import reident as rd
from reident.errors import ParameterError
from reident.experiments.microdata import Intruder, microdata
from reident.experiments.release_trial import fits, run_release
from reident.networks import as_network
from reident.registry import DATA, ENTRIES, FORMS, ROLES, Parameter, entries, find, methods_table

TABLE = pd.DataFrame({"zip": ["13*", "13*", "14*", "14*"], "ill": ["flu", "cancer", "cancer", "gout"]})
NUMBERS = pd.DataFrame({"zip": ["13*", "13*", "14*", "14*"], "pay": [1.0, 2.0, 5.0, 9.0]})
PAIRS = pd.DataFrame(np.random.default_rng(1).normal(size=(6, 2)), columns=["a", "b"])
LAT, LON = np.random.default_rng(2).uniform([[50.0], [8.0]], [[51.0], [9.0]], (2, 12))
KM = rd.great_circle_km(LAT, LON)
PEOPLE = pd.DataFrame({"sex": list("fm" * 6)})
KARATE = nx.karate_club_graph()
CLASSES = {"quasi": "zip", "sensitive": "ill"}


def _auditor():
    from reident.attacks.query_failures import MaxAuditor

    return MaxAuditor(np.arange(9.0))


#: How each method without a common form is called on small data.
CALLS = {
    "deviation_quantiles": lambda f: f(__import__("shapely").box(8, 49, 9, 50), sigma_deg=0.1, n_pairs=20, rng=1),
    "tolerance_intervals": lambda f: f(
        [50.0, 50.2, 50.4], [8.0, 8.3, 8.1], n_reference_sets=2, reference_set_size=2,
        area=__import__("shapely").box(7, 49, 9, 51), alpha=0.5, n_simulations=20, rng=1,
    ),
    "linkage_quality": lambda f: f([(1, "a")], {1: "a"}),
    "similarity": lambda f: f(NUMBERS, quasi="zip", sensitive="pay", width=2.0),
    "background_knowledge": lambda f: f(TABLE, **CLASSES, knowledge={"flu": 0.0}),
    "intersection": lambda f: f([TABLE], pd.DataFrame({"zip": ["13*"]}), **CLASSES),
    "query_sets": lambda f: f(NUMBERS, 0, lambda row: row["pay"] > 1, min_set_size=2),
    "auditing": lambda f: f(_auditor(), rng=1),
    "averaging": lambda f: f(lambda: 1.0, 5),
    "sampling_exposure": lambda f: f(TABLE, quasi="zip", rate=0.5, rng=1),
    "k_anonymity": lambda f: f(TABLE, "zip"),
    "l_diversity": lambda f: f(TABLE, "zip", "ill"),
    "recursive_c": lambda f: f(TABLE, "zip", "ill", ell=2),
    "t_closeness": lambda f: f(TABLE, "zip", "ill"),
    "equivalence_classes": lambda f: f(TABLE, "zip"),
    "calibration": lambda f: f(
        KM, LAT, LON, n_reference_sets=3, reference_set_size=2, area=__import__("shapely").box(7, 49, 10, 52), rng=1
    ),
    "registration": lambda f: f((PEOPLE, KM), (PEOPLE.assign(lat_deg=LAT, lon_deg=LON)), quasi="sex", rng=1),
    "multilateration": lambda f: f(
        (PEOPLE, KM),
        pd.DataFrame({"release": range(5), "known": range(5)}),
        PEOPLE.assign(lat_deg=LAT, lon_deg=LON),
        rng=1,
    ),
    "quasi_clique": lambda f: f(
        rd.compatibility_graph(PEOPLE["sex"], KM, PEOPLE["sex"], KM, window_km=(-1, 1)), gamma=0.9, rng=1
    ),
    "nearest_neighbour_agreement": lambda f: f(KM, KM),
    "clustering_agreement": lambda f: f(KM, KM, n_clusters=3),
    "distance_utilities": lambda f: f(KM, KM, n_clusters=3, neighbours=2),
    "autocorrelation": lambda f: f(LAT, KM, neighbours=2),
    "learned_linkage": lambda f: f(PAIRS + 0.1, PAIRS),
    "attribute_leakage": lambda f: f(PAIRS + 0.1, PAIRS, resamples=2, model="weighted_mean"),
    "nearest_record": lambda f: f([1.0, 2, 3], [1.1, 2, 2.9], [0, 0, 0]),
    "minimality": lambda f: f(
        TABLE.assign(age=[1, 2, 3, 4]), [0, 0, 0, 0], quasi=["age"], sensitive="ill", k=2, ell=2, rng=1
    ),
    "intersection_course": lambda f: f([TABLE], pd.DataFrame({"zip": ["13*"]}), **CLASSES),
    "relative_error": lambda f: f([1.0, 2], [1.1, 2]),
    "expected_relative_error": lambda f: f([1.0, 2, 3], [0, 0, 0], epsilon=1.0),
    "noise_entropy_loss": lambda f: f([1.0, 2, 3], [1.1, 2, 3], [0.1, 0.1, 0.1]),
    "confidence_suppression": lambda f: f([1.0, 2, 3], [1.1, 2, 3], [0, 0, 0], scales=[0.1], k=2),
    "privacy_loss": lambda f: f(np.arange(9) % 3, np.arange(9) % 2),
    "planted_subgraph": lambda f: f(KARATE, [0, 1], k=5, d0=3, d1=5, rng=1),
    "recover": lambda f: f(KARATE, rd.coalition(KARATE, [0, 1, 2, 3])),
    "coalition": lambda f: f(KARATE, [0, 1, 2, 3]),
    "propagation": lambda f: f(KARATE, KARATE, {0: 0, 33: 33}),
    "seeds": lambda f: f(KARATE, KARATE, n=4),
    "link_scores": lambda f: f(KARATE),
    "likely_links": lambda f: f(KARATE, 2),
    "drop_unlikely_edges": lambda f: f(KARATE, 0.1),
    "edge_overlap": lambda f: f(KARATE, KARATE),
    "network_properties": lambda f: f(KARATE),
    "clustering_coefficient": lambda f: f(KARATE),
    "average_path_length": lambda f: f(KARATE),
    "density": lambda f: f(KARATE),
    "mapping_quality": lambda f: f({1: 1}, {1: 1}),
}  # fmt: skip


def _data(kind):
    rng = np.random.default_rng(3)
    n = 60
    table = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(20, 60, n),
            "pay": rng.normal(100, 20, n),
            "ill": rng.choice(["flu", "cancer", "gout"], n),
            "lat_deg": rng.uniform(50, 51, n),
            "lon_deg": rng.uniform(8, 9, n),
        }
    )
    quasi = ["sex"] if kind == "places" else ["sex", "age", "pay"]
    noisy = [] if kind == "places" else ["pay"]
    return microdata(table, quasi=quasi, sensitive="ill", kind=kind, epsilon_quasi=noisy)


def test_names_are_unique_and_words_are_known():
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES)
    for entry in ENTRIES:
        assert entry.role in ROLES
        assert entry.data in DATA
        assert entry.form in FORMS
        assert entry.source


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_parameters_are_those_of_the_function(entry):
    signature = inspect.signature(entry.function).parameters
    told = {parameter.name for parameter in entry.parameters}
    assert told <= set(signature)
    taken = set(entry.takes.split())
    if taken != {"*"}:
        left = set(signature) - told - taken - set(dict(entry.fixed)) - {"rng"}
        assert not left, f"neither a parameter nor data: {left}"
    defaults = entry.defaults()
    for parameter in entry.parameters:
        if defaults[parameter.name] is not None:
            parameter.check(defaults[parameter.name])
        for value in parameter.grid:
            parameter.check(value)


@pytest.mark.slow
@pytest.mark.parametrize("entry", entries("anonymiser"), ids=lambda entry: entry.name)
def test_every_anonymiser_runs(entry):
    if entry.data == "network":
        made = entry.function(nx.path_graph(9), **entry.arguments({"k": 3} if entry.parameters else {}), rng=1)
        assert as_network(made.network).n_nodes == 9
        return
    data = _data(entry.data)
    attacks = [
        [one.name, one.check({"n_simulations": 10} if one.form == "metric linkage" else {})]
        for one in entries("attack", entry.data, mapped=True)
    ]
    utilities = [[one.name, one.check({})] for one in entries("metric", entry.data, mapped=True)]
    params = {
        "method": entry.name,
        "options": entry.check({}),
        "attacks": attacks,
        "utilities": utilities,
        "intruder": {"n_known": 12, "overlap": 0.5, "n_released": 40},
    }
    measures, links = run_release(data, params, np.random.default_rng(5))
    again, _ = run_release(data, params, np.random.default_rng(5))
    assert measures == again
    for name, _ in attacks:
        risk = measures[f"{name}_risk"]
        assert (risk is None) != fits(entry.name, find(name))
        assert risk is None or 0 <= risk <= 1
        assert risk is None or name in links
    for name, _ in utilities:
        assert measures[name] >= 0


@pytest.mark.slow
@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.form == "other"], ids=lambda entry: entry.name)
def test_every_other_method_runs(entry):
    assert CALLS[entry.name](entry.function) is not None


def test_table_and_lookup():
    table = methods_table("anonymiser", "places")
    row = table.set_index(["name", "parameter"]).loc[("coordinate_noise", "sigma_deg")]
    assert row["unit"] == "degrees"
    assert row["range"] == "[0, inf)"
    assert find("donut").call == "reident.mask_donut"
    with pytest.raises(ParameterError, match="there are coordinate_noise, disc"):
        find("blur", "anonymiser")
    with pytest.raises(ParameterError, match="it has inner_m, outer_m"):
        find("donut").check({"radius": 1})
    with pytest.raises(ParameterError, match="sigma_deg"):
        find("coordinate_noise").check({"sigma_deg": -1})
    with pytest.raises(ParameterError, match="`k` must be at least 1"):
        find("mondrian").check({"k": 0})
    assert Parameter("x", "float", "(0, 1]").bounds == (0.0, 1.0, True, False)


def test_intruder_counts():
    assert Intruder(10, 0.5, 20).n_common == 5
    assert rd.registry is not None


#: Public functions of the methods layer that are no methods: parts of one, or checks of one.
PARTS = {
    "great_circle_km", "great_circle_cross_km", "great_circle_pairs_km", "is_degree_anonymous", "anonymise_degrees",
    "distance_noise_window_km", "max_clique", "max_cliques", "compatibility_graph", "random_non_edges",
    "score_threshold", "auc", "degree_sequence", "detectability", "diameter", "path_lengths", "power_law_exponent",
}  # fmt: skip


def test_every_public_method_is_registered():
    """A new method needs an entry in `reident.registry`, or a name in `PARTS` if it is only a part of one."""
    registered = {entry.target for entry in ENTRIES}
    for module, names in rd._MODULES.items():
        if module.split(".")[0] in ("anonymisers", "attacks", "metrics"):
            for name in names.split():
                if inspect.isfunction(getattr(rd, name)) and name not in PARTS:
                    assert f"{module}:{name}" in registered, name
