"""Anonymiser. k-anonymity by generalisation and suppression: optimal in a lattice, or by partitioning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any

import pandas as pd

from reident.base import (
    Choice,
    DataError,
    IntArray,
    Option,
    ParameterError,
    Real,
    Whole,
    check_choice,
    check_columns,
    check_mapping,
    check_positive,
    check_table,
    checked,
)
from reident.tables._criteria import read_criteria
from reident.tables._lattice import SOLUTION_COLUMNS, search
from reident.tables._losses import LOSSES, RELEASED
from reident.tables._mondrian import partition
from reident.tables.hierarchy import Hierarchy

METHODS = ("ola", "optimal", "mondrian", "published")


class Diversity(Option):
    """A kind of l-diversity: by name, or the c of the recursive kind."""

    @property
    def range(self) -> str:
        """The names, and the interval of c."""
        return "distinct, entropy, or c in (0, inf)"

    def check(self, value: Any, name: str) -> str | float:
        """Return the name or c, or raise `ParameterError`."""
        if isinstance(value, str):
            return check_choice(value, name, ("distinct", "entropy"))
        return check_positive(value, name, why='"distinct", "entropy", or c of recursive diversity')

    def read(self, text: str, name: str) -> str | float:
        """Return the value of a typed text."""
        return self.check(float(text) if text.replace(".", "", 1).isdigit() else text, name)


@dataclass(frozen=True, eq=False)
class KAnonymous:
    """A k-anonymous release and how it came about.

    Attributes
    ----------
    table : DataFrame
        The released records: quasi-identifiers generalised, other columns and the index as they were, suppressed
        records left out.
    quasi : tuple of str
    method : str
    k : int
    node : tuple of int or None
        The level of each quasi-identifier, in the order of `quasi`; None for Mondrian, which has no levels.
    loss : float
        The loss that was asked for, in [0, 1].
    loss_name : str
    losses : mapping of str to float
        All losses of this release.
    column_losses : mapping of str to float
        The precision loss of each quasi-identifier among the released records.
    classes : ndarray of int64, shape (n,)
        The class of each original record, from 0; -1 for a suppressed record, which is in no class.
    n_suppressed : int
    solutions : DataFrame
        One row a k-minimal node (it satisfies the criteria and no node below it does), the best first: a level for
        each quasi-identifier, ``total_level``, ``loss``, ``n_suppressed``, ``n_classes``. Empty for Mondrian.
    lattice : DataFrame
        Every node: its levels, ``total_level``, ``satisfies``, ``k_minimal``. Empty for Mondrian.
    n_checked : int
        The nodes whose classes were counted; the others were settled by the order of the lattice.
    """

    table: pd.DataFrame
    quasi: tuple[str, ...]
    method: str
    k: int
    node: tuple[int, ...] | None
    loss: float
    loss_name: str
    losses: Mapping[str, float]
    column_losses: Mapping[str, float]
    classes: IntArray
    n_suppressed: int
    solutions: pd.DataFrame = field(repr=False)
    lattice: pd.DataFrame = field(repr=False)
    n_checked: int

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.classes.max()) + 1


@checked
def k_anonymise(
    table: pd.DataFrame,
    quasi: str | Sequence[str],
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    k: Annotated[int, Whole(1, unit="records")],
    suppression_limit: Annotated[float, Real(0, 1, unit="share of the records")] = 0.05,
    method: Annotated[str, Choice(*METHODS)] = "ola",
    loss: Annotated[str, Choice(*LOSSES, *(RELEASED + loss for loss in LOSSES))] = "precision",
    sensitive: str | None = None,
    ell: Annotated[float | None, Real(1, unit="values")] = None,
    diversity: Annotated[str | float, Diversity()] = "distinct",
    t: Annotated[float | None, Real(0, 1)] = None,
    distance: Annotated[str, Choice("equal", "ordered", "hierarchical")] = "equal",
) -> KAnonymous:
    """Generalise and suppress until every record shares its quasi-identifiers with k - 1 others.

    An intruder who knows the quasi-identifiers of a person finds at least k records that may be theirs. This does not
    hide values that all records of a class share (ask for `ell` or `t`), and releases of one table can be intersected.

    Parameters
    ----------
    table : DataFrame
        The original records. Columns that are neither quasi-identifiers nor removed beforehand are released as they
        are: drop direct identifiers first.
    quasi : str or sequence of str
        The quasi-identifiers. They must not have missing values: give those a label of their own.
    hierarchies : mapping of str to Hierarchy
        One for each quasi-identifier for the lattice methods. Mondrian takes from them only the order in which it
        cuts categories.
    k : int
    suppression_limit : float
        The share of the records that may be suppressed, in [0, 1]; 0 keeps them all. Mondrian never makes use of it.
        Not all records may be: a release is not empty.
    method : {"ola", "optimal", "mondrian", "published"}
        "ola": full-domain generalisation, the best of the k-minimal nodes, as published. "optimal": the best of all
        nodes, which differs where the loss charges suppressed records. "mondrian": local recoding, cuts between
        values. "published": the textbook algorithm, slow, for comparison only: OLA where there is a
        hierarchy for every quasi-identifier, by binary search in sublattices with every node counted over all records
        (the result is that of "ola"), else Mondrian, which cuts at the median or not at all.
    loss : {"precision", "discernibility", "bits", "column_bits", "ncp"}
        The loss that the lattice methods minimise and every method reports (see Notes). A suppressed record costs as
        much as a fully generalised one; with "released_" before the name it is left out of the loss.
    sensitive : str, optional
        The sensitive attribute, for `ell` and `t`.
    ell : float, optional
        Every class is to be l-diverse in the sense of `diversity`.
    diversity : {"distinct", "entropy"} or float
        The kinds of `l_diversity`; a number is the c of recursive (c, l)-diversity.
    t : float, optional
        Every class's distribution of the sensitive attribute is to be within t of that of all released records, by
        the `distance` of `reident.tables.t_closeness`.
    distance : {"equal", "ordered", "hierarchical"}
        "hierarchical" needs a hierarchy of the sensitive attribute too, and a lattice method.

    Returns
    -------
    KAnonymous

    Raises
    ------
    ParameterError
        If a parameter breaks its rule, for example `k` above the number of records, or a hierarchy is lacking.
    DataError
        If a quasi-identifier has missing values, a hierarchy lacks values (it names them), or no generalisation
        satisfies the criteria within the limit.

    Notes
    -----
    Lattice: El Emam et al. (2009) for the objective; the nodes are settled along chains by binary search with
    tagging upwards and downwards, and counted on distinct tuples, rolled up from the nearest node counted before. A
    node satisfies k-anonymity if its classes below k hold at most ``suppression_limit * n`` records; they are
    suppressed. With suppression, entropy and recursive diversity and t-closeness are not monotone: there only k
    prunes and every remaining node is checked. For t-closeness classes are suppressed until all that remain are close
    to the rest. Ties: the smaller loss, then fewer suppressed records, then the smaller total level, then the
    node that comes first.

    Mondrian: LeFevre et al. (2006). The attribute whose values spread widest in the part, relative to the table, is
    cut nearest its median where at least k records remain on both sides; if it cannot be, the next widest. Numbers
    are ordered by value, an ordered Categorical by its order, other values as their hierarchy lists them, else as
    text. A class's label is its range "[17, 25]" of numbers, its run "{Black, White}" of categories in that order
    (beyond 50 of them "{first, ..., last}"). With `ell` or `t` a cut is made only if both sides satisfy them.

    Losses, all in [0, 1]. *precision*: level / (levels - 1), averaged over cells; for Mondrian the range of the class
    over that of the table (Holohan et al. 2017, III-A). *ncp*, normalised certainty penalty: that range for numbers;
    for categories (labels covered - 1) / (labels - 1). *bits*, non-uniform entropy: the share of all bits lost when
    values are known only to be among those covered, so that a column counts by its information. *column_bits*: that
    share in each column, averaged, so that each column counts alike. *discernibility*: the mean of class size / n.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [21, 23, 25, 40, 41, 48], "sex": list("fmffmm"), "ill": list("abcabc")})
    >>> release = k_anonymise(table, ["age", "sex"], k=2, method="mondrian")
    >>> release.table["age"].tolist()
    ['[21, 25]', '[21, 25]', '[21, 25]', '[40, 48]', '[40, 48]', '[40, 48]']
    """
    quasi = check_columns(check_table(table, "table"), quasi, "quasi")
    known = _check_hierarchies(hierarchies, quasi, needed=method in ("ola", "optimal"))
    loss_name = loss.removeprefix(RELEASED)
    criteria = read_criteria(
        table, quasi, k=k, sensitive=sensitive, ell=ell, diversity=diversity, t=t, distance=distance,
        hierarchies=known,
    )  # fmt: skip
    local = method == "mondrian" or (method == "published" and not set(quasi) <= set(known))
    if local and t is not None and distance == "hierarchical":
        raise ParameterError(
            f'`distance` must be "equal" or "ordered" for Mondrian, got {distance!r}: whether a cut keeps it is not '
            "decided; a lattice method can"
        )
    _check_complete(table, quasi)
    made = partial(KAnonymous, quasi=tuple(quasi), method=method, k=k, loss_name=loss)
    if local:
        parts = partition(table, quasi, known, criteria, method=method)
        release = table.copy()
        for column, labels in parts.columns.items():
            release[column] = labels
        return made(
            table=release, node=None, loss=parts.losses[loss_name], losses=parts.losses,
            column_losses=parts.column_losses, classes=parts.classes, n_suppressed=0,
            solutions=pd.DataFrame(columns=[*quasi, *SOLUTION_COLUMNS]),
            lattice=pd.DataFrame(columns=[*quasi, "total_level", "satisfies", "k_minimal"]), n_checked=0,
        )  # fmt: skip
    best = search(
        table, quasi, known, criteria, limit=suppression_limit, loss=loss_name, charge_suppressed=loss == loss_name,
        exact=method == "optimal", published=method == "published",
    )  # fmt: skip
    release = table.loc[best.classes >= 0].copy()
    levels = dict(zip(quasi, best.node, strict=True))
    for column, level in levels.items():
        # Level 0, too: values in several spellings that look the same are released in one.
        release[column] = known[column].generalise(release[column], level)
    return made(
        table=release, node=best.node, loss=best.losses[loss_name], losses=best.losses,
        column_losses={column: level / max(known[column].n_levels - 1, 1) for column, level in levels.items()},
        classes=best.classes, n_suppressed=len(table) - len(release), solutions=best.solutions, lattice=best.lattice,
        n_checked=best.n_checked,
    )  # fmt: skip


def _check_hierarchies(
    hierarchies: Mapping[str, Hierarchy] | None, quasi: list[str], *, needed: bool
) -> Mapping[str, Hierarchy]:
    known = dict(check_mapping(hierarchies, "hierarchies", optional=True))
    lacking = [column for column in quasi if column not in known]
    if needed and lacking:
        raise ParameterError(f"`hierarchies` must have one for every quasi-identifier, got none for {lacking!r}")
    for column, hierarchy in known.items():
        if not isinstance(hierarchy, Hierarchy):
            raise ParameterError(f"`hierarchies` must hold Hierarchy objects, got {hierarchy!r} for {column!r}")
    return known


def _check_complete(table: pd.DataFrame, quasi: list[str]) -> None:
    missing = {column: int(count) for column, count in table[quasi].isna().sum().items() if count}
    if missing:
        raise DataError(
            f"`table` must not have missing quasi-identifiers, got {missing} (column: records): give them a label of "
            "their own, for example table.fillna('?'), or leave the records out"
        )
