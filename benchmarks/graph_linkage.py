"""Product graph and maximum clique of the linkage attack, against igraph and networkx on the same graphs."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import tempfile
import warnings
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from benchmarks import _rivals
from benchmarks._rows import Row, timed, within
from reident import SearchLimitWarning, great_circle_km, max_clique, perturb_coordinates
from reident.data.datasets import load_boundary, load_census_shares, load_places
from reident.data.simulate import overlapping_files, population
from reident.experiments.kroll2015 import JITTER_KM
from reident.places import CompatibilityGraph, compatibility_graph, distance_deviation_quantiles

LIMIT_S = 60.0

#: Searches shorter than this are timed three times: a search for garbage may fall into one.
_SHORT_S = 1.0

#: Of shorter searches the time goes into reading the graph.
_MOMENT_S = 0.05


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
    indptr, indices = graph.lists()
    sources = np.repeat(np.arange(graph.n_vertices), np.diff(indptr))
    once = sources < indices
    return np.column_stack([sources[once], indices[once]])


def _igraph(n: int, edges: np.ndarray, answer: Any) -> None:
    import igraph

    graph = igraph.Graph(n, edges)
    answer.send(timed(graph.clique_number))


def _networkx(n: int, edges: np.ndarray, answer: Any) -> None:
    graph = nx.empty_graph(n)
    graph.add_edges_from(map(tuple, edges.tolist()))
    answer.send(timed(lambda: max(map(len, nx.find_cliques(graph)))))


def _asked(n: int, edges: np.ndarray) -> dict[str, dict[str, Any]]:
    """Time the searches that run where an environment variable names what runs them.

    MaxCliqueDyn is the one that Sage has, IncMaxCLQ that of Li, Fang and Xu (2013), their own program, compiled.
    """
    with tempfile.TemporaryDirectory() as folder:
        plain, dimacs = Path(folder, "edges.txt"), Path(folder, "graph.clq")
        np.savetxt(plain, edges, fmt="%d")
        np.savetxt(dimacs, edges + 1, fmt="e %d %d", header=f"p edge {n} {len(edges)}", comments="")
        return {
            "mcqd": _rivals.ask("mcqd", plain, timeout_s=LIMIT_S),
            "IncMaxCLQ": _rivals.incmaxclq(dimacs, timeout_s=LIMIT_S),
        }


def _rival(task: Callable[..., None], n: int, edges: np.ndarray) -> tuple[float, Any]:
    """Time a rival in a process of its own, stopped after the limit (which includes loading the graph)."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=task, args=(n, edges, there))
    process.start()
    answer = here.recv() if here.poll(LIMIT_S) else (LIMIT_S, None)
    process.kill()
    process.join()
    return answer


def _compared(
    name: str, ours: tuple[float, Any], n: int, edges: np.ndarray, rivals: Sequence[tuple[str, Any, float | None]]
) -> list[Row]:
    """Compare our seconds and clique with each rival (library, task, goal) on the same graph."""
    found = []
    for rival, task, goal in rivals:
        if importlib.util.find_spec(rival) is None:
            found.append(Row(name, ours[0], rival, goal=goal, note="not installed"))
            continue
        found.append(_row(name, ours, len(edges), n, rival, *_rival(task, n, edges), goal))
    return found


def _row(
    name: str, ours: tuple[float, Any], n_edges: int, n: int, rival: str, rival_s: float, answer: int | None, goal: Any
) -> Row:
    """Return the row of a rival that found a clique of so many vertices, or None: it was stopped."""
    seconds, clique = ours
    note = f"|V| = {n:,}, {n_edges:,} edges, clique of {len(clique)}"
    if not clique.is_optimal:
        note += f", not proven (bound {clique.upper_bound})"
    if answer not in (None, len(clique)):
        note += f"; the rival found {answer}"
    stopped = {(True, True): "both", (True, False): "ours", (False, True): "rival"}
    who = stopped.get((not clique.is_optimal, answer is None), "")
    return Row(name, seconds, rival, rival_s, goal, who, note)


def _attack() -> list[Row]:
    data, window_km = instance(500, 50, 0.05, 0.5)

    def ours() -> tuple[CompatibilityGraph, Any]:
        graph = compatibility_graph(*data, window_km=window_km)
        return graph, max_clique(graph, rng=0)

    ours()
    seconds, (graph, clique) = min((timed(ours) for _ in range(3)), key=lambda one: one[0])
    rivals = (("igraph", _igraph, 40.0), ("networkx", _networkx, 200.0))
    task = "build + search, sigma .05, alpha .5"
    return _compared(task, (seconds, clique), graph.n_vertices, _edges(graph), rivals)


def _large() -> list[Row]:
    data, window_km = instance(1270, 127, 0.025, 0.5)
    build_s, graph = timed(lambda: compatibility_graph(*data, window_km=window_km))
    search_s, clique = timed(lambda: max_clique(graph, rng=0, time_limit_s=300))
    note = f"|V| = {graph.n_vertices:,}, {graph.n_edges:,} edges, clique of {len(clique)}; build {build_s:.2f} s"
    stopped = "" if clique.is_optimal else "ours"
    return [within("build + search, 1,270 records a side", build_s + search_s, 20, note, stopped=stopped)]


def hamming(n_bits: int, distance: int) -> nx.Graph:
    """Words that differ in at least so many bits."""
    return nx.Graph([(a, b) for a, b in combinations(range(2**n_bits), 2) if (a ^ b).bit_count() >= distance])


def johnson(n_bits: int, weight: int, distance: int) -> nx.Graph:
    """Words of one weight that differ in at least so many bits."""
    words = [sum(1 << i for i in chosen) for chosen in combinations(range(n_bits), weight)]
    return nx.Graph([(a, b) for a, b in combinations(words, 2) if (a ^ b).bit_count() >= distance])


def p_hat(n: int, low: float, high: float, rng: np.random.Generator) -> nx.Graph:
    """Graph of spread degrees: an edge is as likely as the mean of its ends' numbers, drawn from low to high."""
    number = rng.uniform(low, high, n)
    likely = (number[:, None] + number) / 2
    return nx.from_numpy_array(np.triu(rng.random((n, n)) < likely, 1))


def san(n: int, size: int, density: float, rng: np.random.Generator) -> nx.Graph:
    """Graph of a known clique number: the complement of `size` cliques that cover all vertices, and further edges.

    One vertex of each clique has no further edge, so that the complement has just `size` independent ones.
    """
    parts = rng.permutation(n) % size
    missing = parts[:, None] == parts
    chosen = np.array([np.flatnonzero(parts == part)[0] for part in range(size)])
    free = np.triu(~missing, 1)
    free[np.ix_(chosen, chosen)] = False
    pairs = np.argwhere(free)
    wanted = round((1 - density) * n * (n - 1) / 2) - int(np.triu(missing, 1).sum())
    more = pairs[rng.permutation(len(pairs))[: max(0, wanted)]]
    missing[more[:, 0], more[:, 1]] = missing[more[:, 1], more[:, 0]] = True
    return nx.from_numpy_array(~missing)


def brock(n: int, size: int, density: float, rng: np.random.Generator) -> nx.Graph:
    """Graph of a clique whose members have fewer other edges, so that their degrees are those of all others."""
    hidden = np.zeros(n, dtype=bool)
    hidden[rng.choice(n, size, replace=False)] = True
    likely = np.full((n, n), density)
    likely[hidden[:, None] ^ hidden] = (density * (n - 1) - (size - 1)) / (n - size)
    likely[np.ix_(hidden, hidden)] = 1.0
    return nx.from_numpy_array(np.triu(rng.random((n, n)) < likely, 1))


def _families() -> list[Row]:
    """Search graphs drawn as those of the challenge with 400 and 700 vertices were."""
    rng = np.random.default_rng(0)
    return _general(
        {
            "as sanr400_0.5": nx.gnp_random_graph(400, 0.5, seed=0),
            "as san400_0.5_1": san(400, 13, 0.5, rng),
            "as san400_0.7_1": san(400, 40, 0.7, rng),
            "as san400_0.9_1": san(400, 100, 0.9, rng),
            "as p_hat700-1": p_hat(700, 0.0, 0.5, rng),
            "as p_hat700-2": p_hat(700, 0.0, 1.0, rng),
            "as sanr400_0.7": nx.gnp_random_graph(400, 0.7, seed=0),
            "as brock400_4": brock(400, 33, 0.75, rng),
        }
    )


def _proof() -> list[Row]:
    """Prove the clique of a graph drawn as p_hat700-3 was: it has 62 members, as in the original."""
    graph = p_hat(700, 0.5, 1.0, np.random.default_rng(0))
    max_clique(nx.gnp_random_graph(20, 0.5, seed=0), rng=0)
    took_s, clique = timed(lambda: max_clique(graph, rng=0, time_limit_s=600))
    stopped = "" if clique.is_optimal else "ours"
    note = f"clique of {len(clique)}, {clique.n_nodes / 1e6:.0f} million nodes"
    return [within("as p_hat700-3, proven", took_s, 300, note, stopped=stopped)]


def _general(graphs: dict[str, nx.Graph]) -> list[Row]:
    """Search graphs, each by igraph, MaxCliqueDyn and IncMaxCLQ too; of short searches of ours the best of three.

    Where one of the last two needs more than a moment, ours may take twice its time: less hangs on how a graph is read.
    """
    max_clique(nx.gnp_random_graph(20, 0.5, seed=0), rng=0)
    found = []
    for name, graph in graphs.items():

        def search(graph: nx.Graph = graph) -> tuple[float, Any]:
            return timed(lambda: max_clique(graph, rng=0, time_limit_s=LIMIT_S))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SearchLimitWarning)
            ours = search()
            if ours[0] < _SHORT_S:
                ours = min((ours, search(), search()), key=lambda one: one[0])
        renamed = nx.convert_node_labels_to_integers(graph)
        edges = np.array(renamed.edges)
        found += _compared(name, ours, len(renamed), edges, (("igraph", _igraph, None),))
        for rival, told in _asked(len(renamed), edges).items():
            if told["seconds"] is None:
                found.append(Row(name, ours[0], rival, note=told["note"]))
            else:
                goal = 0.5 if told["seconds"] > _MOMENT_S else None
                found.append(_row(name, ours, len(edges), len(renamed), rival, told["seconds"], told.get("size"), goal))
    return found


def _dimacs() -> list[Row]:
    """Search the graphs of the second DIMACS challenge that lie in the user's folder of data."""
    found = sorted(Path(os.environ.get("REIDENT_DATA", "."), "dimacs").glob("*.txt.gz"))
    graphs = {path.name.removesuffix(".txt.gz"): nx.read_edgelist(path, nodetype=int) for path in found}
    return _general(graphs)


GROUPS = {
    "attack": _attack,
    "large": _large,
    "dimacs": _dimacs,
    "families": _families,
    "proof": _proof,
    "random": lambda: _general({"random G(100, .7)": nx.gnp_random_graph(100, 0.7, seed=0)}),
    "hard": lambda: _general(
        {
            "random G(200, .9)": nx.gnp_random_graph(200, 0.9, seed=0),
            "hamming8-4": hamming(8, 4),
            "johnson16-2-4": johnson(16, 2, 4),
        }
    ),
}
