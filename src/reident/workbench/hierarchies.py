"""Make hierarchies of columns: by a file, prefixes, intervals or parts of a date, or by the values alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, ParameterError, check_columns, check_listed, check_real, is_numeric
from reident.tables.hierarchy import Hierarchy
from reident.workbench.numerals import round_up

__all__ = ["automatic_hierarchy", "hierarchies_of", "hierarchy_of", "read_form"]


def hierarchies_of(forms: Mapping[str, Any], table: pd.DataFrame) -> dict[str, Hierarchy]:
    """Return the hierarchy of each named column.

    Raises
    ------
    ParameterError, DataError
        If a column is absent, a form is none, or a hierarchy does not know a value.
    """
    check_columns(table, list(forms), "hierarchies", table_name="data", min_columns=0)
    trees = {name: hierarchy_of(form, table[name]) for name, form in forms.items()}
    for name, tree in trees.items():
        known = table[name].dropna()
        numeric = pd.api.types.is_numeric_dtype(known)
        try:
            tree.rows_of(pd.Index((known if numeric else known.astype(str)).unique()), name)
        except DataError as error:
            raise DataError(f"{error}: add a line for each, its labels from the value to the coarsest") from None
    return trees


def hierarchy_of(form: Any, column: pd.Series) -> Hierarchy:
    """Return the hierarchy that a form gives for the values of a column.

    Parameters
    ----------
    form : Hierarchy, str, path or mapping
        A hierarchy as it is; the path of a CSV in ARX's form (``{"file": path}``); ``"prefixes"``, one character less
        a level; ``{"intervals": [5, 10], "origin": 0}``, widths that nest; ``"date"``, from day to month, year, decade.

    Examples
    --------
    >>> hierarchy_of({"intervals": [10, 20]}, pd.Series([3, 38])).labels_of(38)
    [38, '[30, 40)', '[20, 40)', '*']
    """
    if isinstance(form, Hierarchy):
        return form
    if isinstance(form, str | Path):
        form = {str(form): True} if str(form) in ("prefixes", "date") else {"file": form}
    if not isinstance(form, Mapping) or len(set(form) & {"file", "prefixes", "date", "intervals"}) != 1:
        raise ParameterError(
            f"`hierarchies` must hold a file, prefixes, date or intervals for {column.name!r}, got {form!r}"
        )
    values = pd.unique(column.dropna())
    if "file" in form:
        tree = Hierarchy.from_csv(Path(form["file"]))  # semicolons between the levels, as ARX writes them, or commas
        return Hierarchy.from_csv(Path(form["file"]), sep=",") if tree.n_levels == 1 else tree
    if "prefixes" in form:
        return Hierarchy.from_prefixes(values.tolist())
    if "date" in form:
        return Hierarchy.from_dates(column.dropna().astype(str))
    widths = [check_real(width, "intervals", low=0) for width in check_listed(form["intervals"], "intervals")]
    widths = [int(width) if float(width).is_integer() else width for width in widths]
    return Hierarchy.from_intervals(sorted(values.tolist()), widths, origin=form.get("origin", 0))


def read_form(text: str) -> tuple[str, Any]:
    """Read ``column=form`` of a command line: ``age=5,10,20``, ``zip=prefixes``, ``born=date``, ``job=job.csv``.

    Examples
    --------
    >>> read_form("age=5,10"), read_form("zip=prefixes")
    (('age', {'intervals': [5.0, 10.0]}), ('zip', 'prefixes'))
    """
    column, sign, form = text.rpartition("=")
    if not sign or not form:
        raise ParameterError(f"`--hierarchy` must have the form column=form, got {text!r}")
    try:
        return column, {"intervals": [float(width) for width in form.split(",")]}
    except ValueError:
        return column, form


_DATE = re.compile(r"\d{4}-\d{2}-\d{2}( \d{2}:\d{2}.*)?")
_CODE = re.compile(r"\d{3,}")


def automatic_hierarchy(column: pd.Series) -> Hierarchy:
    """Return a hierarchy for a column: intervals that double in width for numbers, else the value and ``"*"``.

    Dates go from day to month, year and decade; codes of three or more digits lose one from the right a level.

    The narrowest intervals cut the range into about 32 parts; widths are 1, 2 or 5 times a power of ten times a power
    of two. A custodian who knows the subject makes better ones.

    Examples
    --------
    >>> automatic_hierarchy(pd.Series(range(90))).n_levels
    8
    """
    days = pd.api.types.is_datetime64_any_dtype(column)
    values = pd.unique(column.dropna().astype(str) if days else column.dropna())
    if not len(values):
        raise DataError(f"column {column.name!r} must have values, got none")
    numeric = is_numeric(column)
    spread = float(np.ptp(values.astype(float))) if numeric else 0.0
    if not numeric and all(_DATE.fullmatch(str(value)) for value in values):
        return Hierarchy.from_dates(values)
    if not numeric and len({len(str(value)) for value in values}) == 1 and all(_CODE.fullmatch(str(v)) for v in values):
        return Hierarchy.from_prefixes(sorted(str(value) for value in values))
    if spread <= 0:
        return Hierarchy([[value, "*"] for value in sorted(values, key=str)])
    width = round_up(spread / 32)
    widths = [width * 2**level for level in range(6) if width * 2**level < 2 * spread]
    return Hierarchy.from_intervals(sorted(values.tolist()), widths)
