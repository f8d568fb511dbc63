"""Metric. Noise inside classes: its relative error, and confidence-based k-anonymity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from reident.base import (
    BoolArray,
    Choice,
    DataError,
    FloatArray,
    IntArray,
    Real,
    Whole,
    check_vector,
    checked,
)
from reident.kernels.tables.within_class import count_between
from reident.tables.classes import check_classes, class_values, class_widths


def _nonzero(values: FloatArray, name: str) -> FloatArray:
    zero = np.flatnonzero(values == 0)
    if zero.size:
        raise DataError(
            f"`{name}` must not hold 0, got {zero.size} such value(s), the first at position {zero[0]}: an error "
            "relative to 0 is undefined (shift or rescale the attribute, or use the absolute error)"
        )
    return np.abs(values)


def relative_error(original: ArrayLike, release: ArrayLike) -> float:
    """Return the mean of abs(released - original) / abs(original).

    Parameters
    ----------
    original, release : array_like of float, shape (n,)
        Row by row the same record.

    Returns
    -------
    float
        At least 0.

    Raises
    ------
    DataError
        If an original value is 0, a value is not finite, or the lengths differ.

    Notes
    -----
    Holohan et al. (2017), V-A, realised in one release.

    Examples
    --------
    >>> round(relative_error([160.0, 200.0], [168.0, 190.0]), 4)
    0.05
    """
    before = check_vector(original, "original")
    after = check_vector(release, "release", length=before.size)
    if not before.size:
        raise DataError("`original` must have at least one value, got none")
    return float((np.abs(after - before) / _nonzero(before, "original")).mean())


@checked
def expected_relative_error(
    values: ArrayLike,
    classes: ArrayLike,
    *,
    epsilon: Annotated[float, Real(0, open_low=True)],
    n_columns: Annotated[int, Whole(1, unit="columns")] = 1,
    width: Annotated[float | None, Real(0, unit="the column's unit")] = None,
) -> float:
    """Return the relative error to expect of Laplace noise inside classes, before any is drawn.

    Parameters
    ----------
    values : array_like of float, shape (n,)
    classes : array_like of int, shape (n,)
        From 0; -1 for a record in no class.
    epsilon : float
        The budget of a record.
    n_columns : int
        The epsilon-quasi-identifiers that share it.
    width : float, optional
        The range that the noise is scaled to; None: the range of each class.

    Returns
    -------
    float
        The mean over the records in classes.

    Raises
    ------
    DataError
        If a value is 0.

    Notes
    -----
    Holohan et al. (2017), (5)-(8): the mean of scale / abs(value), since E abs(Lap(b)) = b. Written with the absolute
    values themselves and not with the harmonic mean H(ec) of (6)-(8), which is the same for values of one sign only
    (erratum 6).

    Examples
    --------
    >>> round(expected_relative_error([100.0, 200.0], [0, 0], epsilon=10), 4)
    0.075
    """
    vector = check_vector(values, "values")
    ids = check_classes(classes, vector.size)
    is_released = ids >= 0
    _nonzero(vector[is_released], "values")
    ranges = class_widths(vector, ids, width)
    return float((n_columns * ranges[ids[is_released]] / epsilon / np.abs(vector[is_released])).mean())


@checked
def epsilon_for_error(
    values: ArrayLike,
    classes: ArrayLike,
    *,
    error: Annotated[float, Real(0, open_low=True)],
    n_columns: Annotated[int, Whole(1, unit="columns")] = 1,
    width: Annotated[float | None, Real(0, unit="the column's unit")] = None,
) -> float:
    """Compute the epsilon at which Laplace noise inside classes has a wanted relative error.

    The smallest error that an analysis tolerates gives the strongest noise. The answer depends on the original values:
    publish it with few digits.

    Parameters
    ----------
    values, classes, n_columns, width
        As for `expected_relative_error`.
    error : float
        The mean relative error that is wanted, such as .05.

    Returns
    -------
    float
        Above 0.

    Raises
    ------
    DataError
        If a value is 0, or all classes are constant, so that there is no noise at any epsilon.

    Notes
    -----
    Holohan et al. (2017), (8), solved for epsilon: the error is inversely proportional to it.

    Examples
    --------
    >>> round(epsilon_for_error([100.0, 200.0], [0, 0], error=0.075), 4)
    10.0
    """
    at_one = expected_relative_error(values, classes, epsilon=1.0, n_columns=n_columns, width=width)
    if at_one == 0:
        raise DataError("`values` must vary inside a class: constant classes get no noise at any epsilon")
    return at_one / error


@dataclass(frozen=True)
class ConfidenceSuppression:
    """Records to suppress for confidence-based k-anonymity.

    Attributes
    ----------
    suppressed : ndarray of bool, shape (n,)
        The records to suppress in addition; False for records in no class.
    candidates : ndarray of int64, shape (n,)
        The records that each one could be, inside the confidence range; -1 for records in no class.
    share : float
        The suppressed share of the records in classes.
    """

    suppressed: BoolArray
    candidates: IntArray
    share: float


@checked
def confidence_suppression(
    original: ArrayLike,
    release: ArrayLike,
    classes: ArrayLike,
    *,
    scales: ArrayLike,
    k: Annotated[int, Whole(1, unit="records")],
    confidence: Annotated[float, Real(0, 1, open_low=True, open_high=True)] = 0.99,
    centre: Annotated[str, Choice("release", "original")] = "release",
) -> ConfidenceSuppression:
    """Find the records with fewer than k candidates for an intruder, at a given confidence.

    The intruder knows the original values of all records of a class and the scale of its noise; the range around a
    noisy value holds the original one with probability `confidence`.

    Parameters
    ----------
    original, release : array_like of float, shape (n,)
        The attribute before and after noise, row by row the same record.
    classes : array_like of int, shape (n,)
        From 0; -1 for a record in no class.
    scales : array_like of float, shape (n_classes,)
        The scale of the Laplace noise of each class; 0 for none.
    k : int
    confidence : float
        In (0, 1).
    centre : {"release", "original"}
        The middle of the range. The paper's text counts around the released value ec'_i, its formula around the
        original ec_i; an intruder can compute "release".

    Returns
    -------
    ConfidenceSuppression

    Raises
    ------
    DataError, ParameterError
        If the lengths differ, a value is not finite, or an option breaks its rule.

    Notes
    -----
    Holohan et al. (2017), V-C. The range is r_c = -b ln(1 - c). Records with 0 < candidates < k are suppressed, and so
    are classes with fewer than k records left, as the paper's formula counts them: a record without any candidate
    stays if its class does, but does not count as left (erratum 5). For `centre` see erratum 2.
    """
    before = check_vector(original, "original")
    after = check_vector(release, "release", length=before.size)
    ids = check_classes(classes, before.size)
    n_classes = int(ids.max()) + 1
    b = check_vector(scales, "scales", length=n_classes)
    if (b < 0).any():
        raise DataError(f"`scales` must not be negative, got {b.min():g}")
    rows = np.flatnonzero(ids >= 0)
    class_of = ids[rows]
    middle = (after if centre == "release" else before)[rows]
    radius = -b[class_of] * np.log1p(-confidence)
    ordered = class_values(before, ids, "original")
    counts = count_between(ordered.values, ordered.starts, class_of, middle - radius, middle + radius)
    remaining = np.bincount(class_of, weights=counts >= k, minlength=n_classes)
    suppressed, candidates = np.zeros(before.size, dtype=bool), np.full(before.size, -1, dtype=np.int64)
    suppressed[rows] = ((counts > 0) & (counts < k)) | (remaining < k)[class_of]
    candidates[rows] = counts
    return ConfidenceSuppression(suppressed, candidates, float(suppressed.sum() / rows.size))
