"""The data sets of the study, their roles, their hierarchies (Table I), and each k-anonymous version, made once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from reident import Hierarchy, KAnonymous, k_anonymise
from reident.data import people
from reident.studies.holohan2017 import CASES

__all__ = ["Case", "anonymous", "case", "choice_of", "hierarchies_for", "hierarchies_of"]

#: Records kept of each data set in the profile "smoke"; None: all.
SMOKE_RECORDS = 1500

#: How the paper's OLA chooses: at most 5 % suppressed, as it says. The loss it does not name: the discernibility of
#: the classes that are kept, one of OLA's own (El Emam et al. 2009), is the only one of those tried (`TRIED_LOSSES`)
#: that gives all of Adult's row of Table IV.
CHOICE: dict[str, Any] = {"suppression_limit": 0.05, "loss": "discernibility", "charge_suppressed": False}


def choice_of(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return how OLA chooses in a setting."""
    return {**CHOICE, **{name: params[name] for name in ("loss", "suppression_limit") if name in params}}


#: Losses, and whether they charge suppressed records, under which Adult's row of Table IV was looked for.
TRIED_LOSSES = [
    (loss, charged)
    for loss in ("precision", "discernibility", "bits", "column_bits", "ncp")
    for charged in (True, False)
]

#: Table I of the paper: alone or in marriage.
_MARITAL = {
    "Married-civ-spouse": "In marriage",
    "Married-AF-spouse": "In marriage",
    "Married-spouse-absent": "In marriage",
    "Never-married": "Alone",
    "Divorced": "Alone",
    "Separated": "Alone",
    "Widowed": "Alone",
}


@dataclass(frozen=True, eq=False)
class Case:
    """A data set and the roles of its columns (Table III)."""

    name: str
    table: pd.DataFrame
    identifier: str
    k_quasi: tuple[str, ...]
    epsilon_quasi: str
    unit: str
    simulated: str  # what of it is simulated, in words for the figures


@lru_cache(maxsize=8)
def case(name: str, seed: int, small: bool = False, spread: float = 1.0) -> Case:
    """Return a data set; the same for the same seed. `spread` is that of heights and weights."""
    rng = np.random.default_rng([seed, CASES.index(name)])
    n = SMOKE_RECORDS if small else None
    if name == "adult":
        quasi: tuple[str, ...] = ("year_of_birth", "sex", "race", "marital_status")
        whole = people.adult_with_height(spread=spread, rng=rng)
        table = whole.head(n) if n else whole
        return Case(name, table, "patient_id", quasi, "height_cm", "cm", "height simulated")
    if name == "florida":
        quasi = ("zip_code", "sex", "year_of_birth", "race")
        table = people.voter_list(name, n, spread=spread, rng=rng)
        return Case(name, table, "voter_id", quasi, "height_cm", "cm", "voter list and height simulated")
    table = people.voter_list(name, n, spread=spread, rng=rng)
    quasi = ("zip_code", "sex", "year_of_birth")
    return Case(name, table, "voter_id", quasi, "weight_kg", "kg", "voter list and weight simulated")


@lru_cache(maxsize=8)
def hierarchies_of(name: str, seed: int, small: bool = False, spread: float = 1.0) -> dict[str, Hierarchy]:
    """Return the hierarchies of Table I, and one of eight levels for the epsilon-quasi-identifier in whole units.

    The paper says that without the epsilon-quasi-identifier the lattice is eight times smaller: hence eight levels;
    their widths (1, 2, 4, ..., 64 units, all) are our choice.
    """
    chosen = case(name, seed, small, spread)
    known = hierarchies_for(chosen.table, chosen.k_quasi)
    whole = sorted(rounded(chosen)[chosen.epsilon_quasi].unique())
    known[chosen.epsilon_quasi] = Hierarchy.from_intervals(whole, [2, 4, 8, 16, 32, 64])
    return known


def hierarchies_for(table: pd.DataFrame, quasi: Sequence[str]) -> dict[str, Hierarchy]:
    """Return the hierarchies of Table I for some columns of a table."""
    made: dict[str, Callable[[Any], Hierarchy]] = {
        "year_of_birth": lambda values: Hierarchy.from_intervals(values, [2, 4, 8], origin=1900),
        "sex": lambda _: Hierarchy([["female", "Person"], ["male", "Person"]]),
        "race": lambda values: Hierarchy([[value, "*"] for value in values]),
        "marital_status": lambda _: Hierarchy.from_mapping(_MARITAL),
        "zip_code": Hierarchy.from_prefixes,
    }
    return {column: made[column](sorted(table[column].unique())) for column in quasi}


def rounded(chosen: Case) -> pd.DataFrame:
    """Return the table with the epsilon-quasi-identifier in whole units, to be used as a k-quasi-identifier."""
    return chosen.table.assign(**{chosen.epsilon_quasi: chosen.table[chosen.epsilon_quasi].round().astype(int)})


@lru_cache(maxsize=64)
def anonymous(
    name: str,
    method: str,
    k: int,
    seed: int,
    small: bool = False,
    spread: float = 1.0,
    *,
    loss: str = "discernibility",
    suppression_limit: float = 0.05,
) -> KAnonymous:
    """Return the k-anonymous version of a data set, by default as `CHOICE` says for OLA."""
    chosen = case(name, seed, small, spread)
    return k_anonymise(
        chosen.table.drop(columns=chosen.identifier),
        chosen.k_quasi,
        hierarchies=hierarchies_of(name, seed, small, spread) if method == "ola" else None,
        k=k,
        method=method,
        **{**CHOICE, "loss": loss, "suppression_limit": suppression_limit},
    )
