"""A map to be: its releases, attacks and analyses; how they are run, and summarised into the points of the map."""

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

from reident._old_sweep import grid
from reident.base import Parameters
from reident.methods import Entry, find
from reident.methods.forms import NONE
from reident.methods.given import check_public_used
from reident.methods.registering import registered
from reident.rumap import COLUMNS, NOTHING, ORIGINAL, anchor, ru_frame
from reident.workbench.drawing import Intruder
from reident.workbench.microdata import Microdata, forget, hold
from reident.workbench.release_trial import begin_trials, release_trial

__all__ = ["Plan", "worst_attack"]

#: What a map tells of a release beside risk and utility.
_TOLD = ["precision", "recall", "incomplete", "above", "baseline"]


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

    def check_public(self, public: Mapping[str, Any]) -> None:
        """Refuse public inputs that none of the methods, attacks and utilities takes."""
        names = [one["method"] for one in self.settings[1:]] + [name for name, _ in (*self.attacks, *self.utilities)]
        check_public_used(public, [find(name) for name in dict.fromkeys(names)])

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
        name = hold(self.data)
        try:
            return grid.run(
                **self._sweep(settings or self.settings, repetitions, seed, name),
                folder=None if folder is None else Path(folder).resolve() / "parts",
                jobs=jobs,
                scheduler=scheduler,
                progress=progress,
                prepare=(partial(begin_trials, name, self.data, registered()), partial(forget, name)),
            )
        finally:
            forget(name)

    def finished(self, folder: str | Path, *, repetitions: int = 10, seed: int = 0) -> pd.DataFrame:
        """Return the trials that a run in a folder has finished so far, be it in another process."""
        planned = self._sweep(self.settings, repetitions, seed, self.data.digest())
        return grid.finished(**planned, folder=Path(folder).resolve() / "parts")

    def _sweep(self, settings: Sequence[Mapping[str, Any]], repetitions: int, seed: int, name: str) -> dict[str, Any]:
        common = {
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
            "shared": ("method", "options", "attacks", "utilities", "limit"),
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
        frame.attrs["left_out"] = {**self.left_out, **self.silent(trials)}
        return frame

    def silent(self, trials: pd.DataFrame) -> dict[str, str]:
        """Return the attacks that say nothing about any release, and why: the reason given most often."""
        releases = trials[trials["method"] != NONE]
        reasons = {name: releases[f"{name}_silent"] for name, _ in self.attacks if len(releases)}
        return {name: why.mode().iloc[0] for name, why in reasons.items() if why.notna().all()}

    def _panel(
        self, trials: pd.DataFrame, name: str, settings: Parameters, utility: str, options: Parameters, level: float
    ) -> pd.DataFrame:
        of = {f"{name}_{key}": key for key in ("precision", "recall", "above", "baseline")}
        columns = ["method", "options", f"{name}_risk", f"{name}_complete", f"{name}_above_at", *of, utility]
        there = trials[f"{name}_risk"].notna() & trials[utility].notna()
        measured = trials.loc[there, columns].astype(dict.fromkeys([*of, utility], float))
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
        means = releases.assign(incomplete=1 - releases[f"{name}_complete"].astype(float)).rename(columns=of)
        grouped = means.groupby(["method", "setting"], sort=False)
        told = grouped[_TOLD].mean().assign(above_high=grouped["above"].quantile(0.95))
        told["above_at"] = grouped[f"{name}_above_at"].agg(_at_limits)
        frame = frame.merge(told.reset_index(), on=["method", "setting"], how="left")
        frame = frame[[*COLUMNS, "setting", *_TOLD, "above_high", "above_at"]]
        original = measured[measured["method"] == NONE]
        if len(original):
            risks, above = original[f"{name}_risk"].astype(float), original[f"{name}_above"]
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
    keys = ["method", "value"]
    order = panels.sort_values(["above_high", "risk"], ascending=False, kind="stable", na_position="last")
    worst = panels[keys].drop_duplicates().merge(order.drop_duplicates(keys), on=keys)  # in the order of the releases
    told = panels[panels["above_at"].notna()].groupby(keys)["above_at"]
    most = told.agg(lambda texts: json.dumps(np.max([json.loads(text) for text in texts], axis=0).tolist()))
    return worst.drop(columns="above_at").merge(most.reset_index(), on=keys, how="left")[panels.columns]


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
