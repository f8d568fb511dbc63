"""Metric. How well a mapping of nodes names them, by the truth."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from reident.base import check_mapping, check_names

__all__ = ["MappingQuality", "mapping_quality"]


@dataclass(frozen=True)
class MappingQuality:
    """How well a mapping of nodes agrees with the truth.

    Attributes
    ----------
    recall, precision, unmatched : float
        Correct over all true pairs; correct over all mapped nodes whose partner is known or absent (nan for none
        mapped); share of the true pairs whose node was left unmapped.
    n_true, n_mapped, n_correct : int
        The counts behind them.
    """

    recall: float
    precision: float
    unmatched: float
    n_true: int
    n_mapped: int
    n_correct: int


def mapping_quality(
    mapping: Mapping[Hashable, Hashable],
    truth: Mapping[Hashable, Hashable],
    *,
    ignore: Iterable[Hashable] = (),
) -> MappingQuality:
    """Compare a mapping with the truth.

    Parameters
    ----------
    mapping, truth : mapping
        Node -> node, in the same direction. A mapped node that `truth` does not name has no partner: mapping it is an
        error.
    ignore : iterable
        Nodes that do not count, for example the seeds that an attacker already knew.

    Returns
    -------
    MappingQuality
        Precision, recall, and the share without a partner.

    Raises
    ------
    DataError, ParameterError
        If one of them is no mapping, or `ignore` no list.
    """
    left_out = set(check_names(ignore, "ignore"))
    check_mapping(mapping, "mapping")
    check_mapping(truth, "truth")
    true = {node: partner for node, partner in truth.items() if node not in left_out}
    mapped = {node: partner for node, partner in mapping.items() if node not in left_out}
    correct = sum(1 for node, partner in mapped.items() if node in true and true[node] == partner)
    missed = sum(1 for node in true if node not in mapped)
    return MappingQuality(
        recall=correct / len(true) if true else math.nan,
        precision=correct / len(mapped) if mapped else math.nan,
        unmatched=missed / len(true) if true else math.nan,
        n_true=len(true),
        n_mapped=len(mapped),
        n_correct=correct,
    )
