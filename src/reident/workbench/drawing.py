"""The two files that a trial draws from the data of a map: what is released, and what the intruder knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from reident.base import IntArray, ParameterError, check_real
from reident.data.simulate import overlapping_files
from reident.networks.graph import Network, network_from_edges
from reident.workbench.microdata import Microdata

__all__ = ["Drawn", "Intruder", "check_intruder", "draw_files"]

#: A column that is there only while files are drawn.
_WHOSE = "\0whose"


@dataclass(frozen=True)
class Intruder:
    """What the simulated intruder holds.

    Attributes
    ----------
    n_known : int
        Persons whose quasi-identifiers (and places) the intruder knows exactly.
    overlap : float
        The share of them who are in the release.
    n_released : int
        Records of the release on which the attack is run; drawn from the data.
    """

    n_known: int
    overlap: float
    n_released: int

    @property
    def n_common(self) -> int:
        """Persons in both files."""
        return round(self.overlap * self.n_known)


def check_intruder(data: Microdata, n_known: int, overlap: float, n_released: int | None) -> Intruder:
    """Return an intruder whose numbers the data can bear; `n_released` None is as many as there are."""
    overlap = check_real(overlap, "overlap", low=0, high=1, open_low=True)
    if data.known is not None:
        return Intruder(len(data.known), 1.0, min(n_released or len(data.table), len(data.table)))
    common = round(overlap * n_known)
    most = len(data.table) - (n_known - common)
    n_released = most if n_released is None else n_released
    if n_known < 1 or n_released > most or n_released < max(common, 3):
        raise ParameterError(
            f"`n_known` ({n_known}), `overlap` ({overlap:g}) and `n_released` ({n_released}) must fit the data: with "
            f"{len(data.table)} records at most {most} can be released and at least {max(common, 3)} must be"
        )
    return Intruder(n_known, overlap, n_released)


@dataclass(frozen=True, eq=False)
class Drawn:
    """What a trial draws; release and known file have ids of their own, in an order that says nothing.

    Attributes
    ----------
    data : Microdata
        What is to be released.
    known : DataFrame
        The persons that the intruder knows.
    truth : DataFrame
        ``release`` and ``known``: who is who.
    network : Network or None
        The relations between the known persons, by their rows.
    persons : Series or None
        Whose each record of either file is, by its id.
    """

    data: Microdata
    known: pd.DataFrame
    truth: pd.DataFrame
    network: Any = None
    persons: pd.Series | None = None


def draw_files(data: Microdata, intruder: Intruder, rng: np.random.Generator) -> Drawn:
    """Draw what is released and what the intruder knows."""
    if data.network is None:
        whose = None if data.persons is None else data.table.assign(**{_WHOSE: data.persons})
        original, known, truth = _tables(data if whose is None else replace(data, table=whose), intruder, rng)
        if whose is None:
            return Drawn(replace(data, table=original), known, truth)
        persons = pd.concat([original.pop(_WHOSE), known.pop(_WHOSE)])
        return Drawn(replace(data, table=original, persons=persons), known, truth, persons=persons)
    rows = replace(data, table=pd.DataFrame({"row": np.arange(len(data.table))}), known=None, sensitive=None)
    original, known, truth = _tables(rows, intruder, rng)
    relations = _among(data.network, original["row"].to_numpy(), list(original.index))
    told = _among(data.network, known["row"].to_numpy(), range(len(known)))
    return Drawn(replace(data, table=original[[]], network=relations), known[[]], truth, told)


def _among(network: Any, rows: IntArray, names: Sequence[Any]) -> Network:
    """Return the relations among the nodes of some rows, in their order."""
    place = np.full(network.n_nodes, -1)
    place[rows] = np.arange(len(rows))
    u, v = (place[ends] for ends in network.edges())
    there = (u >= 0) & (v >= 0)
    return network_from_edges(u[there], v[there], len(rows), names)


def _tables(
    data: Microdata, intruder: Intruder, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    if data.known is None:
        files = overlapping_files(
            data.table,
            together=data.persons,
            n_original=intruder.n_released,
            n_known=intruder.n_known,
            n_common=intruder.n_common,
            rng=rng,
        )
        seen = files.known.drop(columns=[data.sensitive]) if data.sensitive else files.known
        return files.original, seen, files.truth
    rows = rng.permutation(len(data.table))[: intruder.n_released]
    original = data.table.iloc[rows]
    truth = pd.DataFrame({"label": original.index, "release": [f"r{i}" for i in range(len(rows))]})
    known = data.known.iloc[rng.permutation(len(data.known))]
    names = pd.Series([f"k{i}" for i in range(len(known))], index=known.index)
    truth["known"] = names.reindex(truth["label"]).to_numpy()
    return (
        original.set_axis(pd.Index(truth["release"], name="release")),
        known.set_axis(pd.Index(names, name="known")),
        truth.dropna(subset=["known"])[["release", "known"]].reset_index(drop=True),
    )
