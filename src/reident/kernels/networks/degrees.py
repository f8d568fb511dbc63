"""Degree sequences: optimal k-anonymous ones and tests of realisability."""

import numpy as np

from reident.kernels._argsort import argsort
from reident.kernels._numba import jit


@jit
def _group(d, total, start, end, both):
    """Return the cheapest common degree of d[start:end] and its cost."""
    size = end - start
    if not both:
        return d[start], d[start] * size - (total[end] - total[start])
    middle = start + size // 2
    value = d[middle]
    above = total[middle] - total[start] - value * (middle - start)
    below = value * (end - middle) - (total[end] - total[middle])
    return value, above + below


@jit
def _offer(best, size_of, shift_of, start, end, cost, odd, shift):
    """Put in place what reaches `end` from `start` at a lower cost; `odd` turns the parity of the sum."""
    for state in range(2):
        price, target = best[start, state] + cost, state ^ odd
        if price < best[end, target]:
            best[end, target] = price
            size_of[end, target] = end - start
            shift_of[end, target] = shift


@jit
def anonymise_sequence(d, k, both, even, highest):
    """Return the k-anonymous sequence nearest to the decreasing sequence `d`, and its L1 cost.

    `both`: degrees may fall as well as rise. `even`: the new sum must be even. `highest`: the largest degree allowed.
    The cost is -1 where no sequence exists (an even sum may be out of reach for a handful of nodes).
    """
    n = d.shape[0]
    total = np.zeros(n + 1, np.int64)
    first = np.zeros(n, np.int64)
    last = np.zeros(n, np.int64)
    for i in range(n):
        total[i + 1] = total[i] + d[i]
        first[i] = first[i - 1] if i > 0 and d[i - 1] == d[i] else i
    for i in range(n - 1, -1, -1):
        last[i] = last[i + 1] if i < n - 1 and d[i + 1] == d[i] else i
    far = np.int64(1) << 60
    best = np.full((n + 1, 2), far, np.int64)
    size_of = np.zeros((n + 1, 2), np.int32)
    shift_of = np.zeros((n + 1, 2), np.int8)
    best[0, 0] = 0
    for end in range(k, n + 1):
        for size in range(k, min(2 * k - 1, end) + 1):
            start = end - size
            if best[start, 0] == far and best[start, 1] == far:
                continue
            value, cost = _group(d, total, start, end, both)
            # Without the parity constraint everything lives in state 0.
            odd = (value * size) & 1 if even else 0
            _offer(best, size_of, shift_of, start, end, cost, odd, 0)
            if even and size & 1:
                # The cheapest change of an odd group's degree by one, and what it costs; 0 where none is allowed.
                shift = extra = 0
                if not both and value < highest:
                    shift, extra = 1, size
                if both:
                    middle = start + size // 2
                    larger = max(first[middle], start) - start
                    smaller = end - min(last[middle] + 1, end)
                    if value < highest:
                        shift, extra = 1, size - 2 * larger
                    if value > 0 and (shift == 0 or size - 2 * smaller < extra):
                        shift, extra = -1, size - 2 * smaller
                if shift != 0:
                    _offer(best, size_of, shift_of, start, end, cost + extra, odd ^ 1, shift)
    anonymous = np.empty(n, np.int64)
    if best[n, 0] == far:
        return anonymous, np.int64(-1)
    end = n
    state = 0
    while end > 0:
        size = size_of[end, state]
        start = end - size
        value, _ = _group(d, total, start, end, both)
        value += shift_of[end, state]
        for i in range(start, end):
            anonymous[i] = value
        if even:
            state ^= (value * size) & 1
        end = start
    return anonymous, best[n, 0]


@jit
def may_extend(indptr, indices, a):
    """Test the necessary condition of Theorem 9.6 for residual degrees `a` >= 0 over the graph's non-edges.

    Nodes without residual never decide: beyond the positive ones the right side only grows. A node outside the set adds
    min(members that it is not joined to, its residual), which only changes until it is saturated.
    """
    n = a.shape[0]
    total = np.int64(0)
    positive = 0
    for i in range(n):
        total += a[i]
        if a[i] > 0:
            positive += 1
    if total % 2 == 1:
        return False
    order = argsort(-a)[:positive]
    outside = np.zeros(n, np.int64)
    inside = np.zeros(n, np.bool_)
    mark = np.full(n, -1, np.int64)
    active = order.copy()
    n_active = positive
    needed = np.int64(0)
    joined = np.int64(0)
    free = np.int64(0)
    for step in range(min(positive, n - 1)):
        new = order[step]
        needed += a[new]
        free -= outside[new]
        outside[new] = 0
        inside[new] = True
        for p in range(indptr[new], indptr[new + 1]):
            mark[indices[p]] = step
            if inside[indices[p]]:
                joined += 1
        n_kept = 0
        for i in range(n_active):
            u = active[i]
            if inside[u]:
                continue
            if mark[u] != step:
                outside[u] += 1
                free += 1
            if outside[u] < a[u]:
                active[n_kept] = u
                n_kept += 1
        n_active = n_kept
        if needed > (step + 1) * step - 2 * joined + free:
            return False
    return True
