"""Attack. Pairs of nodes by structure or from a small clique, and the passive attack that starts from them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from reident.base import (
    Choice,
    DataError,
    FloatArray,
    Generator,
    IntArray,
    Real,
    RNGLike,
    Whole,
    check_mapping,
    check_names,
    check_rng,
    checked,
)
from reident.networks.graph import Network, as_directed_network, as_network, is_directed
from reident.networks.propagation import Propagation, propagate
from reident.networks.spectral import spectral_match


@dataclass(frozen=True)
class Seeds:
    """Pairs of nodes to start from.

    Attributes
    ----------
    mapping : dict
        Node of the release -> node of the known network; empty if none was found with confidence.
    n_candidates : int
        ``"matching"``, ``"spectral"``: nodes of each network that were matched; ``"clique"``: cliques of the release
        that fit.
    """

    mapping: dict[Hashable, Hashable] = field(repr=False)
    n_candidates: int


@checked
def find_seeds(
    release: Any,
    known: Any,
    *,
    method: Annotated[str, Choice("matching", "clique", "spectral")] = "matching",
    n: Annotated[int, Whole(3, unit="nodes")] = 200,
    theta: Annotated[float, Real(0)] = 0.1,
    clique_size: Annotated[int, Whole(3, unit="nodes")] = 4,
    tolerance: Annotated[float, Real(0, 1)] = 0.05,
    rng: RNGLike = 0,
) -> Seeds:
    """Find pairs of nodes of two overlapping networks without any prior pair.

    Parameters
    ----------
    release, known : whatever `as_network` takes
        The released network and the attacker's, undirected; for ``"matching"`` also both directed: then by the links
        that lead to a node.
    method : {"matching", "clique", "spectral"}
        ``"matching"`` (10.3.2): the `n` nodes of largest degree of each network are matched so that the cosine
        similarities of their neighbourhoods agree. ``"clique"`` (10.3.1): a clique of known persons is looked for by
        its degrees and numbers of common neighbours. ``"spectral"``: all nodes are matched by `spectral_match`, and a
        pair is kept whose similarity exceeds the next best by a standard deviation: for networks with rewired hubs.
    n : int
        Matching: how many nodes of each side.
    theta : float
        Matching: a pair is kept if its profile of similarities stands out by so many standard deviations, both ways.
    clique_size : int
        Clique: of how many persons the attacker knows degrees and common neighbours; grown from a random node of large
        degree.
    tolerance : float
        Clique: relative deviation allowed in degrees and numbers of common neighbours.
    rng : Generator, int or None
        Breaks ties of the matching and draws the clique.

    Returns
    -------
    Seeds
        Not proven right: feed them to `propagate`, which drops what does not fit.

    Raises
    ------
    DataError, ParameterError
        For networks with fewer than 3 nodes or without a clique, parameters out of range.

    Notes
    -----
    The weighted graph matching problem is solved by FAQ (scipy) started from the assignment of sorted similarity
    profiles, and refined by assignments of profiles under the current matching. From FAQ's usual start, the
    barycentre, it fails under noise. In directed networks in-degrees count beside the cosines, which in crawls are of
    parts of the links: of 400 people matched in two simulated crawls about twice as many come out right.
    """
    if method == "matching" and is_directed(release) and is_directed(known):
        released, background, rank = _links_in(release, "release"), _links_in(known, "known"), 0.5
    else:
        released, background, rank = as_network(release, "release"), as_network(known, "known"), 0.0
    for network, name in ((released, "release"), (background, "known")):
        if network.n_nodes < 3:
            raise DataError(f"`{name}` must have at least 3 nodes, got {network.n_nodes}")
    generator = check_rng(rng)
    if method == "spectral":
        match = spectral_match(released, background)
        sure = {node: partner for node, partner in match.mapping.items() if match.margins[node] >= 1}
        return Seeds(sure, len(match.mapping))
    if method == "matching":
        return _match(released, background, min(n, released.n_nodes, background.n_nodes), theta, rank, generator)
    return _find_clique(released, background, _grow_clique(background, clique_size, generator), tolerance)


def _links_in(graph: Any, name: str) -> Network:
    """Return the rows of the links that lead to each node, as crawls know them (10.3.2); they are not symmetric."""
    directed = as_directed_network(graph, name)
    return Network(directed.in_indptr, directed.in_indices, directed.nodes)


def _cosines(network: Network, rows: IntArray) -> FloatArray:
    """Return the cosine similarity of the neighbourhoods of some nodes; the diagonal is 0."""
    adjacency = network.to_scipy()[rows].astype(np.float64)
    common = (adjacency @ adjacency.T).toarray()
    norm = np.sqrt(np.maximum(network.degrees[rows], 1.0))
    cosines = common / norm[:, None] / norm[None, :]
    np.fill_diagonal(cosines, 0.0)
    return np.ascontiguousarray(cosines)


def _match(released: Network, background: Network, n: int, theta: float, rank: float, rng: Generator) -> Seeds:
    """Match the top nodes by their cosines; `rank` is the weight of degrees beside them."""
    from scipy.optimize import linear_sum_assignment, quadratic_assignment
    from scipy.spatial.distance import cdist

    tops = [np.argsort(-network.degrees, kind="stable")[:n] for network in (released, background)]
    first, second = _cosines(released, tops[0]), _cosines(background, tops[1])
    apart = _apart(released.degrees[tops[0]], background.degrees[tops[1]]) if rank else np.zeros((n, n))

    def costs(a: FloatArray, b: FloatArray) -> FloatArray:
        distances: FloatArray = cdist(a, b)
        return distances + rank * distances.std() * apart if rank else distances

    start = np.zeros((n, n))
    start[linear_sum_assignment(costs(np.sort(first, axis=1), np.sort(second, axis=1)))] = 1.0
    options = {"maximize": True, "P0": start, "rng": rng, "maxiter": 100}
    partner = quadratic_assignment(first, second, method="faq", options=options).col_ind
    partner = _refined(partner, lambda at: linear_sum_assignment(costs(first, second[:, at]))[1], 20)
    distances = costs(first, second[:, partner])
    keep = _stands_out(-distances, partner, theta) & _stands_out(-distances.T, np.argsort(partner), theta)[partner]
    rows = np.flatnonzero(keep)
    mapping = {released.nodes[int(tops[0][i])]: background.nodes[int(tops[1][partner[i]])] for i in rows}
    return Seeds(mapping, n)


def _refined(start: IntArray, better: Callable[[IntArray], IntArray], rounds: int) -> IntArray:
    """Return the matching after `rounds` of refinement; a cycle of matchings is not repeated."""
    path, steps = [start], {start.tobytes(): 0}
    for step in range(1, rounds + 1):
        path.append(better(path[-1]))
        first = steps.setdefault(path[-1].tobytes(), step)
        if first < step:
            return path[first + (rounds - first) % (step - first)]
    return path[-1]


def _apart(first: IntArray, second: IntArray) -> FloatArray:
    """Return how far degrees of two networks are apart: differences of logarithms about their medians, scaled."""
    logs, other_logs = (np.log(np.maximum(degrees, 1)) for degrees in (first, second))
    apart = np.abs((logs - np.median(logs))[:, None] - (other_logs - np.median(other_logs))[None, :])
    return np.asarray(apart / max(apart.std(), 1e-12))


def _stands_out(scores: FloatArray, partner: IntArray, theta: float) -> np.ndarray:
    """Tell for each row whether its partner has the largest score, `theta` deviations above the next."""
    ranked = np.sort(scores, axis=1)
    deviation = scores.std(axis=1)
    of_partner = scores[np.arange(len(partner)), partner]
    return (of_partner == ranked[:, -1]) & (ranked[:, -1] - ranked[:, -2] >= theta * deviation) & (deviation > 0)


def _grow_clique(network: Network, size: int, rng: Generator) -> list[int]:
    """Grow a clique from a random node of large degree, each time by the common neighbour of largest degree."""
    degrees = network.degrees
    candidates = np.argsort(-degrees, kind="stable")[: max(10, network.n_nodes // 20)]
    for start in rng.permutation(candidates):
        members = [int(start)]
        common = network.neighbours(int(start))
        while len(members) < size and common:
            best = max(sorted(common), key=lambda node: degrees[node])
            members.append(best)
            common &= network.neighbours(best)
        if len(members) == size:
            return members
    raise DataError(f"no clique of {size} nodes was found in `known`: choose a smaller `clique_size`")


def _find_clique(released: Network, background: Network, members: list[int], tolerance: float) -> Seeds:
    """Find the cliques of the release with fitting degrees and common neighbours; a unique one gives the seeds."""
    wanted = background.degrees[members]
    order = np.argsort(-wanted, kind="stable")
    members, wanted = [members[i] for i in order], wanted[order]

    def fits(value: float, target: float) -> bool:
        return abs(value - target) <= tolerance * target

    around = [background.neighbours(node) for node in members]
    shared = {(i, j): len(around[i] & around[j]) for i, j in itertools.combinations(range(len(members)), 2)}
    degrees = released.degrees
    partial = [[int(node)] for node in np.flatnonzero(np.abs(degrees - wanted[0]) <= tolerance * wanted[0])]
    for j in range(1, len(members)):
        longer = []
        for chosen in partial:
            around = [released.neighbours(node) for node in chosen]
            for node in sorted(set.intersection(*around)):
                if fits(degrees[node], wanted[j]):
                    inside = released.neighbours(node)
                    if all(fits(len(inside & around[i]), shared[i, j]) for i in range(j)):
                        longer.append([*chosen, node])
        partial = longer
    mapping = {}
    if len(partial) == 1:
        mapping = {released.nodes[u]: background.nodes[v] for u, v in zip(partial[0], members, strict=True)}
    return Seeds(mapping, len(partial))


_EMPTY = Propagation({}, 0, True)


def passive_attack(
    release: Any,
    known: Any,
    seeds: Mapping[Hashable, Hashable] | None = None,
    *,
    found: Mapping[Hashable, Hashable] | None = None,
    theta: Annotated[float, Real(0)] = 0.5,
    rng: RNGLike = 0,
) -> Propagation:
    """Re-identify the nodes of a release from known persons, from seeds found by structure, and from both together.

    Returned is the mapping that puts the largest number of the known network's edges on released edges. The intruder
    can count these, so that prior knowledge never lowers the result, except through noise in the count.

    Parameters
    ----------
    release, known : graphs as `as_network` takes
        The released network and the attacker's own, undirected.
    seeds : mapping, optional
        Node of `release` -> node of `known`: people the attacker knows in the release. Default: no person.
    found : mapping, optional
        Pairs found by structure before, as `find_seeds` returns them; by default they are looked for.
    theta : float
        As in `propagate`.
    rng : Generator, int or None
        Breaks ties in finding seeds.

    Returns
    -------
    Propagation
        `n_seeds` counts the seeds of the start that won; empty if there was nothing to start from.

    Raises
    ------
    DataError, ParameterError
        If a network cannot be read, a known person is in neither network, or an option breaks its rule.

    Notes
    -----
    vanhoef2012, chapter 10: 10.3.2 and 10.4 together. A pair found that contradicts a known one is dropped.
    """
    released, background = as_network(release, "release"), as_network(known, "known")
    known_pairs = dict(check_mapping(seeds, "seeds", optional=True))
    partners = set(check_names(known_pairs.values(), "seeds"))
    starts = [known_pairs] if known_pairs else []
    pairs = find_seeds(released, background, rng=rng).mapping if found is None else dict(check_mapping(found, "found"))
    starts.append(pairs)
    if known_pairs and pairs:
        starts.append(known_pairs | {u: v for u, v in pairs.items() if u not in known_pairs and v not in partners})
    spread = [propagate(released, background, start, theta=theta) for start in starts if start]
    return max(spread, key=lambda result: _n_mapped_edges(released, background, result.mapping), default=_EMPTY)


def _n_mapped_edges(released: Network, background: Network, mapping: Mapping[Hashable, Hashable]) -> int:
    """Count the edges of the known network (right) that a mapping from the release puts on released edges."""
    partner = np.full(background.n_nodes, -1, np.int64)
    for node, person in mapping.items():
        partner[background.positions[person]] = released.positions[node]
    u, v = (partner[ends] for ends in background.edges())
    both = (u >= 0) & (v >= 0)
    return int(released.has_edges(u[both], v[both]).sum())
