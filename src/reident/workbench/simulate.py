"""Simulate a release and an intruder's file, and evaluate the release: one trial of a risk-utility map.

The intruder knows the method and its parameters, not its random numbers (Kerckhoffs' principle): for places they mask
their own file many times to learn by how much distances deviate; generalised labels of a table are read as the middle
of the values that each label covers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from reident.data.simulate import overlapping_files
from reident.methods import Entry, find
from reident.methods.forms import release as make_release
from reident.methods.forms import tolerance
from reident.methods.registry import register
from reident.methods.release import Knowledge, Release
from reident.methods.utilities import measure_utility
from reident.networks.graph import reordered
from reident.workbench.evaluate import RiskReport, evaluate
from reident.workbench.microdata import Microdata

#: A column that exists only while files are drawn.
_PERSON = "\0whose"


def draw_files(data: Microdata, sizes: Mapping[str, Any], rng: Generator) -> tuple[Microdata, Knowledge, pd.Series]:
    """Draw the records to be released, and the persons that the intruder knows.

    The intruder knows `n_known` persons; a share `overlap` of them is among the `n_released` records.

    Returns
    -------
    tuple of Microdata, Knowledge and Series
        The records to be released; the intruder's file, its pairs still open; the released record of each known person.
        Records of either file have ids of their own, in a random order.
    """
    table, together, is_network = data.table, data.persons, data.network is not None
    if is_network:
        table = pd.DataFrame({_PERSON: np.arange(len(table))})
    elif together is not None:
        table = table.assign(**{_PERSON: together})
    files = overlapping_files(
        table, together=together, n_original=sizes["n_released"], n_known=sizes["n_known"],
        n_common=round(sizes["overlap"] * sizes["n_known"]), rng=rng,
    )  # fmt: skip
    original, known = files.original, files.known.copy()
    partner = files.truth.set_index("known")["release"].reindex(known.index)
    numbers = [file.pop(_PERSON) for file in (original, known) if _PERSON in file]
    persons, secrets = None, {}
    networks: list[Any] = [None, None]
    if is_network:
        for i, (rows, names) in enumerate(zip(numbers, (list(original.index), range(len(known))), strict=True)):
            place = np.full(len(table), -1)
            place[rows] = np.arange(len(rows))
            networks[i] = reordered(data.network, place, names)
    elif numbers:
        persons = pd.concat(numbers)
    if data.sensitive is not None:
        secret, common = known.pop(data.sensitive).astype(object), partner.dropna()
        secret[common.index] = original[data.sensitive].reindex(common).to_numpy(object)
        secrets[data.sensitive] = secret
    knowledge = Knowledge(
        known=known, quasi=data.quasi, truth=np.full(len(known), -1), sensitive=data.sensitive, secrets=secrets,
        hierarchies=data.hierarchies, network=networks[1], public=data.public, persons=persons,
        n_persons=max(500, len(known)),
        guarded={} if data.guarded is None else {str(data.sensitive): data.guarded},
    )  # fmt: skip
    return replace(data, table=original, network=networks[0], persons=persons), knowledge, partner


def risk_trial(
    rng: Generator, *, context: tuple[Any, list[Entry]], data: str, intruder: str, rule: str, method: str,
    options: str,
) -> list[dict[str, Any]]:  # fmt: skip
    """Draw two files, release one, evaluate the release, and measure its utility: a trial of `sweep`.

    `context`: the plan of the map, and the methods that the user's session registered; `data`, `intruder`, `rule`: the
    plan as text, a digest of its data among it; `method`: a registered anonymiser, or "original"; `options`: JSON of
    its parameters.

    Returns
    -------
    list of dict
        One row an attack: ``attack``, ``risk`` (by its `Entry.measure`), ``precision``, ``recall``, ``incomplete``,
        ``above`` (share of persons above the limit), ``baseline``, ``reason`` why it could not be run; ``stream``, the
        seed of the trial's random numbers; one column a utility.
    """
    del data, intruder, rule
    plan, methods = context
    for entry in methods:
        register(entry)
    stream = int(rng.integers(2**53))
    report, utility = repeat_trial(plan, stream, method, json.loads(options))
    rows = []
    for (name, _), (_, row) in zip(plan.attacks, report.frame.iterrows(), strict=True):
        rates = {key: None if pd.isna(row[key]) else float(row[key]) for key in ("precision", "recall", "baseline")}
        run = row["reason"] == ""
        risk = float(np.nan_to_num(float(row[find(name).measure]))) if run else None
        rows.append({
            "attack": name, "risk": risk, **rates, "incomplete": 1.0 - float(row["complete"]) if run else None,
            "above": float(row["share_above_limit"]) if run else None, "reason": row["reason"] or None,
            "stream": stream, **utility,
        })  # fmt: skip
    return rows


def repeat_trial(
    plan: Any, stream: int, method: str, options: Mapping[str, Any]
) -> tuple[RiskReport, dict[str, float | None]]:
    """Run a trial by the seed of its random numbers; return the evaluation of its release, and its utilities."""
    files_rng, release_rng, attacks_rng = np.random.default_rng(stream).spawn(3)
    records, known, partner = draw_files(plan.data, plan.intruder, files_rng)
    release = make_release(records, method, options, rng=release_rng)

    def windows(alpha: float, n_simulations: int, rng: Generator) -> dict[str, Any]:
        background = replace(records, table=known.known)
        return tolerance(background, release, alpha=alpha, n_simulations=n_simulations, rng=rng)

    def repeat(rng: Generator, rows: Any = None) -> Release:
        part = records if rows is None else replace(records, table=records.table.iloc[rows])
        return make_release(part, release.method, release.options, rng=rng)

    known = replace(
        known, truth=release.table.index.get_indexer(partner), repeat=repeat,
        windows=windows if records.kind == "places" else None,
    )  # fmt: skip
    report = evaluate(
        release, known, limit=plan.limit, seed=int(attacks_rng.integers(2**31)),
        attacks=[{**settings, "name": name} for name, settings in plan.attacks],
    )  # fmt: skip
    whole = replace(plan.data, network=records.network)  # the domain of the columns is that of all data
    utility = {
        name: measure_utility(find(name, "metric"), settings, whole, records.table, release)
        for name, settings in plan.utilities
    }
    return report, utility
