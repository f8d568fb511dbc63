"""A statistical test of the privacy loss itself, for mechanisms with seeded noise."""

from __future__ import annotations

import math
import warnings

import numpy as np
from scipy import stats

from reident import PrivacyWarning


def seeded(function, *args, **kws):
    """Call with the warning about seeded noise silenced."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*noise that can be repeated", category=PrivacyWarning)
        return function(*args, **kws)


def loss_bounds(left, right, *, level):
    """Return the lower confidence bound of the largest log-ratio over events, at `level` for all events together.

    Events are every outcome, every {<= outcome} and every {>= outcome}, in both directions; Clopper-Pearson bounds,
    Bonferroni over the events.
    """
    left, right = np.asarray(left), np.asarray(right)
    outcomes = np.unique(np.concatenate([left, right]))
    one, other = (
        np.searchsorted(np.sort(sample), np.append(outcomes, np.inf), side="left").astype(float)
        for sample in (left, right)
    )
    n, m = left.size, right.size
    pairs = [(np.diff(one), np.diff(other)), (one[1:], other[1:]), (n - one[:-1], m - other[:-1])]
    pairs += [(b, a) for a, b in pairs]
    share = level / (2 * len(pairs) * outcomes.size)
    worst = -math.inf
    for place, (hits, misses) in enumerate(pairs):
        tries, others = (n, m) if place < 3 else (m, n)
        low = np.where(hits > 0, stats.beta.ppf(share, np.maximum(hits, 1e-9), tries - hits + 1), 0)
        high = np.where(misses < others, stats.beta.isf(share, misses + 1, np.maximum(others - misses, 1e-9)), 1)
        with np.errstate(divide="ignore"):
            worst = max(worst, float(np.log(low / high).max()))
    return worst


def assert_loss_at_most(left, right, epsilon, *, level=1e-4):
    """Fail if the samples show, at `level`, a privacy loss above `epsilon`."""
    shown = loss_bounds(left, right, level=level)
    assert shown <= epsilon, f"a loss of at least {shown:.3f} is shown, {epsilon} was promised"
