"""Trials of the study vanhoef2012_networks: each takes settings and a stream and returns measures."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from reident.anonymisers.degree_anonymity import DegreeAnonymisation, anonymise_degrees, degree_anonymise
from reident.anonymisers.naive import naive_anonymise
from reident.attacks.link_prediction import drop_unlikely_edges, link_scores, random_non_edges, score_threshold
from reident.attacks.planted_subgraph import coalition, implant, recover
from reident.attacks.propagation import propagate
from reident.attacks.seeds import find_seeds
from reident.errors import DataError, SearchLimitWarning
from reident.experiments.vanhoef2012_networks.graphs import graph
from reident.metrics.networks import detectability, edge_overlap, mapping_quality, network_properties
from reident.metrics.ranking import auc
from reident.networks import Network
from reident.simulate import sample_network

__all__ = ["METHODS", "active", "cost", "links", "passive", "probing", "release"]

#: Name in the study -> options of `degree_anonymise`.
METHODS: dict[str, dict[str, Any]] = {
    "supergraph": {"method": "supergraph"},
    "relaxed": {"method": "relaxed"},
    "simultaneous": {"method": "simultaneous"},
    "direct": {"method": "direct"},
    "relaxed, literal swaps": {"method": "relaxed", "patience": 1},
    "simultaneous, literal swaps": {"method": "simultaneous", "patience": 1},
    "simultaneous, patient swaps": {"method": "simultaneous", "patience": 1000},
}

#: Seeds that the seeded attacker knows, at most a tenth of the nodes.
N_SEEDS = 50


def cost(params: dict[str, Any], _rng: np.random.Generator) -> dict[str, Any]:
    """Measure what the degree programme costs, with and without deletions and the parity constraint."""
    degrees = graph(params["graph"]).degrees
    target = anonymise_degrees(degrees, params["k"], deletions=params["deletions"])
    even = anonymise_degrees(degrees, params["k"], deletions=params["deletions"], even=True)
    return {
        "l1": int(np.abs(target - degrees).sum()),
        "l1_even": int(np.abs(even - degrees).sum()),
        "is_odd": bool(target.sum() % 2),
    }


def _anonymise(name: str, k: int, method: str, rng: np.random.Generator, edition: int = 0) -> DegreeAnonymisation:
    return degree_anonymise(graph(name, edition), k, rng=rng, **METHODS[method])


def probing(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Run SuperGraph under a probing scheme and a limit of probes."""
    network = graph(params["graph"])
    scheme = params["scheme"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchLimitWarning)
        made = degree_anonymise(
            network,
            params["k"],
            method="supergraph",
            probing="batch" if scheme == "batch" else int(scheme),
            max_probes=params["max_probes"],
            rng=rng,
        )
    # What the thesis plots: the distance between the programme's sequence and the one that was realised.
    best = int(np.abs(anonymise_degrees(network.degrees, params["k"]) - network.degrees).sum())
    return {
        "l1": made.l1,
        "l1_above_optimum": float(made.l1 - best) if made.is_within_limit else float("nan"),
        "n_probes": made.n_probes,
        "finished": made.is_within_limit,
    }


def _attacked(released: Network, truth: dict[Any, Any], known: Network, rng: np.random.Generator) -> dict[str, float]:
    """Attack a release with 50 known people, and with none."""
    nodes = list(truth)
    chosen = rng.choice(len(nodes), min(N_SEEDS, len(nodes) // 10), replace=False)
    given = {nodes[i]: truth[nodes[i]] for i in chosen}
    seeded = mapping_quality(propagate(released, known, given).mapping, truth, ignore=given)
    found = find_seeds(released, known, rng=rng)
    spread = propagate(released, known, found.mapping).mapping if found.mapping else {}
    seedless = mapping_quality(spread, truth)
    return {
        "recall": seeded.recall,
        "precision": seeded.precision,
        "unmatched": seeded.unmatched,
        "recall_seedless": seedless.recall,
        "precision_seedless": seedless.precision,
        "n_seeds_found": len(found.mapping),
        "n_seeds_right": sum(truth[node] == partner for node, partner in found.mapping.items()),
    }


def release(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Anonymise, measure what is left of the network, and attack it with a copy that lacks some edges."""
    network = graph(params["graph"])
    if params["method"] == "original":
        made, released = None, network
    else:
        made = _anonymise(params["graph"], params["k"], params["method"], rng)
        released = made.network
    before, after = network_properties(network), network_properties(released)
    renamed = naive_anonymise(released, rng=rng)
    truth: dict[Any, Any] = {new: old for old, new in renamed.mapping.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchLimitWarning)
        attacked = _attacked(renamed.network, truth, sample_network(network, edges=params["known_edges"], rng=rng), rng)
    return {
        "edges_kept": made.edges_kept if made else network.n_edges,
        "edits": made.edits if made else 0,
        "lower_bound": made.lower_bound if made else 0,
        "edge_overlap": edge_overlap(network, released),
        "density": after.density,
        "clustering": after.clustering,
        "average_path_length": after.average_path_length,
        "diameter": after.diameter_low,
        "exponent": after.power_law_exponent,
        "clustering_kept": 1 - abs(after.clustering - before.clustering) / max(before.clustering, 1e-12),
        "degree_risk": len(np.unique(released.degrees)) / released.n_nodes,
        **attacked,
    }


def passive(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Attack a renamed network whose own edges, and the attacker's, were sampled independently."""
    network = graph(params["graph"])
    seen = sample_network(network, edges=params["known_edges"], nodes=params["known_nodes"], rng=rng)
    released = naive_anonymise(sample_network(network, edges=params["known_edges"], rng=rng), rng=rng)
    truth: dict[Any, Any] = {released.mapping[node]: node for node in seen.nodes}
    nodes = list(truth)
    given = {nodes[i]: truth[nodes[i]] for i in rng.choice(len(nodes), params["n_seeds"], replace=False)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchLimitWarning)
        found = propagate(released.network, seen, given)
    quality = mapping_quality(found.mapping, truth, ignore=given)
    return {"recall": quality.recall, "precision": quality.precision, "unmatched": quality.unmatched}


def active(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Plant k nodes (or gather a coalition), release, and look for the targets."""
    network = graph(params["graph"])
    k, kind = params["k"], params["kind"]
    if kind == "coalition":
        plan = coalition(network, _gather(network, k, rng))
    else:
        count = min(10, 2**k - 1 - k)
        targets = [network.nodes[i] for i in rng.choice(network.n_nodes, count, replace=False)]
        d0, d1 = params["outside"]
        plan = implant(network, targets, k=k, d0=d0, d1=d1, redraws=100 if kind == "planted, H checked" else 0, rng=rng)
    released = plan.network
    if params["anonymity"] > 1:
        released = degree_anonymise(released, params["anonymity"], rng=rng).network
    renamed = naive_anonymise(released, rng=rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchLimitWarning)
        found = recover(renamed.network, plan, node_limit=2_000_000)
    right = sum(renamed.mapping[target] == place for target, place in found.mapping.items())
    seen = None if kind == "coalition" else detectability(plan.network, plan.nodes)
    return {
        "success": bool(found.is_unique and right == len(plan.links)),
        "is_unique": found.is_unique,
        "n_targets": len(plan.links),
        "n_found": right,
        "n_false": len(found.mapping) - right,
        "n_edges_learned": len(found.edges),
        "n_tree": found.n_tree,
        "auc_degree": seen.degree.value if seen else float("nan"),
        "auc_clustering": seen.clustering.value if seen else float("nan"),
    }


def _gather(network: Network, k: int, rng: np.random.Generator) -> list[Any]:
    """Draw a coalition: a random user with enough friends, and k - 1 of these friends."""
    start = int(rng.choice(np.flatnonzero(network.degrees >= k - 1)))
    friends = network.indices[network.indptr[start] : network.indptr[start + 1]]
    return [network.nodes[m] for m in (start, *rng.choice(friends, k - 1, replace=False).tolist())]


def _edges(network: Network) -> set[tuple[Any, Any]]:
    u, v = network.edges()
    return set(zip(u.tolist(), v.tolist(), strict=True))


def links(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Tell added and deleted edges from others; prune by a threshold learned on another network; attack."""
    name, k, method = params["graph"], params["k"], params["method"]
    score = params["score"]
    network = graph(name)
    released = _anonymise(name, k, method, rng).network
    before, after = _edges(network), _edges(released)
    kept, added, deleted = sorted(before & after), sorted(after - before), sorted(before - after)
    original = link_scores(released, kept, score=score)
    measured: dict[str, Any] = {"n_added": len(added), "n_deleted": len(deleted)}
    measured |= _auc("added", original, link_scores(released, added, score=score) if added else None)
    apart = [pair for pair in random_non_edges(released, 5000, rng=rng) if pair not in before]
    gone = link_scores(released, deleted, score=score) if deleted else None
    measured |= _auc("deleted", gone, link_scores(released, apart, score=score))
    # The threshold comes from another network of the same kind that the attacker anonymises himself.
    other = graph(*_OTHER.get(name, (name, 1)))
    trained = degree_anonymise(other, k, rng=rng, **METHODS[method]).network
    there, then = _edges(other), _edges(trained)
    if not then - there:
        raise DataError(f"no edge was added to the other edition of {name!r}: no threshold can be learned")
    threshold = score_threshold(
        link_scores(trained, sorted(then - there), score=score), link_scores(trained, sorted(then & there), score=score)
    )
    pruned = drop_unlikely_edges(released, threshold, score=score)
    left = _edges(pruned)
    measured |= {
        "threshold": threshold,
        "added_removed": 1 - len(left & set(added)) / max(len(added), 1),
        "original_removed": 1 - len(left & set(kept)) / max(len(kept), 1),
    }
    known = sample_network(network, edges=params["known_edges"], rng=rng)
    truth = {node: node for node in network.nodes}
    given = {node: node for node in rng.choice(network.n_nodes, N_SEEDS, replace=False).tolist()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchLimitWarning)
        for label, attacked in (("recall", released), ("recall_pruned", pruned)):
            measured[label] = mapping_quality(propagate(attacked, known, given).mapping, truth, ignore=given).recall
    return measured


#: Where the threshold is learned for graphs of which there is one edition only.
_OTHER = {"caltech36": ("bowdoin47", 0), "bowdoin47": ("caltech36", 0)}


def _auc(label: str, positive: Any, negative: Any) -> dict[str, float]:
    if positive is None or negative is None:
        return dict.fromkeys((f"auc_{label}", f"auc_{label}_low", f"auc_{label}_high"), float("nan"))
    found = auc(positive, negative)
    return {f"auc_{label}": found.value, f"auc_{label}_low": found.low, f"auc_{label}_high": found.high}
