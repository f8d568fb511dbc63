"""Metric. How good a linkage is, when the truth is known."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from reident.base import DataError, check_names, check_table


@dataclass(frozen=True)
class LinkageQuality:
    """Right, wrong and missed matches of a linkage.

    Attributes
    ----------
    precision : float
        TP / (TP + FP), the share of claimed matches that are right; NaN if nothing is claimed.
    recall : float
        TP / (TP + FN), the share of true matches that are claimed; NaN if there is no true match.
    TP, FP, FN : int
        True matches claimed, false matches claimed, true matches not claimed.
    """

    precision: float
    recall: float
    TP: int
    FP: int
    FN: int


def linkage_quality(links: Any, truth: Any) -> LinkageQuality:
    """Compare a linkage with the truth.

    Parameters
    ----------
    links, truth : DataFrame with columns `release` and `known`, sequence of pairs, mapping, or an attack's result
        Pairs of ids (release, known). A mapping goes from release ids to known ids; of a result its `links` are taken.
        A pair that is named twice counts once.

    Returns
    -------
    LinkageQuality
        Precision, recall, TP, FP and FN. Nothing claimed: precision is NaN, since no claim is right or wrong, and
        recall 0. No true match: recall is NaN, and precision 0 if anything is claimed.

    Raises
    ------
    DataError, ParameterError
        If `links` or `truth` cannot be read as pairs, or an id is missing.

    Notes
    -----
    The measures of Kroll (2015), section 5. A mean over repetitions should say how many gave NaN.

    Examples
    --------
    >>> linkage_quality([(1, "a"), (2, "b"), (3, "x")], {1: "a", 2: "b", 4: "d", 5: "e"})
    LinkageQuality(precision=0.666..., recall=0.5, TP=2, FP=1, FN=2)
    """
    claimed = _pairs(links, "links")
    true = _pairs(truth, "truth")
    hits = len(claimed & true)
    return LinkageQuality(
        precision=hits / len(claimed) if claimed else math.nan,
        recall=hits / len(true) if true else math.nan,
        TP=hits,
        FP=len(claimed) - hits,
        FN=len(true) - hits,
    )


def _pairs(links: Any, name: str) -> set[tuple[Hashable, Hashable]]:
    links = getattr(links, "links", links)
    if isinstance(links, pd.DataFrame):
        check_table(links, name, min_records=0)
        if not {"release", "known"} <= set(links.columns):
            raise DataError(f"`{name}` must have the columns 'release' and 'known', got {list(links.columns)!r}")
        listed: list[Any] = list(links[["release", "known"]].itertuples(index=False, name=None))
    elif isinstance(links, Mapping):
        listed = list(links.items())
    else:
        try:
            listed = [tuple(pair) for pair in links]
        except TypeError:
            raise DataError(f"`{name}` must be a DataFrame, pairs or a mapping, got {type(links).__name__}") from None
    for pair in listed:
        if len(pair) != 2:
            raise DataError(f"`{name}` must hold pairs (release, known), got {pair!r}")
        if any(pd.isna(name) is True for name in pair):
            raise DataError(f"`{name}` must not have missing ids, got {pair!r}")
    return set(check_names(listed, name))
