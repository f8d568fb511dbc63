"""Every registered method: its parameters are the function's, and it runs on small data."""

import inspect
import pkgutil
import re
from dataclasses import replace
from pathlib import Path

import geopandas as gpd
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import shapely

import reident as rd
from reident.base import DataError, ParameterError, Real
from reident.methods import CALLS as FORMS_OF_CALLS
from reident.methods import DATA, ENTRIES, ROLES, Entry, Parameter, entries, find, methods_table
from reident.methods.forms import FORMS, release
from reident.methods.given import GIVEN
from reident.networks.graph import as_network
from reident.workbench.drawing import Intruder
from reident.workbench.microdata import microdata
from reident.workbench.release_trial import run_release

pytestmark = pytest.mark.whole


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
            "urban": rng.random(n) < 0.5,
        }
    )
    quasi = ["sex", "urban"] if kind == "places" else ["sex", "age", "pay"]
    noisy = [] if kind == "places" else ["pay"]
    others = pd.DataFrame({"lat_deg": rng.uniform(50, 51, 300), "lon_deg": rng.uniform(8, 9, 300)})
    public = {
        "area": shapely.box(7.5, 49.5, 9.5, 51.5),
        "candidates": others,
        "areas": gpd.GeoDataFrame(
            {"population": [300.0, 40, 900, 60]},
            geometry=[shapely.box(x, y, x + 0.5, y + 0.5) for x in (8, 8.5) for y in (50, 50.5)],
            crs="EPSG:4326",
        ),
        "density": pd.DataFrame(  # a raster that covers all places
            {
                "lat_deg": np.repeat(np.arange(50.05, 51, 0.1), 10),
                "lon_deg": np.tile(np.arange(8.05, 9, 0.1), 10),
                "persons_per_km2": np.linspace(0.2, 50, 100),
            }
        ),
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
        taken |= set(entry.public) | (set(GIVEN) if entry.role == "anonymiser" else set())
        left = set(signature) - told - taken - set(dict(entry.fixed)) - {"rng"}
        assert not left, f"neither a parameter nor data: {left}"
    defaults = entry.defaults()
    for parameter in entry.parameters:
        if defaults[parameter.name] is not None:
            parameter.check(defaults[parameter.name])
        for value in parameter.grid:
            parameter.check(value)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_what_is_told_of_a_method_is_true_of_its_function(entry):
    """Its call had named another function of the same name; a default had been another than the function's."""
    assert pkgutil.resolve_name(entry.call) is entry.function
    for name, value in entry.defaults().items():
        if name in entry.signature:
            own = entry.signature[name].default
            assert own is inspect.Parameter.empty or own is None or own == value, name


@pytest.mark.parametrize("kind", DATA)
def test_a_method_is_given_what_is_told(kind):
    data = microdata(nx.path_graph(12), quasi=()) if kind == "network" else replace(_data(kind), numeric=["age"])
    for name, said in GIVEN.items():
        if kind in said.kinds.split():
            assert type(said(data, {})).__name__ in said.types.replace("None", "NoneType").split(" or "), name


def test_the_docstring_of_register_and_the_page_on_own_methods_tell_it(monkeypatch):
    told = inspect.getdoc(rd.register)
    for name, said in GIVEN.items():
        assert f"- ``{name}``: {said.told}\n" in told
    for name, form in FORMS.items():
        assert f"- ``{name}``: {form.returns}\n" in told
    pytest.importorskip("numpydoc")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "docs"))
    import own_methods

    page = own_methods.PAGE.read_text(encoding="utf-8")
    assert own_methods.written(page) == page, "stale, run python docs/own_methods.py"
    for rows in own_methods.tables().values():
        assert all(f"| {' | '.join(row)} |" in page for row in rows)


#: For each form what methods return that are none of the house's, as `Form.returns` tells.
RETURNED = {
    "points": [lambda lat, lon: (lat, lon), lambda points: points.iloc[:-1][["lon_deg", "lat_deg"]]],
    "distances": [lambda distances_km: distances_km],
    "table": [lambda table: table.iloc[:-1]],
    "network": [lambda graph: graph, lambda graph: nx.from_numpy_array(graph.to_scipy().toarray())],
    "answers": [lambda counts, queries: queries @ counts],
}
KINDS = {"points": "places", "distances": "places", "table": "table", "network": "network", "answers": "queries"}


@pytest.mark.parametrize(("form", "function"), [(form, one) for form, made in RETURNED.items() for one in made])
def test_what_may_be_returned_is_a_release_and_else_it_is_refused(form, function, monkeypatch):
    kind = KINDS[form]
    data = microdata(nx.path_graph(12), quasi=()) if kind == "network" else _data(kind)
    entry = Entry("own", "anonymiser", kind, function, form, source="a test", label="own")
    monkeypatch.setattr("reident.methods.catalogue.REGISTERED", {"own": entry})
    made = release(data, "own")
    plain = release(data, "original")
    assert made.table.index.isin(plain.table.index).all()
    if form == "answers":
        np.testing.assert_array_equal(made.answers["counts"], plain.answers["counts"])
    elif form in ("points", "distances"):
        n = len(made.table)
        np.testing.assert_allclose(made.distances_km, plain.distances_km[:n, :n])
    monkeypatch.setattr("reident.methods.catalogue.REGISTERED", {"own": replace(entry, target=lambda: None)})
    with pytest.raises(DataError, match=f"form '{form}' must return .*, got NoneType"):
        release(data, "own")


@pytest.mark.slow
@pytest.mark.parametrize("entry", entries("anonymiser"), ids=lambda entry: entry.name)
def test_every_anonymiser_runs(entry):
    if entry.data == "network":
        made = entry.function(
            nx.path_graph(9),
            **entry.arguments({"k": 3} if any(one.name == "k" for one in entry.parameters) else {}),
            rng=1,
        )
        assert as_network(made.network).n_nodes == 9
        return
    data = _data(entry.data)
    attacks = [
        [one.name, one.check({"n_simulations": 10} if one.name == "common_subgraph" else {})]
        for one in entries("attack")
        if not one.costly
    ]
    utilities = [[one.name, one.check({})] for one in entries("metric", entry.data)]
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
    least = {"exact_join", "nearest_record"} if entry.data == "table" else {"label_linkage"}
    assert ({"query_differences", "table_from_answers"} & run) if entry.data == "queries" else least <= run
    for name, _ in utilities:
        assert measures[name] is None or measures[name] >= 0
    assert all(measures[name] is not None for name in ("distances_kept", "means_kept") if [name, {}] in utilities)


#: Public functions in the rooms of data that are no method to be run by name, and why not.
_NO_METHOD = {
    "answer one query or one statistic, with a budget": (
        "laplace_count laplace_mean laplace_sum laplace_histogram simulation_laplace discrete_laplace private_kmeans "
        "private_degree_sequence exponential_mechanism choice_probabilities"
    ),
    "interactive: an answer depends on those before, and nothing is released": "auditing_attack sampling_exposure",
    "about persons in nobody's file, or records of another kind": (
        "scoreboard_attack simulate_ratings differencing_attack"
    ),
    "numbers and bounds, not about a release": (
        "min_entropy self_information shannon_entropy statistical_distance impossibility_game "
        "privacy_loss_bound recursive_c relative_error expected_relative_error noise_entropy_loss "
        "confidence_suppression epsilon_for_error"
    ),
    "analyses of a study, on its own distances or places: a release answers them by the metrics that call them": (
        "impute_from_neighbours local_slopes scan_cluster spatial_eigenvectors"
    ),
    "judge what an attack on a network found": "detectability mapping_quality",
    "steps of methods that are registered, or what they are called by": (
        "great_circle_cross_km read_graph write_graph max_clique "
        "max_cliques compatibility_graph linkage_quality tolerance_intervals calibrate_distances "
        "distance_deviation_quantiles distance_noise_window_km "
        "link_scores random_non_edges implant_by_cut recover_by_cut "
        "edge_connected_groups repair_grid_sets is_degree_anonymous anonymise_degrees "
        "intersection_course equivalence_classes recover_coordinates"
    ),
    "measures of a table or network itself: what a map shows of them are their changes": (
        "k_anonymity l_diversity t_closeness reidentification_risk individual_risk special_uniques population_uniques "
        "average_path_length diameter network_properties"
    ),
}


#: Public function -> the attack by name that does on a release what it does on arrays or classes.
_TWINS = {
    "background_knowledge_attack": "background_knowledge",
    "homogeneity_attack": "homogeneity",
    "nearest_record_attack": "nearest_record", "query_set_attack": "query_differences",
    "randomised_response": "randomised_response", "similarity_attack": "similarity", "skewness_attack": "skewness",
}  # fmt: skip


def _called(function):
    """Return the names that a function's source calls, in itself and in the helpers of its module."""
    return set(re.findall(r"\b\w+\b", inspect.getsource(inspect.getmodule(function))))


def test_every_public_function_about_data_is_registered_or_says_why_not():
    """A function is registered if an entry is it, or the module of an attack or utility by name calls it."""
    homes = {name: getattr(getattr(rd, name), "__module__", "").removeprefix("reident.") for name in rd.__all__}
    rooms = ("places", "location", "tables", "networks", "queries", "cliques")
    public = {
        name for name, home in homes.items()
        if home.split(".")[0] in rooms and inspect.isfunction(getattr(rd, name))
    }  # fmt: skip
    named = set().union(*(_called(entry.function) | {entry.call.rpartition(".")[2]} for entry in ENTRIES
                          if entry.role != "anonymiser"))  # fmt: skip
    named |= {entry.call.rpartition(".")[2] for entry in entries("anonymiser")}
    excused = [name for names in _NO_METHOD.values() for name in names.split()]
    assert len(excused) == len(set(excused))
    assert {find(name).name for name in _TWINS.values()} == set(_TWINS.values())
    assert sorted(public - named - set(excused) - set(_TWINS)) == []
    assert sorted((set(excused) | set(_TWINS)) - (public - named)) == []


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
