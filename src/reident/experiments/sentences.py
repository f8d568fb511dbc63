"""Decide a sentence of a document: contrasts of means lie within limits."""

from __future__ import annotations

import numpy as np
from scipy import stats

from reident.experiments.decide import SCHEDULE, holm, nominal_level

__all__ = ["decide_sentence", "judge_sentence"]


def judge_sentence(
    by_dataset: np.ndarray, contrasts: np.ndarray, low: np.ndarray, high: np.ndarray, level: float
) -> tuple[str, np.ndarray]:
    """Judge a sentence: each contrast of the cells' means lies between `low` and `high`.

    `by_dataset` holds the means of each data set. Agrees if every contrast's interval lies inside (all must pass: no
    correction), differs if one lies outside (Holm), else open. Contrasts are paired within data sets. "a is larger
    than b": a - b in (0, inf). "Falls": steps in (-margin, inf), first - last in (margin, inf). "About 1/3": mean in
    (1/3 - margin, 1/3 + margin). "Independent": all pairs in (-margin, margin).
    """
    scores = by_dataset @ contrasts.T
    n, mean = len(scores), scores.mean(axis=0)
    error = np.maximum(scores.std(axis=0, ddof=1) / np.sqrt(n), 1e-9)
    inside = stats.t.sf(np.minimum(mean - low, high - mean) / error, n - 1) <= level
    outside = holm(stats.t.sf(np.maximum(low - mean, mean - high) / error, n - 1), level)
    return ("agrees" if inside.all() else "differs" if outside.any() else "open"), mean


def decide_sentence(
    effects: np.ndarray, low: np.ndarray, high: np.ndarray, *, alpha: float = 0.05, schedule: tuple[int, ...] = SCHEDULE
) -> tuple[str, int, np.ndarray] | None:
    """Judge `effects[data set, contrast]` at each look; return the first decisive verdict, its data sets, the means."""
    level, decision = nominal_level(schedule, alpha), None
    for n in (n for n in schedule if n <= len(effects)):
        verdict, mean = judge_sentence(effects[:n], np.eye(effects.shape[1]), low, high, level)
        decision = verdict, n, mean
        if verdict != "open":
            break
    return decision
