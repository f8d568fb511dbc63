"""Mechanism. Laplace noise: exact and on a grid for releases, fast and in floating point for simulations only."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from reident.base import (
    FloatArray,
    IntArray,
    ParameterError,
    RNGLike,
    afford,
    check_integer,
    check_positive,
    check_rng,
)
from reident.queries.entropy import (
    Entropy,
    Probability,
    bernoulli,
    bernoulli_each,
    entropy_source,
    exponential_probability,
    logistic_probability,
)

#: Finest grid, as a share of the noise's scale: beyond it the multiples would no longer be exact doubles.
_FINEST = 2.0**-40

#: Binary digits of noise from which on 64 bits are not enough beyond doubt.
_MOST_LOW_DIGITS = 54


def discrete_laplace(
    scale: ArrayLike, granularity: float, size: int | None = None, *, rng: RNGLike = None
) -> FloatArray:
    """Draw Laplace noise on the multiples of a grid, exactly and from secure randomness.

    The noise for a real release. Each draw is k times `granularity` for a whole number k with probability
    proportional to exp(-abs(k) granularity / scale). Added to values that themselves lie on the grid (see
    `snap_to_grid`) and change by at most `sensitivity`, a multiple of `granularity`, it gives
    (sensitivity / scale)-differential privacy. Added to values off the grid it guarantees nothing: their low-order
    bits reveal the value.

    Parameters
    ----------
    scale : float or array_like of float, shape (size,)
        Scale b of the Laplace distribution, in the value's units; an array gives each draw its own scale.
    granularity : float
        Distance of neighbouring grid points, in the value's units; a power of two (or 1 for counts) keeps the
        multiples exact. At least `scale` / 2**40.
    size : int, optional
        Number of draws; with an array of scales its length.
    rng : optional
        None draws from the operating system's entropy. A generator or seed is for tests and simulations only.

    Returns
    -------
    ndarray of float64, shape (size,)
        The noise, in the value's units.

    Raises
    ------
    ParameterError
        If a scale or the granularity is not positive and finite, the grid is too fine, or `size` does not fit.

    Warns
    -----
    PrivacyWarning
        If `rng` is given: repeatable noise carries no guarantee.

    Notes
    -----
    Vanhoef (2012), Property 5.1 and Theorem 5.2, on a grid instead of the real line. The difference of two
    independent geometric variables; the binary digits of a geometric variable are independent coins with probability
    1 / (1 + exp(2**i a)), a = granularity / scale, and the part above them is again geometric. Every coin is tossed
    exactly (`reident.queries.entropy`), so the distribution is exact, not only close, for the given double
    precision `scale` and `granularity`. The running time depends on the noise drawn by less than the cost of one
    coin in 65,536; it does not depend on the data.

    Examples
    --------
    >>> noise = discrete_laplace(2.0, 0.5, 1000)
    >>> bool((noise % 0.5 == 0).all())
    True
    """
    step = Fraction(check_positive(granularity, "granularity"))
    scales = _numbers(scale)
    if scales.ndim > 1:
        raise ParameterError(f"`scale` must be a number or one-dimensional, got shape {scales.shape}")
    if size is None:
        size = scales.size if scales.ndim else 1
    size = check_integer(size, "size", low=0)
    afford(100 * size, "size", f"{size:,} draws", "draw fewer at once")
    if scales.ndim and scales.size != size:
        raise ParameterError(f"`scale` must have `size` ({size}) entries, got {scales.size}")
    source = entropy_source(rng)
    _check_scales(scales, step)
    if scales.ndim:
        both = _geometric_each(np.concatenate([scales, scales]), step, source)
        steps = both[:size] - both[size:]
    else:
        steps = grid_noise(step / Fraction(float(scales)), size, source)
    return np.asarray(steps * float(step), dtype=np.float64)


def _numbers(scale: ArrayLike) -> FloatArray:
    try:
        return np.asarray(scale, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(f"`scale` must hold numbers only: {error}") from None


def _check_scales(scales: FloatArray, step: Fraction) -> None:
    high = float(step) / _FINEST
    bad = np.flatnonzero(~(np.isfinite(scales) & (scales > 0) & (scales <= high)))
    if bad.size:
        raise ParameterError(
            f"`scale` must lie in (0, {high:g}], got {scales.flat[bad[0]]}: noise on a grid of "
            f"{float(step):g} needs a positive scale in proportion"
        )


def _n_low_digits(exponent: Fraction) -> int:
    # Enough that the part above the low digits is seldom more than 0; any number would be exact.
    return max(0, (math.ceil(12 / exponent) - 1).bit_length())


def _geometric(exponent: Fraction, size: int, source: Entropy) -> IntArray:
    """Draw whole numbers k >= 0 with probability proportional to exp(-k exponent)."""
    n_low = _n_low_digits(exponent)
    above = exponential_probability(exponent * 2**n_low)
    result = np.zeros(size, dtype=np.int64 if n_low < _MOST_LOW_DIGITS else object)  # else Python integers
    growing = np.flatnonzero(bernoulli(above, size, source))
    while growing.size:
        result[growing] += 1
        growing = growing[bernoulli(above, growing.size, source)]
    for place in reversed(range(n_low)):
        result <<= 1
        result += bernoulli(logistic_probability(exponent * 2**place), size, source)
    return result


def _geometric_each(scales: FloatArray, step: Fraction, source: Entropy) -> IntArray:
    """Draw as `_geometric` does, each number with the exponent step / scale of its own."""
    if not scales.size:
        return np.zeros(0, dtype=np.int64)
    exponents = float(step) / scales
    n_low = _n_low_digits(Fraction(float(exponents.min())))

    def exact(make: Callable[[Fraction], Probability], positions: IntArray, place: int) -> Callable[[int], Probability]:
        return lambda position: make(step / Fraction(float(scales[positions[position]])) * 2**place)

    everyone = np.arange(scales.size)
    result = np.zeros(scales.size, dtype=np.int64)
    growing = everyone
    while growing.size:
        above = np.exp(-exponents[growing] * 2.0**n_low)
        growing = growing[bernoulli_each(above, exact(exponential_probability, growing, n_low), source)]
        result[growing] += 1
    for place in reversed(range(n_low)):
        small = np.exp(-exponents * 2.0**place)
        result <<= 1
        result += bernoulli_each(small / (1 + small), exact(logistic_probability, everyone, place), source)
    return result


def grid_noise(exponent: Fraction, size: int, source: Entropy) -> IntArray:
    """Draw whole numbers k with probability proportional to exp(-abs(k) exponent), exactly.

    Added to whole numbers that change by at most `sensitivity` it gives epsilon-differential privacy for
    exponent = epsilon / sensitivity. Python integers where 64 bits might not do.
    """
    both = _geometric(exponent, 2 * size, source)
    return both[:size] - both[size:]


def grid_noise_reach(exponent: Fraction, level: float) -> int:
    """Return the smallest m for which `grid_noise` lies in [-m, m] with probability at least `level`."""
    # P(|k| > m) = 2 exp(-a (m + 1)) / (1 + exp(-a))
    reach = Fraction(math.log(2 / ((1 - level) * (1 + math.exp(-exponent))))) / exponent
    return max(0, math.ceil(reach - 1 - Fraction(1e-12)))


def grid_granularity(scale: float) -> float:
    """Return a power of two of 1/1024 to 1/2048 of `scale`: a grid with a negligible effect on the noise."""
    return float(2.0 ** (math.floor(math.log2(check_positive(scale, "scale"))) - 10))


def snap_to_grid(values: ArrayLike, granularity: float) -> FloatArray:
    """Round values to the nearest multiples of `granularity`, ties to even.

    Values that change by at most a multiple of the granularity still do so after rounding: the sensitivity, rounded
    up to a multiple, holds for the snapped values.
    """
    step = check_positive(granularity, "granularity")
    return np.asarray(np.rint(np.asarray(values, dtype=np.float64) / step) * step, dtype=np.float64)


def simulation_laplace(scale: ArrayLike, size: int | tuple[int, ...] | None = None, *, rng: RNGLike) -> FloatArray:
    """Draw floating-point Laplace noise for simulations only: fast, repeatable and unfit for a release.

    The set of doubles that such noise can reach depends on the value it is added to, so that single outputs give
    the value away whatever the scale. Use `discrete_laplace` for any published value.

    Parameters
    ----------
    scale : float or array_like of float
        Scale of the Laplace distribution, positive, in the value's units.
    size : int or tuple of int, optional
        Shape of the result; default: that of `scale`.
    rng : Generator or int
        Source of the noise.

    Returns
    -------
    ndarray of float64
        The noise, in the value's units.

    Raises
    ------
    ParameterError
        If `scale` is not positive and finite, or `size` is negative.
    """
    scales = _numbers(scale)
    if not (np.isfinite(scales) & (scales > 0)).all():
        raise ParameterError(f"`scale` must be positive and finite, got {scale!r}")
    shape = scales.shape if size is None else np.atleast_1d(np.asarray(size, dtype=object))
    n_draws = math.prod(check_integer(length, "size", low=0) for length in shape)
    afford(16 * n_draws, "size", f"{n_draws:,} draws", "draw fewer at once")
    return np.asarray(check_rng(rng).laplace(0.0, scales, size), dtype=np.float64)
