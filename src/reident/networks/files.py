"""Graphs from and to files: edge lists, GML, Pajek, MatrixMarket."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reident.errors import DataError, ParameterError
from reident.networks.graph import Network, as_network, network_from_edges

__all__ = ["read_graph", "write_graph"]


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in (".gz", ".bz2"):
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


_FORMATS = {".csv": "csv", ".gml": "gml", ".net": "pajek", ".paj": "pajek", ".mtx": "matrixmarket"}


def _format(path: Path) -> str:
    found = _FORMATS.get(_suffix(path))
    if found is None:
        raise ParameterError(
            f"`path` must end in one of {', '.join(_FORMATS)} (optionally .gz), got {path.name!r}: "
            "the ending says the format"
        )
    return found


def read_graph(path: str | Path, *, columns: tuple[str, str] = ("u", "v")) -> Network:
    """Read an undirected graph from an edge list (CSV), GML, Pajek or MatrixMarket file.

    Parameters
    ----------
    path : str or Path
        The ending says the format: .csv, .gml, .net or .paj, .mtx, each optionally with .gz.
    columns : pair of str
        CSV only: the two columns that name an edge's ends. Other columns are ignored. A row whose second entry is
        empty declares a node without edges.

    Returns
    -------
    Network
        Whole-number names ascending, other names in the order of the file.

    Raises
    ------
    DataError
        For a missing file, wrong headers, unreadable content, self-loops, edges given twice, directed graphs.
    ParameterError
        For an ending that names no format.
    """
    path = _path(path)
    kind = _format(path)
    if not path.is_file():
        raise DataError(f"`path` must name a file that is there: there is no graph file at {str(path)!r}")
    if kind == "csv":
        return _read_csv(path, columns)
    import networkx as nx

    try:
        if kind == "gml":
            return as_network(nx.read_gml(path, label=None if _lacks_labels(path) else "label"), path.name)
        if kind == "pajek":
            graph = nx.read_pajek(path)
            return as_network(graph, path.name)
        from scipy.io import mmread

        return as_network(mmread(path, spmatrix=False).tocsr(), path.name)
    except DataError:
        raise
    except Exception as error:
        raise DataError(f"{path.name!r} could not be read as {kind}: {error}") from error


def _lacks_labels(path: Path) -> bool:
    import gzip

    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as file:
        return not any(line.lstrip().startswith("label ") for line in file)


def _read_csv(path: Path, columns: tuple[str, str]) -> Network:
    import pandas as pd

    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, comment="#")
    except Exception as error:
        raise DataError(f"{path.name!r} could not be read as an edge list: {error}") from error
    absent = [column for column in columns if column not in table.columns]
    if absent:
        raise DataError(
            f"{path.name!r} must have the columns {list(columns)}, got {list(table.columns)}: "
            "name an edge's two ends with `columns`"
        )
    left, right = (table[column].str.strip() for column in columns)
    if (left == "").any():
        raise DataError(f"{path.name!r} has an empty {columns[0]!r} in row {int(np.flatnonzero(left == '')[0]) + 2}")
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
    if (low == high).any():
        raise DataError(f"{path.name!r} must not have self-loops, got one at {nodes[int(low[low == high][0])]!r}")
    keys, times = np.unique(low * len(nodes) + high, return_counts=True)
    if (times > 1).any():
        key = int(keys[times > 1][0])
        raise DataError(
            f"{path.name!r} must not have multiple edges, got more than one row for "
            f"{nodes[key // len(nodes)]!r} and {nodes[key % len(nodes)]!r}: each undirected edge stands once"
        )
    named: Sequence[Hashable] = range(len(nodes)) if nodes == list(range(len(nodes))) else nodes
    return network_from_edges(low, high, len(nodes), named)


def write_graph(graph: Any, path: str | Path) -> Path:
    """Write an undirected graph as CSV edge list, GML, Pajek or MatrixMarket; the ending says which.

    Parameters
    ----------
    graph : whatever `as_network` takes
        The graph. Node names become text where the format knows only text; MatrixMarket keeps numbers 1 to n only.
    path : str or Path
        Ends in .csv, .gml, .net or .paj, .mtx (the first three optionally with .gz).

    Returns
    -------
    Path
        Where it was written.

    Raises
    ------
    DataError, ParameterError
        If the graph is none, the ending names no format, or the folder is not there.
    """
    path = _path(path)
    kind = _format(path)
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

        {"gml": nx.write_gml, "pajek": nx.write_pajek}[kind](network.to_networkx(), path)
    return path


def _path(path: str | Path) -> Path:
    if not isinstance(path, str | Path):
        raise ParameterError(f"`path` must be a path, got {path!r}")
    return Path(path)


def _write_csv(network: Network, path: Path) -> None:
    import pandas as pd

    u, v = network.edges()
    names = pd.Series(list(network.nodes), dtype=object)
    lone = np.flatnonzero(network.degrees == 0)
    ends: Iterable[Any] = itertools.chain(names.iloc[v], [""] * len(lone))
    table = pd.DataFrame({"u": [*names.iloc[u], *names.iloc[lone]], "v": list(ends)})
    table.to_csv(path, index=False)
