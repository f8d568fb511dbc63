"""Every registered method: its parameters are the function's, and it runs on small data."""

import inspect

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import shapely

import reident as rd
from reident.errors import DataError, ParameterError
from reident.methods import CALLS as FORMS_OF_CALLS
from reident.methods import DATA, ENTRIES, ROLES, Parameter, entries, find, methods_table
from reident.methods.attacks import COSTLY
from reident.methods.forms import FORMS, GIVEN
from reident.networks.graph import as_network
from reident.options import Real
from reident.workbench.microdata import Intruder, microdata
from reident.workbench.release_trial import run_release

TABLE = pd.DataFrame({"zip": ["13*", "13*", "14*", "14*"], "ill": ["flu", "cancer", "cancer", "gout"]})
NUMBERS = pd.DataFrame({"zip": ["13*", "13*", "14*", "14*"], "pay": [1.0, 2.0, 5.0, 9.0]})
PAIRS = pd.DataFrame(np.random.default_rng(1).normal(size=(6, 2)), columns=["a", "b"])
LAT, LON = np.random.default_rng(2).uniform([[50.0], [8.0]], [[51.0], [9.0]], (2, 12))
KM = rd.great_circle_km(LAT, LON)
PEOPLE = pd.DataFrame({"sex": list("fm" * 6)})
KARATE = nx.karate_club_graph()
CLASSES = {"quasi": "zip", "sensitive": "ill"}


#: How each method without a common form is called on small data.
CALLS = {
    "deviation_quantiles": lambda f: f(__import__("shapely").box(8, 49, 9, 50), sigma_deg=0.1, n_pairs=20, rng=1),
    "linkage_quality": lambda f: f([(1, "a")], {1: "a"}),
    "k_anonymity": lambda f: f(TABLE, "zip"),
    "l_diversity": lambda f: f(TABLE, "zip", "ill"),
    "recursive_c": lambda f: f(TABLE, "zip", "ill", ell=2),
    "t_closeness": lambda f: f(TABLE, "zip", "ill"),
    "equivalence_classes": lambda f: f(TABLE, "zip"),
    "nearest_neighbour_agreement": lambda f: f(KM, KM),
    "clustering_agreement": lambda f: f(KM, KM, n_clusters=3),
    "distance_utilities": lambda f: f(KM, KM, n_clusters=3, neighbours=2),
    "autocorrelation": lambda f: f(LAT, KM, neighbours=2),
    "relative_error": lambda f: f([1.0, 2], [1.1, 2]),
    "expected_relative_error": lambda f: f([1.0, 2, 3], [0, 0, 0], epsilon=1.0),
    "noise_entropy_loss": lambda f: f([1.0, 2, 3], [1.1, 2, 3], [0.1, 0.1, 0.1]),
    "confidence_suppression": lambda f: f([1.0, 2, 3], [1.1, 2, 3], [0, 0, 0], scales=[0.1], k=2),
    "privacy_loss": lambda f: f(np.arange(9) % 3, np.arange(9) % 2),
    "scoreboard": lambda f: f(rd.simulate_ratings(20, 5, 30, rng=1), [(0, 3.0, 5.0)]),
    "semi_passive": lambda f: f(KARATE, [0, 1, 2, 3], [20, 25], rng=1),
    "passive_attack": lambda f: f(KARATE, KARATE, {0: 0, 33: 33}),
    "seeds": lambda f: f(KARATE, KARATE, n=4),
    "link_scores": lambda f: f(KARATE),
    "drop_unlikely_edges": lambda f: f(KARATE, 0.1),
    "edge_disclosure": lambda f: f(KARATE, KARATE),
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
    others = pd.DataFrame({"lat_deg": rng.uniform(50, 51, 300), "lon_deg": rng.uniform(8, 9, 300)})
    public = {
        "area": shapely.box(7.5, 49.5, 9.5, 51.5),
        "candidates": others,
        "density": others.assign(persons_per_km2=np.linspace(0.2, 50, len(others))),
    }
    return microdata(table, public=public, quasi=quasi, sensitive="ill", kind=kind, epsilon_quasi=noisy)


def test_names_are_unique_and_words_are_known():
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES)
    for entry in ENTRIES:
        assert entry.role in ROLES
        assert entry.data in DATA
        assert entry.form in (FORMS if entry.role == "anonymiser" else FORMS_OF_CALLS)
        assert entry.source


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_parameters_are_those_of_the_function(entry):
    signature = inspect.signature(entry.function).parameters
    told = {parameter.name for parameter in entry.parameters}
    assert told <= set(signature)
    taken = set(entry.takes.split())
    if taken != {"*"}:
        if entry.role == "anonymiser":
            taken |= set(GIVEN) | set(entry.public)
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
        [one.name, one.check({"n_simulations": 10} if one.name == "common_subgraph" else {})]
        for one in entries("attack")
        if one.name not in COSTLY
    ]
    utilities = [[one.name, one.check({})] for one in entries("metric", entry.data, mapped=True)]
    params = {
        "method": entry.name,
        "options": entry.check({}),
        "attacks": attacks,
        "utilities": utilities,
        "limit": 0.25,
        "intruder": {"n_known": 12, "overlap": 0.5, "n_released": 40},
    }
    measures, links = run_release(data, params, np.random.default_rng(5))
    again, _ = run_release(data, params, np.random.default_rng(5))
    assert measures == again
    for name, _ in attacks:
        risk = measures[f"{name}_risk"]
        assert risk is None or 0 <= risk <= 1
        assert (risk is None) != (name in links)
    run = set(links)
    assert {"exact_join", "nearest_record"} <= run or {"label_linkage"} <= run
    for name, _ in utilities:
        assert measures[name] >= 0


@pytest.mark.slow
@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.form == "other"], ids=lambda entry: entry.name)
def test_every_other_method_runs(entry):
    assert CALLS[entry.name](entry.function) is not None


def _beyond(parameter):
    """Return a value just outside of what the registry says, None where everything is allowed."""
    rule = parameter.rule
    if parameter.kind in ("choice", "bool"):
        return "no such choice"
    low = getattr(rule, "low", None)
    return None if low is None or low == -np.inf else type(low)(low - (0 if getattr(rule, "open_low", False) else 1))


BEYOND = [
    (entry, parameter)
    for entry in ENTRIES
    if entry.name in CALLS
    for parameter in entry.parameters
    if _beyond(parameter) is not None
]


@pytest.mark.slow
@pytest.mark.parametrize(("entry", "parameter"), BEYOND, ids=lambda one: one.name)
def test_the_function_refuses_what_the_registry_does_not_allow(entry, parameter):
    def call(*args, **kws):
        named = dict(zip(inspect.signature(entry.function).parameters, args, strict=False))
        return entry.function(**{**named, **kws, parameter.name: _beyond(parameter)})

    with pytest.raises((ParameterError, DataError)):
        CALLS[entry.name](call)


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
    assert Parameter("x", Real(0, 1, open_low=True)).range == "(0, 1]"


def test_intruder_counts():
    assert Intruder(10, 0.5, 20).n_common == 5
    assert rd.methods is not None


#: Public functions of the methods layer that are no methods: parts of one, or checks of one.
PARTS = {
    "great_circle_km", "great_circle_cross_km", "great_circle_pairs_km", "is_degree_anonymous", "anonymise_degrees",
    "distance_noise_window_km", "max_clique", "max_cliques", "compatibility_graph", "random_non_edges",
    "score_threshold", "auc", "degree_sequence", "detectability", "diameter", "path_lengths", "power_law_exponent",
}  # fmt: skip


def test_every_public_method_is_registered():
    """A new method needs an entry in `reident.methods`, or a name in `PARTS` if it is only a part of one."""
    registered = {entry.target for entry in ENTRIES}
    for module, names in rd._MODULES.items():
        if module.split(".")[0] in ("anonymisers", "attacks", "metrics"):
            for name in names.split():
                if inspect.isfunction(getattr(rd, name)) and name not in PARTS:
                    assert f"{module}:{name}" in registered, name
