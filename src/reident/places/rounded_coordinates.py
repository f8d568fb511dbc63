"""Attack. The hidden coordinates of a Lipschitz embedding whose distances were rounded or carry small noise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsmr
from scipy.special import bdtrc

from reident._types import BoolArray, FloatArray, IntArray
from reident.kernels.places import rounded as kernel

__all__ = ["Rounded", "recover_rounded"]

# Share of the distances that the search does not see. A column stays only if these speak for it at this level: of its
# own distances, more lie within a step than chance, counted beside it in so many windows, would put there.
_HELD_OUT, _LEVEL, _WINDOWS = 0.1, 1e-6, 4
# Pairs of rows tried for each column, the best of them that are followed, and columns in a row that may fail.
_PAIRS, _FOLLOWED, _FAILURES = 6000, 8, 5
# Rounds in which one column settles, and bounds that must coincide: with few values known, and later.
_ROUNDS, _FIRST_BOUNDS, _FEW = 12, 3, 30
# Rounds of the fit of all columns at once, and fitted distances without which a value is not believed; rounds in which
# values are added to fitted columns, and how narrow, in steps, bounds are then taken to coincide.
_FITS, _FEWEST_FITTED, _FILLS, _NARROW = 8, 2, 2, 0.4


class Rounded(NamedTuple):
    """Columns (d, n) up to shift and sign, what their values are good to, km, and how many columns were refused."""

    values: FloatArray
    n_fitted: int
    n_refused: int


def recover_rounded(distances: FloatArray, step: float) -> Rounded:
    """Recover coordinates column by column, each from the entries that those before leave over, then fit all at once.

    The draws are fixed: the same matrix gives the same values.
    """
    n = len(distances)
    rng = np.random.default_rng(0)
    pairs = np.column_stack(np.triu_indices(n, 1))
    pairs = pairs[np.isfinite(distances[pairs[:, 0], pairs[:, 1]])]
    hidden = pairs[rng.random(len(pairs)) < _HELD_OUT]
    seen = distances.copy()
    seen[hidden[:, 0], hidden[:, 1]] = seen[hidden[:, 1], hidden[:, 0]] = np.nan

    columns: list[FloatArray] = []
    open_ = ~np.isnan(seen)
    failures = n_refused = 0
    while failures < _FAILURES and n >= _FEW:
        found = _next_column(seen, open_, pairs, step, rng)
        if found is None:
            failures += 1
            continue
        f, explained = found
        if _is_refused(distances, f, hidden, step):
            failures += 1
            n_refused += 1
            continue
        failures = 0
        open_ &= ~explained
        columns = _joined(columns, f, step)
    values = np.array(columns).reshape(-1, n)
    values, _ = _fitted(distances, values, pairs, step)
    for _ in range(_FILLS):
        values, n_fitted = _fitted(distances, _filled(distances, values, step), pairs, step)
    keep = np.isfinite(values).sum(axis=1) >= 8
    return Rounded(values[keep], n_fitted, n_refused)


def _next_column(
    seen: FloatArray, open_: BoolArray, pairs: IntArray, step: float, rng: np.random.Generator
) -> tuple[FloatArray, BoolArray] | None:
    """Return the column that explains most of the open entries, and which it explains; None if there is none."""
    tried = pairs[rng.choice(len(pairs), min(_PAIRS, len(pairs)), replace=False)]
    heights = np.zeros(len(tried))
    scores = kernel.crowded_windows(seen, open_, tried, 2 * step, heights)
    best, most = None, len(seen)
    for which in np.argsort(-scores, kind="stable")[:_FOLLOWED]:
        f = _column(seen, open_, tried[which], heights[which], step)
        if f is None:
            continue
        explained = open_ & (np.abs(np.abs(f[:, None] - f) - seen) <= step)
        n_new = int(explained.sum()) // 2
        if n_new > most:
            best, most = (f, explained), n_new
    return best


def _column(seen: FloatArray, open_: BoolArray, pair: IntArray, height: float, step: float) -> FloatArray | None:
    """Return the coordinate that begins with the equal differences of two rows; None if it does not hold."""
    a, b = pair
    f = np.full(len(seen), np.nan)
    with np.errstate(invalid="ignore"):
        below = open_[a] & open_[b] & (np.abs(seen[a] - seen[b] - height) <= 1.01 * step)
    f[below] = -(seen[a, below] + seen[b, below] + height) / 2
    f[a], f[b] = 0.0, -height
    kernel.drop_violations(seen, f, 1.6 * step)
    needed = 4 if step <= 0.2 else 6
    new, lower, upper = np.empty((3, len(seen)))
    for _ in range(_ROUNDS):
        n_known = np.isfinite(f).sum()
        kernel.from_bounds(seen, f, step, needed if n_known > _FEW else _FIRST_BOUNDS, new, lower, upper)
        new[lower - upper > 2.5 * step] = np.nan
        kernel.drop_violations(seen, new, 1.6 * step)
        known = np.isfinite(new)
        if known.sum() < 4:
            return None
        settled = (known == np.isfinite(f)).all() and np.abs(new[known] - f[known]).max() < 0.05 * step
        f = new.copy()
        if settled:
            break
    return f if np.isfinite(f).sum() >= 8 else None


def _is_refused(distances: FloatArray, f: FloatArray, hidden: IntArray, step: float) -> bool:
    """Tell whether the entries that a column has not seen may lie at its differences by chance."""
    at, beyond = kernel.count_near(distances, f, hidden, step, _WINDOWS)
    share = 1 / (_WINDOWS + 1)
    return not (at and bdtrc(at - 1, at + beyond, share) < _LEVEL)


def _joined(columns: list[FloatArray], new: FloatArray, step: float) -> list[FloatArray]:
    """Return the columns with a new one, laid on the one of which it is a part."""
    for i, f in enumerate(columns):
        both = np.isfinite(f) & np.isfinite(new)
        if both.sum() < 8:
            continue
        for sign in (1.0, -1.0):
            shift = np.median(f[both] - sign * new[both])
            if (np.abs(f - sign * new - shift)[both] < 2 * step).mean() > 0.9 and np.ptp(f[both]) > 20 * step:
                columns[i] = np.where(np.isfinite(f), f, sign * new + shift)
                return columns
    return [*columns, new]


def _fitted(distances: FloatArray, values: FloatArray, pairs: IntArray, step: float) -> tuple[FloatArray, int]:
    """Return all columns fitted at once to the distances that they nearly give, which averages the rounding away."""
    d, n = values.shape
    if d == 0:
        return values, 0
    values = values.copy()
    which, rest = np.empty(len(pairs), dtype=np.int64), np.empty(len(pairs))
    for _ in range(_FITS):
        kernel.active_columns(distances, values, pairs, which, rest)
        used = np.flatnonzero(np.abs(rest) < 1.5 * step)
        x, y = pairs[used].T
        column = which[used]
        sign = np.sign(values[column, x] - values[column, y])
        rows = np.arange(used.size)
        matrix = sparse.csr_array(
            (np.concatenate([sign, -sign]), (np.tile(rows, 2), np.concatenate([column * n + x, column * n + y]))),
            shape=(used.size, d * n),
        )
        move = 0.7 * lsmr(matrix, rest[used], damp=0.05, maxiter=30)[0].reshape(d, n)
        values += move
        if np.abs(move).max() < 1e-3 * step:
            break
    counts = np.bincount(np.concatenate([column * n + x, column * n + y]), minlength=d * n).reshape(d, n)
    return np.where(counts >= _FEWEST_FITTED, values, np.nan), used.size


def _filled(distances: FloatArray, values: FloatArray, step: float) -> FloatArray:
    """Return columns with values added where a few fitted bounds coincide, or leave little room between them.

    Fitted values are closer than one by one, so that fewer bounds do than before.
    """
    values = values.copy()
    new, lower, upper = np.empty((3, len(distances)))
    for f in values:
        kernel.from_bounds(distances, f, _NARROW * step, _FIRST_BOUNDS, new, lower, upper)
        new[lower - upper > 1.5 * step] = np.nan
        between = np.isnan(new) & (np.abs(upper - lower) < _NARROW * step)
        new[between] = (lower + upper)[between] / 2
        f[:] = np.where(np.isfinite(f), f, new)
        kernel.drop_violations(distances, f, 1.2 * step)
    return values
