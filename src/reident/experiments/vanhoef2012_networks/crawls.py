"""Chapter 10 of Vanhoef (2012) beyond one release: seeds by a clique (10.3.1) and simulated crawls (10.5).

The original Flickr and Twitter crawls are not available. Simulated instead: groups of users with lognormal popularity
who follow one another, most often in return; a crawler starts anywhere and opens random pages among those linked from
the pages seen so far, so that links out of pages it never opened are missing.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from reident.base import DataError, IntArray, Parameters, Row, quiet
from reident.data.networks import random_degrees, sample_network
from reident.experiments.vanhoef2012_networks.graphs import network, renamed
from reident.networks.graph import DirectedNetwork, as_directed_network
from reident.networks.propagation import mapping_quality, propagate
from reident.networks.seeds import find_seeds

#: Links of a person on average, the tail of popularity, the share inside the own group, and that of links returned.
_LINKS, _TAIL, _WITHIN, _RETURNED = 80.0, 1.4, 0.6, 0.6

Follows = tuple[IntArray, IntArray]


def clique(rng: Generator, *, graph: str, clique_size: int, known_edges: float) -> Row:
    """Find in a renamed copy a clique of people with known degrees and common friends, and spread from it."""
    original = network(graph)
    known = sample_network(original, edges=known_edges, rng=rng)
    release, truth = renamed(sample_network(original, edges=known_edges, rng=rng), rng)
    tolerance = 5 * (1 - known_edges)
    options: Parameters = {"method": "clique", "clique_size": clique_size, "tolerance": tolerance, "rng": rng}
    try:
        seeds = find_seeds(release, known, **options).mapping
    except DataError:  # The copy holds no clique of that size.
        seeds = {}
    if not seeds:
        return {"right": False, "recall": 0.0}
    with quiet():
        mapping = propagate(release, known, seeds).mapping
    is_right = all(truth[node] == partner for node, partner in seeds.items())
    return {"right": is_right, "recall": mapping_quality(mapping, truth).recall}


def crawled_twice(rng: Generator, *, size: int, opened: float, changed: float, n_matched: int = 400) -> Row:
    """Crawl a network twice, months apart; match the `n_matched` most followed people, and spread (10.5.1).

    `opened` is the share of pages that the released crawl opens (the attacker's: .9), `changed` the share of links that
    has changed in between.
    """
    n = size
    popular, groups = popularity(n, rng), draw_groups(n, rng)
    links = follows(popular, groups, rng)
    later = _later(links, popular, groups, changed, rng)
    crawls = [crawl(state, n, int(share * n), rng) for state, share in ((links, opened), (later, 0.9))]
    release, known, truth = _released(crawls[0], crawls[1], n, rng)
    tops = [set(np.argsort(-np.bincount(ends, minlength=n), kind="stable")[:30].tolist()) for _, ends in crawls]
    seeds = find_seeds(release, known, n=n_matched, theta=0.3, rng=rng).mapping
    right = sum(seeds.get(node) == partner for node, partner in truth.items())
    measured = {"top_30": len(tops[0] & tops[1]), "n_seeds": len(seeds), "seeds_right": right}
    return measured | _spread(release, known, seeds, truth)


def two_networks(rng: Generator, *, size: int, known_edges: float) -> Row:
    """Find the members of one network in another with 15 % of all people in common, from known pairs (10.5.2)."""
    n, overlap = size, 0.15
    sources, ends = follows(popularity(n, rng), draw_groups(n, rng), rng)
    sides = []
    for _ in range(2):
        # Two independent memberships of probability q have q / (2 - q) of all members in common.
        member = rng.random(n) < 2 * overlap / (1 + overlap)
        is_member = member[sources] & member[ends] & (rng.random(len(sources)) < known_edges)
        sides.append((sources[is_member], ends[is_member]))
    release, known, truth = _released(sides[0], sides[1], n, rng)
    nodes = np.array(list(truth))
    degrees = np.diff(release.in_indptr)[nodes]
    n_seeds = min(150, len(nodes) // 3)
    chosen = nodes[np.argsort(-degrees, kind="stable")][: 5 * n_seeds]
    seeds = {int(node): truth[int(node)] for node in rng.choice(chosen, n_seeds, replace=False)}
    return _spread(release, known, seeds, truth, seeds)


def _released(
    first: Follows, second: Follows, n: int, rng: Generator
) -> tuple[DirectedNetwork, DirectedNetwork, dict[int, int]]:
    """Return a release of the first links under random names, the second network, and the true pairs."""
    people = [np.unique(np.concatenate(links)) for links in (first, second)]
    rows = np.full((2, n), -1, np.int64)
    rows[0, people[0]] = rng.permutation(len(people[0]))
    rows[1, people[1]] = np.arange(len(people[1]))
    release, known = (
        as_directed_network(csr_array((np.ones(len(sources), np.int8), (row[sources], row[ends])), shape=(n, n)))
        for (sources, ends), row, n in zip((first, second), rows, map(len, people), strict=True)
    )
    both = np.flatnonzero((rows >= 0).all(axis=0))
    return release, known, dict(zip(rows[0, both].tolist(), rows[1, both].tolist(), strict=True))


def _spread(
    release: DirectedNetwork, known: DirectedNetwork, seeds: Mapping[Any, Any], truth: Mapping[Any, Any],
    ignore: Iterable[int] = (),
) -> Row:  # fmt: skip
    """Propagate, and return the shares of the people in both that are right, wrong and left without a match."""
    with quiet():
        mapping = propagate(release, known, seeds).mapping if seeds else {}
    quality = mapping_quality(mapping, truth, ignore=ignore)
    wrong = 1 - quality.recall - quality.unmatched
    return {"right": quality.recall, "wrong": wrong, "left": quality.unmatched, "accuracy": quality.precision}


def popularity(n: int, rng: Generator) -> np.ndarray:
    """Draw the expected number of links of each person from a lognormal law."""
    return rng.lognormal(np.log(_LINKS) - _TAIL**2 / 2, _TAIL, n)


def draw_groups(n: int, rng: Generator) -> IntArray:
    """Return the starts of groups of 20 to 1,000 people, small ones more often."""
    ends = np.cumsum(np.exp(rng.uniform(np.log(20), np.log(1000), n // 20 + 1)).astype(np.int64))
    return np.concatenate([[0], ends[ends < n - 20]])


def _distinct(keys: IntArray) -> IntArray:
    """Return the distinct keys in order; numpy's own `unique` hashes, which is slow where most keys are distinct."""
    ordered = np.sort(keys)
    return ordered[np.append(True, np.diff(ordered) > 0)] if ordered.size else ordered


def follows(popular: np.ndarray, groups: IntArray, rng: Generator) -> Follows:
    """Draw links inside groups and across, most often in both directions, else mostly to the more popular person."""
    n = len(popular)
    pairs = [np.column_stack(random_degrees((1 - _WITHIN) * popular, rng=rng).edges())]
    for start, end in zip(groups, [*groups[1:], n], strict=True):
        inner = random_degrees(_WITHIN * popular[start:end], rng=rng).edges()
        pairs.append(np.column_stack(inner).astype(np.int64) + start)
    joined = np.concatenate(pairs).astype(np.int64)
    keys = _distinct(joined[:, 0] * n + joined[:, 1])
    u, v = keys // n, keys % n
    both = rng.random(len(u)) < _RETURNED
    up = rng.random(len(u)) < popular[v] / (popular[u] + popular[v])
    return np.concatenate([u[both | up], v[both | ~up]]), np.concatenate([v[both | up], u[both | ~up]])


def _later(links: Follows, popular: np.ndarray, groups: IntArray, changed: float, rng: Generator) -> Follows:
    """Return the links some months later: a share of them is replaced by others."""
    n = len(popular)
    parts = [(links, 1 - changed), (follows(popular, groups, rng), changed)]
    keys = [(sources * n + ends)[rng.random(len(sources)) < share] for (sources, ends), share in parts]
    remaining = _distinct(np.concatenate(keys))
    return remaining // n, remaining % n


def crawl(links: Follows, n: int, n_opened: int, rng: Generator) -> Follows:
    """Open pages, each a random one among those linked so far, and return the links on them."""
    order = np.argsort(links[0], kind="stable")
    ends = links[1][order]
    starts = np.searchsorted(links[0][order], np.arange(n + 1))
    opened, linked = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    waiting: list[int] = []
    for _ in range(n_opened):
        if not waiting:
            waiting.append(int(rng.choice(np.flatnonzero(~opened))))
        at = int(rng.integers(len(waiting)))
        waiting[at], waiting[-1] = waiting[-1], waiting[at]
        page = waiting.pop()
        opened[page] = linked[page] = True
        on_it = ends[starts[page] : starts[page + 1]]
        waiting += on_it[~linked[on_it]].tolist()
        linked[on_it] = True
    is_seen = opened[links[0]]
    return links[0][is_seen], links[1][is_seen]
