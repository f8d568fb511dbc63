"""Attack. The attacks on relations by name: each claims that two persons are, or are not, joined."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pandas as pd

from reident.base import Choice, Real, Whole
from reident.methods.attacks_networks import both_networks, by_row
from reident.methods.outcome import Knowledge, NotApplicable, Outcome
from reident.methods.release import Release
from reident.networks.graph import Network

__all__ = ["dropped_edges", "edge_disclosure", "likely_links"]

SCORES = Choice("jaccard", "common_neighbours", "adamic_adar", "resource_allocation", "cosine")


def edge_disclosure(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Believe a relation between two persons as far as the released nodes of their degrees are joined.

    Notes
    -----
    Vanhoef (2012), sections 7.2 and 9.2; see `reident.edge_disclosure`. One row a true relation of persons who are in
    the release: how sure the intruder is of it who knows both degrees in the release.
    """
    from reident.networks.edge_disclosure import class_posteriors

    released, background = both_networks(release, knowledge)
    if knowledge.truth is None:
        raise NotApplicable("who is who in the network cannot be told, so no relation can be judged")
    u, v = (knowledge.truth[ends] for ends in background.edges())
    sample = np.flatnonzero((u >= 0) & (v >= 0))
    sample = np.sort(rng.permutation(sample)[: knowledge.n_persons])
    if not sample.size:
        raise NotApplicable("no relation of the known persons is in the release")
    ids, posteriors = class_posteriors(released)
    sure = posteriors[ids[u[sample]], ids[v[sample]]]
    names = release.table.index
    pairs = released.n_nodes * (released.n_nodes - 1) / 2
    claims = pd.DataFrame(
        {"claim": [f"{names[a]} - {names[b]}" for a, b in zip(u[sample], v[sample], strict=True)], "confidence": sure,
         "right": sure, "base": released.n_edges / max(1.0, pairs), "present": True},
        index=pd.Index([f"{a} - {b}" for a, b in zip(u[sample], v[sample], strict=True)]),
    )  # fmt: skip
    description = "the intruder knows the degrees of two persons in the release"
    return Outcome(claims, "link", description, proven=True)


def likely_links(
    release: Release,
    knowledge: Knowledge,
    *,
    score: Annotated[str, SCORES] = "adamic_adar",
    n: Annotated[int, Whole(1, unit="links")] = 50,
    rng: np.random.Generator,
) -> Outcome:
    """Claim that the pairs with the most similar friends are friends, though the release does not join them.

    Notes
    -----
    Vanhoef (2012), section 9.9: what anonymisation removed can be guessed back. One row a pair.
    """
    from reident.networks.link_prediction import likely_links as rank

    released, background = both_networks(release, knowledge)
    absent = released.n_nodes * (released.n_nodes - 1) // 2 - released.n_edges
    if not absent:
        raise NotApplicable("everybody is joined to everybody in the release: no edge can be absent")
    pairs = rank(by_row(released), min(n, absent), score=score)
    del rng
    possible = released.n_nodes * (released.n_nodes - 1) / 2 - released.n_edges
    return _edges(
        release, knowledge, released, background, pairs, possible, f"friends of friends by {score}, joined or not"
    )


def dropped_edges(
    release: Release,
    knowledge: Knowledge,
    *,
    threshold: Annotated[float, Real(0)] = 0.1,
    score: Annotated[str, SCORES] = "cosine",
    rng: np.random.Generator,
) -> Outcome:
    """Undo added edges: believe the released edges only between nodes with friends in common.

    Notes
    -----
    Vanhoef (2012), section 9.9. One row a released edge; the claim is that it is true.
    """
    from reident.networks.link_prediction import drop_unlikely_edges

    del rng
    released, background = both_networks(release, knowledge)
    likely = drop_unlikely_edges(by_row(released), threshold, score=score)
    pairs = list(zip(*likely.edges(), strict=True))
    return _edges(
        release, knowledge, released, background, pairs, None, f"which edges join nodes that are alike by {score}"
    )


def _edges(
    release: Release, knowledge: Knowledge, released: Network, background: Network, pairs: Any, possible: float | None,
    description: str,
) -> Outcome:  # fmt: skip
    """Turn pairs of released nodes into claims that their persons are friends."""
    if not len(pairs):
        raise NotApplicable("there is no pair to claim")
    if knowledge.truth is None:
        raise NotApplicable("who is who in the network cannot be told, so no edge can be judged")
    person = np.full(len(release.table), -1)
    inside = np.flatnonzero(knowledge.truth >= 0)
    person[knowledge.truth[inside]] = inside
    u, v = background.edges()
    true = set(zip(u.tolist(), v.tolist(), strict=True)) | set(zip(v.tolist(), u.tolist(), strict=True))
    ends = [(int(person[int(a)]), int(person[int(b)])) for a, b in pairs]
    right = np.array([pair in true for pair in ends], dtype=float)
    a, b = released.edges()
    known = sum((int(person[x]), int(person[y])) in true for x, y in zip(a.tolist(), b.tolist(), strict=True))
    base = known / max(1, released.n_edges) if possible is None else (background.n_edges - known) / max(1.0, possible)
    names = release.table.index
    claims = pd.DataFrame(
        {"claim": [f"{names[int(x)]} - {names[int(y)]}" for x, y in pairs], "confidence": right.mean(), "right": right,
         "base": float(np.clip(base, 0, 1)), "present": True},
        index=pd.Index([f"{x} - {y}" for x, y in pairs]),
    )  # fmt: skip
    claims["confidence"] = max(float(right.mean()), 1e-9)
    return Outcome(claims, "link", f"the intruder has the released network and looks at {description}")
