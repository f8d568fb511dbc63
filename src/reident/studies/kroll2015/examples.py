"""The worked examples of the paper: Example 2 (figure 1) and Example 10 (figures 2 and 3)."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from reident import compatibility_graph, great_circle_km, max_cliques, points_in_area
from reident.base import FloatArray
from reident.data.datasets import load_boundary, load_example2, load_poets
from reident.kernels.places.sphere import EARTH_RADIUS_KM
from reident.places.shape import gaps_km, unit_vectors


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


def _laid_on(points: FloatArray, moved: FloatArray, fixed: FloatArray) -> FloatArray:
    """Return points moved, turned and perhaps mirrored as brings `moved` closest to `fixed`."""
    u, _, vt = np.linalg.svd((moved - moved.mean(axis=0)).T @ (fixed - fixed.mean(axis=0)))
    return np.asarray((points - moved.mean(axis=0)) @ (u @ vt) + fixed.mean(axis=0))


def example_10() -> dict[str, pd.DataFrame]:
    """Return both graphs of Example 10, placed in the plane, and their product graph with its maximum clique."""
    poets = load_poets()
    (target, d_target), (known, d_known) = poets
    labels = [(table["cob"].astype(str) + table["language"]).to_numpy() for table in (target, known)]
    graph = compatibility_graph(labels[0], d_target, labels[1], d_known, window_km=(-5, 5))
    cliques = max_cliques(graph, rng=0).cliques
    common = graph.pairs[np.array(cliques[0])]
    places = [_layout_km(distances) for _, distances in poets]
    # Turned and mirrored so that the common poets lie alike in both.
    places[1] = _laid_on(places[1], places[1][common[:, 1]], places[0][common[:, 0]])
    vertices, edges = [], []
    for side, name in enumerate(("target", "identification")):
        (table, distances), place = poets[side], places[side].round(1)
        both = np.isin(np.arange(len(table)), common[:, side])
        vertices.append(
            table[["cob", "language"]].assign(
                file=name, vertex=table.index, x_km=place[:, 0], y_km=place[:, 1], in_both=both
            )
        )
        a, b = np.triu_indices(len(table), 1)
        edges.append(
            pd.DataFrame({"file": name, "a": table.index[a], "b": table.index[b], "distance_km": distances[a, b],
                          "in_both": both[a] & both[b]})
        )  # fmt: skip
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


def example_9() -> int:
    """Return the number of maximum cliques where one record faces two that lie closer together than the window."""
    graph = compatibility_graph([1], np.zeros((1, 1)), [1, 1], np.array([[0, 0.5], [0.5, 0]]), window_km=(-1, 1))
    return len(max_cliques(graph, rng=0).cliques)


def theorem_7(n_pairs: int = 40, size: int = 4) -> int:
    """Count random pairs of graphs whose largest common subgraph, by trying every matching, is their largest clique."""
    rng = np.random.default_rng(7)
    equal = 0
    for _ in range(n_pairs):
        labels = rng.integers(2, size=(2, size))
        d = [great_circle_km(*rng.uniform(0, 0.1, (2, size))) for _ in range(2)]
        graph = compatibility_graph(labels[0], d[0], labels[1], d[1], window_km=(-3, 3))
        equal += len(max_cliques(graph, rng=0).cliques[0]) == _largest_common(labels, d, 3.0)
    return equal


def three_distances(n_points: int = 1000, within_km: float = 0.01) -> int:
    """Count points of Germany that their distances to three others give back within 10 m.

    On the sphere a distance is an angle to a known direction, so that three of them are three linear equations.
    """
    rng = np.random.default_rng(3)
    directions = unit_vectors(*points_in_area(load_boundary("germany"), 4 * n_points, rng=rng)).reshape(n_points, 4, 3)
    known, point = directions[:, :3], directions[:, 3]
    angles = gaps_km(known, point[:, None, :]) / EARTH_RADIUS_KM
    found = np.linalg.solve(known, np.cos(angles)[..., None])[..., 0]
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return int((gaps_km(np.asarray(found, dtype=np.float64), point) <= within_km).sum())


def _largest_common(labels: np.ndarray, distances: list[FloatArray], window_km: float) -> int:
    """Return the size of the largest matching of equal labels whose distances differ by no more than the window."""
    n = len(labels[0])
    for size in range(n, 0, -1):
        for a in itertools.combinations(range(n), size):
            for b in itertools.permutations(range(n), size):
                close = np.abs(distances[0][np.ix_(a, a)] - distances[1][np.ix_(b, b)]) <= window_km
                if close.all() and (labels[0][list(a)] == labels[1][list(b)]).all():
                    return size
    return 0
