"""The figures of holohan2017, and those beyond it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reident import plot_ru_panels
from reident.plotting import COLOURS, LINES, MARKERS, draw_lines, new_figure
from reident.plotting._style import PAGE_INCH, at_page_width, not_run, ordered_colours
from reident.plotting.lattice import plot_lattice
from reident.studies.captions import rests_on
from reident.studies.comparison import DRAWN, OWN, PUBLIC
from reident.studies.holohan2017.figures_parts import (
    METHODS,
    NOT_DP,
    TITLES,
    add_legend,
    adult_alone,
    axes_of_row,
    draw_means,
    draw_panels,
    draw_print,
    printed_of,
    rests,
    scale_x,
    summary_of,
    write_head,
)
from reident.studies.study import Results
from reident.studies.together import confidence

__all__ = ["FIGURES"]

#: Curves within so small a share of one another lie on one another on an axis of several powers of ten.
_NEAR, _ONE = 0.3, 0.05


def _curse(results: Results) -> Figure:
    """Draw the precision loss before and after height or weight joins the quasi-identifiers; crosses: print (Adult)."""
    classes = results.frames["classes"]
    figure, panels = draw_panels(
        classes,
        heading="Precision loss before and after height or weight joins the quasi-identifiers (k-anonymity)",
        measure="precision loss",
    )
    for ax, method, dataset, own in panels:
        series = {
            "quasi-identifiers alone": own["loss_quasi_alone"],
            "with height or weight": own["loss_quasi_with_epsilon_quasi"],
            "height or weight itself": own["loss_epsilon_quasi"],
        }
        draw_lines(ax, own["k"], series, markersize=3, clip_on=False)
        if (dataset, method) == ("adult", "ola"):
            for place, end in enumerate(("without height", "with height as a quasi-identifier")):
                told = printed_of(results, f"III-A: Adult, OLA, k = 20: information loss {end}")
                ax.plot([20] * len(told), told["published"], "x", color=COLOURS[place], markersize=7,
                        markeredgewidth=1.6, label="print (III-A)" if len(told) and not place else "")  # fmt: skip
        scale_x(ax, own["k"], "k")
    for ax in figure.axes:
        top = max(float(np.nanmax(line.get_ydata(), initial=0)) for one in axes_of_row(ax) for line in one.lines)
        ax.set_ylim(-0.03 * top, 1.05 * top)
    add_legend(figure, "")
    return rests(results, figure, classes, repetition=None)


def _errors(results: Results) -> Figure:
    """Draw the relative errors of noise inside classes, on the whole data set, and uniform; one draw of each."""
    errors = results.frames["errors"]
    figure, panels = draw_panels(
        errors,
        heading="Relative error of noise inside classes, of the same epsilon on the whole data set, and of uniform "
        "noise within 5 % (epsilon such that the mean error inside classes is that of the uniform noise)\n"
        f"Inside classes: {NOT_DP}",
        measure="share of records",
        share_y=True,
    )
    for ax, _, _, own in panels:
        for position, (noise, one) in enumerate(own.groupby("noise", sort=False)):
            line = ["-", "--", ":"][position]
            ax.plot(100 * one["relative_error"], one["share"], line, color=COLOURS[position], label=str(noise))
        ax.set_xscale("log")
        ax.set_xlim(0.05, 100)
        ax.set_xlabel("relative error, %")
        ax.annotate(f"k = {own['k'].iloc[0]}\nepsilon = {own['epsilon'].iloc[0]:.1f}", (0.04, 0.97), va="top",
                    xycoords="axes fraction")  # fmt: skip
    add_legend(figure, "")
    return rests(results, figure, errors)


def _error_lines(results: Results, *, over: str, series: str) -> Figure:
    """Draw the mean relative error against {over} for each {series}: means of the runs, 95 % intervals; lines: (8).

    Equation (8) of the paper gives the expectation.
    """
    summary = summary_of(results, "error_realised")
    figure, panels = draw_panels(
        summary,
        heading="Mean relative error. Points: realised, mean of the runs with its 95 % interval (mostly smaller than "
        "the point); lines: expected by equation (8) of the paper\nPrint (VII-A): at most 5 % at epsilon 8. "
        f"{NOT_DP.capitalize()}",
        measure="mean relative error, %",
        share_y=True,
    )
    classes = results.frames["classes"].set_index(["dataset", "method", "k"])["error_at_epsilon_1"]
    for ax, method, dataset, own in panels:
        draw_means(ax, own, over=over, series=series, line="")
        for (_, one), colour in zip(own.groupby(series), ordered_colours(own[series].nunique()), strict=True):
            expected = [100 * classes[dataset, method, k] / e for k, e in zip(one["k"], one["epsilon"], strict=True)]
            ax.plot(one[over], expected, "-", color=colour, linewidth=0.8)
        draw_print(ax, 5)
        scale_x(ax, own[over], over)
        ax.set_yscale("log")
        at = own.groupby(over)["mean"]
        apart = float((at.max() / at.min()).max()) - 1
        if series == "k" and 0 < apart < _NEAR:
            ax.text(0.04, 0.04, f"all k within {100 * apart:.0f} %", transform=ax.transAxes)
    add_legend(figure, series, columns=8)
    return rests(results, figure, summary)


def _linking(results: Results) -> Figure:
    """Draw the share of records linked within their class: means of the runs, 95 % intervals; dotted: at random."""
    summary = summary_of(results, "linking_risk")
    baseline = summary_of(results, "linking_baseline").groupby(["dataset", "method", "k"])["mean"].first()
    figure, panels = draw_panels(
        summary,
        heading="Records linked to the nearest of their class, mean of the runs with its 95 % interval (mostly smaller "
        "than the point); dotted: guessing at random\nPrint (VII-B): k and epsilon can be chosen for at most 5 %. "
        f"{NOT_DP.capitalize()}",
        measure="linking risk, %",
        share_y=True,
    )  # fmt: skip
    for ax, method, dataset, own in panels:
        draw_means(ax, own, over="epsilon", series="k", line="-")
        ks = sorted(own["k"].unique())
        for k, colour in zip(ks, ordered_colours(len(ks)), strict=True):
            ax.axhline(100 * baseline[dataset, method, k], color=colour, linestyle=":", linewidth=0.8)
        draw_print(ax, 5)
        ax.set_yscale("log")
        scale_x(ax, own["epsilon"], "epsilon")
    add_legend(figure, "k")
    return rests(results, figure, summary)


def _suppressed_axis(ax: Axes) -> None:
    ax.set_yscale("symlog", linthresh=0.1)
    ax.set_yticks([0, 0.1, 1, 10, 100], ["0", "0.1", "1", "10", "100"])
    ax.set_ylim(-0.01, 110)


def _suppression(results: Results) -> Figure:
    """Draw the further suppression for 99 % confidence: means of the runs, 95 % intervals; grey, crosses: Table IV.

    Table IV has what OLA itself suppresses: ours is grey, print's the crosses.
    """
    summary = summary_of(results, "suppressed_0.99")
    figure, panels = draw_panels(
        summary,
        heading="Further suppression for 99 % confident k-anonymity, mean of the runs with its 95 % interval (mostly "
        "smaller than the point); the axis is linear below 0.1\nGrey: suppressed by OLA itself; crosses: the same in "
        f"print (Table IV; of its lists, where ours are simulated). {NOT_DP.capitalize()}",
        measure="suppressed, %",
        share_y=True,
    )
    classes = results.frames["classes"].set_index(["dataset", "method"])
    printed = printed_of(results, "Table IV: suppressed by OLA")
    for ax, method, dataset, own in panels:
        draw_means(ax, own, over="k", series="epsilon")
        if method == "ola":
            already = classes.loc[(dataset, method)]
            ax.plot(already["k"], 100 * already["suppressed_share"], color="0.5", linewidth=2, label="by OLA itself")
            mine = printed[printed["row"] == TITLES[dataset][0]]
            ax.plot(mine["column"].str.removeprefix("k = ").astype(int), mine["published"], "x", color="black",
                    markersize=5, label="print")  # fmt: skip
        scale_x(ax, own["k"], "k")
        _suppressed_axis(ax)
    add_legend(figure, "epsilon", columns=9)
    return rests(results, figure, summary)


def _confidences(results: Results) -> Figure:
    """Draw the further suppression against the confidence, a line for each k: means of the runs, 95 % intervals."""
    summary = results.frames["noise_summary"]
    summary = summary[summary["measure"].str.fullmatch(r"suppressed_[\d.]+")]
    names = sorted(summary["measure"].unique(), key=lambda name: float(name.removeprefix("suppressed_")))
    confidences = [float(name.removeprefix("suppressed_")) for name in names]
    shown = sorted(summary["epsilon"].unique())
    epsilon = shown[len(shown) // 2]
    summary = summary[summary["epsilon"] == epsilon].assign(place=lambda f: f["measure"].map(names.index))
    figure, panels = draw_panels(
        summary,
        heading=f"Further suppression at epsilon {epsilon:g} by confidence, mean of the runs with its 95 % interval "
        f"(mostly smaller than the point); the axis is linear below 0.1\n{NOT_DP.capitalize()}",
        measure="suppressed, %",
        share_y=True,
    )
    for ax, _, _, own in panels:
        draw_means(ax, own, over="place", series="k")
        ax.set_xticks(range(len(names)), [f"{100 * c:g}" for c in confidences], rotation=45)
        _suppressed_axis(ax)
        ax.set_xlabel("confidence, %")
    add_legend(figure, "k")
    return rests(results, figure, summary)


def _times(results: Results, *, method: str) -> Figure:
    """Draw times of {method}, medians and range of the runs: height or weight as k- and as epsilon-quasi-identifier."""
    ours, textbook = (
        results.frames[name].loc[lambda f: f["method"] == method] for name in ("times", "times_published")
    )
    if ours.empty:
        return not_run(METHODS[method], results.profile)
    heading = (
        f"CPU seconds with {METHODS[method]}: height or weight as k-quasi-identifier (all) against (k, epsilon); "
        "medians of the runs, bars from the fastest to the slowest; the textbook's form ran once"
    )
    factors = "In the panels: by what factor, least to greatest over k" + ("; nodes likewise" * (method == "ola"))
    told = printed_of(results, f"VII-D: {METHODS[method]}, k-anonymity against (k, epsilon)-anonymity, factor in time")
    if len(told):
        factors += f". Print (VII-D): {told['rule'].iloc[0]} {told['published'].iloc[0]:g}"
    figure, panels = draw_panels(ours, heading=f"{heading}\n{factors}", measure="CPU seconds",
                             tall=2.5 if method == "ola" else 1.9)  # fmt: skip
    for ax, _, dataset, own in panels:
        said = []
        for row, (name, frame) in enumerate((("ours", own), ("textbook", textbook))):
            runs = frame[frame["dataset"] == dataset].groupby("k")
            median = runs.median(numeric_only=True)
            for line, column, label in (("-", "k_anonymity_s", "all"), ("--", "k_epsilon_s", "(k, epsilon)")):
                ends = np.stack([median[column] - runs[column].min(), runs[column].max() - median[column]])
                ax.errorbar(median.index, median[column], yerr=ends, linestyle=line, marker="os"[row], markersize=3,
                            capsize=1.5, linewidth=1, color=COLOURS[row], label=f"{name}: {label}")  # fmt: skip
            factor = median["k_anonymity_s"] / median["k_epsilon_s"]
            said.append(f"{name} {factor.min():.1f} to {factor.max():.1f}")
            if method == "ola":
                nodes = median["n_checked_k_anonymity"] / median["n_checked"]
                said[-1] += f"\n   nodes {nodes.min():.1f} to {nodes.max():.1f}"
        ax.text(0.03, 1.0, "\n".join(said), transform=ax.transAxes, va="top")
        scale_x(ax, own["k"], "k")
        ax.set_yscale("log")
        ax.margins(y=0.45)
    add_legend(figure, "")
    return rests(results, figure, ours)


_MODES = {
    "class range": "range of the class, as published",
    "public bounds": "public bounds",
}


def _label(results: Results) -> Figure:
    """Draw what the label epsilon hides from an intruder who knows all but the tallest; medians, range of the runs.

    Left: differential privacy bounds the evidence by epsilon. Right: means of classes released with noise scaled to
    public bounds, for the whole record.
    """
    frame = results.frames["differencing"]
    figure, axes = new_figure(1, 3, size=(PAGE_INCH, 2.9))
    epsilons = sorted(frame["epsilon"].unique())
    # OLA's points are wide and hollow: Mondrian's lie within them.
    looks: list[dict[str, Any]] = [
        {"marker": "o", "markersize": 7, "markerfacecolor": "none"},
        {"marker": "s", "markersize": 3},
    ]
    ways = [
        (f"{METHODS[method]}, classes of {own['median_size'].median():.0f}: {said}", own, COLOURS[place],
         {"class range": "-", "public bounds": ":"}[mode], looks[row])
        for row, (method, both) in enumerate(frame.groupby("method", sort=False))
        for place, (mode, said) in enumerate(_MODES.items())
        for own in [both[both["mode"] == mode]]
    ]  # fmt: skip
    for ax, measure, label in zip(
        axes,
        ("evidence", "interval_cm", "matched_epsilon"),
        ("evidence on the tallest\n(log-likelihood)", "his 90 % interval\nof the height, cm",
         "epsilon of private means\nas exact"),
        strict=True,
    ):  # fmt: skip
        for said, own, colour, line, look in ways:
            if measure == "matched_epsilon" and line == ":":
                continue
            runs = own.groupby("epsilon")[measure]
            ends = np.stack([runs.median() - runs.min(), runs.max() - runs.median()])
            ax.errorbar(epsilons, runs.median(), yerr=ends, linestyle=line, color=colour, linewidth=1, capsize=1.5,
                        label=said, **look)  # fmt: skip
        if measure != "interval_cm":
            ax.plot(epsilons, epsilons, color="0.4", linestyle="--", linewidth=0.8, label="what the label says")
            ax.set_yscale("log")
        else:
            ax.axhline(frame["prior_interval_cm"].median(), color="0.4", linewidth=0.8, label="without the release")
            ax.set_ylim(bottom=0)
        scale_x(ax, epsilons, "epsilon on the label")
        ax.set_ylabel(label)
    write_head(
        figure,
        f"What the label hides: Adult, k = {frame['k'].iloc[0]}, height simulated. An intruder knows all records of a "
        "class but the tallest. Medians of the runs, bars from the least to the greatest",
    )
    add_legend(figure, "", columns=2)
    return rests_on(figure, frame, data=PUBLIC, **adult_alone(results))


def _spreads(results: Results) -> Figure:
    """Draw what heights and weights half and a third as wide as the survey's would give, beside print."""
    frame = results.frames["spreads"]
    figure, (left, right) = new_figure(1, 2, size=(PAGE_INCH, 3.0))
    adult = frame[frame["dataset"] == "adult"]
    spreads = sorted(adult["spread"].unique())
    for position, (spread, colour) in enumerate(zip(spreads, ordered_colours(len(spreads)), strict=True)):
        own = adult[adult["spread"] == spread].sort_values("k")
        left.plot(own["k"], own["loss_quasi_with_epsilon_quasi"], linestyle=LINES[position], marker=MARKERS[position],
                  markersize=4, linewidth=1, color=colour, label=f"{spread:g} of the survey's spread")  # fmt: skip
    first = adult[adult["spread"] == adult["spread"].iloc[0]].sort_values("k")
    left.plot(
        first["k"], first["loss_quasi_alone"], "s--", color="0.5", markersize=4, linewidth=1, label="without height"
    )
    left.plot([20], [0.8], "x", color="black", markersize=7, linestyle="", label="print, with height (III-A: about .8)")
    scale_x(left, first["k"], "k")
    left.set_ylabel("precision loss of the four others")
    left.set_title("Adult (height simulated), OLA")
    left.set_ylim(0, 1.05)
    left.legend(loc="lower right")
    michigan = frame[frame["dataset"] == "michigan"]
    for position, (method, own) in enumerate(michigan.groupby("method", sort=False)):
        right.plot(own["spread"], 100 * own["error_at_epsilon_1"] / 8, marker=MARKERS[position], markersize=4,
                   linewidth=1, color=COLOURS[position], label=METHODS[str(method)])  # fmt: skip
    draw_print(right, 5)
    right.set_xlabel("spread of weights, as a share of the survey's")
    right.set_ylabel("mean relative error at epsilon 8, %")
    told = "".join(f", k = {k}" for k in michigan["k"].unique()[:1])
    right.set_title(f"Michigan (list and weight simulated){told}")
    right.set_ylim(bottom=0)
    right.legend()
    return rests_on(figure, frame, data=(PUBLIC, DRAWN), repetition=None)


def _lattice(results: Results) -> Figure:
    """Draw the lattice of generalisations of Adult and the node chosen."""
    frame = results.frames["lattice"]
    figure, ax = new_figure(size=(PAGE_INCH, 4.6))
    quasi = [name for name in frame.columns if name not in ("total_level", "satisfies", "k_minimal", "chosen", "k")]
    chosen = frame.loc[frame["chosen"], quasi].iloc[0]
    plot_lattice(frame, quasi, node=[int(level) for level in chosen], ax=ax)
    levels = ", ".join(quasi).replace("_", " ")
    ax.set_title(f"Adult, k = {frame['k'].iloc[0]}, at most 5 % suppressed: levels of {levels}")
    return rests_on(figure, frame, data=OWN, **adult_alone(results))


def _minimality(results: Results) -> Figure:
    """Draw what the minimality attack gains on our own l-diverse Mondrian of Adult, against l; one release of each."""
    frame = results.frames["minimality"]
    figure, axes = new_figure(1, 3, size=(PAGE_INCH, 2.5))
    measures = {
        "attacked_share": "records in classes\nwith refused cuts, %",
        "largest_gain": "largest gain\nof probability, points",
        "gain_above_10_points_share": "records that gain\nabove 10 points, %",
    }
    gained = frame.groupby("k")[list(measures)].max().max(axis=1)
    shown, flat = gained.index[gained > 0], gained.index[gained == 0]
    for ax, (measure, label) in zip(axes, measures.items(), strict=True):
        own = frame[frame["k"].isin(shown)].sort_values("ell")
        series = {f"k = {k}": 100 * one[measure].to_numpy() for k, one in own.groupby("k")}
        draw_lines(ax, sorted(frame["ell"].unique()), series, ordered=True, clip_on=False)
        ax.set_xticks(sorted(frame["ell"].unique()))
        ax.set_xlabel("l (distinct occupations in a class)")
        ax.set_ylabel(label)
        ax.set_ylim(bottom=0)
    if len(shown):
        add_legend(figure, "")
    told = f"; k = {', '.join(map(str, flat))}: 0 in all three" if len(flat) else ""
    write_head(figure, f"Minimality attack on our own l-diverse Mondrian, Adult{told}")
    return rests_on(figure, frame, data=OWN, repetition=None, **adult_alone(results))


def _modes(results: Results) -> Figure:
    """Draw error, bits lost and linking risk by mode of noise against epsilon: means of the runs, 95 % intervals."""
    frame = results.frames["modes"]
    figure, axes = new_figure(1, 3, size=(PAGE_INCH, 3.2))
    measures = {
        "error_realised": "mean relative error of height, %",
        "bits_lost": "bits of height (whole cm) lost, %",
        "linking_risk": "linking risk, %",
    }
    ks = sorted(frame["k"].unique())
    for ax, (measure, label) in zip(axes, measures.items(), strict=True):
        said = []
        for row, (mode, one) in enumerate(frame.groupby("mode", sort=False)):
            for position, (k, colour) in enumerate(zip(ks, ordered_colours(len(ks)), strict=True)):
                runs = 100 * one[one["k"] == k].set_index("epsilon")[measure]
                means = runs.groupby("epsilon").mean()
                ends = np.array([confidence(runs[[epsilon]]) for epsilon in means.index])
                ends = ends.clip(0, None if measure == "error_realised" else 100)
                ax.errorbar(means.index, means, yerr=np.abs(ends.T - means.to_numpy()), linestyle=["-", "--"][row],
                            marker=MARKERS[position], markersize=3.5, color=colour, linewidth=1, capsize=1.5,
                            label=f"{mode}, k = {k}")  # fmt: skip
            apart = one.groupby(["epsilon", "k"])[measure].mean().groupby("epsilon").agg(["min", "max"])
            if len(ks) > 1 and (apart["max"] / apart["min"]).max() < 1 + _ONE:
                said.append(f"{mode}:\nall k within {100 * ((apart['max'] / apart['min']).max() - 1):.1g} %")
        ax.text(0.03, 0.04, "\n".join(said), transform=ax.transAxes)
        scale_x(ax, frame["epsilon"], "epsilon")
        ax.set_yscale("log" if measure != "bits_lost" else "linear")
        ax.set_ylabel(label)
    add_legend(figure, "", columns=3)
    write_head(
        figure,
        "Adult, Mondrian, height simulated; means of the runs with 95 % intervals (mostly smaller than the point)\n"
        "Class range: as published, not differentially private. "
        "Public bounds: epsilon-local differential privacy given the classes",
    )
    return rests_on(figure, frame, data=PUBLIC, **adult_alone(results))


def _ru_map(results: Results) -> Figure:
    """Draw the risk-utility map over k and epsilon by method and data set; spreads: 5 to 95 % of the runs."""
    names = {
        **METHODS,
        **{name: told[0] for name, told in TITLES.items()},
        "class range, k": "Mondrian, class range, k",
        "public bounds, k": "Mondrian, public bounds, k",
    }
    frame = results.frames["ru"]
    told = {
        column: frame[column].str.replace(rf"\b({'|'.join(names)})\b", lambda found: names[found[0]], regex=True)
        for column in ("method", "analysis")
    }
    figure = plot_ru_panels(
        frame.assign(**told),
        risk_limit=0.05,
        title=f"Heights, weights and voter lists simulated; class range: {NOT_DP}",
    )
    return rests(
        results,
        figure,
        results.frames["classes"],
        k=sorted({int(k) for k in frame["method"].str.extract(r"k = (\d+)")[0].dropna()}),
        epsilon=sorted({float(value) for value in frame["value"] if value}),
        repetition=sorted(set(frame.loc[frame["value"] != "", "n"])),
    )


FIGURES: dict[str, Callable[[Results], Figure]] = at_page_width(
    {
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
)
