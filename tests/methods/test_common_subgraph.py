"""The graph theoretic linkage attack, end to end."""

import numpy as np
import pandas as pd
import pytest

from reident import classical_linkage, common_subgraph_attack, compatibility_graph, linkage_quality, max_cliques
from reident.datasets import load_poets


@pytest.fixture(scope="module")
def poets():
    return load_poets()


def test_example_9_matches_of_one_record_are_not_compatible():
    # Kroll (2015), Example 9 with epsilon = 1.
    graph = compatibility_graph([1], [[0.0]], [1, 1], [[0.0, 0.5], [0.5, 0.0]], window_km=(-1, 1))
    assert graph.pairs.tolist() == [[0, 0], [0, 1]]
    assert graph.n_edges == 0


def test_example_10_product_graph(poets):
    # Kroll (2015), Table 2 and Figure 3.
    (target, d_target), (identification, d_identification) = poets
    labels = [table["cob"].astype(str) + table["language"] for table in (target, identification)]
    graph = compatibility_graph(labels[0], d_target, labels[1], d_identification, window_km=(-5, 5))
    table_2 = [[1, 1], [2, 2], [3, 3], [6, 3], [4, 4], [7, 4], [3, 6], [6, 6], [4, 7], [7, 7], [2, 9]]
    assert (graph.pairs + 1).tolist() == table_2
    assert graph.n_edges == 9
    assert max_cliques(graph).cliques == ((0, 1, 2, 4),)


@pytest.mark.parametrize("ties", ["random", "first", "all"])
def test_example_10_attack(poets, ties):
    linkage = common_subgraph_attack(*poets, quasi=["cob", "language"], window_km=(-5, 5), ties=ties, rng=0)
    assert linkage.links.to_numpy().tolist() == [[1, 1], [2, 2], [3, 3], [4, 4]]
    assert linkage.is_optimal
    assert linkage.n_max_cliques == 1
    assert linkage.n_candidates == 11
    assert linkage.n_edges == 9
    quality = linkage_quality(linkage, {n: n for n in range(1, 5)})
    assert (quality.precision, quality.recall) == (1.0, 1.0)


def test_example_10_labels_alone(poets):
    linkage = classical_linkage(poets[0][0], poets[1][0], quasi=["cob", "language"])
    assert linkage.n_candidates == len(linkage.links) == 11


def test_no_label_in_common_gives_an_empty_linkage():
    release = pd.DataFrame({"sex": ["f", "f"]}), np.array([[0.0, 1], [1, 0]])
    known = pd.DataFrame({"sex": ["m"]}, index=["Tom"]), np.zeros((1, 1))
    linkage = common_subgraph_attack(release, known, quasi="sex", window_km=(-1, 1))
    assert linkage.links.empty
    assert list(linkage.links.columns) == ["release", "known"]
    assert linkage.is_optimal
    assert linkage_quality(linkage, {0: "Tom"}).recall == 0
