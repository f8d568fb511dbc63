import itertools

import numpy as np

import naive_cliques
import naive_linkage as naive
from fuzz import Case
from fuzz.draws import dense_of, numbers, packed, rows
from reident.kernels.cliques import bitset
from reident.kernels.places import compatibility
from reident.kernels.tables import hitting_set, line_search, linkage_rows, mdav, nearest
from reident.places.compatibility import _release_pairs
from reident.tables import microaggregation, perturbation
from reident.tables.choquet import _learning_problem, fuzzy_measure


def draw_points(rng):
    # Above 16 records the tree has several leaves.
    n = int(rng.integers(1, rng.choice([11, 50])))
    # Squares of these sums are exact, so that ties are ties on either route: no centroid of odd size among them.
    return np.round(rng.random((n, int(rng.integers(1, 4)))), 6), int(rng.integers(1, n + 1))


def draw_measure(rng, most=4):
    n = int(rng.integers(1, most + 1))
    return numbers(rng, (int(rng.integers(1, 4)), n)), naive.random_measure(rng, n)


def choquet_ref(matrix, mu):
    measure = naive.as_measure(mu, matrix.shape[1])
    return np.array([naive.choquet(row.tolist(), measure) for row in matrix])


def draw_vector(rng):
    n = int(rng.integers(0, 5))
    return rng.integers(-5, 6, 2**n).astype(np.float64), float(rng.choice([1.0, -1.0]))


def zeta_ref(values, sign):
    sets = range(values.size)
    return np.array([sum(sign ** (s ^ t).bit_count() * values[t] for t in sets if t & s == t) for s in sets])


def draw_files(rng):
    n, p = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    return numbers(rng, (n, p)), numbers(rng, (n, p))


def draw_rivals(rng):
    """Draw two files; the second may hold records beyond those of the first."""
    release, known = draw_files(rng)
    return release[: rng.integers(1, len(release) + 1)], known


def squares(release, known, i, j):
    return (release[i] - known[j]) ** 2


def rivals_comp(release, known):
    block, rival = linkage_rows.rivals(release, known, np.arange(len(release)))
    found = [{tuple(squares(release, known, i, j)) for j in rival[block == i]} for i in range(len(release))]
    return found, [int((block == i).sum()) for i in range(len(release))]


def rivals_ref(release, known):
    found = []
    for i in range(len(release)):
        others = {tuple(squares(release, known, i, j)) for j in range(len(known)) if j != i}
        found.append({a for a in others if not any(b != a and all(np.array(b) <= a) for b in others)})
    return found, [len(kept) for kept in found]


def draw_rows(rng):
    release, known = draw_files(rng)
    block, rival = rng.choice(len(release), 2, replace=False)
    p = release.shape[1]
    return release, known, int(block), int(rival), rng.random(p), naive.random_measure(rng, p)


def at(found, x):
    """Return a row's value at x, and its bounds."""
    index, value, low, high = (part[0] for part in found)
    return float(value @ x[index]), float(low), float(high)


def mean_comp(release, known, i, j, weights, _):
    found = _learning_problem.mean_rows(release, known, np.array([i]), np.array([j]))
    return at(found, weights / weights.sum())


def mean_ref(release, known, i, j, weights, _):
    gaps = squares(release, known, i, j) - squares(release, known, i, i)
    scale = np.abs(gaps).max() or 1.0
    return float(gaps @ weights / weights.sum() / scale), gaps.min() / scale, gaps.max() / scale


def choquet_comp(release, known, i, j, _, mu):
    return at(_learning_problem.choquet_rows(release, known, np.array([i]), np.array([j])), mu)


def choquet_rows_ref(release, known, i, j, _, mu):
    """Every extreme measure has values 0 and 1 only: the bounds are found by trying them all."""
    p = release.shape[1]
    rival, true = squares(release, known, i, j).tolist(), squares(release, known, i, i).tolist()

    def gap(values):
        measure = naive.as_measure(values, p)
        return naive.choquet(rival, measure) - naive.choquet(true, measure)

    extremes = [gap(values) for values in zero_one_measures(p)]
    scale = max(-min(extremes), max(extremes)) or 1.0
    return gap(mu) / scale, min(extremes) / scale, max(extremes) / scale


def zero_one_measures(p, known={}):  # noqa: B006 (kept between calls)
    if p not in known:
        inner = range(1, 2**p - 1)
        known[p] = []
        for values in itertools.product((0.0, 1.0), repeat=len(inner)):
            mu = np.array([0.0, *values, 1.0]) if p else np.array([1.0])
            if all(mu[s] <= mu[t] for s in range(2**p) for t in range(2**p) if s & t == s):
                known[p].append(mu)
    return known[p]


def triangle(square):
    return np.asarray(square)[np.triu_indices(len(square))]


def bilinear_comp(release, known, i, j, weights, _):
    found = _learning_problem.bilinear_rows(release, known, np.array([i]), np.array([j]))
    return at(found, triangle(np.diag(weights) + np.outer(weights, weights)))


def bilinear_ref(release, known, i, j, weights, _):
    """The ends are eigenvalues: where a matrix of trace 1 puts all of it."""
    u, v = release[i] - known[j], release[i] - known[i]
    gap = np.outer(u, u) - np.outer(v, v)
    ends = np.linalg.eigvalsh(gap)[[0, -1]]
    scale = np.abs(ends).max() or 1.0
    square = np.diag(weights) + np.outer(weights, weights)
    return float((u @ square @ u - v @ square @ v) / scale), ends[0] / scale, ends[1] / scale


def draw_margins(rng):
    counts = rng.integers(0, 4, int(rng.integers(1, 5)))
    starts = np.concatenate([[0], np.cumsum(counts)])
    x = rng.random(6)
    index = rng.integers(0, 6, (starts[-1], 3))
    return index, rng.normal(size=(starts[-1], 3)), starts, np.flatnonzero(rng.random(counts.size) < 0.7), x


def margins_comp(index, value, starts, blocks, x):
    margins, worst = np.zeros(starts.size - 1), np.full(starts.size - 1, -7)
    linkage_rows.block_margins(index, value, starts, blocks, x, margins, worst)
    return margins, worst


def margins_ref(index, value, starts, blocks, x):
    margins, worst = np.zeros(starts.size - 1), np.full(starts.size - 1, -7)
    totals = (value * x[index]).sum(axis=1)
    for b in blocks:
        mine = totals[starts[b] : starts[b + 1]]
        margins[b] = mine.min() if mine.size else np.inf
        worst[b] = starts[b] + mine.argmin() if mine.size else -1
    return margins, worst


def draw_nearest(rng):
    p, m, n = int(rng.integers(1, 4)), int(rng.integers(1, 30)), int(rng.integers(1, 4))
    mu = naive.random_measure(rng, p) if rng.random() < 0.5 else np.zeros(0)
    return numbers(rng, (n, p)), numbers(rng, (m, p)), rng.random(p), mu, rng.integers(-1, m, n)


def nearest_comp(release, known, weights, mu, truth):
    order, spans, low, high = nearest.build_tree(known, weights)
    place = np.argsort(order)
    rows_of_truth = np.where(truth >= 0, place[truth], -1)
    return nearest.nearest_records(release, known[order], order, spans, low, high, weights, mu, rows_of_truth, 1e-12)


def nearest_ref(release, known, weights, mu, truth):
    gaps = (release[:, None] - known[None]) ** 2
    distances = choquet_ref(gaps.reshape(-1, gaps.shape[2]), mu).reshape(gaps.shape[:2]) if mu.size else gaps @ weights
    least, first, ties = naive.nearest(distances)
    return first, least, ties, np.where(truth >= 0, distances[np.arange(len(truth)), truth], np.nan)


def draw_product(rng):
    n_release, n_known, n_codes = int(rng.integers(1, 6)), int(rng.integers(1, 5)), int(rng.integers(1, 4))
    codes = rng.integers(0, n_codes, n_release), rng.integers(-1, n_codes, n_known)
    codes[0][int(rng.integers(n_release))] = n_codes - 1
    matrices = []
    for n in (n_release, n_known):
        d = np.triu(numbers(rng, (n, n)), 1)
        matrices.append(d + d.T)
    low, high = sorted(rng.integers(-3, 4, 2).tolist())
    return *codes, *matrices, n_codes, float(low), float(high), bool(rng.random() < 0.5)


def vertices(codes_release, codes_known):
    return [(v, w) for w, code in enumerate(codes_known) for v, other in enumerate(codes_release) if code == other]


def product_comp(codes_release, codes_known, d_release, d_known, n_codes, low, high, closed):
    ranks = np.array([int((codes_release[:v] == code).sum()) for v, code in enumerate(codes_release)])
    sizes = [int((codes_release == code).sum()) if code >= 0 else 0 for code in codes_known]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    starts, length, first, second = _release_pairs(codes_release, ranks, d_release, n_codes)
    bounds = [np.full(d_known.shape, bound) for bound in (low, high)]
    n = len(codes_known)
    begin, end = np.zeros((2, n, n), np.int32)
    degrees = np.zeros(offsets[-1], np.int64)
    shared = codes_known, offsets, first, second, begin, end
    runs = [(0, n // 2), (n // 2, n)]  # the known records in two runs, as threads share them
    for run in runs:
        compatibility.known_ranges(codes_known, d_known, *bounds, closed, starts, length, n_codes, *run, begin, end)
    for run in runs:
        compatibility.count_neighbours(*shared, *run, degrees)
    pointers = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    indices, bits = (
        np.empty(pointers[-1], np.int32),
        np.zeros_like(packed(np.zeros((degrees.size, degrees.size), bool))),
    )
    for run in runs:
        compatibility.fill_lists(*shared, *run, pointers, indices)
        compatibility.fill_bits(*shared, *run, bits)
    for low in range(0, degrees.size, 64):
        bitset.mirror_rows(bits, low, min(low + 64, degrees.size))
    return (pointers, indices), bits


def product_ref(codes_release, codes_known, d_release, d_known, _, low, high, closed):
    wanted = codes_known.tolist()
    listed = vertices(codes_release.tolist(), [code if code >= 0 else None for code in wanted])
    if closed:
        low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
    twin, found = naive_cliques.compatibility_graph(
        codes_release.tolist(), d_release, [c if c >= 0 else None for c in wanted], d_known, low, high
    )
    assert twin == listed
    dense = dense_of(found, len(twin))
    return rows(dense), packed(dense)


def draw_directed(rng):
    codes_release, codes_known, d_release, d_known, _, low, high, closed = draw_product(rng)
    for d in (d_release, d_known):
        d += np.where(rng.random(d.shape) < 0.3, rng.integers(0, 2, d.shape), 0)  # one direction is longer
        d[rng.random(d.shape) < 0.2] = np.nan
    return codes_release, codes_known, d_release, d_known, low, high, closed, bool(rng.random() < 0.5)


def directed_comp(codes_release, codes_known, d_release, d_known, low, high, closed, either):
    pairs = np.array(vertices(codes_release, codes_known), dtype=np.int64).reshape(-1, 2)
    bounds = [np.full(d_known.shape, bound) for bound in (low, high)]
    n, bits = len(pairs), packed(np.zeros((len(pairs), len(pairs)), bool))
    for part in ((0, n // 2), (n // 2, n)):
        compatibility.fill_directed(pairs, d_release, d_known, *bounds, closed, either, *part, bits)
    return bits


def directed_ref(codes_release, codes_known, d_release, d_known, low, high, closed, either):
    if closed:
        low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
    labels = codes_release.tolist(), codes_known.tolist()
    listed, edges = naive_cliques.partial_graph(labels[0], d_release, labels[1], d_known, low, high, either=either)
    later = np.zeros((len(listed), len(listed)), bool)
    later[tuple(np.array(sorted(edges), dtype=int).reshape(-1, 2).T)] = True
    return packed(later)


def draw_swap(rng):
    n = int(rng.integers(1, 10))
    return n, int(rng.integers(0, n + 1)), rng.random(n)


def swap_ref(n, window, uniforms):
    partner, free = list(range(n)), set(range(n))
    for rank in range(n):
        if rank in free:
            free.discard(rank)
            near = [other for other in sorted(free) if other - rank <= window]
            if near:
                other = near[int(uniforms[rank] * len(near))]
                free.discard(other)
                partner[rank], partner[other] = other, rank
    return partner


def draw_conflicts(rng):
    n = int(rng.integers(1, 7))
    sizes = rng.integers(1, min(n, 4) + 1, int(rng.integers(0, 7)))
    conflicts = [np.sort(rng.choice(n, size, replace=False)) for size in sizes]
    return conflicts, n, int(rng.integers(2**31))


def hitting_comp(conflicts, n, seed):
    """What is sure of a local search: it hits all with no member to spare, with no more than greedy's bound."""
    starts = np.concatenate([[0], np.cumsum([len(conflict) for conflict in conflicts])]).astype(np.int64)
    members = np.concatenate([np.empty(0, np.int64), *conflicts])
    found = hitting_set.small_hitting_set(starts, members, n, 300, np.random.default_rng(seed))
    alone = [np.flatnonzero(found[conflict])[:2] for conflict in conflicts]
    needed = {int(conflict[hit[0]]) for conflict, hit in zip(conflicts, alone, strict=True) if len(hit) == 1}
    harmonic = sum(1 / rank for rank in range(1, len(conflicts) + 1))
    return (
        all(found[conflict].any() for conflict in conflicts),
        all(member in needed for member in np.flatnonzero(found)),
        found.sum() <= harmonic * least_size(conflicts, n) + 1e-9,
    )


def least_size(conflicts, n):
    everything = map(np.array, itertools.product([False, True], repeat=n))
    return min(int(pick.sum()) for pick in everything if all(pick[conflict].any() for conflict in conflicts))


def draw_line(rng):
    """Rows of a few blocks, a point and a direction: numbers that a computer writes without rounding."""
    blocks, p = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    starts = np.append(0, np.cumsum(rng.integers(1, 4, blocks)))
    value = rng.integers(-4, 5, (starts[-1], p)) / 4
    return value, starts, rng.integers(0, 5, p) / 4, rng.integers(-4, 5, p) / 4


def line_comp(value, starts, x, step):
    low, high = np.empty((2, starts.size - 1))
    line_search.spans(np.tile(np.arange(x.size), (len(value), 1)), value, starts, x, step, 1 / 64, low, high)
    s, held = line_search.densest(low, high, -2.0, 1.0)
    return int(held), -2 <= s <= 1, held == 0 or n_held(value, starts, x, step, s) == held


def line_ref(value, starts, x, step):
    """Try the middle between any two values of s at which a row reaches the margin."""
    at, slope = value @ x - 1 / 64, value @ step
    ends = sorted({-2.0, 1.0, *(s for s in -at[slope != 0] / slope[slope != 0] if -2 < s < 1)})
    tried = [n_held(value, starts, x, step, (a + b) / 2) for a, b in itertools.pairwise(ends)]
    return max(tried), True, True


def n_held(value, starts, x, step, s):
    reached = value @ (x + s * step) >= 1 / 64
    return sum(reached[a:b].all() for a, b in itertools.pairwise(starts))


CASES = [
    Case(("mdav.mdav_clusters",), draw_points, mdav.mdav_clusters, naive.mdav),
    Case(("microaggregation.pair_clusters",), draw_points, microaggregation._pair_clusters, naive.pairs),
    Case(("fuzzy_measure.choquet_integral",), draw_measure, fuzzy_measure.choquet_integral, choquet_ref),
    Case(("fuzzy_measure.zeta_transform",), draw_vector, fuzzy_measure.zeta_transform, zeta_ref),
    Case(("perturbation.swap_partners",), draw_swap, perturbation._swap_partners, swap_ref),
    Case(("linkage_rows.mean_rows",), draw_rows, mean_comp, mean_ref),
    Case(("linkage_rows.bilinear_rows",), draw_rows, bilinear_comp, bilinear_ref),
    Case(("linkage_rows.rivals",), draw_rivals, rivals_comp, rivals_ref),
    Case(("linkage_rows.choquet_rows",), draw_rows, choquet_comp, choquet_rows_ref),
    Case(("linkage_rows.block_margins",), draw_margins, margins_comp, margins_ref),
    Case(("hitting_set.small_hitting_set",), draw_conflicts, hitting_comp, lambda *_: (True, True, True)),
    Case(("line_search.spans", "line_search.densest"), draw_line, line_comp, line_ref),
    Case(("nearest.nearest_records", "nearest.build_tree"), draw_nearest, nearest_comp, nearest_ref),
    Case(
        ("compatibility.fill_lists", "compatibility.known_ranges", "compatibility.count_neighbours",
         "compatibility.fill_bits", "bitset.mirror_rows"),
        draw_product, product_comp, product_ref,
    ),
    Case(("compatibility.fill_directed",), draw_directed, directed_comp, directed_ref),
]  # fmt: skip
