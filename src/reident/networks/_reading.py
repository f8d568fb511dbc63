"""What stands in a graph file, read as it is: a networkx graph, a sparse matrix, or pairs of rows with names."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reident.errors import DataError, ParameterError

__all__ = ["as_path", "format_of", "read_raw"]


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in (".gz", ".bz2"):
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


_FORMATS = {".csv": "csv", ".gml": "gml", ".net": "pajek", ".paj": "pajek", ".mtx": "matrixmarket"}


def format_of(path: Path) -> str:
    found = _FORMATS.get(_suffix(path))
    if found is None:
        raise ParameterError(
            f"`path` must end in one of {', '.join(_FORMATS)} (optionally .gz), got {path.name!r}: "
            "the ending says the format"
        )
    return found


def read_raw(path: Any, columns: tuple[str, str] = ("u", "v")) -> Any:
    """Return what a file holds: a graph, a matrix, or ``(u, v, n, nodes)`` of edges; see `reident.read_graph`."""
    path = as_path(path)
    kind = format_of(path)
    if not path.is_file():
        raise DataError(f"`path` must name a file that is there: there is no graph file at {str(path)!r}")
    if kind == "csv":
        return _read_csv(path, columns)
    import networkx as nx

    try:
        if kind == "gml":
            return nx.read_gml(path, label=None if _lacks_labels(path) else "label")
        if kind == "pajek":
            return nx.read_pajek(path)
        from scipy.io import mmread

        return mmread(path, spmatrix=False).tocsr()
    except Exception as error:
        raise DataError(f"{path.name!r} could not be read as {kind}: {error}") from error


def _lacks_labels(path: Path) -> bool:
    import gzip

    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as file:
        return not any(line.lstrip().startswith("label ") for line in file)


def _read_csv(path: Path, columns: tuple[str, str]) -> tuple[Any, Any, int, Sequence[Hashable]]:
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
    return low, high, len(nodes), named


def as_path(path: str | Path) -> Path:
    if not isinstance(path, str | Path):
        raise ParameterError(f"`path` must be a path, got {path!r}")
    return Path(path)
