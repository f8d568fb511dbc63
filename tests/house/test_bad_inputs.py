"""Bad inputs to the public functions, from a table: each ends at once, with an error that says what was wrong."""

import inspect
import re
from math import inf

import pytest

import public
import reident
from house.bad_inputs import BAD, GOOD
from house.bad_inputs.inputs import AGES, AREA, MEASURE, PRODUCT
from reident.base.options import Real, Whole, described

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

#: Public names without a row: errors and warnings, results that functions return, and functions that take nothing.
WITHOUT = """
    Assessment Calibration Clique Cliques DataError Dataset DegreeAnonymisation Detectability
    Differencing DirectedNetwork EdgeDisclosure EqualDifferences Finding KnowledgePrice HiddenCoordinates
    ImpossibilityGame IntersectionAttack KAnonymous KEpsilonRelease LearnedLinkage Linkage LinkageQuality
    Localisation MappingQuality Microaggregation MinimalityBreach NaiveAnonymisation NearestRecord NetworkProperties
    OpenedFile ParameterError PathLengths Pipeline Plan PrivacyWarning Propagation Rate Recipe RecordLinkage
    ReferenceMap Release RiskReport Schema Step Recovery ReleasedStep ScoreboardMatch SearchLimitWarning
    Seeds SpectralMatch ToleranceIntervals TrialError Verdict
""".split()  # noqa: SIM905 (names as one text)


def call(function, arguments):
    owner, _, method = function.partition(".")
    found = public.named(owner)
    if method:
        found = getattr(found if method.startswith("from_") else OBJECTS[owner](), method)
    if method == "from_mapping":
        return found(*arguments["mappings"])
    return found(**arguments)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.filterwarnings("ignore::reident.PrivacyWarning")
@pytest.mark.parametrize(
    ("function", "error", "words", "change"), BAD, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_bad_input_is_a_clear_error(function, error, words, change, tmp_path):
    with pytest.raises(error) as caught:
        call(function, {**GOOD[function], **change})
    assert type(caught.value) is error
    assert words in str(caught.value)
    assert not list(tmp_path.iterdir()), "something was written before the error"


#: These take long, read files that are not there, or write; their own tests call them.
SLOW = {
    "assess",
    "evaluate",
    "open_dataset",
    "risk_utility",
    "protect",
    "Hierarchy.from_csv",
    "read_graph",
    "read_recipe",
    "write_graph",
}


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


def test_the_table_is_long_and_leaves_no_function_out():
    assert len(BAD) >= 400
    named = {function.partition(".")[0] for function, *_ in BAD}
    assert set(public.HOMES) - named == set(WITHOUT)
    for name in WITHOUT:
        assert inspect.isclass(public.named(name)), name
