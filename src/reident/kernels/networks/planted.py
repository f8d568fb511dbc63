"""The search tree for a planted subgraph: paths with given degrees and given inner edges."""

import numpy as np

from reident.kernels._numba import jit
from reident.kernels.networks.network import has_edge


@jit
def find_planted(indptr, indices, starts, degrees, parent, joined, slack, edge_slack, max_found, node_limit):
    """Search all ways to place the wanted nodes 0..k-1 one after the other.

    Parameters
    ----------
    starts : ndarray of int64
        Candidates for the first wanted node.
    degrees : ndarray of int64, shape (k,)
        Wanted degrees; a candidate's may differ by up to `slack`.
    parent : ndarray of int64, shape (k,)
        parent[i] < i is a wanted node joined to i: the candidates for i are the neighbours of its image.
    joined : ndarray of bool, shape (k, k)
        Wanted inner edges; up to `edge_slack` pairs may differ in all.
    max_found, node_limit : int
        Keep so many placements, and stop after so many that fit exactly, or so many nodes of the search tree.

    Returns
    -------
    placements of least misfit (found, k), their misfit, number of tree nodes, whether the search ended by itself

    The misfit of a placement is the sum of its deviations of degree, and one for each pair that differs. A branch is
    left when its misfit exceeds the least so far.
    """
    k = degrees.shape[0]
    placements = np.empty((max_found, k), np.int64)
    n_found = 0
    n_tree = np.int64(0)
    image = np.full(k, -1, np.int64)
    at = np.zeros(k, np.int64)
    wrong = np.zeros(k + 1, np.int64)
    misfit = np.zeros(k + 1, np.int64)
    smallest = np.int64(slack * k + edge_slack)
    level = 0
    while level >= 0:
        if level == 0:
            if at[0] == starts.shape[0]:
                break
            candidate = starts[at[0]]
        else:
            p = indptr[image[parent[level]]] + at[level]
            if p == indptr[image[parent[level]] + 1]:
                level -= 1
                continue
            candidate = np.int64(indices[p])
        at[level] += 1
        gap = abs(indptr[candidate + 1] - indptr[candidate] - degrees[level])
        if gap > slack:
            continue
        mistakes = wrong[level]
        for i in range(level):
            if image[i] == candidate:
                mistakes = edge_slack + 1
                break
            if has_edge(indptr, indices, candidate, image[i]) != joined[level, i]:
                mistakes += 1
                if mistakes > edge_slack:
                    break
        total = misfit[level] + gap + mistakes - wrong[level]
        if mistakes > edge_slack or total > smallest:
            continue
        n_tree += 1
        if n_tree > node_limit:
            return placements[:n_found], smallest, n_tree, False
        image[level] = candidate
        if level == k - 1:
            if total < smallest:
                smallest = total
                n_found = 0
            if n_found < max_found:
                for i in range(image.shape[0]):
                    placements[n_found, i] = image[i]
                n_found += 1
            if n_found == max_found and smallest == 0:
                return placements[:n_found], smallest, n_tree, False
            continue
        wrong[level + 1] = mistakes
        misfit[level + 1] = total
        level += 1
        at[level] = 0
    return placements[:n_found], smallest, n_tree, True
