import itertools

import networkx as nx
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

import naive_propagation
from fuzz import Case
from fuzz.draws import edges, graph, rows, some, wide_graph
from reident.base import DataError
from reident.cliques.quasi import _grow_again
from reident.kernels.networks import network, planted, propagation
from reident.networks import clustering_coefficient, link_scores, path_lengths
from reident.networks.graph import Network, as_network
from reident.networks.planted_cut import _group_labels


def draw_flawed(rng):
    dense = graph(rng)
    lists = [np.flatnonzero(row).tolist() for row in dense]
    for _ in range(int(rng.integers(0, 3))):
        u, v = rng.integers(0, len(dense), 2).tolist()
        lists[u] = sorted([*lists[u], v])
    return (lists,)


def as_rows(lists):
    pointers = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return pointers, np.array(list(itertools.chain(*lists)), np.int32)


def net(dense):
    return Network(*rows(dense), range(len(dense)))


def is_accepted(lists):
    try:
        pointers, columns = as_rows(lists)
        as_network(csr_array((np.ones(len(columns)), columns, pointers), (len(lists),) * 2))
    except DataError:
        return False
    return True


def is_simple(lists):
    return all(v != u and row.count(v) == 1 and u in lists[v] for u, row in enumerate(lists) for v in row)


def draw_pairs(rng):
    dense = graph(rng, least=2)
    pairs = [rng.choice(len(dense), 2, replace=False) for _ in range(int(rng.integers(0, 5)))]
    return dense, np.array(pairs, np.int64).reshape(-1, 2)


def metrics_comp(dense):
    graph = nx.from_numpy_array(dense)
    lengths = path_lengths(graph)
    clustering = [clustering_coefficient(graph, variant=variant) for variant in ("mean", "global", "defined")]
    ends = lengths.diameter_low, lengths.diameter_high, path_lengths(graph, exact_limit=0).diameter_low
    return [lengths.average, lengths.share_connected, *ends, *clustering]


def metrics_ref(dense):
    graph = nx.from_numpy_array(dense)
    far = [length for _, lengths in nx.all_pairs_shortest_path_length(graph) for length in lengths.values() if length]
    n_pairs, widest = len(graph) * (len(graph) - 1), max(far, default=0)
    counted = [value for node, value in nx.clustering(graph).items() if graph.degree[node] >= 2]
    clustering = nx.average_clustering(graph), nx.transitivity(graph), np.mean(counted or [0])
    return [sum(far) / n_pairs, len(far) / n_pairs, *[widest] * 3, *clustering]


def components_ref(dense):
    return connected_components(dense)[1].tolist()


def diameter_comp(dense, searches):
    """Bound every component; beyond as many searches as there are nodes the bounds must meet."""
    label = np.array(components_ref(dense))
    found = []
    for part in range(label.max() + 1):
        members = np.flatnonzero(label == part)
        low, high = network.bound_diameter(*rows(dense), members, searches)
        true = int(shortest_path(dense, unweighted=True)[np.ix_(members, members)].max())
        found.append(low <= true <= max(high, low) and (searches < members.size or low == true))
    return found


def draw_attached(rng):
    m = int(rng.integers(1, 4))
    return int(rng.integers(m + 1, m + 7)), m, int(rng.integers(2**32))


def attached_comp(n, m, seed):
    u, v = network.attach_preferentially(n, m, np.random.default_rng(seed))
    by_new = [[int(b) for a, b in zip(u, v, strict=True) if a == new] for new in range(m, n)]
    return u.size == (n - m) * m and all(len(set(o)) == m and max(o) < new for new, o in enumerate(by_new, m))


def scores_comp(dense, pairs):
    return link_scores(net(dense), pairs.tolist())


def scores_ref(dense, pairs):
    """Return the cosine of the neighbourhoods; an edge between the two does not count."""
    near = [[set(np.flatnonzero(dense[w]).tolist()) - {u, v} for w in (u, v)] for u, v in pairs.tolist()]
    return np.array([len(a & b) / max(1, len(a) * len(b)) ** 0.5 for a, b in near])


def draw_planted(rng):
    dense = graph(rng, least=2, most=6)
    k = int(rng.integers(1, min(4, len(dense)) + 1))
    joined = graph(rng, least=k, most=k)
    parent = np.array([-1, *(int(rng.integers(0, i)) for i in range(1, k))])
    wanted = rng.integers(0, 4, k)
    return dense, some(rng, len(dense)), wanted, parent, joined, int(rng.integers(0, 2)), int(rng.integers(0, 2))


def planted_comp(dense, starts, degrees, parent, joined, slack, edge_slack):
    found, misfit, _, ended = planted.find_planted(
        *rows(dense), starts, degrees, parent, joined, slack, edge_slack, 5000, 10**6
    )
    return sorted(map(tuple, found.tolist())), bool(ended), int(misfit) if len(found) else 0


def planted_ref(dense, starts, degrees, parent, joined, slack, edge_slack):
    """Try every placement, and keep those of the least misfit."""
    k, found = len(degrees), {}
    for image in itertools.permutations(range(len(dense)), k):
        wrong = sum(dense[image[a], image[b]] != joined[a, b] for a, b in itertools.combinations(range(k), 2))
        if (
            image[0] in starts
            and all(abs(int(dense[image[i]].sum()) - degrees[i]) <= slack for i in range(k))
            and all(dense[image[i], image[parent[i]]] for i in range(1, k))
            and wrong <= edge_slack
        ):
            gaps = sum(abs(int(dense[image[i]].sum()) - int(degrees[i])) for i in range(k))
            found.setdefault(gaps + wrong, []).append(image)
    least = min(found, default=0)
    return sorted(found.get(least, [])), True, least


def draw_product(rng):
    """Draw a product graph: vertices are pairs of records, and no two that share one are joined."""
    sides = rng.integers(1, 4, 2)
    pairs = np.array([(a, b) for a in range(sides[0]) for b in range(sides[1]) if rng.random() < 0.8] or [(0, 0)])
    dense = graph(rng, len(pairs), len(pairs))
    dense &= (pairs[:, None] != pairs[None]).all(axis=2)
    gamma, first, word = rng.choice([0.3, 0.5, 0.7, 0.9, 1.0]), rng.integers(len(pairs)), rng.integers(1, 2**62)
    return dense, pairs, float(gamma), int(first), int(word)


def quasi_comp(dense, pairs, gamma, first, word):
    most = min(len(set(pairs[:, 0])), len(set(pairs[:, 1])))
    best = np.empty(most, np.int64)
    release, known = np.ascontiguousarray(pairs.T)
    size = _grow_again(*rows(dense), release, known, gamma, np.array([first]), 4, np.array([word], np.uint64), best)
    members = best[:size].tolist()
    one_to_one = all(len(set(pairs[members, side].tolist())) == size for side in range(2))
    enough = all(dense[v, members].sum() >= gamma * (size - 1) - 1e-6 for v in members)
    return one_to_one, bool(enough), bool(1 <= size <= largest_quasi_clique(dense, pairs, gamma))


def largest_quasi_clique(dense, pairs, gamma):
    for size in range(len(pairs), 0, -1):
        for members in itertools.combinations(range(len(pairs)), size):
            one_to_one = all(len(set(pairs[list(members), side].tolist())) == size for side in range(2))
            if one_to_one and all(dense[v, list(members)].sum() >= gamma * (size - 1) - 1e-6 for v in members):
                return size
    return 0


def draw_propagation(rng):
    """Draw two directed graphs (matrices from, to), who is crawled in them, and a partial mapping."""
    n, directed = int(rng.integers(2, 7)), bool(rng.random() < 0.5)
    both = []
    for _ in range(2):
        dense = rng.random((n, n)) < rng.choice([0.2, 0.4, 0.6])
        np.fill_diagonal(dense, False)
        both.append(dense if directed else dense | dense.T)
    crawled = [np.ones(n, bool) if not directed else rng.random(n) < 0.7 for _ in range(2)]
    size = int(rng.integers(1, n + 1))
    partners = np.column_stack([rng.permutation(n)[:size], rng.permutation(n)[:size]])
    return *both, crawled, directed, partners, float(rng.choice([0.0, 0.3, 0.7]))


def side(dense, crawled, directed):
    out, back, either = rows(dense), rows(dense.T), rows(dense | dense.T)
    return (*back, *out, *either, crawled, not directed)


def propagation_comp(left, right, crawled, directed, partners, theta):
    """Propagate, and look whether the fixed point is one: no free node has a mutual best match that stands out more."""
    n = len(left)
    ahead, back = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    ahead[partners[:, 0]] = partners[:, 1]
    sides = [side(dense, c, directed) for dense, c in zip((left, right), crawled, strict=True)]
    converged = propagation.propagate_mapping(*sides, np.arange(n), ahead, back, theta, 50)
    mapping = {u: int(v) for u, v in enumerate(ahead) if v >= 0}
    inverse = {v: u for u, v in mapping.items()}
    injective = len(inverse) == len(mapping) and {int(u): v for v, u in enumerate(back) if u >= 0} == mapping
    settled = not converged or naive_propagation.is_settled(left, right, crawled, mapping, theta)
    return injective, settled


def match_comp(left, right, crawled, directed, partners, theta):
    """Find each node's best match: its score is the largest by Algorithm 10.1, and stands out as far as it says."""
    n = len(left)
    maps = np.full((2, n), -1, np.int64)
    maps[0, partners[:, 0]], maps[1, partners[:, 1]] = partners[:, 1], partners[:, 0]
    sides = [side(dense, c, directed) for dense, c in zip((left, right), crawled, strict=True)]
    usable = [(to >= 0) & c[to] for to, c in zip(maps, crawled[::-1], strict=True)]
    pairs = [(d | d.T, d.T, use) for d, use in zip((left, right), usable, strict=True)]
    both, incoming = (tuple((p[k] & p[2]).sum(axis=1).astype(np.int32) for p in pairs) for k in (0, 1))
    work = np.zeros(n, np.int32), np.zeros(n, np.int32), np.empty(n + 1, np.int32), 1 / np.sqrt(np.r_[1, 1 : n + 1])
    naive = [naive_propagation.neighbours(d) for d in (left, right)]
    known, mapping = [{*np.flatnonzero(c).tolist()} for c in crawled], dict(partners.tolist())
    right_ones = []
    for node in range(n):
        scores = [naive_propagation.score(node, other, *naive, mapping, *known) for other in range(n)]
        if directed:
            best, clear = propagation.best_match(node, *sides, *maps, both, incoming, work)
        else:
            best, clear = propagation.best_of_crawled(node, *(s[4:6] for s in sides), maps[0], n, both[1], work)
        *_, second, largest = sorted(scores)
        if largest == 0 or np.std(scores) < 1e-9:
            right_ones.append(best < 0 or clear >= 0)
        else:
            right_ones.append(
                np.allclose((scores[best], clear), (largest, (largest - second) / np.std(scores)), atol=1e-6)
            )
    return *right_ones, not work[0].any(), not work[1].any()


def draw_groups(rng):
    dense = graph(rng)
    if rng.random() < 0.6:
        other = graph(rng)
        n = len(dense)
        both = np.zeros((n + len(other), n + len(other)), bool)
        both[:n, :n], both[n:, n:] = dense, other
        for _ in range(int(rng.integers(0, 5))):
            a, b = int(rng.integers(n)), n + int(rng.integers(len(other)))
            both[a, b] = both[b, a] = True
        dense = both
    return dense, int(rng.integers(1, 6))


def groups_comp(dense, k):
    label = _group_labels(*edges(dense), len(dense), k)
    return {frozenset(np.flatnonzero(label == one).tolist()) for one in label}


def groups_ref(dense, k):
    """Cut along a smallest cut for as long as it has fewer than k edges."""
    found, waiting = set(), [range(len(dense))]
    while waiting:
        nodes = list(waiting.pop())
        inner = nx.from_numpy_array(dense[np.ix_(nodes, nodes)])
        if len(nodes) == 1:
            found.add(frozenset(nodes))
            continue
        part = set(nx.node_connected_component(inner, 0))
        weight, sides = nx.stoer_wagner(inner) if len(part) == len(nodes) else (0, [part, set(inner) - part])
        if weight >= k:
            found.add(frozenset(nodes))
        else:
            waiting += [[nodes[i] for i in side] for side in sides]
    return found


CASES = [
    Case(("edge_groups.scan", "edge_groups.peel"), draw_groups, groups_comp, groups_ref),
    Case(("graph.checked",), draw_flawed, is_accepted, is_simple),
    Case(("network.triangles", "network.distances_from"), lambda rng: (wide_graph(rng, 2),), metrics_comp, metrics_ref),
    Case(("graph.components",), lambda rng: (graph(rng),), lambda d: net(d).components(), components_ref),
    Case(("network.bound_diameter",), lambda rng: (graph(rng), int(rng.integers(1, 10))), diameter_comp),
    Case(("network.attach_preferentially",), draw_attached, attached_comp),
    Case(("link_prediction.link_scores",), draw_pairs, scores_comp, scores_ref),
    Case(("planted.find_planted",), draw_planted, planted_comp, planted_ref),
    Case(("quasi_clique.grow", "clique_climb.random_number"), draw_product, quasi_comp),
    Case(("propagation.propagate_mapping",), draw_propagation, propagation_comp),
    Case(("propagation.best_match", "propagation.best_of_crawled"), draw_propagation, match_comp),
]  # fmt: skip
