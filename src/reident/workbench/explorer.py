"""Explore a risk-utility map in the browser: choose, run, look at the claims behind a point."""

from __future__ import annotations

import html
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import ipywidgets as widgets
import numpy as np
import pandas as pd
import traitlets

from reident.base import DataError, ParameterError
from reident.methods import entries
from reident.methods.forms import release as make_release
from reident.pages import picture
from reident.plotting import new_figure
from reident.plotting.interactive import map_data, ru_map_widget
from reident.rumap import NOTHING, ORIGINAL
from reident.workbench.check import check
from reident.workbench.controls import WIDE, MethodChoice, bold, spoken, usual_values
from reident.workbench.dataset import Dataset
from reident.workbench.examples import example_network, example_places, example_table
from reident.workbench.microdata import LAT, LON, Microdata
from reident.workbench.ru_map import Plan, plan

__all__ = ["Example", "Explorer", "examples"]


@dataclass(frozen=True, eq=False)
class Example:
    """Data to choose, the roles of their columns and the sizes of the drawn files: the options of `risk_utility`.

    `code` loads the data as ``data``: the code of a release begins with it.
    """

    data: Any
    roles: Mapping[str, Any]
    kind: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    code: str = ""


def examples(rng: int = 0) -> dict[str, Example]:
    """Return the data that the explorer offers by itself."""
    load = "from reident.workbench.examples import {0}\n\ndata = {0}(rng={1})"
    return {
        "persons with places (simulated)": Example(
            example_places(rng=rng), {"quasi": ["sex", "age_class"]}, "places", code=load.format("example_places", rng)
        ),
        "employees, a table (simulated)": Example(
            example_table(rng=rng), {"quasi": ["age", "school", "hours", "pay"], "sensitive": "illness"}, "table",
            {"n_known": 100}, load.format("example_table", rng),
        ),
        "friendships, a network (simulated)": Example(
            example_network(rng=rng), {}, "network", code=load.format("example_network", rng)
        ),
    }  # fmt: skip


class Explorer:
    """Widgets over a risk-utility map.

    Choose data, methods and the range of each method's parameter, an attack and a use of the data, and run: the map
    fills while results arrive, and moving its limit moves the advice. A click on a release shows what the intruder
    claimed, the code that makes and checks such a release, and on demand the judgement of `check`: every attack, all
    persons. Everything it shows comes from `risk_utility` and `check` and can be had without it.

    Parameters
    ----------
    data : mapping of str to Example, optional
        What to offer; default `examples`.
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
        self.offered = dict(data) if data is not None else examples()
        if not self.offered:
            raise ParameterError("`data` must offer at least one data set, got none")
        self.seed, self.jobs = seed, jobs
        self.plan: Plan | None = None
        self.trials = pd.DataFrame()
        self._thread, self._stopped = threading.Thread(), False
        self._lock = threading.Lock()  # one computation at a time: threads of compiled code are not to meet
        self.data = widgets.Dropdown(options=list(self.offered), description="data", **WIDE)
        self.methods = MethodChoice(self._forget)
        self.attack = widgets.Dropdown(description="attack", **WIDE)
        self.utility = widgets.Dropdown(description="use", **WIDE)
        self.repetitions = widgets.IntSlider(repetitions, 1, 30, description="repetitions", **WIDE)
        self.limit = widgets.FloatSlider(0.25, min=0, max=1, step=0.01, description="tolerable risk", **WIDE)
        self.tolerate = widgets.BoundedFloatText(0, min=0, max=1, step=0.01, description="share above", **WIDE)
        self.button = widgets.Button(description="Draw the map", button_style="primary")
        self.stop = widgets.Button(description="Stop", disabled=True)
        self.judge = widgets.Button(description="Judge it by every attack", layout=widgets.Layout(width="auto"))
        self.state, self.behind, self.verdict = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.map = ru_map_widget()
        traitlets.link((self.limit, "value"), (self.map, "limit"))
        self.data.observe(lambda _: self._offer(), "value")
        self.repetitions.observe(lambda _: self._forget(), "value")
        for control in (self.tolerate, self.attack, self.utility):
            control.observe(lambda _: self.draw(), "value")
        self.limit.observe(lambda _: self._show(), "value")
        self.map.observe(lambda _: self._show(), "release")
        self.button.on_click(lambda _: self.run(wait=False))
        self.stop.on_click(lambda _: self.cancel())
        self.judge.on_click(lambda _: self.check())
        self._offer()
        results = widgets.VBox([self.map, self.state, self.judge, self.verdict, self.behind])
        results.layout = widgets.Layout(flex="3 1 24rem", min_width="0")
        controls = widgets.VBox(
            [self.data, self.methods.widget, self.repetitions, widgets.HBox([self.button, self.stop]), self.attack,
             self.utility, self.limit, self.tolerate]
        )  # fmt: skip
        controls.layout = widgets.Layout(flex="1 1 20rem", min_width="0")
        unseen = spoken(self.state, self.verdict)
        self.widget = widgets.HBox([results, controls, unseen], layout=widgets.Layout(flex_flow="row wrap"))

    def _repr_mimebundle_(self, **kws: Any) -> Any:
        return self.widget._repr_mimebundle_(**kws)

    @property
    def kind(self) -> str:
        """The chosen kind of data: "places", "table" or "network"."""
        return self.offered[self.data.value].kind

    # -- choices -------------------------------------------------------------------------------------------------

    def _microdata(self) -> Microdata:
        example = self.offered[self.data.value]
        return Dataset(example.data, **example.roles).records(self.kind)

    def _offer(self) -> None:
        """Offer methods, attacks and uses that fit the chosen data."""
        data = self._microdata()
        attacks = [entry for entry in entries("attack", self.kind) if entry.suits(data) and not entry.costly]
        uses = [entry for entry in entries("metric", self.kind) if entry.suits(data)]
        self.attack.options = [(entry.label, entry.name) for entry in attacks]
        self.utility.options = [(entry.label, entry.name) for entry in uses]
        for choice in (self.attack, self.utility):
            choice.value = choice.options[0][1]
        every = plan(data, None, None, None, **self.offered[self.data.value].sizes)
        fitting = [entry for entry in entries("anonymiser", self.kind) if entry.name not in every.left_out]
        self.methods.offer([(entry, usual_values(entry, every.settings)) for entry in fitting], 2)
        reasons = "; ".join(f"{name}: {why}" for name, why in every.left_out.items())
        self.state.value = "Choose, then draw the map." + (f" Left out: {html.escape(reasons)}" if reasons else "")

    def specs(self) -> list[dict[str, Any]]:
        """Return the chosen methods with four values of each range, as `risk_utility` takes them."""
        return [{"name": name, **self.methods.values(name)} for name in self.methods.names.value]

    def _forget(self) -> None:
        """Stop the run and remove results of other choices."""
        self.cancel()
        self.plan, self.trials = None, pd.DataFrame()
        self.map.release = []
        self.draw()

    # -- results -------------------------------------------------------------------------------------------------

    def run(self, *, wait: bool = True) -> None:
        """Run the chosen releases one after the other; the map fills while they end."""
        if self._thread.is_alive():
            return
        self._forget()
        self._stopped = False
        self.button.disabled, self.stop.disabled = True, False
        thread = self._thread = threading.Thread(target=self._work, daemon=True)
        thread.start()
        if wait:
            thread.join()

    def cancel(self) -> None:
        """Stop after the release that is under way."""
        self._stopped = True

    def _work(self) -> None:
        try:
            attacks, utilities = ([value for _, value in control.options] for control in (self.attack, self.utility))
            planned = plan(self._microdata(), self.specs(), attacks, utilities, limit=self.limit.value,
                        **self.offered[self.data.value].sizes)  # fmt: skip
            self.plan, times = planned, self.repetitions.value
            for number, setting in enumerate(planned.settings, start=1):
                with self._lock:
                    part = planned.run(
                        settings=[setting], repetitions=times, seed=self.seed, jobs=self.jobs, progress=False
                    )
                if self._stopped:
                    self.state.value = f"Stopped after {number - 1} of {len(planned.settings)} releases."
                    return
                self.trials = pd.concat([self.trials, part], ignore_index=True)
                self.state.value = f"{number} of {len(planned.settings)} releases, {times} times each"
                if number > 1:
                    self.draw()
        except (DataError, ParameterError) as error:
            self.state.value = bold(str(error))
        finally:
            self._thread = threading.Thread()
            self.button.disabled, self.stop.disabled = False, True

    @property
    def frame(self) -> pd.DataFrame:
        """The map by every attack and every use, of the releases that have been run."""
        return pd.DataFrame() if self.plan is None or self.trials.empty else self.plan.frame(self.trials)

    def panel(self) -> pd.DataFrame:
        """Return the rows of the chosen attack and use."""
        if self.plan is None or self.trials.empty:
            return pd.DataFrame()
        attacks, utilities = (
            [option for option in offered if option[0] == chosen.value]
            for offered, chosen in ((self.plan.attacks, self.attack), (self.plan.utilities, self.utility))
        )
        return replace(self.plan, attacks=attacks, utilities=utilities).frame(self.trials)

    def draw(self) -> None:
        """Draw the chosen panel; its releases carry their code."""
        panel = self.panel()
        if panel.empty or panel["method"].isin([ORIGINAL, NOTHING]).all():
            self.map.data = {}
        else:
            releases = panel[~panel["method"].isin([ORIGINAL, NOTHING])]
            codes = {(r.method, r.value): self.code(r.method, json.loads(r.setting)) for r in releases.itertuples()}
            self.map.data = map_data(panel, limit=self.limit.value, codes=codes)
        self._show()

    def code(self, method: str, options: Mapping[str, Any]) -> str:
        """Return the code that makes a release of the chosen data, and checks it; it runs as it stands."""
        example = self.offered[self.data.value]
        load = example.code or f"data = explorer.offered[{self.data.value!r}].data"
        settings = {name: value for name, value in options.items() if value is not None}
        roles = "".join(f", {name}={value!r}" for name, value in example.roles.items())
        options_said = [f"{name}={value!r}" for name, value in settings.items()]
        return (
            f"import reident as rd\n{load}\n"
            f"data = rd.Dataset(data{roles})\n"
            f"release = rd.protect(data, rd.Step({', '.join([repr(method), *options_said])}))\n"
            'release.save("release")\n'
            f"verdict = rd.check(release, data, limit={self.limit.value:g}, tolerate={self.tolerate.value:g})\n"
            "print(verdict.sentence)"
        )

    def _chosen(self) -> int | None:
        """Return the row of the first trial of the release that was clicked."""
        method, value = self.map.release or ("", "")
        panel = self.panel()
        if panel.empty:
            return None
        setting = panel.loc[(panel["method"] == method) & (panel["value"] == value), "setting"]
        if setting.empty:
            return None
        trials = self.trials
        same = (trials["method"] == method) & (trials["options"] == setting.iloc[0])
        rows = trials.index[same & (trials["attack"] == self.attack.value)]
        return int(rows[0]) if len(rows) else None

    def _show(self) -> None:
        """Show the claims of the intruder in the first repetition of the chosen release."""
        row = self._chosen()
        self.verdict.value = self.behind.value = ""
        self.judge.disabled = row is None
        silent = self.plan.not_applicable(self.trials) if self.plan is not None and len(self.trials) else {}
        if self.attack.value in silent:
            why = html.escape(silent[self.attack.value])
            self.behind.value = f"<p>This attack says nothing about any of these releases: {why}.</p>"
        if row is None or self.plan is None or not self._lock.acquire(blocking=False):
            return
        try:
            claimed = self.plan.claims(self.trials.loc[row])
        finally:
            self._lock.release()
        if claimed.empty:
            why = self.trials.loc[row, "reason"]
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
        ax.plot(*table[[LON, LAT]].to_numpy(float).T, ".", color="0.85", markersize=3, label="everybody")
        for person, other in zip(persons[~right], records[~right], strict=True):
            ax.plot(*np.transpose([person, other]), "-", color="tab:orange", linewidth=0.8)
        ax.plot(*persons[right].T, "o", markersize=4, label=f"found: {int(right.sum())}")
        ax.plot([], [], "-", color="tab:orange", label=f"mistaken for another: {int((~right).sum())}")
        ax.set_xlabel("longitude (degrees)")
        ax.set_ylabel("latitude (degrees)")
        ax.legend()
        return f'<img alt="whom the attack finds" src="{picture(figure, dpi=90)}">'

    def check(self) -> None:
        """Judge the chosen release as `check` judges it, drawn once from all records."""
        row = self._chosen()
        if row is None or not self._lock.acquire(blocking=False):
            return
        example, trial = self.offered[self.data.value], self.trials.loc[row]
        self.verdict.value = "Every attack that applies is running."
        try:
            released = make_release(self._microdata(), trial["method"], json.loads(trial["options"]), rng=self.seed)
            verdict = check(
                released,
                Dataset(example.data, **example.roles),
                limit=self.limit.value,
                tolerate=self.tolerate.value,
                seed=self.seed,
            )
            run = verdict.attacks.loc[
                verdict.attacks["reason"] == "", ["name", "risk", "baseline", "n_above", "n", "verdict"]
            ]
            self.verdict.value = bold(verdict.sentence) + run.to_html(
                border=0, index=False, float_format="{:.1%}".format
            )
        except (DataError, ParameterError) as error:
            self.verdict.value = bold(str(error))
        finally:
            self._lock.release()
