"""What follows from the frame of a risk-utility map: scales, ends of axes, and colours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd

from reident.base import FloatArray, check_mapping
from reident.plotting._scales import Scale, choose_scale
from reident.plotting._style import COLOURS, MARKERS
from reident.rumap import NOTHING, ORIGINAL, PANEL, releases_of

#: Black, the star and the X are the anchors' own; grey are the methods off the frontier.
_COLOURS = [colour for colour in COLOURS if colour not in ("#000000", "#7F7F7F")]
_MARKERS = [*(marker for marker in MARKERS if marker not in ("*", "X")), "p", "h"]

#: So many methods are told apart by colour in one panel; beyond, only those that reach the frontier are.
MANY = 5

# Narrower than this, cm, panels stand one below the other, more than so many of them two side by side.
_PAGE_CM, _FEW = 12.0, 6


@dataclass(frozen=True)
class Look:
    """How a method is drawn wherever it occurs."""

    colour: str
    marker: str
    name: str
    ordered: bool  # its values are numbers
    joined: bool  # they run one way: a curve
    weak_first: bool  # its first value is the riskier end

    @property
    def ink(self) -> tuple[float, ...]:
        """The colour, dark enough for text."""
        return tuple(0.78 * np.array(mpl.colors.to_rgb(self.colour)))

    def shades(self, n: int) -> FloatArray:
        """How full the markers of a curve are, in the order of its rows."""
        if not self.joined or n == 1:
            return np.ones(n)
        return np.linspace(0, 1, n)[:: 1 if self.weak_first else -1]


@dataclass
class Panel:
    """One attack and one analysis, or one method under them, ready to be drawn."""

    pair: tuple[str, str]
    part: pd.DataFrame
    xs: Scale
    ys: Scale
    box: list[tuple[float, float]]
    method: str | None = None  # the one that is not grey, where each method has a panel of its own

    @property
    def releases(self) -> pd.DataFrame:
        return self.part[~self.part["method"].isin([ORIGINAL, NOTHING])]

    @property
    def anchors(self) -> pd.DataFrame:
        return self.part[self.part["method"].isin([ORIGINAL, NOTHING])].drop_duplicates("method").set_index("method")

    @property
    def guess(self) -> float | None:
        """The risk of guessing, where nothing released has one above 0 that the axis shows."""
        guess = float(self.anchors["risk"].get(NOTHING, 0.0))
        return guess if guess > 0 and self.box[1][0] < self.ys.place(guess) < self.box[1][1] else None

    def measured(self, measure: str) -> str:
        """Return what an axis says."""
        told, scale = (self.pair[0], self.ys) if measure == "risk" else (self.pair[1], self.xs)
        return f"{measure}: {told}{scale.name}"

    def at(self, row: Any) -> tuple[float, float]:
        """Where a release is drawn, in raw units; one of infinite utility at the edge."""
        x, y = float(self.xs.clip(row["utility"])), float(self.ys.clip(row["risk"]))
        return (x if np.isfinite(x) else float(self.xs.back(self.box[0][1]))), y


def layout(frame: pd.DataFrame, risk_limit: float | None) -> tuple[Panel, dict[str, Look]]:
    """Return the one panel of a frame with its scales and ends, and how its methods are drawn."""
    (panel,) = panels_of(frame, risk_limit)
    return panel, looks_of(frame, None)


def looks_of(frame: pd.DataFrame, names: Mapping[str, str] | None) -> dict[str, Look]:
    releases = releases_of(frame)
    looks = {}
    for position, (method, curve) in enumerate(releases.groupby("method", sort=False)):
        one = curve.groupby(PANEL, sort=False).head(1).index[0]
        values = curve[(curve[PANEL] == curve.loc[one, PANEL]).all(axis=1)]["value"]
        ends = [(part["risk"].iloc[0], part["risk"].iloc[-1]) for _, part in curve.groupby(PANEL, sort=False)]
        ordered = bool(values.astype(str).str.match(r"-?[\d.]").all())
        looks[str(method)] = Look(
            _COLOURS[position % len(_COLOURS)],
            _MARKERS[position % len(_MARKERS)],
            check_mapping(names, "names", optional=True).get(str(method), str(method)),
            ordered,
            ordered and _one_way(values.astype(str)),
            bool(sum(np.sign(first - last) for first, last in ends) >= 0),
        )
    return looks


def _one_way(values: pd.Series) -> bool:
    """Return whether all numbers in some values rise together, or fall: two that part have no order."""
    numbers = pd.DataFrame([re.findall(r"\d+(?:\.\d+)?(?:e[-+]\d+)?", value) for value in values]).astype(float)
    steps = np.sign(numbers.diff().to_numpy()[1:])
    return bool(numbers.shape[1] < 2 or not ((steps > 0).any() and (steps < 0).any()))


def panels_of(frame: pd.DataFrame, risk_limit: float | None, *, by_method: bool = False) -> list[Panel]:
    releases = releases_of(frame)
    tops = frame[frame["method"] == ORIGINAL].groupby("analysis")["utility"].max()
    scales = {}
    for analysis, rows in releases.groupby("analysis"):
        top = float(tops.get(analysis, np.inf))
        scales[analysis] = choose_scale(rows["utility"], top if np.isfinite(top) else None)
    panels: list[Panel] = []
    for pair, part in frame.groupby(PANEL, sort=False):
        if part["method"].isin([ORIGINAL, NOTHING]).all():
            continue
        risks = releases.loc[releases["attack"] == pair[0], "risk"]
        ys = choose_scale(risks, 1.0 if risks.max() <= 1 else None)
        panel = Panel((str(pair[0]), str(pair[1])), part, scales[pair[1]], ys, [])
        panel.box = _ends(panel, risk_limit)
        panels.append(panel)
    for axis in (0, 1):
        _share_ranges(panels, axis)
    if by_method:
        (panel,) = panels
        methods = panel.releases["method"].unique()
        return [Panel(panel.pair, panel.part, panel.xs, panel.ys, panel.box, str(method)) for method in methods]
    return panels


def _ends(panel: Panel, limit: float | None) -> list[tuple[float, float]]:
    """Return the ends of both axes, as positions; an anchor is inside if the releases keep 60 % of the axis."""
    ends = []
    for measure, scale in (("utility", panel.xs), ("risk", panel.ys)):
        extra = [float(scale.place(limit))] if measure == "risk" and limit is not None else []
        columns = [measure, f"{measure}_low", f"{measure}_high"]
        seen = scale.place(panel.releases[columns].to_numpy(float)).ravel()
        seen = np.array([*seen[np.isfinite(seen)], *extra])
        low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 1.0)
        span = high - low or 1.0
        places = scale.place(panel.anchors[measure])
        for place in places[np.argsort(np.abs(places - (low + high) / 2))]:
            if np.isfinite(place) and span >= 0.6 * (max(high, place) - min(low, place)):
                low, high = min(low, float(place)), max(high, float(place))
        pad = (0.07 if measure == "utility" else 0.1) * (high - low or 1.0)
        ends.append((low - pad, high + pad))
    return ends


def _share_ranges(panels: list[Panel], axis: int) -> None:
    """Give panels of one measure one range, unless that leaves one of them less than half of its axis."""
    measure = 1 - axis
    for name in {panel.pair[measure] for panel in panels}:
        mine = [panel for panel in panels if panel.pair[measure] == name]
        low, high = min(panel.box[axis][0] for panel in mine), max(panel.box[axis][1] for panel in mine)
        if all(panel.box[axis][1] - panel.box[axis][0] >= 0.5 * (high - low) for panel in mine):
            for panel in mine:
                panel.box[axis] = (low, high)


def staircase(releases: pd.DataFrame) -> list[Any]:
    """Return the rows with the least risk at each utility, most useful first."""
    best, rows = np.inf, []
    for _, row in releases.sort_values(["utility", "risk"], ascending=[False, True]).iterrows():
        if row["risk"] < best:
            rows.append(row)
            best = row["risk"]
    return rows


def lit_of(panel: Panel) -> set[Any]:
    methods = set(panel.releases["method"])
    return methods if len(methods) <= MANY else {row["method"] for row in staircase(panel.releases)}


def usual_columns(n: int, width_cm: float, by_method: bool, crowded: bool) -> int:
    if width_cm < _PAGE_CM:
        return most_columns(n, width_cm)
    return 4 if by_method and n > 4 else 3 if by_method or (n > 4 and not crowded) else 2


def most_columns(n: int, width_cm: float) -> int:
    """Return how many of n panels a width has room for, so that a column of print does not become a scroll."""
    return n if width_cm >= _PAGE_CM else 1 if n <= _FEW else 2


def grid_of(titles: Sequence[str]) -> list[tuple[str, str]] | None:
    """Split titles "row, column" if they fill a grid in order; None otherwise."""
    split = [tuple(title.split(", ", 1)) for title in titles]
    if any(len(part) < 2 for part in split):
        return None
    rows, columns = (list(dict.fromkeys(part[k] for part in split)) for k in (0, 1))
    filled = split == [(row, column) for row in rows for column in columns] and len(rows) > 1 and len(columns) > 1
    return [(part[0], part[1]) for part in split] if filled else None
