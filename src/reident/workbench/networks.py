"""The map of a network: an intruder who knows degrees against what remains of the edges."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident._lock import scratch
from reident.errors import ParameterError
from reident.methods import entries
from reident.methods.forms import release
from reident.networks.files import read_graph
from reident.networks.graph import Network, as_network, network_from_edges
from reident.rumap import NOTHING, ORIGINAL, anchor, ru_frame
from reident.sweep import grid
from reident.workbench.microdata import Microdata

__all__ = ["map_network", "network_trial"]


@lru_cache(maxsize=2)
def _load(path: str) -> Network:
    edges = np.load(path, allow_pickle=False)
    return network_from_edges(edges[0, 1:], edges[1, 1:], int(edges[0, 0]))


def degree_risk(network: Network) -> float:
    """Return the mean chance to pick a person's node among those with its degree: classes / nodes."""
    return np.unique(network.degrees).size / network.n_nodes


def share_above(network: Network, limit: float) -> float:
    """Return the share of persons whose degree leaves so few nodes that the chance to pick theirs is above a limit."""
    _, place, counts = np.unique(network.degrees, return_inverse=True, return_counts=True)
    return float((1 / counts[place] > limit).mean())


def network_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Anonymise the network by a registered method; measure the risk by degrees and the edges kept."""
    original = _load(params["path"])
    made = release(described(original), params["method"], params["options"], rng=rng)
    assert isinstance(made.network, Network)
    kept = made.made.edges_kept / max(1, original.n_edges) if hasattr(made.made, "edges_kept") else 1.0
    above = share_above(made.network, params["limit"])
    return {"risk": degree_risk(made.network), "edges_kept": kept, "above": above}


def described(network: Network) -> Microdata:
    """Return a network as data of the workbench: nodes, and nothing said about them."""
    return Microdata("network", pd.DataFrame(index=network.nodes), [], None, [], {}, network=network)


def _save(network: Network, folder: Path) -> str:
    """Write a network where trials read it, under a name that follows from what it holds."""
    edges = np.column_stack([np.array([[network.n_nodes], [0]]), np.stack(network.edges())])
    place = folder / f"data-{hashlib.sha256(edges.tobytes()).hexdigest()[:16]}"
    place.mkdir(exist_ok=True)
    np.save(place / "edges.npy", edges, allow_pickle=False)
    return str(place / "edges.npy")


def map_network(
    network: Any,
    *,
    limit: float = 0.25,
    repetitions: int = 10,
    seed: int = 0,
    jobs: int = 1,
    folder: str | Path | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Return the risk-utility frame of the registered network methods; `network` is a graph or a file.

    The intruder knows the degree of a person and picks one of the nodes that have it: a guarantee about degrees, not
    about neighbourhoods.
    """
    graph = read_graph(network) if isinstance(network, str | Path) else as_network(network)
    if graph.n_nodes < 10:
        raise ParameterError(f"`network` must have at least 10 nodes, got {graph.n_nodes}")
    settings = []
    for entry in entries("anonymiser", "network"):
        grids = [(p.name, [v for v in p.grid if v <= graph.n_nodes // 2]) for p in entry.parameters if p.grid]
        options = [{name: value} for name, values in grids for value in values] or [{}]
        settings += [{"method": entry.name, "options": entry.check(one)} for one in options]
    with scratch() as temporary:
        place = Path(folder or temporary).resolve()
        path = _save(graph, place)
        trials = grid.run(
            [{**one, "path": path, "limit": limit} for one in settings], network_trial,
            repetitions=repetitions, seed=seed, jobs=jobs, stem="network", folder=folder and place / "parts",
            shared=("path", "method", "options", "limit"), progress=progress,
        )  # fmt: skip
    trials["k"] = [str(options.get("k", "")) for options in trials["options"]]
    frame = ru_frame(
        trials, method="method", parameter="k", risk="risk", utility="edges_kept",
        attack="degree known, chance to pick the right node", analysis="edges kept (share)",
    )  # fmt: skip
    above = trials.groupby(["method", "k"])["above"].agg(above="mean", above_high=lambda one: one.quantile(0.95))
    frame = frame.merge(above.reset_index().rename(columns={"k": "value"}), on=["method", "value"], how="left")
    frame = anchor(frame, ORIGINAL, risk=degree_risk(graph), utility=1.0)
    frame.loc[frame["method"] == ORIGINAL, ["above", "above_high"]] = share_above(graph, limit)
    return anchor(frame, NOTHING, risk=0.0, utility=0.0)
