"""Microaggregation, nearest-record linkage and learned linkage, against their rivals in the same run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks import _rivals
from benchmarks._rows import Row, peak_gib, seconds, timed, within
from reident import link_records, microaggregate
from reident.experiments.abril2012 import FILES, MODELS, groups_of, learn, read_table, trial
from reident.experiments.sweep import sweep
from reident.tables.choquet.choquet_linkage import LearnedLinkage


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
    note = f"peak of the process {peak_gib():.1f} GiB"
    clustered, _ = timed(lambda: microaggregate(known, [list("abcd")], 5))
    return [
        Row("link 100,000 x 100,000 records of 4 numbers", linked, note=note),
        within("MDAV, 100,000 x 4, k = 5", clustered, 3),
    ]


def _learn_all(records: pd.DataFrame) -> dict[str, LearnedLinkage]:
    """Learn all 14 problems of the paper from these records, each for 300 s at most."""
    return {
        f"{file} {model}": learn(one.table, records, columns=one.columns, model=model, time_limit_s=300)
        for file in FILES
        for one in [microaggregate(records, *groups_of(file, records.columns))]
        for model in MODELS
    }


def _learning(limit_s: float = 60.0) -> list[Row]:
    whole = read_table()
    drawn = whole.iloc[np.random.default_rng(6).choice(len(whole), 400, replace=False)]
    first = microaggregate(drawn, *groups_of("M4-33", drawn.columns))
    few: dict[str, Any] = {"columns": first.columns, "model": "choquet"}
    learn(first.table, drawn, **few)
    learned = _learn_all(drawn).values()
    fast = learn(first.table, drawn, **few)
    plain = learn(first.table, drawn, method="milp", time_limit_s=limit_s, **few)
    proven = sum(one.is_optimal for one in learned)
    reached = "solved" if plain.is_optimal else f"bounds {plain.lower_bound:g}-{plain.upper_bound:g}"
    return [
        within(
            "learn all 14 problems of abril2012, 400 records", sum(one.seconds for one in learned), 5,
            f"{proven} of 14 proven optimal", stopped="" if proven == 14 else "ours",
        ),
        Row(
            "learn the Choquet integral, M4-33, 400 records", fast.seconds, "plain MILP (HiGHS)", plain.seconds, 100,
            "" if plain.is_optimal else "rival", f"the rival's answer: {reached}",
        ),
    ]  # fmt: skip


def _whole() -> list[Row]:
    """Time a sweep over all records with two workers, their start included; unlearned distances are linked, too."""
    settings = {
        "file": sorted(FILES, key=lambda file: file != "M5-38"),  # the longest first
        "learns": [True],
        "n_records": [len(read_table())],
        "step_limit": [600_000],  # about 300 s
    }
    spent, learned = timed(lambda: sweep(trial, settings, jobs=2, progress=False))
    proven = int(learned[[f"proven_{model}" for model in MODELS]].sum().sum())
    longest = learned.loc[learned["seconds_choquet"].idxmax()]
    total_s = learned[[f"seconds_{model}" for model in MODELS]].sum().sum()
    note = (
        f"two processes; {proven} of 14 proven optimal; {longest['file']} choquet alone "
        f"{longest['seconds_choquet']:.0f} s, all together {total_s:.0f} s"
    )
    stopped = "" if proven == 14 else "ours"
    return [within("learn all 14 problems from all 1,080 records", spent, 60, note, stopped=stopped)]


GROUPS = {
    "small": _small,
    "recordlinkage": _against_recordlinkage,
    "large": _large,
    "learning": _learning,
    "whole": _whole,
}
