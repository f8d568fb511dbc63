"""Attack. Linking a noisy value to the nearest original value of its class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from reident.base import Choice, FloatArray, Real, check_vector, checked, wilson_interval
from reident.kernels.tables.within_class import nearest_ties
from reident.tables.classes import check_classes, class_values

__all__ = ["NearestRecord", "nearest_record_attack"]


@dataclass(frozen=True)
class NearestRecord:
    """The outcome of a nearest-record attack.

    Attributes
    ----------
    linked : ndarray of float64, shape (n,)
        The probability that each record is linked to itself: 0 or 1, or 1 / ties for ties broken at random; NaN for
        a record in no class.
    risk : float
        Their mean over the records in classes: the linking risk.
    low, high : float
        Wilson's interval of the risk, as if records were linked independently.
    baseline : float
        The risk from guessing at random inside each class: classes / records.
    """

    linked: FloatArray
    risk: float
    low: float
    high: float
    baseline: float


@checked
def nearest_record_attack(
    original: ArrayLike,
    release: ArrayLike,
    classes: ArrayLike,
    *,
    ties: Annotated[str, Choice("all", "random", "none")] = "all",
    level: Annotated[float, Real(0, 1, open_low=True, open_high=True)] = 0.95,
) -> NearestRecord:
    """Link each released record to the record of its class with the nearest original value.

    The intruder knows every original value and every class: the worst case. A linking risk is to be read against
    `baseline`, and it is no re-identification risk where records of a class agree.

    Parameters
    ----------
    original, release : array_like of float, shape (n,)
        The attribute before and after noise, row by row the same record.
    classes : array_like of int, shape (n,)
        From 0; -1 for a record in no class.
    ties : {"all", "random", "none"}
        What counts when several originals are equally near and the right one is among them: a success, as the
        paper's formula has it; one over their number; a failure ("closer than all other", as its text has it).
    level : float
        Of the interval.

    Returns
    -------
    NearestRecord

    Raises
    ------
    DataError, ParameterError
        If the lengths differ, a value is not finite, or an option breaks its rule.

    Notes
    -----
    Holohan et al. (2017), V-B. O(n log n).

    Examples
    --------
    >>> attack = nearest_record_attack([150.0, 160, 170, 180], [151.0, 158, 181, 181], [0, 0, 0, 0])
    >>> attack.risk, attack.baseline
    (0.75, 0.25)
    """
    before = check_vector(original, "original")
    after = check_vector(release, "release", length=before.size)
    ids = check_classes(classes, before.size)
    is_released = ids >= 0
    ordered = class_values(before, ids, "original")
    nearest = nearest_ties(ordered.values, ordered.starts, ids[is_released], after[is_released], before[is_released])
    if ties == "random":
        success = np.divide(1.0, nearest, out=np.zeros(nearest.size), where=nearest > 0)
    else:
        success = ((nearest > 0) if ties == "all" else (nearest == 1)).astype(np.float64)
    linked = np.full(before.size, np.nan)
    linked[is_released] = success
    n = success.size
    rate = wilson_interval(float(success.sum()), n, level=level)
    return NearestRecord(linked, rate.value, rate.low, rate.high, (int(ids.max()) + 1) / n)
