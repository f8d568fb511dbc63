"""Decide a published table of simulated means, or a sentence about them, one batch of data sets after the other.

A published table is one claim. The paper and we average over data sets and over repetitions on each data set:

    value[d, r, c] = mean[c] + data_set_effect[d, c] + repetition_effect[d, r, c]

The cells of one data set share its effects; repetition effects are independent. delta[c] is our expectation minus the
paper's expectation: the paper's own error and ours stand between it and the observed deviation. Verdicts:

    agrees   "RMS(delta / margin) >= 1" is rejected, and "|delta[c]| >= 3 margin[c]" is rejected in every cell
    differs  "RMS(delta / margin) <= 1" is rejected, or "|delta[c]| <= 3 margin[c]" is rejected in some cell (Holm)
    open     neither; undecidable once our own error is negligible beside the paper's: more trials cannot help

Each verdict is wrong with probability `ALPHA` at most over all looks of the schedule together.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import stats
from scipy.optimize import nnls

CELL_FACTOR = 3.0  # one cell may deviate by three margins, the table as a whole (root mean square) by one
CELL_LEVEL = 0.7  # of tables that agree, 95 % must lose it when one published cell is moved by three margins
ALPHA = 0.05  # probability of a wrong verdict over all looks together
SCHEDULE = (5, 8, 12, 18)  # data sets at each look, with ten repetitions each
NEGLIGIBLE = 0.1  # our variance over the paper's: more trials narrow no interval by more than a twentieth
_PRIOR_DF = 40  # weight of the table in a cell's variance, in data sets
_DRAWS = 4_000


@dataclass(frozen=True)
class PublishedTable:
    """State a published table of means, the margin of each cell, and the design behind the numbers."""

    published: np.ndarray  # means, one a cell
    margin: np.ndarray  # by cell: the largest deviation that does not matter
    n_datasets: float = 1  # data sets behind the published numbers; infinity judges these as they stand
    repetitions: int = 100  # on each of these data sets
    unit: float = 1e-4  # one unit of the last printed digit
    schedule: tuple[int, ...] = SCHEDULE  # data sets at each look


@dataclass(frozen=True)
class Components:
    """Hold means and variance components by cell, none of which depends on the published values."""

    n: np.ndarray  # data sets
    repetitions: int
    mean: np.ndarray
    within: np.ndarray  # variance between repetitions on one data set
    between: np.ndarray  # variance between data sets
    cov: np.ndarray  # covariance of the mean of one data set, between cells


@dataclass(frozen=True)
class Verdict:
    """Report a table's verdict at one look."""

    verdict: str  # agrees, differs, open or undecidable
    is_supported: np.ndarray  # by cell: the published value is precise enough to be judged
    margin: np.ndarray
    rms: tuple[float, float, float]  # in margins: estimate, lower and upper bound
    is_nonzero: np.ndarray  # by cell: the interval leaves out zero (Holm), a real deviation of whatever size


def components(values: np.ndarray) -> Components:
    """Estimate variance components from `values[data set, repetition, cell]`, NaN where a cell was not run.

    With few data sets a cell's variance between data sets is imprecise, but over a table it follows the variance
    within. A cell's variance of data-set means is its own estimate (weight n - 1) averaged with the one that the table
    gives (weight `_PRIOR_DF`).
    """
    repetitions = values.shape[1]
    by_dataset = values.mean(axis=1)
    is_run = np.isfinite(by_dataset)
    n = is_run.sum(axis=0)
    mean = np.nanmean(by_dataset, axis=0)
    centred = np.where(is_run, by_dataset - mean, 0)
    cov = centred.T @ centred / (np.minimum.outer(n, n) - 1)
    variances = np.diag(cov)
    if repetitions == 1:  # no split: each draw counts as a data set, the paper's, too
        return Components(n, 1, mean, np.zeros(n.size), variances, cov)
    raw = np.where(is_run, values.var(axis=1, ddof=1), 0).sum(axis=0) / n
    is_random = raw > 1e-12
    ratio = np.zeros(n.size)
    if is_random.any():  # fit "between / within = a / sqrt(within) + b" over the table, a and b not negative
        x, y = raw[is_random], variances[is_random] / raw[is_random] - 1 / repetitions
        weight = np.minimum(x / np.median(x) * 20, 1)  # cells that hardly vary count little
        (a, b), _ = nnls(np.stack([x**-0.5, np.ones(x.size)], axis=1) * weight[:, None], y * weight)
        ratio[is_random] = a * x**-0.5 + b
    inflation = 1 + repetitions * ratio
    within = ((n - 1) * variances * repetitions / inflation + n * (repetitions - 1) * raw) / (n * repetitions - 1)
    within = np.where(is_random, within, 0)
    pooled = np.where(is_random, within * inflation / repetitions, variances)
    variance = ((n - 1) * variances + _PRIOR_DF * pooled) / (n - 1 + _PRIOR_DF)
    return Components(n, repetitions, mean, within, np.maximum(variance - within / repetitions, 0), cov)


def published_error(parts: Components, table: PublishedTable) -> np.ndarray:
    """Return the standard error of each published value: the paper's design, our variance components, rounding."""
    per_dataset = parts.between + parts.within / table.repetitions
    return np.sqrt(per_dataset / table.n_datasets + table.unit**2 / 12)


def support(parts: Components, table: PublishedTable) -> tuple[np.ndarray, np.ndarray]:
    """Return the margins that the paper can support, and which cells are judged. Uses variances, never deviations.

    Not judged: a standard error above the margin. Above half the margin, two standard errors are the margin.
    """
    error = published_error(parts, table)
    return np.maximum(table.margin, 2 * error), error <= table.margin


def datasets_needed(se_published: float, margin: float, n_datasets: int = 1) -> int:
    """Return the data sets that the paper needed for a TOST within `margin` of 80 % power at 5 %, were both equal."""
    z = stats.norm.isf(0.05) + stats.norm.ppf(0.9)
    return int(np.ceil(n_datasets * (z * se_published / margin) ** 2))


@lru_cache(maxsize=64)
def nominal_level(schedule: tuple[int, ...], paper_share: float = 0.0, draws: int = 40_000) -> float:
    """Return the level of a single look, the same at all looks (Pocock), that keeps `ALPHA` over the schedule.

    `paper_share` is the paper's variance over our variance of one data set's mean. Its draw is the same at all looks:
    the larger its share, the more alike the looks, and the higher the level. Simulated with t tests, because levels for
    known variances are too high where there are few data sets.
    """
    rng = np.random.default_rng(2015)
    ours = rng.standard_normal((draws, schedule[-1]))
    published = np.sqrt(paper_share) * rng.standard_normal(draws)
    smallest = np.ones(draws)
    for n in schedule:
        error = ours[:, :n].std(axis=1, ddof=1) * np.sqrt(1 / n + paper_share)
        smallest = np.minimum(smallest, stats.t.sf((ours[:, :n].mean(axis=1) - published) / error, n - 1))
    return float(np.quantile(smallest, ALPHA))


@lru_cache(maxsize=64)
def _noise(n_cells: int, df: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([n_cells, df])
    student = rng.standard_normal(_DRAWS) * np.sqrt(df / rng.chisquare(df, _DRAWS))
    return student, rng.standard_normal((_DRAWS, n_cells)) ** 2


def rms_interval(
    x: np.ndarray, error: np.ndarray, total: float, along: float, df: int, level: float
) -> tuple[float, float, float]:
    """Return the RMS of the true deviations: estimate, lower bound (level / 2) and upper bound (level), one-sided.

    `x` are the observed deviations, `error` their standard errors, in margins; `total` is the mean of their variances,
    without bias. `along` is the standard error of the deviations' component along a direction in which errors that
    the cells share add up. The bounds invert the distribution of the observed RMS under deviations so directed.
    """
    observed = float((x**2).mean())
    first = max(along**2, float((x**2 * error**2).sum() / max((x**2).sum(), 1e-300))) / x.size
    remainder = max(total - first, 0)
    student, squares = _noise(x.size, df)
    rest = squares @ error**2 * (remainder / (error**2).sum())
    student = student * np.sqrt(first)

    def bound(level: float) -> float:
        low, high = 0.0, np.sqrt(observed) + 20 * np.sqrt(total + first) + 1e-9
        for _ in range(24):
            middle = (low + high) / 2
            is_likely = ((middle + student) ** 2 + rest <= observed).mean() > level
            low, high = (middle, high) if is_likely else (low, middle)
        return high

    return float(np.sqrt(max(observed - total, 0))), bound(1 - level / 2), bound(level)


def holm(p_values: np.ndarray, alpha: float) -> np.ndarray:
    """Return which hypotheses Holm's procedure rejects, family-wise at `alpha`."""
    order = np.argsort(p_values)
    is_small = p_values[order] <= alpha / np.arange(p_values.size, 0, -1)
    is_rejected = np.zeros(p_values.size, dtype=bool)
    is_rejected[order[np.cumprod(is_small).astype(bool)]] = True
    return is_rejected


def verdict_of(parts: Components, table: PublishedTable) -> Verdict:
    """Judge one table at one look."""
    margins, is_supported = support(parts, table)
    cells, is_nonzero = np.flatnonzero(is_supported), np.zeros(is_supported.size, dtype=bool)
    if cells.size < max(1, is_supported.size / 2):
        return Verdict("undecidable", is_supported, margins, (np.nan, 0, np.inf), is_nonzero)
    margin, n, within = margins[cells], parts.n[cells], parts.within[cells]
    x = (parts.mean - table.published)[cells] / margin
    published_se = published_error(parts, table)[cells] / margin
    ours = np.sqrt((parts.between[cells] + within / parts.repetitions) / n) / margin
    error, df = np.hypot(ours, published_se), n - 1 + _PRIOR_DF
    share = np.clip(np.median(published_se**2 / np.maximum(ours**2 * n, 1e-12)), 0, 1)
    level = nominal_level(table.schedule, float(np.round(share, 1)))

    cov = parts.cov[np.ix_(cells, cells)]
    fewer = within * (1 / table.repetitions - 1 / parts.repetitions) if parts.repetitions > 1 else np.zeros(n.size)
    directions = np.stack([x / max(np.sqrt((x**2).sum()), 1e-300), np.full(x.size, x.size**-0.5)]) / margin
    shared = np.maximum(((directions @ cov) * directions).sum(axis=1) + directions**2 @ fewer, 0) / table.n_datasets
    along = np.sqrt((((directions @ (cov / np.maximum.outer(n, n))) * directions).sum(axis=1) + shared).max())
    total = (np.diag(cov) / n / margin**2).mean()
    total += max(((np.diag(cov) + fewer) / margin**2).mean(), 0) / table.n_datasets
    rms = rms_interval(x, error, total, along, int(n.min()) - 1, level)
    is_within = stats.t.sf((CELL_FACTOR - np.abs(x)) / error, df) <= CELL_LEVEL * level
    is_beyond = holm(stats.t.sf((np.abs(x) - CELL_FACTOR) / error, df), level / 2)
    is_nonzero[cells] = holm(2 * stats.t.sf(np.abs(x) / error, df), level)
    agrees, differs = rms[2] < 1 and is_within.all(), rms[1] > 1 or is_beyond.any()
    last = "undecidable" if (ours**2).mean() < NEGLIGIBLE * (published_se**2).mean() else "open"
    verdict = "agrees" if agrees else "differs" if differs else last
    return Verdict(verdict, is_supported, margins, rms, is_nonzero)


def decide_table(values: np.ndarray, table: PublishedTable) -> tuple[Verdict, int] | None:
    """Judge `values[data set, repetition, cell]` at each look; return the first decisive verdict and its data sets.

    Without one: the last look; before the first look None. Later data sets do not change a verdict.
    """
    decision = None
    for n in (n for n in table.schedule if n <= len(values)):
        decision = verdict_of(components(values[:n]), table), n
        if decision[0].verdict != "open":
            break
    return decision


def decide_sentence(
    effects: np.ndarray, low: np.ndarray, high: np.ndarray, schedule: tuple[int, ...] = SCHEDULE
) -> tuple[str, int] | None:
    """Judge `effects[data set, contrast]` at each look; return the first decisive verdict and its data sets.

    A sentence says that each contrast lies between `low` and `high`. It agrees if the interval of every contrast lies
    inside (all must pass: no correction), differs if one lies outside (Holm), else it is open. "a is larger than b":
    a - b in (0, inf). "Falls": steps in (-margin, inf), first - last in (margin, inf). "About 1/3": mean in (1/3 -
    margin, 1/3 + margin). "Independent": all pairs in (-margin, margin).
    """
    level, decision = nominal_level(schedule), None
    for n in (n for n in schedule if n <= len(effects)):
        mean = effects[:n].mean(axis=0)
        error = np.maximum(effects[:n].std(axis=0, ddof=1) / np.sqrt(n), 1e-9)
        inside = stats.t.sf(np.minimum(mean - low, high - mean) / error, n - 1) <= level
        outside = holm(stats.t.sf(np.maximum(low - mean, mean - high) / error, n - 1), level)
        decision = "agrees" if inside.all() else "differs" if outside.any() else "open", n
        if decision[0] != "open":
            break
    return decision
