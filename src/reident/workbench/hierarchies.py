"""Hierarchies as a command line or a recipe names them: a file, prefixes, intervals, parts of a date."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from reident.base import DataError, ParameterError, check_columns, check_listed, check_real
from reident.tables.hierarchy import Hierarchy

__all__ = ["hierarchies_of", "hierarchy_of", "read_form"]


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
        found = Hierarchy.from_csv(
            Path(form["file"])
        )  # levels separated by semicolons, as ARX writes them, or by commas
        return Hierarchy.from_csv(Path(form["file"]), sep=",") if found.n_levels == 1 else found
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
