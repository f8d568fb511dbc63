"""Check a released network along the pairs of its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, IntArray, ParameterError
from reident.methods import release as attacked
from reident.networks.graph import Network, as_network
from reident.networks.marks import SIDES, Relations, read_relations
from reident.tables.writing import written
from reident.workbench.check.reading import SAME_ORDER, pairs_beside
from reident.workbench.check.verdict import Finding
from reident.workbench.dataset import Dataset
from reident.workbench.microdata import is_graph
from reident.workbench.pipeline import Release

__all__ = ["ReadNetwork", "read_network"]

#: The share of nodes that may keep the original's name by chance.
_SAME_NAMES = 0.05


@dataclass(frozen=True, eq=False)
class ReadNetwork:
    """A released network, its pairs, and the marks of its nodes in the list of relations.

    Attributes
    ----------
    release : Release
        As attacks read it: the index of its table holds the original row of each node.
    rows : ndarray of int64 or None
        The original row of each released node, -1 for none; None without pairs.
    known : DataFrame
        The same of each record of the original, written as the release writes it.
    findings : list of Finding
    """

    release: attacked.Release
    rows: IntArray | None
    known: pd.DataFrame
    findings: list[Finding] = field(default_factory=list)


def read_network(release: Any, dataset: Dataset, pairs: Any, new: Mapping[str, str]) -> ReadNetwork:
    """Read a released network of any form, and its pairs.

    Raises
    ------
    DataError, ParameterError
        If the release is no network, or the pairs name nodes that it lacks.
    """
    findings: list[Finding] = []
    marks = pd.DataFrame()
    rows = None
    method, options = "unknown", {}
    if isinstance(release, str | Path):
        path = Path(release)
        if not path.exists() or (path.is_dir() and not (path / "release.csv").is_file()):
            raise DataError(f"`release` must be a file or a folder with a file release.csv, got {str(path)!r}")
        pairs = pairs_beside(path) if pairs is None else pairs
        if path.is_dir():
            others = sorted({file.name for file in path.iterdir()} - {"release.csv", "manifest.json"})
            if others:
                problem = f"holds {len(others)} files that were not judged: {', '.join(others[:5])}"
                findings.append(Finding("folder", problem, "Leave them out of the folder that is released."))
        release = read_relations(path / "release.csv" if path.is_dir() else path)
    elif isinstance(release, attacked.Release):
        if not isinstance(release.network, Network):
            raise ParameterError("`release` must be a network as the original is, got records")
        by_name = dataset.names.get_indexer(release.table.index).astype(np.int64)
        rows = release.rows if isinstance(release, Release) else by_name
        method, options = release.method, dict(release.options)
        release = release.network
    if isinstance(release, Relations):
        sides = list(SIDES) if release.sorted or not {*SIDES} <= {*dataset.marks} else []
        release, marks = release.network, release.marks.drop(columns=sides, errors="ignore")
    elif not is_graph(release):
        raise ParameterError(f"`release` must be a network as the original is, or a path, got {type(release).__name__}")
    network = as_network(release, "release")
    if rows is None:
        rows = _rows_of(pairs, network, dataset)
    undeclared = [name for name in marks if name not in dataset.marks and name not in new]
    findings += [
        Finding(str(name), "is undeclared", f"Leave it out, or declare it with --new {name}.") for name in undeclared
    ]
    index = np.arange(network.n_nodes) if rows is None else np.where(rows < 0, -2 - np.arange(len(rows)), rows)
    known = pd.DataFrame(index=dataset.data.index)
    table = pd.DataFrame(index=pd.Index(index))
    if rows is not None:
        names = np.array([str(node) for node in network.nodes], dtype=object)
        original_names = np.array([str(name) for name in dataset.names], dtype=object)
        same = (names[rows >= 0] == original_names[rows[rows >= 0]]).mean() if (rows >= 0).any() else 0.0
        if same > _SAME_NAMES:
            problem = f"keep the original's names or numbers in {same:.0%} of the cases"
            findings.append(Finding("nodes", problem, "Name them at random; protect does."))
        released_marks = marks.reindex(list(network.nodes)).reset_index(drop=True)
        original_marks = dataset.marks.reindex([str(name) for name in dataset.names]).set_axis(dataset.data.index)
        for name in [name for name in original_marks if name in released_marks]:
            way = written(original_marks[name], released_marks[name], rows)
            table[name], known[name] = way.released.to_numpy(), way.known.to_numpy()
    made_of = attacked.Release("network", table, method, options, len(dataset), network=network)
    return ReadNetwork(made_of, rows, known, findings)


def _rows_of(pairs: Any, network: Network, dataset: Dataset) -> IntArray | None:
    """Return the original row of each released node; None without pairs."""
    if pairs is None:
        return None
    original_names = pd.Index([str(name) for name in dataset.names])
    nodes = pd.Index([str(node) for node in network.nodes])
    if isinstance(pairs, str) and pairs == SAME_ORDER:
        return _complete(original_names.get_indexer(nodes).astype(np.int64))
    if isinstance(pairs, str | Path):
        pairs = pd.read_csv(pairs, dtype=str)
    if isinstance(pairs, Mapping):
        pairs = pd.DataFrame({"original_node": list(pairs), "released_node": list(pairs.values())})
    if not isinstance(pairs, pd.DataFrame) or not {"original_node", "released_node"} <= set(pairs):
        raise DataError("`pairs` must have the columns original_node and released_node")
    listed = pairs.astype(str).set_index("released_node")["original_node"]
    if listed.index.duplicated().any() or listed.duplicated().any():
        raise DataError("`pairs` must name each node once at most")
    rows: IntArray = original_names.get_indexer(listed.reindex(nodes)).astype(np.int64)
    return _complete(rows)


def _complete(rows: IntArray) -> IntArray:
    """Return the original node of each released node; refuse pairs that leave released nodes out."""
    if unpaired := int((rows < 0).sum()):
        raise DataError(
            f"`pairs` must name the original node of each of the {len(rows)} released nodes, got none for {unpaired}: "
            "--pairs FILE lists them (protect writes it beside the release)"
        )
    return rows
