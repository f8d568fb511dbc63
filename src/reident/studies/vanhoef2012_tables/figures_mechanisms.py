"""Figures of Vanhoef (2012), chapters 5, 6 and 7.4: the mechanisms, drawn from the study's frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from reident.plotting._style import COLOURS, MARKERS, draw_lines, new_figure, ordered_colours
from reident.plotting.rumap import plot_ru_panels
from reident.studies.study import Results


def means(frame: pd.DataFrame, rows: str, columns: str, value: str) -> pd.DataFrame:
    """Return the mean over the runs, a row each of `rows` and a column each of `columns`."""
    return frame.groupby([rows, columns], sort=False)[value].mean().unstack(columns, sort=False)  # noqa: PD010


def spreads(frame: pd.DataFrame, rows: str, columns: str, value: str) -> dict[Any, np.ndarray]:
    """Return the 5 % and 95 % quantiles over the runs of each column, as the ends of its bars."""
    wide = frame.groupby([rows, columns], sort=False)[value].quantile([0.05, 0.95]).unstack()  # noqa: PD010
    return {name: part.droplevel(columns).to_numpy().T for name, part in wide.groupby(level=columns, sort=False)}


def laplace_noise(results: Results) -> Figure:
    """Figure 5.1: the noise of a counting query at epsilon = ln 2, on the line and on the whole numbers."""
    noise, grid = results.frames["noise"], results.frames["grid_noise"]
    figure, ax = new_figure(size=(5.4, 3.4))
    ax.plot(noise["noise"], noise["density"], color=COLOURS[0], label="density on the line (as printed)")
    ax.vlines(grid["noise"], 0, grid["probability"], color=COLOURS[3], linewidth=1)
    ax.plot(grid["noise"], grid["probability"], "s", color=COLOURS[3], markersize=4, label="probability on the grid")
    ax.set(xlabel="noise added to the count", ylabel="density or probability", ylim=(0, None))
    ax.legend(loc="upper right", fontsize=7)
    return figure


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
    return figure


def privacy_losses(results: Results) -> Figure:
    """Section 5.2: the privacy loss that samples prove, against the one that is promised."""
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
    return figure


def kmeans(results: Results) -> Figure:
    """Section 5.6: mean squared distance to the nearest centre against epsilon, by variant; mean and 5 to 95 %."""
    frame = results.frames["kmeans"]
    figure, ax = new_figure(size=(6.6, 4.2))
    wide, ends = means(frame, "epsilon", "variant", "inertia"), spreads(frame, "epsilon", "variant", "inertia")
    # Side by side, so that the bars of the variants do not hide one another.
    for place, name in enumerate(wide):
        shift = 1.03 ** (place - (wide.shape[1] - 1) / 2)
        draw_lines(ax, wide.index * shift, {name: wide[name]}, bars=ends, color=COLOURS[place], marker=MARKERS[place])
    ax.axhline(frame["inertia_without_noise"].mean(), color="0.3", linestyle="--", linewidth=0.8, label="without noise")
    ax.set(
        xscale="log",
        yscale="log",
        xlabel="epsilon",
        ylabel="mean squared distance (unit square)",
        title=f"{frame['n'].iloc[0]:,} simulated points, four blobs; {frame['repetition'].nunique()} data sets",
    )
    ax.legend(fontsize=7)
    return figure


def hyperplane(results: Results) -> Figure:
    """Figure 6.1: points with two labels, and how well each method of choosing a line does."""
    points, frame = results.frames["hyperplane_points"], results.frames["hyperplane"]
    figure, axes = new_figure(1, 2, size=(9.6, 4))
    for place, (label, part) in enumerate(points.groupby("label")):
        axes[0].plot(
            part["x"], part["y"], MARKERS[place], color=COLOURS[3 * place], markersize=3, label=f"label {label}"
        )
    axes[0].axvline(0, color="black", linewidth=1, label="best line")
    axes[0].axhline(0, color="0.5", linewidth=1, linestyle="--", label="robust line")
    axes[0].set(xlim=(-2.1, 2.1), ylim=(-2.1, 2.1), aspect="equal", title="simulated after the description")
    axes[0].legend(fontsize=7, loc="upper right")
    wide = means(frame, "epsilon", "method", "accuracy")
    draw_lines(axes[1], wide.index, {name: wide[name] for name in wide})
    expected = frame.dropna(subset=["expected"]).groupby(["method", "epsilon"])["expected"].first()
    for place, name in enumerate(expected.index.unique("method")):
        axes[1].plot(
            expected[name].index, expected[name], color="0.6", linewidth=0.8, zorder=0,
            label="exact expectation" if not place else None,
        )  # fmt: skip
    axes[1].axhline(frame["best"].iloc[0], color="0.3", linestyle="--", linewidth=0.8)
    axes[1].set(xscale="log", xlabel="epsilon", ylabel="points classified correctly", ylim=(0, 1.05))
    axes[1].legend(fontsize=7, loc="lower right")
    return figure


def density_loss(results: Results) -> Figure:
    """Section 6.2: the exact loss of memory and answer together, corrected and as printed."""
    frame = results.frames["density_losses"]
    figure, ax = new_figure(size=(5.4, 3.8))
    wide = means(frame, "epsilon", "variant", "loss")
    draw_lines(ax, wide.index, {name: wide[name] for name in wide}, marker="")
    ax.plot(wide.index, 2 * wide.index, color="black", linestyle="--", linewidth=0.9, label="promised: 2 epsilon")
    ax.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="privacy loss of memory and answer")
    ax.legend()
    return figure


def density_error(results: Results) -> Figure:
    """Section 6.2: the error of the estimated density, with its bound."""
    frame = results.frames["density"]
    figure, ax = new_figure(size=(6.0, 4))
    quantile = frame.groupby(["epsilon", "universe"])["error"].quantile(0.95).unstack()  # noqa: PD010
    colours = ordered_colours(quantile.shape[1])
    draw_lines(ax, quantile.index, {f"universe of {size:,}": quantile[size] for size in quantile}, ordered=True)
    bounds = means(frame, "epsilon", "universe", "bound")
    for place, size in enumerate(bounds):
        ax.plot(
            bounds.index, bounds[size], color=colours[place], linewidth=0.8, linestyle=":",
            label="bound, .05" if not place else None,
        )  # fmt: skip
    ax.set(
        xscale="log",
        yscale="log",
        xlabel="epsilon",
        ylabel="error of the density, 95 % quantile",
        title=f"true density .3; {frame['repetition'].nunique()} simulated streams a point",
    )
    ax.legend(fontsize=7)
    return figure


def degrees(results: Results) -> Figure:
    """Section 7.4: the error of degree sequences with and without isotonic regression."""
    frame = results.frames["degrees"]
    names = list(dict.fromkeys(frame["graph"]))
    figure, axes = new_figure(1, len(names), size=(2.6 * len(names) + 0.6, 3.4), sharey=True)
    for ax, name in zip(axes, names, strict=True):
        part = frame[frame["graph"] == name]
        for place, k in enumerate(sorted(part["k"].unique())):
            runs = part[part["k"] == k].groupby("epsilon")
            mean = runs[["error_noisy", "error_isotonic"]].mean()
            for column, line in (("error_noisy", ":"), ("error_isotonic", "-")):
                ends = runs[column].quantile([0.05, 0.95]).unstack().to_numpy().T  # noqa: PD010
                ax.errorbar(
                    mean.index, mean[column], yerr=np.abs(ends - mean[column].to_numpy()), fmt=line,
                    color=COLOURS[3 * place], marker=MARKERS[place], markersize=3, elinewidth=0.8,
                    label=f"k = {k:g}, {'as drawn' if line == ':' else 'isotonic'}",
                )  # fmt: skip
        ax.set(xscale="log", yscale="log", xlabel="epsilon", title=f"{name}\n{part['n_nodes'].iloc[0]:,} nodes")
    axes[0].set_ylabel("mean absolute error of a degree")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=7)
    return figure


def node_privacy(results: Results) -> Figure:
    """Section 7.4.1: the error of a degree sequence that hides an edge, five edges, or a node with all its edges."""
    frame = results.frames["nodes"]
    names = list(dict.fromkeys(frame["graph"]))
    figure, axes = new_figure(1, len(names), size=(2.6 * len(names) + 0.6, 3.6), sharey=True)
    for ax, name in zip(axes, names, strict=True):
        part = frame[frame["graph"] == name]
        for place, (hidden, runs) in enumerate(part.groupby("hidden", sort=False)):
            groups = runs.groupby("epsilon")["degrees_error"]
            mean = groups.mean()
            bars = np.abs(np.stack([mean - groups.quantile(0.05), groups.quantile(0.95) - mean]))
            ax.errorbar(
                mean.index, mean, yerr=bars, color=COLOURS[place], marker=MARKERS[place], markersize=4, capsize=2,
                label=f"hides {hidden}",
            )  # fmt: skip
        ax.axhline(part["blind_error"].iloc[0], color="0.4", linewidth=0.9, linestyle="--", label="one number for all")
        ax.set(xscale="log", yscale="log", xlabel="epsilon", title=f"{name}\n{part['n_nodes'].iloc[0]:,} nodes")
    axes[0].set_ylabel("mean error of a degree / mean degree")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def ru_map_mechanisms(results: Results) -> Figure:
    """Risk-utility map of the mechanisms over epsilon."""
    return plot_ru_panels(results.frames["ru_mechanisms"])
