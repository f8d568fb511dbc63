"""The worked examples of the paper: Example 2 (figure 1) and Example 10 (figures 2 and 3)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reident._typing import FloatArray
from reident.attacks.cliques import max_cliques
from reident.attacks.compatibility import compatibility_graph
from reident.datasets import load_example2, load_poets
from reident.metrics.distances import great_circle_km


def example_2() -> dict[str, pd.DataFrame]:
    """Return the graph model of Example 2: vertices, and edges with the distances of their ends."""
    people = load_example2().rename(columns={"name": "vertex"})
    distances = great_circle_km(people["lat_deg"], people["lon_deg"])
    a, b = np.triu_indices(len(people), 1)
    names = people["vertex"].to_numpy()
    edges = pd.DataFrame({"a": names[a], "b": names[b], "distance_km": distances[a, b]})
    return {"example2_vertices": people, "example2_edges": edges}


def _layout_km(distances: FloatArray) -> FloatArray:
    """Place points in the plane so that their distances approximate the given ones (classical scaling)."""
    n = len(distances)
    centring = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * centring @ distances**2 @ centring)
    return np.asarray(vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0)))


def example_10() -> dict[str, pd.DataFrame]:
    """Return both graphs of Example 10, placed in the plane, and their product graph with its maximum clique."""
    vertices, edges = [], []
    poets = load_poets()
    for name, (table, distances) in zip(("target", "identification"), poets, strict=True):
        place = _layout_km(distances).round(1)
        vertices.append(
            table[["cob", "language"]].assign(file=name, vertex=table.index, x_km=place[:, 0], y_km=place[:, 1])
        )
        a, b = np.triu_indices(len(table), 1)
        edges.append(
            pd.DataFrame({"file": name, "a": table.index[a], "b": table.index[b], "distance_km": distances[a, b]})
        )
    (target, d_target), (known, d_known) = poets
    labels = [(table["cob"].astype(str) + table["language"]).to_numpy() for table in (target, known)]
    graph = compatibility_graph(labels[0], d_target, labels[1], d_known, window_km=(-5, 5))
    cliques = max_cliques(graph, rng=0).cliques
    numbers = np.arange(1, graph.n_vertices + 1)
    product = pd.DataFrame(
        {
            "vertex": numbers,
            "target": graph.pairs[:, 0] + 1,
            "identification": graph.pairs[:, 1] + 1,
            "in_clique": np.isin(numbers - 1, np.array(cliques[0])),
            "n_max_cliques": len(cliques),
        }
    )
    joined = np.array(graph.to_networkx().edges) + 1
    return {
        "example10_vertices": pd.concat(vertices, ignore_index=True),
        "example10_edges": pd.concat(edges, ignore_index=True),
        "product_vertices": product,
        "product_edges": pd.DataFrame(joined, columns=["a", "b"]),
    }
