"""Hidden coordinates in a matrix of largest differences: entries that share a reference set, and their values.

The released distance of x and y is the largest of |f_i(x) - f_i(y)|; the set i where it is reached is called active. If
one set is active for (a, y) and for (b, y), and y lies below both (f_i(y) < f_i(a), f_i(b)), then D_ay - D_by =
f_i(a) - f_i(b): the same number for all such y, and with the other sign for all y above both.
"""

import numpy as np

from reident.kernels._numba import jit
from reident.kernels.cliques.bitset import ONE, ZERO, count_shared, lowest_bit

_EMPTY = -1.0


@jit
def _root(parent, turned, entry):
    """Return the root of an entry, and whether the entry points against it; halves the way there."""
    against = False
    while parent[entry] != entry:
        above = parent[entry]
        turned[entry] ^= turned[above]
        parent[entry] = parent[above]
        against ^= turned[entry]
        entry = parent[entry]
    return entry, against


@jit
def _join(parent, turned, size, entry, flip, other, other_flip):
    """Put two directed entries into one class, pointing the same way; False if they are known to point apart."""
    root, against = _root(parent, turned, entry)
    other_root, other_against = _root(parent, turned, other)
    apart = against ^ flip ^ other_against ^ other_flip
    if root == other_root:
        return not apart
    if size[root] < size[other_root]:
        root, other_root = other_root, root
    parent[other_root] = root
    turned[other_root] = apart
    size[root] += size[other_root]
    return True


@jit
def _directed(n, x, y):
    """Return the number of the entry of x and y, and whether "x above y" reads it from the right to the left."""
    return (x * n + y, False) if x < y else (y * n + x, True)


@jit
def _partner(slots, owners, value, y, tol):
    """Return an earlier column with a difference of this size, or -1 after noting this one."""
    mask = slots.shape[0] - 1
    width = 1024 * tol
    cell = np.int64(value / width)
    # A value next to the edge of its cell may have its equal on the other side.
    inside = value - cell * width
    neighbour = cell - (inside <= tol) + (inside >= width - tol)
    at = 0
    for start in (neighbour, cell):
        at = (start ^ start >> 12 ^ start >> 24) & mask
        while slots[at] != _EMPTY:
            if abs(slots[at] - value) <= tol:
                return owners[at]
            at = (at + 1) & mask
    slots[at] = value
    owners[at] = y
    return -1


@jit
def equal_differences(distances, tol, rows_apart):
    """Join the entries that equal differences of two rows name as differences in one reference set.

    Rows are compared that lie as far apart as one of `rows_apart`, round the end. Returns, for the entry x n + y of
    x < y, its class (the number of an entry) and whether it points against that; and the number of equal differences.
    NaN stands for a missing entry.
    """
    n = distances.shape[0]
    parent = np.empty(n * n, dtype=np.int32)
    for entry in range(n * n):
        parent[entry] = entry
    turned = np.zeros(n * n, dtype=np.bool_)
    size = np.ones(n * n, dtype=np.int32)
    slots = np.empty(1 << int(np.ceil(np.log2(2 * n + 2))))
    owners = np.empty(slots.shape[0], dtype=np.int32)
    anchored = np.zeros(n, dtype=np.bool_)
    n_equal = 0
    for apart in rows_apart:
        for a in range(n):
            b = (a + apart) % n
            slots[:] = _EMPTY
            anchored[:] = False
            for y in range(n):
                difference = distances[a, y] - distances[b, y]
                # Equal or missing entries are no evidence; column b gives the number of column a in any matrix.
                if not abs(difference) > tol or y == b:
                    continue
                first = _partner(slots, owners, abs(difference), y, tol)
                if first < 0:
                    continue
                n_equal += 1
                anchor, flip = _directed(n, a, first) if first != a else _directed(n, b, first)
                flip ^= distances[a, first] < distances[b, first]
                if not anchored[first] and first != a and first != b:
                    entry, other_flip = _directed(n, b, first)
                    other_flip ^= distances[a, first] < distances[b, first]
                    _join(parent, turned, size, anchor, flip, entry, other_flip)
                    anchored[first] = True
                for row in (a, b):
                    if row != y:
                        entry, other_flip = _directed(n, row, y)
                        other_flip ^= distances[a, y] < distances[b, y]
                        _join(parent, turned, size, anchor, flip, entry, other_flip)
    for entry in range(n * n):
        root, against = _root(parent, turned, entry)
        parent[entry], turned[entry] = root, against
    return parent, turned, n_equal


@jit
def walk_class(entries, turned, distances, tol, f):
    """Fill `f` (n,) with the coordinate that one class of entries gives, up to its shift and sign; NaN elsewhere.

    Returns False if the entries contradict one another.
    """
    n = f.shape[0]
    f[:] = np.nan
    f[entries[0] // n] = 0.0
    moving = True
    while moving:
        moving = False
        for entry in entries:
            x, y = entry // n, entry % n
            rise = -distances[x, y] if turned[entry] else distances[x, y]
            if np.isnan(f[x]) and not np.isnan(f[y]):
                f[x] = f[y] + rise
                moving = True
            elif np.isnan(f[y]) and not np.isnan(f[x]):
                f[y] = f[x] - rise
                moving = True
    for entry in entries:
        x, y = entry // n, entry % n
        if not abs(abs(f[x] - f[y]) - distances[x, y]) <= tol:
            return False
    return True


@jit
def _match(f, g, shared, tol):
    """Return (sign, shift) with f = sign g + shift wherever both are known, at two different values at least; or 0.

    `shared` are the records that both know, as words of bits.
    """
    first = -1
    plus, minus, apart = True, True, False
    for w in range(shared.shape[0]):
        word = shared[w]
        while word != ZERO:
            x = (w << 6) + lowest_bit(word)
            word &= word - ONE
            if first < 0:
                first = x
                continue
            rise, step = f[x] - f[first], g[x] - g[first]
            apart |= abs(step) > 1e3 * tol
            plus &= abs(rise - step) <= tol
            minus &= abs(rise + step) <= tol
            if not (plus or minus):
                return 0.0, 0.0
    if not apart:
        return 0.0, 0.0
    sign = 1.0 if plus else -1.0
    return sign, f[first] - sign * g[first]


@jit
def merge_pieces(pieces, known, tol):
    """Join pieces (m, n) of one coordinate that agree on two records or more; returns which rows still stand.

    `known` are the records of each piece as rows of bits; modified, like `pieces`.
    """
    m, n = pieces.shape
    stands = np.ones(m, dtype=np.bool_)
    moving = True
    while moving:
        moving = False
        for i in range(m):
            if not stands[i]:
                continue
            for j in range(m):
                # Most pieces are small, and share no record.
                if j == i or not stands[j] or count_shared(known[i], known[j]) < 2:
                    continue
                sign, shift = _match(pieces[i], pieces[j], known[i] & known[j], tol)
                if sign == 0.0:
                    continue
                for x in range(n):
                    if np.isnan(pieces[i, x]):
                        pieces[i, x] = sign * pieces[j, x] + shift
                for word in range(known.shape[1]):
                    known[i, word] |= known[j, word]
                stands[j] = False
                moving = True
    return stands
