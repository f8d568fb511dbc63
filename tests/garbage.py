"""Garbage in every argument of every public function, from the signatures: a new function is covered by being public.

`python -m garbage` (from tests/) makes all calls, the suite a part of them.
"""

import contextlib
import hashlib
import inspect
import os
import pickle
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from shapely.geometry import Point

import reident
from package.bad_inputs.good import GOOD
from package.test_bad_inputs import call, target

#: A thing of each kind that stands where something else belongs.
KINDS: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "true": lambda: True,
    "minus": lambda: -1,
    "half": lambda: 0.5,
    "large": lambda: 10**13,
    "huge": lambda: 2**70,
    "giant": lambda: 10**400,
    "no dimension": lambda: np.array(5),
    "nan": lambda: float("nan"),
    "infinite": lambda: float("inf"),
    "missing": lambda: pd.NA,
    "decimal": lambda: Decimal("0.1"),
    "complex number": lambda: 1 + 2j,
    "text": lambda: "nonsense",
    "bytes": lambda: b"x",
    "empty list": lambda: [],
    "list of lists": lambda: [[1, 2], [3]],
    "list of dicts": lambda: [{}, {}],
    "mapping": lambda: {"a": [1]},
    "set": lambda: {1, 2},
    "generator": lambda: (i for i in range(3)),
    "function": lambda: len,
    "object": object,
    "class": lambda: int,
    "path": lambda: Path("absent/file"),
    "date": lambda: pd.Timestamp("2020-01-01"),
    "complex": lambda: np.array([1 + 1j, 2.0]),
    "dates": lambda: np.array(["2020", "2021"], "M8[D]"),
    "masked": lambda: np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0]),
    "cube": lambda: np.zeros((2, 2, 2)),
    "matrix": lambda: np.ones((2, 3)),
    "unsigned": lambda: np.array([250, 251], np.uint8),
    "big-endian": lambda: np.array([1.0, 2.0], ">f8"),
    "texts": lambda: np.array(["a", "b"]),
    "records": lambda: np.zeros(2, dtype=[("a", int)]),
    "nullable": lambda: pd.array([1, None], dtype="Int64"),
    "arrow": lambda: pd.Series([1, None], dtype="int64[pyarrow]"),
    "categories": lambda: pd.Series(["a", "b"], dtype="category"),
    "empty table": lambda: pd.DataFrame(),
    "table": lambda: pd.DataFrame({"a": [1, 2]}),
    "graph": lambda: nx.path_graph(3),
    "directed": lambda: nx.DiGraph([(0, 1)]),
    "point": lambda: Point(0, 0),
    "generator of numbers": lambda: np.random.default_rng(1),
}


#: They run for long, read files, or act on the whole session.
LEFT_OUT = {"register", "read_graph", "read_recipe", "Hierarchy.from_csv", "assess", "protect", "risk_utility"}

#: What a call may say: an error of ours, or what Python itself says of a call (a missing argument).
CLEAR = (reident.ParameterError, reident.DataError, reident.TrialError)

#: Seconds after which a call counts as hanging.
LIMIT_S = 120


@dataclass(frozen=True)
class Case:
    """One call: a function, the argument that is replaced, and by what kind of thing."""

    function: str
    argument: str
    kind: str

    def __str__(self) -> str:
        return f"{self.function}({self.argument}={self.kind})"


def cases() -> Iterator[Case]:
    for function in sorted(set(GOOD) - LEFT_OUT):
        for name, parameter in inspect.signature(target(function)).parameters.items():
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                yield from (Case(function, name, kind) for kind in KINDS)


def sample(share: int) -> list[Case]:
    """Return one case in `share`, the same ones always."""
    return [case for case in cases() if int(hashlib.sha256(str(case).encode()).hexdigest(), 16) % share == 0]


def _frozen(value: Any) -> Any:
    """Return what must be the same after a call, None for what cannot change."""
    if isinstance(value, nx.Graph):
        return sorted(map(str, value.nodes(data=True))), sorted(map(str, value.edges(data=True)))
    if isinstance(value, np.ma.MaskedArray):
        return value.data.tolist(), value.mask.tolist()
    if isinstance(value, pd.DataFrame | pd.Series):
        return value.to_csv(), str(getattr(value, "dtypes", ""))
    return pickle.dumps(value) if isinstance(value, np.ndarray | list | dict | set) else None


def failure(case: Case) -> str:
    """Make a call; say what was wrong with how it ended, "" if nothing was."""
    arguments = {name: value for name, value in GOOD[case.function].items() if name != case.argument}
    before = {name: _frozen(value) for name, value in arguments.items()}
    given = KINDS[case.kind]()
    kept = _frozen(given)
    try:
        with _limit(), warnings.catch_warnings(), contextlib.redirect_stdout(None):
            warnings.simplefilter("ignore")
            call(case.function, {**arguments, case.argument: given})
    except CLEAR:
        pass
    except TimeoutError:
        return f"{case}: not ended after {LIMIT_S} s"
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in where if "/reident/" in frame.filename] or where
        return f"{case}: {type(error).__name__} at {Path(ours[-1].filename).name}:{ours[-1].lineno}: {str(error)[:100]}"
    changed = [name for name, value in arguments.items() if _frozen(value) != before[name]]
    if changed or _frozen(given) != kept:
        return f"{case}: changed {changed or [case.argument]}"
    return ""


@contextlib.contextmanager
def _limit() -> Iterator[None]:
    def stop(number: int, frame: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def main() -> int:
    share = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        told = [text for case in sample(share) if (text := failure(case))]
        os.chdir("/")
    print(*told, f"{len(sample(share)):,} calls, {len(told)} wrong", sep="\n")
    return min(len(told), 1)


if __name__ == "__main__":
    sys.exit(main())
