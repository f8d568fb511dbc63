"""Plan a map: what is tried on data where nobody asks for more, and whether all that is asked for fits them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from reident.base import ParameterError, Parameters, check_integer, check_real
from reident.methods import Entry, Parameter, entries, find
from reident.methods.forms import NONE, lacking
from reident.places.distances import great_circle_km
from reident.workbench.drawing import Intruder, check_intruder
from reident.workbench.making import settings_of
from reident.workbench.map_plan import Plan
from reident.workbench.microdata import Microdata, places_of

__all__ = ["Spec", "plan"]

Spec = str | Mapping[str, Any]

#: Vertices of the product graph that an attack by distances is given by default, on average.
_VERTICES = 2500


def _grid(entry: Entry, parameter: Parameter, scale: float, most: Mapping[str, int]) -> list[Any]:
    """Return the values to try: lengths scaled to the data, rounded to one digit; no more of a unit than there are."""
    values = parameter.grid or (parameter.start,)
    if parameter.unit in most:
        return [value for value in values if value <= most[parameter.unit]] or [most[parameter.unit]]
    if parameter.unit not in ("m", "km", "degrees") or not entry.scaled:
        return list(values)
    return [float(f"{value * scale:.1g}") for value in values]


def _scale(data: Microdata) -> float:
    """Return how far apart the records lie, against a country of 250 km median distance."""
    if data.kind != "places":
        return 1.0
    shown = data.table.iloc[np.linspace(0, len(data.table) - 1, min(400, len(data.table))).astype(int)]
    distances = great_circle_km(*places_of(shown))
    median = float(np.median(distances[np.triu_indices(len(shown), 1)]))
    return median / 250 if median > 0 else 1.0


def _most(data: Microdata, n_released: int) -> dict[str, int]:
    """Return how many there are of the units that groups are counted in: records of a file, inhabitants of areas."""
    most = {"records": n_released, "nodes": n_released}
    areas = data.public.get("areas")
    if isinstance(areas, pd.DataFrame) and "population" in areas:
        most["persons"] = int(pd.to_numeric(areas["population"], errors="coerce").sum())
    return most


def _expand(
    spec: Spec, role: str, data_kind: str, scale: float = 1.0, most: Mapping[str, int] | None = None
) -> tuple[Entry, list[Parameters]]:
    """Return an entry and its settings from a name, or a mapping with the name and a value or a list a parameter."""
    if isinstance(spec, str):
        spec = {"name": spec}
    if not isinstance(spec, Mapping) or "name" not in spec:
        raise ParameterError(f'`{role}s` must hold names or mappings with a "name", got {spec!r}')
    entry = find(spec["name"], role)
    # An attack says itself whether it says something about a release.
    if role != "attack" and not entry.fits(data_kind):
        fitting = ", ".join(one.name for one in entries(role, data_kind))
        raise ParameterError(f"`{role}s` must be for {data_kind}, got {entry.name!r}: there are {fitting}")
    given = {name: value for name, value in spec.items() if name != "name"}
    if role == "anonymiser" and not given:
        given = {
            parameter.name: _grid(entry, parameter, scale, most or {})
            for parameter in entry.parameters
            if parameter.grid or parameter.start is not None
        }
    lists = {name: list(v) if isinstance(v, list | tuple | np.ndarray | range) else [v] for name, v in given.items()}
    lists = {name: [v.item() if isinstance(v, np.generic) else v for v in values] for name, values in lists.items()}
    settings = settings_of(entry, lists)
    if role != "anonymiser" and len(settings) > 1:
        raise ParameterError(
            f"`{role}s` must give one value a parameter, got several for {entry.name!r}: name it again"
        )
    return entry, settings


def plan(
    data: Microdata,
    methods: Sequence[Spec] | None = None,
    attacks: Sequence[Spec] | None = None,
    utilities: Sequence[Spec] | None = None,
    *,
    n_known: int | None = None,
    overlap: float | None = None,
    n_released: int | None = None,
    limit: float = 0.25,
) -> Plan:
    """Check everything about a map before anything runs; see `risk_utility` for the parameters."""
    if data.network is not None and n_known is None and overlap is None:  # the worst case: all relations are known
        n_known, overlap = len(data.table), 1.0
    overlap = check_real(0.5 if overlap is None else overlap, "overlap", low=0, high=1, open_low=True)
    limit = check_real(limit, "limit", low=0, high=1)
    scale = _scale(data)
    attacks = list(attacks or usual("attack", data))
    tried = [_expand(spec, "attack", data.kind) for spec in attacks]
    valued = [_expand(spec, "metric", data.kind) for spec in utilities or usual("metric", data)]
    for role, found in (("attacks", tried), ("utilities", valued)):
        names = [entry.name for entry, _ in found]
        if len(set(names)) < len(names):
            raise ParameterError(f"`{role}` must name each once, got {names}")
    intruder = _intruder(data, n_known, overlap, n_released, [entry for entry, _ in tried])
    fitting = entries("anonymiser", data.kind)
    left_out = {} if methods else {one.name: reason for one in fitting if (reason := lacking(one, data))}
    named = methods or [one.name for one in fitting if one.name not in left_out and not one.costly]
    most = _most(data, intruder.n_released)
    chosen = [_expand(spec, "anonymiser", data.kind, scale, most) for spec in named]
    for entry, _ in chosen:
        if reason := lacking(entry, data):
            raise ParameterError(reason)
    settings: list[dict[str, Any]] = [{"method": NONE, "options": {}}]
    varying: dict[str, list[str]] = {}
    for entry, options in chosen:
        own = settings[1:]
        settings += [one for o in options if (one := {"method": entry.name, "options": o}) not in own]
        every = [one["options"] for one in settings if one["method"] == entry.name]
        differ = [name for name in every[0] if len({json.dumps(o[name]) for o in every}) > 1]
        first = [parameter.name for parameter in entry.parameters if parameter.grid or parameter.start is not None]
        varying[entry.name] = differ or first[:1]
    attacked, measured = ([[entry.name, found[0]] for entry, found in several] for several in (tried, valued))
    return Plan(data, settings, attacked, measured, intruder, varying, left_out, limit)


def _intruder(
    data: Microdata, n_known: int | None, overlap: float, n_released: int | None, attacks: list[Entry]
) -> Intruder:
    """Fill in the sizes: for the attack by distances such that its product graph stays small enough to search."""
    n = len(data.table)
    if n_known is not None:
        check_integer(n_known, "n_known", low=1)
    if any(entry.by_pairs for entry in attacks) and (n_released is None or n_known is None):
        labels = data.table[data.quasi].value_counts(normalize=True) if data.quasi else pd.Series([1.0])
        agree = float((labels**2).sum())
        most = int(np.sqrt(2 * _VERTICES / agree))
        if n_released is None:
            n_released = max(8, min(most, 1000, n - (n // 4)))
        n_known = n_known or max(4, min(n_released // 2, int(_VERTICES / agree / n_released)))
    n_known = n_known or max(4, min(n // 4, 500))
    if data.known is None:
        check_integer(n_known, "n_known", low=1, high=n)
    return check_intruder(data, n_known, overlap, n_released)


def usual(role: str, data: Microdata) -> list[str]:
    """Return the names of the attacks or metrics of a map of such data, if nobody asks for more."""
    return [one.name for one in entries(role) if data.kind in one.usual.split() and one.suits(data)]
