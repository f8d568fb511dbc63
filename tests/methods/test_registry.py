"""Every registered method: its parameters are the function's, and it runs on small data."""

import inspect
import pkgutil
from dataclasses import replace

import geopandas as gpd
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import shapely

from judged import records
from reident.base import DataError, ParameterError, Real
from reident.methods import ENTRIES, Entry, Parameter, find, methods_table
from reident.methods.forms import ARGUMENTS, release

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
    return records(table, public=public, quasi=quasi, sensitive="ill", kind=kind, epsilon_quasi=noisy)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_parameters_are_those_of_the_function(entry):
    signature = inspect.signature(entry.function).parameters
    told = {parameter.name for parameter in entry.parameters}
    assert told <= set(signature)
    taken = set(entry.takes.split())
    if taken != {"*"}:
        taken |= set(entry.public) | (set(ARGUMENTS) if entry.role == "anonymiser" else set())
        left = set(signature) - told - taken - set(dict(entry.fixed)) - {"rng"}
        assert not left, f"neither a parameter nor data: {left}"
    assert pkgutil.resolve_name(entry.call) is entry.function
    defaults = entry.defaults()
    for parameter in entry.parameters:
        if defaults[parameter.name] is not None:
            parameter.check(defaults[parameter.name])
        for value in parameter.grid:
            parameter.check(value)


#: For each form what methods return that are none of the package's, as `Form.returns` tells.
RETURNED = {
    "points": [lambda lat, lon: (lat, lon), lambda points: points.iloc[:-1][["lon_deg", "lat_deg"]]],
    "distances": [lambda distances_km: distances_km],
    "table": [lambda table: table.iloc[:-1]],
    "network": [lambda graph: graph, lambda graph: nx.from_numpy_array(graph.to_scipy().toarray())],
}
KINDS = {"points": "places", "distances": "places", "table": "table", "network": "network"}


@pytest.mark.parametrize(("form", "function"), [(form, one) for form, made in RETURNED.items() for one in made])
def test_what_may_be_returned_is_a_release_and_else_it_is_refused(form, function, monkeypatch):
    kind = KINDS[form]
    data = records(nx.path_graph(12), quasi=()) if kind == "network" else _data(kind)
    entry = Entry("own", "anonymiser", kind, function, form, source="a test", label="own")
    monkeypatch.setattr("reident.methods.registry.REGISTERED", {"own": entry})
    made = release(data, "own")
    plain = release(data, "original")
    assert made.table.index.isin(plain.table.index).all()
    if form in ("points", "distances"):
        n = len(made.table)
        np.testing.assert_allclose(made.distances_km, plain.distances_km[:n, :n])
    monkeypatch.setattr("reident.methods.registry.REGISTERED", {"own": replace(entry, target=lambda: None)})
    with pytest.raises(DataError, match=f"form '{form}' must return .*, got NoneType"):
        release(data, "own")


def test_table_and_lookup():
    table = methods_table("anonymiser", "places")
    row = table.set_index(["name", "parameter"]).loc[("coordinate_noise", "sigma_deg")]
    assert row["unit"] == "degrees"
    assert row["range"] == "[0, inf)"
    assert find("donut").call == "reident.places.mask_donut"
    with pytest.raises(ParameterError, match="there are coordinate_noise, disc"):
        find("blur", "anonymiser")
    with pytest.raises(ParameterError, match="it has inner_m, outer_m"):
        find("donut").check({"radius": 1})
    with pytest.raises(ParameterError, match="sigma_deg"):
        find("coordinate_noise").check({"sigma_deg": -1})
    with pytest.raises(ParameterError, match="`k` must be at least 1"):
        find("mondrian").check({"k": 0})
    assert Parameter("x", Real(0, 1, open_low=True)).range == "(0, 1]"
