"""The most that rows can be packed into members of limited capacity: the linear programme dual to hitting the rows.

Its value bounds the cost of every set that hits all rows from below, and so does every packing on the way to it.
"""

from __future__ import annotations

import numpy as np

from reident.kernels._numba import jit

#: What is nearer to 0 than these counts as 0: of a price, and of an entry of a column.
_PRICE, _ENTRY = 1e-9, 1e-9

#: Rows whose prices are looked at before the best of them enters.
_SCANNED = 100


@jit
def pack(starts, members, alive, free, inverse, basis, amount, price, enough, limit):
    """Go on with the simplex method from a feasible packing until none is larger, or the value suffices.

    Maximise the sum of y over rows that are alive, where the rows of member j that is not free weigh c[j] at most.

    Parameters
    ----------
    starts, members : ndarray of int64
        The rows as for `cheap_hitting_set`.
    alive : ndarray of bool, shape (rows,)
        Rows that count; the others are not taken in.
    free : ndarray of bool, shape (m,)
        Members without a capacity.
    inverse : ndarray of float64, shape (m, m)
        Inverse of the basis, transposed: modified in place, as are the next three.
    basis : ndarray of int64, shape (m,)
        What is basic: the slack of member j as j, row r as m + r.
    amount : ndarray of float64, shape (m,)
        Values of what is basic.
    price : ndarray of float64, shape (m,)
        What a little more capacity of each member is worth; at the end the shares of members in the covering problem.
    enough : float
        The value at which the method stops.
    limit : int
        Most steps.

    Returns
    -------
    int
        Steps made. Nothing larger was found if they are fewer than `limit`, or a row has no capacity at all.
    """
    m = price.size
    slack_in = np.zeros(m, np.bool_)
    value = 0.0
    for i in range(m):
        if basis[i] < m:
            slack_in[basis[i]] = True
        elif alive[basis[i] - m]:
            value += amount[i]
    column = np.empty(m)
    first = 0
    for step in range(limit):
        if value >= enough:
            return step
        entering, gain, first = _entering(starts, members, alive, free, slack_in, price, first)
        if entering < 0:
            return step
        _column(starts, members, inverse, entering, column)
        way = 1.0
        if gain < 0.0:
            way = -1.0
        leaving, most = -1, np.inf
        for i in range(m):
            if basis[i] < m and free[basis[i]]:
                continue
            rate = way * column[i]
            if rate > _ENTRY:
                ratio = max(amount[i], 0.0) / rate
                if ratio < most - 1e-12 or (ratio < most + 1e-12 and abs(column[i]) > abs(column[leaving])):
                    leaving, most = i, min(ratio, most)
        if leaving < 0:
            return step
        for i in range(m):
            amount[i] -= way * most * column[i]
        amount[leaving] = way * most
        if basis[leaving] < m:
            slack_in[basis[leaving]] = False
        basis[leaving] = entering
        if entering < m:
            slack_in[entering] = True
        value += gain * way * most
        for j in range(m):
            if inverse[j, leaving] != 0.0:
                share = inverse[j, leaving] / column[leaving]
                for i in range(m):
                    inverse[j, i] -= share * column[i]
                inverse[j, leaving] = share
                price[j] += gain * share
    return limit


@jit
def _entering(starts, members, alive, free, slack_in, price, first):
    """Choose what enters: a slack whose price has the wrong sign, or the best of the next rows that are underpriced."""
    m, n_rows = price.size, starts.size - 1
    best, gain, entering = _PRICE, 0.0, -1
    for j in range(m):
        if not slack_in[j]:
            worth = -price[j]
            if free[j]:
                worth = abs(price[j])
            if worth > best:
                best, gain, entering = worth, -price[j], j
    r = first
    for seen in range(n_rows):
        if seen >= _SCANNED and entering >= 0:
            break
        if alive[r]:
            worth = 1.0
            for place in range(starts[r], starts[r + 1]):
                worth -= price[members[place]]
            if worth > best:
                best, gain, entering = worth, worth, m + r
        r += 1
        if r == n_rows:
            r = 0
    return entering, gain, r


@jit
def _column(starts, members, inverse, entering, column):
    m = column.size
    if entering < m:
        for i in range(m):
            column[i] = inverse[entering, i]
        return
    for i in range(m):
        column[i] = 0.0
    for place in range(starts[entering - m], starts[entering - m + 1]):
        for i in range(m):
            column[i] += inverse[members[place], i]


@jit
def packed(starts, members, alive, free, basis, amount, capacity):
    """Return a value that a packing certainly has, whatever rounding did, and what is left of each capacity.

    From the basic rows alone, scaled where they weigh too much. The value is infinite if a row that is alive has no
    member with a capacity: nothing bounds such a row.
    """
    m = capacity.size
    for r in range(starts.size - 1):
        if alive[r]:
            bounded = False
            for place in range(starts[r], starts[r + 1]):
                if not free[members[place]]:
                    bounded = True
                    break
            if not bounded:
                return np.inf, capacity
    load = np.zeros(m)
    total = 0.0
    for i in range(m):
        r = basis[i] - m
        if r >= 0 and alive[r] and amount[i] > 0.0:
            total += amount[i]
            for place in range(starts[r], starts[r + 1]):
                load[members[place]] += amount[i]
    over = 1.0
    for j in range(m):
        if not free[j]:
            over = max(over, load[j] / capacity[j])
    return total / over, capacity - load / over
