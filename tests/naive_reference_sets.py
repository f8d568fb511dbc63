import itertools

import numpy as np

TOL = 1e-9


def largest_differences(coordinates):
    """The released matrix of coordinates (d, n)."""
    records = list(zip(*coordinates, strict=True))
    return [[max(abs(p - q) for p, q in zip(f, g, strict=True)) for g in records] for f in records]


def equations(d, rows=None):
    """Yield pairs of directed entries ((upper, lower), (upper, lower)) that point the same way in one set."""
    rows = range(len(d)) if rows is None else rows
    for a, b in itertools.combinations(rows, 2):
        for y, z in itertools.combinations(range(len(d)), 2):
            to_y, to_z = d[a][y] - d[b][y], d[a][z] - d[b][z]
            if not abs(abs(to_y) - abs(to_z)) <= TOL or abs(to_y) <= TOL:
                continue
            entries = [
                (row, column) if difference > 0 else (column, row)
                for column, difference in ((y, to_y), (z, to_z))
                for row in (a, b)
                if row != column
            ]
            yield from ((entries[0], entry) for entry in entries[1:])


def classes(d):
    """The classes of directed entries, as a set of frozensets; those of one entry are left out."""
    joined = {}
    for one, other in equations(d):
        for pair in ((one, other), (one[::-1], other[::-1])):
            joined.setdefault(pair[0], set()).add(pair[1])
            joined.setdefault(pair[1], set()).add(pair[0])
    found, seen = set(), set()
    for start in joined:
        if start in seen:
            continue
        reached, front = {start}, [start]
        while front:
            front = [new for entry in front for new in joined[entry] if new not in reached and not reached.add(new)]
        seen |= reached
        found.add(frozenset(reached))
    return found


def right_values(values, coordinates, tol=1e-6):
    """Count the values (n, m) that are one true coordinate each up to shift and sign, and all values."""
    right = total = 0
    for column in np.asarray(values).T:
        known = np.isfinite(column)
        best = 0
        for f, sign in itertools.product(np.asarray(coordinates), (1, -1)):
            shift = f[known] - sign * column[known]
            best = max(best, int((np.abs(shift - np.median(shift)) < tol).sum()))
        right, total = right + best, total + int(known.sum())
    return right, total
