"""A small set of members that hits every one of many small sets, by local search with weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from reident.kernels._numba import jit

#: Share of the steps in which any member of the row comes in: weights alone go round in circles in small cases.
_AT_RANDOM = 0.02


class _Search(NamedTuple):
    """The arrays of a search, changed in place."""

    starts: Any
    members: Any
    #: the rows of each member, as `starts` and `members` for rows
    of_starts: Any
    of_rows: Any
    weight: Any
    #: by how many members a row is hit; the rows that none hits stand first in `open_rows`, each at its `place`
    hits: Any
    open_rows: Any
    place: Any
    inside: Any
    #: weight of the rows that only this member hits, or would newly hit
    worth: Any


@jit
def small_hitting_set(starts, members, n, steps, rng):
    """Search a small set of members that has one in every row.

    Parameters
    ----------
    starts : ndarray of int64, shape (rows + 1,)
        Where each row begins in `members`.
    members : ndarray of int64
        The members of each row, each once; no row is empty.
    n : int
        Number of members there are.
    steps : int
        Exchanges tried after the last improvement.
    rng : Generator
        Breaks ties; consumed.

    Returns
    -------
    ndarray of bool, shape (n,)
        The best set found.

    Notes
    -----
    Row weighting local search (Gao et al., 2015): out goes the member whose loss leaves the lightest rows open, in
    comes one of a random open row; rows that stay open gain weight. No guarantee of the least size. One step takes time
    linear in the rows of the two members.
    """
    n_rows = starts.size - 1
    of_starts = np.zeros(n + 1, np.int64)
    first_worth = np.zeros(n, np.int64)
    for entry in members:
        first_worth[entry] += 1
    for b in range(n):
        of_starts[b + 1] = of_starts[b] + first_worth[b]
    of_rows = np.empty(members.size, np.int64)
    free = of_starts.copy()
    unhit, place_of = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    weight, hits = np.empty(n_rows, np.int64), np.zeros(n_rows, np.int64)
    for row in range(n_rows):
        weight[row] = 1
        unhit[row] = place_of[row] = row
        for entry in range(starts[row], starts[row + 1]):
            of_rows[free[members[entry]]] = row
            free[members[entry]] += 1
    search = _Search(
        starts, members, of_starts, of_rows, weight, hits, unhit, place_of, np.zeros(n, np.bool_), first_worth
    )
    worth, inside, open_rows = search.worth, search.inside, search.open_rows
    n_open = n_rows
    moved = np.zeros(n, np.int64)  # the step at which a member came or went last
    best, smallest = np.ones(n, np.bool_), n + 1
    size, step, last = 0, 1, 1
    while n_open > 0:  # a greedy start
        b, ties = np.int64(-1), 0
        for other in range(n):
            if inside[other] or worth[other] == 0:
                continue
            if b >= 0 and worth[other] == worth[b]:
                ties += 1
                if rng.random() * ties < 1.0:
                    b = np.int64(other)
            elif b < 0 or worth[other] > worth[b]:
                b, ties = np.int64(other), 1
        size += 1
        n_open = _flip(search, b, n_open)
    while True:
        while n_open == 0:
            for b in range(n):
                best[b] = inside[b]
            smallest, last = size, step
            if smallest == 0:
                return best
            b = _lightest_inside(worth, inside, moved, np.int64(-1))
            size -= 1
            n_open = _flip(search, b, n_open)
        if step - last >= steps:
            return best
        step += 1
        row = open_rows[int(rng.random() * n_open)]
        of_row = members[starts[row] : starts[row + 1]]
        # The member worth most, of equal ones the one that moved longest ago.
        entering = of_row[0]
        for b in of_row[1:]:
            if worth[b] > worth[entering] or (worth[b] == worth[entering] and moved[b] < moved[entering]):
                entering = b
        if rng.random() < _AT_RANDOM:
            entering = of_row[int(rng.random() * of_row.size)]
        while size + 1 >= smallest:
            b = _lightest_inside(worth, inside, moved, step - 1)
            if b < 0:
                break
            size -= 1
            moved[b] = step
            n_open = _flip(search, b, n_open)
        if size + 1 < smallest:
            size += 1
            moved[entering] = step
            n_open = _flip(search, entering, n_open)
        for position in range(n_open):
            row = open_rows[position]
            search.weight[row] += 1
            for entry in range(starts[row], starts[row + 1]):
                worth[members[entry]] += 1


@jit
def _lightest_inside(worth, inside, moved, fixed):
    """Return the member that is worth least, none that moved at step `fixed`; -1 if there is no other."""
    chosen = -1
    for b in range(worth.size):
        if not inside[b] or moved[b] == fixed:
            continue
        if chosen < 0 or worth[b] < worth[chosen] or (worth[b] == worth[chosen] and moved[b] < moved[chosen]):
            chosen = b
    return chosen


@jit
def _flip(search, b, n_open):
    """Take a member in or out; returns the number of open rows."""
    inside, worth, place, open_rows = search.inside, search.worth, search.place, search.open_rows
    entering = not inside[b]
    inside[b] = entering
    for position in range(search.of_starts[b], search.of_starts[b + 1]):
        row = search.of_rows[position]
        search.hits[row] += 1 if entering else -1
        change = -search.weight[row] if entering else search.weight[row]
        of_row = search.members[search.starts[row] : search.starts[row + 1]]
        if search.hits[row] == (1 if entering else 0):
            # the row closes or opens: its other members no longer hit it newly, or do again
            for other in of_row:
                if other != b:
                    worth[other] += change
            if entering:
                n_open -= 1
                moving = open_rows[n_open]
                open_rows[place[row]], place[moving] = moving, place[row]
            else:
                open_rows[n_open], place[row] = row, n_open
                n_open += 1
        elif search.hits[row] == (2 if entering else 1):
            # another member no longer hits it alone, or does again
            for other in of_row:
                if other != b and inside[other]:
                    worth[other] += change
    return n_open
