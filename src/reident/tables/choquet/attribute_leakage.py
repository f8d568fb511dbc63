"""Attack. Which attribute leaks: the learned measure's Shapley values, with intervals from resampled records."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd

from reident.base import (
    Choice,
    Real,
    RNGLike,
    SearchLimitWarning,
    Whole,
    afford,
    check_choice,
    check_integer,
    check_numeric,
    check_real,
    check_rng,
)
from reident.tables.choquet._benders import solve_benders
from reident.tables.choquet._learning_problem import build_problem, tidy_solution
from reident.tables.choquet.choquet_linkage import aligned, as_measure, varying
from reident.tables.record_linkage import standardised

__all__ = ["AttributeLeakage", "attribute_leakage"]


@dataclass(frozen=True)
class AttributeLeakage:
    """How much each attribute contributes to linkage.

    Attributes
    ----------
    table : DataFrame
        One row a column, the most telling first: `variable`, `shapley` (learned from all records), `low`, `high`
        (percentiles over the resamples), `share_first` (share of resamples in which it ranks first).
    replicates : DataFrame
        Shapley values of each resample (row) and column.
    proven : int
        Resamples whose measure is proven optimal.
    """

    table: pd.DataFrame
    replicates: pd.DataFrame
    proven: int


def attribute_leakage(
    release: pd.DataFrame,
    original: pd.DataFrame,
    *,
    columns: str | Sequence[str] | None = None,
    model: Annotated[str, Choice("choquet", "weighted_mean")] = "choquet",
    resamples: Annotated[int, Whole(1, unit="resamples")] = 50,
    level: Annotated[float, Real(0, 1, open_low=True, open_high=True)] = 0.9,
    time_limit_s: Annotated[float, Real(0, unit="s", open_low=True)] = 120.0,
    eps: Annotated[float, Real(1e-8, 1e-2)] = 1e-7,
    rng: RNGLike = 0,
) -> AttributeLeakage:
    """Rank the attributes by how much they help linkage under the best learned measure.

    Parameters
    ----------
    release, original, columns, model, eps
        As for `learn_linkage`.
    resamples : int
        Bootstrap resamples of the released records; the file they are linked to stays whole, because a record drawn
        twice would tie with itself.
    level : float
        Share of the resamples between `low` and `high`.
    time_limit_s : float
        Seconds for all of it. What is not proven by then is used as it is, with a warning.
    rng : Generator, int or None
        Source of the resamples and of the order of the search.

    Returns
    -------
    AttributeLeakage

    Raises
    ------
    DataError, ParameterError
        If the files do not fit, or an option breaks its rule.

    Warns
    -----
    SearchLimitWarning
        If some resample was not proven in time.

    Notes
    -----
    Conflicts do not depend on how often a record is drawn, so each resample starts from those found before. The
    intervals cover which records were released and, since optimal measures are not unique, which of the optimal ones
    was returned; not another protection or another population.

    Examples
    --------
    >>> import pandas as pd
    >>> original = pd.DataFrame({"pay": [1.0, 2, 3, 4, 9, 7], "tax": [5.0, 1, 4, 2, 6, 3]})
    >>> release = original.assign(tax=[6.0, 5, 1, 1, 2, 9])
    >>> attribute_leakage(release, original, resamples=5).table["variable"].tolist()
    ['pay', 'tax']
    """
    check_choice(model, "model", ("weighted_mean", "choquet"))
    count = check_integer(resamples, "resamples", low=1)
    afford(1000 * count, "resamples", f"{count:,} resamples", "some hundred tell the same")
    tail = (1 - check_real(level, "level", low=0.0, high=1.0, open_low=True, open_high=True)) / 2
    deadline = time.perf_counter() + check_real(time_limit_s, "time_limit_s", low=0.0, open_low=True)
    margin = check_real(eps, "eps", low=1e-8, high=1e-2)
    generator = check_rng(rng)
    release, original, listed = aligned(release, original, columns, model, rivals=False)
    a, b = check_numeric(release, listed, "release"), check_numeric(original, listed, "original")
    used = varying(a, b, listed)
    problem = build_problem(standardised(a[:, used]), standardised(b[:, used]), model, margin)
    conflicts: list[tuple[int, ...]] = []
    values, proven = [], 0
    for resample in range(count + 1):
        drawn = np.arange(len(original)) if resample == 0 else generator.integers(len(original), size=len(original))
        costs = np.bincount(drawn, minlength=len(original))[problem.blocks]
        found = solve_benders(problem, deadline, generator, costs=costs, conflicts=conflicts)
        conflicts = found.conflicts
        proven += resample > 0 and found.lower_bound >= found.given_up
        values.append(as_measure(tidy_solution(found.x.copy(), model), listed, used, model)[1].shapley())
    if proven < count:
        warnings.warn(
            f"the time limit was reached: {count - proven} of {count} resamples are not proven optimal",
            SearchLimitWarning,
            stacklevel=2,
        )
    replicates = pd.DataFrame(values[1:]).reset_index(drop=True)
    first = replicates.idxmax(axis=1)
    table = pd.DataFrame(
        {
            "variable": listed,
            "shapley": values[0].to_numpy(),
            "low": replicates.quantile(tail).to_numpy(),
            "high": replicates.quantile(1 - tail).to_numpy(),
            "share_first": [float((first == column).mean()) for column in listed],
        }
    )
    return AttributeLeakage(table.sort_values("shapley", ascending=False, ignore_index=True), replicates, int(proven))
