"""The figures of holohan2017, and those beyond it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reident.plotting import COLOURS, draw_lines, new_figure
from reident.plotting.lattice import plot_lattice
from reident.plotting.rumap import plot_ru_panels
from reident.studies.study import Results

__all__ = ["FIGURES"]

_TITLES = {
    "adult": "Adult (height simulated)",
    "florida": "Florida (list and height simulated)",
    "michigan": "Michigan (list and weight simulated)",
}
_METHODS = {"ola": "OLA", "mondrian": "Mondrian"}
_NOT_DP = "noise scaled to the range of each class, which comes from the data: not differentially private"


def _panels(
    frame: pd.DataFrame, *, heading: str, share_y: str | bool = "row"
) -> tuple[Figure, Iterator[tuple[Axes, str, str, pd.DataFrame]]]:
    """Return a figure with one panel a method (rows) and data set (columns), and what belongs into each."""
    methods = [method for method in _METHODS if (frame["method"] == method).any()]
    datasets = [dataset for dataset in _TITLES if (frame["dataset"] == dataset).any()]
    figure, axes = new_figure(
        len(methods),
        len(datasets),
        size=(3.4 * len(datasets), 2.7 * len(methods) + 0.5),
        sharex=True,
        sharey=share_y,
        squeeze=False,
    )
    figure.suptitle(heading, fontsize=9, x=0.01, ha="left")

    def walk() -> Iterator[tuple[Axes, str, str, pd.DataFrame]]:
        for row, method in enumerate(methods):
            for column, dataset in enumerate(datasets):
                ax = axes[row, column]
                ax.set_title(f"{_TITLES[dataset]}, {_METHODS[method]}", fontsize=7)
                own = frame[(frame["method"] == method) & (frame["dataset"] == dataset)]
                yield ax, method, dataset, own

    return figure, walk()


def _legend(figure: Figure, title: str) -> None:
    """Put the legend of the first panel to the right of all panels."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, title=title, loc="outside right center", fontsize=7, title_fontsize=7)


def _from_zero(figure: Figure) -> None:
    """Let every y axis start at 0, once everything is drawn."""
    for ax in figure.axes:
        ax.set_ylim(
            0, 1.05 * max(float(np.nanmax(line.get_ydata(), initial=0)) for row in _row(ax) for line in row.lines)
        )


def _row(ax: Axes) -> list[Axes]:
    """Return the axes that share the y axis of `ax`."""
    return list(ax.get_shared_y_axes().get_siblings(ax))


def _log_k(ax: Axes, values: Any) -> None:
    ax.set_xscale("log")
    ticks = sorted(set(values))
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()


def _summary(results: Results, measure: str) -> pd.DataFrame:
    summary = results.frames["noise_summary"]
    return summary[summary["measure"] == measure]


def _curse(results: Results) -> Figure:
    """Draw the precision loss of k-anonymity before and after height or weight joins the quasi-identifiers."""
    figure, panels = _panels(
        results.frames["classes"],
        heading="Precision loss before and after height or weight joins the quasi-identifiers (k-anonymity)",
    )
    for ax, _, _, own in panels:
        series = {
            "quasi-identifiers alone": own["loss_quasi_alone"],
            "with height/weight": own["loss_quasi_with_epsilon_quasi"],
            "height/weight itself": own["loss_epsilon_quasi"],
        }
        draw_lines(ax, own["k"], series)
        _log_k(ax, own["k"])
        ax.set_xlabel("k")
        ax.set_ylabel("precision loss")
    _from_zero(figure)
    _legend(figure, "")
    return figure


def _errors(results: Results) -> Figure:
    """Draw the relative errors of noise inside classes, of noise on the whole data set, and of uniform noise."""
    figure, panels = _panels(
        results.frames["errors"],
        heading="Relative error of noise inside classes, of the same epsilon on the whole data set, and of uniform "
        f"noise within 5 %\n(epsilon such that the mean error inside classes is that of the uniform noise)\n{_NOT_DP}",
        share_y=True,
    )
    for ax, _, _, own in panels:
        for position, (noise, one) in enumerate(own.groupby("noise", sort=False)):
            line = ["-", "--", ":"][position]
            ax.plot(100 * one["relative_error"], one["share"], line, color=COLOURS[position], label=str(noise))
        ax.set_xscale("log")
        ax.set_xlim(0.05, 100)
        ax.set_xlabel("relative error, %")
        ax.set_ylabel("share of records")
        ax.annotate(f"k = {own['k'].iloc[0]}, epsilon = {own['epsilon'].iloc[0]:.1f}", (0.04, 0.9),
                    xycoords="axes fraction", fontsize=7)  # fmt: skip
    _legend(figure, "noise")
    return figure


def _error_lines(results: Results, *, over: str, series: str) -> Figure:
    """Draw the mean relative error of the noise inside classes against {over}, a line for each {series}."""
    summary = _summary(results, "error_realised")
    figure, panels = _panels(
        summary, heading=f"Mean relative error: points realised, lines expected by (8)\n{_NOT_DP}", share_y=True
    )
    classes = results.frames["classes"].set_index(["dataset", "method", "k"])["error_at_epsilon_1"]
    for ax, method, dataset, own in panels:
        for position, (value, one) in enumerate(own.groupby(series)):
            colour, marker = COLOURS[position], ["o", "s", "^", "D", "v", "P", "X"][position]
            ax.plot(one[over], 100 * one["mean"], marker, color=colour, markersize=4, label=f"{value:g}")
            expected = [100 * classes[dataset, method, k] / e for k, e in zip(one["k"], one["epsilon"], strict=True)]
            ax.plot(one[over], expected, "-", color=colour, linewidth=1)
        ax.axhline(5, color="0.4", linestyle="--", linewidth=0.8)
        _log_k(ax, own[over])
        ax.set_yscale("log")
        ax.set_xlabel(over)
        ax.set_ylabel("mean relative error, %")
        ax.annotate("5 %", (1.0, 5), xycoords=("axes fraction", "data"), va="center", fontsize=7)
    _legend(figure, series)
    return figure


def _linking(results: Results) -> Figure:
    """Draw the share of records linked to the nearest of their class against epsilon, a line a k."""
    summary = _summary(results, "linking_risk")
    baseline = _summary(results, "linking_baseline").groupby(["dataset", "method", "k"])["mean"].first()
    figure, panels = _panels(
        summary, heading=f"Records linked to the nearest of their class; dotted: guessing at random\n{_NOT_DP}",
        share_y=True,
    )  # fmt: skip
    for ax, method, dataset, own in panels:
        for position, (k, one) in enumerate(own.groupby("k")):
            look: dict[str, Any] = {"color": COLOURS[position], "marker": ["o", "s", "^", "D", "v", "P"][position]}
            bars = 100 * np.stack([one["mean"] - one["low"], one["high"] - one["mean"]])
            ax.errorbar(one["epsilon"], 100 * one["mean"], yerr=bars, markersize=4, linewidth=1, label=f"{k}", **look)
            ax.axhline(100 * baseline[dataset, method, k], color=COLOURS[position], linestyle=":", linewidth=0.8)
        ax.axhline(5, color="0.4", linestyle="--", linewidth=0.8)
        ax.set_yscale("log")
        _log_k(ax, own["epsilon"])
        ax.set_xlabel("epsilon")
        ax.set_ylabel("linking risk, %")
        ax.annotate("5 %", (1.0, 5), xycoords=("axes fraction", "data"), va="center", fontsize=7)
    _legend(figure, "k")
    return figure


def _suppression(results: Results) -> Figure:
    """Draw the further suppression that 99 % confident k-anonymity needs, a line an epsilon."""
    summary = _summary(results, "suppressed_0.99")
    figure, panels = _panels(
        summary, heading=f"Further suppression for 99 % confident k-anonymity\n{_NOT_DP}", share_y=True
    )
    classes = results.frames["classes"].set_index(["dataset", "method"])
    for ax, method, dataset, own in panels:
        series = {f"{epsilon:g}": 100 * one["mean"].to_numpy() for epsilon, one in own.groupby("epsilon")}
        draw_lines(ax, sorted(own["k"].unique()), series)
        if method == "ola":
            already = classes.loc[(dataset, method)]
            ax.plot(already["k"], 100 * already["suppressed_share"], color="0.5", linewidth=2, label="by OLA itself")
        _log_k(ax, own["k"])
        ax.set_yscale("symlog", linthresh=0.1)
        ax.set_yticks([0, 0.1, 1, 5, 10, 100], ["0", "0.1", "1", "5", "10", "100"])
        ax.set_ylim(0, 110)
        ax.set_xlabel("k")
        ax.set_ylabel("suppressed, %")
    _legend(figure, "epsilon")
    return figure


def _confidences(results: Results) -> Figure:
    """Draw the further suppression against the confidence, at one epsilon."""
    noise = results.frames["noise"]
    names = [name for name in noise.columns if name.startswith("suppressed_") and not name.endswith("formula")]
    confidences = [float(name.removeprefix("suppressed_")) for name in names]
    shown = sorted(noise["epsilon"].unique())
    epsilon = shown[len(shown) // 2]
    figure, panels = _panels(
        noise[noise["epsilon"] == epsilon],
        heading=f"Further suppression at epsilon {epsilon:g} by confidence\n{_NOT_DP}",
        share_y=True,
    )
    for ax, _, _, own in panels:
        series = {f"{k}": 100 * one[names].mean().to_numpy() for k, one in own.groupby("k")}
        draw_lines(ax, range(len(names)), series)
        ax.set_xticks(range(len(names)), [f"{100 * c:g}" for c in confidences], rotation=45)
        ax.set_yscale("symlog", linthresh=0.1)
        ax.set_ylim(bottom=0)
        ax.set_yticks([0, 0.1, 1, 10, 100], ["0", "0.1", "1", "10", "100"])
        ax.set_xlabel("confidence, %")
        ax.set_ylabel("suppressed, %")
    _legend(figure, "k")
    return figure


def _times(results: Results, *, method: str) -> Figure:
    """Draw running times of {method} with height or weight as k-quasi-identifier and as epsilon-quasi-identifier."""
    ours, textbook = (
        results.frames[name].loc[lambda f: f["method"] == method] for name in ("times", "times_published")
    )
    figure, panels = _panels(
        ours,
        heading=f"CPU seconds with {_METHODS[method]}: height/weight as k-quasi-identifier (all) against (k, epsilon)\n"
        "In the panels: by what factor, least to greatest over k" + ("; nodes counted likewise" * (method == "ola")),
    )
    for ax, _, dataset, own in panels:
        said = []
        for row, (name, frame) in enumerate((("ours", own), ("textbook", textbook))):
            median = frame[frame["dataset"] == dataset].groupby("k").median(numeric_only=True)
            for line, column, label in (("-", "k_anonymity_s", "all"), ("--", "k_epsilon_s", "(k, epsilon)")):
                ax.plot(median.index, median[column], line, marker="os"[row], markersize=4, color=COLOURS[row],
                        label=f"{name}: {label}")  # fmt: skip
            factor = median["k_anonymity_s"] / median["k_epsilon_s"]
            said.append(f"{name} {factor.min():.1f} to {factor.max():.1f}")
            if method == "ola":
                nodes = median["n_checked_k_anonymity"] / median["n_checked"]
                said[-1] += f" (nodes {nodes.min():.1f} to {nodes.max():.1f})"
        ax.text(0.03, 0.97, "\n".join(said), transform=ax.transAxes, va="top", fontsize=6.5)
        _log_k(ax, own["k"])
        ax.set_yscale("log")
        ax.margins(y=0.25)
        ax.set_xlabel("k")
        ax.set_ylabel("CPU seconds")
    _legend(figure, "")
    return figure


_MODES = {
    "class range": "range of the class, as published",
    "public bounds": "public bounds",
}


def _label(results: Results) -> Figure:
    """Draw what the label epsilon hides: evidence and interval of an intruder who knows all but the tallest."""
    frame = results.frames["differencing"]
    figure, axes = new_figure(1, 3, size=(11.5, 3.7))
    epsilons = sorted(frame["epsilon"].unique())
    ways = [
        (f"{_METHODS[method]}, classes of {own['median_size'].median():.0f}: {said}", own, COLOURS[place],
         {"class range": "-", "public bounds": ":"}[mode], "os"[row])
        for row, (method, both) in enumerate(frame.groupby("method", sort=False))
        for place, (mode, said) in enumerate(_MODES.items())
        for own in [both[both["mode"] == mode]]
    ]  # fmt: skip
    for ax, measure, label in zip(
        axes,
        ("evidence", "interval_cm", "matched_epsilon"),
        ("evidence on the tallest (log-likelihood)", "his 90 % interval of the height, cm",
         "epsilon of private means as exact"),
        strict=True,
    ):  # fmt: skip
        for said, own, colour, line, marker in ways:
            if measure == "matched_epsilon" and line == ":":
                continue
            median = own.groupby("epsilon")[measure].median()
            ax.plot(median.index, median, line, marker=marker, markersize=4, color=colour, linewidth=1, label=said)
        if measure != "interval_cm":
            ax.plot(epsilons, epsilons, color="0.4", linestyle="--", linewidth=0.8, label="what the label says")
            ax.set_yscale("log")
        else:
            ax.axhline(frame["prior_interval_cm"].median(), color="0.4", linewidth=0.8, label="without the release")
            ax.set_ylim(bottom=0)
        _log_k(ax, epsilons)
        ax.set_xlabel("epsilon on the label")
        ax.set_ylabel(label)
    handles, labels = (
        first + second[-1:]
        for first, second in zip(axes[0].get_legend_handles_labels(), axes[1].get_legend_handles_labels(), strict=True)
    )
    figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=7)
    figure.suptitle(
        "What the label hides: Adult, k = 10, height simulated. An intruder knows all records of a class but the "
        "tallest.\nLeft: differential privacy bounds the evidence by epsilon. Right: means of classes released with "
        "noise scaled to public bounds, for the whole record",
        fontsize=8, x=0.01, ha="left",
    )  # fmt: skip
    return figure


def _spreads(results: Results) -> Figure:
    """Draw what heights and weights half and a third as wide as the survey's would give, beside print."""
    frame = results.frames["spreads"]
    figure, (left, right) = new_figure(1, 2, size=(8.6, 3.4))
    adult = frame[frame["dataset"] == "adult"]
    for position, (spread, own) in enumerate(adult.groupby("spread", sort=False)):
        own = own.sort_values("k")
        left.plot(own["k"], own["loss_quasi_with_epsilon_quasi"], "o-", markersize=4, linewidth=1,
                  color=COLOURS[position], label=f"{spread:g} of the survey's spread")  # fmt: skip
    first = adult[adult["spread"] == adult["spread"].iloc[0]].sort_values("k")
    left.plot(
        first["k"], first["loss_quasi_alone"], "s--", color="0.5", markersize=4, linewidth=1, label="without height"
    )
    left.plot([20], [0.8], "x", color="black", markersize=7, label="printed, with height (III-A: about .8)")
    _log_k(left, first["k"])
    left.set_xlabel("k")
    left.set_ylabel("precision loss of the four others")
    left.set_title("Adult (height simulated), OLA", fontsize=8)
    left.set_ylim(0, 1.05)
    left.legend(fontsize=6.5, loc="lower right")
    michigan = frame[frame["dataset"] == "michigan"]
    for position, (method, own) in enumerate(michigan.groupby("method", sort=False)):
        right.plot(own["spread"], 100 * own["error_at_epsilon_1"] / 8, "o-", markersize=4, linewidth=1,
                   color=COLOURS[position], label=_METHODS[str(method)])  # fmt: skip
    right.axhline(5, color="0.4", linestyle="--", linewidth=0.8, label="printed: at most 5 %")
    right.set_xlabel("spread of weights, as a share of the survey's")
    right.set_ylabel("mean relative error at epsilon 8, %")
    right.set_title("Michigan (list and weight simulated), k = 100", fontsize=8)
    right.set_ylim(bottom=0)
    right.legend(fontsize=7)
    return figure


def _lattice(results: Results) -> Figure:
    """Draw the lattice of generalisations of Adult and the node chosen."""
    frame = results.frames["lattice"]
    figure, ax = new_figure(size=(8.5, 5.2))
    quasi = [name for name in frame.columns if name not in ("total_level", "satisfies", "k_minimal", "chosen", "k")]
    chosen = frame.loc[frame["chosen"], quasi].iloc[0]
    plot_lattice(frame, quasi, node=[int(level) for level in chosen], ax=ax)
    levels = ", ".join(quasi).replace("_", " ")
    ax.set_title(f"Adult, k = {frame['k'].iloc[0]}, at most 5 % suppressed: levels of {levels}", fontsize=8)
    return figure


def _minimality(results: Results) -> Figure:
    """Draw what the minimality attack gains, against l."""
    frame = results.frames["minimality"]
    figure, axes = new_figure(1, 3, size=(10.5, 3.1))
    for ax, measure, label in zip(
        axes,
        ("attacked_share", "largest_gain", "gain_above_10_points_share"),
        (
            "records in classes with refused cuts, %",
            "largest gain of probability, points",
            "records that gain above 10 points, %",
        ),
        strict=True,
    ):
        series = {f"k = {k}": 100 * one[measure].to_numpy() for k, one in frame.groupby("k")}
        draw_lines(ax, sorted(frame["ell"].unique()), series)
        ax.set_xticks(sorted(frame["ell"].unique()))
        ax.set_xlabel("l (distinct occupations in a class)")
        ax.set_ylabel(label)
        ax.set_ylim(bottom=0)
    axes[0].legend()
    figure.suptitle("Minimality attack on our own l-diverse Mondrian, Adult", fontsize=9, x=0.01, ha="left")
    return figure


def _modes(results: Results) -> Figure:
    """Draw error, bits lost and linking risk of the modes of noise against epsilon."""
    frame = results.frames["modes"]
    figure, axes = new_figure(1, 3, size=(11, 3.4))
    measures = {
        "error_realised": "mean relative error of height, %",
        "bits_lost": "bits of height (whole cm) lost, %",
        "linking_risk": "linking risk, %",
    }
    for ax, (measure, label) in zip(axes, measures.items(), strict=True):
        for row, (mode, one) in enumerate(frame.groupby("mode", sort=False)):
            for position, (k, own) in enumerate(one.groupby("k")):
                mean = own.groupby("epsilon")[measure].mean()
                ax.plot(mean.index, 100 * mean, ["-", "--"][row], marker=["o", "s", "^"][position % 3], markersize=4,
                        color=COLOURS[position], linewidth=1, label=f"{mode}, k = {k}")  # fmt: skip
        _log_k(ax, frame["epsilon"])
        ax.set_yscale("log" if measure != "bits_lost" else "linear")
        ax.set_xlabel("epsilon")
        ax.set_ylabel(label)
    _legend(figure, "")
    figure.suptitle(
        "Adult, Mondrian, height simulated. Class range: as published, not differentially private. "
        "Public bounds: epsilon-local differential privacy given the classes",
        fontsize=8, x=0.01, ha="left",
    )  # fmt: skip
    return figure


def _ru_map(results: Results) -> Figure:
    """Draw the risk-utility map over k and epsilon, by method and data set."""
    names = {**_METHODS, **{name: name.title() for name in _TITLES}}
    frame = results.frames["ru"]
    told = {
        column: frame[column].str.replace(rf"\b({'|'.join(names)})\b", lambda found: names[found[0]], regex=True)
        for column in ("method", "analysis")
    }
    return plot_ru_panels(
        frame.assign(**told),
        risk_limit=0.05,
        title=f"Heights, weights and voter lists simulated; class range: {_NOT_DP}",
    )


FIGURES: dict[str, Callable[[Results], Figure]] = {
    "figure-1-curse-of-dimensionality": _curse,
    "figure-2-relative-errors": _errors,
    "figure-3-error-against-k": partial(_error_lines, over="k", series="epsilon"),
    "figure-4-error-against-epsilon": partial(_error_lines, over="epsilon", series="k"),
    "figure-5-linking-risk": _linking,
    "figure-6-additional-suppression": _suppression,
    "figure-6b-other-confidences": _confidences,
    "figure-7-time-mondrian": partial(_times, method="mondrian"),
    "figure-8-time-ola": partial(_times, method="ola"),
    "lattice": _lattice,
    "minimality-attack": _minimality,
    "modes": _modes,
    "spread-of-heights": _spreads,
    "what-the-label-hides": _label,
    "ru-map": _ru_map,
}
