"""Read an edge list's attributes of nodes: sides, counts and other columns of their relations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.networks._reading import as_path, cells_of, edges_of_cells, format_of
from reident.networks.graph import Network, network_from_edges, read_network

__all__ = ["SIDES", "Relations", "read_relations", "relations_of"]

#: The marks of the sides of a row.
SIDES = ("how many it names first", "how many name it second")
#: The share of the rows that may stand the other way round in a list that is sorted.
_ONE_SIDED = 0.01


@dataclass(frozen=True, eq=False)
class Relations:
    """A list of relations: the network, and marks of its nodes.

    Attributes
    ----------
    network : Network
        Who is related to whom.
    marks : DataFrame
        One row a node, the index as `network.nodes`: in how many rows it stands on either side (`SIDES`), and for each
        other column of the list the sorted values of its relations, as a text. No columns where a file has none.
    sorted : bool
        Whether the two ends of nearly every row stand in the order of their names, so that sides say nothing more.
    """

    network: Network
    marks: pd.DataFrame
    sorted: bool = True


def read_relations(path: str | Path, columns: Sequence[str] | None = None, names: Sequence[str] = ()) -> Relations:
    """Read a network from a file, simplified as by `reident.read_graph`, and the marks of an edge list's nodes."""
    if format_of(as_path(path)) != "csv":
        network = read_network(path, columns, simplify=True)
        return Relations(network, pd.DataFrame(index=pd.Index(list(network.nodes), dtype=object)))
    return relations_of(*cells_of(as_path(path), columns, names), Path(path).name)


def relations_of(cells: Any, columns: Sequence[str], name: str = "table") -> Relations:
    """Return the network of a table of edges, with the attributes of its nodes."""
    texts = cells.astype("str").where(cells.notna(), "")
    network = network_from_edges(*edges_of_cells(texts, columns, name, simplify=True))
    nodes = pd.Index([str(node) for node in network.nodes], dtype=object)
    ends = [nodes.get_indexer(texts[column].str.strip()) for column in columns]
    counts = [np.bincount(end[end >= 0], minlength=len(nodes)) for end in ends]
    marks = dict(zip(SIDES, counts, strict=True))
    node, is_node = np.concatenate(ends), np.concatenate([end >= 0 for end in ends])
    for other in texts.columns.difference(list(columns), sort=False):
        values = np.tile(texts[other].to_numpy(object), 2)
        order = np.lexsort([values[is_node].astype("U"), node[is_node]])
        sides = pd.Series(values[is_node][order]).groupby(node[is_node][order]).agg("; ".join)
        marks[str(other)] = sides.reindex(np.arange(len(nodes))).fillna("").to_numpy(object)
    place = np.arange(len(nodes))
    if isinstance(next(iter(network.nodes), 0), str):  # numbers ascend already
        place = np.argsort(np.argsort(nodes))
    both = (ends[0] >= 0) & (ends[1] >= 0)
    rising = np.mean(place[ends[0][both]] < place[ends[1][both]]) if both.any() else 1.0
    frame = pd.DataFrame(marks, index=pd.Index(list(network.nodes), dtype=object))
    return Relations(network, frame, bool(min(rising, 1 - rising) <= _ONE_SIDED))
