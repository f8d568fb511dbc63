"""Read a release, and the pairs of its records with the original."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, IntArray, ParameterError, check_columns, check_table
from reident.tables.classes import refuse_nested
from reident.tables.labels import texts_of
from reident.workbench.check.verdict import Finding
from reident.workbench.dataset import Dataset
from reident.workbench.files import read_like, without_apostrophes
from reident.workbench.opening import OpenedFile
from reident.workbench.pipeline import Release, pairs_path

#: What pairs a release whose rows are in the original's order.
SAME_ORDER = "same order"
#: What pairs give as the original of a released row that is no person's.
_NONE = "-1"
#: Files of a release folder beside the records.
_FILES = ("manifest.json", "distances_km.npy")


@dataclass(eq=False)
class ReadRelease:
    """A release as it was read: its cells, and the original row of each released row (-1 for none, None: no pairs)."""

    cells: Any
    rows: IntArray | None = None
    matrix_km: Any = None
    method: str = "unknown"
    options: Mapping[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_release(release: Any, dataset: Dataset, pairs: Any) -> ReadRelease:
    """Read a release of records of any form, and its pairs."""
    if isinstance(release, Release):
        return ReadRelease(release.cells, release.rows, release.matrix_km, release.method, release.options)
    if isinstance(release, str | Path):
        path = Path(release)
        pairs = pairs_beside(path) if pairs is None else pairs
        read = _read(path, dataset)
    else:
        matrix = None
        if isinstance(release, tuple) and len(release) == 2:
            release, matrix = release[0], np.asarray(release[1], float)
        read = ReadRelease(release.data if isinstance(release, OpenedFile) else release, matrix_km=matrix)
    cells = without_apostrophes(check_table(read.cells, "release")).reset_index(drop=True)
    for name in cells.columns:
        refuse_nested(cells[name], "the release")
    read.cells = _numbers(cells, dataset)
    read.rows = rows_of(pairs, read.cells, dataset)
    if isinstance(pairs, str) and pairs in cells:
        read.cells = read.cells.drop(columns=pairs)
        note = f"{pairs} paired the records and was not judged: the file that is released must not contain it."
        read.notes.append(note)
    return read


def pairs_beside(path: Path) -> Path | None:
    """Return the pairs that `protect` wrote beside a release, None without."""
    candidates = [pairs_path(path)] + ([pairs_path(path.parent)] if path.name.startswith("release.") else [])
    return next((file for file in candidates if file.is_file()), None)


def release_file(path: Path, judged: Collection[str]) -> tuple[Path, list[Finding]]:
    """Return the file of a release, and a finding about files of its folder that are not judged."""
    if path.is_file():
        return path, []
    files = sorted(file for file in path.glob("release.*") if file.is_file())
    if not files:
        raise DataError(f"`release` must be a file or a folder with a file release.*, got {str(path)!r}")
    parts = {f"release{suffix}" for suffix in (".dbf", ".shx", ".prj", ".cpg")} if files[0].suffix == ".shp" else set()
    others = sorted({file.name for file in path.iterdir()} - {files[0].name, *judged, *parts})
    problem = f"holds {len(others)} files that were not judged: {', '.join(others[:5])}"
    finding = Finding("folder", problem, "Leave them out of the folder that is released.")
    return files[0], [finding] if others else []


def _read(path: Path, dataset: Dataset) -> ReadRelease:
    """Read a file, or the folder that `protect` wrote."""
    file, findings = release_file(path, _FILES)
    opened, matrix, manifest = read_like(file, dataset.data, dataset.release_crs), path / _FILES[1], path / _FILES[0]
    cells, crs = opened.data, dataset.crs or (dataset.opened.source.get("crs") if dataset.opened else None)
    if hasattr(cells, "to_crs") and cells.crs is None and crs is not None:
        cells = cells.set_crs(crs)
    if len(tables := opened.parts) > 1:
        problem = f"holds {len(tables)} tables with content, {', '.join(map(repr, tables))}, and one can be judged"
        findings = [Finding("file", problem, "Write the one that is released into a file of its own."), *findings]
    read = ReadRelease(cells, findings=findings)
    if matrix.is_file():
        read.matrix_km = np.load(matrix, allow_pickle=False)
    if manifest.is_file():
        stated = json.loads(manifest.read_text("utf-8"))
        chain = stated.get("chain") or [stated]  # of version 0.2 one step stands by itself
        step = next((step for step in chain if "records_without_place" in step), chain[-1])
        read.method, read.options = step.get("method", "unknown"), step.get("parameters", {})
    return read


def _numbers(cells: Any, dataset: Dataset) -> Any:
    """Return released texts as numbers where the original has numbers and every cell is one."""
    for name in cells.columns.intersection(dataset.data.columns):
        column = cells[name]
        if pd.api.types.is_numeric_dtype(dataset.data[name]) and column.dtype.kind in "OT":
            numbers = pd.to_numeric(column, errors="coerce")
            if column.notna().any() and (numbers.notna() | column.isna()).all():
                cells = cells.assign(**{name: numbers})
    return cells


def rows_of(pairs: Any, cells: pd.DataFrame, dataset: Dataset) -> IntArray | None:
    """Return the original row of each released row; None without pairs."""
    n, m = len(dataset), len(cells)
    if pairs is None:
        return None
    if isinstance(pairs, str) and not pairs.endswith(".csv"):
        if pairs != SAME_ORDER:
            return _by_column(pairs, cells, dataset)
        if n != m:
            raise DataError(f"`pairs` must list the pairs: the same order needs {n} released rows, got {m}")
        return np.arange(n)
    if not isinstance(pairs, str | Path | pd.DataFrame):
        if np.shape(pairs) != (m,):
            raise ParameterError(f"`pairs` must hold the original row of each of the {m} released rows")
        pairs = pd.DataFrame({"original_row": pairs, "released_row": np.arange(m)})
    return matched(pairs, "row", *(pd.Index(map(str, range(size)), dtype=object) for size in (m, n)))


def matched(pairs: Any, kind: str, released: pd.Index, original: pd.Index) -> IntArray:
    """Return the original's place of each released row or node, by their names as texts; -1 where pairs say so.

    Raises
    ------
    DataError
        If the file or table cannot be read, lacks a row or node, or names one twice.
    """
    if isinstance(pairs, str | Path):
        try:
            pairs = pd.read_csv(pairs, dtype=str)
        except (OSError, ValueError) as error:
            raise DataError(f"`pairs` must be a CSV file that `protect` wrote, got {str(pairs)!r}: {error}") from None
    columns = f"released_{kind}", f"original_{kind}"
    if not isinstance(pairs, pd.DataFrame) or not {*columns} <= {*pairs}:
        raise DataError(f"`pairs` must have the columns {' and '.join(columns)}, got {list(pairs)}")
    names, partners = (pairs[column].astype(str) for column in columns)
    if names.duplicated().any() or partners[partners != _NONE].duplicated().any():
        raise DataError(f"`pairs` must name each {kind} of the release and of the original once at most")
    listed = pd.Series(partners.to_numpy(object), names).reindex(released)
    places = original.get_indexer(listed)
    lost, others = ((places < 0) & (listed != _NONE).to_numpy()).sum(), (~names.isin(released)).sum()
    if lost or others:
        raise DataError(
            f"`pairs` must give each of the {len(released)} released {kind}s its original {kind}, or {_NONE} for none, "
            f"got {lost} without and {others} that the release lacks: --pairs FILE is what protect wrote beside it"
        )
    return places


def _by_column(name: str, cells: pd.DataFrame, dataset: Dataset) -> IntArray:
    """Return the rows that a column of both files pairs."""
    keys = []
    for table, which in ((dataset.data, "original"), (cells, "release")):
        column = table[check_columns(table, name, "id", table_name=which)[0]]
        if column.isna().any() or column.duplicated().any():
            raise DataError(
                f"`id` must name a column of {which!r} with one value a record, got missing or repeated ones"
            )
        keys.append(pd.Index(texts_of(column)))
    rows = keys[0].get_indexer(keys[1])
    if unpaired := (rows < 0).sum():
        raise DataError(
            f"`id` must have the same values in both files, got {unpaired} of {len(rows)} released records whose value "
            "the original lacks: --pairs FILE says which record is which (-1 for a released row that is no person's)"
        )
    return rows
