"""The passive attack's propagation: similarity of mapped neighbourhoods by an inverted index."""

import numpy as np

from reident.kernels._numba import jit
from reident.kernels.networks.network import has_edge

#: Rows of fewer entries in all are walked at once; a second best this near the best one is not judged without that.
_SHORT, _NEAR = 64, 0.99

# A side is the tuple (in_ptr, in_idx, out_ptr, out_idx, both_ptr, both_idx, crawled). In an undirected graph the three
# pairs of rows are one, and every node is crawled (its links are all known).


@jit
def _touch(counts, touched, n_touched, ptr, indices, x):
    """Count the neighbours of x, and list those that are met for the first time; return how many are listed."""
    for q in range(ptr[x], ptr[x + 1]):
        r = np.uintp(indices[q])
        count = counts[r]
        touched[n_touched] = r  # without a branch: it would be guessed wrongly half of the time
        n_touched += np.uintp(count == 0)
        counts[r] = count + 1
    return n_touched


@jit
def _standing(best, first, second, total, squares, n):
    """Return the best of n nodes and the eccentricity of its score, from sums over all scores; -1 if none scores."""
    mean = total / n
    variance = squares / n - mean * mean
    if best < 0 or variance <= 0.0:
        return np.int64(-1), 0.0
    return np.int64(best), (first - second) / np.sqrt(variance)


@jit
def best_of_crawled(node, rows, other_rows, ahead, n_other, other_size, work):
    """Do as `best_match` where every node of both networks is crawled, in one pass over small arrays.

    `rows` and `other_rows` are the pointers and indices of both networks.
    """
    row_ptr, row_indices = rows
    ptr, indices = other_rows
    counts, _, touched, inverse_root = work
    n_touched = np.uintp(0)
    for p in range(row_ptr[node], row_ptr[node + 1]):
        x = ahead[row_indices[p]]
        if x >= 0:
            n_touched = _touch(counts, touched, n_touched, ptr, indices, x)
    first = 0.0
    second = 0.0
    best = -1
    total = 0.0
    squares = 0.0
    for i in range(n_touched):
        r = np.uintp(touched[i])
        score = counts[r] * inverse_root[np.uintp(other_size[r])]
        counts[r] = 0
        total += score
        squares += score * score
        if score > first:
            second = first
            first = score
            best = r
        elif score > second:
            second = score
    # The common factor of the node's own size cancels in the eccentricity.
    return _standing(best, first, second, total, squares, n_other)


@jit
def surely_best(node, guess, rows, other_rows, ahead, n_other, other_size, work, theta):
    """Return the node that `best_of_crawled` names if its eccentricity is `theta` or more; -1 if that needs a walk.

    Rows of hubs are most of the work. Without them a count is known up to the number of hubs h: a node that only hubs
    may lead to has a score of at most sqrt(h), and the squares of all scores sum to at most the length of the rows.
    All nodes are crawled. `guess`: whom to confirm, or -1; a negative `theta`: nothing but that it is the best.
    """
    counts, _, touched, inverse_root = work
    row_ptr, row_indices = rows
    ptr, indices = other_rows
    n_known = 0
    total = 0
    for p in range(row_ptr[node], row_ptr[node + 1]):
        x = ahead[row_indices[p]]
        if x >= 0:
            n_known += 1
            total += ptr[x + 1] - ptr[x]
    if total < _SHORT:
        return np.int64(-1)
    limit = total // n_known
    n_hubs = n_known
    while 2 * n_hubs > n_known:
        n_hubs = 0
        for p in range(row_ptr[node], row_ptr[node + 1]):
            x = ahead[row_indices[p]]
            if x >= 0 and ptr[x + 1] - ptr[x] > limit:
                n_hubs += 1
        limit *= 2
    limit //= 2
    if n_hubs == 0:
        return np.int64(-1)
    hubs = np.empty(n_hubs, np.int64)
    n_hubs = 0
    n_touched = np.uintp(0)
    for p in range(row_ptr[node], row_ptr[node + 1]):
        x = ahead[row_indices[p]]
        if x < 0:
            continue
        if ptr[x + 1] - ptr[x] > limit:
            hubs[n_hubs] = x
            n_hubs += 1
            continue
        n_touched = _touch(counts, touched, n_touched, ptr, indices, x)
    if guess < 0:
        highest = 0.0
        for i in range(n_touched):
            r = np.uintp(touched[i])
            score = counts[r] * inverse_root[np.uintp(other_size[r])]
            if score > highest:
                highest = score
                guess = np.int64(r)
    second = np.sqrt(float(n_hubs))
    best = 0.0
    if guess >= 0:
        best = _count_all(counts[guess], guess, hubs, ptr, indices) * inverse_root[other_size[guess]]
    sure = second < _NEAR * best
    looks = total
    for i in range(n_touched):
        r = np.uintp(touched[i])
        if sure and r != np.uintp(guess):
            size = other_size[r]
            score = min(counts[r] + n_hubs, size) * inverse_root[np.uintp(size)]
            if score >= _NEAR * best and looks > 0:
                looks -= 8 * n_hubs
                score = _count_all(counts[r], np.int64(r), hubs, ptr, indices) * inverse_root[np.uintp(size)]
            second = max(second, score)
            sure = second < _NEAR * best
        counts[r] = 0
    if not sure or (theta >= 0.0 and best - second <= theta * np.sqrt(total / n_other)):
        return np.int64(-1)
    return guess


@jit
def _count_all(count, node, hubs, ptr, indices):
    """Add to a count the hubs that a node is joined to."""
    for i in range(hubs.shape[0]):
        count += has_edge(ptr, indices, node, hubs[i])
    return count


@jit
def best_match(node, side, other, ahead, back, size_both, size_in, work):
    """Score every node of the other side against `node` by Algorithm 10.1 and return the best.

    `ahead` maps this side's nodes to the other's (-1: not mapped), `back` the other way; `size_*` count the mapped
    neighbours of this side's (0) and the other side's (1) nodes. The work arrays come in and go out as zeros.

    Returns the best node (-1 if none scores), and the eccentricity of its score among ALL nodes of the other side,
    zeros included.
    """
    counts_both, counts_in, touched, _ = work
    n_touched = 0
    crawled = side[6][node]
    rows_ptr = side[4] if crawled else side[0]
    rows = side[5] if crawled else side[1]
    for p in range(rows_ptr[node], rows_ptr[node + 1]):
        m = rows[p]
        x = ahead[m]
        if x < 0 or not side[6][m] or not other[6][x]:
            continue
        if crawled:
            for q in range(other[4][x], other[4][x + 1]):
                r = other[5][q]
                if not other[6][r]:
                    continue
                if counts_both[r] == 0 and counts_in[r] == 0:
                    touched[n_touched] = r
                    n_touched += 1
                counts_both[r] += 1
    # Outgoing links count only where both nodes are crawled; all other pairs go by incoming links.
    for p in range(side[0][node], side[0][node + 1]):
        m = side[1][p]
        x = ahead[m]
        if x < 0 or not side[6][m] or not other[6][x]:
            continue
        if crawled and other[7]:
            break
        for q in range(other[2][x], other[2][x + 1]):
            r = other[3][q]
            if crawled and other[6][r]:
                continue
            if counts_both[r] == 0 and counts_in[r] == 0:
                touched[n_touched] = r
                n_touched += 1
            counts_in[r] += 1
    first = 0.0
    second = 0.0
    best = -1
    total = 0.0
    squares = 0.0
    for i in range(n_touched):
        r = touched[i]
        if counts_both[r] > 0:
            score = counts_both[r] / np.sqrt(float(size_both[0][node]) * float(size_both[1][r]))
        else:
            score = counts_in[r] / np.sqrt(float(size_in[0][node]) * float(size_in[1][r]))
        counts_both[r] = 0
        counts_in[r] = 0
        total += score
        squares += score * score
        if score > first:
            second = first
            first = score
            best = r
        elif score > second:
            second = score
    return _standing(best, first, second, total, squares, back.shape[0])


@jit
def _winner(node, guess, least, theta, side, other, ahead, back, size_both, size_in, work):
    """Return the best match of a node if it stands out by `theta`, or surely is the best and by `least`; else -1."""
    if side[7] and other[7]:
        rows, other_rows, n_other = (side[4], side[5]), (other[4], other[5]), back.shape[0]
        sure = surely_best(node, guess, rows, other_rows, ahead, n_other, size_both[1], work, least)
        if sure >= 0:
            return sure
        best, stands_out = best_of_crawled(node, rows, other_rows, ahead, n_other, size_both[1], work)
    else:
        best, stands_out = best_match(node, side, other, ahead, back, size_both, size_in, work)
    return best if stands_out >= theta else np.int64(-1)


@jit
def _count(side, other, node, partner, size_both, size_in, change):
    """Enter (+1) or take back (-1) a mapped node in the sizes of its neighbours' mapped neighbourhoods."""
    if not other[6][partner]:
        return
    for p in range(side[4][node], side[4][node + 1]):
        size_both[side[5][p]] += change
    if not side[7]:
        for p in range(side[2][node], side[2][node + 1]):
            size_in[side[3][p]] += change


@jit
def _set(side, other, ahead, back, size_both, size_in, dirty, u, v, change):
    _count(side, other, u, v, size_both[0], size_in[0], change)
    _count(other, side, v, u, size_both[1], size_in[1], change)
    ahead[u] = v if change > 0 else -1
    back[v] = u if change > 0 else -1
    for p in range(side[4][u], side[4][u + 1]):
        dirty[side[5][p]] = True


@jit
def propagate_mapping(side, other, order, ahead, back, theta, max_sweeps):
    """Extend a mapping until a full sweep makes no change (Listing 10.1, kept injective). Modifies `ahead`, `back`.

    A sweep visits the left nodes in `order`; between full sweeps only nodes whose mapped neighbours changed.

    Returns whether the last full sweep changed nothing.
    """
    n_left = ahead.shape[0]
    n_right = back.shape[0]
    n = max(n_left, n_right)
    size_both = (np.zeros(n_left, np.int32), np.zeros(n_right, np.int32))
    size_in = (np.zeros(n_left, np.int32), np.zeros(n_right, np.int32))
    swapped_both = (size_both[1], size_both[0])
    swapped_in = (size_in[1], size_in[0])
    counts_both = np.zeros(n, np.int32)
    counts_in = np.zeros(n, np.int32)
    touched = np.empty(n + 1, np.int32)
    inverse_root = np.empty(n + 1)
    for i in range(n + 1):
        inverse_root[i] = 1.0 / np.sqrt(float(max(i, 1)))
    work = (counts_both, counts_in, touched, inverse_root)
    dirty = np.ones(n_left, np.bool_)
    join, leave = np.int64(1), np.int64(-1)
    for u in range(n_left):
        if ahead[u] >= 0:
            _set(side, other, ahead, back, size_both, size_in, dirty, u, ahead[u], join)
    full = True
    for _ in range(max_sweeps):
        changes = 0
        for i in range(n_left):
            u = order[i]
            if not (dirty[u] or full):
                continue
            dirty[u] = False
            if size_both[0][u] == 0 and size_in[0][u] == 0:
                continue
            # A partner that is the best needs not stand out.
            least = -1.0 if ahead[u] >= 0 else theta
            v = _winner(u, ahead[u], least, theta, side, other, ahead, back, size_both, size_in, work)
            if v < 0 or ahead[u] == v:
                continue
            if _winner(v, u, theta, theta, other, side, back, ahead, swapped_both, swapped_in, work) != u:
                continue
            if ahead[u] >= 0:
                _set(side, other, ahead, back, size_both, size_in, dirty, u, ahead[u], leave)
            if back[v] >= 0:
                _set(side, other, ahead, back, size_both, size_in, dirty, back[v], v, leave)
            _set(side, other, ahead, back, size_both, size_in, dirty, u, v, join)
            changes += 1
        if changes == 0:
            if full:
                return True
            full = True
        else:
            full = False
    return False
