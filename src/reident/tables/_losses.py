"""Anonymiser. The information losses of generalisation, each in [0, 1]: 0 for the original, 1 for full suppression."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import pandas as pd

from reident.base import FloatArray, IntArray

LOSSES = ("precision", "discernibility", "bits", "column_bits", "ncp")
#: Begins the name of a loss that counts the released records only: a suppressed one costs nothing.
RELEASED = "released_"


def bit_losses(lost: FloatArray, everything: FloatArray) -> dict[str, float]:
    """Return the share of all bits that is lost, and of each column's bits, averaged over the columns.

    A constant column has none to lose.
    """
    shares = np.divide(lost, everything, out=np.zeros_like(lost), where=everything > 1e-9)
    total = float(everything.sum())
    return {
        "bits": float(np.clip(lost.sum() / total, 0.0, 1.0)) if total > 1e-9 else 0.0,
        "column_bits": float(np.clip(shares, 0.0, 1.0).mean()),
    }


class LevelLosses:
    """Losses of each value of each attribute on each level.

    Parameters
    ----------
    maps : int32 array, shape (q, levels, values)
        The label of each value on each level.
    n_levels : int64 array, shape (q,)
    counts : list of int64 arrays
        The records of each value of each attribute.
    values : list of Index
        The values.
    """

    def __init__(
        self, maps: np.ndarray, n_levels: IntArray, counts: list[IntArray], values: Sequence[pd.Index], n: int
    ) -> None:
        self.n, self.n_levels, self.counts = n, n_levels, counts
        parts = [maps[j, :levels, : len(counts[j])] for j, levels in enumerate(n_levels)]
        #: log2(records with the label / records with the value), levels x values.
        self.bits = [
            np.array([np.log2(np.bincount(labels, weights=count)[labels] / count) for labels in part])
            for part, count in zip(parts, counts, strict=True)
        ]
        self.widths = [_widths(part, index) for part, index in zip(parts, values, strict=True)]
        self.most_bits = [np.log2(n / count) for count in counts]

    def bound(self, loss: str, *, charged: bool, budget: int) -> FloatArray:
        """Return a lower bound of every node's loss, whatever up to `budget` records are suppressed."""
        if loss == "discernibility":
            return np.zeros(tuple(self.n_levels))
        parts: list[tuple[FloatArray, float, float]] = []  # of an attribute: by level, at most, that of one record
        for j, levels in enumerate(self.n_levels):
            if loss == "precision":
                parts.append((np.arange(levels, dtype=np.float64), levels - 1, 0.0))
            elif loss == "ncp":
                parts.append((self.widths[j] @ self.counts[j], self.n, 1.0))
            else:
                bits = self.most_bits[j]
                parts.append((self.bits[j] @ self.counts[j], float(bits @ self.counts[j]), float(bits.max())))
        lost, everything, worst = zip(*parts, strict=True)
        spared = np.zeros(len(worst)) if charged else np.minimum(budget * np.array(worst), everything)
        if loss == "bits":
            return _share(functools.reduce(np.add.outer, lost), sum(everything), spared.sum())
        shares = [_share(*each) for each in zip(lost, everything, spared, strict=True)]
        return np.asarray(functools.reduce(np.add.outer, shares) / len(shares))

    def at(
        self, node: tuple[int, ...], n_records: int, squares: float, suppressed: list[IntArray], *, charged: bool
    ) -> dict[str, float]:
        """Return all losses of a node.

        Parameters
        ----------
        node : tuple of int
        n_records : int
            The records of the classes that are kept.
        squares : float
            The sum of the squares of the sizes of these classes.
        suppressed : list of ndarray
            The suppressed records of each value of each attribute.
        charged : bool
            Whether a suppressed record loses everything, or is left out.
        """
        gone = self.n - n_records
        base = float(np.mean(np.asarray(node) / np.maximum(self.n_levels - 1, 1)))
        n_charged = self.n if charged else n_records
        widths, lost, everything = [], [], []
        for j, level in enumerate(node):
            remaining = self.counts[j] - suppressed[j]
            forfeited = float(self.most_bits[j] @ suppressed[j]) if charged else 0.0
            widths.append((float(self.widths[j][level] @ remaining) + (gone if charged else 0)) / n_charged)
            lost.append(float(self.bits[j][level] @ remaining) + forfeited)
            everything.append(float(self.most_bits[j] @ remaining) + forfeited)
        return {
            "precision": (n_records * base + gone) / self.n if charged else base,
            "discernibility": (squares + gone * self.n) / self.n**2 if charged else squares / n_records**2,
            **bit_losses(np.array(lost), np.array(everything)),
            "ncp": float(np.mean(widths)),
        }


def _share(lost: FloatArray, everything: float, spared: float) -> FloatArray:
    """Return the share that is lost where up to `spared` of both is left out."""
    rest = everything - spared
    return np.maximum(lost - spared, 0.0) / rest if rest > 1e-9 else np.zeros_like(lost)


def _widths(maps: np.ndarray, values: pd.Index) -> FloatArray:
    """Return the normalised width that a label covers among the table's values, levels x values."""
    if values.dtype.kind in "iuf" and len(values) > 1:
        numbers = values.to_numpy(dtype=np.float64)
        groups = [pd.Series(numbers).groupby(labels) for labels in maps]
        spans = [(group.transform("max") - group.transform("min")).to_numpy() for group in groups]
        return np.array(spans) / (numbers.max() - numbers.min())
    covered = np.array([np.bincount(labels)[labels] for labels in maps])
    return (covered - 1) / max(len(values) - 1, 1)
