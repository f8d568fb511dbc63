"""Preparing an assessment: everything about it is checked, and a plan made for each map, before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reident.base import DataError, ParameterError, check_choice, check_mapping, check_real, check_seed
from reident.data.simulate import drawn_together
from reident.methods.given import check_public_used
from reident.workbench.dataset import Dataset
from reident.workbench.map_plan import Plan
from reident.workbench.microdata import LAT, LON, microdata
from reident.workbench.planning import plan
from reident.workbench.profiling import DataProfile, complete_records, profile_data
from reident.workbench.roles import UNKNOWN

__all__ = ["MOST_RECORDS", "Prepared", "prepare"]

#: Records of each release on the maps, of places (attacked by all their distances) and of tables; the search has all.
MOST_PLACES, MOST_MAPPED = 500, 2000
#: Complete records beyond which an assessment works on a random sample of so many, and says so.
MOST_RECORDS = 20_000


@dataclass(frozen=True, eq=False)
class Prepared:
    """What is assessed: the data set, its complete records, its profile, and a plan for each map."""

    dataset: Dataset
    complete: Any
    profile: DataProfile
    plans: Mapping[str, Plan]
    limit: float


def prepare(
    dataset: Dataset,
    *,
    limit: float | None = None,
    methods: Mapping[str, Sequence[Any]] | None = None,
    n_known: int | None = None,
    overlap: float = 0.5,
    seed: int = 0,
) -> Prepared:
    """Check everything about an assessment before anything runs."""
    limit = check_real(dataset.limit if limit is None else limit, "limit", low=0, high=1)
    check_seed(seed)
    data, listed = dataset.frame, dataset.quasi
    if named := sorted({LAT, LON} & set(listed)):
        raise ParameterError(
            f"`quasi` must not name {named[0]!r}: columns called {LAT} and {LON} hold places here; rename it in "
            "the file, or give its role place"
        )
    if not (listed or dataset.has_places or dataset.named_network is not None):
        raise ParameterError(f"`quasi`, `lat` and `lon` or `network` must be given: {UNKNOWN}")
    secret, person = dataset.fewest, dataset.schema.single("person")
    first = secret[0] if secret else None
    dataset.weights()  # refuses weights that are none
    chosen = check_mapping(methods or {}, "methods")
    for kind in chosen:
        check_choice(kind, "methods", ("places", "table", "network"))
    profile = profile_data(data, listed, first, person)
    complete = complete_records(data, listed)
    if len(complete) < 20:
        raise DataError(
            "`data` must have at least 20 records with every quasi-identifier and a valid place, got "
            f"{len(complete)}: {_why_few(data, listed)}"
        )
    if len(complete) > MOST_RECORDS:
        whose = None if person is None else complete[person]
        drawn = drawn_together(whose, len(complete), np.random.default_rng(seed))[:MOST_RECORDS]
        complete = complete.iloc[np.sort(drawn)].reset_index(drop=True)
    sizes: dict[str, Any] = {"n_known": n_known, "overlap": overlap, "limit": limit}
    plans: dict[str, Plan] = {}
    if dataset.has_places:
        plans["places"] = plan(
            microdata(complete, quasi=listed, kind="places", public=dataset.public, person=person),
            chosen.get("places"),
            n_released=MOST_PLACES if n_known is None and len(complete) > 2 * MOST_PLACES else None,
            **sizes,
        )
        plans["places"].check_public(dataset.public)
    else:
        check_public_used(dataset.public, [])
    if listed:
        kept = complete if first is None else complete[complete[first].notna()]
        described = microdata(
            kept, quasi=listed, sensitive=first, kind="table", epsilon_quasi=dataset.epsilon_quasi,
            hierarchies=dataset.hierarchies, person=person,
        )  # fmt: skip
        n_released = MOST_MAPPED if n_known is None and len(kept) > 2 * MOST_MAPPED else None
        plans["table"] = plan(described, chosen.get("table"), n_released=n_released, **sizes)
    if dataset.named_network is not None:
        plans["network"] = plan(
            microdata(dataset.named_network, quasi=(), kind="network"), chosen.get("network"), limit=limit
        )
    return Prepared(dataset, complete, profile, plans, limit)


def _why_few(data: Any, quasi: list[str]) -> str:
    """Say what to do where hardly a record is complete."""
    gaps = data[quasi].isna().sum().sort_values(ascending=False)
    if len(data) < 20 or not gaps.any():
        return (
            "`protect` with a `method` makes a release of so few, and `check` judges it; of fewer than 8 none is made"
        )
    most = ", ".join(f"{name!r} ({count})" for name, count in gaps[gaps > 0].head(3).items())
    return f"of {len(data)}, most are missing in {most}; columns with many gaps can be given the role other"
