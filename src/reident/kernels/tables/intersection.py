"""Locating persons in generalised releases: which classes cover a combination of values."""

from __future__ import annotations

from reident.kernels._numba import jit
from reident.kernels.cliques.bitset import ONE, ZERO, lowest_bit


@jit
def gather_classes(rows, cover, class_counts, gathered, n_classes):
    """Add up the sensitive values of all classes that cover each combination of values.

    Parameters
    ----------
    rows : ndarray of int64, shape (n, q)
        For each combination the row of `cover` of each of its values.
    cover : ndarray of uint64, shape (n_values, n_words)
        Bit c of a row: class c's label covers this value.
    class_counts : ndarray of int64, shape (n_classes, m)
        How often each sensitive value occurs in each class.
    gathered : ndarray of int64, shape (n, m)
        Modified in place, zeros before.
    n_classes : ndarray of int64, shape (n,)
        How many classes cover the combination; modified in place.
    """
    n, q = rows.shape
    n_words = cover.shape[1]
    m = class_counts.shape[1]
    for i in range(n):
        count = 0
        for w in range(n_words):
            word = cover[rows[i, 0], w]
            for j in range(1, q):
                word &= cover[rows[i, j], w]
            while word != ZERO:
                c = w * 64 + lowest_bit(word)
                word &= word - ONE
                count += 1
                for s in range(m):
                    gathered[i, s] += class_counts[c, s]
        n_classes[i] = count
