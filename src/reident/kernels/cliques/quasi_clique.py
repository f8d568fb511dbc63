"""Growing sets of matches in which most pairs agree."""

from __future__ import annotations

import math

import numpy as np

from reident.kernels._jit import jit
from reident.kernels._loops import max_of, put
from reident.kernels.cliques.clique_climb import random_number
from reident.kernels.networks.network import has_edge


@jit
def shift(indptr, indices, v, counts, by):
    """Add `by` to the number of inside neighbours of each neighbour of v."""
    for p in range(indptr[v], indptr[v + 1]):
        counts[indices[p]] += by


@jit
def needed(gamma, size):
    """Return the least number of inside neighbours that a member of a set of `size` must have."""
    # gamma * n is meant as written: 0.9 * 10 needs 9, not 10.
    return math.ceil(gamma * (size - 1) - 1e-9)


@jit
def grow(indptr, indices, release, known, gamma, counts, used_release, used_known, members, size, state):
    """Add vertices, one at a time, as long as every member keeps enough neighbours; return the new size.

    Always the one with most neighbours inside, a random one among equals; never one whose record is matched already.
    """
    n = indptr.shape[0] - 1
    critical = np.empty(members.shape[0], dtype=np.int64)
    while size < members.shape[0]:
        need = needed(gamma, size + 1)
        n_critical = 0
        for k in range(size):
            if counts[members[k]] < need:
                critical[n_critical] = members[k]
                n_critical += 1
        most = -1
        chosen = -1
        equals = 0
        for v in range(n):
            if counts[v] < need or counts[v] < most or used_release[release[v]] or used_known[known[v]]:
                continue
            fits = True
            for k in range(n_critical):
                if counts[critical[k]] < need - 1 or not has_edge(indptr, indices, critical[k], v):
                    fits = False
                    break
            if not fits:
                continue
            equals = 1 if counts[v] > most else equals + 1
            if counts[v] > most or random_number(state) % equals == 0:
                chosen = v
            most = counts[v]
        if chosen < 0:
            break
        members[size] = chosen
        size += 1
        used_release[release[chosen]] = True
        used_known[known[chosen]] = True
        shift(indptr, indices, chosen, counts, 1)
    return size


@jit
def quasi_clique(indptr, indices, release, known, gamma, start, n_rounds, state, best):
    """Grow from `start`, then again and again from the best set less some random members.

    Returns the size of the largest set found, put into `best`; of equal ones the one with most adjacent pairs.
    """
    n = indptr.shape[0] - 1
    used_release = np.zeros(max_of(release) + 1, dtype=np.bool_)
    used_known = np.zeros(max_of(known) + 1, dtype=np.bool_)
    counts = np.zeros(n, dtype=np.int32)
    members = np.empty(best.shape[0], dtype=np.int64)
    size = start.shape[0]
    put(members[:size], start)
    put(best[:size], start)
    best_size = size
    best_ends = size * (size - 1)
    for k in range(size):
        used_release[release[start[k]]] = True
        used_known[known[start[k]]] = True
        shift(indptr, indices, start[k], counts, 1)
    for n_round in range(n_rounds + 1):
        if n_round > 0:
            for _ in range(1 + random_number(state) % max(1, size // 3)):
                k = random_number(state) % size
                v = members[k]
                size -= 1
                members[k] = members[size]
                used_release[release[v]] = False
                used_known[known[v]] = False
                shift(indptr, indices, v, counts, -1)
        size = grow(indptr, indices, release, known, gamma, counts, used_release, used_known, members, size, state)
        ends = 0
        valid = True
        for k in range(size):
            ends += counts[members[k]]
            if counts[members[k]] < needed(gamma, size):
                valid = False
        if valid and (size > best_size or (size == best_size and ends > best_ends)):
            best_size = size
            best_ends = ends
            put(best[:size], members[:size])
        else:
            # Back to the best set: the walk may not drift through sets that are no quasi-cliques.
            for k in range(size):
                used_release[release[members[k]]] = False
                used_known[known[members[k]]] = False
                shift(indptr, indices, members[k], counts, -1)
            size = best_size
            put(members[:size], best[:size])
            for k in range(size):
                used_release[release[members[k]]] = True
                used_known[known[members[k]]] = True
                shift(indptr, indices, members[k], counts, 1)
    return best_size
