"""Risk-utility maps over registered methods: protect data over a grid, evaluate every release, return the points."""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.base import Options, ParameterError, Parameters, check_integer, check_real, check_share
from reident.experiments.sweep import sweep
from reident.methods import Entry, Parameter, entries, find
from reident.methods.forms import NONE, check_public_used, lacking
from reident.methods.registry import registered
from reident.methods.release import places_of
from reident.places.distances import great_circle_km
from reident.rumap import COLUMNS, NOTHING, ORIGINAL, anchor, ru_frame, valued
from reident.workbench.dataset import Dataset
from reident.workbench.making import Step, steps_of
from reident.workbench.microdata import Microdata
from reident.workbench.simulate import repeat_trial, risk_trial

Spec = str | Options

#: Vertices of the product graph of an attack by distances, on average, where no sizes are given.
_VERTICES = 2500
#: Columns of a map beyond those of `ru_frame`: means over the repetitions.
_MEANS = ["precision", "recall", "incomplete", "above", "baseline"]
#: Of the attributes of trials, those that a map keeps.
_ABOUT = ("seed", "versions", "started", "seconds")


def risk_utility(
    data: Any,
    methods: Sequence[Spec] | None = None,
    attacks: Sequence[Spec] | None = None,
    utilities: Sequence[Spec] | None = None,
    *,
    limit: float = 0.25,
    n_known: int | None = None,
    overlap: float | None = None,
    repetitions: int = 10,
    seed: int = 0,
    jobs: int | str = 1,
    cache: str | Path | None = None,
    progress: bool = True,
    **keywords: Any,
) -> pd.DataFrame:
    """Protect data by several methods over a grid, attack every release, and return the points of a map.

    In each repetition persons are drawn from the data into two files: one is released, the other is known to the
    intruder, and only a stated share of the intruder's persons is in the release. All methods see the same files, and
    the intruder knows the method and its parameters (not its random numbers). The risk is the success of these attacks
    by this intruder; it is no bound for others.

    Parameters
    ----------
    data : Dataset, GeoDataFrame, DataFrame or graph
        A data set; or points with a CRS, a table (places in ``lat_deg`` and ``lon_deg``), or a network in any form
        that `as_network` takes, with keywords.
    methods, attacks, utilities : sequence of str or mapping, optional
        Names in the registry (`reident.methods.methods_table`), or mappings with "name" and a value, for methods also
        a list of values, a parameter: ``{"name": "coordinate_noise", "sigma_deg": [0.01, 0.05]}``. A method that is
        only named is tried over the registry's grid, its lengths scaled to the data. Default: all that fit the data.
        The risk of a linkage is the precision of its claims, of any other attack its success by person in the release;
        ``precision`` and ``recall`` of all are columns of the frame.
    limit : float, default 0.25
        Tolerable risk of a person: ``above`` and ``above_high`` are the shares of persons above it.
    n_known : int, optional
        Persons that the intruder knows. Default: such that the attack by distances stays searchable, else a quarter
        of the records, at most 500.
    overlap : float, default 0.5
        The share of these persons who are in the release. Of a network all persons and relations are known by default.
    repetitions, seed : int
        Trials of each release, and the seed of their random numbers.
    jobs : int or str
        Processes, or the address of a running dask scheduler.
    cache : folder, optional
        Finished trials are stored there, never the data: a run that was interrupted goes on.
    progress : bool
    **keywords
        ``quasi``, ``sensitive``, ``person``, ``hierarchies``, ``epsilon_quasi``, ``public`` as for `Dataset`; ``kind``
        ("places", "table" or "network"); ``n_released``, records released in each repetition.

    Returns
    -------
    DataFrame
        As `reident.ru_frame`, one panel a pair of attack and utility, with the anchors "original" and "nothing
        released", and the columns ``setting`` (all options as JSON), ``precision``, ``recall``, ``incomplete`` (share
        of repetitions whose search ended at its limit; the risk is then that of the best match so far), ``above`` and
        ``above_high`` (share of persons above the limit: mean, and exceeded by one release in twenty), ``baseline``
        (success of guessing). ``attrs`` holds ``left_out``, methods and attacks that could not be applied, with
        reasons, and of the run ``seed``, ``versions``, ``started`` and ``seconds``.

    Raises
    ------
    ParameterError, DataError
        Before anything runs, if a name, a parameter or a column is wrong or the sizes do not fit.

    Warns
    -----
    UserWarning
        If an attack that is named does not apply to any release.

    Notes
    -----
    Duncan, Keller-McNulty and Stokes (2001). For a published map take 30 or more repetitions.
    """
    n_released, kind = keywords.pop("n_released", None), keywords.pop("kind", None)
    records = Dataset.of(data, **keywords).records(kind)
    planned = plan(records, methods, attacks, utilities, n_known=n_known, overlap=overlap, n_released=n_released,
                   limit=limit)  # fmt: skip
    names = [s["method"] for s in planned.settings[1:]] + [n for n, _ in (*planned.attacks, *planned.utilities)]
    check_public_used(records.public, [find(name) for name in dict.fromkeys(names)])
    trials = planned.run(repetitions=repetitions, seed=seed, jobs=jobs, cache=cache, progress=progress)
    for name, reason in planned.not_applicable(trials).items() if attacks else ():
        warnings.warn(f"`{name}` does not apply to any of these releases: {reason}", UserWarning, stacklevel=2)
    return planned.frame(trials)


@dataclass(frozen=True, eq=False)
class Plan:
    """Data, releases, attacks and intruder of a map, all checked.

    ``settings``: ``method`` and ``options`` of each release, the original first; ``attacks``, ``utilities``: lists of
    ``[name, settings]``; ``intruder``: the sizes that `draw_files` takes; ``left_out``: methods that cannot be applied
    to the data, with the reason.
    """

    data: Microdata
    settings: list[Parameters]
    attacks: list[list[Any]]
    utilities: list[list[Any]]
    intruder: Options
    left_out: Mapping[str, str] = field(default_factory=dict)
    limit: float = 0.25

    def run(self, *, settings: Sequence[Options] | None = None, jobs: int | str = 1, **options: Any) -> pd.DataFrame:
        """Run the trials of all settings, or of some; one row a trial and attack.

        `jobs` is as for `risk_utility`; `options` (`repetitions`, `seed`, `cache`, `progress`) go to `sweep`.
        """
        rule = json.dumps([self.attacks, self.utilities, self.limit])
        common = {"data": self.data.digest(), "intruder": json.dumps(self.intruder), "rule": rule}
        grid = [
            {**common, "method": setting["method"], "options": json.dumps(setting["options"], sort_keys=True)}
            for setting in settings or self.settings
        ]
        # All methods are compared on the same persons, files and draws.
        shared = ("method", "options", "rule")
        where = {"scheduler": jobs} if isinstance(jobs, str) else {"jobs": jobs}
        return sweep(risk_trial, grid, shared=shared, context=(self, registered()), **where, **options)

    def claims(self, trial: Options) -> pd.DataFrame:
        """Repeat a trial, a row of `run`, and return the claims of its attack, with the column ``right``."""
        attack = [attack for attack in self.attacks if attack[0] == trial["attack"]]
        plan = replace(self, attacks=attack, utilities=[])
        report, _ = repeat_trial(plan, int(trial["stream"]), trial["method"], json.loads(trial["options"]))
        outcome = report.outcomes.get(trial["attack"])
        return pd.DataFrame(columns=["release", "known", "right"]) if outcome is None else outcome.links

    def frame(self, trials: pd.DataFrame) -> pd.DataFrame:
        """Summarise trials as a risk-utility frame, one panel a pair of attack and utility; see `risk_utility`."""
        parts = [self._panel(trials, *attack, *use) for attack, use in itertools.product(self.attacks, self.utilities)]
        parts = [part for part in parts if len(part)] or parts[:1]  # perhaps no attack applies to any release
        frame = pd.concat(parts, ignore_index=True)
        frame.attrs = {name: trials.attrs[name] for name in _ABOUT if name in trials.attrs}
        frame.attrs["left_out"] = {**self.left_out, **self.not_applicable(trials)}
        return frame

    def not_applicable(self, trials: pd.DataFrame) -> dict[str, str]:
        """Return the attacks that could be run on no release, with the most frequent reason."""
        releases = trials[trials["method"] != NONE]
        reasons = {name: releases.loc[releases["attack"] == name, "reason"] for name, _ in self.attacks}
        return {name: why.mode().iloc[0] for name, why in reasons.items() if len(why) and why.notna().all()}

    def _panel(
        self, trials: pd.DataFrame, name: str, settings: Parameters, utility: str, options: Parameters
    ) -> pd.DataFrame:
        measured = trials[(trials["attack"] == name) & trials["risk"].notna() & trials[utility].notna()]
        measured = measured.astype(dict.fromkeys([*_MEANS, "risk", utility], float))
        releases = measured[measured["method"] != NONE]
        if releases.empty:
            return pd.DataFrame(columns=COLUMNS)
        attack = find(name, "attack")
        measure = "precision of its claims" if attack.measure == "precision" else "success by person"
        frame = ru_frame(
            releases, method="method", parameter="options", risk="risk", utility=utility,
            attack=f"{_labelled(attack, settings)}, {measure}", analysis=_labelled(find(utility, "metric"), options),
        ).rename(columns={"label": "setting"})  # fmt: skip
        described = []
        for method, setting in zip(frame["method"], frame["setting"], strict=True):
            names, chosen = self._varying(method), json.loads(setting)
            described.append(valued([chosen[name] for name in names]) | _parameter_and_unit(method, names))
        frame = frame.assign(**pd.DataFrame(described))
        grouped = releases.groupby(["method", "options"], sort=False)
        means = grouped[_MEANS].mean().assign(above_high=grouped["above"].quantile(0.95)).reset_index()
        frame = frame.merge(means.rename(columns={"options": "setting"}), on=["method", "setting"], how="left")
        frame = frame[[*COLUMNS, "setting", *_MEANS, "above_high"]]
        original = measured[measured["method"] == NONE]
        if len(original):
            frame = anchor(frame, ORIGINAL, risk=original["risk"].mean(), utility=original[utility].mean())
            first, above = frame["method"] == ORIGINAL, original["above"]
            frame.loc[first, ["above", "above_high"]] = [above.mean(), above.quantile(0.95)]
        return anchor(frame, NOTHING, risk=0.0, utility=0.0)

    def _varying(self, method: str) -> list[str]:
        """Return the options that vary along a method's curve, else the first that has values to try."""
        every = [setting["options"] for setting in self.settings if setting["method"] == method]
        differ = [name for name in every[0] if len({json.dumps(option[name]) for option in every}) > 1]
        return differ or [p.name for p in find(method).parameters if _values_of(p)][:1]


def _labelled(entry: Entry, settings: Parameters) -> str:
    defaults = entry.defaults()
    changed = [f"{name} {value}" for name, value in settings.items() if value != defaults[name]]
    return f"{entry.label} ({', '.join(changed)})" if changed else entry.label


def with_unit(method: str, name: str) -> str:
    """Return the name of a parameter with its unit, where the name does not say it."""
    unit = find(method).parameter(name).unit
    return name if not unit or name.endswith(("_m", "_km", "_deg")) else f"{name}, {unit}"


def _parameter_and_unit(method: str, names: Sequence[str]) -> dict[str, str]:
    """Return the parameter that varies and its unit; of several their names, each with its unit."""
    if len(names) == 1:
        return {"parameter": names[0], "unit": find(method).parameter(names[0]).unit}
    return {"parameter": ", ".join(with_unit(method, name) for name in names), "unit": ""}


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
    limit = check_share(limit, "limit")
    attacked = [parsed(spec, "attack", data.kind) for spec in attacks or _usual("attack", data)]
    measured = [parsed(spec, "metric", data.kind) for spec in utilities or _usual("metric", data)]
    for role, listed in (("attacks", attacked), ("utilities", measured)):
        names = [entry.name for entry, _ in listed]
        if len(set(names)) < len(names):
            raise ParameterError(f"`{role}` must name each once, got {names}")
    intruder = _intruder(data, n_known, overlap, n_released, [entry for entry, _ in attacked])
    steps, left_out = tried_releases(data, methods, intruder["n_released"])
    pairs = [[[entry.name, entry.check(options)] for entry, options in listed] for listed in (attacked, measured)]
    settings = [{"method": NONE, "options": {}}, *({"method": s.entry.name, "options": s.settings} for s in steps)]
    return Plan(data, settings, pairs[0], pairs[1], intruder, left_out, limit)


def tried_releases(
    data: Microdata, methods: Sequence[Spec] | None, n_released: int
) -> tuple[list[Step], dict[str, str]]:
    """Return the releases to try, and the methods that lack something, with the reason.

    Parameters
    ----------
    data : Microdata
    methods : sequence of str or mapping, optional
        As for `risk_utility`; default all that fit the data and are not costly.
    n_released : int
        Records of a release: no class is larger.
    """
    fitting = entries("anonymiser", data.kind)
    left_out = {} if methods else {method.name: reason for method in fitting if (reason := lacking(method, data))}
    scale, largest = _scale(data), {"records": n_released, "nodes": n_released}
    areas = data.public.get("areas")
    if isinstance(areas, pd.DataFrame) and "population" in areas:
        largest["persons"] = int(pd.to_numeric(areas["population"], errors="coerce").sum())
    steps = []
    for spec in methods or [method.name for method in fitting if method.name not in left_out and not method.costly]:
        entry, values = parsed(spec, "anonymiser", data.kind)
        if reason := lacking(entry, data):
            raise ParameterError(reason)
        listed = values or {p.name: _grid(entry, p, scale, largest) for p in entry.parameters if _values_of(p)}
        steps += [step for step in steps_of({"method": entry.name, "parameters": listed}) if step not in steps]
    return steps, left_out


def _usual(role: str, data: Microdata) -> list[str]:
    """Return the attacks or metrics of a map of such data, where none is named."""
    return [entry.name for entry in entries(role) if data.kind in entry.usual.split() and entry.suits(data)]


def _values_of(parameter: Parameter) -> tuple[Any, ...]:
    """Return the values that the registry tries of a parameter, or its start; none where it has neither."""
    return parameter.grid or (() if parameter.start is None else (parameter.start,))


def _grid(entry: Entry, parameter: Parameter, scale: float, largest: Mapping[str, int]) -> list[Any]:
    """Return the values to try: lengths scaled to the data, rounded to one digit; counts as far as data go."""
    values = _values_of(parameter)
    if parameter.unit in largest:
        return [value for value in values if value <= largest[parameter.unit]] or [largest[parameter.unit]]
    if parameter.unit not in ("m", "km", "degrees") or not entry.scaled:
        return list(values)
    return [float(f"{value * scale:.1g}") for value in values]


def _scale(data: Microdata) -> float:
    """Return the median distance of the records over that of a country, 250 km."""
    if data.kind != "places":
        return 1.0
    sample = data.table.iloc[np.linspace(0, len(data.table) - 1, min(400, len(data.table))).astype(int)]
    distances = great_circle_km(*places_of(sample))
    median = float(np.median(distances[np.triu_indices(len(sample), 1)]))
    return median / 250 if median > 0 else 1.0


def parsed(spec: Spec, role: str, data_kind: str = "") -> tuple[Entry, Parameters]:
    """Return the entry and the values of the parameters that a name, a mapping, or a step of a recipe gives."""
    if isinstance(spec, Mapping) and "method" in spec:
        spec = {"name": spec["method"], **(spec.get("parameters") or {})}
    values = {"name": spec} if isinstance(spec, str) else dict(spec) if isinstance(spec, Mapping) else {}
    if "name" not in values:
        raise ParameterError(f'`{role}s` must hold names or mappings with a "name", got {spec!r}')
    entry = find(values.pop("name"), role)
    if data_kind and role != "attack" and entry.data != data_kind:  # attacks of any kind may be named
        fitting = ", ".join(other.name for other in entries(role, data_kind))
        raise ParameterError(f"`{role}s` must be for {data_kind}, got {entry.name!r}: there are {fitting}")
    return entry, {
        name: value.tolist() if isinstance(value, np.generic | np.ndarray) else value for name, value in values.items()
    }


def _intruder(
    data: Microdata, n_known: int | None, overlap: float, n_released: int | None, attacks: list[Entry]
) -> Parameters:
    """Return the sizes of the files, checked; for the attack by distances small enough that its search ends."""
    n = len(data.table)
    if n_known is not None:
        check_integer(n_known, "n_known", low=1)
    if any(entry.by_pairs for entry in attacks) and (n_released is None or n_known is None):
        labels = data.table[data.quasi].value_counts(normalize=True) if data.quasi else pd.Series([1.0])
        agree = (labels**2).sum()
        if n_released is None:
            n_released = max(8, min(int(np.sqrt(2 * _VERTICES / agree)), 1000, n - (n // 4)))
        n_known = n_known or max(4, min(n_released // 2, int(_VERTICES / agree / n_released)))
    n_known = check_integer(n_known or max(4, min(n // 4, 500)), "n_known", low=1, high=n)
    common = round(overlap * n_known)
    largest, least = n - (n_known - common), max(common, 3)
    n_released = largest if n_released is None else n_released
    if not least <= n_released <= largest:
        raise ParameterError(
            f"`n_known` ({n_known}), `overlap` ({overlap:g}) and `n_released` ({n_released}) must fit the data: with "
            f"{n} records at most {largest} can be released and at least {least} must be"
        )
    return {"n_known": n_known, "overlap": overlap, "n_released": n_released}
