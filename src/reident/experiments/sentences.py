"""Decide a sentence of a document: contrasts of means lie within limits."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from reident.experiments.claims import Claim
from reident.experiments.decide import SCHEDULE, holm, nominal_level


def decide_sentence(
    effects: np.ndarray, low: np.ndarray, high: np.ndarray, *, alpha: float = 0.05, schedule: tuple[int, ...] = SCHEDULE
) -> tuple[str, int, np.ndarray] | None:
    """Judge `effects[data set, contrast]` at each look; return the first decisive verdict, its data sets, the means.

    A sentence says that each contrast lies between `low` and `high`. It agrees if the interval of every contrast lies
    inside (all must pass: no correction), differs if one lies outside (Holm), else it is open. "a is larger than b":
    a - b in (0, inf). "Falls": steps in (-margin, inf), first - last in (margin, inf). "About 1/3": mean in (1/3 -
    margin, 1/3 + margin). "Independent": all pairs in (-margin, margin).
    """
    level, decision = nominal_level(schedule, alpha), None
    for n in (n for n in schedule if n <= len(effects)):
        mean = effects[:n].mean(axis=0)
        error = np.maximum(effects[:n].std(axis=0, ddof=1) / np.sqrt(n), 1e-9)
        inside = stats.t.sf(np.minimum(mean - low, high - mean) / error, n - 1) <= level
        outside = holm(stats.t.sf(np.maximum(low - mean, mean - high) / error, n - 1), level)
        decision = "agrees" if inside.all() else "differs" if outside.any() else "open", n, mean
        if decision[0] != "open":
            break
    return decision


def draws_of(frame: pd.DataFrame) -> str:
    """Return the column of independent draws: data sets, or repetitions without data sets."""
    return "dataset" if "dataset" in frame else "repetition"


def effects_of(frame: pd.DataFrame, claim: Claim) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return the contrasts of a sentence, one row a draw, and the limits of each.

    Rises and falls: no step against the direction by the margin, and the whole way more than the margin along it.
    Constant: all pairs of levels within the margin. Difference: the measure at `high` less that at `low`, within
    `limits`. Level: the mean within the margin of the published number.
    """
    if frame.empty:
        return pd.DataFrame(), np.zeros(0), np.zeros(0)
    effect, m = claim.effect, claim.margin
    form, along, each = effect["form"], effect["along"], list(effect.get("each", []))
    means = frame.pivot_table(index=draws_of(frame), columns=[*each, along], values=claim.measure, sort=False)
    means = means.loc[frame[draws_of(frame)].unique()].sort_index(axis=1)
    groups = {(): means} if not each else {key: means[key] for key in means.columns.droplevel(-1).unique()}
    contrasts: dict[Any, tuple[pd.Series, float, float]] = {}
    for key, block in groups.items():
        levels = list(block.columns)
        if form in ("rises", "falls") and len(levels) > 1:
            sign = 1 if form == "rises" else -1
            pairs = [(a, b, -m) for a, b in itertools.pairwise(levels)] + [(levels[0], levels[-1], m)]
            contrasts |= {(key, a, b): (sign * (block[b] - block[a]), low, np.inf) for a, b, low in pairs}
        elif form == "constant":
            pairs = [(a, b, m) for number, b in enumerate(levels) for a in levels[:number]]
            contrasts |= {(key, a, b): (block[b] - block[a], -m, m) for a, b, _ in pairs}
        elif form == "difference" and {effect["high"], effect["low"]} <= {*levels}:
            limits = claim.limits or [-m, np.inf]
            contrasts[key, effect["high"], effect["low"]] = block[effect["high"]] - block[effect["low"]], *limits
        elif form == "level":
            contrasts |= {(key, a): (block[a], claim.published - m, claim.published + m) for a in levels}
    if not contrasts:
        return pd.DataFrame(), np.zeros(0), np.zeros(0)
    names = [" ".join(str(part) for part in np.hstack([np.atleast_1d(p) for p in name])) for name in contrasts]
    values = pd.concat([series for series, _, _ in contrasts.values()], axis=1, keys=names)
    low, high = (np.array([contrast[i] for contrast in contrasts.values()], dtype=float) for i in (1, 2))
    return values, low, high
