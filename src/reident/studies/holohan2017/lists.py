"""Table IV on many drawn voter lists: which of its cells are plausible under a stated population."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from reident import k_anonymise, voter_list
from reident.data import papers
from reident.studies.holohan2017.cases import SMOKE_RECORDS, choice_of, hierarchies_for

__all__ = ["POPULATIONS", "lists_trial", "plausible"]

#: How ZIP codes differ: not at all, as people who live among their like, and twice as much.
POPULATIONS: dict[str, Any] = {
    "independent": False,
    "clustered": {"race": 0.25, "age": 0.05, "sex": 0.005},
    "strongly clustered": {"race": 0.5, "age": 0.1, "sex": 0.01},
}

#: Lists below which chance is not judged: of 30 further ones print lies outside all of them once in 15 times.
_FEWEST = 20


def lists_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Draw one list and suppress it as the study's OLA does, for each k.

    `params`: dataset, population, small, ks, loss, suppression_limit.
    """
    n = SMOKE_RECORDS if params["small"] else None
    table = voter_list(params["dataset"], n, clustered=POPULATIONS[params["population"]], rng=rng)
    quasi = [name for name in ("zip_code", "sex", "year_of_birth", "race") if name in table]
    choice = choice_of(params)
    measures: dict[str, Any] = {}
    for k in params["ks"]:
        release = k_anonymise(
            table[quasi], quasi, hierarchies=hierarchies_for(table, quasi), k=k, method="ola", **choice
        )
        measures[f"suppressed_{k}"] = 100 * release.n_suppressed / len(table)
    return measures


_COLUMNS = ["dataset", "population", "k", "published", "least", "median", "greatest", "n_lists", "verdict"]


def plausible(trials: pd.DataFrame | None, ks: list[int], *, small: bool) -> pd.DataFrame:
    """Return one row a cell of Table IV and population: print, and the range of what the lists give, if any."""
    printed = papers.published("holohan2017", "table4").set_index(["dataset", "k"])["suppressed_percent"]
    rows = []
    drawn = () if trials is None else trials.groupby(["dataset", "population"], sort=False)
    for (dataset, population), lists in drawn:
        for k in ks:
            percent, value = lists[f"suppressed_{k}"], printed.get((dataset, k), np.nan)
            inside = percent.min() <= value <= percent.max()
            told = not small and len(lists) >= _FEWEST and np.isfinite(value)
            rows.append(
                {
                    "dataset": dataset,
                    "population": population,
                    "k": k,
                    "published": value,
                    "least": percent.min(),
                    "median": percent.median(),
                    "greatest": percent.max(),
                    "n_lists": len(lists),
                    "verdict": ("plausible" if inside else "implausible") if told else "cannot tell",
                }
            )
    return pd.DataFrame(rows, columns=_COLUMNS)
