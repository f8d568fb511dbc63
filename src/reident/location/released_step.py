"""Attack. Estimate the step of rounding or the noise of released distances from the matrix alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from reident.base import FloatArray, IntArray
from reident.kernels.location import rounded as kernel
from reident.location.reference_sets import check_release

# Steps, km, that are looked for besides the smallest gap, and how far, in steps, a multiple may lie beside them.
_STEPS, _OFF_STEP = tuple(a * 10.0**b for b in range(2, -10, -1) for a in (5, 2, 1)), 0.01
# Distances below which no step is distinguished from chance.
_FEWEST = 5
# Pairs of rows compared, and the clearest of them, from which noise is measured.
_PAIRS, _CLEAREST = 1000, 100
# Windows tried: shares of the largest distance, halved from the first to the last. A pair counts for a window that its
# own distance exceeds by so many times, and if it crowds below this share of that distance: at the ends the
# differences of any distances in the plane pile up.
_WIDEST, _NARROWEST, _APART, _INSIDE = 1 / 16, 1e-8, 10.0, 0.9
# Rounds of the fit of noise among evenly spread differences, and the change that ends it.
_ROUNDS, _SETTLED = 200, 1e-4
# Excess of windows over their surroundings that is required, in standard deviations and square roots of the number of
# records. It was .2 to .81 for ordinary distances, .86 to 10 for embeddings with noise up to a three-hundredth of the
# longest distance.
_CROWDED = 0.82
# Share of the longest distance below which noise is that of double precision.
_DIGITS = 1e-12


class ReleasedStep(NamedTuple):
    """Precision of the released distances of an embedding.

    Attributes
    ----------
    rounding_km : float
        The step of which all distances are multiples, km; 0 if there is none.
    noise_km : float
        Standard deviation of the noise on each distance, km; 0 where rounding explains the differences or the numbers
        are exact, nan where differences crowd no more than those of ordinary distances do.
    """

    rounding_km: float
    noise_km: float

    @property
    def step_km(self) -> float | None:
        """The `step_km` of `locate_by_reference_sets`: the step of rounding or three standard deviations, the larger.

        None where there is neither.
        """
        step = max(self.rounding_km, 3 * np.nan_to_num(self.noise_km))
        return float(step) if step > 0 else None

    def describe(self) -> str:
        """Return the precision in words."""
        if self.step_km is None:
            return "neither rounded nor noisy as far as can be seen"
        if self.noise_km > 0:
            return f"taken to carry noise of about {self.noise_km:.2g} km each"
        return f"rounded to {self.rounding_km:g} km"


def estimate_step(release: Any) -> ReleasedStep:
    """Estimate the rounding or the noise of a matrix of largest differences from the matrix alone.

    Where one reference set decides the distances of two records to many others, these differ by one number; their
    scatter about it is the noise of two distances.

    Parameters
    ----------
    release : array_like of shape (n, n), MetricMicrodata, or tuple of DataFrame and array-like
        Released distances, km; nan for one that is missing. Not modified.

    Returns
    -------
    ReleasedStep
        `step_km` is the parameter of `recover_coordinates` and `locate_by_reference_sets`. Distances of places in a few
        tight towns may crowd without being an embedding; the noise then has no meaning.

    Raises
    ------
    DataError
        If `release` holds no distance matrix.

    Notes
    -----
    The differences of two rows crowd most, above what lies around them, in a window some six standard deviations wide.
    In the hundred clearest of a thousand pairs of rows the scatter is fitted as normal among evenly spread differences.
    Noise up to a three-hundredth of the longest distance is met to a fifth, mostly to a twentieth; larger noise is
    underestimated or not seen. The draws are fixed: the same matrix gives the same estimate. Time O(n log n), memory
    O(n^2).

    Examples
    --------
    >>> from shapely import box
    >>> from reident import embed_distances
    >>> rng = np.random.default_rng(3)
    >>> lat, lon = rng.uniform(50, 52, 80), rng.uniform(8, 11, 80)
    >>> released = embed_distances(
    ...     lat, lon, n_reference_sets=15, reference_set_size=3, area=box(8, 50, 11, 52), rng=1
    ... )
    >>> noise = np.triu(rng.normal(0, 0.1, released.shape), 1)
    >>> round(estimate_step(np.abs(released + noise + noise.T)).noise_km, 1)
    0.1
    >>> estimate_step(released.round(1)).describe()
    'rounded to 0.1 km'
    """
    matrix = check_release(release)
    step = rounding_step(matrix)
    noise = _noise_km(matrix, step)
    if noise < max(step / 3, _DIGITS * float(np.nanmax(matrix, initial=0.0))):
        noise = 0.0
    return ReleasedStep(step, noise)


def rounding_step(matrix: FloatArray) -> float:
    """Return the step of which all released distances are multiples, km; 0 if there is none."""
    values = np.unique(matrix[np.triu_indices(len(matrix), 1)])
    values = values[values > 0]
    if len(values) < _FEWEST:
        return 0.0
    # The smallest gap is the step where there are many distances; the largest distance names it best.
    apart = np.diff(values)
    gap = float(apart[apart > 1e-10 * values[-1]].min(initial=values[-1]))
    for step in (values[-1] / np.round(values[-1] / gap), *_STEPS):
        if np.abs(values / step - np.round(values / step)).max() < _OFF_STEP:
            return float(step)
    return 0.0


def _noise_km(matrix: FloatArray, step: float) -> float:
    """Return the standard deviation of the noise on each distance besides rounding; nan if there is no crowding."""
    n = len(matrix)
    rng = np.random.default_rng(0)
    pairs = np.column_stack(np.triu_indices(n, 1))
    pairs = pairs[matrix[pairs[:, 0], pairs[:, 1]] > 0]
    pairs = pairs[rng.choice(len(pairs), min(_PAIRS, len(pairs)), replace=False)]
    if step:
        # Rounded differences lie on a lattice, whose piles are no scatter.
        spread = np.triu(rng.uniform(-step / 2, step / 2, matrix.shape), 1)
        matrix = matrix + spread + spread.T
    crowd = _clearest(matrix, pairs, step)
    if crowd is None:
        return np.nan
    width, pairs, heights = crowd
    scattered = []
    for (a, b), height in zip(pairs, heights, strict=True):
        apart = np.delete(matrix[a] - matrix[b] - height, (a, b))
        middle = np.median(apart[np.abs(apart) <= 0.51 * width])
        scattered.append(apart[np.abs(apart - middle) < width] - middle)
    # Of two distances; the spreading adds as much as the rounding had taken.
    variance = _normal_part(np.concatenate(scattered), width) ** 2 / 2 - step**2 / 6
    return float(np.sqrt(max(variance, 0.0)))


def _clearest(matrix: FloatArray, pairs: IntArray, step: float) -> tuple[float, IntArray, FloatArray] | None:
    """Return the window in which differences of two rows crowd most, the clearest pairs, and where they crowd."""
    apart = matrix[pairs[:, 0], pairs[:, 1]]
    everywhere = np.ones(matrix.shape, dtype=np.bool_)
    highest, best = _CROWDED * len(matrix) ** 0.5, None
    widest = apart.max(initial=0.0)
    widths = widest * _WIDEST * 0.5 ** np.arange(np.log2(_WIDEST / _NARROWEST))
    counts = (apart > _APART * widths[:, None]).sum(axis=1)
    widths = widths[(widths > step) & (counts >= _CLEAREST)]
    heights = np.zeros((len(widths), len(pairs)))
    scores = kernel.crowded_windows(matrix, everywhere, pairs, widths, heights)
    scores[(np.abs(heights) > _INSIDE * apart - widths[:, None]) | (apart <= _APART * widths[:, None])] = 0.0
    for width, score, height in zip(widths.tolist(), scores, heights, strict=True):
        clearest = np.argsort(-score, kind="stable")[: min(_CLEAREST, np.count_nonzero(score))]
        if clearest.size and score[clearest].mean() > highest:
            highest, best = score[clearest].mean(), (width, pairs[clearest], height[clearest])
    return best


def _normal_part(deviations: FloatArray, width: float) -> float:
    """Return the standard deviation of the normal part of deviations within +-width, the others evenly spread."""
    sd, share = width / 6, 0.5
    for _ in range(_ROUNDS):
        normal = share * np.exp(-0.5 * (deviations / sd) ** 2) / (sd * np.sqrt(2 * np.pi))
        belongs = normal / (normal + (1 - share) / (2 * width))
        before, share = sd, belongs.mean()
        sd = float(np.sqrt((belongs * deviations**2).sum() / belongs.sum()))
        if sd == 0 or abs(sd - before) < _SETTLED * before:
            break
    return sd
