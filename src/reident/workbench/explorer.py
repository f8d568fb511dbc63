"""Explore a risk-utility map in the browser: choose, run, look at the claims behind a point."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import ipywidgets as widgets
import numpy as np
import pandas as pd
import traitlets

from reident.base import DataError, Options, ParameterError, Parameters
from reident.methods import entries
from reident.pages import picture
from reident.plotting import new_figure
from reident.plotting.interactive import map_data
from reident.rumap import NOTHING, ORIGINAL
from reident.workbench.check import check
from reident.workbench.controls import WIDE, Page, StoppedError, bold, on_change, spoken
from reident.workbench.dataset import Dataset
from reident.workbench.examples import example_network, example_places, example_table
from reident.workbench.making import Step
from reident.workbench.microdata import LAT, LON, Microdata
from reident.workbench.pipeline import protect
from reident.workbench.ru_map import Plan, plan, with_unit


@dataclass(frozen=True, eq=False)
class Example:
    """Data to choose, the roles of their columns and the sizes of the drawn files: the options of `risk_utility`.

    `code` loads the data as ``data``: the code of a release begins with it.
    """

    data: Any
    roles: Options = field(default_factory=dict)
    sizes: Options = field(default_factory=dict)
    code: str = ""

    @property
    def dataset(self) -> Dataset:
        """The data with their roles."""
        return Dataset(self.data, **self.roles)


def examples() -> dict[str, Example]:
    """Return the data that the explorer offers by itself."""
    employees = {"quasi": ["age", "school", "hours", "pay"], "sensitive": "illness"}
    listed: dict[str, tuple[Any, Parameters, Parameters]] = {
        "persons with places (simulated)": (example_places, {"quasi": ["sex", "age_class"]}, {}),
        "employees, a table (simulated)": (example_table, employees, {"n_known": 100}),
        "friendships, a network (simulated)": (example_network, {}, {}),
    }
    load = "from reident.workbench.examples import {0}\n\ndata = {0}(rng=0)"
    return {
        title: Example(draw(rng=0), roles, sizes, load.format(draw.__name__))
        for title, (draw, roles, sizes) in listed.items()
    }


class Explorer(Page):
    """Widgets over a risk-utility map.

    Choose data, methods and the values of each method's parameter, an attack and a use of the data, and run: the map
    fills while results arrive, and moving its limit moves the advice. A click on a release shows the claims of the
    intruder, the code that makes and checks such a release, and on demand the judgement of `check`: every attack, all
    persons. `risk_utility` and `check` give the same.

    Parameters
    ----------
    data : mapping of str to Example, optional
        Default: `examples`.
    repetitions, seed, jobs : int

    Examples
    --------
    >>> explorer = Explorer(repetitions=2)
    >>> explorer.kind
    'places'
    """

    def __init__(
        self, data: Mapping[str, Example] | None = None, *, repetitions: int = 5, seed: int = 0, jobs: int = 1
    ) -> None:
        super().__init__()
        self.offered = dict(data) if data is not None else examples()
        if not self.offered:
            raise ParameterError("`data` must offer at least one data set, got none")
        self.seed, self.jobs = seed, jobs
        self.plan: Plan | None = None
        self.trials = pd.DataFrame()
        self.data = widgets.Dropdown(options=list(self.offered), description="data", **WIDE)
        self.methods, self.ranges = widgets.SelectMultiple(description="methods", rows=8, **WIDE), widgets.VBox()
        self._values: dict[str, tuple[str, widgets.SelectMultiple]] = {}
        self.attack = widgets.Dropdown(description="attack", **WIDE)
        self.utility = widgets.Dropdown(description="use", **WIDE)
        self.repetitions = widgets.IntSlider(repetitions, 1, 30, description="repetitions", **WIDE)
        self.button = widgets.Button(description="Draw the map", button_style="primary")
        self.check_button = widgets.Button(description="Check it by every attack", layout={"width": "auto"})
        self.behind = widgets.HTML()
        traitlets.link((self.limit, "value"), (self.map, "limit"))
        on_change(self._offer, self.data)
        on_change(self._choose, self.methods)
        on_change(self._forget, self.repetitions)
        on_change(self.draw, self.tolerate, self.attack, self.utility)
        on_change(self.show, self.limit)
        self.map.observe(lambda _: self.show(), "release")
        self.button.on_click(lambda _: self.run(wait=False))
        self.check_button.on_click(lambda _: self.check())
        self._offer()
        results = widgets.VBox(
            [self.map, self.state, self.check_button, self.verdict, self.behind],
            layout={"flex": "3 1 24rem", "min_width": "0"},
        )
        controls = widgets.VBox(
            [self.data, self.methods, self.ranges, self.repetitions, widgets.HBox([self.button, self.stop]),
             self.attack, self.utility, self.limit, self.tolerate],
            layout={"flex": "1 1 20rem", "min_width": "0"},
        )  # fmt: skip
        unseen = spoken(self.state, self.verdict)
        self.widget = widgets.HBox([results, controls, unseen], layout={"flex_flow": "row wrap"})

    @property
    def _example(self) -> Example:
        return self.offered[self.data.value]

    @property
    def kind(self) -> str:
        """The chosen kind of data: "places", "table" or "network"."""
        return self._microdata().kind

    # -- choices -------------------------------------------------------------------------------------------------

    def _microdata(self) -> Microdata:
        return self._example.dataset.records()

    def _offer(self) -> None:
        """Offer methods, attacks and uses that fit the chosen data."""
        data = self._microdata()
        for control, role in ((self.attack, "attack"), (self.utility, "metric")):
            fitting = [entry for entry in entries(role, data.kind) if entry.suits(data) and not entry.costly]
            control.options = [(entry.label, entry.name) for entry in fitting]
            control.value = control.options[0][1]
        every = plan(data, **self._example.sizes)
        fitting = [entry for entry in entries("anonymiser", data.kind) if entry.name not in every.left_out]
        self._values = {}
        for entry in fitting:
            tried = [setting["options"] for setting in every.settings if setting["method"] == entry.name]
            numbers = [p.name for p in entry.parameters if tried and isinstance(tried[0][p.name], int | float)]
            name = next((name for name in numbers if len({options[name] for options in tried}) > 1), None)
            if name is not None:
                values = sorted({options[name] for options in tried})
                control = widgets.SelectMultiple(
                    options=[(f"{value:g}", value) for value in values], value=values, rows=min(len(values), 6),
                    description=f"{entry.label}: {with_unit(entry.name, name)}",
                    style={"description_width": "initial"},
                    layout={"width": "100%", "max_width": "30rem", "flex_flow": "row wrap", "height": "auto"},
                )  # fmt: skip
                on_change(self._forget, control)
                self._values[entry.name] = name, control
        self.methods.options = [(entry.label, entry.name) for entry in fitting]
        self.methods.value = tuple(entry.name for entry in fitting[:2])
        self._choose()
        reasons = "; ".join(f"{name}: {why}" for name, why in every.left_out.items())
        self.state.value = "Choose, then draw the map." + (f" Left out: {html.escape(reasons)}" if reasons else "")

    def _choose(self) -> None:
        """Show the values of the chosen methods' parameters."""
        self.ranges.children = tuple(self._values[name][1] for name in self.methods.value if name in self._values)
        self._forget()

    def specs(self) -> list[Parameters]:
        """Return the chosen methods and values, as `risk_utility` takes them."""
        chosen = {method: {name: list(c.value)} for method, (name, c) in self._values.items() if c.value}
        return [{"name": method, **chosen.get(method, {})} for method in self.methods.value]

    def _forget(self) -> None:
        """Stop the run and remove results of other choices."""
        self.cancel()
        self.plan, self.trials = None, pd.DataFrame()
        self.map.release = []
        self.draw()

    # -- results -------------------------------------------------------------------------------------------------

    def run(self, *, wait: bool = True) -> None:
        """Run the chosen releases one after the other; the map fills while they end."""
        if not self.is_busy:
            self._forget()
            self.start(self._work, wait=wait)

    def _work(self) -> None:
        offered = ([value for _, value in control.options] for control in (self.attack, self.utility))
        times, limit = self.repetitions.value, self.limit.value
        planned = self.plan = plan(self._microdata(), self.specs(), *offered, limit=limit, **self._example.sizes)
        n = len(planned.settings)
        for number, setting in enumerate(planned.settings, start=1):
            part = planned.run(settings=[setting], repetitions=times, seed=self.seed, jobs=self.jobs, progress=False)
            if self._stopped:
                raise StoppedError(f"Stopped after {number - 1} of {n} releases.")
            self.trials = pd.concat([self.trials, part], ignore_index=True)
            self.state.value = f"{number} of {n} releases, {times} times each"
            if number > 1:
                self.draw()

    @property
    def frame(self) -> pd.DataFrame:
        """The map by every attack and every use, of the releases that have been run."""
        return pd.DataFrame() if self.plan is None or self.trials.empty else self.plan.frame(self.trials)

    def panel(self) -> pd.DataFrame:
        """Return the rows of the chosen attack and use."""
        if self.plan is None or self.trials.empty:
            return pd.DataFrame()
        attacks = [option for option in self.plan.attacks if option[0] == self.attack.value]
        utilities = [option for option in self.plan.utilities if option[0] == self.utility.value]
        return replace(self.plan, attacks=attacks, utilities=utilities).frame(self.trials)

    def draw(self) -> None:
        """Draw the chosen panel; its releases carry their code."""
        panel = self.panel()
        releases = panel if panel.empty else panel[~panel["method"].isin([ORIGINAL, NOTHING])]
        codes = {(r.method, r.label): self.code(r.method, json.loads(r.setting)) for r in releases.itertuples()}
        self.map.data = map_data(panel, limit=self.limit.value, codes=codes) if codes else {}
        self.show()

    def code(self, method: str, options: Options) -> str:
        """Return the code that makes a release of the chosen data, and checks it; it runs as it stands."""
        load = self._example.code or f"data = explorer.offered[{self.data.value!r}].data"
        roles = "".join(f", {name}={value!r}" for name, value in self._example.roles.items())
        settings = "".join(f", {name}={value!r}" for name, value in options.items() if value is not None)
        return (
            f"import reident as rd\n{load}\n"
            f"data = rd.Dataset(data{roles})\n"
            f"release = rd.protect(data, rd.Step({method!r}{settings}))\n"
            'release.save("release")\n'
            f"verdict = rd.check(release, data, limit={self.limit.value:g}, tolerate={self.tolerate.value:g})\n"
            "print(verdict.sentence)"
        )

    def _chosen(self) -> pd.Series | None:
        """Return the first trial of the release that was clicked."""
        method, label = self.map.release or ("", "")
        panel = self.panel()
        if panel.empty:
            return None
        setting = panel.loc[(panel["method"] == method) & (panel["label"] == label), "setting"]
        trials = self.trials[self.trials["attack"] == self.attack.value]
        trials = trials[(trials["method"] == method) & trials["options"].isin(setting[:1])]
        return None if trials.empty else trials.iloc[0]

    def show(self) -> None:
        """Show the claims of the intruder in the first repetition of the chosen release."""
        trial = self._chosen()
        self.verdict.value = self.behind.value = ""
        self.check_button.disabled = trial is None
        self.button.disabled, self.stop.disabled = self.is_busy, not self.is_busy
        silent = self.plan.not_applicable(self.trials) if self.plan is not None and len(self.trials) else {}
        if why := silent.get(self.attack.value):
            self.behind.value = f"<p>This attack says nothing about any of these releases: {html.escape(why)}.</p>"
        if trial is None or self.plan is None or self.is_busy:
            return
        claimed = self.plan.claims(trial)
        if claimed.empty:
            why = trial["reason"]
            text = f"This attack does not apply to this release: {why}." if why else "There are no claims."
            self.behind.value = f"<p>{html.escape(text)}</p>"
            return
        text = f"<p>First repetition, {len(claimed)} claims, the first 8:</p>{claimed.head(8).to_html(border=0)}"
        self.behind.value = text + self._drawn(claimed)

    def _drawn(self, claimed: pd.DataFrame) -> str:
        """Draw right and wrong matches on a map of the places."""
        assert self.plan is not None
        table = self.plan.data.table
        if self.kind != "places" or not set(claimed["known"]) | set(claimed["release"]) <= set(table.index):
            return ""
        figure, ax = new_figure(size=(4.6, 4.6))
        persons, records = (table.loc[claimed[name], [LON, LAT]].to_numpy(float) for name in ("known", "release"))
        right = claimed["right"].to_numpy(float) >= 0.5
        ax.plot(*table[[LON, LAT]].to_numpy(float).T, ".", color="0.85", markersize=3, label="all persons")
        ax.plot(
            *np.stack([persons[~right], records[~right]]).transpose(2, 0, 1), "-", color="tab:orange", linewidth=0.8
        )
        ax.plot(*persons[right].T, "o", markersize=4, label=f"found: {right.sum()}")
        ax.plot([], [], "-", color="tab:orange", label=f"mistaken for another: {(~right).sum()}")
        ax.set(xlabel="longitude (degrees)", ylabel="latitude (degrees)")
        ax.legend()
        return f'<img alt="persons that the attack finds" src="{picture(figure, dpi=90)}">'

    def check(self) -> None:
        """Judge the chosen release as `check` judges it, drawn once from all records."""
        trial = self._chosen()
        if trial is None or self.is_busy:
            return
        self.verdict.value = "Every attack that applies is running."
        rule = {"limit": self.limit.value, "tolerate": self.tolerate.value, "seed": self.seed}
        try:
            step, dataset = Step(trial["method"], **json.loads(trial["options"])), self._example.dataset
            verdict = check(protect(dataset, step, rng=self.seed), dataset, **rule)
            table = verdict.report.applied[["name", "risk", "baseline", "n_above", "n", "verdict"]]
            shown = table.to_html(border=0, index=False, float_format="{:.1%}".format)
            self.verdict.value = bold(verdict.sentence) + shown
        except (DataError, ParameterError) as error:
            self.verdict.value = bold(str(error))
