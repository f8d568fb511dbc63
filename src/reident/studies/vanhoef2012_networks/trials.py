"""Trials of the study vanhoef2012_networks: each takes settings and a stream and returns measures."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from reident import (
    DegreeAnonymisation,
    Network,
    anonymise_degrees,
    auc,
    clustering_coefficient,
    coalition,
    degree_anonymise,
    detectability,
    drop_unlikely_edges,
    edge_connected_groups,
    edge_disclosure,
    edge_overlap,
    implant,
    implant_by_cut,
    link_scores,
    mapping_quality,
    naive_anonymise,
    network_properties,
    passive_attack,
    propagate,
    random_non_edges,
    recover,
    recover_by_cut,
    sample_network,
    spectral_match,
)
from reident.base import SearchLimitWarning
from reident.studies.vanhoef2012_networks import ATTACKS, METHODS, N_SEEDS
from reident.studies.vanhoef2012_networks.graphs import graph

_NAN = float("nan")

__all__ = ["active", "attacked", "cost", "cut", "links", "passive", "probing", "release", "spectral"]


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


def _anonymise(params: dict[str, Any], rng: np.random.Generator) -> DegreeAnonymisation:
    options = METHODS[params["method"]]
    if params.get("swaps") is not None and options["method"] in ("relaxed", "simultaneous"):
        options = {**options, "patience": params["swaps"]}
    return degree_anonymise(graph(params["graph"]), params["k"], rng=rng, **options)


def probing(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Run SuperGraph under a probing scheme and a limit of probes."""
    network = graph(params["graph"])
    scheme = params["scheme"]
    with warnings.catch_warnings(action="ignore", category=SearchLimitWarning):
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


def release(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Anonymise and measure what is left of the network."""
    network = graph(params["graph"])
    made = None if params["method"] == "original" else _anonymise(params, rng)
    released = made.network if made else network
    after = network_properties(released)
    return {
        "edges_kept": made.edges_kept if made else network.n_edges,
        "edits": made.edits if made else 0,
        "lower_bound": made.lower_bound if made else 0,
        "density": after.density,
        "clustering": after.clustering,
        "average_path_length": after.average_path_length,
        "diameter": after.diameter_low,
        "exponent": after.power_law_exponent,
    }


def attacked(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Anonymise, and attack with a copy that lacks some edges: with 50 known people, and with none."""
    network = graph(params["graph"])
    original = params["method"] == "original"
    released = network if original else _anonymise(params, rng).network
    before, after = (clustering_coefficient(one) for one in (network, released))
    asked = params.get("attacks", ATTACKS)
    links = edge_disclosure(released, network) if "links" in asked else None
    return {
        "edge_overlap": edge_overlap(network, released),
        "clustering_kept": 1 - abs(after - before) / max(before, 1e-12),
        "degree_risk": len(np.unique(released.degrees)) / released.n_nodes if "degrees" in asked else _NAN,
        "links_true": links.true_share if links else _NAN,
        "links_feigned": links.feigned_share if links else _NAN,
        "links_posterior": links.mean_posterior if links else _NAN,
        **_passively(params, released, asked, rng),
    }


def _passively(
    params: dict[str, Any], released: Network, asked: Sequence[str], rng: np.random.Generator
) -> dict[str, float]:
    """Attack a release by a copy of the network, with some people known and with nobody."""
    renamed = naive_anonymise(released, rng=rng)
    truth: dict[Any, Any] = {new: old for old, new in renamed.mapping.items()}
    known = sample_network(graph(params["graph"]), edges=params["known_edges"], rng=rng)
    nodes = list(truth)
    chosen = rng.choice(len(nodes), min(params.get("n_seeds") or N_SEEDS, len(nodes) // 10), replace=False)
    given = {nodes[i]: truth[nodes[i]] for i in chosen}
    measured = {}
    for attack, suffix, seeds in (("people known", "", given), ("nobody known", "_seedless", None)):
        quality = None
        if attack in asked:
            with warnings.catch_warnings(action="ignore", category=SearchLimitWarning):
                mapping = passive_attack(renamed.network, known, seeds).mapping
            quality = mapping_quality(mapping, truth, ignore=seeds or ())
        measured[f"recall{suffix}"] = quality.recall if quality else _NAN
        measured[f"precision{suffix}"] = quality.precision if quality else _NAN
    return measured


def spectral(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Attack a release without seeds: from the largest hubs, from the spectra, and by the spectra alone."""
    network = graph(params["graph"])
    released = network if params["method"] == "original" else _anonymise(params, rng).network
    renamed = naive_anonymise(released, rng=rng)
    truth: dict[Any, Any] = {new: old for old, new in renamed.mapping.items()}
    known = sample_network(network, edges=params["known_edges"], rng=rng)
    match = spectral_match(renamed.network, known)
    sure = {node: partner for node, partner in match.mapping.items() if match.margins[node] >= 1}
    with warnings.catch_warnings(action="ignore", category=SearchLimitWarning):
        hubs = passive_attack(renamed.network, known).mapping
        spread = propagate(renamed.network, known, sure).mapping if sure else {}
    found = {"hubs": hubs, "spectra": spread, "spectra_alone": match.mapping}
    quality = {name: mapping_quality(mapping, truth) for name, mapping in found.items()}
    return {
        "n_sure": len(sure),
        **{f"recall_{name}": one.recall for name, one in quality.items()},
        **{f"precision_{name}": one.precision for name, one in quality.items()},
    }


def passive(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Attack a renamed network whose own edges, and the attacker's, were sampled independently."""
    network = graph(params["graph"])
    seen = sample_network(network, edges=params["known_edges"], nodes=params["known_nodes"], rng=rng)
    released = naive_anonymise(sample_network(network, edges=params["known_edges"], rng=rng), rng=rng)
    truth: dict[Any, Any] = {released.mapping[node]: node for node in seen.nodes}
    nodes = list(truth)
    given = {nodes[i]: truth[nodes[i]] for i in rng.choice(len(nodes), params["n_seeds"], replace=False)}
    with warnings.catch_warnings(action="ignore", category=SearchLimitWarning):
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
        d0, d1 = params["outside"]
        # So many sets of two and more planted nodes there are, and so many of three the fewest links allow.
        count = min(10, 2**k - 1 - k, k * d0 // 4)
        targets = [network.nodes[i] for i in rng.choice(network.n_nodes, count, replace=False)]
        plan = implant(network, targets, k=k, d0=d0, d1=d1, redraws=100 if kind == "planted, H checked" else 0, rng=rng)
    released = plan.network
    if params["anonymity"] > 1:
        released = degree_anonymise(released, params["anonymity"], rng=rng).network
    renamed = naive_anonymise(released, rng=rng)
    with warnings.catch_warnings(action="ignore", category=SearchLimitWarning):
        slack = params["slack"]
        found = recover(renamed.network, plan, degree_slack=slack, edge_slack=slack, node_limit=2_000_000)
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
        "n_first": int((released.degrees == plan.degrees[0]).sum()),
        "auc_degree": seen.degree.value if seen else float("nan"),
        "auc_clustering": seen.clustering.value if seen else float("nan"),
    }


def cut(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Plant as many nodes by a cut or by a walk, release, look for the targets; and let the owner look for both."""
    network = graph(params["graph"])
    b = params["n_targets"]
    targets = [network.nodes[i] for i in rng.choice(network.n_nodes, b, replace=False)]
    by_cut = params["kind"] == "cut"
    plan = implant_by_cut(network, targets, rng=rng) if by_cut else implant(network, targets, k=3 * b + 3, rng=rng)
    renamed = naive_anonymise(plan.network, rng=rng)
    found = (recover_by_cut if by_cut else recover)(renamed.network, plan)
    right = sum(renamed.mapping[target] == place for target, place in found.mapping.items())
    seen = detectability(plan.network, plan.nodes)
    # The owner does not know how many are targeted: groups that hang on the rest by up to five edges.
    small = {frozenset(one) for q in range(2, 7) for one in edge_connected_groups(plan.network, q)}
    small = {one for one in small if 5 < len(one) < network.n_nodes // 2}
    return {
        "k": len(plan.nodes),
        "n_links": int(plan.degrees.sum() - plan.joined.sum()),
        "success": bool(found.is_unique and right == b),
        "n_groups": len(small),
        "owner_sees": frozenset(plan.nodes) in small,
        "auc_degree": seen.degree.either_way,
        "auc_clustering": seen.clustering.either_way,
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
    """Tell added and deleted edges from others; take as many out as were added, the least likely ones; attack."""
    score = params["score"]
    network = graph(params["graph"])
    released = _anonymise(params, rng).network
    before, after = _edges(network), _edges(released)
    kept, added, deleted = sorted(before & after), sorted(after - before), sorted(before - after)
    original = link_scores(released, kept, score=score)
    measured: dict[str, Any] = {"n_added": len(added), "n_deleted": len(deleted)}
    measured |= _auc("added", original, link_scores(released, added, score=score) if added else None)
    apart = [pair for pair in random_non_edges(released, 5000, rng=rng) if pair not in before]
    gone = link_scores(released, deleted, score=score) if deleted else None
    measured |= _auc("deleted", gone, link_scores(released, apart, score=score))
    pruned = drop_unlikely_edges(released, n=len(added), score=score)
    left = _edges(pruned)
    measured |= {
        "added_removed": 1 - len(left & set(added)) / max(len(added), 1),
        "original_removed": 1 - len(left & set(kept)) / max(len(kept), 1),
    }
    known = sample_network(network, edges=params["known_edges"], rng=rng)
    truth = {node: node for node in network.nodes}
    given = {node: node for node in rng.choice(network.n_nodes, N_SEEDS, replace=False).tolist()}
    with warnings.catch_warnings(action="ignore", category=SearchLimitWarning):
        for label, attacked in (("recall", released), ("recall_pruned", pruned)):
            measured[label] = mapping_quality(propagate(attacked, known, given).mapping, truth, ignore=given).recall
    return measured


def _auc(label: str, positive: Any, negative: Any) -> dict[str, float]:
    if positive is None or negative is None:
        return dict.fromkeys((f"auc_{label}", f"auc_{label}_low", f"auc_{label}_high"), float("nan"))
    found = auc(positive, negative)
    return {f"auc_{label}": found.value, f"auc_{label}_low": found.low, f"auc_{label}_high": found.high}
