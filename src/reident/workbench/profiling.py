"""Profile a data set before its protection: types, gaps, uniqueness, places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from reident.methods.release import own_numbers
from reident.workbench.composition import class_sizes
from reident.workbench.microdata import LAT, LON, has_places, located

if TYPE_CHECKING:
    from reident.workbench.dataset import Dataset


@dataclass(frozen=True, eq=False)
class DataProfile:
    """Types, gaps and uniqueness of a file.

    Attributes
    ----------
    columns : DataFrame
        One row a column: ``column``, ``role``, ``type``, ``missing`` (records), ``distinct``, ``unique`` (records
        with a value that no other has).
    checks : DataFrame
        ``check``, ``finding``, ``verdict`` ("ok", "look", "risk").
    """

    columns: pd.DataFrame
    checks: pd.DataFrame


def complete_records(data: Any, quasi: Sequence[str]) -> Any:
    """Return the records that have every quasi-identifier and a place on the earth, with a fresh index."""
    keep = data[list(quasi)].notna().all(axis=1).to_numpy()
    if has_places(data):
        keep = keep & located(data).to_numpy()
    return data[keep].reset_index(drop=True)


def profile_data(dataset: Dataset) -> DataProfile:
    """Profile a data set; where persons have several records, persons are counted."""
    table, quasi = dataset.table, dataset.quasi
    rows = []
    for name in table.columns:
        counts = table[name].value_counts()
        role = "place" if name in (LAT, LON) else dataset.schema.columns[name].role if name in dataset.data else ""
        gaps, alone = int(table[name].isna().sum()), int((counts == 1).sum())
        rows.append([name, role or "not used", str(table[name].dtype), gaps, len(counts), alone])
    columns = pd.DataFrame(rows, columns=["column", "role", "type", "missing", "distinct", "unique"])
    complete = complete_records(table, quasi)
    twins, gaps = int(table.duplicated().sum()), len(table) - len(complete)
    checks = [
        ("records", f"{len(table)}", "ok"),
        ("repeated records", f"{twins} are equal to an earlier one in every column", "look" if twins else "ok"),
        (
            "complete records",
            f"{len(complete)}; {gaps} lack a quasi-identifier or a valid place and are left out below",
            "look" if gaps else "ok",
        ),
    ]  # fmt: skip
    checks += _place_checks(table)
    if quasi and len(complete):
        alone, n = _persons_alone(complete, quasi, dataset.schema.single("person"))
        finding = f"{alone} of {n} persons ({alone / n:.1%}) are alone with their {', '.join(quasi)}"
        checks.append(("uniqueness", finding, "risk" if alone / n > 0.05 else "look" if alone else "ok"))
    unused = columns[columns["role"].isin(["not used", "other", "identifier"])]
    if names := unused.loc[(unused["unique"] == len(table)) & (len(table) > 1), "column"].tolist():
        checks.append(("direct identifiers", f"{', '.join(names)}: every value is unique; do not release", "risk"))
    return DataProfile(columns, pd.DataFrame(checks, columns=["check", "finding", "verdict"]))


def _persons_alone(complete: pd.DataFrame, quasi: Sequence[str], person: str | None) -> tuple[int, int]:
    """Return the persons with a record that no other person's equals, and all; without `person` each record is one."""
    codes = np.arange(len(complete)) if person is None else own_numbers(complete[person])
    each = complete[list(quasi)].assign(**{"\0person": codes}).drop_duplicates()
    alone = pd.Series(class_sizes(each[list(quasi)]) == 1).groupby(each["\0person"].to_numpy()).any()
    return int(alone.sum()), len(alone)


def _place_checks(table: pd.DataFrame) -> list[tuple[str, str, str]]:
    if not has_places(table):
        return []
    places = table[[LAT, LON]].astype(float)
    missing, zero = int(places.isna().any(axis=1).sum()), int((places == 0).all(axis=1).sum())
    shared = int(places.dropna().duplicated(keep=False).sum())
    checks = [("coordinates missing", f"{missing} records", "look" if missing else "ok")]
    if zero:
        checks.append(("coordinates (0, 0)", f"{zero} records lie there: most likely a missing place", "risk"))
    return [*checks, ("shared places", f"{shared} records have the very place of another one", "ok")]
