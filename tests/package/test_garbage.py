"""Garbage in every argument of every public function, by its signature: a new function is covered by being public."""

import contextlib
import hashlib
import inspect
import os
import pickle
import signal
from decimal import Decimal
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from shapely.geometry import Point

import public
import reident
from package.bad_inputs.good import GOOD
from package.test_bad_inputs import call, target

#: One call in so many is made; `make faults` makes all.
SHARE = int(os.environ.get("REIDENT_GARBAGE", "150"))

#: A thing of each kind that stands where something else belongs.
KINDS = {
    "none": lambda: None, "true": lambda: True, "minus": lambda: -1, "half": lambda: 0.5, "large": lambda: 10**13,
    "huge": lambda: 2**70, "giant": lambda: 10**400, "no dimension": lambda: np.array(5),
    "nan": lambda: float("nan"), "infinite": lambda: float("inf"), "missing": lambda: pd.NA,
    "decimal": lambda: Decimal("0.1"), "complex number": lambda: 1 + 2j, "text": lambda: "nonsense",
    "bytes": lambda: b"x", "empty list": lambda: [], "list of lists": lambda: [[1, 2], [3]],
    "list of dicts": lambda: [{}, {}], "mapping": lambda: {"a": [1]}, "set": lambda: {1, 2},
    "generator": lambda: (i for i in range(3)), "function": lambda: len, "object": object, "class": lambda: int,
    "path": lambda: Path("absent/file"), "date": lambda: pd.Timestamp("2020-01-01"),
    "complex": lambda: np.array([1 + 1j, 2.0]), "dates": lambda: np.array(["2020", "2021"], "M8[D]"),
    "masked": lambda: np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0]), "cube": lambda: np.zeros((2, 2, 2)),
    "matrix": lambda: np.ones((2, 3)), "unsigned": lambda: np.array([250, 251], np.uint8),
    "big-endian": lambda: np.array([1.0, 2.0], ">f8"), "texts": lambda: np.array(["a", "b"]),
    "records": lambda: np.zeros(2, dtype=[("a", int)]), "nullable": lambda: pd.array([1, None], dtype="Int64"),
    "arrow": lambda: pd.Series([1, None], dtype="int64[pyarrow]"),
    "categories": lambda: pd.Series(["a", "b"], dtype="category"), "empty table": lambda: pd.DataFrame(),
    "table": lambda: pd.DataFrame({"a": [1, 2]}), "graph": lambda: nx.path_graph(3),
    "directed": lambda: nx.DiGraph([(0, 1)]), "point": lambda: Point(0, 0),
    "generator of numbers": lambda: np.random.default_rng(1),
}  # fmt: skip

#: They run for long, read files, or act on the whole session.
LEFT_OUT = {"register", "read_graph", "read_recipe", "Hierarchy.from_csv", "assess", "protect", "risk_utility"}


def calls():
    for function in sorted(set(GOOD) - LEFT_OUT):
        for name, parameter in inspect.signature(target(function)).parameters.items():
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                yield from ((function, name, kind, f"{function}({name}={kind})") for kind in KINDS)


def is_drawn(text):
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % SHARE == 0


def frozen(value):
    """Return what must be the same after a call, None for what cannot change."""
    if isinstance(value, nx.Graph):
        return sorted(map(str, value.nodes(data=True))), sorted(map(str, value.edges(data=True)))
    if isinstance(value, np.ma.MaskedArray):
        return value.data.tolist(), value.mask.tolist()
    if isinstance(value, pd.DataFrame | pd.Series):
        return value.to_csv(), str(getattr(value, "dtypes", ""))
    return pickle.dumps(value) if isinstance(value, np.ndarray | list | dict | set) else None


@pytest.fixture
def _limit():
    """End a call that hangs."""

    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("_limit")
@pytest.mark.parametrize(
    ("function", "argument", "kind"), [pytest.param(*each, id=text) for *each, text in calls() if is_drawn(text)]
)
def test_garbage_is_refused_in_a_sentence_or_taken_for_what_it_is(function, argument, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {**GOOD[function], argument: KINDS[kind]()}
    before = {name: frozen(value) for name, value in given.items()}
    with contextlib.suppress(reident.ParameterError, reident.DataError, reident.TrialError):
        call(function, given)
    assert {name: frozen(value) for name, value in given.items()} == before


def test_every_public_function_gets_garbage():
    named = {function.partition(".")[0] for function, *_ in calls()}
    assert len(named) > 150
    assert {function.partition(".")[0] for function in GOOD} <= set(public.HOMES)
