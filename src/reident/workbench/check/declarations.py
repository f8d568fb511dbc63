"""Declarations of released columns: each is the original's, called otherwise, new or derived, or it is refused."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from reident.base import ParameterError, check_columns, check_mapping, check_several
from reident.workbench.check.dependence import FEWEST, Features, dependence
from reident.workbench.check.verdict import Verdict, as_option
from reident.workbench.dataset import Dataset
from reident.workbench.microdata import without_geometry
from reident.workbench.readers import geometry_of
from reident.workbench.roles import place_columns, propose

#: Share of distinct values from which independence cannot be shown.
NEAR_UNIQUE = 0.5
#: The word for a near-unique column that was drawn at random.
RANDOM = "random"
#: The name of the original's row numbers among its columns.
_ROW = "the row number"


@dataclass(frozen=True)
class Declarations:
    """Released columns by declaration: the original's name, the word of a new column, derived and undeclared ones."""

    original: dict[Any, Any] = field(default_factory=dict)
    new: dict[Any, str] = field(default_factory=dict)
    derived: list[Any] = field(default_factory=list)
    undeclared: list[Any] = field(default_factory=list)

    def stated(self) -> dict[str, str]:
        """Return the columns that the original lacks, as declared."""
        new = {str(name): f"new: {word}" if word else "new" for name, word in self.new.items()}
        return new | dict.fromkeys(map(str, self.derived), "derived")


def declare(
    cells: pd.DataFrame, dataset: Dataset, called: Any = None, new: Any = (), derived: Any = ()
) -> Declarations:  # fmt: skip
    """Sort released columns by their declaration.

    Raises
    ------
    ParameterError
        If a declaration names a column that one of the tables lacks.
    """
    new = words_of(new)
    derived = check_several(derived, "derived")
    called = check_mapping(called, "called", optional=True)
    for option, names in (("new", new), ("derived", derived), ("called", called.values())):
        check_columns(cells, [*names], option, table_name="release", min_columns=0)
    check_columns(dataset.data, [*called], "called", table_name="original", min_columns=0)
    schema, data = dataset.schema, dataset.data
    new = {name: word for name, word in schema.new.items() if name in cells} | new
    derived = [*(name for name in schema.derived if name in cells), *derived]
    stated = {column.called: name for name, column in schema.columns.items() if column.called}
    stated |= {released: name for name, released in called.items()}
    taken = {*cells.columns, *stated.values()}
    alike = {fold(name): name for name in reversed(data.columns) if name not in taken}  # of several the first
    declared = Declarations()
    for column in cells.columns.drop(geometry_of(cells), errors="ignore"):
        if column in stated:
            declared.original[column] = stated[column]
        elif column in new:
            declared.new[column] = new[column]
        elif column in derived:
            declared.derived.append(column)
        elif column in data or fold(column) in alike:
            declared.original[column] = column if column in data else alike[fold(column)]
        else:
            declared.undeclared.append(column)
    names = list(declared.original.values())
    if twice := [name for name in names if names.count(name) > 1]:
        raise ParameterError(f"`called` must map each column of the original once, got {twice[0]!r} twice")
    return declared


def refuse_identifiers(verdict: Verdict, declared: Declarations, cells: pd.DataFrame, dataset: Dataset) -> None:
    """Refuse released columns that identify persons."""
    for column, name in declared.original.items():
        if _identifies(dataset, name, cells[column]):
            remedy = f"Leave it out; if it was drawn anew at random, say {_random(column)}."
            verdict.refuse(column, f"is the original's {name}, which tells who a record is", remedy)


def words_of(new: Any) -> dict[Any, str]:
    """Return the columns that are declared new, with their word."""
    words = dict(new) if isinstance(new, Mapping) else dict.fromkeys(check_several(new, "new"), "")
    for name, word in words.items():
        if word not in ("", RANDOM):
            raise ParameterError(f"`new` must have the word {RANDOM!r} or none, got {word!r} for {name!r}")
    return words


def _identifies(dataset: Dataset, name: Any, released: pd.Series) -> bool:
    """Tell whether a column identifies: by its stated role, else by the proposed one and the released cells."""
    if role := dataset.schema.columns[name].role:
        return role in ("identifier", "free text")
    near_unique = released.nunique() > NEAR_UNIQUE * len(released)
    return near_unique and propose(dataset.data[[name]])[name][0] in ("identifier", "free text")


def _random(name: Any) -> str:
    """Return the option by which a column is declared as drawn at random."""
    return as_option("new", f"{name}={RANDOM}")


def fold(name: Any) -> str:
    """Return a name without case, accents, blanks and signs."""
    plain = unicodedata.normalize("NFKD", str(name)).casefold()
    return "".join(sign for sign in plain if sign.isalnum()) or str(name)


def refuse_undeclared(
    verdict: Verdict, declared: Declarations, cells: pd.DataFrame, dataset: Dataset, features: Features | None = None
) -> None:
    """Refuse each undeclared column, with the original column on which it depends."""
    places = place_columns(cells) if hasattr(dataset.data, "to_crs") else None
    for name in declared.undeclared:
        if places is not None and name in (places["lat"], places["lon"]):
            remedy = "Release them as the geometry of a file, such as a GeoPackage, or leave them out."
            verdict.refuse(name, "holds places in cells, and the original has a geometry", remedy)
            continue
        depends = "" if features is None else dependence(features, cells[name], learned=False)
        statement = "is undeclared" + (f" and depends on {depends}" if depends else "")
        verdict.refuse(
            name, statement,
            f"Map it with {_as_called(name, depends, dataset.data)}, declare it with "
            f"{as_option('new', name)} if it says nothing of the original, with {as_option('derived', name)} if it is "
            "computed from it, or leave it out.",
        )  # fmt: skip


def _as_called(name: Any, depends: str, original: pd.DataFrame) -> str:
    """Return the option that maps a released column to the original's, by name if it depends on one alone."""
    own = depends.partition(": ")[0]
    known = own in original and own != _ROW
    return as_option("called", f"{own if known else 'ORIGINAL'}={name}", listed=False)


def judge_new(
    verdict: Verdict, cells: pd.DataFrame, new: Mapping[Any, str], features: Features, *, is_list: bool = False
) -> None:
    """Test the columns that are declared new: each must be independent of the original's columns.

    `is_list`: the rows are relations of a network, whose columns cannot be declared otherwise.
    """
    for name, word in new.items():
        column = cells[name]
        depends = dependence(features, column)
        distinct = column.nunique() / max(1, len(column))
        if depends:
            verdict.refuse(
                name, f"is declared new but depends on {depends}",
                "Leave it out." if is_list else f"Map it with {_as_called(name, depends, features.data)}, declare it "
                f"with {as_option('derived', name)}, or leave it out.",
            )  # fmt: skip
        elif distinct > NEAR_UNIQUE and column.nunique() > 2 and word != RANDOM:
            verdict.refuse(
                name, f"is declared new, and {distinct:.0%} of its values are distinct, like a code of persons",
                f"If it was drawn at random, say {_random(name)}: the verdict repeats it. Else leave it out.",
            )  # fmt: skip
        else:
            few = f"; {len(features.rows)} pairs are fewer than {FEWEST}, too few to test it"
            tested = few if len(features.rows) < FEWEST else ", and found to depend on no original column"
            verdict.notes.append(f"{name}: declared new{f' ({word})' if word else ''} by the custodian{tested}.")


def judge_new_together(verdict: Verdict, cells: pd.DataFrame, names: Sequence[Any], original: pd.DataFrame) -> None:
    """Test whether several new columns together tell an original column, as two shares of a value do."""
    if len(names) < 2:
        return
    shares = Features(cells[list(names)], names, verdict.seed)
    for name in original:
        if depends := dependence(shares, original[name], learned=False):
            remedy = "Leave one of them out, or declare them with --derived."
            verdict.refuse(depends, f"are declared new but tell {name} together", remedy)
            return


def placed_columns(declared: Declarations, dataset: Dataset) -> Sequence[Any]:
    """Return the released columns with latitude and longitude, as far as both are released."""
    released = {name: column for column, name in declared.original.items()}
    placed = [released[name] for name in dataset.places or () if name in released]
    return placed if len(placed) == 2 else ()


def with_row_number(data: pd.DataFrame, rows: Any) -> pd.DataFrame:
    """Return the original's records of the true pairs, with their row number as a column."""
    return without_geometry(data).iloc[rows].assign(**{_ROW: np.asarray(rows)})
