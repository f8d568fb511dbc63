"""Microaggregation, nearest-record linkage and learned linkage, against their rivals in the same run."""

from __future__ import annotations

import resource
import warnings

import numpy as np
import pandas as pd

from benchmarks import _rivals
from benchmarks._rows import Row, seconds, timed, within
from reident import SearchLimitWarning, learn_linkage, link_records, microaggregate
from reident.experiments.abril2012.trials import available_data, table


def _files(n: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(1)
    known = pd.DataFrame(rng.lognormal(size=(n, 4)), columns=list("abcd"))
    return known * np.exp(rng.normal(size=(n, 4)) * 0.1), known


def _against_recordlinkage() -> list[Row]:
    release, known = _files(1000)
    ours = seconds(lambda: link_records(release, known), 5)
    told = _rivals.ask("recordlinkage")
    note = told["note"] or "both end to end, from tables to links"
    task = "link 1,000 x 1,000 records of 4 numbers"
    return [Row(task, ours, "recordlinkage", told["seconds"], 100, told["stopped"], note)]


def _small() -> list[Row]:
    known = _files(1080)[1]
    return [within("MDAV, 1,080 x 4, k = 5", seconds(lambda: microaggregate(known, [list("abcd")], 5)), 0.05)]


def _large() -> list[Row]:
    release, known = _files(100_000)
    link_records(release.iloc[:50], known.iloc[:50])
    linked, _ = timed(lambda: link_records(release, known))
    clustered, _ = timed(lambda: microaggregate(known, [list("abcd")], 5))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        Row("link 100,000 x 100,000 records of 4 numbers", linked, note=f"peak memory of the process {peak:.0f} MiB"),
        within("MDAV, 100,000 x 4, k = 5", clustered, 60),
    ]


def _learning(limit_s: float = 60.0) -> list[Row]:
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
    reached = "solved" if plain.is_optimal else f"bounds {plain.lower_bound:g}-{plain.upper_bound:g}"
    return [
        within(
            "learn all 14 problems of abril2012, 400 records", total, 90,
            f"{proven} of 14 proven optimal; data: {data}", stopped="" if proven == 14 else "ours",
        ),
        Row(
            "learn the Choquet integral, M4-33, 400 records", fast.seconds, "plain MILP (HiGHS)", plain.seconds, 100,
            "" if plain.is_optimal else "rival", f"the rival's answer: {reached}",
        ),
    ]  # fmt: skip


GROUPS = {"small": _small, "recordlinkage": _against_recordlinkage, "large": _large, "learning": _learning}
