"""Read a released network, and the pairs of its nodes with the original's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import bdtrc

from reident.base import DataError, IntArray, ParameterError, check_columns
from reident.methods import release as attacked
from reident.methods.release import Knowledge
from reident.networks.files import SIDES, Relations, read_relations, unread_attributes
from reident.networks.graph import Network, as_network
from reident.tables.writing import written
from reident.workbench.check.declarations import judge_new
from reident.workbench.check.dependence import Features, column_of, dependence
from reident.workbench.check.evidence import OWN_LEVEL, order_leak
from reident.workbench.check.reading import SAME_ORDER, matched, pairs_beside, release_file
from reident.workbench.check.verdict import Verdict, as_option
from reident.workbench.dataset import Dataset
from reident.workbench.microdata import is_graph
from reident.workbench.pipeline import Release

#: The share of nodes that may keep the original's name by chance.
_SAME_NAMES = 0.05
_REMEDY = "Name them at random; protect does."


def read_network(
    verdict: Verdict, release: Any, dataset: Dataset, pairs: Any, new: Mapping[str, str]
) -> tuple[Knowledge, dict[str, IntArray]] | None:
    """Read a released network of any form, and the pairs of its nodes; None without pairs.

    Returns
    -------
    known : Knowledge
        The relations, and the marks of each node of the original, written as the release writes them. The index of
        the table of its release holds the original row of each node, its columns the marks of the nodes in a list of
        relations.
    keys : dict
        Empty: no number holds nodes together.

    Raises
    ------
    DataError, ParameterError
        If the release is no network, or the pairs name nodes that it lacks.
    """
    original = dataset.network
    assert original is not None
    marks, method, options, rows, listed = pd.DataFrame(), "unknown", {}, None, None
    if isinstance(release, str | Path):
        pairs = pairs_beside(Path(release)) if pairs is None else pairs
        file, verdict.findings = release_file(Path(release), {"manifest.json"})
        release = read_relations(file)
        for name in unread_attributes(file):
            problem = "is an attribute of nodes or relations and is not judged"
            verdict.refuse(name, problem, "Leave it out, or give an edge list.")
    elif isinstance(release, Release):
        method, options, rows, release = release.method, dict(release.options), release.rows, release.network
    if isinstance(release, Relations):
        sides = list(SIDES) if release.sorted or not {*SIDES} <= {*dataset.marks} else []
        listed, release, marks = release, release.network, release.marks.drop(columns=sides, errors="ignore")
    elif not is_graph(release):
        raise ParameterError(f"`release` must be a network as the original is, or a path, got {type(release).__name__}")
    network = as_network(release, "release")
    nodes, names = (np.array(list(map(str, listed)), dtype=object) for listed in (network.nodes, dataset.names))
    if rows is None and pairs is not None:
        if isinstance(pairs, str) and pairs == SAME_ORDER:
            pairs = pd.DataFrame({"original_node": nodes, "released_node": nodes})
        rows = matched(pairs, "node", pd.Index(nodes), pd.Index(names))
        if (rows >= 0).all():
            _check_pairs(network, original, rows)
    check_columns(marks, [*new], "new", table_name="release", min_columns=0)
    for name in marks:
        if name not in dataset.marks and name not in new:
            verdict.refuse(name, "is undeclared", f"Leave it out, or declare it with {as_option('new', name)}.")
    if rows is None:
        return None
    known = pd.DataFrame(index=dataset.data.index)
    paired = rows >= 0
    table = pd.DataFrame(index=np.where(paired, rows, -2 - np.arange(len(rows))))
    same = (nodes[paired] == names[rows[paired]]).mean() if paired.any() else 0.0
    if same > _SAME_NAMES:
        verdict.refuse("nodes", f"keep the original's names or numbers in {same:.0%} of the cases", _REMEDY)
    elif paired.any():
        true = pd.DataFrame({"names": names[rows[paired]], "order": rows[paired]})
        depends = dependence(Features(true), pd.Series(nodes[paired]), learned=False)
        if not depends:  # the released degrees say as much as they do
            at = paired & (network.degrees == pd.Series(network.degrees).mode()[0])
            true = pd.DataFrame({"degrees": original.degrees[rows[at]]})
            depends = dependence(Features(true), pd.Series(nodes[at]), learned=False)
        if depends:
            verdict.refuse("nodes", f"have names that follow the original's {column_of(depends)}", _REMEDY)
        if order := order_leak(pd.DataFrame({"name": nodes}), rows, pd.DataFrame(index=range(len(names)))):
            verdict.refuse("nodes", order.problem, "Shuffle them, or sort them by their names.")
    if listed is not None and listed.ends:
        _test_rows(verdict, listed, rows, original, names, new)
    released_marks = marks.reindex(list(network.nodes)).reset_index(drop=True)
    original_marks = dataset.marks.reindex(names).set_axis(dataset.data.index)
    for name in original_marks.columns.intersection(released_marks.columns, sort=False):
        way = written(original_marks[name], released_marks[name], rows)
        table[name], known[name] = way.released.to_numpy(), way.known.to_numpy()
    if len(known.columns):
        note = f"Of each person's relations these were joined, too: {', '.join(map(str, known))}."
        verdict.notes.insert(0, note)
    verdict.notes.append(
        "The attacks on the structure see no directions: following them from person to person finds more."
    )
    made = attacked.Release("network", table, method, options, len(dataset), network=network)
    return dataset.knowledge(table.index.get_indexer(dataset.data.index), known=known, release=made), {}


def _test_rows(
    verdict: Verdict, listed: Relations, rows: IntArray, original: Network, names: Any, new: Mapping[str, str]
) -> None:
    """Test the rows of a list of relations: their order, and the columns that are declared new."""
    nodes = pd.Index(list(map(str, listed.network.nodes)))
    ends = np.array([nodes.get_indexer(listed.rows[column].str.strip()) for column in listed.ends]).reshape(2, -1)
    ends = np.append(rows, -1)[ends]
    is_relation = (ends >= 0).all(axis=0)
    first, second = ends[:, is_relation]
    cells = listed.rows[is_relation].reset_index(drop=True)
    degrees, earlier = original.degrees, np.minimum(first, second)
    true = {"which nodes are related": original.has_edges(first, second), "the earlier of its nodes": earlier,
            "the larger of its degrees": np.maximum(degrees[first], degrees[second])}  # fmt: skip
    for side, word in ((first, "first"), (second, "second")):
        true |= {f"the row of its {word} node": side, f"the name of its {word} node": names[side],
                 f"the degree of its {word} node": degrees[side]}  # fmt: skip
    judge_new(verdict, cells, new, Features(pd.DataFrame(true)), is_list=True)
    hidden = pd.DataFrame({"degrees": degrees, "names": names})
    orders = (order_leak(cells, side, hidden) for side in (first, second, earlier))
    if order := next(filter(None, orders), None):
        verdict.refuse("rows", order.problem, "Shuffle them, or sort them by the released names.")


def _check_pairs(released: Network, original: Network, rows: IntArray) -> None:
    """Refuse pairs along which neither relations nor degrees agree, though both networks have the same degrees."""
    from scipy.stats import spearmanr  # takes longer to import than the rest of the package

    shown, true, n = released.degrees, original.degrees[rows], original.n_nodes
    if not np.ptp(shown) or not np.array_equal(np.sort(shown), np.sort(true)):
        return
    hits = original.has_edges(*(rows[side] for side in released.edges()))
    by_chance = bdtrc(hits.sum() - 1, hits.size, 2 * original.n_edges / (n * n - n)) >= OWN_LEVEL
    if by_chance and spearmanr(shown, true).pvalue >= OWN_LEVEL:
        raise DataError(
            "`pairs` must pair the nodes of these networks, got some along which relations agree by chance alone: give "
            "those that were written with the release"
        )
