"""The semi-passive attack: every target gets a set of members of its own, and is found under other names."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from reident import DataError, ParameterError, naive_anonymise, recover, semi_passive
from reident.data.simulate import preferential_attachment


def gathered(graph, k):
    start = max(graph, key=graph.degree)
    return [start, *sorted(graph[start], key=graph.degree, reverse=True)[: k - 1]]


@pytest.mark.parametrize("seed", range(4))
def test_targets_have_sets_of_their_own_and_are_found(seed):
    graph = preferential_attachment(600, 5, rng=seed)
    inner = graph.to_networkx()
    members = gathered(inner, 6)
    outside = sorted(set(inner) - set(members))
    targets = np.random.default_rng(seed).choice(outside, 10, replace=False).tolist()
    plan = semi_passive(graph, members, targets, rng=seed)
    after = plan.network.to_networkx()
    sets = {node: frozenset(after[node]) & set(members) for node in outside}
    for target in targets:
        assert [node for node in outside if sets[node] == sets[target]] == [target]
    new = set(map(frozenset, after.edges())) - set(map(frozenset, inner.edges()))
    assert all(edge & set(members) and edge & set(targets) for edge in new)
    assert len(new) <= 4 * len(targets)
    release = naive_anonymise(plan.network, rng=seed)
    found = recover(release.network, plan)
    assert found.is_unique
    assert all(found.mapping[target] == release.mapping[target] for target in targets)


def test_too_few_members_and_bad_targets_are_refused():
    graph = nx.complete_graph(8)
    with pytest.raises(ParameterError, match="`members` are too few, 2"):
        semi_passive(graph, [0, 1], [4, 5])
    with pytest.raises(DataError, match="outside the coalition, got 0"):
        semi_passive(graph, [0, 1], [0])
    with pytest.raises(ParameterError, match="each once"):
        semi_passive(graph, [0, 1], [5, 5])
