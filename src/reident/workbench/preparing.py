"""Preparing an assessment: everything about it is checked, and a plan made for each map, before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, ParameterError, check_choice, check_columns, check_mapping, check_real, check_seed
from reident.data.simulate import drawn_together
from reident.methods.given import check_public_used
from reident.networks.files import network_of_table, read_graph
from reident.networks.graph import as_network, by_name
from reident.workbench.files import with_places
from reident.workbench.hierarchies import hierarchies_of
from reident.workbench.making import Roles
from reident.workbench.map_plan import Plan
from reident.workbench.microdata import LAT, LON, has_places, microdata, persons_of
from reident.workbench.opening import OpenedFile
from reident.workbench.planning import plan
from reident.workbench.profiling import DataProfile, complete_records, profile_data
from reident.workbench.recipe import Recipe
from reident.workbench.roles import NO_WEIGHT, UNKNOWN, survey_weights, told_of_persons

__all__ = ["MOST_RECORDS", "Prepared", "arguments_of", "prepare"]

#: Records of each release on the maps, of places (attacked by all their distances) and of tables; the search has all.
MOST_PLACES, MOST_MAPPED = 500, 2000
#: Complete records beyond which an assessment works on a random sample of so many, and says so.
MOST_RECORDS = 20_000


@dataclass(frozen=True, eq=False)
class Prepared:
    """What is assessed: the records with their places, those that are complete, their roles, and a plan a map."""

    data: Any
    complete: Any
    roles: Roles
    profile: DataProfile
    plans: Mapping[str, Plan]
    limit: float


def prepare(
    data: Any,
    *,
    quasi: str | Sequence[str] = (),
    lat: str | None = None,
    lon: str | None = None,
    sensitive: str | Sequence[str] | None = None,
    epsilon_quasi: str | Sequence[str] = (),
    network: Any = None,
    limit: float = 0.25,
    methods: Mapping[str, Sequence[Any]] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    person: str | None = None,
    household: str | None = None,
    weight: str | None = None,
    population: float | None = None,
    n_known: int | None = None,
    overlap: float = 0.5,
    public: Mapping[str, Any] | None = None,
    seed: int = 0,
    **_: Any,
) -> Prepared:
    """Check everything about an assessment before anything runs; takes the arguments of `assess`."""
    limit = check_real(limit, "limit", low=0, high=1)
    check_seed(seed)
    data = with_places(data, lat, lon)
    listed = check_columns(data, quasi, "quasi", table_name="data", min_columns=0)
    noisy = check_columns(data, epsilon_quasi, "epsilon_quasi", table_name="data", min_columns=0)
    listed += [column for column in noisy if column not in listed]
    if named := sorted({LAT, LON} & set(listed)):
        raise ParameterError(
            f"`quasi` must not name {named[0]!r}: columns called {LAT} and {LON} hold places here; rename it in "
            "the file, or give its role place"
        )
    places = has_places(data)
    if not (listed or places or network is not None):
        raise ParameterError(f"`quasi`, `lat` and `lon` or `network` must be given: {UNKNOWN}")
    secret = check_columns(data, [] if sensitive is None else sensitive, "sensitive", table_name="data", min_columns=0)
    secret.sort(key=lambda name: data[name].nunique())
    first = secret[0] if secret else None
    receipt = ""
    if population is not None and weight is None:
        raise ParameterError(NO_WEIGHT)
    if person is not None:
        check_columns(data, [person], "person", table_name="data")
    if weight is not None:
        check_columns(data, [weight], "weight", table_name="data")
        receipt = survey_weights(data[weight], population)[1]
    chosen = check_mapping(methods or {}, "methods")
    for kind in chosen:
        check_choice(kind, "methods", ("places", "table", "network"))
    if network is not None:
        network = read_graph(network) if isinstance(network, str | Path) else as_network(network, "network")
        network = by_name(network)
    trees = hierarchies_of(hierarchies or {}, data)
    roles = Roles(
        listed, noisy, first, household, trees, public or {}, secret[1:], weight, population, receipt, person,
        told_of_persons(pd.DataFrame(data), person),
    )  # fmt: skip
    told = profile_data(data, listed, first, person)
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
    if places:
        plans["places"] = plan(
            microdata(complete, quasi=listed, kind="places", public=public, person=person), chosen.get("places"),
            n_released=MOST_PLACES if n_known is None and len(complete) > 2 * MOST_PLACES else None, **sizes,
        )  # fmt: skip
        plans["places"].check_public(public or {})
    else:
        check_public_used(public or {}, [])
    if listed:
        kept = complete if first is None else complete[complete[first].notna()]
        described = microdata(
            kept,
            quasi=listed,
            sensitive=first,
            kind="table",
            epsilon_quasi=noisy,
            hierarchies=roles.hierarchies,
            person=person,
        )
        n_released = MOST_MAPPED if n_known is None and len(kept) > 2 * MOST_MAPPED else None
        plans["table"] = plan(described, chosen.get("table"), n_released=n_released, **sizes)
    if network is not None:
        plans["network"] = plan(microdata(network, quasi=(), kind="network"), chosen.get("network"), limit=limit)
    return Prepared(data, complete, roles, told, plans, limit)


def _why_few(data: Any, quasi: list[str]) -> str:
    """Say what to do where hardly a record is complete."""
    gaps = data[quasi].isna().sum().sort_values(ascending=False)
    if len(data) < 20 or not gaps.any():
        return (
            "`protect` with a `method` makes a release of so few, and `check` judges it; of fewer than 8 none is made"
        )
    most = ", ".join(f"{name!r} ({count})" for name, count in gaps[gaps > 0].head(3).items())
    return f"of {len(data)}, most are missing in {most}; columns with many gaps can be given the role other"


def arguments_of(opened: OpenedFile, recipe: Recipe) -> tuple[Any, dict[str, Any]]:
    """Return the records of a file and the arguments of `assess` that a recipe says about them."""
    recipe.check_places()
    if recipe.ends:
        network = network_of_table(opened.data, recipe.ends, recipe.file)
        steps = {step["method"]: {"name": step["method"], **(step.get("parameters") or {})} for step in recipe.chain}
        tried = {"network": list(steps.values())} if steps else recipe.tried()
        return persons_of(network), {
            "network": network, "methods": tried, "limit": recipe.limit, "tolerate": recipe.tolerate
        }  # fmt: skip
    data, secret = opened.data, recipe.named("sensitive")
    shapes = recipe.shapes(data)
    if hasattr(data, "to_crs") and data.geometry.name not in recipe.named("place"):
        data = pd.DataFrame(data.drop(columns=data.geometry.name))
    elif shapes:
        name = data.geometry.name
        raise ParameterError(
            f"`{name}` must hold points to be where records are, got {', '.join(shapes)}: the role other leaves it out"
        )
    if recipe.places is not None:
        places = {"crs": None, "impossible": "leave out", **recipe.places}
        data = with_places(data, places["lat"], places["lon"], places["crs"], places["impossible"])
    return data, {
        "quasi": recipe.named("quasi-identifier"),
        "sensitive": secret,
        "chain": recipe.chain,
        "hierarchies": recipe.hierarchies(),
        "missing": recipe.missing_values,
        "person": recipe.first("person"),
        "household": recipe.first("household"),
        "weight": recipe.first("weight"),
        "population": recipe.population if recipe.named("weight") else None,
        "keep": list(recipe.keep),
        "methods": recipe.tried(),
        "limit": recipe.limit,
        "tolerate": recipe.tolerate,
    }
