"""Microaggregation, nearest-record linkage and learned linkage, against their rivals in the same run."""

import importlib.util
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from reident import SearchLimitWarning, learn_linkage, link_records, microaggregate
from reident.experiments.abril2012.trials import available_data, table

# recordlinkage needs an older pandas than this package runs with: an interpreter that has it may be named here.
_RIVAL_PYTHON = os.environ.get("REIDENT_RIVALS_PYTHON", sys.executable)

_RIVAL = """
import time
import numpy as np, pandas as pd, recordlinkage
rng = np.random.default_rng(1)
known = pd.DataFrame(rng.lognormal(size=(1000, 4)), columns=list("abcd"))
release = known * np.exp(rng.normal(size=(1000, 4)) * 0.1)
began = time.perf_counter()
index = recordlinkage.Index(); index.full()
compare = recordlinkage.Compare()
for c in "abcd":
    compare.numeric(c, c, method="gauss", scale=float(known[c].std()), label=c)
scores = compare.compute(index.index(release, known), release, known).sum(axis=1)
best = scores.groupby(level=0).idxmax()
print(time.perf_counter() - began)
"""


def _seconds(call: Callable[[], Any], repeats: int = 3) -> float:
    call()
    taken = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return float(np.median(taken))


def _row(task: str, ours: float, rival: str = "", rival_s: float | None = None, note: str = "") -> dict[str, Any]:
    ratio = None if rival_s is None else rival_s / ours
    return {"task": task, "ours_s": ours, "rival": rival, "rival_s": rival_s, "ratio": ratio, "note": note}


def _files(n: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(1)
    known = pd.DataFrame(rng.lognormal(size=(n, 4)), columns=list("abcd"))
    return known * np.exp(rng.normal(size=(n, 4)) * 0.1), known


def _against_recordlinkage() -> dict[str, Any]:
    release, known = _files(1000)
    ours = _seconds(lambda: link_records(release, known), 5)
    task = "link 1,000 x 1,000 records of 4 numbers"
    if sys.executable == _RIVAL_PYTHON and importlib.util.find_spec("recordlinkage") is None:
        note = "recordlinkage is not installed (it needs pandas < 3): name an interpreter by REIDENT_RIVALS_PYTHON"
        return _row(task, ours, "recordlinkage", None, note)
    run = subprocess.run([_RIVAL_PYTHON, "-c", _RIVAL], capture_output=True, text=True, check=False)
    if run.returncode:
        return _row(task, ours, "recordlinkage", None, run.stderr.strip().splitlines()[-1])
    return _row(task, ours, "recordlinkage", float(run.stdout.split()[-1]), "both end to end, from tables to links")


def _large() -> list[dict[str, Any]]:
    release, known = _files(100_000)
    link_records(release.iloc[:50], known.iloc[:50])
    began = time.perf_counter()
    link_records(release, known)
    linked = time.perf_counter() - began
    began = time.perf_counter()
    microaggregate(known, [list("abcd")], 5)
    clustered = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        _row("link 100,000 x 100,000 records of 4 numbers", linked, note=f"peak memory of the process {peak:.0f} MiB"),
        _row("MDAV, 100,000 x 4, k = 5", clustered, note="goal: under 60 s"),
    ]


def _learning(limit_s: float = 60.0) -> list[dict[str, Any]]:
    data = available_data()
    whole = table(data)
    drawn = whole.iloc[np.random.default_rng(6).choice(len(whole), 400, replace=False)]
    files = ["M4-33", "M4-28", "M4-82", "M5-38", "M6-385", "M6-853", "M7-999"]
    protected = {file: microaggregate(drawn, file) for file in files}
    few = {"columns": protected["M4-33"].columns, "model": "choquet"}
    learn_linkage(protected["M4-33"].table, drawn, **few)
    total, proven = 0.0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchLimitWarning)
        for file in files:
            for model in ("weighted_mean", "choquet"):
                one = protected[file]
                learned = learn_linkage(one.table, drawn, columns=one.columns, model=model, time_limit_s=300)
                total, proven = total + learned.seconds, proven + learned.is_optimal
        fast = learn_linkage(protected["M4-33"].table, drawn, **few)
        plain = learn_linkage(protected["M4-33"].table, drawn, method="milp", time_limit_s=limit_s, **few)
    state = (
        "solved"
        if plain.is_optimal
        else f"stopped at {limit_s:.0f} s, bounds {plain.lower_bound:g}-{plain.upper_bound:g}"
    )
    return [
        _row(
            "learn all 14 problems of abril2012, 400 records",
            total,
            note=f"{proven} of 14 proven optimal; data: {data}",
        ),
        _row(
            "learn the Choquet integral, M4-33, 400 records", fast.seconds, "plain MILP (HiGHS)", plain.seconds, state
        ),
    ]


def rows() -> list[dict[str, Any]]:
    """Time linkage against recordlinkage, the large tables, and learning against the paper's formulation."""
    return [_against_recordlinkage(), *_large(), *_learning()]
