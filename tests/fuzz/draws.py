import itertools

import numpy as np


def graph(rng, least=1, most=7):
    """Draw an adjacency matrix of any density; now and then an empty or a complete one."""
    n = int(rng.integers(least, most + 1))
    upper = np.triu(
        rng.random((n, n)) < rng.choice([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], p=[0.05, 0.2, 0.25, 0.25, 0.2, 0.05]), 1
    )
    return upper | upper.T


def wide_graph(rng, least=1):
    return graph(rng, least) if rng.random() < 0.995 else graph(rng, 63, 67)


def rows(dense):
    pointers = np.concatenate([[0], np.cumsum(dense.sum(axis=1))]).astype(np.int64)
    return pointers, np.nonzero(dense)[1].astype(np.int32)


def prefixes(dense):
    """Return the neighbour lists of smaller number."""
    return rows(np.tril(dense, -1))


def packed(dense):
    words = (dense.shape[1] + 63) // 64
    padded = np.zeros((dense.shape[0], 64 * words), np.uint8)
    padded[:, : dense.shape[1]] = dense
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64).reshape(dense.shape[0], words)


def packed_set(members, n):
    chosen = np.zeros((1, n), bool)
    chosen[0, list(members)] = True
    return packed(chosen)[0]


def edges(dense):
    u, v = np.nonzero(np.triu(dense))
    return u.astype(np.int32), v.astype(np.int32)


def dense_of(pairs, n):
    out = np.zeros((n, n), bool)
    for a, b in pairs:
        out[a, b] = out[b, a] = True
    return out


def pairs_of(u, v):
    """Return edges as a sorted list of pairs, the smaller end first; repeated ones stay."""
    return sorted((min(a, b), max(a, b)) for a, b in zip(np.asarray(u).tolist(), np.asarray(v).tolist(), strict=True))


def is_clique(dense, members):
    return all(dense[a, b] for a, b in itertools.combinations(members, 2))


def some(rng, n):
    return np.flatnonzero(rng.random(n) < rng.random())


def numbers(rng, size, *, grid=True):
    """Draw numbers, mostly on a coarse grid so that ties are frequent."""
    if grid and rng.random() < 0.7:
        return rng.integers(0, 5, size).astype(np.float64)
    return np.round(rng.random(size) * 10, 3)
