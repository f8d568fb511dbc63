"""Figures of the study abril2012: the paper's two lattices, its tables as pictures, leakage, and risk-utility maps."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reident import plot_ru_panels
from reident.plotting._style import COLOURS, MARKERS, in_house_style, new_figure, print_width_cm, say_instead
from reident.studies.abril2012 import PROFILES
from reident.studies.abril2012.instruments import INSTRUMENTS, SETUPS
from reident.studies.abril2012.maskings import ATTACKS, MASKINGS
from reident.studies.abril2012.summaries import DISTANCES
from reident.studies.captions import rests_on
from reident.studies.comparison import DRAWN, OWN, PUBLIC
from reident.studies.study import Results

__all__ = ["FIGURES"]

_CMAP = colormaps["Blues"]

#: Where every set may weigh less than this and almost 1, a lattice shows one pale blue.
_PALE = 0.2

_TABLES = {"census": "Census", "tarragona": "Tarragona", "eia": "EIA", "adult": "Adult"}
_NAMES = {
    "mean": "simple mean",
    "weighted_mean": "weighted mean, learned",
    "choquet": "Choquet integral, learned",
    "probabilistic": "probabilistic (EM)",
}


def _sign(figure: Figure, results: Results, *rows: pd.DataFrame, more: tuple[str, ...] = (), **settings: Any) -> Figure:
    """Say on the figure where its data were simulated, in a strip of its own on top, and tell its caption the rows."""
    if not _is_census(results):
        strip = 0.18 / figure.get_figheight()  # inches
        figure.set_layout_engine("constrained", rect=(0, 0, 1, 1 - strip))
        figure.text(0.995, 1 - strip / 5, "simulated stand-in data, not the CASC file", ha="right", va="top",
                    fontsize=7, color="0.35", style="italic")  # fmt: skip
    data = (OWN if _is_census(results) else DRAWN, *more)
    return rests_on(figure, *rows, data=data, **settings)


def _draw_spread(ax: Axes, values: pd.DataFrame, y: Any, **look: Any) -> None:
    """Draw 5 to 95 % of each column as a line, the columns one below the other."""
    ax.hlines(y, values.quantile(0.05), values.quantile(0.95), linewidth=1, **look)


def _is_census(results: Results) -> bool:
    return bool(results.frames["about"]["data"].iloc[0] == "census")


def _is_narrow() -> bool:
    """Tell whether a column of print is drawn."""
    return (print_width_cm() or 17) < 12


#: Inches that a set with its range of measures needs beside others, and lines of sets above others.
_BESIDE, _ABOVE = 0.85, 0.5


def _places(nodes: pd.DataFrame, inch: float) -> dict[str, tuple[float, float]]:
    """Place sets by size, the largest on top, in the order of their codes, in as many lines as fit into the width.

    The lines of a size are shifted against one another; their places are told in lines from the lowest.
    """
    places, line, fits = {}, 0.0, max(1, int(inch / _BESIDE))
    for _, row in nodes.groupby("size"):
        codes = sorted(row["code"], reverse=True)
        lines = -(-len(codes) // fits)
        for i, code in enumerate(codes):
            places[code] = ((i + 0.5) / len(codes), line + i % lines)
        line += lines + 0.6
    return places


def _lattice(results: Results, file: str, title: str, size: tuple[float, float]) -> Figure:
    nodes, edges, ranges = _optima(results, file)
    frame = results.frames["measures"]
    printed = frame[frame["file"] == file].set_index("code")["published"].dropna()
    figure, ax = new_figure(size=size)
    places = _places(nodes, 0.8 * figure.get_figwidth())  # the rest is the scale of colours
    top = max(y for _, y in places.values())
    figure.set_figheight(max(figure.get_figheight(), _ABOVE * (top + 1) + 1.2))
    for below, above in zip(edges["below"], edges["above"], strict=True):
        (x1, y1), (x2, y2) = places[below], places[above]
        ax.plot([x1, x2], [y1, y2], color="0.8", linewidth=0.6, zorder=1)
    shade = Normalize(0, 1)
    for node in nodes.itertuples():
        x, y = places[str(node.code)]
        low, high = ranges.loc[str(node.code)]
        dark = float(low) > 0.55
        # To two digits, as it is written.
        told = printed.get(str(node.code), np.nan)
        beyond = told < low - 0.005 or told > high + 0.005
        print_line = "" if np.isnan(told) else f"\nprint {_span(told, told)}"
        ax.text(x, y, f"{node.code}\n{_span(low, high)}{print_line}", ha="center", va="center", zorder=2,
                fontsize=7, color="white" if dark else "black",
                bbox={"boxstyle": "round,pad=0.3", "facecolor": _CMAP(shade(low)),
                      "edgecolor": COLOURS[3] if beyond else "0.4", "linewidth": 1.6 if beyond else 0.6})  # fmt: skip
    figure.colorbar(ScalarMappable(shade, _CMAP), ax=ax, shrink=0.6, label="least measure in any optimum", pad=0.01)
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.5, top + 0.5))
    ax.axis("off")
    ax.set_title(title)
    return _sign(figure, results, nodes, **_one_draw(results))


def _optima(results: Results, file: str) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the sets of a lattice, the pairs of them next to one another, and the ranges of their measures."""
    nodes, edges = (results.frames[f"lattice_{part}"].loc[lambda f: f["file"] == file] for part in ("nodes", "edges"))
    own = results.frames["ranges"].query("file == @file and model == 'choquet' and what == 'measure'")
    return nodes, edges, own.set_index("code")[["low", "high"]].reindex(nodes["code"].astype(str), fill_value=0.0)


def _one_draw(results: Results) -> dict[str, Any]:
    return {"n_records": _records(results), "repetition": 1}


def _span(low: float, high: float) -> str:
    """Return the range of a measure over all optima, as one number where it is one."""
    ends = [f"{end:.2f}".removeprefix("0") for end in (low, high)]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def figure_1(results: Results) -> Figure:
    """Draw the measure learned for M4-28 on one stated draw: the range of each set over all optima, beside print."""
    variables = results.frames["weights"]["variable"].iloc[:4]
    title = (
        "M4-28: least and greatest measure of each set over all measures that link as many records\n"
        f"(first digit {variables.iloc[0]}, then {', '.join(variables.iloc[1:])}; framed: print is no optimum here)"
    )
    return _lattice(results, "M4-28", title, (6.7, 4.6))


def figure_2(results: Results) -> Figure:
    """Draw the measure learned for M6-385 on one stated draw, sets of at least .1: their ranges over all optima."""
    nodes, edges, ranges = _optima(results, "M6-385")
    part = ranges[nodes.set_index("code")["size"].reindex(ranges.index) < nodes["size"].max()]
    variables = list(results.frames["weights"]["variable"])
    if part.empty or part["low"].max() > _PALE or part["high"].min() < 1 - _PALE:
        title = (
            "M6-385: least and greatest measure over all optima, sets whose learned measure is at least 0.1\n"
            f"(digits: {', '.join(variables)})"
        )
        return _lattice(results, "M6-385", title, (11, 5))
    least = [code for code in part.index if code not in set(edges["above"])]
    named = [" + ".join(v for v, bit in zip(variables, code, strict=True) if bit == "1") for code in least]
    figure, ax = new_figure(size=(7, 3.2))
    told = (
        f"M6-385: {len(part)} sets of columns, and the whole set, have a learned measure of at least 0.1. "
        f"Over all measures that link as many records, each of the {len(part)} has a least measure of at most "
        f"{part['low'].max():.2f} and a greatest one of at least {part['high'].min():.2f}: "
        "the records do not tell which sets matter."
    )
    say_instead(
        ax, "\n".join([*textwrap.wrap(told, 45 if _is_narrow() else 80), "", "The smallest of these sets:", *named])
    )
    return _sign(figure, results, nodes, **_one_draw(results))


def _look(distance: str) -> tuple[str, str]:
    """Return the colour and marker of a distance."""
    place = list(_NAMES).index(distance)
    return COLOURS[place], MARKERS[place]


def _records(results: Results) -> int:
    """Return how many records a draw has; the paper's number where a run did not say."""
    return int(results.parameters.get("n_records", 400))


def table_1(results: Results) -> Figure:
    """Draw the linkage ratios over the draws, with the printed value of each where there is one."""
    ratios, trials = results.frames["ratios"], results.frames["trials"]
    files = list(dict.fromkeys(ratios["file"]))
    figure, axes = new_figure(1, 4, size=(12, 3.6), sharey=True)
    for ax, (distance, name) in zip(axes, DISTANCES.items(), strict=True):
        colour, marker = _look(distance)
        rows = ratios[ratios["distance"] == distance].set_index("file")
        for y, file in enumerate(files):
            values = trials.loc[trials["file"] == file, f"ratio_{name}"].dropna()
            ax.plot(values, np.full(len(values), y), "|", color=colour, markersize=9)
            ax.plot(rows.loc[file, "mean"], y, marker, color=colour, markersize=5)
            ax.plot(rows.loc[file, "published"], y, "x", color="black", markersize=6, markeredgewidth=1.4)
        drawn = int(rows["n"].max())
        ax.set_title(f"{_NAMES[distance]}\n{drawn} draw{'s' * (drawn != 1)} of {_records(results)} records")
        ax.set_xlabel("linked share")
        ax.grid(axis="x", color="0.92")
    axes[0].set_yticks(range(len(files)), files)
    axes[0].invert_yaxis()
    handles = [
        Line2D([], [], color="0.3", marker="|", linestyle="", markersize=9, label="one draw"),
        Line2D([], [], color="0.3", marker="o", linestyle="", markersize=5, label="mean of draws"),
        Line2D([], [], color="black", marker="x", linestyle="", markersize=6,
               label="printed (none for probabilistic linkage)"),
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return _sign(figure, results, trials, repetition=sorted(ratios["n"].unique()))


def table_2(results: Results) -> Figure:
    """Draw learning times, median and 5 to 95 % of the draws, and the paper's as context."""
    times, trials = results.frames["times"], results.frames["trials"]
    files = list(dict.fromkeys(times["file"]))
    figure, axes = new_figure(1, 2, size=(9, 3.2), sharey=True, sharex=True)
    for ax, model in zip(axes, ("weighted_mean", "choquet"), strict=True):
        rows = times[times["model"] == model].set_index("file").loc[files]
        y = np.arange(len(files))
        _draw_spread(ax, _by_file(trials, f"seconds_{model}", files), y, color=COLOURS[0])
        ax.plot(rows["median_s"], y, MARKERS[0], color=COLOURS[0], label="here, median and 5 to 95 % of the draws")
        ax.plot(rows["published_s"], y, "x", color="black", label="paper (other machine and records)")
        ax.set_xscale("log")
        ax.set_title(_NAMES[model])
        ax.set_xlabel("seconds")
        ax.grid(axis="x", color="0.92")
    axes[0].set_yticks(range(len(files)), files)
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return _sign(figure, results, trials)


def _by_file(trials: pd.DataFrame, column: str, files: list[str]) -> pd.DataFrame:
    """Return a measure of each draw, a column a file; empty where the model was not run."""
    return trials.pivot_table(index="repetition", columns="file", values=column).reindex(columns=files)


def in_and_out(results: Results) -> Figure:
    """Draw the ratio on the records learned from beside that on other records; mean and 5 to 95 % of the draws."""
    ratios, trials = results.frames["ratios"].dropna(subset="outside"), results.frames["trials"]
    files = list(dict.fromkeys(ratios["file"]))
    figure, ax = new_figure(size=(6.8, 4.6))
    for position, distance in enumerate(ratios["distance"].unique()):
        colour, marker = _look(str(distance))
        for side, (where, face) in enumerate((("ratio", colour), ("outside", "white"))):
            values = _by_file(trials, f"{where}_{DISTANCES[distance]}", files)
            y = np.arange(len(files)) + (position - 1) * 0.28 + (side - 0.5) * 0.13
            _draw_spread(ax, values, y, color=colour)
            ax.plot(values.mean(), y, marker, color=face, markeredgecolor=colour, markersize=5,
                    label=None if side else _NAMES[str(distance)])  # fmt: skip
    ax.set_yticks(range(len(files)), files)
    ax.invert_yaxis()
    ax.set_xlabel(f"linked share (filled: records learned from; hollow: {_records(results)} other records)")
    ax.grid(axis="x", color="0.92")
    figure.legend(loc="outside lower center", ncols=3)
    return _sign(figure, results, trials)


def leakage(results: Results) -> Figure:
    """Draw which attribute leaks on one stated draw: Shapley values over all optima, and 90 % of resamples of one."""
    frame = results.frames["leakage"]
    files = list(dict.fromkeys(frame["file"]))
    figure, axes = new_figure(1, len(files), size=(4.4 * len(files), 3.6))
    for ax, file in zip(np.atleast_1d(axes), files, strict=True):
        rows = frame[frame["file"] == file]
        leader, sets = rows["leader"].iloc[0], rows["sets"].iloc[0]
        said = f"{leader} leads in every optimum" if leader else "no column leads in every optimum"
        _draw_leakage(ax, rows, f"{file}: {said}\n({sets:.0f} optimal sets of linked records)")
    handles, labels = np.atleast_1d(axes)[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=7)
    return _sign(figure, results, frame, **_one_draw(results))


def _draw_leakage(ax: Axes, rows: pd.DataFrame, title: str) -> None:
    y = np.arange(len(rows))
    ax.hlines(y, rows["optima_low"], rows["optima_high"], color=COLOURS[0], linewidth=7, alpha=0.35,
              label="all measures that link as many")  # fmt: skip
    ax.plot(rows["shapley"], y, MARKERS[0], color=COLOURS[0], label="the one with the widest margin")
    ax.hlines(y + 0.28, rows["low"], rows["high"], color="0.4", linewidth=1,
              label=f"90 % of {rows['resamples'].iloc[0]} resamples, one optimum each")  # fmt: skip
    ax.set_yticks(y, rows["variable"])
    ax.invert_yaxis()
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("Shapley value")
    ax.set_title(title)
    ax.grid(axis="x", color="0.92")


def instruments(results: Results) -> Figure:
    """Draw what the printed measures link under each candidate set-up, draw by draw, beside their ratio in print."""
    frame = results.frames["instruments"]
    figure, axes = new_figure(1, len(INSTRUMENTS), size=(11.5, 3.4), sharey=True, sharex=True)
    for ax, (name, (file, _, printed)) in zip(axes, INSTRUMENTS.items(), strict=True):
        rows = frame[frame["instrument"] == name]
        for y, setup in enumerate(SETUPS):
            ratios = rows.loc[rows["setup"] == setup, "ratio"]
            colour = COLOURS[0] if setup == SETUPS[0] else COLOURS[1]
            ax.plot(ratios, np.full(len(ratios), y), "|", color=colour, markersize=9)
            ax.plot(ratios.mean(), y, "o", color=colour, markeredgecolor="black", markersize=5, zorder=3)
        ax.axvline(printed, color="black", linestyle="--", linewidth=0.8)
        ax.set_title(f"measure of {name} ({file})", fontsize=8)
        ax.set_xlabel("linked share")
        ax.grid(axis="x", color="0.92")
    axes[0].set_yticks(range(len(SETUPS)), SETUPS)
    axes[0].invert_yaxis()
    handles = [
        Line2D([], [], color=COLOURS[0], marker="|", linestyle="", markersize=9, label="one draw, set up as adopted"),
        Line2D([], [], color=COLOURS[1], marker="|", linestyle="", markersize=9, label="one draw, one thing changed"),
        Line2D([], [], color="0.5", marker="o", markeredgecolor="black", linestyle="", markersize=5, label="mean"),
        Line2D([], [], color="black", linestyle="--", linewidth=0.8, label="print, on the records it learned from"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=7)
    return _sign(figure, results, frame, n_records=sorted(frame["drawn"].unique()))


def race(results: Results) -> Figure:
    """Draw the race of formulations: the paper's programme as printed and ours, same records, solver and run."""
    frame = results.frames["race"]
    figure, ax = new_figure(size=(6.2, 3.8))
    names = {"milp": "the paper's programme, all rows", "benders": "conflicts and covering"}
    limit = frame["time_limit_s"].max()
    for place, (method, said) in enumerate(names.items()):
        rows = frame[frame["method"] == method].sort_values("n_records")
        proven, stopped = rows[rows["proven"]], rows[~rows["proven"]]
        ax.plot(proven["n_records"], proven["seconds"], "-", color=COLOURS[place], linewidth=1, marker=MARKERS[place],
                label=f"{said}: proven")  # fmt: skip
        if len(stopped):
            # No line leads there: the time to a proof is not known.
            ax.plot(stopped["n_records"], stopped["seconds"], "^", color=COLOURS[place], markerfacecolor="white",
                    markersize=8, label="stopped, would take longer")  # fmt: skip
    ax.axhline(limit, color="0.5", linewidth=0.8, linestyle=":", label=f"time limit, {limit:g} s")
    ticks = sorted(frame["n_records"].unique())
    ax.set_xscale("log")
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.minorticks_off()
    ax.set_yscale("log")
    ax.set_xlabel("records (M4-33, Choquet integral)")
    ax.set_ylabel("seconds")
    ax.grid(axis="y", color="0.92")
    figure.legend(loc="outside lower center", ncols=2)
    return _sign(figure, results, frame)


def ru_map(results: Results) -> Figure:
    """Draw the risk-utility map of the seven protections, inside and outside the records learned from."""
    frame = results.frames["ru_map"]
    return _sign(plot_ru_panels(frame), results, frame)


def ru_maskings(results: Results) -> Figure:
    """Draw the risk of the attack against information loss, six maskings from weak (hollow) on; 5 to 95 % of runs."""
    frame = results.frames["ru_maskings"]
    tables = list(dict.fromkeys(frame["table"]))
    figure, axes = new_figure(len(tables), len(ATTACKS), size=(12, 2.1 * len(tables) + 1), sharey=True, sharex=True,
                              squeeze=False)  # fmt: skip
    for row, table in zip(axes, tables, strict=True):
        for ax, risk in zip(row, ATTACKS, strict=True):
            _draw_maskings(ax, frame[(frame["table"] == table) & (frame["risk_by"] == risk)])
        name = "simulated" if table == "census" and not _is_census(results) else _TABLES.get(table, table)
        row[0].set_ylabel(f"{name}\nlinked share")
    for ax, attack in zip(axes[0], ATTACKS.values(), strict=True):
        ax.set_title(textwrap.fill(attack, 18))
    for ax in axes[-1]:
        ax.set_xlabel("information loss\n(SSE / SST)")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(MASKINGS))
    masked = min(PROFILES[results.profile].mask_records, _records(results))
    return _sign(figure, results, frame, more=(PUBLIC,) if set(tables) - {"census"} else (), n_records=masked)


def _draw_maskings(ax: Axes, panel: pd.DataFrame) -> None:
    for place, method in enumerate(MASKINGS):
        curve = panel[panel["method"] == method]
        look: dict[str, Any] = {"color": COLOURS[place], "marker": MARKERS[place], "markersize": 3.5}
        loss, risk = 1 - curve["utility"], curve["risk"]
        bars = np.clip([risk - curve["risk_low"], curve["risk_high"] - risk], 0, None)
        ax.errorbar(loss, risk, yerr=bars, linewidth=1, elinewidth=0.8, label=method, **look)
        ax.plot(loss.iloc[:1], risk.iloc[:1], markerfacecolor="white", zorder=3, **look)
    ax.set_xscale("log")
    ax.set_ylim(-0.03, 1.03)
    ax.grid(color="0.92")


FIGURES: dict[str, Callable[[Results], Figure]] = in_house_style(
    {
        "figure-1-lattice-m4-28": figure_1,
        "figure-2-lattice-m6-385": figure_2,
        "table-1-ratios": table_1,
        "table-2-seconds": table_2,
        "race-of-formulations": race,
        "printed-measures": instruments,
        "inside-and-outside": in_and_out,
        "leaking-attributes": leakage,
        "ru-map": ru_map,
        "ru-map-maskings": ru_maskings,
    }
)
