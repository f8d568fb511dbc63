"""Chapter 9 of Vanhoef (2012): degree-anonymous networks, their properties, and attacks on them."""

from typing import Any

import numpy as np
from numpy.random import Generator
from sklearn.metrics import roc_auc_score

from reident.base import Parameters, Row, quiet
from reident.data.networks import sample_network
from reident.experiments.vanhoef2012_networks.graphs import network, renamed
from reident.networks.degree_anonymity import anonymise_degrees, degree_anonymise
from reident.networks.disclosed_edges import edge_disclosure
from reident.networks.graph import Network
from reident.networks.link_prediction import drop_unlikely_edges, link_scores, random_non_edges
from reident.networks.propagation import mapping_quality, propagate
from reident.networks.properties import clustering_coefficient, network_properties
from reident.networks.seeds import find_seeds, passive_attack
from reident.networks.spectral import spectral_match
from reident.networks.utility import edge_overlap

_PRINTED = {"probing": 4, "patience": 1, "max_probes": 5000}

#: Name -> options of `degree_anonymise`. "As printed": probing scheme 4 (9.7.2) and Algorithm 9.6, whose search ends at
#: the first sample of edges without an improving swap. The others: batch probing and one targeted swap a missing edge.
METHODS: dict[str, Parameters] = {
    "supergraph": {"method": "supergraph"},
    "relaxed": {"method": "relaxed"},
    "simultaneous": {"method": "simultaneous"},
    "direct": {"method": "direct"},
    "supergraph, as printed": {"method": "supergraph", **_PRINTED},
    "relaxed, as printed": {"method": "relaxed", **_PRINTED},
    "simultaneous, as printed": {"method": "simultaneous", **_PRINTED},
    "relaxed, links bounded": {"method": "relaxed", "certainty": 0.9},
}


def _released(rng: Generator, graph: str, method: str, k: int, swaps: int = 0) -> Network:
    """Return a graph made k-degree anonymous; `swaps` above 0 replaces the patience of GreedySwap."""
    if method == "original":
        return network(graph)
    options = dict(METHODS[method])
    if swaps and options["method"] in ("relaxed", "simultaneous"):
        options["patience"] = swaps
    with quiet():
        return degree_anonymise(network(graph), k, rng=rng, **options).network


def cost(_rng: Generator, *, graph: str, k: int, deletions: bool) -> Row:
    """Measure the L1 cost of the degree programme; no randomness."""
    degrees = network(graph).degrees
    return {"l1": np.abs(anonymise_degrees(degrees, k, deletions=deletions) - degrees).sum()}


def probing(rng: Generator, *, graph: str, k: int, scheme: str, max_probes: int = 1000) -> Row:
    """Run SuperGraph under a probing scheme, "1" to "4" or "batch", and a limit of probes.

    `l1_above_optimum` is the number that the thesis plots: the distance between the sequence of the degree programme
    and the realised one.
    """
    original = network(graph)
    with quiet():
        by = "batch" if scheme == "batch" else int(scheme)
        result = degree_anonymise(original, k, method="supergraph", probing=by, max_probes=max_probes, rng=rng)
    best = np.abs(anonymise_degrees(original.degrees, k) - original.degrees).sum()
    return {
        "l1_above_optimum": result.l1 - best if result.is_within_limit else np.nan,
        "n_probes": result.n_probes,
        "finished": result.is_within_limit,
    }


def release(rng: Generator, *, graph: str, method: str, k: int, swaps: int = 0) -> Row:
    """Anonymise a graph, or take the ``"original"``, and measure the properties of 7.3."""
    released = _released(rng, graph, method, k, swaps)
    after = network_properties(released)
    return {
        "edges_kept": network(graph).n_shared(released),
        "density": after.density,
        "clustering": after.clustering,
        "average_path_length": after.average_path_length,
        "diameter": after.diameter_low,
        "exponent": after.power_law_exponent,
    }


def attacked(
    rng: Generator, *, graph: str, method: str, k: int, known_edges: float, n_seeds: int = 50, swaps: int = 0
) -> Row:
    """Anonymise a graph and attack the release with a copy that keeps this share of the edges.

    Method ``"original"`` renames only; of the `n_seeds` known people at most a tenth of all are taken. Utility:
    `edge_overlap` (Jaccard) and `clustering_kept` (1 - relative error). Risk: `recall` and `precision` of the passive
    attack, `*_seedless` without known people, `degree_risk` (share of people found by degree alone, one divided by the
    size of their class, on average) and the links believed at .9 by degrees alone.
    """
    original = network(graph)
    released = _released(rng, graph, method, k, swaps)
    release, truth = renamed(released, rng)
    known = sample_network(original, edges=known_edges, rng=rng)
    pairs = list(truth.items())
    known_people = dict(pairs[i] for i in rng.choice(len(pairs), min(n_seeds, len(pairs) // 10), replace=False))
    found = find_seeds(release, known).mapping
    measured: Row = {}
    for suffix, seeds in (("", known_people), ("_seedless", None)):
        with quiet():
            mapping = passive_attack(release, known, seeds, found=found).mapping
        quality = mapping_quality(mapping, truth, ignore=seeds or ())
        measured |= {f"recall{suffix}": quality.recall, f"precision{suffix}": quality.precision}
    before, after = (clustering_coefficient(part) for part in (original, released))
    return measured | {
        "edge_overlap": edge_overlap(original, released),
        "clustering_kept": 1 - abs(after - before) / max(before, 1e-12),
        "degree_risk": len(np.unique(released.degrees)) / released.n_nodes,
        "links_true": edge_disclosure(released, original).true_share,
    }


def spectral(rng: Generator, *, graph: str, method: str, k: int, known_edges: float = 0.9) -> Row:
    """Attack a release without known people: from the hubs, from matches of the spectra, by the spectra alone."""
    release, truth = renamed(_released(rng, graph, method, k), rng)
    known = sample_network(network(graph), edges=known_edges, rng=rng)
    match = spectral_match(release, known)
    sure = {node: partner for node, partner in match.mapping.items() if match.margins[node] >= 1}
    with quiet():
        hubs = passive_attack(release, known).mapping
        spread = propagate(release, known, sure).mapping if sure else {}
    mappings = {"hubs": hubs, "spectra": spread, "spectra_alone": match.mapping}
    return {f"recall_{name}": mapping_quality(mapping, truth).recall for name, mapping in mappings.items()}


def _edges(graph: Network) -> set[tuple[Any, Any]]:
    u, v = graph.edges()
    return set(zip(u.tolist(), v.tolist(), strict=True))


def links(rng: Generator, *, graph: str, method: str, k: int, known_edges: float = 0.7, n_seeds: int = 50) -> Row:
    """Predict the added and the deleted edges of a release (9.9), remove the least likely edges, and attack.

    Returns areas under the ROC curve for added and deleted edges, the share of added edges that pruning removes, and
    the recall of the passive attack before and after it.
    """
    original = network(graph)
    released = _released(rng, graph, method, k)
    before, after = _edges(original), _edges(released)
    added, deleted = sorted(after - before), sorted(before - after)
    n_apart = released.n_nodes * (released.n_nodes - 1) // 2 - released.n_edges
    apart = [pair for pair in random_non_edges(released, min(5000, n_apart), rng=rng) if pair not in before]
    pruned = drop_unlikely_edges(released, n=len(added))
    measured = {
        "auc_added": _auc(released, sorted(before & after), added),
        "auc_deleted": _auc(released, deleted, apart),
        "added_removed": 1 - len(_edges(pruned) & set(added)) / max(len(added), 1),
    }
    known = sample_network(original, edges=known_edges, rng=rng)
    truth = {node: node for node in original.nodes}
    n_seeds = min(n_seeds, original.n_nodes // 10)
    seeds = {node: node for node in rng.choice(original.n_nodes, n_seeds, replace=False).tolist()}
    with quiet():
        for label, part in (("recall", released), ("recall_pruned", pruned)):
            measured[label] = mapping_quality(propagate(part, known, seeds).mapping, truth, ignore=seeds).recall
    return measured


def _auc(released: Network, likely: list[Any], unlikely: list[Any]) -> float:
    """Return the area under the ROC curve by the scores of pairs; nan where there is none of a kind."""
    if not likely or not unlikely:
        return np.nan
    scores = link_scores(released, [*likely, *unlikely])
    return float(roc_auc_score(np.arange(len(scores)) < len(likely), scores))
