"""Metric. Disclosure by a table of classes: k, l and t.

A *class* is the set of records that agree in every quasi-identifier. A suppressed record, one whose every
quasi-identifier is ``"*"``, belongs to no class and is never scored (`suppressed_label`). A missing value counts as a
value of its own, so two records that lack it agree (``missing="value"``); or such records are left out (``"drop"``), or
refused (``"raise"``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
import pandas as pd

from reident.base import (
    Choice,
    DataError,
    IntArray,
    Real,
    Text,
    check_columns,
    check_mapping,
    check_table,
    checked,
)
from reident.tables._criteria import Runs, levels_of, ordered_codes, sensitive_runs
from reident.tables.classes import (
    check_sensitive,
    encode_column,
    missing_rows,
    suppressed_rows,
    table_classes,
    wildcard_counts,
)

Columns = str | Sequence[str]
Missing = Annotated[str, Choice("value", "drop", "raise")]
Label = Annotated[str | None, Text()]


@checked
def equivalence_classes(
    table: pd.DataFrame,
    quasi: Columns,
    *,
    missing: Missing = "value",
    suppressed_label: Label = "*",
) -> IntArray:
    """Return the class of each record of a table.

    Parameters
    ----------
    table : DataFrame
    quasi : str or sequence of str
        The quasi-identifiers.
    missing : {"value", "drop", "raise"}
        A missing quasi-identifier is a value of its own, a record to leave out, or an error.
    suppressed_label : str or None
        A record that has this label in every quasi-identifier is suppressed and in no class, unless all records are
        so (then the table is fully generalised, one class). None: no record is suppressed.

    Returns
    -------
    ndarray of int64, shape (n,)
        The class of each record, numbered from 0 in order of first appearance; -1 for a record in no class.

    Raises
    ------
    DataError, ParameterError
        If a column is absent, or holds gaps and `missing` is ``"raise"``.

    Examples
    --------
    >>> import pandas as pd
    >>> equivalence_classes(pd.DataFrame({"zip": ["13*", "14*", "13*", "*"]}), "zip")
    array([ 0,  1,  0, -1])
    """
    quasi = check_columns(check_table(table, "table"), quasi, "quasi")
    left_out = suppressed_rows(table, quasi, suppressed_label) | missing_rows(table, quasi, missing)
    if not left_out.any():
        return table_classes(table, quasi)[0]
    ids = np.full(len(table), -1, dtype=np.int64)
    if not left_out.all():
        ids[~left_out] = table_classes(table.loc[~left_out, quasi], quasi)[0]
    return ids


@checked
def k_anonymity(
    table: pd.DataFrame,
    quasi: Columns,
    *,
    missing: Annotated[str, Choice("value", "drop", "raise", "wildcard")] = "value",
    suppressed_label: Label = "*",
) -> int:
    """Return the k for which a table is k-anonymous: the size of its smallest class.

    It does not cover background knowledge and the sensitive values of a class (`l_diversity`, `t_closeness`).

    Parameters
    ----------
    table, quasi, suppressed_label
        As for `equivalence_classes`.
    missing : {"value", "drop", "raise", "wildcard"}
        As there; "wildcard": a gap may be any value, and a record counts all that may agree with it. Such records
        make no classes, hence only this number.

    Returns
    -------
    int
        0 if every record is left out.

    Raises
    ------
    DataError, ParameterError
        If a column is absent, or holds gaps and `missing` is ``"raise"``.

    Examples
    --------
    >>> import pandas as pd
    >>> k_anonymity(pd.DataFrame({"age": [30, 30, 41, 41, 41], "sex": list("mmfff")}), ["age", "sex"])
    2
    """
    if missing == "wildcard":
        quasi = check_columns(check_table(table, "table"), quasi, "quasi")
        released = table.loc[~suppressed_rows(table, quasi, suppressed_label)]
        return int(wildcard_counts(released, quasi, np.ones(len(released)))[0].min()) if len(released) else 0
    ids = equivalence_classes(table, quasi, missing=missing, suppressed_label=suppressed_label)
    ids = ids[ids >= 0]
    return int(np.bincount(ids).min()) if ids.size else 0


def _sensitive_runs(
    table: pd.DataFrame, quasi: Columns, sensitive: Columns, missing: str, suppressed_label: str | None, ordered: bool
) -> list[tuple[Runs, pd.Series]]:
    """Return the runs of each sensitive attribute among the records in classes, and its values there."""
    quasi = check_columns(check_table(table, "table"), quasi, "quasi")
    sensitive = check_sensitive(table, sensitive, quasi)
    ids = equivalence_classes(table, quasi, missing=missing, suppressed_label=suppressed_label)
    is_counted = (ids >= 0) & ~missing_rows(table, sensitive, missing)
    if not is_counted.any():
        raise DataError("`table` must have at least one record in a class: all are suppressed or left out")
    if not is_counted.all():
        table, ids = table.loc[is_counted], pd.factorize(ids[is_counted])[0]
    encode = ordered_codes if ordered else lambda column: encode_column(column)[0]
    return [(sensitive_runs(ids, encode(table[column])), table[column]) for column in sensitive]


@checked
def l_diversity(
    table: pd.DataFrame,
    quasi: Columns,
    sensitive: Columns,
    *,
    kind: Annotated[str, Choice("distinct", "entropy", "recursive")] = "distinct",
    c: Annotated[float, Real(0, open_low=True)] = 3.0,
    missing: Missing = "value",
    suppressed_label: Label = "*",
) -> float:
    """Return the l for which every class is l-diverse.

    It does not cover classes whose values, though different, mean the same (similarity) or are far more frequent than
    in the table (skewness): see `t_closeness`.

    Parameters
    ----------
    table, quasi, missing, suppressed_label
        As for `equivalence_classes`; `missing` holds for the sensitive values too.
    sensitive : str or sequence of str
        The sensitive attribute; for several, the least of their l.
    kind : {"distinct", "entropy", "recursive"}
        The number of distinct values; the exponential of the entropy of the class's distribution, the effective
        number of values (so that the table is entropy l-diverse for every l up to the result); or the largest l
        for which every class is recursive (c, l)-diverse.
    c : float
        Only for ``kind="recursive"``: the most frequent value must occur less often than c times all values from
        the l-th most frequent on together.

    Returns
    -------
    int or float
        An int for "distinct" and "recursive" (0: not even (c, 1)-diverse), a float for "entropy".

    Raises
    ------
    DataError, ParameterError
        If a column is absent, a choice is unknown, or gaps are there and `missing` is ``"raise"``.

    Notes
    -----
    Machanavajjhala et al. (2007), definitions of distinct, entropy and recursive (c, l)-diversity.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"zip": list("aaabbb"), "ill": ["flu", "cold", "cold", "flu", "cold", "gout"]})
    >>> l_diversity(table, "zip", "ill")
    2
    >>> round(l_diversity(table, "zip", "ill", kind="entropy"), 3)
    1.89
    """
    runs = [part for part, _ in _sensitive_runs(table, quasi, sensitive, missing, suppressed_label, ordered=False)]
    if kind == "entropy":
        return min(float(np.exp(part.entropy().min())) for part in runs)
    return min(int((part.distinct() if kind == "distinct" else part.recursive_l(c)).min()) for part in runs)


@checked
def t_closeness(
    table: pd.DataFrame,
    quasi: Columns,
    sensitive: Columns,
    *,
    distance: Annotated[str, Choice("equal", "ordered", "hierarchical")] = "equal",
    hierarchies: Mapping[str, Any] | None = None,
    missing: Missing = "value",
    suppressed_label: Label = "*",
) -> float:
    """Return the t for which a table is t-close: the largest distance of a class from the table's distribution.

    Parameters
    ----------
    table, quasi, sensitive, missing, suppressed_label
        As for `l_diversity`; for several sensitive attributes, the greatest of their t. Suppressed records count in
        no class and not in the table's distribution either: it is that of the released records.
    distance : {"equal", "ordered", "hierarchical"}
        The ground distance of the earth mover's distance: every two values equally far apart (the total variation
        distance), values as far apart as their ranks (an ordered Categorical's order, else the sorted one), or as the
        level on which they get the same label, over the number of levels.
    hierarchies : mapping of str to Hierarchy, optional
        Of the sensitive attributes, for the hierarchical distance.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    DataError, ParameterError
        If a column is absent, a choice is unknown, or gaps are there and `missing` is ``"raise"``.

    Notes
    -----
    Li, Li and Venkatasubramanian (2007), sections 4.1 to 4.3; the hierarchical distance, there a sum over the inner
    nodes of the hierarchy, is the mean of the total variation distances on its levels. The ordered distance of all
    classes takes O(n log m) for m values, not O(classes x m).

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"zip": list("aabb"), "income": [1, 2, 3, 4]})
    >>> t_closeness(table, "zip", "income"), round(t_closeness(table, "zip", "income", distance="ordered"), 3)
    (0.5, 0.333)
    """
    known = check_mapping(hierarchies, "hierarchies", optional=True)
    ordered = distance == "ordered"
    distances = []
    for runs, column in _sensitive_runs(table, quasi, sensitive, missing, suppressed_label, ordered=ordered):
        if distance == "hierarchical":
            name = str(column.name)
            distances.append(runs.hierarchical_distance(levels_of(known.get(name), encode_column(column)[1], name)))
        else:
            distances.append(runs.ordered_distance() if ordered else runs.equal_distance())
    return float(np.max(distances))
