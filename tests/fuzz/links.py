import itertools

import numpy as np
import pytest

import naive_cliques
import naive_linkage as naive
from fuzz import Case
from fuzz.draws import numbers
from reident.kernels.tables import hitting_set, linkage_rows, mdav, nearest
from reident.places import compatibility, compatibility_graph
from reident.tables import microaggregation
from reident.tables.choquet import _climb, _learning_problem, fuzzy_measure


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

    extremes = [gap(values) for values in naive.zero_one_measures(p)]
    scale = max(-min(extremes), max(extremes)) or 1.0
    return gap(mu) / scale, min(extremes) / scale, max(extremes) / scale


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
    return numbers(rng, (n, p)), numbers(rng, (m, p)), rng.random(p), mu


def nearest_comp(release, known, importance, mu):
    order, spans, low, high = nearest.build_tree(known, importance)
    return nearest.nearest_records(release, known[order], order, spans, low, high, mu, 1e-12)


def nearest_ref(release, known, importance, mu):
    gaps = (release[:, None] - known[None]) ** 2
    distances = gaps.sum(axis=2)
    if mu.size:
        distances = choquet_ref(gaps.reshape(-1, gaps.shape[2]), mu).reshape(gaps.shape[:2])
    least, first, ties = naive.nearest(distances)
    return first, least, ties


def draw_product(rng):
    """Draw two files with few labels, and distances of which many are equal; or directed ones of which some lack."""
    sizes, partial = rng.integers(1, 7, 2), rng.random() < 0.5
    matrices = []
    for n in sizes:
        d = np.triu(rng.integers(0, 9, (n, n)) / 2, 1)
        d = d + d.T
        if partial:
            d += rng.integers(0, 2, d.shape)
            d[rng.random(d.shape) < 0.2] = np.nan
            np.fill_diagonal(d, 0)
        matrices.append(d)
    low, high = sorted(rng.choice(np.arange(-3.0, 4.0), 2, replace=False))
    missing, tolerance = str(rng.choice(["both", "either"])), int(rng.integers(0, 3))
    options = {"missing": missing, "directed": True, "label_tolerance": tolerance} if partial else {}
    return [rng.integers(0, 4, n) for n in sizes], matrices, low, high, bool(rng.random() < 0.5), options


def product_comp(labels, matrices, low, high, closed, options):
    """Build the graph as lists and as rows of bits."""
    found, window = [], {"intervals_km" if closed else "window_km": (low, high)}
    for most in (0, 64_000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compatibility, "_BITS_VERTICES", most)
            graph = compatibility_graph(labels[0], matrices[0], labels[1], matrices[1], **window, **options)
        edges = [(v, int(u)) for v in range(graph.n_vertices) for u in graph.neighbours(v) if u > v]
        found.append((graph.pairs.tolist(), edges, graph.n_edges))
    return found


def product_ref(labels, matrices, low, high, closed, options):
    release, known = matrices
    if closed:  # an interval for the released distance alone
        known = np.where(np.isnan(known), np.nan, 0)
        low, high = np.nextafter(-high, -np.inf), np.nextafter(-low, np.inf)
    rules = {"either": options.get("missing") == "either", "tolerance": options.get("label_tolerance", 0)}
    vertices, edges = naive_cliques.product_graph(labels[0], release, labels[1], known, low, high, **rules)
    return [(vertices, sorted(edges), len(edges))] * 2


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
    linkage_rows.spans(np.tile(np.arange(x.size), (len(value), 1)), value, starts, x, step, 1 / 64, low, high)
    s, held = _climb._densest(low, high, -2.0, 1.0)
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
    Case(("linkage_rows.mean_rows",), draw_rows, mean_comp, mean_ref),
    Case(("linkage_rows.bilinear_rows",), draw_rows, bilinear_comp, bilinear_ref),
    Case(("linkage_rows.rivals",), draw_rivals, rivals_comp, rivals_ref),
    Case(("linkage_rows.choquet_rows",), draw_rows, choquet_comp, choquet_rows_ref),
    Case(("linkage_rows.block_margins",), draw_margins, margins_comp, margins_ref),
    Case(("hitting_set.small_hitting_set",), draw_conflicts, hitting_comp),
    Case(("linkage_rows.spans",), draw_line, line_comp, line_ref),
    Case(("nearest.nearest_records", "nearest.build_tree"), draw_nearest, nearest_comp, nearest_ref),
    Case(
        ("compatibility.fill_lists", "compatibility.known_ranges", "compatibility.count_neighbours",
         "compatibility.fill_bits", "compatibility.fill_directed", "bitset.mirror_rows"),
        draw_product, product_comp, product_ref,
    ),
]  # fmt: skip
