from itertools import combinations

import networkx as nx
import numpy as np

import naive_cliques as naive
from fuzz import Case
from fuzz.draws import graph, is_clique, packed, packed_set, prefixes, rows, some, wide_graph
from reident.cliques import search, search_graph
from reident.cliques.adjacency import members_of, set_of
from reident.cliques.search import workspace
from reident.kernels.cliques import bitset, clique, clique_climb, clique_prefix, clique_published, clique_reduce


def draw_set(rng):
    n = int(rng.integers(1, 131))
    return n, frozenset(some(rng, n).tolist())


def set_comp(n, members):
    row = packed_set(members, n)
    return (
        members_of(row).tolist(),
        set_of(np.array(sorted(members), np.int64), row.size).tolist(),
        int(bitset.count_bits(row)),
    )


def set_ref(n, members):
    listed = sorted(members)
    return listed, packed_set(members, n).tolist(), len(members)


def draw_renamed(rng):
    dense = wide_graph(rng)
    return dense, rng.permutation(len(dense))


def renamed(dense, order):
    return packed(dense[np.ix_(order, order)])


def pack_comp(dense, order):
    bits, middle = np.zeros_like(packed(dense)), len(dense) // 2
    for low, high in ((0, middle), (middle, len(dense))):
        bitset.pack_lists(*rows(dense), order, np.argsort(order), low, high, bits)
    return bits


def ordered(dense):
    """Order by least degree, last first, by looking at every vertex at every step."""
    left, order = list(range(len(dense))), []
    while left:
        least = min(left, key=lambda v: (int(dense[v, left].sum()), v))
        order.insert(0, least)
        left.remove(least)
    return order


def colours(dense, members):
    """Colour class by class: each takes every vertex that none of the class is joined to."""
    left, count = members.tolist(), 0
    while left:
        count += 1
        taken = []
        for v in left:
            if not dense[v, taken].any():
                taken.append(v)
        left = [v for v in left if v not in taken]
    return count


def tree(dense, target, *, every, budget):
    bits = packed(dense)
    n, words = bits.shape
    state = np.zeros(5, np.int64)
    members, branch = (np.zeros((n + 2, words), np.uint64) for _ in range(2))
    needs, chosen, space = np.zeros(n + 2, np.int64), np.zeros(n + 2, np.int64), workspace(n + 2, words)
    state[clique.TARGET], members[0] = target, set_of(np.arange(n), words)
    found = np.zeros((64 if every else 1, n + 1), np.int64)
    while not clique.advance(bits, state, members, branch, needs, space, chosen, found, every, budget):
        pass
    count = int(state[clique.FOUND])
    return [tuple(sorted(row[:target])) for row in found[:count].tolist()] if every else found[0, :count].tolist()


def cut_comp(dense):
    """Cut a graph at the root and list, by definition, the largest cliques of its parts."""
    size = len(naive.max_cliques(dense)[0])
    found = []
    for part, v, _ in search._Tree(packed(dense), len(dense), size).cut():
        inner = naive.max_cliques(dense[np.ix_(part, part)])
        found += [tuple(sorted([v, *part[list(one)].tolist()])) for one in inner if len(one) == size - 1]
    return sorted(found)


def search_comp(dense, budget):
    largest = sorted(tree(dense, 1, every=False, budget=budget))
    return is_clique(dense, largest), len(largest), sorted(tree(dense, len(largest), every=True, budget=budget))


def search_ref(dense, budget):
    found = naive.max_cliques(dense)
    return True, len(found[0]), sorted(found)


def by_degree(dense):
    order = np.argsort(-dense.sum(axis=1), kind="stable")
    return dense[np.ix_(order, order)]


def draw_published(rng):
    return by_degree(wide_graph(rng)), int(rng.integers(1, 400)), int(rng.choice([1, 300, 10**9]))


def published_search(dense, limit, work):
    """Run the published search in slices, its lists grown when they are full; return the steps and the clique."""
    n, degrees = len(dense), dense.sum(axis=1)
    state, sums = np.zeros(3, np.int64), np.zeros((n + 3, 2), np.int64)
    stops, chosen, best = (np.zeros(n + 3, np.int64) for _ in range(3))
    lists = np.zeros((2, n), np.int32)
    lists[:] = np.arange(n), np.minimum(np.arange(n), degrees[0]) + 1
    stops[1], state[clique_published.LEVEL] = n, 1
    bits, status = packed(dense), clique_published.STOPPED
    while status != clique_published.FINISHED and state[clique_published.STEPS] < limit:
        status = clique_published.advance(bits, state, stops, chosen, sums, *lists, best, limit, work)
        if status == clique_published.NEEDS_ROOM:
            lists = np.concatenate([lists, np.zeros_like(lists)], axis=1)
    return int(state[clique_published.STEPS]), best[: state[clique_published.BEST]].tolist()


def draw_climb(rng):
    dense = graph(rng)
    return dense, int(rng.integers(len(dense))), int(rng.integers(1, 2**62)), int(rng.integers(1, 30))


def climb_comp(dense, first, word, patience):
    best = np.empty(len(dense), np.int64)
    size, moves = clique_climb.climb(packed(dense), first, patience, np.array([word], np.uint64), best)
    members = best[:size].tolist()
    largest = len(naive.max_cliques(dense)[0])
    return is_clique(dense, members) and len(set(members)) == size, 1 <= size <= largest, bool(moves >= patience)


def filtered(dense, members, need):
    """Drop members with fewer than need - 1 neighbours among the members until none is left to drop."""
    left = list(members)
    while len(left) >= need:
        kept = [v for v in left if dense[v, left].sum() >= need - 1]
        if kept == left:
            return left
        left = kept
    return []


def smaller(dense, v):
    return np.flatnonzero(dense[v, :v]).tolist()


def draw_target(rng):
    dense = wide_graph(rng)
    low, high = sorted(rng.integers(0, len(dense) + 1, 2).tolist())
    return dense, low, high, int(rng.integers(2, 6))


def survivors_sound(left, dense, low, high, target):
    """Tell whether each number is that of the filtered prefix, or 0 where no clique of `target` can end."""
    for place, v in enumerate(range(low, high)):
        ref = len(filtered(dense, smaller(dense, v), target - 1))
        ends = (
            any(is_clique(dense, c) for c in combinations(smaller(dense, v), target - 1)) if len(dense) < 10 else False
        )
        if left[place] != ref and (left[place] != 0 or ends):
            return False
    return True


def survivors_comp(dense, low, high, target):
    lists = clique_prefix.survivors_lists(*prefixes(dense), low, high, target)
    bits = clique_prefix.survivors_bits(packed(dense), low, high, target)
    return [survivors_sound(found, dense, low, high, target) for found in (lists, bits)]


def draw_subgraph(rng):
    dense = wide_graph(rng)
    return dense, some(rng, len(dense)), int(rng.integers(1, 5))


def subgraph_comp(dense, members, need):
    lists = clique_prefix.subgraph_lists(*prefixes(dense), members.astype(np.int64), need)
    bits = clique_prefix.subgraph_bits(packed(dense), packed_set(members, len(dense)), need)
    return [(kept.tolist(), induced.tolist()) for kept, induced in (lists, bits)]


def subgraph_ref(dense, members, need):
    kept = filtered(dense, members.tolist(), need) if need > 1 else members.tolist()
    return [(kept, packed(dense[np.ix_(kept, kept)]).tolist())] * 2


def first_fit(dense):
    colour = nx.greedy_color(nx.from_numpy_array(dense), lambda graph, _: sorted(graph))
    return max(colour.values()) + 1


def prune_comp(dense, need):
    """Every clique of need + 2 survives; no new edge comes; both ends agree."""
    bits, n = packed(dense), len(dense)
    beyond, gone = np.zeros(n, np.int64), 0
    for low in reversed(range(0, n, 64)):
        gone += clique_reduce.prune_bits(bits, low, min(low + 64, n), need, beyond)[1]
    left = np.array([np.isin(np.arange(n), members_of(row)) for row in bits])
    return reduction_holds(dense, left, need), int(dense.sum() - left.sum()) == 2 * gone


def reduction_holds(dense, left, need):
    size = need + 2
    kept = (
        all(is_clique(left, c) for c in combinations(range(len(dense)), size) if is_clique(dense, c))
        if len(dense) < 10
        else True
    )
    return bool((left == left.T).all() and not (left & ~dense).any() and kept)


def shared_comp(dense):
    starts, members = prefixes(dense)
    n = len(dense)
    shared = np.zeros(members.size, np.int32)
    clique_reduce.count_shared(starts, members, 0, n, np.zeros(n, np.uint8), np.empty(n, np.int64), shared)
    return shared


def shared_ref(dense):
    return [int((dense[v] & dense[u]).sum()) for v in range(len(dense)) for u in smaller(dense, v)]


def prune_lists_comp(dense, need):
    starts, members = prefixes(dense)
    left = clique_reduce.prune_lists(starts, members, np.array(shared_ref(dense), np.int32), need)
    return [(v, int(u)) for v in range(len(dense)) for u in members[starts[v] : starts[v + 1]]], int(left)


def prune_lists_ref(dense, need):
    strong = {(v, u) for v in range(len(dense)) for u in smaller(dense, v) if (dense[v] & dense[u]).sum() >= need}
    degree = {v: sum(v in pair for pair in strong) for v in range(len(dense))}
    kept = sorted(pair for pair in strong if min(degree[pair[0]], degree[pair[1]]) > need)
    return kept, len(kept)


def select_comp(dense, kept):
    starts, members = search_graph._selected(*prefixes(dense), kept)
    order = np.flatnonzero(kept)
    rank = np.full(len(dense), -1, np.int64)
    rank[order] = np.arange(order.size)
    return starts, members, clique_reduce.pack_prefixes(*prefixes(dense), rank, order.size, rank, order.size)


def select_ref(dense, kept):
    inside = dense & kept & kept[:, None]
    order = np.flatnonzero(kept)
    return *prefixes(inside), packed(dense[np.ix_(order, order)])


def draw_core(rng):
    dense = wide_graph(rng)
    return dense, some(rng, len(dense)), int(rng.integers(2, 5))


def core_comp(dense, core, share):
    place = np.full(len(dense), -1, np.int64)
    place[core] = np.arange(core.size)
    bits = clique_prefix.core_rows(packed(dense), np.arange(len(dense)), packed_set(core, len(dense)))
    lists = clique_reduce.pack_prefixes(*prefixes(dense), np.arange(len(dense)), len(dense), place, core.size)
    return bits, lists, clique_reduce.may_hold_share(bits, core, packed(dense[np.ix_(core, core)]), share)


def core_ref(dense, core, share):
    """A vertex stays if enough of its neighbours in the core have enough neighbours among them."""
    near = [core[dense[v, core]].tolist() for v in range(len(dense))]
    kept = [bool(filtered(dense, members, share - (v in core))) for v, members in enumerate(near)]
    rows_of = packed(dense[:, core]) if core.size else np.zeros((len(dense), 0), np.uint64)
    return rows_of, rows_of, np.array(kept)


CASES = [
    Case(("bitset.count_bits",), draw_set, set_comp, set_ref),
    Case(
        ("bitset.pack_lists",), draw_renamed,
        pack_comp, renamed,
    ),
    Case(
        ("bitset.permute_rows",), draw_renamed,
        lambda d, order: bitset.permute_rows(packed(d), order, np.argsort(order)), renamed,
    ),
    Case(
        ("clique.degeneracy_order",), lambda rng: (graph(rng),), lambda d: clique.degeneracy_order(packed(d)), ordered,
    ),
    Case(
        ("clique.count_colours",), lambda rng: (d := graph(rng), some(rng, len(d))),
        lambda d, members: clique.count_colours(packed(d), packed_set(members, len(d))), colours,
    ),
    Case(("clique.advance",), lambda rng: (graph(rng), int(rng.integers(1, 4))), search_comp, search_ref),
    Case(("clique.branching_set",), lambda rng: (graph(rng),), cut_comp, naive.max_cliques),
    Case(
        ("clique_published.advance",), draw_published, published_search,
        lambda dense, limit, _: naive.published_search(dense, limit),
    ),
    Case(("clique_climb.climb",), draw_climb, climb_comp),
    Case(
        ("clique_prefix.prefix_lists",), draw_renamed,
        lambda d, order: clique_prefix.prefix_lists(*rows(d), order, np.argsort(order)),
        lambda d, order: prefixes(d[np.ix_(order, order)]),
    ),
    Case(
        ("clique_prefix.survivors_lists", "clique_prefix.survivors_bits"), draw_target, survivors_comp,
    ),
    Case(("clique_prefix.subgraph_lists", "clique_prefix.subgraph_bits"), draw_subgraph, subgraph_comp, subgraph_ref),
    Case(
        ("clique_prefix.colours_lists",), lambda rng: (graph(rng),),
        lambda d: clique_prefix.colours_lists(*prefixes(d)), first_fit,
    ),
    Case(("clique_reduce.prune_bits",), lambda rng: (wide_graph(rng), int(rng.integers(1, 4))), prune_comp),
    Case(("clique_reduce.count_shared",), lambda rng: (graph(rng),), shared_comp, shared_ref),
    Case(
        ("clique_reduce.prune_lists",), lambda rng: (graph(rng), int(rng.integers(1, 4))),
        prune_lists_comp, prune_lists_ref,
    ),
    Case(
        ("search_graph.selected", "clique_reduce.pack_prefixes"),
        lambda rng: (d := wide_graph(rng), rng.random(len(d)) < rng.random()), select_comp, select_ref,
    ),
    Case(
        ("clique_prefix.core_rows", "clique_reduce.may_hold_share"),
        draw_core, core_comp, core_ref,
    ),
]  # fmt: skip
