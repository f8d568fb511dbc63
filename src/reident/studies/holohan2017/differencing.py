"""What the noise inside classes is worth against someone who knows all but one record: beyond the paper."""

from __future__ import annotations

from typing import Any

import numpy as np

from reident import differencing_attack
from reident.base import FloatArray, IntArray
from reident.studies.holohan2017.trials import PUBLIC_BOUNDS_CM, data_of, released
from reident.tables.k_epsilon import class_noise_scales, simulate_class_noise

__all__ = ["differencing_trial"]

#: The intruder knows that the tallest of a class is tall: between these all heights are equally likely to him.
_TALL_CM = (170.0, PUBLIC_BOUNDS_CM[1])


def differencing_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Release Adult's heights class by class in one of two modes, and attack the tallest of every class.

    Beside it a release of the count and mean of every class that is differentially private for the whole record, given
    cells that were fixed beforehand, with the budget at which its means are as exact: `matched_epsilon`.
    """
    values, classes = released("adult", params["method"], params["k"], data_of(params))
    low, high = PUBLIC_BOUNDS_CM
    values = np.clip(values, low, high)
    epsilon = params["epsilon"]
    width = high - low if params["mode"] == "public bounds" else None
    noisy = simulate_class_noise(
        values, classes, class_noise_scales(values, classes, epsilon=epsilon, width=width), rng=rng
    )
    sizes = np.bincount(classes)
    # Values come class by class, ascending.
    tallest = (np.cumsum(sizes) - 1)[sizes > 1]
    bounds = (min(_TALL_CM[0], float(values[tallest].min())), _TALL_CM[1])
    attack = differencing_attack(values, noisy, classes, tallest, epsilon=epsilon, bounds=bounds, width=width)
    means = np.bincount(classes, weights=values) / sizes
    error = float(np.abs(np.bincount(classes, weights=noisy) / sizes - means).mean())
    matched = _matched_epsilon(means, sizes, error)
    private = _private_means(values, classes, matched, rng)
    found = attack.table
    return {
        "n_classes": sizes.size,
        "median_size": float(np.median(sizes)),
        "evidence": float(found["evidence"].replace(np.inf, np.nan).median()),
        "broken_share": attack.broken,
        "interval_cm": float((found["high"] - found["low"]).median()),
        "prior_interval_cm": 0.9 * (bounds[1] - bounds[0]),
        "covered_share": float(found["value"].between(found["low"], found["high"]).mean()),
        "error_of_means_cm": error,
        "matched_epsilon": matched,
        "matched_error_of_means_cm": float(np.abs(private - means).mean()),
    }


def _matched_epsilon(means: FloatArray, sizes: IntArray, error: float) -> float:
    """Return the budget at which noisy sums over noisy counts miss the means by as much, to first order."""
    low, high = PUBLIC_BOUNDS_CM
    at_one = (high - low + 2 * np.abs(means - (low + high) / 2)) / sizes
    return float(at_one.mean() / error) if error > 0 else np.inf


def _private_means(values: FloatArray, classes: IntArray, epsilon: float, rng: np.random.Generator) -> FloatArray:
    """Return means of classes from noisy counts and noisy sums about the middle of the bounds, half of epsilon each."""
    low, high = PUBLIC_BOUNDS_CM
    middle = (low + high) / 2
    counts = np.bincount(classes).astype(np.float64)
    sums = np.bincount(classes, weights=values - middle)
    noisy_counts = np.maximum(counts + rng.laplace(scale=2 / epsilon, size=counts.size), 1)
    noisy_sums = sums + rng.laplace(scale=(high - low) / epsilon, size=counts.size)
    return np.asarray(np.clip(middle + noisy_sums / noisy_counts, low, high))
