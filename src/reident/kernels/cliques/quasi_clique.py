"""Growing sets of matches in which most pairs agree."""

import math

import numpy as np

from reident.kernels._numba import jit
from reident.kernels.cliques.clique_climb import random_number
from reident.kernels.networks.network import has_edge


@jit
def grow(indptr, indices, release, known, gamma, counts, used_release, used_known, members, size, state):
    """Add vertices, one at a time, as long as every member keeps enough neighbours; return the new size.

    Always the one with most neighbours inside, a random one among equals; never one whose record is matched already.
    """
    n = indptr.shape[0] - 1
    critical = np.empty(members.shape[0], dtype=np.int64)
    while size < members.shape[0]:
        # gamma * n is meant as written: 0.9 * 10 needs 9, not 10.
        need = math.ceil(gamma * size - 1e-9)
        n_critical = 0
        for k in range(size):
            if counts[members[k]] < need:
                critical[n_critical] = members[k]
                n_critical += 1
        largest = -1
        chosen = -1
        equals = 0
        for v in range(n):
            if counts[v] < need or counts[v] < largest or used_release[release[v]] or used_known[known[v]]:
                continue
            fits = True
            for k in range(n_critical):
                if counts[critical[k]] < need - 1 or not has_edge(indptr, indices, critical[k], v):
                    fits = False
                    break
            if not fits:
                continue
            equals = 1 if counts[v] > largest else equals + 1
            if counts[v] > largest or random_number(state) % equals == 0:
                chosen = v
            largest = counts[v]
        if chosen < 0:
            break
        members[size] = chosen
        size += 1
        used_release[release[chosen]] = True
        used_known[known[chosen]] = True
        for p in range(indptr[chosen], indptr[chosen + 1]):
            counts[indices[p]] += 1
    return size
