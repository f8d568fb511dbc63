"""Read and write graphs, and the attributes of nodes in an edge list."""

from __future__ import annotations

import bz2
import csv
import gzip
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, check_flag, check_path, check_several
from reident.networks._formats import attributes_of
from reident.networks._reading import ENDS, cells_of, edges_of_cells, format_of
from reident.networks.graph import Network, as_network, network_from_edges, read_network


def read_graph(
    path: str | Path,
    *,
    columns: Sequence[str] | None = None,
    names: Sequence[str] = (),
    simplify: bool = False,
) -> Network:
    """Read an undirected graph: an edge list, an adjacency matrix, GraphML, GEXF, GML, Pajek or MatrixMarket.

    Parameters
    ----------
    path : str or Path
        The extension names the format: .csv, .tsv, .txt, .edges, .edgelist, .xlsx or .xls for a table, .graphml, .gexf,
        .gml, .net or .paj, .mtx; each but Excel's optionally with .gz, .bz2 or .xz. A table with the same names above
        it and in its first column is an adjacency matrix. In GraphML, GEXF and GML a node is called by its name or
        label, where each has its own, in MatrixMarket by its number, 1 to n.
    columns : pair of str, optional
        Tables only: the two columns that name an edge's ends; default: those called u and v, source and target, from
        and to or the like, else the only two, else the two with most values in common. Other columns are ignored. A
        row whose second entry is empty declares a node without edges. Separator and encoding are found. Lines above
        the list that begin with # or % are comments.
    names : sequence of str, optional
        Tables only: the names of all columns, for a file whose first line is a record. Numbers between blanks or tabs
        need none.
    simplify : bool, default False
        Leave out directions, self-loops and repeated edges, with a warning, instead of refusing them.

    Returns
    -------
    Network
        Nodes that are all whole numbers ascending, otherwise texts in the order of the file: "07" and "7" differ.

    Raises
    ------
    DataError
        For a missing file, a first line that looks like a record, unreadable content, and unless `simplify` is set,
        self-loops, repeated edges, directed graphs.
    ParameterError
        For an ending that names no format.
    """
    return read_network(path, columns, names=check_several(names, "names"), simplify=check_flag(simplify, "simplify"))


def write_graph(graph: Any, path: str | Path) -> Path:
    """Write an undirected graph as CSV edge list, GraphML, GEXF, GML, Pajek or MatrixMarket, by the extension.

    `read_graph` reads the same nodes and edges back, the names as texts, or as numbers if all are whole numbers.

    Parameters
    ----------
    graph : graph as `as_network` takes
        MatrixMarket keeps numbers 1 to n instead of names.
    path : str or Path
        Ends in .csv, .graphml, .gexf, .gml, .net or .paj, .mtx (all but the last optionally with .gz or .bz2).

    Returns
    -------
    Path
        Where it was written.

    Raises
    ------
    DataError, ParameterError
        If the graph is none, the format cannot hold its names, the ending names no format, or the folder is missing.
    """
    path = check_path(path, "path")
    kind = format_of(path, is_written=True)
    network = as_network(graph)
    if not path.parent.is_dir():
        raise DataError(f"`path` must lie in a folder that exists, got {str(path)!r}")
    if kind == "matrixmarket":
        from scipy.io import mmwrite

        mmwrite(path, network.to_scipy().tocoo(), field="pattern", symmetry="symmetric")
        return path
    _check_names([str(node) for node in network.nodes], kind)
    if kind == "csv":
        _write_csv(network, path)
    elif kind == "pajek":
        _write_pajek(network, path)
    else:
        import networkx as nx

        writers = {"gml": nx.write_gml, "graphml": nx.write_graphml_xml, "gexf": nx.write_gexf}
        writers[kind](network.to_networkx(), path)
    return path


def _check_names(names: list[str], kind: str) -> None:
    """Refuse names that could not be read back from a file of this kind."""
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise DataError(f"`graph` must have names that differ as texts, got {twice[0]!r} more than once")
    odd = next(filter(_UNREADABLE.get(kind, _SURROGATES).search, names), None)
    if odd is not None:
        raise DataError(f"`graph` must have names that {kind} can hold, got {odd!r}: rename this node")


#: What a name cannot be or hold, by format: blanks at the ends, line breaks, control characters.
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_XML = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_UNREADABLE = {
    "csv": re.compile(r"\A\s|\s\Z|\A\Z|[\0\ud800-\udfff]"),
    "pajek": re.compile(r"[\n\r\0\ud800-\udfff]"),
    "graphml": _XML,
    "gexf": _XML,
}


def _write_csv(network: Network, path: Path) -> None:
    names = np.array([str(node) for node in network.nodes], object)
    # No node is called like the header: otherwise the reader would take it for a record.
    header = next(pair for pair in ENDS if not set(pair) <= set(names))
    u, v = network.edges()
    lone = np.flatnonzero(network.degrees == 0)
    second = np.concatenate([names[v], np.full(len(lone), "", object)])
    table = pd.DataFrame({header[0]: names[np.concatenate([u, lone])], header[1]: second})
    is_plain = all(map(re.compile(r"[\w.@-][\w .@-]*").fullmatch, names))
    table.to_csv(path, index=False, quoting=csv.QUOTE_MINIMAL if is_plain else csv.QUOTE_ALL)


def _write_pajek(network: Network, path: Path) -> None:
    u, v = network.edges()
    labels = (re.sub(r'(["\\])', r"\\\1", str(node)) for node in network.nodes)
    lines = [f"*Vertices {network.n_nodes}", *(f'{i} "{label}"' for i, label in enumerate(labels, start=1)), "*Edges"]
    lines += [f"{a} {b}" for a, b in zip((u + 1).tolist(), (v + 1).tolist(), strict=True)]
    opener: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
    with opener(path, "wt", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(lines) + "\n")


#: The marks of the sides of a row.
SIDES = ("how many it names first", "how many name it second")
#: The share of the rows that may stand the other way round in a list that is sorted.
_ONE_SIDED = 0.01


@dataclass(frozen=True, eq=False)
class Relations:
    """A list of relations: the network, and marks of its nodes, a row each in the order of `network.nodes`.

    The marks are in how many rows a node stands on either side (`SIDES`), and for each other column of the list the
    sorted values of its relations as a text; no columns where a file has none. `sorted`: the two ends of nearly every
    row stand in the order of their names, so that sides say nothing more. `rows`: the list itself, as texts, `ends` its
    two columns of nodes.
    """

    network: Network
    marks: pd.DataFrame
    sorted: bool = True
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    ends: Sequence[str] = ()


def read_relations(path: str | Path, columns: Sequence[str] | None = None, names: Sequence[str] = ()) -> Relations:
    """Read a network from a file, simplified as by `read_graph`, and the marks of an edge list's nodes."""
    path = check_path(path, "path")
    if format_of(path) != "csv":
        network = read_network(path, columns, names=names, simplify=True)
        return Relations(network, pd.DataFrame(index=pd.Index(list(network.nodes), dtype=object)))
    return relations_of(*cells_of(path, columns, names), path.name)


def unread_attributes(path: Path) -> list[str]:
    """Return the attributes of nodes and edges in a file that `read_relations` leaves out."""
    kind = format_of(path)
    return [] if kind == "csv" else attributes_of(path, kind)


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
    return Relations(network, frame, bool(min(rising, 1 - rising) <= _ONE_SIDED), texts, tuple(columns))
