"""Chapter 10 beyond one release: seeds by a clique (10.3.1), and the two experiments of 10.5 as simulated crawls.

The thesis's Flickr and Twitter cannot be had. What is drawn in their place: people in groups with popularities from a
lognormal law, who follow one another, most often in return; a crawler that starts anywhere and goes on to a random
one of those whom the pages seen so far name, so that links out of pages it never opened are missing.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from reident import DirectedNetwork, find_seeds, mapping_quality, naive_anonymise, propagate, sample_network
from reident.base import DataError, IntArray, SearchLimitWarning
from reident.data.simulate import random_degrees
from reident.networks.graph import as_directed_network, distinct
from reident.studies.vanhoef2012_networks.graphs import graph

__all__ = ["clique", "crawled_twice", "two_networks"]

#: Links of a person on average, the tail of popularity, the share inside the own group, and that of links returned.
_LINKS, _TAIL, _WITHIN, _RETURNED = 80.0, 1.4, 0.6, 0.6

Follows = tuple[IntArray, IntArray]


def clique(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Look in a renamed copy for a clique of people whose degrees and common friends are known; spread from it."""
    network = graph(params["graph"])
    known = sample_network(network, edges=params["known_edges"], rng=rng)
    released = naive_anonymise(sample_network(network, edges=params["known_edges"], rng=rng), rng=rng)
    truth: dict[Any, Any] = {new: old for old, new in released.mapping.items()}
    tolerance = 5 * (1 - params["known_edges"])
    try:
        found = find_seeds(
            released.network, known, method="clique", clique_size=params["clique_size"], tolerance=tolerance, rng=rng
        )
    except DataError:  # The copy holds no clique of that size.
        return {"n_fits": 0, "found": False, "right": False, "recall": 0.0, "precision": float("nan")}
    mapping, quality = found.mapping, None
    if mapping:
        with warnings.catch_warnings(action="ignore", category=SearchLimitWarning):
            quality = mapping_quality(propagate(released.network, known, mapping).mapping, truth)
    return {
        "n_fits": found.n_candidates,
        "found": bool(mapping),
        "right": bool(mapping) and all(truth[node] == partner for node, partner in mapping.items()),
        "recall": quality.recall if quality else 0.0,
        "precision": quality.precision if quality else float("nan"),
    }


def crawled_twice(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Crawl a network twice, months apart; match the most followed people, and spread (10.5.1)."""
    n = params["size"]
    popular = _popularity(n, rng)
    groups = _groups(n, rng)
    links = _follows(popular, groups, rng)
    later = _later(links, popular, groups, params["changed"], rng)
    # The intruder's own crawl is the larger one.
    seen = [_crawl(one, n, int(share * n), rng) for one, share in ((links, params["opened"]), (later, params["own"]))]
    release, known, truth = _released(seen[0], seen[1], n, rng)
    tops = [set(np.argsort(-np.bincount(one[1], minlength=n), kind="stable")[:30].tolist()) for one in seen]
    seeds = find_seeds(release, known, n=params["n_matched"], theta=params["theta"], rng=rng).mapping
    right = sum(seeds.get(node) == partner for node, partner in truth.items())
    measured = {"top_30": len(tops[0] & tops[1]), "n_seeds": len(seeds), "seeds_right": right}
    return measured | _spread(release, known, seeds, truth)


def two_networks(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Find the members of one network in another with few people in common, from known pairs (10.5.2)."""
    n, overlap = params["size"], params["overlap"]
    sources, ends = _follows(_popularity(n, rng), _groups(n, rng), rng)
    sides = []
    for _ in range(2):
        # Two independent memberships of probability q have q / (2 - q) of all members in common.
        member = rng.random(n) < 2 * overlap / (1 + overlap)
        kept = member[sources] & member[ends] & (rng.random(len(sources)) < params["known_edges"])
        sides.append((sources[kept], ends[kept]))
    release, known, truth = _released(sides[0], sides[1], n, rng)
    nodes = np.array(list(truth))
    degrees = np.diff(release.in_indptr)[nodes]
    n_seeds = min(params["n_seeds"], len(nodes) // 3)
    chosen = nodes[np.argsort(-degrees, kind="stable")][: 5 * n_seeds]
    given = {int(node): truth[int(node)] for node in rng.choice(chosen, n_seeds, replace=False)}
    return {"n_common": len(truth)} | _spread(release, known, given, truth, given)


def _released(
    first: Follows, second: Follows, n: int, rng: np.random.Generator
) -> tuple[DirectedNetwork, DirectedNetwork, dict[int, int]]:
    """Return a release of the first links under random names, the second as it is, and who is who in both."""
    people = [np.unique(np.concatenate(one)) for one in (first, second)]
    rows = np.full((2, n), -1, np.int64)
    rows[0, people[0]] = rng.permutation(len(people[0]))
    rows[1, people[1]] = np.arange(len(people[1]))
    release, known = (
        _network(row[one[0]], row[one[1]], row.max() + 1) for one, row in zip((first, second), rows, strict=True)
    )
    both = np.flatnonzero((rows >= 0).all(axis=0))
    return release, known, dict(zip(rows[0, both].tolist(), rows[1, both].tolist(), strict=True))


def _network(sources: IntArray, ends: IntArray, n: int) -> DirectedNetwork:
    from scipy.sparse import csr_array

    return as_directed_network(csr_array((np.ones(len(sources), np.int8), (sources, ends)), shape=(n, n)))


def _spread(
    release: DirectedNetwork,
    known: DirectedNetwork,
    seeds: Mapping[Any, Any],
    truth: Mapping[Any, Any],
    ignore: Iterable[int] = (),
) -> dict[str, Any]:
    """Propagate, and say which shares of the people in both were found, mistaken and left.

    `beside` is the share of the mistaken who were taken for somebody linked to their true partner.
    """
    mapping: Mapping[Any, Any] = {}
    if seeds:
        with warnings.catch_warnings(action="ignore", category=SearchLimitWarning):
            mapping = propagate(release, known, seeds).mapping
    left_out, links = set(ignore), known.undirected()
    wrong = [(mapping[a], b) for a, b in truth.items() if a in mapping and mapping[a] != b and a not in left_out]
    beside = sum(a in links.indices[links.indptr[b] : links.indptr[b + 1]] for a, b in wrong)
    quality = mapping_quality(mapping, truth, ignore=left_out)
    return {
        "right": quality.recall,
        "wrong": len(wrong) / quality.n_true,
        "left": quality.unmatched,
        "accuracy": quality.precision,
        "beside": beside / len(wrong) if wrong else float("nan"),
    }


def _popularity(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(rng.lognormal(np.log(_LINKS) - _TAIL**2 / 2, _TAIL, n))


def _groups(n: int, rng: np.random.Generator) -> IntArray:
    """Return where groups begin: of 20 to 1,000 people, small ones more often."""
    ends = np.cumsum(np.exp(rng.uniform(np.log(20), np.log(1000), n // 20 + 1)).astype(np.int64))
    return np.concatenate([[0], ends[ends < n - 20]])


def _follows(popular: np.ndarray, groups: IntArray, rng: np.random.Generator) -> Follows:
    """Draw who follows whom: inside groups and across, most often in return, else mostly the more popular one."""
    n = len(popular)
    pairs = [np.column_stack(random_degrees((1 - _WITHIN) * popular, rng=rng).edges())]
    for start, end in zip(groups, [*groups[1:], n], strict=True):
        inner = random_degrees(_WITHIN * popular[start:end], rng=rng).edges()
        pairs.append(np.column_stack(inner).astype(np.int64) + start)
    joined = np.concatenate(pairs).astype(np.int64)
    keys = distinct(joined[:, 0] * n + joined[:, 1])
    u, v = keys // n, keys % n
    both = rng.random(len(u)) < _RETURNED
    up = rng.random(len(u)) < popular[v] / (popular[u] + popular[v])
    return np.concatenate([u[both | up], v[both | ~up]]), np.concatenate([v[both | up], u[both | ~up]])


def _later(links: Follows, popular: np.ndarray, groups: IntArray, changed: float, rng: np.random.Generator) -> Follows:
    """Return the links some months later: a share of them is gone, and as many others have come."""
    n = len(popular)
    parts = [(links, 1 - changed), (_follows(popular, groups, rng), changed)]
    keys = [(one[0] * n + one[1])[rng.random(len(one[0])) < share] for one, share in parts]
    left = distinct(np.concatenate(keys))
    return left // n, left % n


def _crawl(links: Follows, n: int, n_opened: int, rng: np.random.Generator) -> Follows:
    """Open pages, each a random one of those named so far, and return the links on them."""
    order = np.argsort(links[0], kind="stable")
    ends = links[1][order]
    starts = np.searchsorted(links[0][order], np.arange(n + 1))
    opened, named = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    waiting: list[int] = []
    for _ in range(n_opened):
        if not waiting:
            waiting.append(int(rng.choice(np.flatnonzero(~opened))))
        at = int(rng.integers(len(waiting)))
        waiting[at], waiting[-1] = waiting[-1], waiting[at]
        page = waiting.pop()
        opened[page] = named[page] = True
        on_it = ends[starts[page] : starts[page + 1]]
        waiting += on_it[~named[on_it]].tolist()
        named[on_it] = True
    seen = opened[links[0]]
    return links[0][seen], links[1][seen]
