"""Values in classes: the checks and the sorting that several layers share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from reident.base import DataError, FloatArray, IntArray, check_array, check_vector

__all__ = ["ClassValues", "check_classes", "class_ranges", "class_values"]


class ClassValues(NamedTuple):
    """Values class by class, ascending inside a class, and where each class starts (and the end)."""

    values: FloatArray
    starts: IntArray


def check_classes(classes: ArrayLike, length: int) -> IntArray:
    """Return class numbers from 0 without gaps; -1 marks a record in no class."""
    ids = check_array(classes, "classes", None)
    if ids.dtype.kind not in "iu" or ids.ndim != 1:
        raise DataError(f"`classes` must be whole numbers in one dimension, got {ids.dtype} of shape {ids.shape}")
    if ids.size != length:
        raise DataError(f"`classes` must have {length} entries, one a record, got {ids.size}")
    ids = ids.astype(np.int64)
    kept = ids[ids >= 0]
    if ids.min(initial=-1) < -1 or not kept.size or (np.bincount(kept) == 0).any():
        raise DataError("`classes` must be numbered 0, 1, ... without gaps, with at least one class; -1 for no class")
    return ids


def class_values(values: ArrayLike, classes: IntArray, name: str = "values") -> ClassValues:
    """Sort the values of the records that are in a class."""
    vector = check_vector(values, name, length=classes.size)
    kept = classes >= 0
    own, ids = vector[kept], classes[kept]
    starts = np.r_[0, np.cumsum(np.bincount(ids))].astype(np.int64)
    ascending = (ids[1:] > ids[:-1]) | ((ids[1:] == ids[:-1]) & (own[1:] >= own[:-1]))
    if ascending.all():  # looking costs next to nothing, and simulations come sorted
        return ClassValues(own, starts)
    return ClassValues(own[np.lexsort((own, ids))], starts)


def class_ranges(sorted_values: ClassValues) -> FloatArray:
    """Return the diameter of each class: largest value minus smallest (Holohan et al. 2017, (3))."""
    values, starts = sorted_values
    return values[starts[1:] - 1] - values[starts[:-1]]
