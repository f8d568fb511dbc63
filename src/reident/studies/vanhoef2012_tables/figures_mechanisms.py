"""Figures of Vanhoef (2012), chapters 5, 6 and 7.4: the mechanisms, drawn from the study's frames."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats

from reident import plot_ru_panels
from reident.plotting._style import COLOURS, LINES, MARKERS, draw_lines, handles_of, new_figure, ordered_colours
from reident.rumap import NOTHING, ORIGINAL
from reident.studies.captions import NO_DATA, rests_on
from reident.studies.comparison import DRAWN, OWN, PUBLIC
from reident.studies.study import Results
from reident.studies.vanhoef2012_tables import STUDY

#: Points on which the horizontal line of figure 6.1 errs, as section 6.1.1 has them.
_ERRORS_IN_PRINT = 3

#: A space at which no line ends.
NO_BREAK = "\u00a0"


def means(frame: pd.DataFrame, rows: str, columns: str, value: str) -> pd.DataFrame:
    """Return the mean over the runs, a row each of `rows` and a column each of `columns`."""
    return frame.groupby([rows, columns], sort=False)[value].mean().unstack(columns, sort=False)  # noqa: PD010


def spreads(frame: pd.DataFrame, rows: str, columns: str, value: str) -> dict[Any, np.ndarray]:
    """Return the 5 % and 95 % quantiles over the runs of each column, as the ends of its bars."""
    wide = frame.groupby([rows, columns], sort=False)[value].quantile([0.05, 0.95]).unstack()  # noqa: PD010
    return {name: part.droplevel(columns).to_numpy().T for name, part in wide.groupby(level=columns, sort=False)}


def draw_spread(ax: Axes, groups: Any, **look: Any) -> None:
    """Draw the mean of each group over its key, with a bar from the 5 % to the 95 % quantile."""
    mean, ends = groups.mean(), groups.quantile([0.05, 0.95]).unstack()  # noqa: PD010
    # A mean beyond a quantile has no bar on that side.
    bars = np.clip(np.stack([mean - ends[0.05], ends[0.95] - mean]), 0, None)
    ax.errorbar(mean.index, mean, yerr=bars, **{"capsize": 2, "elinewidth": 0.8, "markersize": 4, **look})


def methods_with_values(frame: pd.DataFrame) -> dict[str, str]:
    """Return the methods of a map with the parameter that each varies and the ends of its values."""
    named = {}
    for method, curve in frame[~frame["method"].isin([ORIGINAL, NOTHING])].groupby("method", sort=False):
        ends = dict.fromkeys([curve["value"].iloc[0], curve["value"].iloc[-1]])
        told = f"{curve['parameter'].iloc[0]} {' to '.join(map(str, ends))}"
        named[str(method)] = f"{method}, {told.replace(' ', NO_BREAK)}"
    return named


def varied(frame: pd.DataFrame, parameter: str) -> list[float]:
    """Return the values of a parameter of a map."""
    return whole(frame.loc[frame["parameter"] == parameter, "value"])


def whole(values: Iterable[Any]) -> list[float]:
    """Return values, each once, whole numbers without a point."""
    floats = dict.fromkeys(map(float, values))
    return [int(value) if value.is_integer() else value for value in floats]


def laplace_noise(results: Results) -> Figure:
    """Figure 5.1: the noise of a counting query at epsilon ln 2, on the line and on the whole numbers."""
    noise, grid = results.frames["noise"], results.frames["grid_noise"]
    figure, ax = new_figure(size=(5.4, 3.4))
    ax.plot(noise["noise"], noise["density"], color=COLOURS[0], label="density on the line (as printed)")
    ax.vlines(grid["noise"], 0, grid["probability"], color=COLOURS[3], linewidth=1)
    ax.plot(grid["noise"], grid["probability"], "s", color=COLOURS[3], markersize=4, label="probability on the grid")
    ax.set(xlabel="noise added to the count", ylabel="density or probability", ylim=(0, None))
    ax.legend(loc="upper right", fontsize=7)
    return rests_on(figure, noise, data=NO_DATA)


def neighbouring_counts(results: Results) -> Figure:
    """Figure 5.2: the answers of two neighbouring tables, and the ratio of their densities."""
    frame = results.frames["neighbours"]
    figure, axes = new_figure(2, 1, size=(5.4, 4.8), sharex=True, height_ratios=[2, 1])
    for place, true in enumerate((100, 101)):
        axes[0].plot(
            frame["answer"], frame[f"density_{true}"], color=COLOURS[3 * place], linestyle="-" if not place else "--",
            label=f"true count {true}",
        )  # fmt: skip
    axes[0].set(ylabel="density of the answer", ylim=(0, None))
    axes[0].legend()
    axes[1].plot(frame["answer"], frame["ratio"], color="black")
    for bound in (0.5, 2):
        axes[1].axhline(bound, color="0.5", linewidth=0.8, linestyle=":")
    axes[1].set(yscale="log", xlabel="answer", ylabel="ratio", yticks=[0.5, 1, 2], yticklabels=["1/2", "1", "2"])
    axes[1].minorticks_off()
    return rests_on(figure, frame, data=NO_DATA, epsilon=results.frames["noise"]["epsilon"].iloc[0])


def privacy_losses(results: Results) -> Figure:
    """Section 5.2: the privacy loss that sampled answers prove, against the one that is promised."""
    frame = results.frames["losses"].reset_index(drop=True)
    names = list(dict.fromkeys(frame["mechanism"]))
    figure, ax = new_figure(size=(7.2, 3.9))
    epsilons = sorted(frame["epsilon"].unique())
    for place, epsilon in enumerate(epsilons):
        part = frame[frame["epsilon"] == epsilon].set_index("mechanism").loc[names]
        rows = np.arange(len(names)) + (place - 0.5 * (len(epsilons) - 1)) * 0.3
        ax.plot(part["promised"], rows, "|", color=COLOURS[3 * place], markersize=16, markeredgewidth=2)
        broken = part["shown"] > part["promised"]
        ax.plot(part["shown"], rows, MARKERS[place], color=COLOURS[3 * place], label=f"epsilon = {epsilon:g}")
        ax.plot(
            part["shown"][broken], rows[broken.to_numpy()], "o", markersize=13, markerfacecolor="none",
            markeredgecolor="black",
        )  # fmt: skip
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set(
        xlabel="privacy loss: promised (bar), at least the marked value at level .99",
        title="ringed: the promise is broken",
    )
    ax.axvline(0, color="0.7", linewidth=0.6)
    ax.legend(loc="upper right")
    return rests_on(figure, frame, data=DRAWN, n_answers=sorted(frame["n"].unique()))


def kmeans(results: Results) -> Figure:
    """Section 5.6: mean squared distance to the nearest centre by variant; mean and 5 to 95 % of data sets."""
    frame = results.frames["kmeans"]
    figure, ax = new_figure(size=(6.6, 4.2))
    wide, ends = means(frame, "epsilon", "variant", "inertia"), spreads(frame, "epsilon", "variant", "inertia")
    # Side by side, so that the bars of the variants do not hide one another.
    for place, name in enumerate(wide):
        shift = 1.03 ** (place - (wide.shape[1] - 1) / 2)
        draw_lines(ax, wide.index * shift, {name: wide[name]}, bars=ends, color=COLOURS[place], marker=MARKERS[place])
    plain = frame.drop_duplicates("repetition")["inertia_without_noise"]
    ax.axhspan(*plain.quantile([0.05, 0.95]), color="0.9", linewidth=0, zorder=0)
    ax.axhline(plain.mean(), color="0.3", linestyle="--", linewidth=0.8, label="without noise")
    ax.set(
        xscale="log",
        yscale="log",
        xlabel="epsilon",
        ylabel="mean squared distance (unit square)",
        title=f"{frame['n'].iloc[0]:,} simulated points, four blobs; {frame['repetition'].nunique()} data sets",
    )
    ax.legend(fontsize=7)
    return rests_on(
        figure, frame, data=DRAWN, n_points=frame["n"].iloc[0], dataset=frame["repetition"].nunique(), repetition=None
    )


def hyperplane(results: Results) -> Figure:
    """Figure 6.1: points with two labels, and how well each method of choosing a line does; mean and 5 to 95 % of runs.

    Points are drawn after the description, so that the horizontal line need not err on as many as in print.
    """
    points, frame = results.frames["hyperplane_points"], results.frames["hyperplane"]
    figure, axes = new_figure(1, 2, size=(9.6, 4))
    for place, (label, part) in enumerate(points.groupby("label")):
        axes[0].plot(
            part["x"], part["y"], MARKERS[place], color=COLOURS[3 * place], markersize=3, label=f"label {label}"
        )
    axes[0].axvline(0, color="black", linewidth=1, label="best line")
    errors = int(((points["y"] > 0) != (points["label"] == "A")).sum())
    told = f"robust line, errs on {errors} (print: {_ERRORS_IN_PRINT})"
    axes[0].axhline(0, color="0.5", linewidth=1, linestyle="--", label=told)
    axes[0].set(xlim=(-2.1, 2.1), ylim=(-2.1, 2.1), aspect="equal", title="points drawn after the description")
    axes[0].set(xlabel="first coordinate", ylabel="second coordinate")
    runs = list(frame.groupby("method", sort=False))
    for place, (name, part) in enumerate(runs):
        # Side by side, so that the bars do not hide one another.
        at = part["epsilon"] * 1.05 ** (place - (len(runs) - 1) / 2)
        look = {"color": COLOURS[place], "marker": MARKERS[place], "linestyle": LINES[place], "label": str(name)}
        draw_spread(axes[1], part["accuracy"].groupby(at), **look)
    expected = frame.dropna(subset=["expected"]).groupby(["method", "epsilon"])["expected"].first()
    for place, name in enumerate(expected.index.unique("method")):
        axes[1].plot(
            expected[name].index, expected[name], color="0.6", linewidth=0.8, zorder=0,
            label="exact expectation" if not place else None,
        )  # fmt: skip
    axes[1].axhline(frame["best"].iloc[0], color="0.3", linestyle="--", linewidth=0.8, label="share of the best line")
    axes[1].set(xscale="log", xlabel="epsilon", ylabel="share of points classified correctly", ylim=(-0.03, 1.03))
    handles = handles_of(axes)
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=3, fontsize=7)
    return rests_on(figure, frame, data=DRAWN, n_points=len(points))


def density_loss(results: Results) -> Figure:
    """Section 6.2: the exact loss of memory and answer together, corrected and as printed."""
    frame = results.frames["density_losses"]
    figure, ax = new_figure(size=(5.4, 3.8))
    wide = means(frame, "epsilon", "variant", "loss")
    draw_lines(ax, wide.index, {name: wide[name] for name in wide}, marker="")
    ax.plot(wide.index, 2 * wide.index, color="black", linestyle="--", linewidth=0.9, label="promised: 2 epsilon")
    ax.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="privacy loss of memory and answer")
    ax.legend()
    return rests_on(figure, frame, data=NO_DATA)


def density_error(results: Results) -> Figure:
    """Section 6.2: the error that 1 stream in 20 exceeds (95 % interval), its bound, and that of Claim 6.4."""
    frame = results.frames["density"]
    figure, ax = new_figure(size=(6.0, 4.6))
    groups = frame.groupby(["epsilon", "universe"])["error"]
    quantile = groups.quantile(0.95).unstack()  # noqa: PD010
    low, high = (groups.apply(lambda error, end=end: _quantile_end(error, end)).unstack() for end in (0.025, 0.975))  # noqa: PD010
    colours = ordered_colours(quantile.shape[1])
    sizes = {f"universe of {size:,}": size for size in quantile}
    bars = {name: (low[size], high[size]) for name, size in sizes.items()}
    draw_lines(ax, quantile.index, {name: quantile[size] for name, size in sizes.items()}, bars=bars, ordered=True)
    for column, told, line in (("bound", "proven bound", ":"), ("claimed_bound", "Claim 6.4, as printed", (0, (5, 1)))):
        bounds = means(frame, "epsilon", "universe", column)
        for place, size in enumerate(bounds):
            ax.plot(
                bounds.index, bounds[size], color=colours[place], linewidth=0.8, linestyle=line,
                label=f"{told}, 5 % beyond" if not place else None,
            )  # fmt: skip
    ax.set(
        xscale="log",
        yscale="log",
        xlabel="epsilon",
        ylabel="error of the density, 95 % quantile",
        title=f"true density {frame['density'].iloc[0]:g}; {frame['repetition'].nunique()} simulated streams a point",
    )
    figure.legend(loc="outside lower center", ncols=3, fontsize=7)
    return rests_on(figure, frame, data=DRAWN)


def _quantile_end(values: pd.Series, level: float) -> float:
    """Return an end of the interval of the 95 % quantile: whatever the distribution, ranks are binomial."""
    rank = int(stats.binom.ppf(level, len(values), 0.95))
    return float(np.sort(values)[min(rank, len(values) - 1)])


def degrees(results: Results) -> Figure:
    """Section 7.4: the error of degree sequences, noisy and isotonic, k edges hidden; mean and 5 to 95 % of runs."""
    frame = results.frames["degrees"]
    figure, panels = _graph_panels(frame, "mean absolute error\nof a degree, edges")
    for ax, part in panels:
        for place, (k, runs) in enumerate(part.groupby("k")):
            for column, line, told in (("error_noisy", ":", "noisy"), ("error_isotonic", "-", "isotonic")):
                draw_spread(
                    ax, runs.groupby("epsilon")[column], linestyle=line, color=COLOURS[3 * place],
                    marker=MARKERS[place], markersize=3, capsize=0, label=f"k = {k:g}, {told}",
                )  # fmt: skip
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return rests_on(figure, frame, data=(PUBLIC, DRAWN), k=sorted(frame["k"].unique()))


def _graph_panels(frame: pd.DataFrame, measured: str) -> tuple[Figure, list[tuple[Axes, pd.DataFrame]]]:
    """Return a figure with a panel a graph, three side by side, and the rows of each."""
    graphs = list(frame.groupby("graph", sort=False))
    rows = -(-len(graphs) // 3)
    figure, axes = new_figure(rows, 3, size=(7, 2.2 * rows + 0.5), sharex=True, sharey=True, squeeze=False)
    for place, (ax, (name, part)) in enumerate(zip(axes.flat, graphs, strict=False)):
        told = f"{STUDY.words[str(name)]}, {part['n_nodes'].iloc[0]:,} nodes"
        ax.set(xscale="log", yscale="log", title=textwrap.fill(told, 26))
        if place + 3 >= len(graphs):
            ax.set_xlabel("epsilon")
            ax.tick_params(labelbottom=True)
        if place % 3 == 0:
            ax.set_ylabel(measured)
    for ax in list(axes.flat)[len(graphs) :]:
        ax.remove()
    return figure, [(ax, part) for ax, (_, part) in zip(axes.flat, graphs, strict=False)]


def node_privacy(results: Results) -> Figure:
    """Section 7.4.1: the error of degrees by what is hidden, edges or a node; mean and 5 to 95 % of runs."""
    frame = results.frames["nodes"]
    figure, panels = _graph_panels(frame, "mean error of a degree\n/ mean degree")
    for ax, part in panels:
        for place, (hidden, runs) in enumerate(part.groupby("hidden", sort=False)):
            look = {"color": COLOURS[place], "marker": MARKERS[place], "label": f"hides {hidden}"}
            draw_spread(ax, runs.groupby("epsilon")["degrees_error"], **look)
        ax.axhline(part["blind_error"].iloc[0], color="0.4", linewidth=0.9, linestyle="--", label="one number for all")
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return rests_on(figure, frame, data=(PUBLIC, DRAWN))


def ru_map_mechanisms(results: Results) -> Figure:
    """Risk-utility map of the mechanisms over epsilon, for people drawn from Adult; risk: gain over guessing."""
    frame, game = results.frames["ru_mechanisms"], results.frames["game"]
    # Half of the guesses are right by chance: a share p of right ones gains 2 p - 1.
    gains = {name: (2 * frame[name] - 1).clip(lower=0) for name in frame if str(name).startswith("risk")}
    frame = frame.assign(**gains, attack="gain over guessing which of a person's two values (2 p - 1)")
    figure = plot_ru_panels(frame, names=methods_with_values(frame))
    people, guesses = game["n"].iloc[0], game["games"].iloc[0]
    return rests_on(figure, frame, data=OWN, n_people=people, n_guesses=guesses, epsilon=varied(frame, "epsilon"))
