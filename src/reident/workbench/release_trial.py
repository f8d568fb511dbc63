"""One trial of a map: draw two files, protect one, attack the release, measure what it is still good for.

The intruder knows the method and its parameters, not its random numbers (Kerckhoffs' principle): for places they mask
their own file many times to learn by how much distances deviate; a table's generalised labels they read as the middle
of what each label covers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from reident.methods import Entry, find
from reident.methods.attacks import run_attack
from reident.methods.forms import release as make_release
from reident.methods.forms import tolerance
from reident.methods.outcome import Knowledge, NotApplicable, judge_persons, shares_above
from reident.methods.registering import register
from reident.methods.release import Release
from reident.methods.utilities import measure_utility
from reident.workbench.drawing import Drawn, Intruder, draw_files
from reident.workbench.microdata import Microdata, held, keep

__all__ = ["MEASURES", "attack", "begin_trials", "release_trial"]


def knowledge_in_trial(drawn: Drawn, release: Release) -> Knowledge:
    """Return what the simulated intruder knows: their persons, the method and its parameters, no random numbers."""
    data, known = drawn.data, drawn.known
    original = data.table
    partner = drawn.truth.set_index("known")["release"].reindex(known.index)
    secrets = None if data.sensitive is None else original[data.sensitive].reindex(partner).set_axis(known.index)

    def windows(alpha: float, n_simulations: int, rng: np.random.Generator, rule: str | None) -> dict[str, Any]:
        own = replace(data, table=known)
        return tolerance(own, release, alpha=alpha, n_simulations=n_simulations, rule=rule, rng=rng)

    def again(rng: np.random.Generator, rows: Any = None, network: Any = None) -> Release:
        table = original if rows is None else original.iloc[rows]
        own = replace(data, table=table)
        if network is not None:  # planted nodes have no record
            own = replace(own, table=pd.DataFrame(index=pd.Index(list(network.nodes))), network=network)
        return make_release(own, release.method, release.options, rng=rng)

    return Knowledge(
        known=known,
        quasi=data.quasi,
        truth=release.table.index.get_indexer(partner),
        sensitive=data.sensitive,
        secrets=secrets,
        hierarchies=data.hierarchies,
        network=drawn.network,
        windows=windows if data.kind == "places" else None,
        again=again,
        file=original,
        public=data.public,
        persons=drawn.persons,
        n_persons=max(500, len(known)),
    )


#: What is measured of each attack in each trial; None where it says nothing about the release, and `silent` then tells
#: why. `above_at` is the share of persons above each limit of `LIMITS`, as JSON.
MEASURES = ("risk", "precision", "recall", "claims", "complete", "above", "above_at", "baseline")


def attack(
    entry: Entry,
    settings: Mapping[str, Any],
    release: Release,
    knowledge: Knowledge,
    rng: np.random.Generator,
    limit: float,
) -> tuple[dict[str, Any], pd.DataFrame]:
    """Attack a release; return what `MEASURES` names, and the claims made."""
    own = dict(settings)
    measure = own.pop("measure", "risk")
    found = run_attack(entry.name, release, knowledge, own, rng=rng)
    if found.what == "attribute":  # of persons who are not in the release the trial knows no value
        found = replace(found, claims=found.claims[found.claims["present"].to_numpy(bool)])
    (judged, persons), links = judge_persons(found, limit), found.links
    right = found.claims["right"].to_numpy(float)
    precision = float(right.sum() / len(links)) if len(links) else None
    recall = float(right.sum() / max(1, int(found.claims["present"].sum())))
    told = {
        "precision": precision,
        "recall": recall,
        "claims": float(len(links)),
        "complete": float(found.complete),
        "above": judged["share_above_limit"],
        "above_at": json.dumps(shares_above(persons).round(4).tolist()),
        "baseline": judged["baseline"],
    }
    # Nothing claimed: no claim harms.
    risk = {"risk": judged["risk"], "precision": precision or 0.0, "recall": recall}[measure]
    return {"risk": float(risk), **told}, links


def begin_trials(name: str, data: Microdata, methods: Sequence[Entry]) -> None:
    """Prepare a worker for trials: keep their data under a name, and register the methods of the user's session."""
    keep(name, data)
    for entry in methods:
        register(entry)


def release_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Run one trial with the parameters that `reident.workbench.map_plan.Plan.run` gives.

    Attacks and utilities are lists of ``[name, settings]``. Where an attack says nothing about the releases of a method
    its measures are None.
    """
    data = held(params["data"])
    measures, _ = run_release(data, params, rng)
    return measures


def run_release(
    data: Microdata, params: Mapping[str, Any], rng: np.random.Generator
) -> tuple[dict[str, Any], dict[str, pd.DataFrame]]:
    """Run one trial and return its measures and each attack's links (or breached records)."""
    files_rng, release_rng, *attack_rngs = rng.spawn(2 + len(params["attacks"]))
    drawn = draw_files(data, Intruder(**params["intruder"]), files_rng)
    original = drawn.data.table
    release = make_release(drawn.data, params["method"], params["options"], rng=release_rng)
    measures: dict[str, Any] = {"released_share": len(release.table) / len(original)}
    links: dict[str, pd.DataFrame] = {}
    knowledge = knowledge_in_trial(drawn, release)
    for (name, settings), own in zip(params["attacks"], attack_rngs, strict=True):
        told: dict[str, Any] = {**dict.fromkeys(MEASURES), "silent": None}
        try:
            measured, links[name] = attack(find(name, "attack"), settings, release, knowledge, own, params["limit"])
            told |= measured
        except NotApplicable as why:
            told["silent"] = str(why)
        measures |= {f"{name}_{key}": value for key, value in told.items()}
    for name, settings in params["utilities"]:
        # The domain of the columns is that of all data.
        whole = replace(data, network=drawn.data.network)
        measures[name] = measure_utility(find(name, "metric"), settings, whole, original, release)
    return measures, links
