"""What must not change unnoticed: public names with their signatures, and the numbers of the smoke profiles.

`python -m frozen` (from tests/) writes both anew; the commit that does so says which line asked for it.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import reident
from reident.studies.catalogue import STUDIES
from reident.studies.study import Results

HERE = Path(__file__).parent
SIGNATURES, FRAMES = HERE / "signatures.json", HERE / "frames.json"
NAMES = ("kroll2015", "kroll2016", "abril2012", "holohan2017", "vanhoef2012_tables", "vanhoef2012_networks")


def signatures() -> dict[str, str]:
    """Return each public name with the names, kinds and defaults of its parameters (annotations are left out)."""
    return {name: _signature(getattr(reident, name)) for name in sorted(reident.__all__)}


def _signature(thing: object) -> str:
    if not callable(thing):
        return type(thing).__name__
    try:
        signature = inspect.signature(thing)
    except ValueError:
        return "callable"
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


#: Frames of searches that the clock stops: they differ from run to run.
_LEARNED = ("lattice_edges", "lattice_nodes", "leakage", "measures", "race", "ranges", "ratios", "ru_map", "shapley")
TIMED = {
    "kroll2016": ("areas", "as_published", "first", "first_summary", "second", "second_summary"),
    "abril2012": (*_LEARNED, "determined", "times", "trials", "variants", "whole"),
}

#: Numbers of searches that a last bit turns: a distance whose product and sum are rounded at once has another one where
#: its kernel was compiled into another. On the few records of `smoke` the second best motion is nearly the best.
UNSTEADY = {
    ("kroll2016", "pieces"): [
        "shape_median_km", "registration_median_km", "registration_within_5km", "registration_p_value"
    ],
}  # fmt: skip

#: Below is what rounding leaves of a distance of 0 km.
_NOTHING = 1e-9


def _measured(column: str) -> bool:
    """Tell whether a column holds measured seconds, or how far a search came in them."""
    return column.endswith("_s") or any(word in column for word in ("second", "time", "conflicts"))


def digest(frame: pd.DataFrame) -> str:
    """Hash a frame: names, order, values; floats to six digits and 1e-9, and no column that holds measured seconds.

    What is missing is the same in memory (None) and read back from a file (nan).
    """
    kept = frame.loc[:, [column for column in frame.columns if not _measured(str(column))]]
    text = kept.map(_plain).to_csv(index=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: object) -> object:
    if value is None:
        return "nan"
    if isinstance(value, float | np.floating):
        return "nan" if np.isnan(value) else f"{0.0 if abs(value) < _NOTHING else value:.5e}"
    if isinstance(value, np.ndarray | list):
        return [_plain(each) for each in value]
    return value


def frames(results: Results) -> dict[str, str]:
    """Return the digest of each frame of a study, but for those that the clock decides."""
    kept = sorted(set(results.frames) - set(TIMED.get(results.study, ())))
    return {name: digest(_steady(results.study, name, results.frames[name])) for name in kept}


def _steady(study: str, name: str, frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop(columns=UNSTEADY.get((study, name), []))


def write() -> None:
    SIGNATURES.write_text(json.dumps(signatures(), indent=1) + "\n")
    told = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            # As the tests read them: a list in a cell comes back from a file as an array.
            STUDIES[name].run("smoke", progress=False).save(Path(folder) / name)
            told[name] = frames(Results.load(Path(folder) / name))
    FRAMES.write_text(json.dumps(told, indent=1) + "\n")
