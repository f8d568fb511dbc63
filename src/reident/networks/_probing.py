"""Anonymiser. From degree sequence to graph: the probing schemes of vanhoef2012 (9.5.3, 9.7.2) and batch probing."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from reident.base import DataError, Generator, IntArray
from reident.networks.graph import Network, edited

# The largest raise of schemes 1 and 2.
_LARGEST_RAISE = 10
# How often `_edited` looks for edges to move where a stub finds no partner.
_TRIES = 500


@dataclass(frozen=True, eq=False)
class Probe:
    """A graph that a probing scheme ended with (the last attempt, where it reached its limit)."""

    network: Network
    probing: int | str
    n_probes: int
    is_within_limit: bool


def _edited(network: Network, target: IntArray, rng: Generator) -> tuple[Network | None, int]:
    """Edit a graph until it has given degrees; None and the number of stubs that could not be placed if that fails."""
    from reident.kernels.networks.edgeset import list_edges
    from reident.kernels.networks.edits import settle
    from reident.kernels.networks.realise import drop_edges, realise

    rows = (network.indptr, network.indices)
    change = target - network.degrees
    add_u, add_v, short = realise(*rows, np.maximum(change, 0), True, False, rng)
    cut_u, cut_v, excess = drop_edges(*rows, np.maximum(-change, 0))
    added, removed = settle(*rows, add_u, add_v, cut_u, cut_v, short, excess, _TRIES, rng)
    n_unplaced = int(short.sum() + excess.sum())
    if n_unplaced:
        return None, n_unplaced
    return edited(network, list_edges(added), list_edges(removed)), 0


def _without_edges(network: Network) -> Network:
    return Network(np.zeros_like(network.indptr), network.indices[:0], network.nodes)


def probe_batch(network: Network, k: int, deletions: bool, keep_edges: bool, is_direct: bool, rng: Generator) -> Probe:
    """Probe with parity inside the degree programme and as many raises at once as stubs are missing."""
    from reident.kernels.networks.realise import realise, switch_stubs

    noisy = _noise_of_hubs(network, k) if deletions else network.degrees.copy()
    base = network if keep_edges else _without_edges(network)
    rows = base.indptr, base.indices
    n_probes, is_hub = 0, False
    while True:
        target, cost = nearest_degrees(noisy, k, deletions, even=True)
        n_probes += 1
        if cost < 0:
            raise DataError(
                f"no {k}-degree anonymous graph on {network.n_nodes} nodes exists: "
                "an odd number of nodes would share an odd degree"
            )
        if is_direct:
            release, missing = _edited(network, target, rng)
            if release is not None:
                return Probe(release, "batch", n_probes, True)
        else:
            u, v, rest = realise(*rows, target - base.degrees, True, False, rng)
            missing = int(rest.sum())
            if missing:
                u, v = (np.concatenate([ends, np.zeros(missing // 2, np.int32)]) for ends in (u, v))
                m = switch_stubs(*rows, u, v, rest, 50, rng)
                u, v = u[:m], v[:m]
                missing = int(rest.sum())
            if missing == 0:
                return Probe(edited(base, (u, v), (u[:0], v[:0])), "batch", n_probes, True)
        is_hub = is_hub or 2 * missing > network.n_nodes
        _raise_many(noisy, missing, is_hub, rng)


def nearest_degrees(degrees: IntArray, k: int, deletions: bool, *, even: bool) -> tuple[IntArray, int]:
    """Return the nearest k-anonymous degrees, node by node, and their L1 cost; -1 for none."""
    from reident.kernels.networks.degrees import anonymise_sequence

    order = np.argsort(-degrees, kind="stable")
    sequence, cost = anonymise_sequence(degrees[order], k, deletions, even, degrees.size - 1)
    target = np.empty_like(degrees)
    target[order] = sequence
    return target, int(cost)


def _noise_of_hubs(network: Network, k: int) -> IntArray:
    """Return the degrees from which to probe: where a hub loses most of all edges, its neighbours lose one, too.

    The stubs of one node cannot be paired with each other. With a third edge two of them cost three edits; if the
    neighbours' degrees may fall, one edit each.
    """
    noisy = network.degrees.copy()
    target, l1 = nearest_degrees(noisy, k, True, even=True)
    while l1 > 0:
        lost = noisy - target
        hub = int(lost.argmax())
        unpaired = 2 * int(lost[hub]) - l1
        neighbours = network.indices[network.indptr[hub] : network.indptr[hub + 1]]
        neighbours = neighbours[noisy[neighbours] > 0]
        if unpaired <= 0 or len(neighbours) < lost[hub]:
            break
        sharing = np.bincount(noisy)[noisy[neighbours]]
        fallen = noisy.copy()
        fallen[neighbours[np.argsort(-sharing, kind="stable")[: lost[hub]]]] -= 1
        fallen[hub] = target[hub]
        next_target, next_l1 = nearest_degrees(fallen, k, True, even=True)
        if next_l1 < 0 or lost[hub] + next_l1 / 2 >= l1 / 2 + unpaired:
            break
        noisy, target, l1 = fallen, next_target, next_l1
    return noisy


def _raise_many(noisy: IntArray, missing: int, is_hub: bool, rng: Generator) -> None:
    """Raise about `missing` nodes of the lower half by one each; more than once where they are too few.

    Where hubs lack more stubs than half of the nodes, the lowest are raised: each can be joined to a hub but once.
    """
    highest = len(noisy) - 1
    open_nodes = np.flatnonzero(noisy < highest)
    if open_nodes.size == 0:
        return
    n_lower = missing if is_hub else max(1, (len(noisy) + 1) // 2)
    lower = open_nodes[np.argsort(noisy[open_nodes], kind="stable")[:n_lower]]
    while missing > 0:
        chosen = rng.permutation(lower)[:missing]
        noisy[chosen] = np.minimum(noisy[chosen] + 1, highest)
        missing -= len(chosen)


def probe_literal(
    network: Network,
    k: int,
    scheme: int,
    deletions: bool,
    keep_edges: bool,
    max_probes: int | None,
    rng: Generator,
) -> Probe:
    """Probe one raise at a time until a graph is found or a limit reached: Algorithm 9.4, 9.7 or 9.8.

    With `keep_edges` the network is extended (9.4), otherwise a new graph is built. The first probe is without noise.
    """
    from reident.kernels.networks.degrees import may_extend
    from reident.kernels.networks.realise import realise

    noisy = network.degrees.copy()
    base = network if keep_edges else _without_edges(network)
    rows = base.indptr, base.indices
    for n_probes in itertools.count(1):
        if n_probes > 1:
            _add_noise(noisy, scheme, rng)
        target, _ = nearest_degrees(noisy, k, deletions, even=False)
        residual = target - base.degrees
        # Both are false for an odd sum.
        if may_extend(*rows, residual) if rows[1].size else is_realisable(np.sort(target)[::-1].copy()):
            u, v, missing = realise(*rows, residual, False, True, rng)
            if not missing.any():
                return Probe(edited(base, (u, v), (u[:0], v[:0])), scheme, n_probes, True)
        if n_probes == max_probes:
            break
    return Probe(network, scheme, n_probes, False)


def is_realisable(d: IntArray) -> bool:
    """Test a decreasing sequence by Erdos and Gallai (vanhoef2012, Theorem 9.5, which omits the order: erratum 6)."""
    n = d.size
    if d.sum() % 2 == 1 or (n and (d[0] > n - 1 or d[-1] < 0)):
        return False
    size, total = np.arange(1, n + 1), np.append(0, np.cumsum(d))
    n_larger = np.searchsorted(-d, -size, side="right")
    rest = np.maximum(n_larger, size)
    return bool((total[1:] <= size * (rest - 1) + total[n] - total[rest]).all())


def _add_noise(noisy: IntArray, scheme: int, rng: Generator) -> None:
    """Raise one node's degree as probing scheme 1, 2, 3 or 4 does. Modifies `noisy`."""
    n, delta = noisy.size, 1
    if scheme == 3:
        at = int(noisy.argmin())
    elif scheme == 4:
        at = int(np.argsort(-noisy, kind="stable")[rng.integers(n // 2, n)])
    else:
        at, delta = int(rng.integers(0, n)), int(rng.integers(1, _LARGEST_RAISE + 1))
        if scheme == 2:
            delta = 1 if noisy.sum() % 2 else 2 * int(rng.integers(1, _LARGEST_RAISE // 2 + 1))
    noisy[at] = min(n - 1, noisy[at] + delta)
