import itertools
import math

import numpy as np

from fuzz import Case
from fuzz.draws import numbers, packed
from reident.kernels.tables import intersection, mondrian, within_class


def draw_cut(rng):
    size, span = int(rng.integers(1, 60)), int(rng.choice([2, 6, 40, 10**6, 2**31 - 1]))
    return rng.integers(0, span, size).astype(np.int32), int(rng.integers(1, 9))


def cut_ref(values, k):
    ordered, size = sorted(values.tolist()), values.size
    if ordered[0] == ordered[-1] or size < 2 * k:
        return -1, 0
    cuts = [(code, sum(v <= code for v in ordered)) for code in sorted(set(ordered))[:-1]]
    fair = [(abs(2 * left - size), left, code) for code, left in cuts if k <= left <= size - k]
    return (min(fair)[2], min(fair)[1]) if fair else (-1, 0)


RULES = [mondrian.DISTINCT, mondrian.ENTROPY, mondrian.RECURSIVE, mondrian.EQUAL_DISTANCE, mondrian.ORDERED_DISTANCE]


def draw_rule(rng):
    m = int(rng.integers(1, 5))
    counts = rng.integers(0, 5, m)
    counts[0] += not counts.any()
    overall = counts + rng.integers(0, 5, m)
    rule = int(rng.choice(RULES))
    limit = rng.choice([0.5, 1.0, 2.0, 3.0] if rule == mondrian.RECURSIVE else [0.1, 0.25, 0.5])
    return counts, rule, float(rng.integers(1, 4)), float(limit), overall / overall.sum()


def passes_ref(counts, rule, ell, limit, overall):
    shares = counts / counts.sum()
    if rule == mondrian.DISTINCT:
        return sum(c > 0 for c in counts) >= ell
    if rule == mondrian.ENTROPY:
        return math.prod((1 / s) ** s for s in shares.tolist() if s > 0) >= ell * (1 - 1e-10)
    if rule == mondrian.RECURSIVE:
        ranked = sorted(counts.tolist(), reverse=True)
        return ranked[0] < limit * sum(ranked[int(ell) - 1 :])
    if rule == mondrian.EQUAL_DISTANCE:
        return np.abs(shares - overall).sum() / 2 <= limit + 1e-10
    return np.abs(np.cumsum(shares) - np.cumsum(overall)).sum() / max(len(shares) - 1, 1) <= limit + 1e-10


def draw_partition(rng):
    n, q, most = int(rng.integers(1, 11)), int(rng.integers(1, 4)), int(rng.integers(2, 6))
    codes = rng.integers(0, most, (n, q)).astype(np.int32)
    places = np.cumsum(rng.integers(1, 4, (q, most)), axis=1).astype(np.float64)
    n_codes = np.full(q, most)
    sensitive = rng.integers(0, 3, n)
    rules = np.array([mondrian.DISTINCT] if rng.random() < 0.4 else [], np.int64)
    return codes, places, n_codes, int(rng.integers(1, n + 1)), sensitive, rules


def mondrian_comp(codes, places, n_codes, k, sensitive, rules):
    ells, limits = np.full(rules.size, 2.0), np.zeros(rules.size)
    overall = np.bincount(sensitive, minlength=3) / sensitive.size
    order, starts = mondrian.mondrian(
        codes.copy("F"), places, n_codes, k, sensitive.copy(), rules, ells, limits, overall
    )
    return [order[a:b].tolist() for a, b in itertools.pairwise(starts)]


def mondrian_ref(codes, places, n_codes, k, sensitive, rules):
    """Cut recursively: the widest attribute first, at the cut nearest the middle that leaves enough on both sides."""

    def width(part, j):
        column = codes[part, j]
        return (places[j, column.max()] - places[j, column.min()]) / (places[j, n_codes[j] - 1] - places[j, 0])

    def cut(part, j):
        column = [int(codes[i, j]) for i in part]
        allowed = [c for c in sorted(set(column)) if min(sum(x <= c for x in column), sum(x > c for x in column)) >= k]
        if not allowed:
            return None
        best = min(allowed, key=lambda c: (abs(2 * sum(x <= c for x in column) - len(part)), c))
        return [i for i, c in zip(part, column, strict=True) if c <= best]

    def parts(part):
        if len(part) >= 2 * k:
            for j in sorted(range(codes.shape[1]), key=lambda j: -width(part, j)):
                left = cut(part, j) if width(part, j) > 0 else None
                if left is None:
                    continue
                right = [i for i in part if i not in left]
                if rules.size and any(len({int(sensitive[i]) for i in side}) < 2 for side in (left, right)):
                    continue
                return parts(left) + parts(right)
        return [part]

    return parts(list(range(len(codes))))


def draw_cover(rng):
    n, q, n_classes, m = (int(rng.integers(1, most)) for most in (6, 4, 70, 4))
    cover = rng.random((6, n_classes)) < 0.5
    return rng.integers(0, 6, (n, q)), cover, rng.integers(0, 4, (n_classes, m))


def gather_comp(combos, cover, counts):
    gathered, found = np.zeros((len(combos), counts.shape[1]), np.int64), np.zeros(len(combos), np.int64)
    intersection.gather_classes(combos, packed(cover), counts, gathered, found)
    return gathered, found


def gather_ref(combos, cover, counts):
    inside = cover[combos].all(axis=1)
    return inside.astype(int) @ counts, inside.sum(axis=1)


def draw_values(rng):
    groups = [np.sort(numbers(rng, int(rng.integers(1, 5)))) for _ in range(int(rng.integers(1, 4)))]
    which = rng.integers(0, len(groups), int(rng.integers(1, 5)))
    return groups, which, rng.integers(-2, 12, (2, which.size)) / 2, int(rng.integers(2**32))


def laid_out(groups):
    return np.concatenate(groups), np.concatenate([[0], np.cumsum([len(group) for group in groups])])


def between_ref(groups, which, ends, _):
    return np.array(
        [((groups[c] >= a) & (groups[c] <= b)).sum() for c, a, b in zip(which, *np.sort(ends, axis=0), strict=True)]
    )


def owners(groups, which, seed):
    return np.array([groups[c][seed % len(groups[c])] for c in which])


def ties_ref(groups, which, ends, seed):
    found = []
    for c, query, own in zip(which, ends[0], owners(groups, which, seed), strict=True):
        gaps = np.abs(groups[c] - query)
        found.append(int((gaps == gaps.min()).sum()) if abs(own - query) == gaps.min() else 0)
    return found


CASES = [
    Case(
        ("mondrian.passes",), draw_rule,
        lambda counts, rule, *rest: bool(mondrian.passes(counts, counts.sum(), rule, *rest)),
        lambda *given: bool(passes_ref(*given)),
    ),
    Case(("mondrian.best_cut",), draw_cut, mondrian.best_cut, cut_ref),
    Case(("mondrian.mondrian", "mondrian.by_width"), draw_partition, mondrian_comp, mondrian_ref),
    Case(("intersection.gather_classes",), draw_cover, gather_comp, gather_ref),
    Case(
        ("within_class.count_between",), draw_values,
        lambda groups, which, ends, _: within_class.count_between(*laid_out(groups), which, *np.sort(ends, axis=0)),
        between_ref,
    ),
    Case(
        ("within_class.nearest_ties",), draw_values,
        lambda groups, which, ends, seed: within_class.nearest_ties(
            *laid_out(groups), which, ends[0], owners(groups, which, seed)
        ),
        ties_ref,
    ),
]  # fmt: skip
