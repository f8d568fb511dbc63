import itertools

import networkx as nx
import numpy as np

from fuzz import Case
from fuzz.draws import dense_of, edges, graph, pairs_of, rows
from reident.kernels.networks import degrees, edits, realise, swaps
from reident.kernels.networks.edgeset import list_edges
from reident.networks import _probing
from reident.networks.graph import Network, edited, incidence


def draw_sequence(rng):
    n = int(rng.integers(1, 8))
    d = np.sort(rng.integers(0, n, n))[::-1].copy()
    return d, int(rng.integers(1, n + 1)), bool(rng.random() < 0.5), bool(rng.random() < 0.5)


def sequence_comp(d, k, both, even):
    """Return the cost, and whether the sequence is one that has it."""
    found, cost = degrees.anonymise_sequence(d, k, both, even, len(d) - 1)
    if cost < 0:
        return -1, True
    counts = np.unique(found, return_counts=True)[1]
    fits = counts.min() >= k and (both or (found >= d).all()) and (not even or found.sum() % 2 == 0)
    fits &= found.min() >= 0 and found.max() <= len(d) - 1 and np.abs(found - d).sum() == cost
    return int(cost), bool(fits)


def sequence_ref(d, k, both, even):
    """Try every division into runs of at least k, and every common degree of each."""
    n = len(d)
    least = {(0, 0): 0}  # (records done, parity of the sum) -> cost
    for end in range(1, n + 1):
        for start in range(end):
            if end - start < k:
                continue
            for value in range(n):
                if not both and value < d[start]:
                    continue
                cost = int(np.abs(d[start:end] - value).sum())
                for parity in range(2):
                    if (start, parity) in least:
                        key = (end, (parity + value * (end - start)) % 2)
                        least[key] = min(least.get(key, 10**9), least[start, parity] + cost)
    ends = [least[n, parity] for parity in ((0,) if even else (0, 1)) if (n, parity) in least]
    return (min(ends) if ends else -1), True


def is_graphic(d):
    return nx.is_graphical(d.tolist(), method="hh")


def draw_degrees(rng):
    n = int(rng.integers(1, 8))
    return (np.sort(rng.integers(0, n, n))[::-1].copy(),)


def draw_residual(rng):
    dense = graph(rng, most=5)
    return dense, rng.integers(0, 3, len(dense))


def extends(dense, residual):
    n = len(dense)
    free = [pair for pair in itertools.combinations(range(n), 2) if not dense[pair]]
    for size in range(len(free) + 1):
        if 2 * size != residual.sum():
            continue
        for chosen in itertools.combinations(free, size):
            if (dense_of(chosen, n).sum(axis=1) == residual).all():
                return True
    return False


def may_extend_comp(dense, residual):
    """A necessary condition: it may not refuse what can be done."""
    return bool(degrees.may_extend(*rows(dense), residual)) or not extends(dense, residual)


def draw_construction(rng):
    dense = graph(rng)
    residual = rng.integers(0, len(dense), len(dense))
    residual[0] += residual.sum() % 2
    return dense, residual, bool(rng.random() < 0.5), bool(rng.random() < 0.5), int(rng.integers(2**32))


def simple(pairs):
    return len(set(pairs)) == len(pairs) and all(a != b for a, b in pairs)


def realise_comp(dense, residual, largest_first, strict, seed):
    u, v, missing = realise.realise(*rows(dense), residual, largest_first, strict, np.random.default_rng(seed))
    new = pairs_of(u, v)
    left = residual - dense_of(new, len(dense)).sum(axis=1)
    # Without edges in the way and the largest first, Havel and Hakimi's order never fails on a graphic sequence.
    sure = largest_first and not dense.any() and is_graphic(residual)
    fits = simple(new) and not any(dense[pair] for pair in new)
    return fits, (left == missing).all() and (missing >= 0).all(), not sure or not missing.any()


def draw_excess(rng):
    dense = graph(rng)
    return dense, np.minimum(rng.integers(0, 4, len(dense)), dense.sum(axis=1))


def drop_comp(dense, excess):
    u, v, left = realise.drop_edges(*rows(dense), excess)
    gone = pairs_of(u, v)
    after = excess - dense_of(gone, len(dense)).sum(axis=1)
    stuck = not any(left[a] > 0 and left[b] > 0 and dense[a, b] and (min(a, b), max(a, b)) not in gone
                    for a, b in itertools.combinations(range(len(dense)), 2))  # fmt: skip
    return simple(gone) and all(dense[pair] for pair in gone), bool((after == left).all() and (left >= 0).all()), stuck


def draw_stubs(rng):
    """Draw a graph, edges added to it, and an even number of stubs that found no partner."""
    dense = graph(rng, least=2)
    free = [pair for pair in itertools.combinations(range(len(dense)), 2) if not dense[pair]]
    added = [pair for pair in free if rng.random() < 0.5]
    missing = rng.integers(0, 2, len(dense))
    if missing.sum() % 2:
        missing[0] = 1 - missing[0]
    return dense, added, missing, int(rng.integers(2**32))


def stubs_comp(dense, added, missing, seed):
    room = int(missing.sum()) // 2
    u, v = (np.array([pair[end] for pair in added] + [0] * room, np.int32) for end in range(2))
    left = missing.copy()
    m = realise.switch_stubs(*rows(dense), u, v, left, 20, np.random.default_rng(seed))
    n, now = len(dense), pairs_of(u[:m], v[:m])
    gained = dense_of(now, n).sum(axis=1) - dense_of(added, n).sum(axis=1)
    return (
        simple(now) and not any(dense[pair] for pair in now),
        bool((gained == missing - left).all()),
        bool((left >= 0).all()),
    )


def draw_patch(rng):
    dense = graph(rng, least=2)
    pairs = [pair for pair in itertools.combinations(range(len(dense)), 2) if rng.random() < 0.4]
    return dense, [p for p in pairs if not dense[p]], [p for p in pairs if dense[p]]


def columns(pairs):
    return np.array([a for a, _ in pairs], np.int32), np.array([b for _, b in pairs], np.int32)


def patch_comp(dense, add, cut):
    after = edited(Network(*rows(dense), range(len(dense))), columns(add), columns(cut))
    return after.indptr, after.indices


def patched(dense, add, cut):
    return (dense | dense_of(add, len(dense))) & ~dense_of(cut, len(dense))


def draw_settle(rng):
    dense, add, cut = draw_patch(rng)
    short, excess = rng.integers(0, 3, len(dense)), rng.integers(0, 3, len(dense))
    excess[short > 0] = 0
    now = patched(dense, add, cut).sum(axis=1)
    return dense, add, cut, short, np.minimum(excess, now), int(rng.integers(2**32))


def settle_comp(dense, add, cut, short, excess, seed):
    low, high = short.copy(), excess.copy()
    tables = edits.settle(*rows(dense), *columns(add), *columns(cut), low, high, 10, np.random.default_rng(seed))
    new, old = (pairs_of(*list_edges(table)) for table in tables)
    change = patched(dense, new, old).sum(axis=1) - patched(dense, add, cut).sum(axis=1)
    fits = simple(new) and simple(old) and not any(dense[p] for p in new) and all(dense[p] for p in old)
    return fits, bool((change == (short - low) - (excess - high)).all()), bool((low >= 0).all() and (high >= 0).all())


def draw_swaps(rng):
    dense = graph(rng, least=4)
    start = graph(rng, len(dense), len(dense))
    if not start.any():
        start = dense_of([(0, 1)], len(dense))
    return dense, start, int(rng.integers(2**32))


def swaps_comp(kind):
    def comp(dense, start, seed):
        u, v = edges(start)
        rng = np.random.default_rng(seed)
        if kind == "greedy":
            done = swaps.greedy_swaps(*rows(dense), u, v, 4, 3, rng)
        else:
            done = swaps.targeted_swaps(*rows(dense), u, v, *incidence(u, v, len(dense))[:2], rng)
        now = pairs_of(u, v)
        after = dense_of(now, len(dense))
        return (
            simple(now) and len(now) == start.sum() // 2,
            bool((after.sum(axis=1) == start.sum(axis=1)).all()),
            bool((after & dense).sum() // 2 >= (start & dense).sum() // 2 + (done > 0)),
        )

    return comp


def draw_noise(rng):
    n = int(rng.integers(2, 8))
    return rng.integers(0, n, n), int(rng.integers(1, 5)), int(rng.integers(2**32))


def noise_comp(noisy, scheme, seed):
    after = noisy.copy()
    _probing._add_noise(after, scheme, np.random.default_rng(seed))
    raised = np.flatnonzero(after != noisy)
    highest = len(noisy) - 1
    by = int((after - noisy).sum())
    where = raised[0] if raised.size else None
    fits = {
        1: by <= 10,
        2: by <= 10 and ((after.sum() % 2 == 0) or after.max() == highest),
        3: by <= 1 and (where is None or noisy[where] == noisy.min()),
        4: by <= 1
        and (where is None or np.sum(noisy > noisy[where]) + np.sum(noisy == noisy[where]) > len(noisy) // 2),
    }[scheme]
    return raised.size <= 1, by >= 0 and bool(after.max() <= highest), bool(fits)


CASES = [
    Case(("degrees.anonymise_sequence",), draw_sequence, sequence_comp, sequence_ref),
    Case(("probing.is_realisable",), draw_degrees, _probing.is_realisable, is_graphic),
    Case(("degrees.may_extend",), draw_residual, may_extend_comp),
    Case(("realise.realise",), draw_construction, realise_comp),
    Case(("realise.drop_edges",), draw_excess, drop_comp),
    Case(("realise.switch_stubs",), draw_stubs, stubs_comp),
    Case(("graph.edited",), draw_patch, patch_comp, lambda *given: rows(patched(*given))),
    Case(("edits.settle", "edgeset.list_edges"), draw_settle, settle_comp),
    Case(("swaps.greedy_swaps",), draw_swaps, swaps_comp("greedy")),
    Case(("swaps.targeted_swaps",), draw_swaps, swaps_comp("targeted")),
    Case(("probing.add_noise",), draw_noise, noise_comp),
]
