"""Read GraphML, GEXF and GML by networkx, MatrixMarket by scipy, and Pajek."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Hashable
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from reident.base import DataError
from reident.data.delimited import bytes_of, text_of

#: Attributes of a node that hold its name.
_NAMES = ("name", "v_name", "label")
#: A whole number as it is written: 07 and -0 are other names than 7 and 0.
_WHOLE = re.compile(r"-?[1-9][0-9]*|0")


def attributes_of(path: Path, kind: str) -> list[str]:
    """Return the attributes of nodes and edges, beside names, that differ in a file."""
    graph, names = graph_of(path, kind)
    nodes = [{key: value for key, value in held.items() if str(value) not in (node, str(names[node]))}
             for node, held in graph.nodes(data=True)]  # fmt: skip
    edges = [{key: value for key, value in held.items() if key != "id"} for *_, held in graph.edges(data=True)]
    return [
        str(key)
        for all_held in (nodes, edges)
        for key in dict.fromkeys(key for held in all_held for key in held)
        if len({str(held.get(key)) for held in all_held}) > 1
    ]


def graph_of(path: Path, kind: str) -> tuple[Any, dict[Hashable, Any]]:
    """Return the networkx graph of a file with its attributes, and the names of its nodes."""
    import networkx as nx
    from scipy.io import mmread
    from scipy.sparse import csr_array

    if kind in ("graphml", "gexf"):
        return _named(_read_xml(bytes_of(path), path.name, kind))
    if kind == "matrixmarket":
        matrix = csr_array(mmread(io.BytesIO(bytes_of(path)), spmatrix=False))
        matrix.eliminate_zeros()
        is_symmetric = matrix.shape[0] == matrix.shape[1] and (matrix != matrix.T).nnz == 0
        graph = nx.from_scipy_sparse_array(matrix, create_using=nx.Graph if is_symmetric else nx.DiGraph)
        return graph, {node: node + 1 for node in graph}
    text = text_of(path)[0]
    if kind == "pajek":
        return _read_pajek(text, path.name)
    if not re.search(r"^\s*multigraph\s+1", text, re.MULTILINE):
        # Repeated edges are counted where the graph is simplified, not refused by the parser.
        text = re.sub(r"^(\s*graph\s*\[)", r"\1\nmultigraph 1", text, count=1, flags=re.MULTILINE)
    return _named(nx.parse_gml(text, label="id"))


def _read_xml(content: bytes, file: str, kind: str) -> Any:
    """Return the graph of a GraphML or GEXF file of any version, directed if any of its edges is."""
    import networkx as nx
    from networkx.readwrite.gexf import GEXF
    from networkx.readwrite.graphml import GraphML

    namespace = GraphML.NS_GRAPHML if kind == "graphml" else GEXF.versions["1.3"]["NS_GEXF"]
    root = ElementTree.fromstring(re.sub(rb'xmlns="[^"]*"', f'xmlns="{namespace}"'.encode(), content, count=1))
    graphs = root.findall(".//{*}graph")
    if len(graphs) != 1:
        raise DataError(f"{file!r} must hold one graph, got {len(graphs)}: save each in its own file, without nesting")
    default, own = ("edgedefault", "directed") if kind == "graphml" else ("defaultedgetype", "type")
    usual = graphs[0].get(default, "undirected")
    directions = {edge.attrib.pop(own, usual) for edge in root.findall(".//{*}edge")}
    graphs[0].set(default, "directed" if directions & {"true", "directed", "mutual"} else "undirected")
    read: Any = nx.read_graphml if kind == "graphml" else partial(nx.read_gexf, version="1.3")
    return read(io.BytesIO(ElementTree.tostring(root)))


#: Objects of a Pajek project beside its network.
_NO_NETWORK = ("*partition", "*vector", "*permutation", "*cluster", "*hierarchy")


def _read_pajek(text: str, file: str) -> tuple[Any, dict[Hashable, Any]]:
    """Return the relations of a Pajek file between numbers, and the nodes' names: their labels, else their numbers."""
    import networkx as nx

    vertices, relations, section, is_directed = dict[str, list[str]](), list[tuple[str, str, Any]](), "", False
    matrix, is_network = list[list[str]](), True
    for line in text.split("\n"):
        cells = [] if line.startswith("%") else _pajek_cells(line)
        if cells and cells[0].startswith("*"):
            section = cells[0].lower()
            is_network = section not in _NO_NETWORK and (is_network or section == "*network")
            is_directed |= section.startswith("*arcs")
            if section == "*vertices" and is_network:
                if vertices:
                    raise DataError(f"{file!r} must hold one network, got a second: save each in its own file")
                count = int(cells[1]) if cells[1:] and cells[1].isdigit() else 0
                vertices = {str(i): [str(i)] for i in range(1, count + 1)}
        elif not is_network or not cells:
            continue
        elif section == "*vertices" and len(cells) > 1:
            vertices[cells[0]] = cells[1:]
        elif section in ("*arcslist", "*edgeslist"):
            relations += [(cells[0], other, {}) for other in cells[1:]]
        elif section in ("*arcs", "*edges"):
            relations += [(cells[0], other, {"value": cells[2:]}) for other in cells[1:2]]
        elif section == "*matrix":
            matrix.append(cells)
    if matrix:
        values = np.array(matrix, float)
        is_directed |= not np.array_equal(values != 0, values.T != 0)
        entries = np.argwhere(values if is_directed else np.triu(values)).tolist()
        relations += [(str(u + 1), str(v + 1), {"value": values[u, v]}) for u, v in entries]
    names: dict[Hashable, Any] = {key: cells[0] for key, cells in vertices.items()}
    if not {end for pair in relations for end in pair[:2]} <= names.keys() or not names:
        raise DataError(f"{file!r} must have a line '*Vertices n' with the number of nodes above its relations")
    if twice := [label for label, times in Counter(names.values()).items() if times > 1]:
        raise DataError(f"{file!r} must give each vertex its own label, got {twice[0]!r} more than once")
    graph = nx.MultiDiGraph() if is_directed else nx.MultiGraph()
    graph.add_nodes_from((key, {"position": cells[1:]}) for key, cells in vertices.items())
    graph.add_edges_from(relations)
    return graph, names


def _pajek_cells(line: str) -> list[str]:
    """Split a line at blanks outside quotes; inside them a backslash stands before a quote or a backslash."""
    cells = re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', line)
    return [plain or re.sub(r'\\(["\\])', r"\1", quoted) for quoted, plain in cells]


def _named(graph: Any) -> tuple[Any, dict[Hashable, Any]]:
    """Return a graph and the nodes' names, where they are distinct, else their keys."""
    import networkx as nx

    attributes = (nx.get_node_attributes(graph, name) for name in _NAMES)
    keys = {node: node for node in graph}
    return graph, next((names for names in attributes if len(set(names.values())) == len(graph)), keys)


def nodes_of(names: list[str]) -> tuple[list[Hashable], list[int]]:
    """Return nodes in the order of a network's rows, and the position of each among the names."""
    if all(map(_WHOLE.fullmatch, names)):
        numbers = [int(name) for name in names]
        order = sorted(range(len(names)), key=numbers.__getitem__)
        return [numbers[i] for i in order], order
    return list(names), list(range(len(names)))
