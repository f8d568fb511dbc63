import itertools

import numpy as np

import naive_reference_sets as naive
from fuzz import Case
from reident.cliques.adjacency import pack_rows
from reident.kernels.location import reference_sets as kernel
from reident.location import reference_sets

TOL = naive.TOL


def draw_released(rng):
    d, n = int(rng.integers(1, 4)), int(rng.integers(2, 9))
    coordinates = rng.uniform(0, 100, (d, n))
    released = np.array(naive.largest_differences(coordinates))
    if rng.random() < 0.3:
        gaps = np.triu(rng.random((n, n)) < 0.2, 1)
        released[gaps | gaps.T] = np.nan
    return released, coordinates


def classes_comp(released, _):
    n = len(released)
    root, turned, _ = kernel.equal_differences(released, TOL, np.arange(1, n // 2 + 1))
    members = {}
    for x in range(n):
        for y in range(x + 1, n):
            entry = (y, x) if turned[x * n + y] else (x, y)
            members.setdefault((root[x * n + y], 0), set()).add(entry)
            members.setdefault((root[x * n + y], 1), set()).add(entry[::-1])
    return {frozenset(each) for each in members.values() if len(each) > 1}


def walk_comp(released, _):
    n = len(released)
    root, turned, _ = kernel.equal_differences(released, TOL, np.arange(1, n // 2 + 1))
    steps = []
    for each in np.unique(root):
        entries = np.flatnonzero(root == each)
        if len(entries) > 1:
            f = np.empty(n)
            assert kernel.walk_class(entries, turned, released, TOL, f)
            steps.append(np.abs(f[entries // n] - f[entries % n]) - released[entries // n, entries % n])
    return bool(np.abs(np.concatenate([*steps, [0.0]])).max() < TOL)


def draw_pieces(rng):
    n = int(rng.integers(3, 9))
    whole = rng.uniform(0, 100, (2, n))
    which, sign = rng.integers(0, 2, 5), rng.choice([-1.0, 1.0], (5, 1))
    pieces = sign * whole[which] + rng.uniform(-50, 50, (5, 1))
    return np.where(rng.random((5, n)) < 0.5, pieces, np.nan), which


def merged_comp(pieces, _):
    pieces = pieces.copy()
    stands = kernel.merge_pieces(pieces, pack_rows(~np.isnan(pieces)), TOL)
    return {frozenset(np.flatnonzero(np.isfinite(piece)).tolist()) for piece in pieces[stands]}


def merged_ref(pieces, which):
    """Join the records of two pieces of one coordinate while any two share two records."""
    groups = [(w, set(np.flatnonzero(np.isfinite(piece)).tolist())) for w, piece in zip(which, pieces, strict=True)]
    while True:
        joined = [
            (i, j)
            for j, i in itertools.combinations(range(len(groups)), 2)
            if groups[i][0] == groups[j][0] and len(groups[i][1] & groups[j][1]) >= 2
        ]
        if not joined:
            return {frozenset(records) for _, records in groups}
        i, j = joined[0]
        groups[j][1].update(groups.pop(i)[1])


def count_ref(released, _):
    n_equal = n_compared = 0
    for a in range(len(released)):
        for b in range(a + 1, len(released)):
            sizes = [abs(released[a, y] - released[b, y]) for y in range(len(released)) if y != b]
            sizes = [size for size in sizes if size > TOL]
            n_compared += len(sizes)
            n_equal += sum(sum(abs(size - other) < TOL for other in sizes) > 1 for size in sizes)
    return n_equal, n_compared


CASES = [
    Case(
        ("reference_sets.equal_differences",), draw_released, classes_comp,
        lambda released, _: {c for c in naive.classes(released.tolist()) if len(c) > 1},
    ),
    Case(("reference_sets.walk_class",), draw_released, walk_comp),
    Case(("reference_sets.merge_pieces",), draw_pieces, merged_comp, merged_ref),
    Case(
        ("location.reference_sets.exact_equalities",), draw_released,
        lambda released, _: tuple(reference_sets.exact_equalities(released))[:2], count_ref,
    ),
]  # fmt: skip
