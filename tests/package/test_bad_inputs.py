# ruff: noqa: F403, F405 (the values stand in one module)
"""Bad inputs to the public functions: each ends at once, with an error of ours that names the parameter and the value.

Most follow from the signature and from the good call: an argument beyond its declared range, a table without records, a
matrix that is not symmetric, a seed with a sign. `package.bad_inputs.bad` holds the others.
"""

import inspect
import re
import time
from math import inf

import geopandas as gpd
import networkx as nx
import numpy as np
import pandas as pd
import pytest

import public
import reident
from package.bad_inputs.bad import COSTLY, DATA, PARAMETERS, TOGETHER
from package.bad_inputs.good import GOOD
from package.bad_inputs.inputs import *
from reident import DataError, ParameterError
from reident.base import MEMORY
from reident.base.options import Choice, Real, Whole, described

#: How to come by the objects whose methods are called.
OBJECTS = {
    "Budget": lambda: reident.queries.Budget(1),
    "CompatibilityGraph": lambda: PRODUCT,
    "DistanceDeviation": lambda: reident.places.distance_deviation_quantiles(AREA, sigma_deg=0.1, n_pairs=10, rng=0),
    "FuzzyMeasure": lambda: MEASURE,
    "Hierarchy": lambda: AGES,
    "MaxAuditor": lambda: reident.queries.MaxAuditor([1, 2, 3]),
    "PanPrivateDensity": lambda: reident.queries.PanPrivateDensity(10, epsilon=1),
}


def target(function):
    owner, _, method = function.partition(".")
    found = public.named(owner)
    return getattr(found if method.startswith("from_") else OBJECTS[owner](), method) if method else found


def call(function, arguments):
    if function == "Hierarchy.from_mapping":  # takes its mappings one after another
        return target(function)(*arguments["mappings"])
    return target(function)(**arguments)


def beyond(rule):
    """Yield values beside the declared domain of a parameter."""
    if isinstance(rule, Choice):
        yield from ("magic", 3.5)
        return
    yield "a"
    if isinstance(rule, Real):
        yield NAN
        if rule.low > -inf:
            yield rule.low if rule.open_low else rule.low - 1
        if rule.high < inf:
            yield rule.high if rule.open_high else rule.high + 1
    elif isinstance(rule, Whole):
        yield 2.5
        if rule.low is not None:
            yield rule.low - 1
        if rule.high is not None:
            yield rule.high + 1


#: Values that no argument of a kind may have, by the good argument.
LIKE = [
    (D, DataError, (D[:2], -D, np.triu(D), "a", [[0, NAN], [1, 0]], D + 1)),
    (AREA, DataError, (BOWTIE, "here")),
    (LAT, DataError, ([NAN] * 4, [-91.0] * 4, ["a"] * 4, LAT[:1])),
    (LON, DataError, ([NAN] * 4, [361.0] * 4, LON[:1])),
    (POINTS, DataError, (3, POINTS.set_crs(None, allow_override=True), gpd.GeoDataFrame(geometry=[None], crs=4326))),
    (POINTS, DataError, (gpd.GeoDataFrame(geometry=[AREA], crs=4326),)),
    (POINTS, ParameterError, (TABLE,)),
]
NAMED = {"rng": (-1, "x", True), "epsilon": (0, -1, "x", NAN), "budget": (3,)}


def columns_of(good):
    named = [good] if isinstance(good, str) else good if isinstance(good, list) else []
    return named and all(isinstance(name, str) and name in TABLE for name in named)


def unlike(name, good):
    """Yield error and value for a parameter without a declared rule."""
    if name in NAMED:
        yield from ((ParameterError, value) for value in NAMED[name])
    elif any(good is like for like, *_ in LIKE):
        yield from ((error, value) for like, error, values in LIKE if good is like for value in values)
    elif isinstance(good, nx.Graph):
        yield from ((DataError, value) for value in (3, DIRECTED, LOOPED, DOUBLED))
    elif isinstance(good, pd.DataFrame):
        yield from ((DataError, value) for value in (3, good.iloc[:0]))
        if not isinstance(good, gpd.GeoDataFrame):
            yield DataError, pd.concat([good, good], axis=1)
    elif columns_of(good):
        twice = [good, good] if isinstance(good, str) else good * 2
        yield from ((ParameterError, value) for value in (["absent"], twice))
    elif isinstance(good, list) and good and all(type(value) in (int, float) for value in good):
        yield from (((DataError, ParameterError), value) for value in (["a"] * len(good), [NAN] * len(good)))
    elif callable(good):
        yield ParameterError, 3


#: Of these, arguments that may be empty or are not read here, and messages that speak of another argument.
OTHERWISE = {
    *((function, "rng") for function in ("network_properties", "path_lengths", "round_values")),
    *(("classical_linkage", name) for name in ("release", "known")),
    *(("compatibility_graph", f"labels_{side}") for side in ("release", "known")),
    *((function, "data") for function in ("assess", "laplace_count", "protect")),
    *((function, "points") for function in ("mask_areal_elimination", "mask_dhs", "mask_planar_laplace")),
    *((function, "release") for function in ("correlations_kept", "information_kept")),
    *((function, "values") for function in ("laplace_histogram", "laplace_sum")),
    *(("linkage_quality", "links"), ("linkage_quality", "truth"), ("multilateration_attack", "links")),
    *(("MetricMicrodata", "table"), ("compare", "frame"), ("detectability", "graph")),
    *(("mask_population_donut", "density"), ("swap_locations", "candidates")),
}


def together(good):
    """Yield parameter, error and value for what does not fit another argument of the good call."""
    matrices = [name for name, value in good.items() if value is D]
    yield from ((name, DataError, D[:3, :3]) for name in matrices[1:])
    if {"quasi", "sensitive"} <= good.keys():
        yield "sensitive", ParameterError, good["quasi"]
    if not {"known", "quasi"} <= good.keys():  # places may be linked without labels
        yield from ((name, ParameterError, []) for name in ("quasi", "columns") if columns_of(good.get(name)))


def derived():
    """Yield function, parameter, error and value."""
    for function in sorted(GOOD):
        yield from ((function, *each) for each in together(GOOD[function]) if (function, each[0]) not in OTHERWISE)
        rules = described(target(function))
        for name in inspect.signature(target(function)).parameters:
            rule = rules.get(name)
            if isinstance(rule, Choice | Real | Whole):
                yield from ((function, name, ParameterError, value) for value in beyond(rule))
            elif (function, name) not in OTHERWISE:
                yield from ((function, name, *each) for each in unlike(name, GOOD[function].get(name)))


LISTED = [
    (function, name, error, value)
    for error, table in ((DataError, DATA), (ParameterError, PARAMETERS))
    for function, changes in table.items()
    for name, values in changes.items()
    for value in values
]
ROWS = [*derived(), *LISTED]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def refused(function, error, change):
    """Return the message of the error with which a call must end."""
    with pytest.raises(error) as caught:
        call(function, {**GOOD[function], **change})
    assert type(caught.value) in (DataError, ParameterError)
    return str(caught.value)


@pytest.mark.filterwarnings("ignore::reident.PrivacyWarning")
@pytest.mark.parametrize("function", sorted({function for function, *_ in ROWS}))
def test_an_error_names_the_parameter_and_the_value(function, tmp_path):
    for _, name, error, value in (row for row in ROWS if row[0] == function):
        message = refused(function, error, {name: value})
        assert f"`{name}" in message, (name, value, message)
        if isinstance(value, int | float) and isinstance(described(target(function)).get(name), Real | Whole):
            assert f"{value:g}" in message or repr(value) in message, (name, value, message)
    assert not list(tmp_path.iterdir()), "something was written before the error"


@pytest.mark.filterwarnings("ignore::reident.PrivacyWarning")
@pytest.mark.parametrize(("function", "error", "words", "change"), TOGETHER)
def test_what_does_not_go_together_is_refused(function, error, words, change, tmp_path):
    assert words in refused(function, error, change)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("function", "words", "change"), COSTLY)
def test_a_call_beyond_the_memory_is_refused_before_it_is_begun(function, words, change, monkeypatch):
    monkeypatch.setenv(MEMORY, "1G")
    began = time.process_time()
    assert words in refused(function, ParameterError, change)
    assert time.process_time() - began < 30  # the work itself would take hours


#: These take long, read files that are not there, or write; their own tests call them.
SLOW = {
    "assess", "evaluate", "open_dataset", "risk_utility", "protect", "sweep", "Hierarchy.from_csv",
    "read_graph", "read_recipe", "write_graph",
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::reident.PrivacyWarning")
@pytest.mark.parametrize(
    "function",
    sorted(set(GOOD) - SLOW),
)
def test_without_the_change_the_call_is_good(function):
    call(function, GOOD[function])


def _ends():
    """Yield each end of a range that a signature tells: function, parameter, value."""
    for function in sorted(set(GOOD) - SLOW):
        if "." in function or not inspect.isfunction(public.named(function)):
            continue
        for name, rule in described(public.named(function)).items():
            if isinstance(rule, Real | Whole) and rule.low is not None and not getattr(rule, "open_low", False):
                yield function, name, rule.low
            if isinstance(rule, Real) and rule.high < inf and not rule.open_high:
                yield function, name, rule.high


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("function", "name", "value"), [each for each in _ends() if abs(each[2]) < inf])
def test_what_a_signature_allows_the_function_allows(function, name, value):
    """Data may forbid it, another parameter may; no other rule of its own."""
    said = ""
    try:
        call(function, {**GOOD[function], name: value})
    except (reident.ParameterError, reident.DataError) as error:
        said = str(error)
    assert not re.match(rf"`{name}` must be (at least|above|from|between) (?!`)", said)


def test_a_keyword_that_a_function_has_not_is_named():
    with pytest.raises(TypeError, match=r"perturb_coordinates\(\) got an unexpected keyword argument 'sigma'"):
        reident.perturb_coordinates([50.0], [8.0], sigma=1)


def test_no_public_function_is_left_out():
    named = {function.partition(".")[0] for function in GOOD}
    assert [name for name in public.HOMES if inspect.isfunction(public.named(name)) and name not in named] == []
