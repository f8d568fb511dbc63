"""Graphs from and to files: edge lists, adjacency matrices, GraphML, GEXF, GML, Pajek, MatrixMarket."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reident.base import DataError, check_flag
from reident.networks._reading import as_path, edges_of_cells, format_of
from reident.networks.graph import Network, as_network, network_from_edges, read_network

__all__ = ["network_of_table", "read_graph", "write_graph"]


def read_graph(path: str | Path, *, columns: Sequence[str] | None = None, simplify: bool = False) -> Network:
    """Read an undirected graph: an edge list, an adjacency matrix, GraphML, GEXF, GML, Pajek or MatrixMarket.

    Parameters
    ----------
    path : str or Path
        The ending says the format: .csv, .tsv, .txt, .edges, .edgelist, .xlsx or .xls for a table, .graphml, .gexf,
        .gml, .net or .paj, .mtx; each but Excel's optionally with .gz. A table with the same names above it and beside
        it is an adjacency matrix. In GraphML and GEXF a node goes by its name or label, where each has its own.
    columns : pair of str, optional
        Tables only: the two columns that name an edge's ends; default: those called u and v, source and target, from
        and to or the like, else the only two, else the two with most values in common. Other columns are ignored. A
        row whose second entry is empty declares a node without edges. Separator and encoding are found.
    simplify : bool, default False
        Leave out directions, self-loops and repeated edges, with a warning, instead of refusing them.

    Returns
    -------
    Network
        Whole-number names ascending, other names in the order of the file.

    Raises
    ------
    DataError
        For a missing file, wrong headers, unreadable content, and unless it is to `simplify`, self-loops, edges given
        twice, directed graphs.
    ParameterError
        For an ending that names no format.
    """
    return read_network(path, columns, simplify=check_flag(simplify, "simplify"))


def network_of_table(table: Any, columns: Sequence[str], name: str = "table") -> Network:
    """Return the network whose edges two columns of a table name, as `read_graph` simplifies the same cells."""
    texts = table[list(columns)].astype("str").where(table[list(columns)].notna(), "")
    return network_from_edges(*edges_of_cells(texts, columns, name, simplify=True))


def write_graph(graph: Any, path: str | Path) -> Path:
    """Write an undirected graph as CSV edge list, GraphML, GEXF, GML, Pajek or MatrixMarket; the ending says which.

    Parameters
    ----------
    graph : whatever `as_network` takes
        The graph. Node names become text where the format knows only text; MatrixMarket keeps numbers 1 to n only.
    path : str or Path
        Ends in .csv, .graphml, .gexf, .gml, .net or .paj, .mtx (all but the last optionally with .gz).

    Returns
    -------
    Path
        Where it was written.

    Raises
    ------
    DataError, ParameterError
        If the graph is none, the ending names no format, or the folder is not there.
    """
    path = as_path(path)
    kind = format_of(path, written=True)
    network = as_network(graph)
    if not path.parent.is_dir():
        raise DataError(f"`path` must lie in a folder that is there, got {str(path)!r}")
    if kind == "csv":
        _write_csv(network, path)
    elif kind == "matrixmarket":
        from scipy.io import mmwrite

        mmwrite(path, network.to_scipy().tocoo(), field="pattern", symmetry="symmetric")
    else:
        import networkx as nx

        writers = {"gml": nx.write_gml, "pajek": nx.write_pajek, "graphml": nx.write_graphml_xml, "gexf": nx.write_gexf}
        writers[kind](network.to_networkx(), path)
    return path


def _write_csv(network: Network, path: Path) -> None:
    import pandas as pd

    u, v = network.edges()
    names = pd.Series(list(network.nodes), dtype=object)
    lone = np.flatnonzero(network.degrees == 0)
    ends: Iterable[Any] = itertools.chain(names.iloc[v], [""] * len(lone))
    table = pd.DataFrame({"u": [*names.iloc[u], *names.iloc[lone]], "v": list(ends)})
    table.to_csv(path, index=False)
