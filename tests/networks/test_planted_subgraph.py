import itertools

import networkx as nx
import numpy as np
import pytest

import reident as rd
from reident import SearchLimitWarning
from reident.data.networks import preferential_attachment


@pytest.mark.parametrize("seed", range(3))
def test_planted_graph_is_as_planned(seed):
    graph = nx.barabasi_albert_graph(80, 3, seed=seed)
    plan = rd.networks.implant(graph, range(20), k=6, d0=10, d1=15, rng=seed)
    planted = plan.network.to_networkx()
    assert nx.utils.edges_equal(planted.subgraph(graph).edges(), graph.edges())
    for i, node in enumerate(plan.nodes):
        outside = sum(1 for other in planted[node] if other in graph)
        assert 10 <= outside <= 15
        assert planted.degree[node] == plan.degrees[i]
    assert all(planted.has_edge(a, b) for a, b in itertools.pairwise(plan.nodes))
    for target, own in plan.links.items():
        mine = {plan.nodes[i] for i in own}
        like = [v for v in graph if set(planted[v]) & set(plan.nodes) == mine]
        assert like == [target]


def test_targets_are_found_under_other_names():
    graph = preferential_attachment(2000, 5, rng=1)
    targets = [3, 77, 500, 1234]
    plan = rd.networks.implant(graph, targets, k=7, d0=10, d1=20, rng=2)
    release = rd.networks.naive_anonymise(plan.network, rng=3)
    found = rd.networks.recover(release.network, plan)
    assert found.is_unique
    assert found.mapping == {target: release.mapping[target] for target in targets}
    assert found.planted == {node: release.mapping[node] for node in plan.nodes}
    planted = plan.network.to_networkx()
    assert found.degrees == {target: planted.degree[target] for target in targets}
    learned = {frozenset(pair) for pair in found.edges}
    assert learned == {frozenset(p) for p in itertools.combinations(targets, 2) if planted.has_edge(*p)}


def test_slack_finds_what_changed():
    graph = preferential_attachment(300, 4, rng=1)
    plan = rd.networks.implant(graph, [5, 6], k=7, d0=8, d1=12, rng=2)
    changed = plan.network.to_networkx()
    changed.remove_edge(plan.nodes[0], next(n for n in changed[plan.nodes[0]] if n not in plan.nodes))
    assert not rd.networks.recover(changed, plan).placements
    assert plan.nodes in rd.networks.recover(changed, plan, degree_slack=1).placements
    cut = next((i, j) for i, j in itertools.combinations(range(7), 2) if j > i + 1 and plan.joined[i, j])
    changed.remove_edge(plan.nodes[cut[0]], plan.nodes[cut[1]])
    assert plan.nodes in rd.networks.recover(changed, plan, degree_slack=2, edge_slack=1).placements


def test_coalition_finds_itself_and_its_friends():
    graph = preferential_attachment(400, 5, rng=4)
    inner = graph.to_networkx()
    start = max(inner, key=inner.degree)
    members = [start, *sorted(inner[start], key=inner.degree, reverse=True)[:4]]
    plan = rd.networks.coalition(graph, members)
    release = rd.networks.naive_anonymise(graph, rng=1)
    found = rd.networks.recover(release.network, plan)
    assert found.is_unique
    assert all(release.mapping[friend] == place for friend, place in found.mapping.items())
    seen = {node: frozenset(inner[node]) & set(members) for node in inner if node not in members}
    alone = {node for node, own in seen.items() if own and list(seen.values()).count(own) == 1}
    assert set(found.mapping) == alone
    assert alone


@pytest.mark.parametrize("b", [1, 2, 4])
def test_planted_group_hangs_by_an_edge_a_target(b):
    graph = nx.karate_club_graph()
    targets = [33, 5, 7, 11][:b]
    plan = rd.networks.implant_by_cut(graph, targets, rng=b)
    after, own = plan.network.to_networkx(), set(plan.nodes)
    assert len(own) == 3 * b + 3
    assert plan.is_rigid
    assert nx.utils.graphs_equal(nx.Graph(after.subgraph(graph).edges()), nx.Graph(graph.edges()))
    out = [(x, y) for x in own for y in after[x] if y not in own]
    assert sorted(out) == sorted(zip(plan.nodes[:b], targets, strict=True))
    assert nx.edge_connectivity(after.subgraph(own)) > b


@pytest.mark.parametrize("seed", range(4))
def test_targets_of_a_cut_are_found_under_other_names(seed):
    graph = preferential_attachment(3000, 5, rng=seed)
    targets = np.random.default_rng(seed).choice(3000, 4, replace=False).tolist()
    plan = rd.networks.implant_by_cut(graph, targets, rng=seed)
    release = rd.networks.naive_anonymise(plan.network, rng=seed)
    found = rd.networks.recover_by_cut(release.network, plan)
    assert found.is_unique
    assert found.mapping == {target: release.mapping[target] for target in targets}
    assert found.planted == {node: release.mapping[node] for node in plan.nodes}
    # What the owner sees who looks for it: nothing else hangs on the rest by so few edges.
    groups = [group for group in rd.networks.edge_connected_groups(release.network, 5) if len(group) < 1000]
    assert [set(group) for group in groups] == [set(found.planted.values())]


def test_a_twin_of_the_group_is_not_mistaken_for_it():
    graph = nx.karate_club_graph()
    plan = rd.networks.implant_by_cut(graph, [0, 33], rng=1)
    twin = nx.relabel_nodes(plan.network.to_networkx().subgraph(plan.nodes), {x: ("twin", x) for x in plan.nodes})
    both = nx.compose(plan.network.to_networkx(), twin)
    both.add_edges_from([(("twin", plan.nodes[0]), 5), (("twin", plan.nodes[1]), 6)])
    found = rd.networks.recover_by_cut(both, plan)
    assert len(found.placements) == 2
    assert not found.mapping
    with pytest.warns(SearchLimitWarning, match="reached 1 nodes"):
        rd.networks.recover_by_cut(both, plan, node_limit=1)
