"""Mechanism. Histograms with Laplace noise over declared regions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base import (
    DataError,
    FloatArray,
    ParameterError,
    RNGLike,
    check_array,
    check_choice,
    check_epsilon,
    check_vector,
)
from reident.queries.budget import Budget, spend
from reident.queries.domain import category_positions, clipped, warn_replaced
from reident.queries.entropy import entropy_source
from reident.queries.laplace import grid_noise
from reident.queries.queries import ADJACENCIES, answer_reach


@dataclass(frozen=True)
class HistogramAnswer:
    """Noisy numbers of records in disjoint, declared regions.

    Attributes
    ----------
    counts : Series of int64
        Noisy count by region, unbiased; it may be negative (``counts.clip(lower=0)`` costs no further privacy).
    epsilon, sensitivity, scale, adjacency, private, n_clipped
        As in `Answer`; the sensitivity is that of the whole vector.
    """

    counts: pd.Series
    epsilon: float
    sensitivity: float
    scale: float
    adjacency: str
    private: bool
    n_clipped: int = field(default=0, repr=False)

    def interval(self, level: float = 0.95) -> pd.DataFrame:
        """Return intervals by region, each at `level`."""
        reach = answer_reach(1.0, self.scale, level)
        return pd.DataFrame({"low": self.counts - reach, "high": self.counts + reach})


def laplace_histogram(
    values: Any,
    bins: ArrayLike | None = None,
    *,
    categories: Sequence[Hashable] | None = None,
    epsilon: Any,
    adjacency: str = "add-remove",
    budget: Budget | None = None,
    rng: RNGLike = None,
) -> HistogramAnswer:
    """Count the records in each of several disjoint regions with Laplace noise.

    One record lies in one region, so the whole vector has sensitivity 1 (2 if a record may be replaced) and the
    noise of each count does not grow with the number of regions.

    Parameters
    ----------
    values : sequence, shape (n,)
        One value a person.
    bins : array_like of float, shape (n_bins + 1,)
        Edges of numeric regions [edge, next edge), the last one closed. Values outside are counted in the nearest
        region, missing ones in the first.
    categories : sequence, optional
        Instead of bins: every value there can be, declared and not taken from the data. Other values are not counted.
    epsilon : number
        Privacy loss, positive.
    adjacency : {"add-remove", "replace"}
        See `laplace_sum`.
    budget, rng : optional
        As in `laplace_count`.

    Returns
    -------
    HistogramAnswer
        The noisy counts, and what was spent.

    Raises
    ------
    ParameterError
        If neither or both of `bins` and `categories` are given, the edges do not rise, or epsilon breaks its rule.
    DataError
        If the data are not one-dimensional, or not numbers where there are bins. No error depends on the values.

    Warns
    -----
    PrivacyWarning
        If values are missing, outside or in no category, after the budget was spent: for the keeper of the data only.

    Notes
    -----
    Vanhoef (2012), section 5.5.4.
    """
    exact = check_epsilon(epsilon)
    check_choice(adjacency, "adjacency", ADJACENCIES)
    if (bins is None) == (categories is None):
        raise ParameterError("`bins` or `categories` must be given, and not both: regions taken from the data leak")
    edges = _edges(bins) if categories is None else None
    index = _declared(categories) if edges is None else pd.IntervalIndex.from_breaks(edges, closed="left", name="bin")
    if np.ndim(check_array(values, "values", None)) != 1:
        raise DataError(f"`values` must be one-dimensional, got shape {np.shape(values)}")
    if edges is not None:
        inside, n_outside = clipped(values, edges[0], edges[-1], edges[0], "values")
        positions = np.minimum(np.searchsorted(edges, inside, side="right") - 1, len(edges) - 2)
    source = entropy_source(rng)
    spend(budget, exact, "histogram")
    if edges is None:
        positions, n_outside = category_positions(values, index)
        warn_replaced(n_outside, "of `values` belong to no declared category and were not counted")
    else:
        warn_replaced(n_outside, "of `values` lay outside `bins` or were missing, and were counted in the nearest bin")
    sensitivity = 1 if adjacency == "add-remove" else 2
    counts = np.bincount(positions[positions >= 0], minlength=len(index)).astype(np.int64)
    noisy = counts + grid_noise(exact / sensitivity, len(index), source)
    return HistogramAnswer(
        pd.Series(noisy, index=index, name="count"),
        float(exact),
        float(sensitivity),
        float(sensitivity / exact),
        adjacency,
        rng is None,
        n_outside,
    )


def _declared(categories: Any) -> pd.Index:
    index = pd.Index(list(categories), name="category")
    if not len(index) or not index.is_unique or index.hasnans:
        raise ParameterError(f"`categories` must be distinct, present and at least one, got {list(categories)!r}")
    return index


def _edges(bins: ArrayLike | None) -> FloatArray:
    edges = check_vector(bins, "bins")  # type: ignore[arg-type]
    if edges.size < 2 or (np.diff(edges) <= 0).any():
        raise ParameterError(f"`bins` must be at least two rising edges, got {edges.tolist()}")
    return edges
