"""One map for any methods, attacks and analyses of the registry."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident._check import check_integer, check_real
from reident._lock import scratch
from reident._types import Parameters
from reident.errors import ParameterError
from reident.methods import Entry, Parameter, entries, find
from reident.methods.forms import NONE, lacking
from reident.methods.registering import save_registered
from reident.places.distances import great_circle_km
from reident.rumap import COLUMNS, NOTHING, ORIGINAL, anchor, ru_frame
from reident.sweep import grid
from reident.workbench.microdata import Intruder, Microdata, check_intruder, forget, hold, microdata, places_of
from reident.workbench.release_trial import release_trial, run_release

__all__ = ["Plan", "claims", "plan", "risk_utility", "worst_attack"]

Spec = str | Mapping[str, Any]

#: What a map tells of a release beside risk and utility.
_TOLD = ["precision", "recall", "incomplete", "above", "baseline"]

#: Vertices of the product graph that an attack by distances is given by default, on average.
_VERTICES = 2500


@dataclass(frozen=True, eq=False)
class Plan:
    """A map to be: data, settings and the intruder, everything checked.

    Attributes
    ----------
    data : Microdata
    settings : list of dict
        One a release: ``method`` and ``options``; the first is the original.
    attacks, utilities : list of [name, settings]
    intruder : Intruder
    varying : mapping of str to list of str
        Method -> the options that vary along its curve.
    left_out : mapping of str to str
        Methods that were not asked for by name and cannot be applied to the data -> why.
    limit : float
        The tolerable risk of a person.
    """

    data: Microdata
    settings: list[dict[str, Any]]
    attacks: list[list[Any]]
    utilities: list[list[Any]]
    intruder: Intruder
    varying: Mapping[str, list[str]]
    left_out: Mapping[str, str] = field(default_factory=dict)
    limit: float = 0.25

    def run(
        self,
        *,
        settings: Sequence[Mapping[str, Any]] | None = None,
        repetitions: int = 10,
        seed: int = 0,
        jobs: int = 1,
        scheduler: str | None = None,
        folder: str | Path | None = None,
        progress: bool = True,
    ) -> pd.DataFrame:
        """Run the trials of all settings, or of some, and return them, one row each."""
        with scratch() as temporary:
            place = Path(folder or temporary).resolve()
            save_registered(place)
            name = hold(self.data)
            try:
                return grid.run(
                    **self._sweep(settings or self.settings, repetitions, seed, place, name),
                    folder=None if folder is None else place / "parts",
                    jobs=jobs,
                    scheduler=scheduler,
                    progress=progress,
                    prepare=(partial(hold, self.data), partial(forget, name)),
                )
            finally:
                forget(name)

    def finished(self, folder: str | Path, *, repetitions: int = 10, seed: int = 0) -> pd.DataFrame:
        """Return the trials that a run in a folder has finished so far, be it in another process."""
        place = Path(folder).resolve()
        planned = self._sweep(self.settings, repetitions, seed, place, self.data.digest())
        return grid.finished(**planned, folder=place / "parts")

    def _sweep(
        self, settings: Sequence[Mapping[str, Any]], repetitions: int, seed: int, place: Path, name: str
    ) -> dict[str, Any]:
        common = {
            "folder": str(place),
            "data": name,
            "attacks": self.attacks,
            "utilities": self.utilities,
            "intruder": asdict(self.intruder),
            "limit": self.limit,
        }
        return {
            "grid": [{**setting, **common} for setting in settings],
            "trial": release_trial,
            "repetitions": repetitions,
            "seed": seed,
            "stem": "risk-utility",
            # The same persons, files and draws for every method: what differs is the method.
            "shared": ("folder", "method", "options", "attacks", "utilities", "limit"),
        }

    def frame(self, trials: pd.DataFrame, *, level: float = 0.9) -> pd.DataFrame:
        """Summarise trials as a risk-utility frame, one panel a pair of attack and utility, with both anchors.

        Besides the frame's usual columns: ``setting`` (JSON of the options), ``precision``, ``recall`` and
        ``incomplete``, the share of repetitions in which a search ended at its limit; ``above``, the mean share of
        persons whose risk is above the limit, ``above_high``, the share that one release in twenty exceeds,
        ``above_at``, that share at each limit of `reident.methods.outcome.LIMITS` (JSON), and ``baseline``, the success
        of guessing.
        """
        parts = [
            self._panel(trials, name, settings, utility, options, level)
            for (name, settings), (utility, options) in itertools.product(self.attacks, self.utilities)
        ]
        parts = [part for part in parts if len(part)] or parts[:1]  # no attack may say anything about any release
        frame = pd.concat(parts, ignore_index=True)
        frame.attrs["left_out"] = dict(self.left_out)
        return frame

    def _panel(
        self, trials: pd.DataFrame, name: str, settings: Parameters, utility: str, options: Parameters, level: float
    ) -> pd.DataFrame:
        measured = trials[trials[f"{name}_risk"].notna() & trials[utility].notna()].copy()
        measured[utility] = measured[utility].astype(float)
        measured["setting"] = [json.dumps(option, sort_keys=True) for option in measured["options"]]
        releases = measured[measured["method"] != NONE]
        if releases.empty:
            return pd.DataFrame(columns=COLUMNS)
        entry = find(name, "attack")
        frame = ru_frame(
            releases,
            method="method",
            parameter="setting",
            risk=f"{name}_risk",
            utility=utility,
            attack=_risk_label(entry, settings),
            analysis=_labelled(find(utility, "metric"), options),
            level=level,
        ).rename(columns={"value": "setting"})
        frame["value"] = [
            _value(self.varying[m], json.loads(o)) for m, o in zip(frame["method"], frame["setting"], strict=True)
        ]
        frame["parameter"] = [", ".join(_with_unit(m, p) for p in self.varying[m]) for m in frame["method"]]
        of = {f"{name}_{key}": key for key in ("precision", "recall", "above", "baseline")}
        means = releases.assign(incomplete=1 - releases[f"{name}_complete"].astype(float)).rename(columns=of)
        grouped = means.astype(dict.fromkeys(of.values(), float)).groupby(["method", "setting"], sort=False)
        told = grouped[_TOLD].mean().assign(above_high=grouped["above"].quantile(0.95))
        told["above_at"] = grouped[f"{name}_above_at"].agg(_at_limits)
        frame = frame.merge(told.reset_index(), on=["method", "setting"], how="left")
        frame = frame[[*COLUMNS, "setting", *_TOLD, "above_high", "above_at"]]
        original = measured[measured["method"] == NONE]
        if len(original):
            risks, above = original[f"{name}_risk"].astype(float), original[f"{name}_above"].astype(float)
            frame = anchor(frame, ORIGINAL, risk=float(risks.mean()), utility=float(original[utility].mean()))
            first = frame["method"] == ORIGINAL
            frame.loc[first, ["above", "above_high"]] = [float(above.mean()), float(above.quantile(0.95))]
        return anchor(frame, NOTHING, risk=0.0, utility=0.0)


def _at_limits(texts: pd.Series) -> str:
    """Return the shares of persons above each limit that one release in twenty exceeds, as JSON."""
    shares = np.quantile([json.loads(text) for text in texts], 0.95, axis=0)
    return json.dumps(shares.round(4).tolist())


def worst_attack(panels: pd.DataFrame) -> pd.DataFrame:
    """Return each release once, under the attack that puts most persons above the limit.

    `above_at` takes the worst attack of each limit.
    """
    order = panels.sort_values(["above_high", "risk"], ascending=False, kind="stable", na_position="last")
    worst = order.drop_duplicates(["method", "value"]).sort_index()
    told = panels[panels["above_at"].notna()].groupby(["method", "value"])["above_at"]
    most = told.agg(lambda texts: json.dumps(np.max([json.loads(text) for text in texts], axis=0).tolist()))
    return worst.drop(columns="above_at").merge(most.reset_index(), on=["method", "value"], how="left")


def _risk_label(entry: Entry, settings: Parameters) -> str:
    measure = {"precision": "precision of its claims", "recall": "persons found (share)", "risk": "success by person"}
    told = measure[settings.get("measure", "risk")]
    return f"{_labelled(entry, {k: v for k, v in settings.items() if k != 'measure'})}, {told}"


def _labelled(entry: Entry, settings: Parameters) -> str:
    defaults = entry.defaults()
    changed = [f"{name} {value}" for name, value in settings.items() if value != defaults[name]]
    return f"{entry.label} ({', '.join(changed)})" if changed else entry.label


def _with_unit(method: str, name: str) -> str:
    unit = find(method).parameter(name).unit
    return name if not unit or name.endswith(("_m", "_km", "_deg")) else f"{name}, {unit}"


def _value(names: list[str], options: Parameters) -> str:
    return ", ".join(f"{v:g}" if isinstance(v := options[name], int | float) else str(v) for name in names)


def _grid(entry: Entry, parameter: Parameter, scale: float, n_released: int) -> list[Any]:
    """Return the values to try: lengths scaled to the data, rounded to one digit; classes no larger than the file."""
    values = parameter.grid or (parameter.start,)
    if parameter.unit in ("records", "nodes"):
        return [value for value in values if value <= n_released] or [n_released]
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


def _expand(
    spec: Spec, role: str, data_kind: str, scale: float = 1.0, n_released: int = 0
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
            parameter.name: _grid(entry, parameter, scale, n_released)
            for parameter in entry.parameters
            if parameter.grid or parameter.start is not None
        }
    lists = {name: list(v) if isinstance(v, list | tuple | np.ndarray | range) else [v] for name, v in given.items()}
    lists = {name: [v.item() if isinstance(v, np.generic) else v for v in values] for name, values in lists.items()}
    settings = [entry.check(dict(zip(lists, values, strict=True))) for values in itertools.product(*lists.values())]
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
    left_out = {} if methods else left_out_methods(data)
    named = methods or [
        one.name for one in entries("anonymiser", data.kind) if one.name not in left_out and not one.costly
    ]
    chosen = [_expand(spec, "anonymiser", data.kind, scale, intruder.n_released) for spec in named]
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


def left_out_methods(data: Microdata) -> dict[str, str]:
    """Return the anonymisers for this kind of data that cannot be applied to these, and why."""
    return {one.name: reason for one in entries("anonymiser", data.kind) if (reason := lacking(one, data))}


def usual(role: str, data: Microdata) -> list[str]:
    """Return the names of the attacks or metrics of a map of such data, if nobody asks for more."""
    return [one.name for one in entries(role) if data.kind in one.usual.split() and one.suits(data)]


def risk_utility(
    data: Any,
    methods: Sequence[Spec] | None = None,
    attacks: Sequence[Spec] | None = None,
    utilities: Sequence[Spec] | None = None,
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | None = None,
    kind: str | None = None,
    n_known: int | None = None,
    overlap: float | None = None,
    n_released: int | None = None,
    limit: float = 0.25,
    known: Any = None,
    area: Any = None,
    hierarchies: Mapping[str, Any] | None = None,
    epsilon_quasi: str | Sequence[str] = (),
    public: Mapping[str, Any] | None = None,
    repetitions: int = 10,
    seed: int = 0,
    jobs: int = 1,
    scheduler: str | None = None,
    folder: str | Path | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Protect data by several methods over a grid, attack every release, and return the points of a map.

    In each repetition persons are drawn from the data into two files: one is released, the other is what the intruder
    knows, and only a stated share of the intruder's persons is in the release. All methods see the same files, and the
    intruder knows the method and its parameters (not its random numbers). What is measured is the success of these
    attacks by this intruder; it is no bound for others.

    Parameters
    ----------
    data : GeoDataFrame, DataFrame or graph
        Points with a CRS, a table with the columns ``lat_deg`` and ``lon_deg``, a table, or a network: whatever
        `as_network` takes.
    methods, attacks, utilities : sequence of str or mapping, optional
        Names in the registry (`reident.methods.methods_table`), or mappings with "name" and a value, for methods also
        a list of values, a parameter: ``{"name": "coordinate_noise", "sigma_deg": [0.01, 0.05]}``. A method that is
        only named is tried over the registry's grid, its lengths scaled to the data. Default: all that fit the data.
        Attacks of any kind of data may be named; a release that offers one no evidence has no point in its panel.
        All take the option ``measure``, what is shown as the risk: "risk" (success by person in the release),
        "precision" (how many claims are right; the default of linkages) or "recall" (how many persons are found). The
        attack by distances takes ``alpha``, the share of deviations it tolerates.
    quasi : str or sequence of str
        The columns that the intruder knows. Places are known in any case.
    sensitive : str, optional
        The column that attacks on classes try to learn.
    kind : {"places", "table", "network", "queries"}, optional
        Default: "places" if the data have them, "network" for a graph. "queries" releases no records of a table but
        answers to counting queries about every two columns; methods for tables may be named beside.
    n_known : int, optional
        Persons that the intruder knows. Default: such that the attack by distances stays searchable, else a quarter
        of the records, at most 500.
    overlap : float, default 0.5
        The share of these persons who are in the release. Of a network all persons and relations are known by default.
    n_released : int, optional
        Records released in each repetition, drawn from the data. Default: all that are not kept for the intruder; for
        the attack by distances such that its product graph has about 2,500 vertices.
    limit : float, default 0.25
        The tolerable risk of a person: the columns ``above`` and ``above_high`` tell the share of persons above it.
    known : GeoDataFrame or DataFrame, optional
        The intruder's real file instead of a simulated one; equal index labels tell who is who.
    area : polygon, optional
        Where reference places of an embedding are drawn. Short for ``public={"area": ...}``.
    hierarchies : mapping of str to Hierarchy, optional
        For generalisation; made automatically by default.
    epsilon_quasi : str or sequence of str
        Numeric quasi-identifiers that "k_epsilon" gives noise instead of generalising them.
    public : mapping of str to object, optional
        What methods need beside the data and is public: "candidates" of a swap, the "area" of an embedding. Where it
        is lacking, a method that is named is an error, and one that is not is left out: see ``attrs["left_out"]``.
    repetitions, seed, jobs, scheduler, folder, progress
        As for `reident.sweep.grid.run`: `folder` keeps finished trials, never the data.

    Returns
    -------
    DataFrame
        As `reident.ru_frame`, one panel a pair of attack and utility, with the anchors "original" and "nothing
        released", and the columns ``setting`` (all options as JSON), ``precision``, ``recall``, ``incomplete``
        (share of repetitions whose search ended at its limit; the risk is then what the best match so far gave),
        ``above`` and ``above_high`` (share of persons above the limit: the mean, and what one release in twenty
        exceeds), ``baseline`` (the success of guessing).
        ``attrs["left_out"]`` tells which methods were left out, and why.

    Raises
    ------
    ParameterError, DataError
        Before anything runs, if a name, a parameter or a column is wrong or the sizes do not fit.

    Notes
    -----
    Duncan, Keller-McNulty and Stokes (2001). For a published map take 30 or more repetitions.
    """
    described = microdata(
        data, quasi=quasi, sensitive=sensitive, kind=kind, area=area, hierarchies=hierarchies, known=known,
        epsilon_quasi=epsilon_quasi, public=public,
    )  # fmt: skip
    made = plan(
        described, methods, attacks, utilities, n_known=n_known, overlap=overlap, n_released=n_released, limit=limit
    )
    trials = made.run(
        repetitions=repetitions, seed=seed, jobs=jobs, scheduler=scheduler, folder=folder, progress=progress
    )
    return made.frame(trials)


def claims(made: Plan, trials: pd.DataFrame, row: int, *, seed: int = 0) -> dict[str, pd.DataFrame]:
    """Run one trial again and return what each attack claimed: links with the column ``right``, or breached records."""
    trial = trials.iloc[row]
    params = {
        "method": trial["method"],
        "options": trial["options"],
        "attacks": made.attacks,
        "utilities": [],
        "intruder": asdict(made.intruder),
        "limit": made.limit,
    }
    return run_release(made.data, params, grid.trial_rng(seed, trial["seed_key"]))[1]
