"""One trial of a map: draw two files, protect one, attack the release, measure what it is still good for.

The intruder knows the method and its parameters, not its random numbers (Kerckhoffs' principle): for places they mask
their own file many times to learn by how much distances deviate; a table's generalised labels they read as the middle
of what each label covers.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from reident.errors import ParameterError
from reident.methods import Entry, find
from reident.methods.attacks import run_attack
from reident.methods.forms import release as make_release
from reident.methods.forms import tolerance
from reident.methods.outcome import Knowledge, NotApplicable, judge
from reident.methods.registering import load_registered
from reident.methods.release import Release
from reident.places.distances import great_circle_km
from reident.tables.labels import LabelReader
from reident.workbench.microdata import Intruder, Microdata, draw_files, load_microdata, places_of

__all__ = ["MEASURES", "attack", "numbers_of", "release_trial", "utility"]


def knowledge_in_trial(
    data: Microdata, original: pd.DataFrame, release: Release, known: pd.DataFrame, truth: pd.DataFrame
) -> Knowledge:
    """Return what the simulated intruder knows: their persons, the method and its parameters, no random numbers."""
    partner = truth.set_index("known")["release"].reindex(known.index)
    secrets = None if data.sensitive is None else original[data.sensitive].reindex(partner).set_axis(known.index)

    def windows(alpha: float, n_simulations: int, rng: np.random.Generator, rule: str | None) -> dict[str, Any]:
        own = replace(data, table=known)
        return tolerance(own, release, alpha=alpha, n_simulations=n_simulations, rule=rule, rng=rng)

    def again(rng: np.random.Generator, rows: Any = None, network: Any = None) -> Release:
        table = original if rows is None else original.iloc[rows]
        own = replace(data, table=table, network=data.network if network is None else network)
        if network is not None:  # planted nodes have no record
            own = replace(own, table=pd.DataFrame(index=pd.Index(list(network.nodes))))
        return make_release(own, release.method, release.options, rng=rng)

    return Knowledge(
        known=known,
        quasi=data.quasi,
        truth=release.table.index.get_indexer(partner),
        sensitive=data.sensitive,
        secrets=secrets,
        hierarchies=data.hierarchies,
        network=data.network,
        windows=windows if data.kind == "places" else None,
        again=again,
        n_persons=max(500, len(known)),
    )


#: What is measured of each attack in each trial; None where it says nothing about the release.
MEASURES = ("risk", "precision", "recall", "claims", "complete", "above", "baseline")


def attack(
    entry: Entry,
    settings: Mapping[str, Any],
    release: Release,
    knowledge: Knowledge,
    rng: np.random.Generator,
    limit: float,
) -> tuple[dict[str, float | None], pd.DataFrame]:
    """Attack a release; return what `MEASURES` names, and the claims made."""
    own = dict(settings)
    measure = own.pop("measure", "risk")
    found = run_attack(entry.name, release, knowledge, own, rng=rng)
    if found.what == "attribute":  # of persons who are not in the release the trial knows no value
        found = replace(found, claims=found.claims[found.claims["present"].to_numpy(bool)])
    judged, links = judge(found, limit), found.links
    right = found.claims["right"].to_numpy(float)
    precision = float(right.sum() / len(links)) if len(links) else None
    recall = float(right.sum() / max(1, int(found.claims["present"].sum())))
    told = {
        "precision": precision,
        "recall": recall,
        "claims": float(len(links)),
        "complete": float(found.complete),
        "above": judged["share_above_limit"],
        "baseline": judged["baseline"],
    }
    # Nothing claimed: no claim harms.
    risk = {"risk": judged["risk"], "precision": precision or 0.0, "recall": recall}[measure]
    return {"risk": float(risk), **told}, links


def known_numbers(data: Microdata, known: pd.DataFrame) -> pd.DataFrame:
    """Return a file of exact values as numbers: the numeric columns, and one column of 0 and 1 a category."""
    return numbers_of(data, known)


def numbers_of(data: Microdata, table: pd.DataFrame) -> pd.DataFrame:
    """Return released quasi-identifiers as numbers.

    A generalised number becomes the mean of the values of the original domain that its label covers; a category becomes
    one column for each of its values (the 30 most frequent): the share that it has among the values covered. Who
    reads labels in this way assumes no more about a class than that its values are equally likely.
    """
    parts: dict[str, Any] = {}
    for column in data.quasi:
        values = table[column]
        domain = pd.Index(data.table[column].unique())
        if column in data.numeric and pd.api.types.is_numeric_dtype(values):
            parts[column] = values.to_numpy(np.float64)
            continue
        codes, labels = pd.factorize(values)
        covered = LabelReader(domain, pd.Index(labels), data.hierarchies.get(column)).cover().astype(float)
        shares = covered / np.maximum(covered.sum(axis=0), 1.0)
        if column in data.numeric:
            parts[column] = (shares * domain.to_numpy(np.float64)[:, None]).sum(axis=0)[codes]
        else:
            frequent = data.table[column].value_counts().index[:30]
            for value in frequent:
                parts[f"{column}={value}"] = shares[domain.get_loc(value)][codes]
    return pd.DataFrame(parts, index=table.index)


def utility(
    data: Microdata, entry: Entry, settings: Mapping[str, Any], original: pd.DataFrame, release: Release
) -> float:
    """Measure what a release is still good for; records left out lose their share."""
    arguments = entry.arguments(settings)
    if entry.form == "distance utility":
        kept = original.loc[release.table.index]
        if len(kept) < 3:
            return 0.0
        value = float(entry.function(great_circle_km(*places_of(kept)), release.distances(), **arguments))
        return value * (len(kept) / release.n_original if math.isfinite(value) else 1.0)
    if entry.form != "value utility":
        raise ParameterError(
            f"`utilities` must be measures of utility, got {entry.name!r}, whose form is {entry.form!r}"
        )
    before, after = known_numbers(data, original), numbers_of(data, release.table)
    return float(entry.function(before, after, columns=list(before.columns), **arguments))


def release_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Run one trial with the parameters that `reident.workbench.mapping.Plan.run` gives.

    Attacks and utilities are lists of ``[name, settings]``. Where an attack says nothing about the releases of a method
    its measures are None.
    """
    load_registered(params["folder"])
    data = load_microdata(params["folder"], params["data"])
    measures, _ = run_release(data, params, rng)
    return measures


def run_release(
    data: Microdata, params: Mapping[str, Any], rng: np.random.Generator
) -> tuple[dict[str, Any], dict[str, pd.DataFrame]]:
    """Run one trial and return its measures and each attack's links (or breached records)."""
    files_rng, release_rng, *attack_rngs = rng.spawn(2 + len(params["attacks"]))
    original, known, truth = draw_files(data, Intruder(**params["intruder"]), files_rng)
    method = params["method"]
    release = make_release(replace(data, table=original), method, params["options"], rng=release_rng)
    measures: dict[str, Any] = {"released_share": len(release.table) / len(original)}
    links: dict[str, pd.DataFrame] = {}
    knowledge = knowledge_in_trial(data, original, release, known, truth)
    for (name, settings), own in zip(params["attacks"], attack_rngs, strict=True):
        told: dict[str, float | None] = dict.fromkeys(MEASURES)
        with contextlib.suppress(NotApplicable):
            told, links[name] = attack(find(name, "attack"), settings, release, knowledge, own, params["limit"])
        measures |= {f"{name}_{key}": value for key, value in told.items()}
    for name, settings in params["utilities"]:
        measures[name] = utility(data, find(name, "metric"), settings, original, release)
    return measures, links
