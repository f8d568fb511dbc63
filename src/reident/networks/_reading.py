"""Read graph files: edge lists and matrices by pandas, other formats by networkx and scipy."""

from __future__ import annotations

import contextlib
import itertools
import re
import shlex
import warnings
from collections import Counter
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, ParameterError, check_text
from reident.data.delimited import rows_of_text, text_of
from reident.data.header import table_of_rows

__all__ = ["ENDS", "as_path", "cells_of", "edges_of_cells", "end_columns", "format_of", "is_graph_file", "read_raw"]

_FORMATS = {
    ".csv": "csv", ".gml": "gml", ".net": "pajek", ".paj": "pajek", ".mtx": "matrixmarket", ".graphml": "graphml",
    ".gexf": "gexf",
}  # fmt: skip
#: Tables with another ending: they are read, not written.
_TABLES = dict.fromkeys((".tsv", ".txt", ".edges", ".edgelist", ".xlsx", ".xls"), "csv")
_EXCEL = (".xlsx", ".xls")
#: Attributes of a node that hold its name.
_NAMES = ("name", "v_name", "label")
#: A whole number as it is written: 07 and -0 are other names than 7 and 0.
_WHOLE = re.compile(r"-?[1-9][0-9]*|0")


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in (".gz", ".bz2"):
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def is_graph_file(path: Path) -> bool:
    """Decide by its name whether a file holds a graph and no table."""
    return _FORMATS.get(_suffix(path), "csv") != "csv"


def format_of(path: Path, *, is_written: bool = False) -> str:
    """Return the format of a path by its extension."""
    known = _FORMATS if is_written else _FORMATS | _TABLES
    kind = known.get(_suffix(path))
    if kind is None:
        raise ParameterError(
            f"the format of `path` {path.name!r} is unknown; supported extensions are {', '.join(known)}, also with "
            ".gz or .bz2"
        )
    return kind


def as_path(path: str | Path) -> Path:
    if not isinstance(path, str | Path):
        raise ParameterError(f"`path` must be a path, got {path!r}")
    return Path(path)


def read_raw(
    path: Any, columns: Sequence[str] | None = None, *, names: Sequence[str] = (), simplify: bool = False
) -> Any:
    """Return the content of a file: a graph, a matrix, or ``(u, v, n, nodes)`` of edges."""
    path = as_path(path)
    kind = format_of(path)
    if not path.is_file():
        raise DataError(f"`path` must name a file that exists: there is no graph file at {str(path)!r}")
    if kind == "csv":
        return edges_of_cells(*cells_of(path, columns, names), path.name, simplify=simplify)
    try:
        graph = _read(path, kind)
    except DataError:
        raise
    except Exception as error:
        raise DataError(f"{path.name!r} could not be read as {kind}: {error}") from error
    return _simple(graph, path.name) if simplify and kind != "matrixmarket" else graph


def _read(path: Path, kind: str) -> Any:
    import networkx as nx
    from networkx.readwrite.gexf import GEXF
    from scipy.io import mmread

    if kind == "matrixmarket":
        return mmread(path, spmatrix=False).tocsr()
    if kind == "gml":
        return _read_gml(path)
    if kind == "pajek":
        return _renamed(*_read_pajek(text_of(path)[0], path.name))
    if kind == "graphml":
        return _with_names(nx.read_graphml(path))
    for version in GEXF.versions:
        with contextlib.suppress(nx.NetworkXError):
            return _with_names(nx.read_gexf(path, version=version))
    raise nx.NetworkXError(f"no graph of the versions {', '.join(GEXF.versions)}")


def _read_gml(path: Path) -> Any:
    import networkx as nx

    text = text_of(path)[0]
    if not re.search(r"^\s*multigraph\s+1", text, re.MULTILINE):
        # Repeated edges are counted where the graph is simplified, not refused by the parser.
        text = re.sub(r"^(\s*graph\s*\[)", r"\1\nmultigraph 1", text, count=1, flags=re.MULTILINE)
    label = "label" if re.search(r"\slabel\s", text) else None
    graph = nx.parse_gml(text, label=label)
    return _renamed(graph, {node: node for node in graph})


def _read_pajek(text: str, file: str) -> tuple[Any, dict[Hashable, Any]]:
    """Return the relations of a Pajek file between numbers, and the nodes' names: their labels, else their numbers."""
    import networkx as nx

    names, relations, section, is_directed = dict[Hashable, Any](), list[tuple[str, str]](), "", False
    for line in text.split("\n"):
        cells = [] if line.startswith("%") else shlex.split(line)
        if cells and cells[0].startswith("*"):
            section = cells[0].lower()
            is_directed |= section.startswith("*arcs")
            if section == "*vertices":
                count = int(cells[1]) if cells[1:] and cells[1].isdigit() else 0
                names = {str(i): str(i) for i in range(1, count + 1)}
        elif section == "*vertices" and len(cells) > 1:
            names[cells[0]] = cells[1]
        elif section in ("*arcs", "*edges", "*arcslist", "*edgeslist"):
            relations += [(cells[0], other) for other in cells[1 : None if section.endswith("list") else 2]]
    if not {end for pair in relations for end in pair} <= names.keys() or not names:
        raise DataError(f"{file!r} must have a line '*Vertices n' with the number of nodes above its relations")
    if twice := [label for label, times in Counter(names.values()).items() if times > 1]:
        raise DataError(f"{file!r} must give each vertex its own label, got {twice[0]!r} more than once")
    graph = nx.MultiDiGraph() if is_directed else nx.MultiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from(relations)
    return graph, names


def _with_names(graph: Any) -> Any:
    """Return a graph with the nodes' names, where they are distinct, else with their keys."""
    import networkx as nx

    attributes = (nx.get_node_attributes(graph, name) for name in _NAMES)
    keys = {node: node for node in graph}
    return _renamed(graph, next((names for names in attributes if len(set(names.values())) == len(graph)), keys))


def _renamed(graph: Any, names: dict[Hashable, Any]) -> Any:
    """Return a graph with other names, as numbers in ascending order if all are whole numbers, else as texts."""
    nodes, order = _nodes_of([str(names[node]) for node in graph])
    keys = list(graph)
    name_of = {keys[i]: node for i, node in zip(order, nodes, strict=True)}
    renamed = type(graph)()
    renamed.add_nodes_from(nodes)
    renamed.add_edges_from((name_of[u], name_of[v]) for u, v in graph.edges())
    return renamed


def _nodes_of(names: list[str]) -> tuple[list[Hashable], list[int]]:
    """Return nodes in the order of a network's rows, and the position of each among the names."""
    if all(map(_WHOLE.fullmatch, names)):
        numbers = [int(name) for name in names]
        order = sorted(range(len(names)), key=numbers.__getitem__)
        return [numbers[i] for i in order], order
    return list(names), list(range(len(names)))


#: Names of the two ends of an edge, small letters.
ENDS = (
    ("u", "v"), ("source", "target"), ("from", "to"), ("fromnodeid", "tonodeid"), ("von", "nach"), ("von", "zu"),
    ("von", "an"), ("de", "à"), ("de", "a"), ("da", "a"), ("van", "naar"), ("od", "do"), ("från", "till"),
    ("expéditeur", "destinataire"), ("node1", "node2"), ("src", "dst"), ("sender", "receiver"), ("caller", "callee"),
    ("follower", "followed"), ("origine", "destination"), ("origen", "destino"), ("quelle", "ziel"), ("i", "j"),
)  # fmt: skip


def _simple(graph: Any, file: str) -> Any:
    """Return a graph without directions, loops and repeated edges; warn of their numbers."""
    import networkx as nx

    simple = nx.Graph(graph)
    loops = list(nx.selfloop_edges(simple))
    n_loops = nx.number_of_selfloops(graph)
    simple.remove_edges_from(loops)
    _warn_left_out(file, n_loops, graph.number_of_edges() - n_loops - simple.number_of_edges())
    return simple


def _warn_left_out(file: str, loops: int, repeated: int) -> None:
    counted = ((loops, "relation(s) of a person with itself"), (repeated, "repeated relation(s), in either direction"))
    parts = " and ".join(f"{count} {kind}" for count, kind in counted if count)
    if parts:
        warnings.warn(f"{file!r}: {parts} left out: a network holds each relation once", stacklevel=2)


def cells_of(path: Path, columns: Sequence[str] | None = None, names: Sequence[str] = ()) -> tuple[Any, Sequence[str]]:
    """Return the cells of an edge list or matrix as texts, and the two columns that name an edge's ends.

    Refused is a file that cannot be read, without ends, or with a first line that looks like a record but no `names`.
    """
    for name in names:
        check_text(name, "names", optional=False)
    table, has_header = _table(path, list(names))
    if columns is None and _is_matrix(table):
        table = _edges_of_matrix(table, path.name)
        return table, ("u", "v")
    ends = _ends(table, path.name) if columns is None else columns
    if has_header and len(set(ends) & set(table.columns)) == 2:
        _refuse_record(table, ends, path.name)
    return table, ends


def _refuse_record(table: Any, ends: Sequence[str], file: str) -> None:
    """Refuse a header that looks like a relation: its cells stand below it as nodes, too."""
    nodes = {cell.strip() for name in ends for cell in table[name]}
    repeated = [name for name in ends if name.strip() in nodes]
    if len(repeated) == 2 or (repeated and end_columns(list(ends)) is None):
        raise DataError(
            f"{file!r} must have a line with the names of its columns, its first line looks like a record "
            f"({repeated[0]!r} stands below it, too): give all {len(table.columns)} names with `names` (--names)"
        )


def _table(path: Path, names: list[str]) -> tuple[pd.DataFrame, bool]:
    """Return the cells of a table as texts, and whether its first line was read as the names of the columns."""
    try:
        if _suffix(path) in _EXCEL:
            sheet = pd.read_excel(path, header=None, dtype=str, na_filter=False)
            rows, separator = [row for row in sheet.to_numpy(object).tolist() if any(row)], ","
        else:
            text = text_of(path)[0]
            rows, dialect, _ = rows_of_text(text, path.name)
            separator = dialect["separator"]
            if rows and max(map(len, rows)) == 1 and min(len(row[0].split()) for row in rows) > 1:
                rows, separator = rows_of_text(text, path.name, " ")[0], " "
    except (DataError, ParameterError):
        raise
    except Exception as error:
        raise DataError(f"{path.name!r} could not be read as an edge list: {error}") from error
    if not rows:
        raise DataError(f"{path.name!r} could not be read as an edge list: it is empty")
    if rows[0][0].lower().split()[:1] == ["dl"]:
        raise DataError(f"{path.name!r} is a DL file of UCINET, which is not read: save it as an edge list or Pajek")
    width = Counter(map(len, rows)).most_common(1)[0][0]
    rows = [row for row in rows if len(row) == width or not row[0].startswith(("#", "%"))]
    has_header = not names
    if has_header and separator in " \t" and all(cell.strip().isdigit() for cell in rows[0][:2]):
        # The lists of public collections have numbers between blanks or tabs, and no names above them.
        names, has_header = ["u", "v", *(f"column {i}" for i in range(3, width + 1))][:width], False
    elif has_header:
        rows[0] = [cell.strip() or f"column {i}" for i, cell in enumerate(rows[0], start=1)]
    return table_of_rows(rows, path.name, names=names)[0], has_header


def _is_matrix(table: Any) -> bool:
    """Decide whether a table has the same names above it and in its first column."""
    if not 2 < len(table.columns) == len(table) + 1:
        return False
    return [str(name).strip() for name in table.columns[1:]] == [str(name).strip() for name in table.iloc[:, 0]]


def _edges_of_matrix(table: Any, file: str) -> Any:
    """Return the edge list of an adjacency matrix; an empty cell is a 0."""
    cells = table.iloc[:, 1:].replace("", "0").apply(lambda column: pd.to_numeric(column, errors="coerce"))
    if cells.isna().to_numpy().any():
        raise DataError(f"{file!r} is read as an adjacency matrix: its cells must be numbers, got others")
    names, joined = np.array(table.iloc[:, 0].str.strip(), object), cells.to_numpy() != 0
    if np.array_equal(joined, joined.T):
        joined = np.triu(joined)
    u, v = np.nonzero(joined)
    lone = np.setdiff1d(np.arange(len(names)), np.concatenate([u, v]))
    ends = np.concatenate([names[v], np.full(len(lone), "", object)])
    return pd.DataFrame({"u": names[np.concatenate([u, lone])], "v": ends})


def edges_of_cells(
    table: Any, columns: Sequence[str], file: str, *, simplify: bool = False
) -> tuple[Any, Any, int, Sequence[Hashable]]:
    """Return edges as ``(u, v, n, nodes)`` from two columns of names; an empty second name declares a lone node.

    With `simplify`, loops, repeated edges and rows without a first end are left out with a warning, not refused.
    """
    if isinstance(columns, str) or len(columns) != 2:
        raise ParameterError(f"`columns` must be two names, of an edge's ends, got {columns!r}")
    absent = [column for column in columns if column not in table.columns]
    if absent:
        raise DataError(
            f"{file!r} must have the columns {list(columns)}, got {list(table.columns)}: "
            "name an edge's two ends with `columns`"
        )
    first, second = (table[column].str.strip() for column in columns)
    if simplify and (first == "").any():
        warnings.warn(f"{file!r}: {int((first == '').sum())} row(s) without {columns[0]!r} left out", stacklevel=2)
        first, second = first[first != ""], second[first != ""]
    if (first == "").any():
        raise DataError(f"{file!r} has an empty {columns[0]!r} in row {int(np.flatnonzero(first == '')[0]) + 2}")
    names: list[str] = pd.unique(pd.concat([first, second[second != ""]])).tolist()
    nodes, order = _nodes_of(names)
    coded = pd.Index([names[i] for i in order], dtype=object)
    edge = (second != "").to_numpy()
    u = coded.get_indexer(first[edge]).astype(np.int64)
    v = coded.get_indexer(second[edge]).astype(np.int64)
    low, high = np.minimum(u, v), np.maximum(u, v)
    if simplify:
        proper = np.unique((low * len(nodes) + high)[low != high])
        _warn_left_out(file, int((low == high).sum()), int((low != high).sum()) - len(proper))
        low, high = proper // max(1, len(nodes)), proper % max(1, len(nodes))
    if (low == high).any():
        raise DataError(f"{file!r} must not have self-loops, got one at {nodes[int(low[low == high][0])]!r}")
    keys, times = np.unique(low * len(nodes) + high, return_counts=True)
    if (times > 1).any():
        key = int(keys[times > 1][0])
        raise DataError(
            f"{file!r} must not have multiple edges, got more than one row for "
            f"{nodes[key // len(nodes)]!r} and {nodes[key % len(nodes)]!r}: each undirected edge stands once"
        )
    numbered = nodes == list(range(len(nodes)))
    return low, high, len(nodes), range(len(nodes)) if numbered else nodes


def end_columns(names: Sequence[str]) -> tuple[str, str] | None:
    """Return the two columns of an edge's ends by their names."""
    lower = {name.strip().lstrip("#% ").lower(): name for name in names}
    return next(((lower[u], lower[v]) for u, v in ENDS if u in lower and v in lower), None)


def _ends(table: Any, file: str) -> tuple[str, str]:
    """Return the columns with an edge's two ends: by their names, else the only two, else those that share values."""
    names = list(table.columns)
    by_name = end_columns(names)
    if by_name is not None:
        return by_name
    if len(names) == 2 and not any(name.strip().lstrip("-").isdigit() for name in names):
        return names[0], names[1]
    shared = _sharing(table)
    if shared is not None:
        return shared
    listed = ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    raise DataError(
        f"{file!r} must have two columns for an edge's ends, such as 'u' and 'v', got {listed}: name them "
        "with `columns` (--ends on the command line); without a first line with names, give `names` (--names)"
    )


def _sharing(table: Any) -> tuple[str, str] | None:
    """Return the two columns with by far the largest number of common values: persons are at either end of an edge."""
    values = {name: set(table[name]) - {""} for name in table.columns}
    pairs = [(len(values[a] & values[b]), a, b) for a, b in itertools.combinations(table.columns, 2)]
    (n_shared, a, b), *others = sorted(pairs, key=lambda pair: -pair[0]) or [(0, "", "")]
    smaller = min((len(values[name]) for name in (a, b) if name), default=0)
    return (a, b) if n_shared > max(2, 0.2 * smaller) and all(2 * other[0] <= n_shared for other in others) else None
