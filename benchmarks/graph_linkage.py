"""Product graph and maximum clique of the linkage attack, against igraph and networkx on the same graphs."""

import multiprocessing
import time
import warnings
from collections.abc import Callable
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np

from reident import (
    CompatibilityGraph,
    SearchLimitWarning,
    compatibility_graph,
    distance_deviation_quantiles,
    great_circle_km,
    max_clique,
    perturb_coordinates,
)
from reident.datasets import load_boundary, load_census_shares, load_places
from reident.experiments.kroll2015 import JITTER_KM
from reident.simulate import overlapping_files, population

LIMIT_S = 60.0


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = call()
    return time.perf_counter() - began, result


def instance(n: int, n_common: int, sigma_deg: float, alpha: float) -> tuple[list[Any], tuple[float, float]]:
    """Labels and distances of both files, and the window, as the study draws them."""
    rng = np.random.default_rng(0)
    area = load_boundary("germany")
    options = {"jitter_km": JITTER_KM, "shares": load_census_shares(), "area": area, "rng": rng}
    files = overlapping_files(
        population(load_places("germany"), 2 * n - n_common, **options),
        n_original=n,
        n_known=n,
        n_common=n_common,
        rng=rng,
    )
    masked = perturb_coordinates(files.original.lat_deg, files.original.lon_deg, sigma_deg=sigma_deg, rng=rng)
    data: list[Any] = []
    for table, places in ((files.original, masked), (files.known, (files.known.lat_deg, files.known.lon_deg))):
        data += [(table["sex"].astype(str) + table["age_class"].astype(str)).to_numpy(), great_circle_km(*places)]
    return data, distance_deviation_quantiles(area, sigma_deg=sigma_deg, rng=rng).window_km(alpha)


def _edges(graph: CompatibilityGraph) -> np.ndarray:
    indptr, indices = graph.adjacency.lists()
    sources = np.repeat(np.arange(graph.n_vertices), np.diff(indptr))
    once = sources < indices
    return np.column_stack([sources[once], indices[once]])


def _igraph(n: int, edges: np.ndarray, answer: Any) -> None:
    import igraph

    graph = igraph.Graph(n, edges)
    answer.send(_timed(graph.clique_number))


def _networkx(n: int, edges: np.ndarray, answer: Any) -> None:
    graph = nx.empty_graph(n)
    graph.add_edges_from(map(tuple, edges.tolist()))
    answer.send(_timed(lambda: max(map(len, nx.find_cliques(graph)))))


def _rival(task: Callable[..., None], n: int, edges: np.ndarray) -> tuple[float, Any]:
    """Time a rival in a process of its own, stopped after the limit (which includes loading the graph)."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=task, args=(n, edges, there))
    process.start()
    answer = here.recv() if here.poll(LIMIT_S) else (LIMIT_S, None)
    process.kill()
    process.join()
    return answer


def _compared(name: str, ours_s: float, size: int, n: int, edges: np.ndarray, rivals: Any) -> list[dict[str, Any]]:
    found = []
    for rival, task in rivals:
        try:
            __import__(rival)
        except ImportError:
            found.append({"task": name, "ours_s": ours_s, "rival": rival, "note": "not installed"})
            continue
        seconds, answer = _rival(task, n, edges)
        note = f"|V| = {n:,}, {len(edges):,} edges, clique of {size}"
        if answer is None:
            note += f"; the rival was stopped after {LIMIT_S:g} s: at least this ratio"
        elif answer != size:
            note += f"; THE RIVAL FOUND {answer}"
        found.append(
            {
                "task": name,
                "ours_s": ours_s,
                "rival": rival,
                "rival_s": seconds,
                "ratio": seconds / ours_s,
                "note": note,
            }
        )
    return found


def _attack_rows() -> list[dict[str, Any]]:
    data, window_km = instance(500, 50, 0.05, 0.5)

    def ours() -> tuple[CompatibilityGraph, Any]:
        graph = compatibility_graph(*data, window_km=window_km)
        return graph, max_clique(graph, rng=0)

    ours()
    seconds, (graph, clique) = min((_timed(ours) for _ in range(3)), key=lambda timed: timed[0])
    rivals = (("igraph", _igraph), ("networkx", _networkx))
    return _compared(
        "build + search, sigma .05, alpha .5", seconds, len(clique), graph.n_vertices, _edges(graph), rivals
    )


def _large_row() -> dict[str, Any]:
    data, window_km = instance(1270, 127, 0.025, 0.5)
    build_s, graph = _timed(lambda: compatibility_graph(*data, window_km=window_km))
    search_s, clique = _timed(lambda: max_clique(graph, rng=0, time_limit_s=300))
    note = (
        f"|V| = {graph.n_vertices:,}, {graph.n_edges:,} edges, clique of {len(clique)}, "
        f"{'proven' if clique.is_optimal else 'NOT PROVEN'}; build {build_s:.2f} s"
    )
    return {"task": "build + search, 1,270 records a side", "ours_s": build_s + search_s, "rival": "", "note": note}


def hamming(n_bits: int, distance: int) -> nx.Graph:
    """Words that differ in at least so many bits."""
    return nx.Graph([(a, b) for a, b in combinations(range(2**n_bits), 2) if (a ^ b).bit_count() >= distance])


def johnson(n_bits: int, weight: int, distance: int) -> nx.Graph:
    """Words of one weight that differ in at least so many bits."""
    words = [sum(1 << i for i in chosen) for chosen in combinations(range(n_bits), weight)]
    return nx.Graph([(a, b) for a, b in combinations(words, 2) if (a ^ b).bit_count() >= distance])


def _general_rows() -> list[dict[str, Any]]:
    graphs = {
        "random G(100, .7)": nx.gnp_random_graph(100, 0.7, seed=0),
        "random G(200, .9)": nx.gnp_random_graph(200, 0.9, seed=0),
        "hamming8-4": hamming(8, 4),
        "johnson16-2-4": johnson(16, 2, 4),
    }
    found = []
    for name, graph in graphs.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SearchLimitWarning)
            seconds, clique = _timed(lambda graph=graph: max_clique(graph, rng=0, time_limit_s=LIMIT_S))
        renamed = nx.convert_node_labels_to_integers(graph)
        rows = _compared(name, seconds, len(clique), len(renamed), np.array(renamed.edges), (("igraph", _igraph),))
        if not clique.is_optimal:
            rows = [
                {**row, "note": f"ours stopped unproven (bound {clique.upper_bound}); {row['note']}"} for row in rows
            ]
        found += rows
    return found


def rows() -> list[dict[str, Any]]:
    """Time the attack's two steps at the paper's size and at 100,000 vertices, and cliques of general graphs."""
    return [*_attack_rows(), _large_row(), *_general_rows()]
