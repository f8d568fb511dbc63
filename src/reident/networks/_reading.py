"""What stands in a graph file, read as it is: a networkx graph, a sparse matrix, or pairs of rows with names."""

from __future__ import annotations

import contextlib
import itertools
import re
import warnings
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reident.base import DataError, ParameterError
from reident.data.delimited import dialect_of

__all__ = ["as_path", "cells_of", "edges_of_cells", "end_columns", "format_of", "is_graph_file", "read_raw"]


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in (".gz", ".bz2"):
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


_FORMATS = {
    ".csv": "csv", ".gml": "gml", ".net": "pajek", ".paj": "pajek", ".mtx": "matrixmarket", ".graphml": "graphml",
    ".gexf": "gexf",
}  # fmt: skip
#: Tables with another ending: they are read, not written.
_TABLES = dict.fromkeys((".tsv", ".txt", ".edges", ".edgelist", ".xlsx", ".xls"), "csv")
#: What files call the name of a node beside its number.
_NAMES = ("name", "v_name", "label")


def is_graph_file(path: Path) -> bool:
    """Tell whether a file of this name can hold nothing but a graph."""
    return _FORMATS.get(_suffix(path), "csv") != "csv"


def format_of(path: Path, *, written: bool = False) -> str:
    known = _FORMATS if written else _FORMATS | _TABLES
    found = known.get(_suffix(path))
    if found is None:
        raise ParameterError(
            f"`path` must end in one of {', '.join(known)} (optionally .gz), got {path.name!r}: "
            "the ending says the format"
        )
    return found


def read_raw(path: Any, columns: Sequence[str] | None = None, *, simplify: bool = False) -> Any:
    """Return what a file holds: a graph, a matrix, or ``(u, v, n, nodes)`` of edges; see `reident.read_graph`."""
    path = as_path(path)
    kind = format_of(path)
    if not path.is_file():
        raise DataError(f"`path` must name a file that is there: there is no graph file at {str(path)!r}")
    if kind == "csv":
        return edges_of_cells(*cells_of(path, columns), path.name, simplify=simplify)
    try:
        if kind != "matrixmarket":
            graph = _read_nodes(path, kind)
            return _simple(graph, path.name) if simplify else graph
        from scipy.io import mmread

        return mmread(path, spmatrix=False).tocsr()
    except Exception as error:
        raise DataError(f"{path.name!r} could not be read as {kind}: {error}") from error


def _read_nodes(path: Path, kind: str) -> Any:
    """Read a format of nodes and edges."""
    import networkx as nx

    if kind == "pajek":
        return nx.read_pajek(path)
    if kind == "gml":
        return nx.read_gml(path, label=None if _lacks_labels(path) else "label")
    return _read_xml(path, kind)


def _read_xml(path: Path, kind: str) -> Any:
    """Read GraphML, or GEXF of any version; nodes go by their names, where each has its own, else by their keys."""
    import networkx as nx
    from networkx.readwrite.gexf import GEXF

    if kind == "graphml":
        graph = nx.read_graphml(path)
    else:
        for version in GEXF.versions:
            with contextlib.suppress(nx.NetworkXError):
                graph = nx.read_gexf(path, version=version)
                break
        else:
            raise nx.NetworkXError(f"no graph of the versions {', '.join(GEXF.versions)}")
    keys = {node: node for node in graph}
    names = (nx.get_node_attributes(graph, name) for name in _NAMES)
    named = next((one for one in names if len(set(one.values())) == len(graph)), keys)
    whole = all(re.fullmatch(r"-?(0|[1-9]\d*)", str(name)) for name in named.values())
    ordered = {node: int(name) if whole else str(name) for node, name in named.items()}
    made = type(graph)()
    made.add_nodes_from(sorted(ordered.values()) if whole else (ordered[node] for node in graph))
    made.add_edges_from((ordered[u], ordered[v]) for u, v in graph.edges())
    return made


def _lacks_labels(path: Path) -> bool:
    import gzip

    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as file:
        return not any(line.lstrip().startswith("label ") for line in file)


#: Names of the two ends of an edge, as files call them; small letters.
_ENDS = (
    ("u", "v"),
    ("source", "target"),
    ("from", "to"),
    ("von", "nach"),
    ("von", "zu"),
    ("von", "an"),
    ("de", "à"),
    ("de", "a"),
    ("da", "a"),
    ("van", "naar"),
    ("od", "do"),
    ("från", "till"),
    ("expéditeur", "destinataire"),
    ("node1", "node2"),
    ("src", "dst"),
    ("sender", "receiver"),
    ("caller", "callee"),
    ("follower", "followed"),
    ("origine", "destination"),
    ("origen", "destino"),
    ("quelle", "ziel"),
    ("i", "j"),
)


def _simple(graph: Any, file: str) -> Any:
    """Return a graph without directions, loops and repeated edges; a warning says how many there were."""
    import networkx as nx

    simple = nx.Graph(graph)
    loops = list(nx.selfloop_edges(simple))
    simple.remove_edges_from(loops)
    _tell_left_out(file, len(loops), graph.number_of_edges() - len(loops) - simple.number_of_edges())
    return simple


def _tell_left_out(file: str, loops: int, repeated: int) -> None:
    counted = ((loops, "relation(s) of a person with itself"), (repeated, "repeated relation(s), in either direction"))
    told = " and ".join(f"{count} {what}" for count, what in counted if count)
    if told:
        warnings.warn(f"{file!r}: {told} left out: a network is judged by who is related to whom", stacklevel=2)


def cells_of(path: Path, columns: Sequence[str] | None = None) -> tuple[Any, Sequence[str]]:
    """Return the cells of a delimited file as texts, and the two columns that name an edge's ends."""
    table = _table(path)
    if columns is None and _is_matrix(table):
        table = _edges_of_matrix(table, path.name)
    return table, _ends(table, path.name) if columns is None else columns


def _is_matrix(table: Any) -> bool:
    """Tell whether a table has the same names above it and beside it."""
    if not 2 < len(table.columns) == len(table) + 1:
        return False
    return [str(name).strip() for name in table.columns[1:]] == [str(name).strip() for name in table.iloc[:, 0]]


def _edges_of_matrix(table: Any, file: str) -> Any:
    """Return the rows of an edge list that says what an adjacency matrix says; an empty cell is a 0."""
    import pandas as pd

    cells = table.iloc[:, 1:].replace("", "0").apply(lambda column: pd.to_numeric(column, errors="coerce"))
    if cells.isna().to_numpy().any():
        raise DataError(f"{file!r} is read as an adjacency matrix: its cells must be numbers, got others")
    names, there = np.array(table.iloc[:, 0].str.strip(), object), cells.to_numpy() != 0
    if np.array_equal(there, there.T):
        there = np.triu(there)
    u, v = np.nonzero(there)
    lone = np.setdiff1d(np.arange(len(names)), np.concatenate([u, v]))
    ends = np.concatenate([names[v], np.full(len(lone), "", object)])
    return pd.DataFrame({"u": names[np.concatenate([u, lone])], "v": ends})


def edges_of_cells(
    table: Any, columns: Sequence[str], file: str, *, simplify: bool = False
) -> tuple[Any, Any, int, Sequence[Hashable]]:
    """Return ``(u, v, n, nodes)`` of the edges whose ends two columns of texts name; an empty end: a lone node.

    With `simplify`, loops, repeated edges and rows without a first end are left out with a warning, not refused.
    """
    import pandas as pd

    if isinstance(columns, str) or len(columns) != 2:
        raise ParameterError(f"`columns` must be two names, of an edge's ends, got {columns!r}")
    absent = [column for column in columns if column not in table.columns]
    if absent:
        raise DataError(
            f"{file!r} must have the columns {list(columns)}, got {list(table.columns)}: "
            "name an edge's two ends with `columns`"
        )
    left, right = (table[column].str.strip() for column in columns)
    if simplify and (left == "").any():
        warnings.warn(f"{file!r}: {int((left == '').sum())} row(s) without {columns[0]!r} left out", stacklevel=2)
        left, right = left[left != ""], right[left != ""]
    if (left == "").any():
        raise DataError(f"{file!r} has an empty {columns[0]!r} in row {int(np.flatnonzero(left == '')[0]) + 2}")
    names: Any = pd.unique(pd.concat([left, right[right != ""]]))
    whole = pd.to_numeric(pd.Series(names), errors="coerce")
    if whole.notna().all() and (whole % 1 == 0).all() and pd.Series(names).str.fullmatch(r"-?\d+").all():
        order = np.argsort(whole.to_numpy(np.int64), kind="stable")
        nodes: list[Hashable] = [int(names[i]) for i in order]
        coded = pd.Index([names[i] for i in order])
    else:
        nodes = list(names)
        coded = pd.Index(names)
    edge = (right != "").to_numpy()
    u = coded.get_indexer(left[edge]).astype(np.int64)
    v = coded.get_indexer(right[edge]).astype(np.int64)
    low, high = np.minimum(u, v), np.maximum(u, v)
    if simplify:
        proper = np.unique((low * len(nodes) + high)[low != high])
        _tell_left_out(file, int((low == high).sum()), int((low != high).sum()) - len(proper))
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
    named: Sequence[Hashable] = range(len(nodes)) if nodes == list(range(len(nodes))) else nodes
    return low, high, len(nodes), named


def _table(path: Path) -> Any:
    """Read the cells of a table as texts; the beginning of a delimited one tells separator and encoding."""
    import pandas as pd

    try:
        if _suffix(path) in (".xlsx", ".xls"):
            table = pd.read_excel(path, dtype=str, keep_default_na=False, na_filter=False)
            return table.rename(columns=str)
        for bytes_read in (2**20, None):
            separator, encoding, quote = dialect_of(path, bytes_read=bytes_read)
            try:
                said: Any = {"dtype": str, "keep_default_na": False, "comment": "#", "encoding": encoding}
                table = pd.read_csv(path, sep=separator, quotechar=quote, **said)
                parts = list(map(str, table.columns))
                blanks = len(parts) == 1 and len(parts[0].split()) > 1
                # The lists of public collections have blanks or tabs between numbers, and no names above them.
                bare = all(part.isdigit() for part in (parts[0].split() if blanks else parts)[:2])
                if blanks or (bare and separator == "\t"):
                    sep, header = r"\s+" if blanks else "\t", None if bare else 0
                    table = pd.read_csv(path, sep=sep, header=header, **said).rename(columns={0: "u", 1: "v"})
                return table
            except UnicodeDecodeError:  # letters that are not ASCII begin later
                continue
    except Exception as error:
        raise DataError(f"{path.name!r} could not be read as an edge list: {error}") from error
    raise DataError(f"{path.name!r} could not be read as an edge list: its encoding is not known")


def end_columns(names: Sequence[str]) -> tuple[str, str] | None:
    """Return the columns whose names say that they are an edge's two ends."""
    lower = {name.strip().lower(): name for name in names}
    found = ((lower[one], lower[other]) for one, other in _ENDS if one in lower and other in lower)
    return next(found, None)


def _ends(table: Any, file: str) -> tuple[str, str]:
    """Return the columns with an edge's two ends: by their names, else the only two, else those that share values."""
    names = list(table.columns)
    named = end_columns(names)
    if named is not None:
        return named
    if len(names) == 2 and not any(name.strip().lstrip("-").isdigit() for name in names):
        return names[0], names[1]
    shared = _sharing(table)
    if shared is not None:
        return shared
    raise DataError(
        f"{file!r} must have two columns for an edge's ends, such as 'u' and 'v', got {_some(names)}: name them "
        "with `columns` (--ends on the command line), or give the file a first line with names"
    )


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:8]))
    return f"{shown} and {len(names) - 8} more" if len(names) > 8 else shown


def _sharing(table: Any) -> tuple[str, str] | None:
    """Return the two columns that have by far the most values in common: persons stand on both sides of a list."""
    values = {name: set(table[name]) - {""} for name in table.columns}
    pairs = [(len(values[a] & values[b]), a, b) for a, b in itertools.combinations(table.columns, 2)]
    (most, a, b), *others = sorted(pairs, key=lambda pair: -pair[0]) or [(0, "", "")]
    smaller = min((len(values[name]) for name in (a, b) if name), default=0)
    return (a, b) if most > max(2, 0.2 * smaller) and all(2 * other[0] <= most for other in others) else None


def as_path(path: str | Path) -> Path:
    if not isinstance(path, str | Path):
        raise ParameterError(f"`path` must be a path, got {path!r}")
    return Path(path)
