"""Read graph files: edge lists and adjacency matrices here, other formats by `_formats`."""

from __future__ import annotations

import itertools
import re
import warnings
from collections import Counter
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, IntArray, ParameterError, check_path, check_text
from reident.data.delimited import rows_of_text, text_of
from reident.data.header import table_of_rows
from reident.networks._formats import graph_of, nodes_of

#: Two vectors of rows, the number of nodes, and their names.
Edges = tuple[IntArray, IntArray, int, Sequence[Hashable]]

_FORMATS = {
    ".csv": "csv", ".gml": "gml", ".net": "pajek", ".paj": "pajek", ".mtx": "matrixmarket", ".graphml": "graphml",
    ".gexf": "gexf",
}  # fmt: skip
#: Tables with another ending: they are read, not written.
_TABLES = dict.fromkeys((".tsv", ".txt", ".edges", ".edgelist", ".xlsx", ".xls"), "csv")
_EXCEL = (".xlsx", ".xls")
_PACKED = (".gz", ".bz2", ".xz")
#: How the text of other formats begins, and what to do with it.
_OTHER_FORMATS = {
    r"dl\b": "DL of UCINET, which is not read: save it as an edge list or Pajek",
    r"(strict\s+)?(di)?graph\b[^\[\n]*\{": "DOT of Graphviz, which is not read: save it as an edge list or GraphML",
    r"\[?\s*\{": "JSON, which is not read: save it as an edge list or GraphML",
    r"%%MatrixMarket": "MatrixMarket: its name must end in .mtx",
    r"\*(vertices|network)\b": "Pajek: its name must end in .net",
    r"(creator\b.*\s+)?graph\s*\[": "GML: its name must end in .gml",
    r"<(\?xml|graphml|gexf)\b": "XML: its name must end in .graphml or .gexf",
}
#: The data of an edge as networkx writes them behind its ends.
_EDGE_DATA = re.compile(r"[ \t]+\{[^{}]*\}[ \t\r]*$")


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def is_graph_file(path: Path) -> bool:
    """Decide by its name whether a file may hold a graph."""
    return _suffix(path) in _FORMATS | _TABLES


def format_of(path: Path, *, is_written: bool = False) -> str:
    """Return the format of a path by its extension."""
    known = _FORMATS if is_written else _FORMATS | _TABLES
    kind = known.get(_suffix(path))
    if kind is None:
        raise ParameterError(
            f"the format of `path` {path.name!r} is unknown; supported extensions are {', '.join(known)}, also with "
            f"{' or '.join(_PACKED[: 2 if is_written else 3])}"
        )
    return kind


def read_edges(
    path: Any, columns: Sequence[str] | None = None, *, names: Sequence[str] = (), simplify: bool = False
) -> Edges:
    """Return the edges of a file as ``(u, v, n, nodes)``."""
    path = check_path(path, "path")
    kind = format_of(path)
    if not path.is_file():
        raise DataError(f"`path` must name a file that exists: there is no graph file at {str(path)!r}")
    if kind == "csv":
        return edges_of_cells(*cells_of(path, columns, names), path.name, simplify=simplify)
    for name, value in (("columns", columns), ("names", names or None)):
        if value is not None:
            raise ParameterError(f"`{name}` must be left out for {path.name!r}, it is for tables, got {value!r}")
    try:
        graph, name_of = graph_of(path, kind)
    except DataError:
        raise
    except Exception as error:
        raise DataError(f"{path.name!r} could not be read as {kind}: {error}") from error
    if graph.is_directed() and not simplify:
        raise DataError(f"{path.name!r} must be undirected: use `simplify` if direction does not matter")
    place = {node: i for i, node in enumerate(graph)}
    u, v = np.array([(place[u], place[v]) for u, v in graph.edges()], np.int64).reshape(-1, 2).T
    return _distinct([str(name_of[node]) for node in graph], u, v, path.name, simplify)


#: Names of the two ends of an edge, small letters.
ENDS = [tuple(pair.split()) for pair in (
    "u v", "source target", "from to", "fromnodeid tonodeid", "von nach", "von zu", "von an", "de à", "de a", "da a",
    "van naar", "od do", "från till", "expéditeur destinataire", "node1 node2", "src dst", "sender receiver",
    "caller callee", "follower followed", "origine destination", "origen destino", "quelle ziel", "i j",
    "sender recipient", "absender empfänger", "id1 id2",
)]  # fmt: skip


def cells_of(path: Path, columns: Sequence[str] | None = None, names: Sequence[str] = ()) -> tuple[Any, Sequence[str]]:
    """Return the cells of an edge list or matrix as texts, and the two columns that name an edge's ends.

    Refused is a file that cannot be read, without ends, or with a first line that looks like a record but no `names`.
    """
    for name in names:
        check_text(name, "names", optional=False)
    table, has_header = _table(path, list(names))
    if columns is None and is_matrix(table):
        table = _edges_of_matrix(table, path.name)
        return table, ("u", "v")
    ends = _ends(table, path.name) if columns is None else columns
    if not len(table) and has_header and end_columns(list(table.columns)) is None:
        raise DataError(
            f"{path.name!r} must have relations below the line of names, it has none: give `names` (--names) if its "
            "only line is one"
        )
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
            for beginning, other in _OTHER_FORMATS.items():
                if re.match(beginning, text.lstrip(), re.IGNORECASE):
                    raise DataError(f"{path.name!r} must be a table, it is {other}")
            lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
            if lines and all(map(_EDGE_DATA.search, lines)):
                text = "\n".join(_EDGE_DATA.sub("", line) for line in lines)
            rows, dialect, _ = rows_of_text(text, path.name)
            separator = dialect["separator"]
            words = [row[0].split() for row in rows if len(row) == 1]
            are_numbers = all(word.lstrip("-").isdigit() for row in words for word in row)
            if rows and len(words) == len(rows) and (min(map(len, words)) > 1 or are_numbers):
                rows, separator = rows_of_text(text, path.name, " ")[0], " "
    except (DataError, ParameterError):
        raise
    except Exception as error:
        raise DataError(f"{path.name!r} could not be read as an edge list: {error}") from error
    if not rows:
        raise DataError(f"{path.name!r} could not be read as an edge list: it is empty")
    width = Counter(map(len, rows)).most_common(1)[0][0]
    rows = [row for row in rows if len(row) == width or not row[0].startswith(("#", "%"))]
    has_header = not names
    if has_header and separator in " \t" and all(cell.strip().lstrip("-").isdigit() for cell in rows[0][:2]):
        # The lists of public collections have numbers between blanks or tabs, and no names above them.
        if len(set(map(len, rows))) > 1:
            raise DataError(
                f"{path.name!r} must have two ends and as many other fields in each line, got {min(map(len, rows))} to "
                f"{max(map(len, rows))}: of a list of neighbours make a list with a line for each relation"
            )
        names, has_header = ["u", "v", *(f"column {i}" for i in range(3, width + 1))][:width], False
    elif has_header:
        rows[0] = [cell.strip() or f"column {i}" for i, cell in enumerate(rows[0], start=1)]
    return table_of_rows(rows, path.name, names=names)[0], has_header


def is_matrix(table: Any) -> bool:
    """Decide whether a table has the same names above it and in its first column."""
    if not 2 < len(table.columns) == len(table) + 1:
        return False
    return [str(name).strip() for name in table.columns[1:]] == [str(name).strip() for name in table.iloc[:, 0]]


def _edges_of_matrix(table: Any, file: str) -> Any:
    """Return the edge list of an adjacency matrix; an empty cell is a 0."""
    texts = table.iloc[:, 1:].replace("", "0").replace(",", ".", regex=True)
    cells = texts.apply(lambda column: pd.to_numeric(column, errors="coerce"))
    if cells.isna().to_numpy().any():
        odd = texts.to_numpy()[cells.isna().to_numpy()][0]
        raise DataError(f"{file!r} is read as an adjacency matrix: its cells must be numbers, got {odd!r}")
    names, joined = np.array(table.iloc[:, 0].str.strip(), object), cells.to_numpy() != 0
    if np.array_equal(joined, joined.T):
        joined = np.triu(joined)
    u, v = np.nonzero(joined)
    lone = np.setdiff1d(np.arange(len(names)), np.concatenate([u, v]))
    ends = np.concatenate([names[v], np.full(len(lone), "", object)])
    return pd.DataFrame({"u": names[np.concatenate([u, lone])], "v": ends})


def edges_of_cells(table: Any, columns: Sequence[str], file: str, *, simplify: bool = False) -> Edges:
    """Return edges as ``(u, v, n, nodes)`` from two columns of names; an empty second name declares a lone node.

    With `simplify`, loops, repeated edges and rows without a first end are left out with a warning, not refused.
    """
    if isinstance(columns, str) or len(columns) != 2:
        raise ParameterError(f"`columns` must be two names, of an edge's ends, got {columns!r}")
    absent = [column for column in columns if column not in table.columns]
    if absent:
        raise DataError(
            f"{file!r} must have the columns {list(columns)}, got {list(table.columns)}: "
            "name an edge's two ends with `columns` (--ends)"
        )
    first, second = (table[column].str.strip() for column in columns)
    if simplify and (first == "").any():
        warnings.warn(f"{file!r}: {int((first == '').sum())} row(s) without {columns[0]!r} left out", stacklevel=2)
        first, second = first[first != ""], second[first != ""]
    if (first == "").any():
        raise DataError(f"{file!r} has an empty {columns[0]!r} in row {int(np.flatnonzero(first == '')[0]) + 2}")
    named = pd.Index(pd.unique(pd.concat([first, second[second != ""]])), dtype=object)
    edge = (second != "").to_numpy()
    u, v = (named.get_indexer(column[edge]).astype(np.int64) for column in (first, second))
    return _distinct(named.tolist(), u, v, file, simplify)


def _distinct(names: list[str], u: IntArray, v: IntArray, file: str, simplify: bool) -> Edges:
    """Return edges between names without loops and repetitions: left out with a warning, or refused."""
    nodes, order = nodes_of(names)
    place, n = np.argsort(order), max(1, len(nodes))
    low, high = np.sort([place[u], place[v]], axis=0)
    loops = np.flatnonzero(low == high)
    keys, times = np.unique((low * n + high)[low != high], return_counts=True)
    counted = (
        (loops.size, "relation(s) of a person with itself"),
        (int(times.sum()) - keys.size, "relation(s) that repeat another, in either direction,"),
    )
    parts = " and ".join(f"{count} {kind}" for count, kind in counted if count)
    if parts and simplify:
        warnings.warn(f"{file!r}: {parts} left out: a network holds each relation once", stacklevel=2)
    elif loops.size:
        raise DataError(f"{file!r} must not have self-loops, got one at {nodes[low[loops[0]]]!r}")
    elif parts:
        a, b = (nodes[end] for end in divmod(int(keys[times > 1][0]), n))
        raise DataError(
            f"{file!r} must not have multiple edges, got more than one row for {a!r} and {b!r}: each undirected edge "
            "stands once"
        )
    return keys // n, keys % n, len(nodes), range(len(nodes)) if nodes == list(range(len(nodes))) else nodes


def end_columns(names: Sequence[str]) -> tuple[str, str] | None:
    """Return the two columns of an edge's ends by their names."""
    lower = {re.sub(r"[\W_]", "", name).lower(): name for name in names}
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
