"""The cut-based attack: groups against networkx, what is planted, and who is found under other names."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from reident import SearchLimitWarning
from reident.data.simulate import preferential_attachment
from reident.networks import edge_connected_groups, implant_by_cut, naive_anonymise, recover_by_cut


@pytest.mark.parametrize("b", [1, 2, 4])
def test_planted_group_hangs_by_an_edge_a_target(b):
    graph = nx.karate_club_graph()
    targets = [33, 5, 7, 11][:b]
    plan = implant_by_cut(graph, targets, rng=b)
    after, own = plan.network.to_networkx(), set(plan.nodes)
    assert len(own) == 3 * b + 3
    assert plan.is_rigid
    assert nx.utils.graphs_equal(nx.Graph(after.subgraph(graph).edges()), nx.Graph(graph.edges()))
    out = [(x, y) for x in own for y in after[x] if y not in own]
    assert sorted(out) == sorted(zip(plan.nodes[:b], targets, strict=True))
    assert nx.edge_connectivity(after.subgraph(own)) > b


@pytest.mark.parametrize("seed", range(4))
def test_targets_are_found_under_other_names(seed):
    graph = preferential_attachment(3000, 5, rng=seed)
    targets = np.random.default_rng(seed).choice(3000, 4, replace=False).tolist()
    plan = implant_by_cut(graph, targets, rng=seed)
    release = naive_anonymise(plan.network, rng=seed)
    found = recover_by_cut(release.network, plan)
    assert found.is_unique
    assert found.mapping == {target: release.mapping[target] for target in targets}
    assert found.planted == {node: release.mapping[node] for node in plan.nodes}
    # What the owner sees who looks for it: nothing else hangs on the rest by so few edges.
    groups = [group for group in edge_connected_groups(release.network, 5) if len(group) < 1000]
    assert [set(group) for group in groups] == [set(found.planted.values())]


def test_a_twin_of_the_group_is_not_mistaken_for_it():
    graph = nx.karate_club_graph()
    plan = implant_by_cut(graph, [0, 33], rng=1)
    twin = nx.relabel_nodes(plan.network.to_networkx().subgraph(plan.nodes), {x: ("twin", x) for x in plan.nodes})
    both = nx.compose(plan.network.to_networkx(), twin)
    both.add_edges_from([(("twin", plan.nodes[0]), 5), (("twin", plan.nodes[1]), 6)])
    found = recover_by_cut(both, plan)
    assert len(found.placements) == 2
    assert not found.mapping
    with pytest.warns(SearchLimitWarning, match="reached 1 nodes"):
        recover_by_cut(both, plan, node_limit=1)
