"""Arranging released records on given places by what simulated embeddings say of each pair of places."""

from __future__ import annotations

import numpy as np

from reident.kernels._numba import jit


@jit
def gibbs_sweep(table, classes, at, inverse_temperature, uniforms):
    """Draw each record's place anew given those of all others; `at` is modified in place.

    `table[a, c, b]` is the log-probability that records at places a and b have a released distance of class c.
    Returns the sum of log-probabilities over pairs, as met on the way.
    """
    n, m = classes.shape[0], table.shape[0]
    score = np.empty(m, dtype=np.float64)
    total = 0.0
    for i in range(n):
        score[:] = 0.0
        for j in range(n):
            if j != i:
                row = table[at[j], classes[i, j]]
                for a in range(m):
                    score[a] += row[a]
        total += score[at[i]]
        largest = score[0]
        for a in range(1, m):
            largest = max(largest, score[a])
        mass = 0.0
        for a in range(m):
            score[a] = np.exp(inverse_temperature * (score[a] - largest))
            mass += score[a]
        remaining = uniforms[i] * mass
        chosen = 0
        while chosen < m - 1 and remaining >= score[chosen]:
            remaining -= score[chosen]
            chosen += 1
        at[i] = chosen
    return total / 2
