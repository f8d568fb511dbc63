"""Simulate a release and an intruder's file, and evaluate the release: one trial of a risk-utility map.

The intruder knows the method and its parameters, not its random numbers (Kerckhoffs' principle): for places they mask
their own file many times to learn by how much distances deviate; generalised labels of a table are read as the middle
of the values that each label covers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from reident.base import IntArray
from reident.data.simulate import overlapping_files
from reident.methods import Entry, find
from reident.methods.forms import release as make_release
from reident.methods.forms import tolerance
from reident.methods.registry import register
from reident.methods.release import Knowledge, Release
from reident.methods.utilities import measure_utility
from reident.networks.graph import Network, network_from_edges
from reident.workbench.evaluate import RiskReport, evaluate
from reident.workbench.microdata import Microdata

__all__ = ["Drawn", "Intruder", "draw_files", "repeat_trial", "risk_trial"]

#: A column that exists only while files are drawn.
_PERSON = "\0whose"


@dataclass(frozen=True)
class Intruder:
    """Sizes of the files of a simulated intruder.

    The intruder knows all of `n_known` persons; a share `overlap` of them is among the `n_released` records.
    """

    n_known: int
    overlap: float
    n_released: int

    @property
    def n_common(self) -> int:
        """Persons in both files."""
        return round(self.overlap * self.n_known)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Both files of a trial; each has ids of its own, in a random order.

    ``data``: the records to be released; ``known``: the persons that the intruder knows, with their sensitive values
    ``secrets``; ``truth``: the true pairs, columns ``release`` and ``known``; ``network``: the relations between the
    known persons, by their rows; ``persons``: the person of each record of either file, by its id.
    """

    data: Microdata
    known: pd.DataFrame
    secrets: pd.Series | None
    truth: pd.DataFrame
    network: Any = None
    persons: pd.Series | None = None


def draw_files(data: Microdata, intruder: Intruder, rng: np.random.Generator) -> Drawn:
    """Draw the records to be released, and the persons that the intruder knows."""
    is_network, together = data.network is not None, data.persons
    table = pd.DataFrame({"row": np.arange(len(data.table))}) if is_network else data.table
    files = overlapping_files(
        table if together is None else table.assign(**{_PERSON: together}), together=together,
        n_original=intruder.n_released, n_known=intruder.n_known, n_common=intruder.n_common, rng=rng,
    )  # fmt: skip
    original, known, truth = files.original, files.known.copy(), files.truth
    if is_network:
        relations = _among(data.network, original["row"].to_numpy(), list(original.index))
        background = _among(data.network, known["row"].to_numpy(), range(len(known)))
        return Drawn(replace(data, table=original[[]], network=relations), known[[]], None, truth, background)
    persons = None if together is None else pd.concat([original.pop(_PERSON), known.pop(_PERSON)])
    secrets = None
    if data.sensitive is not None:
        secrets = known.pop(data.sensitive).astype(object)
        pairs = truth.set_index("known")["release"]
        secrets[pairs.index] = original[data.sensitive].reindex(pairs).to_numpy(object)
    return Drawn(replace(data, table=original, persons=persons), known, secrets, truth, persons=persons)


def _among(network: Any, rows: IntArray, names: Sequence[Any]) -> Network:
    """Return the relations among the nodes of some rows, in their order."""
    place = np.full(network.n_nodes, -1)
    place[rows] = np.arange(len(rows))
    u, v = (place[ends] for ends in network.edges())
    inside = (u >= 0) & (v >= 0)
    return network_from_edges(u[inside], v[inside], len(rows), names)


def _knowledge(files: Drawn, release: Release) -> Knowledge:
    """Return the knowledge of the simulated intruder: persons, the method and its parameters, no random numbers."""
    data, known, original = files.data, files.known, files.data.table
    partner = files.truth.set_index("known")["release"].reindex(known.index)

    def windows(alpha: float, n_simulations: int, rng: np.random.Generator, rule: str | None) -> dict[str, Any]:
        background = replace(data, table=known)
        return tolerance(background, release, alpha=alpha, n_simulations=n_simulations, rule=rule, rng=rng)

    def repeat(rng: np.random.Generator, rows: Any = None) -> Release:
        records = replace(data, table=original if rows is None else original.iloc[rows])
        return make_release(records, release.method, release.options, rng=rng)

    return Knowledge(
        known=known, quasi=data.quasi, truth=release.table.index.get_indexer(partner), sensitive=data.sensitive,
        secrets=files.secrets, hierarchies=data.hierarchies, network=files.network,
        windows=windows if data.kind == "places" else None, repeat=repeat, public=data.public,
        persons=files.persons, n_persons=max(500, len(known)),
        guarded={} if data.guarded is None else {str(data.sensitive): data.guarded},
    )  # fmt: skip


def risk_trial(
    rng: np.random.Generator, *, context: tuple[Microdata, list[Entry]], data: str, intruder: str, method: str,
    options: str, attacks: str, utilities: str, limit: float,
) -> list[dict[str, Any]]:  # fmt: skip
    """Draw two files, release one, evaluate the release, and measure its utility: a trial of `sweep`.

    `context`: the data, and the methods that the user's session registered; `data`: a digest of the data; `intruder`,
    `options`, `attacks`, `utilities`: JSON of the sizes of `Intruder`, of the parameters of the method, and of lists of
    ``[name, settings]``; `method`: a registered anonymiser, or "original".

    Returns
    -------
    list of dict
        One row an attack: ``attack``, ``risk`` (by its option `measure`), ``precision``, ``recall``, ``incomplete``,
        ``above`` (share of persons above the limit), ``baseline``, ``reason`` why it could not be run; ``stream``, the
        seed of the trial's random numbers; one column a utility.
    """
    del data
    records, methods = context
    for entry in methods:
        register(entry)
    stream = int(rng.integers(2**53))
    listed = json.loads(attacks)
    report, utility = repeat_trial(stream, data=records, intruder=intruder, method=method, options=options,
                                   attacks=listed, utilities=json.loads(utilities), limit=limit)  # fmt: skip
    rows = []
    for (name, settings), (_, row) in zip(listed, report.frame.iterrows(), strict=True):
        rates = {key: None if pd.isna(row[key]) else float(row[key]) for key in ("precision", "recall", "baseline")}
        run = row["reason"] == ""
        measure = settings.get("measure", "risk")
        risk = float(row["risk"] if measure == "risk" else np.nan_to_num(float(row[measure]))) if run else None
        rows.append({
            "attack": name, "risk": risk, **rates, "incomplete": 1.0 - float(row["complete"]) if run else None,
            "above": float(row["share_above_limit"]) if run else None, "reason": row["reason"] or None,
            "stream": stream, **utility,
        })  # fmt: skip
    return rows


def repeat_trial(
    stream: int, *, data: Microdata, intruder: str, method: str, options: str, attacks: Sequence[Any],
    utilities: Sequence[Any] = (), limit: float,
) -> tuple[RiskReport, dict[str, float | None]]:  # fmt: skip
    """Run a trial by the seed of its random numbers; return the evaluation of its release, and its utilities."""
    files_rng, release_rng, attacks_rng = np.random.default_rng(stream).spawn(3)
    files = draw_files(data, Intruder(**json.loads(intruder)), files_rng)
    release = make_release(files.data, method, json.loads(options), rng=release_rng)
    report = evaluate(
        release, _knowledge(files, release), limit=limit, seed=int(attacks_rng.integers(2**31)),
        attacks=[{**settings, "name": name} for name, settings in attacks],
    )  # fmt: skip
    whole = replace(data, network=files.data.network)  # the domain of the columns is that of all data
    utility = {
        name: measure_utility(find(name, "metric"), settings, whole, files.data.table, release)
        for name, settings in utilities
    }
    return report, utility
