"""Multidimensional partitioning (Mondrian) of coded records, with the tests that a part must pass."""

from __future__ import annotations

import numpy as np

from reident.kernels._numba import jit

# What a part must satisfy beside its size: codes of `rule`.
DISTINCT = 1
ENTROPY = 2
RECURSIVE = 3
EQUAL_DISTANCE = 4
ORDERED_DISTANCE = 5
HIERARCHICAL_DISTANCE = 6  # of the lattice methods only

# A median is looked for in so many ranges at once.
_RANGES = 4096


@jit
def passes(counts, size, rule, ell, limit, overall):
    """Tell whether a part with these `counts` of sensitive values satisfies one rule.

    `ell` is l (for ENTROPY a float), `limit` is c or t, `overall` the table's distribution. A hair of tolerance
    keeps a part that satisfies its rule with equality.
    """
    if rule == DISTINCT:
        distinct = 0
        for count in counts:
            distinct += count > 0
        return distinct >= ell
    if rule == ENTROPY:
        entropy = 0.0
        for count in counts:
            if count > 0:
                entropy -= count / size * np.log(count / size)
        return entropy >= np.log(ell) - 1e-12
    if rule == RECURSIVE:
        # The largest count against the sum of those from the l-th largest on.
        rest = counts.copy()
        largest = 0
        for place in range(min(max(int(ell) - 1, 0), rest.size) + 1):
            top = 0
            for v in range(rest.size):
                if rest[v] > rest[top]:
                    top = v
            if place == 0:
                largest = rest[top]
            if place < int(ell) - 1:
                rest[top] = 0
        tail = 0
        for count in rest:
            tail += count
        return largest < limit * tail
    if rule == EQUAL_DISTANCE:
        distance = 0.0
        for v in range(counts.size):
            distance += max(counts[v] / size - overall[v], 0.0)
        return distance <= limit + 1e-12
    if rule == ORDERED_DISTANCE:
        distance = 0.0
        gap = 0.0
        for v in range(counts.size):
            gap += counts[v] / size - overall[v]
            distance += abs(gap)
        return distance <= limit * max(counts.size - 1, 1) + 1e-12
    return True


@jit
def _value_at(values, rank, low, high):
    """Return the value of a rank (from 0) among integers between `low` < `high`, by counting in narrower ranges.

    Returns (value, how many lie below it, how many equal it).
    """
    counts = np.empty(min(_RANGES, 4 * values.size), dtype=np.int64)
    below = same = 0
    while low < high:
        shift = 0
        while (high - low) >> shift >= counts.size:
            shift += 1
        for b in range(counts.size):
            counts[b] = 0
        for value in values:
            if low <= value <= high:
                counts[(value - low) >> shift] += 1
        b = 0
        while below + counts[b] <= rank:
            below += counts[b]
            b += 1
        low += b << shift
        high = min(high, low + (1 << shift) - 1)
        same = counts[b]
    return low, below, same


@jit
def best_cut(values, k):
    """Return the cut of a part along one attribute nearest its median, as (code, number of records left of it).

    All records with a code up to `code` go left, so that ties stay together; of the cuts that leave at least k records
    on both sides the one nearest the middle, of two equally near the lower. (-1, 0) if there is none.
    """
    size = values.size
    low = high = np.int64(values[0])
    for value in values:
        low = min(low, np.int64(value))
        high = max(high, np.int64(value))
    if low == high or size < 2 * k:
        return -1, 0
    # The nearest cuts are those right below and right above the median's code.
    middle, below, same = _value_at(values, size // 2, low, high)
    up_to = below + same
    if below >= k and (size - up_to < k or size - 2 * below <= 2 * up_to - size):
        code = low
        for value in values:
            code = max(code, value if value < middle else low)
        return code, below
    if size - up_to >= k:
        return middle, up_to
    return -1, 0


@jit
def by_width(codes, start, end, places, n_codes):
    """Return the attributes from the widest to the narrowest in this part, in shares of the table's width.

    Attributes of no width are left out. Of equally wide ones the first stays first.
    """
    q = codes.shape[1]
    widths = np.zeros(q)
    order = np.empty(q, dtype=np.int64)
    n_wide = 0
    for j in range(q):
        low = codes[start, j]
        high = low
        for value in codes[start:end, j]:
            low = min(low, value)
            high = max(high, value)
        if high == low:
            continue
        widths[j] = (places[j, high] - places[j, low]) / (places[j, n_codes[j] - 1] - places[j, 0])
        at = n_wide
        while at > 0 and widths[order[at - 1]] < widths[j]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = j
        n_wide += 1
    return order[:n_wide]


@jit
def _split(
    codes, order, sensitive, judged, start, end, attribute, code, n_left, spare_codes, spare_order, spare_sensitive
):
    """Move the records that go left to the front of the part, keeping their order on both sides.

    Sensitive values are moved where a rule judges them.
    """
    to_left, to_right = start, start + n_left
    for i in range(start, end):
        # Without branches: each would be guessed wrongly half of the time.
        goes_left = np.int64(codes[i, attribute] <= code)
        to = goes_left * to_left + (1 - goes_left) * to_right
        to_left += goes_left
        to_right += 1 - goes_left
        for j in range(codes.shape[1]):
            spare_codes[to, j] = codes[i, j]
        spare_order[to] = order[i]
        if judged:
            spare_sensitive[to] = sensitive[i]
    for j in range(codes.shape[1]):
        for i in range(start, end):
            codes[i, j] = spare_codes[i, j]
    for i in range(start, end):
        order[i] = spare_order[i]
        if judged:
            sensitive[i] = spare_sensitive[i]


@jit
def _halves_pass(part, sensitive, attribute, code, n_left, rules, ells, limits, overall):
    """Tell whether both sides of a cut satisfy every rule."""
    counts = np.zeros((2, overall.size), dtype=np.int64)
    for i in range(part.shape[0]):
        counts[np.int64(part[i, attribute] > code), sensitive[i]] += 1
    for r in range(rules.size):
        if not passes(counts[0], n_left, rules[r], ells[r], limits[r], overall):
            return False
        if not passes(counts[1], part.shape[0] - n_left, rules[r], ells[r], limits[r], overall):
            return False
    return True


@jit
def mondrian(codes, places, n_codes, k, sensitive, rules, ells, limits, overall):
    """Partition records into parts of at least k that satisfy the rules.

    Parameters
    ----------
    codes : int32 array, shape (n, q), Fortran order. Modified: its rows end up part by part.
        Ordered codes 0..n_codes[j]-1 of each attribute.
    places : float64 array, shape (q, max n_codes)
        Where each code lies on its attribute's scale; increasing.
    n_codes : int64 array, shape (q,)
    k : int
    sensitive : int64 array, shape (n,). Modified as `codes`.
        Codes of the sensitive value; all zero where there is no rule.
    rules, ells, limits : arrays, shape (r,)
        The rules (see `passes`).
    overall : float64 array, shape (m,)
        The table's distribution of the sensitive value.

    Returns
    -------
    order : int64 array, shape (n,)
        The records, part by part.
    starts : int64 array, shape (n_parts + 1,)
    """
    n = codes.shape[0]
    order = np.empty(n, np.int64)
    for i in range(n):
        order[i] = i
    spare_codes, spare_order, spare_sensitive = codes.copy(), np.empty(n, np.int64), np.empty(n, np.int64)
    starts = np.empty(n // k + 2, dtype=np.int64)
    n_parts = 0
    stack = np.empty((n // k + 2, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1] = 0, n
    depth = 1
    while depth > 0:
        depth -= 1
        start, end = stack[depth, 0], stack[depth, 1]
        cut = False
        if end - start >= 2 * k:
            for attribute in by_width(codes, start, end, places, n_codes):
                code, n_left = best_cut(codes[start:end, attribute], k)
                if code < 0:
                    continue
                if rules.size and not _halves_pass(
                    codes[start:end], sensitive[start:end], attribute, code, n_left, rules, ells, limits, overall
                ):
                    continue
                _split(
                    codes, order, sensitive, rules.size > 0, start, end, attribute, code, n_left,
                    spare_codes, spare_order, spare_sensitive,
                )  # fmt: skip
                stack[depth, 0], stack[depth, 1] = start + n_left, end
                stack[depth + 1, 0], stack[depth + 1, 1] = start, start + n_left
                depth += 2
                cut = True
                break
        if not cut:
            starts[n_parts] = start
            n_parts += 1
    starts[n_parts] = n
    return order, starts[: n_parts + 1].copy()
