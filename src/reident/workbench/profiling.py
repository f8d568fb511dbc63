"""What a custodian should know about a file before anything is protected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reident.tables.disclosure import reidentification_risk
from reident.workbench.microdata import LAT, LON, has_places, located

__all__ = ["DataProfile", "alone_persons", "complete_records", "profile_data"]


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
    n_records, n_complete : int
        Records of the file, and those with all quasi-identifiers and valid places.
    """

    columns: pd.DataFrame
    checks: pd.DataFrame
    n_records: int
    n_complete: int


def complete_records(data: Any, quasi: Sequence[str]) -> Any:
    """Return the records that have every quasi-identifier and a place on the earth, with a fresh index."""
    keep = data[list(quasi)].notna().all(axis=1).to_numpy()
    if has_places(data):
        keep = keep & located(data).to_numpy()
    return data[keep].reset_index(drop=True)


def alone_persons(complete: pd.DataFrame, quasi: Sequence[str], person: str | None) -> pd.Series:
    """Return of each person whether a record is in a class of nobody else's; without `person` each record is one."""
    whose, each = _one_each(complete, quasi, person)
    size = each.groupby([each[column].astype(str) for column in quasi]).transform("size")
    return (size == 1).groupby(whose).any()


def _one_each(complete: pd.DataFrame, quasi: Sequence[str], person: str | None) -> tuple[pd.Series, pd.DataFrame]:
    """Return whose each record is, and the records without those that say the same of a person as an earlier one."""
    alone = pd.Series(np.arange(len(complete)), complete.index)
    whose = alone if person is None else complete[person].astype(object).where(complete[person].notna(), -1 - alone)
    codes = pd.Series(pd.factorize(whose)[0], complete.index)
    each = complete[list(quasi)]
    first = ~each.assign(**{"\0whose": codes}).duplicated()
    return codes[first], each[first]


def profile_data(
    data: Any, quasi: Sequence[str], sensitive: str | None = None, person: str | None = None
) -> DataProfile:
    """Profile a table, its coordinates in ``lat_deg`` and ``lon_deg`` or in a geometry; persons are counted."""
    table = pd.DataFrame(data.drop(columns=data.geometry.name)) if hasattr(data, "to_crs") else data
    rows = []
    for column in table.columns:
        values = table[column]
        counts = values.value_counts()
        role = "quasi-identifier" if column in quasi else "sensitive" if column == sensitive else ""
        rows.append(
            {
                "column": column,
                "role": "place" if column in (LAT, LON) else role or "not used",
                "type": str(values.dtype),
                "missing": int(values.isna().sum()),
                "distinct": len(counts),
                "unique": int((counts == 1).sum()),
            }
        )
    complete = complete_records(data, quasi)
    checks = [*_place_checks(data), *_record_checks(table, len(complete))]
    if quasi and len(complete):
        checks += _class_checks(pd.DataFrame(complete), quasi, person)
    identifying = [row["column"] for row in rows if row["unique"] == len(table) > 1 and row["role"] == "not used"]
    if identifying:
        checks.append(
            ("direct identifiers", f"{', '.join(identifying)}: every value is unique; do not release", "risk")
        )
    return DataProfile(
        pd.DataFrame(rows), pd.DataFrame(checks, columns=["check", "finding", "verdict"]), len(table), len(complete)
    )


def _record_checks(table: pd.DataFrame, n_complete: int) -> list[tuple[str, str, str]]:
    twins = int(table.duplicated().sum())
    gaps = len(table) - n_complete
    return [
        ("records", f"{len(table)}", "ok"),
        ("repeated records", f"{twins} are equal to an earlier one in every column", "look" if twins else "ok"),
        (
            "complete records",
            f"{n_complete}; {gaps} lack a quasi-identifier or a valid place and are left out below",
            "look" if gaps else "ok",
        ),
    ]


def _class_checks(complete: pd.DataFrame, quasi: Sequence[str], person: str | None) -> list[tuple[str, str, str]]:
    told = reidentification_risk(_one_each(complete, quasi, person)[1].astype(str), list(quasi))
    found = alone_persons(complete, quasi, person)
    alone, n, noun = int(found.sum()), len(found), "records" if person is None else "persons"
    return [
        (
            "uniqueness",
            f"{alone} of {n} {noun} ({alone / n:.1%}) are alone with their {', '.join(quasi)}",
            "risk" if alone / n > 0.05 else "look" if alone else "ok",
        ),
        (
            "classes",
            f"{told.n_classes} combinations; on average {told.prosecutor_mean:.1%} chance to pick the right record",
            "risk" if told.prosecutor_mean > 0.25 else "ok",
        ),
    ]


def _place_checks(data: Any) -> list[tuple[str, str, str]]:
    if hasattr(data, "to_crs"):
        crs = None if data.crs is None else data.crs.to_string()
        kinds = sorted(set(data.geometry.geom_type.dropna()))
        shared = _shared_places(data.geometry.x.to_numpy(), data.geometry.y.to_numpy()) if kinds == ["Point"] else []
        return [
            ("CRS", crs or "none: the file does not say what its coordinates mean", "ok" if crs else "risk"),
            ("geometry", ", ".join(kinds), "ok" if kinds == ["Point"] else "risk"),
            *shared,
        ]
    if not has_places(data):
        return []
    lat, lon = data[LAT].to_numpy(float), data[LON].to_numpy(float)
    missing = int((np.isnan(lat) | np.isnan(lon)).sum())
    out = int(((np.abs(lat) > 90) | (lon < -180) | (lon > 360)).sum())
    zero = int(((lat == 0) & (lon == 0)).sum())
    found = [
        ("coordinates missing", f"{missing} records", "look" if missing else "ok"),
        ("coordinates out of range", f"{out} records", "risk" if out else "ok"),
    ]
    if zero:
        found.append(("coordinates (0, 0)", f"{zero} records lie there: most likely a missing place", "risk"))
    return [*found, *_shared_places(lat, lon)]


def _shared_places(x: np.ndarray, y: np.ndarray) -> list[tuple[str, str, str]]:
    shared = int(pd.DataFrame({"x": x, "y": y}).dropna().duplicated(keep=False).sum())
    return [("shared places", f"{shared} records have the very place of another one", "ok")]
