import inspect
import pkgutil
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from judged import records
from reident.base import DataError, ParameterError, Real
from reident.methods import ENTRIES, Entry, find, methods_table
from reident.methods.forms import ARGUMENTS, release
from samples import data_of

pytestmark = pytest.mark.whole


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
    data = records(nx.path_graph(12), quasi=()) if kind == "network" else data_of(kind)
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
    assert Real(0, 1, open_low=True).range == "(0, 1]"
