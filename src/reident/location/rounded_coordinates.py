"""Attack. Recover the hidden coordinates of a Lipschitz embedding with rounded distances or small noise on them."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import lsmr
from scipy.special import bdtrc

from reident.base import BoolArray, FloatArray, IntArray
from reident.kernels.location import rounded as kernel

# Share of the distances that the search does not see. A column stays only if these speak for it at this level: of its
# own distances, more lie within a step than chance, counted beside it in so many windows, would put there; with fine
# steps beside it up to so many km.
_HELD_OUT, _LEVEL, _WINDOWS, _WINDOWS_KM = 0.1, 1e-6, 4, 0.5
# Pairs of rows tried for each column, the best of them that are followed, and columns in a row that may fail.
_PAIRS, _FOLLOWED, _FAILURES = 6000, 8, 5
# Rounds in which one column settles, and bounds that must coincide while few values are known.
_ROUNDS, _FIRST_BOUNDS, _FEW = 12, 3, 30
# Later, bounds that must coincide, by the step, km, times the number of records: the finer the step and the fewer the
# records, the fewer coincide by chance. Up to the first, steps are fine; small steps, km, need no more than so many.
_FINE_KM = 25.0
_BOUNDS, _SMALL_KM, _SMALL_BOUNDS = {_FINE_KM: 2, 100.0: 4, 200.0: 5, np.inf: 6}, 0.2, 4
# Rounds of the fit of all columns at once, and fitted distances without which a value is not believed; rounds in which
# values are added to fitted columns, and how narrow, in steps, bounds are then taken to coincide.
_FITS, _FEWEST_FITTED, _FILLS, _NARROW = 8, 2, 2, 0.4


def is_fine(step: float, n: int) -> bool:
    """Tell whether bounds of a value in a release of n records hardly coincide to a step by chance."""
    return step * n <= _FINE_KM


def _bounds(step: float, n: int) -> int:
    """Return how many bounds of a value must coincide in a release of n records."""
    bounds = next(bounds for largest, bounds in _BOUNDS.items() if step * n <= largest)
    return min(bounds, _SMALL_BOUNDS) if step <= _SMALL_KM else bounds


def recover_rounded(distances: FloatArray, step: float) -> tuple[FloatArray, int, int]:
    """Recover coordinates column by column from the entries not yet explained, then fit all at once.

    The draws are fixed: the same matrix gives the same values. Returns columns (d, n) up to shift and sign, the number
    of distances fitted, and the number of columns refused.
    """
    n = len(distances)
    search = _Search(distances, step)
    columns: list[FloatArray] = []
    failures = n_refused = 0
    while failures < _FAILURES and n >= _FEW:
        found = search.next_column()
        if found is None or search.refuses(found[0]):
            failures += 1
            n_refused += found is not None
            continue
        failures = 0
        f, explained = found
        search.open &= ~explained
        columns = _joined(columns, f, step)
    values = np.array(columns).reshape(-1, n)
    values, _ = _fitted(distances, values, search.pairs, step)
    for _ in range(_FILLS):
        filled = _filled(distances, values, step, min(search.bounds, _FIRST_BOUNDS))
        values, n_fitted = _fitted(distances, filled, search.pairs, step)
    keep = np.isfinite(values).sum(axis=1) >= 8
    return values[keep], n_fitted, n_refused


class _Search:
    """Search for columns in the distances that earlier columns do not explain."""

    def __init__(self, distances: FloatArray, step: float) -> None:
        n = len(distances)
        self.distances, self.step = distances, step
        self.rng = np.random.default_rng(0)
        pairs = np.column_stack(np.triu_indices(n, 1))
        self.pairs = pairs[np.isfinite(distances[pairs[:, 0], pairs[:, 1]])]
        self.hidden = self.pairs[self.rng.random(len(self.pairs)) < _HELD_OUT]
        self.visible = distances.copy()
        for x, y in (self.hidden.T, self.hidden.T[::-1]):
            self.visible[x, y] = np.nan
        self.open = ~np.isnan(self.visible)
        self.fine = is_fine(step, n)
        self.bounds = _bounds(step, n)
        # Columns that explain too little are not followed a second time.
        self.fruitless: list[FloatArray] = []

    def next_column(self) -> tuple[FloatArray, BoolArray] | None:
        """Return the column that explains most of the open entries, and which it explains; None if there is none."""
        tried = self.pairs[self.rng.choice(len(self.pairs), min(_PAIRS, len(self.pairs)), replace=False)]
        heights = np.zeros((1, len(tried)))
        (scores,) = kernel.crowded_windows(self.visible, self.open, tried, np.array([2 * self.step]), heights)
        threshold = _FEW if self.fine else len(self.visible)
        best, largest, followed = None, threshold, 0
        columns: list[FloatArray] = []
        for which in np.argsort(-scores, kind="stable"):
            if followed == _FOLLOWED or (self.fine and scores[which] == 0):
                break
            pair, height = tried[which], heights[0, which]
            if self.fine and self._begins(self.fruitless, pair, height):
                continue
            followed += 1
            if self.fine and self._begins(columns, pair, height):
                continue
            f = self._column(pair, height)
            if f is None:
                f = np.full(len(self.visible), np.nan)
                f[pair] = 0.0, -height
            explained = self._explained(f)
            n_new = int(explained.sum()) // 2
            if n_new > largest:
                best, largest = (f, explained), n_new
            (columns if n_new > threshold else self.fruitless).append(f)
        return best

    def _explained(self, f: FloatArray) -> BoolArray:
        """Return the open entries that a column explains."""
        return self.open & (np.abs(np.abs(f[:, None] - f) - self.visible) <= self.step)

    def _begins(self, columns: list[FloatArray], pair: IntArray, height: float) -> bool:
        """Tell whether a window of two rows would begin one of these columns."""
        a, b = pair
        return any(abs(abs(f[a] - f[b]) - abs(height)) <= 2 * self.step for f in columns)

    def _column(self, pair: IntArray, height: float) -> FloatArray | None:
        """Return the coordinate that begins with the equal differences of two rows; None if it does not hold."""
        a, b = pair
        visible, step = self.visible, self.step
        f = np.full(len(visible), np.nan)
        with np.errstate(invalid="ignore"):
            below = self.open[a] & self.open[b] & (np.abs(visible[a] - visible[b] - height) <= 1.01 * step)
        f[below] = -(visible[a, below] + visible[b, below] + height) / 2
        f[a], f[b] = 0.0, -height
        drop_violations(visible, f, 1.6 * step)
        for _ in range(_ROUNDS):
            n_known = np.isfinite(f).sum()
            needed = self.bounds if n_known > _FEW else min(self.bounds, _FIRST_BOUNDS)
            new, lower, upper = from_bounds(visible, f, step, needed)
            new[lower - upper > 2.5 * step] = np.nan
            drop_violations(visible, new, 1.6 * step)
            known = np.isfinite(new)
            if known.sum() < 4:
                return None
            settled = (known == np.isfinite(f)).all() and np.abs(new[known] - f[known]).max() < 0.05 * step
            f = new
            if settled:
                break
        if self.fine:
            self._keep_one_part(f, pair)
        return f if np.isfinite(f).sum() >= 8 else None

    def _keep_one_part(self, f: FloatArray, pair: IntArray) -> None:
        """Drop, in place, values that open entries connect to the rest only through the first two records, or never.

        Two sets may differ by the same number at these two; an entry that is not open belongs to an earlier column.
        """
        tied = self._explained(f)
        tied[pair], tied[:, pair] = False, False
        _, part = connected_components(sparse.csr_array(tied), directed=False)
        apart = part != np.bincount(part).argmax()
        apart[pair] = False
        f[apart] = np.nan

    def refuses(self, f: FloatArray) -> bool:
        """Tell whether the entries that a column has not seen may lie at its differences by chance."""
        n_windows = max(_WINDOWS, int(_WINDOWS_KM / self.step)) if self.fine else _WINDOWS
        x, y = self.hidden.T
        rest = self.distances[x, y] - np.abs(f[x] - f[y])
        at = np.count_nonzero(np.abs(rest) <= self.step)
        beyond = np.count_nonzero((rest > self.step) & (rest <= (1 + 2 * n_windows) * self.step))
        return not (at and bdtrc(at - 1, at + beyond, 1 / (n_windows + 1)) < _LEVEL)


def drop_violations(distances: FloatArray, f: FloatArray, slack: float) -> None:
    """Forget values of f (n,), in place, until none lie farther apart than their distance allows, the worst first."""
    is_violated = np.abs(f[:, None] - f) > distances + slack
    counts = is_violated.sum(axis=1)
    while counts.any():
        worst = counts.argmax()
        counts -= is_violated[worst]
        counts[worst], is_violated[:, worst], f[worst] = 0, False, np.nan


def from_bounds(
    distances: FloatArray, f: FloatArray, step: float, needed: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the values that `needed` coinciding bounds from the values f give, and the lower and upper bounds."""
    known = np.flatnonzero(np.isfinite(f))
    reach = distances[known]
    reach[np.arange(known.size), known] = np.nan
    (lower, n_low, sum_low), (upper, n_high, sum_high) = (
        _tightest(sign * f[known, None] + reach, 2 * step) for sign in (-1, 1)
    )
    mean_low, mean_high = -sum_low / np.maximum(n_low, 1), sum_high / np.maximum(n_high, 1)
    is_low, is_high = n_low >= needed, n_high >= needed
    is_both = is_low & is_high & (np.abs(mean_high - mean_low) < 4 * step)
    mean = (sum_high - sum_low) / np.maximum(n_high + n_low, 1)
    is_high &= (n_high >= n_low) | ~is_low
    return np.select([is_both, is_high, is_low], [mean, mean_high, mean_low], np.nan), -lower, upper


def _tightest(bounds: FloatArray, width: float) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return the smallest of the bounds in each column, and number and sum of those at most a width above it."""
    smallest = np.fmin.reduce(bounds, initial=np.inf)
    is_near = bounds <= smallest + width
    return smallest, is_near.sum(axis=0), np.where(is_near, bounds, 0.0).sum(axis=0)


def _active_columns(distances: FloatArray, values: FloatArray, entries: IntArray) -> tuple[IntArray, FloatArray]:
    """Return, for entries (m, 2), the column of values (d, n) with the largest difference, and the residual."""
    x, y = entries.T
    which, largest = np.full(len(entries), -1), np.full(len(entries), -1.0)
    for column, f in enumerate(values):
        apart = np.abs(f[x] - f[y])
        larger = apart > largest
        which[larger], largest[larger] = column, apart[larger]
    return which, np.where(which >= 0, distances[x, y] - largest, np.nan)


def _joined(columns: list[FloatArray], new: FloatArray, step: float) -> list[FloatArray]:
    """Return the columns with a new one, joined with the one of which it is a part."""
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
    for _ in range(_FITS):
        which, rest = _active_columns(distances, values, pairs)
        used = np.flatnonzero(np.abs(rest) < 1.5 * step)
        x, y = pairs[used].T
        column = which[used]
        sign = np.sign(values[column, x] - values[column, y])
        rows, unknowns = np.tile(np.arange(used.size), 2), np.concatenate([column * n + x, column * n + y])
        matrix = sparse.csr_array((np.concatenate([sign, -sign]), (rows, unknowns)), (used.size, d * n))
        move = 0.7 * lsmr(matrix, rest[used], damp=0.05, maxiter=30)[0].reshape(d, n)
        values += move
        if np.abs(move).max() < 1e-3 * step:
            break
    counts = np.bincount(unknowns, minlength=d * n).reshape(d, n)
    return np.where(counts >= _FEWEST_FITTED, values, np.nan), used.size


def _filled(distances: FloatArray, values: FloatArray, step: float, bounds: int) -> FloatArray:
    """Return columns with values added where a few fitted bounds coincide, or leave little room between them.

    Fitted values are closer than one by one, so that fewer bounds do than before.
    """
    values = values.copy()
    for f in values:
        new, lower, upper = from_bounds(distances, f, _NARROW * step, bounds)
        new[lower - upper > 1.5 * step] = np.nan
        between = np.isnan(new) & (np.abs(upper - lower) < _NARROW * step)
        new[between] = (lower + upper)[between] / 2
        f[:] = np.where(np.isfinite(f), f, new)
        drop_violations(distances, f, 1.2 * step)
    return values
