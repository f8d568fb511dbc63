"""Explore a risk-utility map in the browser: choose, run, look at what is behind a point."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import ipywidgets as widgets
import numpy as np
import pandas as pd
from ipyevents import Event

from reident.errors import DataError, ParameterError
from reident.methods import Parameter, entries, find
from reident.methods.forms import code_for
from reident.plotting import new_figure
from reident.plotting._layout import layout
from reident.plotting.rumap import plot_ru_map
from reident.rumap import NOTHING, ORIGINAL, frontier
from reident.workbench.examples import example_places, example_table
from reident.workbench.mapping import Plan, claims, left_out_methods, plan
from reident.workbench.microdata import microdata

__all__ = ["Example", "Explorer", "examples"]


#: How near a click must be to a point, pixels of the map.
_REACH = 20


@dataclass(frozen=True, eq=False)
class Example:
    """Data to choose, the roles of their columns and the sizes of the drawn files: the options of `risk_utility`."""

    data: Any
    roles: Mapping[str, Any]
    kind: str
    sizes: Mapping[str, int] = field(default_factory=dict)


def examples(rng: int = 0) -> dict[str, Example]:
    """Return the data that the explorer offers by itself."""
    return {
        "persons with places (simulated)": Example(example_places(rng=rng), {"quasi": ["sex", "age_class"]}, "places"),
        "employees, a table (simulated)": Example(
            example_table(rng=rng),
            {"quasi": ["age", "school", "hours", "pay"], "sensitive": "illness"},
            "table",
            {"n_known": 100},
        ),
    }


class Explorer:
    """Widgets over a risk-utility map.

    Choose data, methods and the range of each method's parameter, an attack and a use of the data, and run: the map
    fills while results arrive. A click on a point, or its name chosen below the map, shows what the intruder claimed
    there and the code that makes the release. Everything it shows comes from `risk_utility` and can be had without it.

    Parameters
    ----------
    data : mapping of str to Example, optional
        What to offer; default `examples`.
    repetitions, seed : int

    Examples
    --------
    >>> explorer = Explorer(repetitions=2)
    >>> explorer.kind
    'places'
    """

    def __init__(self, data: Mapping[str, Example] | None = None, *, repetitions: int = 5, seed: int = 0) -> None:
        self.offered = dict(data) if data is not None else examples()
        if not self.offered:
            raise ParameterError("`data` must offer at least one data set, got none")
        self.seed = seed
        self.plan: Plan | None = None
        self.trials = pd.DataFrame()
        self.frame = pd.DataFrame()
        wide = {"style": {"description_width": "7rem"}, "layout": widgets.Layout(width="26rem")}
        self.data = widgets.Dropdown(options=list(self.offered), description="data", **wide)
        self.methods = widgets.SelectMultiple(description="methods", rows=8, **wide)
        self.ranges = widgets.VBox()
        self.attack = widgets.Dropdown(description="attack", **wide)
        self.utility = widgets.Dropdown(description="use", **wide)
        self.repetitions = widgets.IntSlider(repetitions, 1, 30, description="repetitions", **wide)
        self.limit = widgets.FloatSlider(0.25, min=0, max=1, step=0.05, description="tolerable risk", **wide)
        self.button = widgets.Button(description="Draw the map", button_style="primary", icon="play")
        self.state = widgets.HTML()
        self.map = widgets.Image(format="png", layout=widgets.Layout(max_width="46rem"))
        self.clicks = Event(source=self.map, watched_events=["click"])
        self.spots = pd.DataFrame(columns=["row", "x", "y"])
        self.advice = widgets.HTML()
        self.point = widgets.Dropdown(options=[("nothing yet", -1)], description="point", **wide)
        self.behind = widgets.HTML()
        self._sliders: dict[str, widgets.FloatRangeSlider] = {}
        self.data.observe(lambda _: self._offer(), "value")
        self.methods.observe(lambda _: self._offer_ranges(), "value")
        for control in (self.limit, self.attack, self.utility):
            control.observe(lambda _: self.draw(), "value")
        self.point.observe(self._choose_point, "value")
        self.clicks.on_dom_event(lambda event: self.pick(event["dataX"], event["dataY"]))
        self.button.on_click(lambda _: self.run())
        self._offer()
        controls = widgets.VBox(
            [self.data, self.methods, self.ranges, self.repetitions, self.button, self.state, self.attack, self.utility,
             self.limit]
        )  # fmt: skip
        shown = widgets.VBox([self.map, self.advice, self.point, self.behind])
        self.widget = widgets.HBox([controls, shown], layout=widgets.Layout(flex_flow="row wrap"))

    def _repr_mimebundle_(self, **kws: Any) -> Any:
        return self.widget._repr_mimebundle_(**kws)

    @property
    def kind(self) -> str:
        """What is chosen: "places" or "table"."""
        return self.offered[self.data.value].kind

    # -- choices -------------------------------------------------------------------------------------------------

    def _offer(self) -> None:
        """Offer what fits the chosen data."""
        example = self.offered[self.data.value]
        self.plan, self.trials, self.frame = None, pd.DataFrame(), pd.DataFrame()
        self.spots = self.spots.iloc[:0]
        data = microdata(example.data, kind=self.kind, **example.roles)
        left_out = left_out_methods(data)
        fitting = [one for one in entries("anonymiser", self.kind) if one.name not in left_out]
        self.state.value = f"Choose, then draw the map. {_said(left_out)}"
        attacks = [one for one in entries("attack", self.kind) if one.suits(data) and not one.costly]
        uses = [one for one in entries("metric", self.kind) if one.suits(data)]
        self.methods.options = [(one.label, one.name) for one in fitting]
        self.methods.value = tuple(one.name for one in fitting[:2])
        self.attack.options = [(one.label, one.name) for one in attacks]
        self.utility.options = [(one.label, one.name) for one in uses]
        for choice in (self.attack, self.utility):
            choice.value = choice.options[0][1]
        self._offer_ranges()

    def _offer_ranges(self) -> None:
        """Offer a range for the parameter that varies along each chosen method's curve."""
        self._sliders = {}
        for name in self.methods.value:
            parameter = next((one for one in find(name).parameters if len(one.grid) > 1), None)
            if parameter is not None:
                self._sliders[name] = _slider(name, parameter)
        self.ranges.children = tuple(self._sliders.values())

    def specs(self) -> list[dict[str, Any]]:
        """Return the chosen methods with four values of each range, as `risk_utility` takes them."""
        chosen = []
        for name in self.methods.value:
            spec: dict[str, Any] = {"name": name}
            if name in self._sliders:
                parameter = next(one for one in find(name).parameters if len(one.grid) > 1)
                low, high = (10**end for end in self._sliders[name].value)
                values = [float(f"{value:.2g}") for value in np.geomspace(low, high, 4)]
                spec[parameter.name] = sorted(
                    {max(1, round(v)) for v in values} if parameter.kind == "int" else set(values)
                )
            chosen.append(spec)
        return chosen

    # -- results -------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Run the chosen releases one after the other; the map fills while they end."""
        example = self.offered[self.data.value]
        self.button.disabled = True
        try:
            attacks = [value for _, value in self.attack.options]
            utilities = [value for _, value in self.utility.options]
            data = microdata(example.data, kind=self.kind, **example.roles)
            self.plan = plan(data, self.specs(), attacks, utilities, **example.sizes)
            parts: list[pd.DataFrame] = []
            for number, setting in enumerate(self.plan.settings, start=1):
                parts.append(
                    self.plan.run(
                        settings=[setting], repetitions=self.repetitions.value, seed=self.seed, progress=False
                    )
                )
                self.trials = pd.concat(parts, ignore_index=True)
                self.state.value = (
                    f"{number} of {len(self.plan.settings)} releases, {self.repetitions.value} times each"
                )
                if number > 1:
                    self.frame = self.plan.frame(self.trials)
                    self.draw()
            self._offer_points()
        except (DataError, ParameterError) as error:
            self.state.value = f"<b>{html.escape(str(error))}</b>"
        finally:
            self.button.disabled = False

    def panel(self) -> pd.DataFrame:
        """Return the rows of the chosen attack and use."""
        if self.plan is None or self.frame.empty:
            return self.frame
        chosen = find(self.attack.value).label, find(self.utility.value).label
        return self.frame[self.frame["attack"].str.startswith(chosen[0]) & (self.frame["analysis"] == chosen[1])]

    def draw(self) -> None:
        """Draw the chosen panel and its frontier."""
        panel = self.panel()
        if panel.empty or panel["method"].isin([ORIGINAL, NOTHING]).all():
            self.map.value, self.advice.value = b"", "" if self.frame.empty else "This attack says nothing about these."
            self.spots = self.spots.iloc[:0]
            return
        figure, ax = new_figure(size=(7.4, 5.0))
        plot_ru_map(panel, ax, risk_limit=self.limit.value)
        first = self._first_rows()
        keys = zip(panel["method"], panel["setting"].fillna("{}"), strict=True)  # the original has no options
        rows = np.array([first.get(key, -1) for key in keys])
        shown, _ = layout(panel.reset_index(drop=True), self.limit.value)
        points = np.array([shown.at(row) for _, row in panel.iterrows()])
        ax.plot(*points[(rows >= 0) & (rows == self.point.value)].T, "s", markersize=15, markerfacecolor="none",
                markeredgecolor="black", markeredgewidth=1.2)  # fmt: skip
        stream = BytesIO()
        figure.savefig(stream, format="png", dpi="figure")
        self.map.value = stream.getvalue()
        x, y = ax.transData.transform(points).T
        spots = pd.DataFrame({"row": rows, "x": x, "y": figure.bbox.height - y})
        self.spots = spots[(spots["row"] >= 0) & np.isfinite(points).all(axis=1)].reset_index(drop=True)
        best = frontier(panel, risk_limit=self.limit.value)
        lines = [
            f"<li><b>{html.escape(f'{r.method} {r.value}')}</b>: {html.escape(r.advice)}</li>"
            for r in best.itertuples()
        ]
        self.advice.value = f"<b>Frontier</b><ul>{''.join(lines)}</ul>"

    def pick(self, x: float, y: float) -> None:
        """Choose the point at a place of the map, in pixels from its upper left corner; nothing where there is none."""
        if self.spots.empty:
            return
        far = np.hypot(self.spots["x"] - x, self.spots["y"] - y)
        nearest = int(far.argmin())
        if far[nearest] <= _REACH:
            self.point.value = int(self.spots["row"][nearest])

    def _first_rows(self) -> dict[tuple[str, str], int]:
        """Return the row of the first trial of each release, by method and options."""
        seen: dict[tuple[str, str], int] = {}
        for row, trial in enumerate(self.trials.itertuples()):
            seen.setdefault((trial.method, json.dumps(trial.options, sort_keys=True)), row)
        return seen

    def _offer_points(self) -> None:
        assert self.plan is not None
        options = [
            (" ".join([method, *(f"{n}={json.loads(text)[n]}" for n in self.plan.varying.get(method, []))]), row)
            for (method, text), row in self._first_rows().items()
        ]
        self.point.unobserve(self._choose_point, "value")  # once for both changes
        self.point.options = options
        self.point.value = options[min(1, len(options) - 1)][1]
        self.point.observe(self._choose_point, "value")
        self._choose_point()

    def _choose_point(self, _: Any = None) -> None:
        self._show_point()
        self.draw()

    def _show_point(self) -> None:
        """Show what the intruder claimed in the first repetition of a point, and the code of its release."""
        row = self.point.value
        if self.plan is None or row is None or row < 0 or row >= len(self.trials):
            self.behind.value = ""
            return
        trial = self.trials.iloc[row]
        made = claims(self.plan, self.trials, row, seed=self.seed).get(self.attack.value)
        if made is None:
            told = "<p>This attack says nothing about this release.</p>"
        elif made.empty:
            told = "<p>Nothing was claimed.</p>"
        else:
            told = (
                f"<p>First repetition, {len(made)} claims or records, the first 8:</p>{made.head(8).to_html(border=0)}"
            )
        code = (
            ""
            if trial["method"] == ORIGINAL
            else f"<pre>{html.escape(code_for(trial['method'], trial['options']))}</pre>"
        )
        self.behind.value = told + code


def _said(left_out: Mapping[str, str]) -> str:
    return f"Left out: {html.escape('; '.join(f'{name}: {why}' for name, why in left_out.items()))}" if left_out else ""


def _slider(name: str, parameter: Parameter) -> widgets.FloatRangeSlider:
    """Return a slider for powers of ten around the registry's grid."""
    low, high = np.log10(min(parameter.grid)), np.log10(max(parameter.grid))
    least = max(low - 1, 0.0) if parameter.kind == "int" else low - 1
    unit = f" ({parameter.unit})" if parameter.unit else ""
    return widgets.FloatRangeSlider(
        value=(low, high), min=least, max=high + 1, step=0.1, description=f"log₁₀ {parameter.name}{unit}",
        tooltip=f"{name}: {parameter.name} as a power of ten", readout_format=".1f",
        style={"description_width": "11rem"}, layout=widgets.Layout(width="30rem"), continuous_update=False,
    )  # fmt: skip
