"""Figures of the study kroll2016: figures 1 to 14 of the paper, its appendix, the attacks that locate, and the map."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import gaussian_kde

from reident.data.datasets import load_boundary
from reident.plotting._labels import Label, place_labels
from reident.plotting._style import COLOURS, LINES, MARKERS, in_house_style, new_figure, say_instead
from reident.plotting.rumap import plot_ru_panels
from reident.studies.kroll2016 import STUDY
from reident.studies.study import Results
from reident.studies.together import confidence

__all__ = ["FIGURES"]

# The precision above which the paper calls the risk too high.
_RISK_LIMIT = 0.25

# Distances that all lie in so small a share of the axis are told, not drawn.
_SPIKE = 0.02


def _source(results: Results, scenario: str) -> str:
    """Say what the points are: a simulated stand-in must never pass for the real list."""
    files = results.frames["files"]
    source = files.loc[files["scenario"] == scenario, "source"].iloc[0]
    if source == "real":
        return "NHS list of 2020"
    return "SIMULATED stand-in" if scenario == "england" else "simulated"


def _outline(ax: Axes, country: str) -> None:
    load_boundary(country).boundary.plot(ax=ax, color="0.5", linewidth=0.7)
    middle = {"germany": 51.0, "england": 52.8, "united_kingdom": 55.0}[country]
    # One degree of longitude is shorter than one of latitude.
    ax.set_aspect(1 / np.cos(np.radians(middle)))
    ax.set_xlabel("longitude, degrees")
    ax.set_ylabel("latitude, degrees")


def figure_1(results: Results) -> Figure:
    """Draw one Lipschitz coordinate: the distance from p to the nearest of three reference points."""
    points = results.frames["coordinate"]
    figure, ax = new_figure(size=(4.2, 5.2))
    _outline(ax, "united_kingdom")
    p, others = points.iloc[0], points.iloc[1:]
    nearest = others["distance_km"].idxmin()
    labels = [Label([(p["lon_deg"], p["lat_deg"])], "p", "black", bold=True)]
    for row in others.itertuples():
        chosen = row.Index == nearest
        colour = COLOURS[3] if chosen else COLOURS[0]
        ax.plot([p["lon_deg"], row.lon_deg], [p["lat_deg"], row.lat_deg], color=COLOURS[3] if chosen else "0.6",
                linewidth=1.8 if chosen else 1.0, linestyle="-" if chosen else "--", zorder=2)  # fmt: skip
        ax.plot(row.lon_deg, row.lat_deg, "o", color=colour, zorder=3)
        labels.append(Label([(row.lon_deg, row.lat_deg)], f"{row.role}: {row.distance_km:.1f} km", colour))
    ax.plot(p["lon_deg"], p["lat_deg"], "s", color="black", markersize=8, zorder=5)
    ax.set_title(f"f(p) = {p['distance_km']:.1f} km, the distance\nto the nearest of three reference points")
    place_labels(ax, labels, size=8)
    return figure


def city_pairs(results: Results) -> Figure:
    """Draw the densities of the released distances of three pairs of cities."""
    cities = results.frames["cities"]
    pairs = {
        "Liverpool-Manchester": "liverpool_manchester_km",
        "London-Sheffield": "london_sheffield_km",
        "Plymouth-Newcastle": "plymouth_newcastle_km",
    }
    figure, axes = new_figure(3, 3, size=(10.0, 7.5))
    true = results.frames["city_pairs"]["distance_km"]
    for row, (title, column), distance in zip(axes, pairs.items(), true, strict=True):
        shortest, longest = float(cities[column].min()) * 0.97, float(distance)
        for ax, d in zip(row, (20, 100, 500), strict=True):
            ax.set_title(f"{title}, d = {d}")
            here = cities.loc[(cities["n_reference_sets"] == d) & cities["reference_set_size"].isin((1, 3, 5)), column]
            if longest - here.min() < _SPIKE * (longest - shortest):
                least = f"{here.min():.2f} km"
                say_instead(ax, f"all released distances\nlie between {least}\nand the true {longest:.2f} km")
                continue
            for i, k in enumerate((1, 3, 5)):
                drawn = cities.loc[
                    (cities["n_reference_sets"] == d) & (cities["reference_set_size"] == k), column
                ].to_numpy()
                at = np.linspace(shortest, longest, 600)
                # Scaled to one height: a nearly exact distance is a spike beside which the others would vanish.
                density = _density(drawn, at)
                ax.plot(at, density / max(density.max(), 1e-12), color=COLOURS[i], linestyle=LINES[i], label=f"k = {k}")
            ax.axvline(distance, color="0.4", linewidth=0.8, linestyle=":")
            ax.set_ylim(bottom=0)
            ax.set_yticks([])
    for ax in axes[-1]:
        ax.set_xlabel("released distance, km")
    axes[0, 0].legend(loc="upper left")
    figure.suptitle("dotted: the true distance, never exceeded", fontsize=9)
    axes[1, 0].set_ylabel("density over embeddings, scaled to equal height")
    return figure


def _density(drawn: np.ndarray, at: np.ndarray) -> np.ndarray:
    if drawn.size < 2 or np.ptp(drawn) < 1e-6:
        return np.zeros_like(at)
    return np.asarray(gaussian_kde(drawn)(at))


def figure_2(results: Results) -> Figure:
    """Draw nearest neighbours and rank correlations against k for each d."""
    utility = results.frames["utility"]
    mean = utility.groupby(["n_reference_sets", "reference_set_size"], as_index=False).mean(numeric_only=True)
    figure, axes = new_figure(1, 2, size=(9.0, 3.8), sharex=True)
    for i, (d, part) in enumerate(mean.groupby("n_reference_sets")):
        look = {"linestyle": LINES[i], "marker": MARKERS[i], "markersize": 4}
        size = part["reference_set_size"]
        axes[0].plot(size, part["nearest_neighbour"], color=COLOURS[i], label=f"d = {d}", **look)
        axes[1].plot(size, part["spearman_centre"], color="black", label=f"d = {d}, centre", **look)
        axes[1].plot(size, part["spearman_border"], color="0.6", label=f"d = {d}, north", **look)
    axes[0].set_ylabel("share of correct nearest neighbours")
    axes[1].set_ylabel("Spearman correlation with true distances")
    for ax in axes:
        ax.set_xlabel("points in a reference set, k")
        ax.set_ylim(top=1.02)
    axes[0].legend(loc="lower left")
    axes[1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=7, frameon=False)
    figure.suptitle(f"400 hospitals in England ({_source(results, 'england')})", fontsize=9)
    return figure


def uses(results: Results) -> Figure:
    """Draw the utilities of the uses that the paper names."""
    utility = results.frames["utility"]
    mean = utility.groupby(["n_reference_sets", "reference_set_size"], as_index=False).mean(numeric_only=True)
    shown = {
        "clusters_ari": "adjusted Rand index of 10 clusters",
        "gwr_overlap": "overlap of GWR weights (100 km)",
        "moran_contiguity_error": "error of Moran's I, 6 nearest",
        "moran_band_error": "error of Moran's I, 60 km band",
        "geary_contiguity_error": "error of Geary's C, 6 nearest",
        "small_error_km": "error of distances below 25 km, km",
        "imputation_error": "error of filled gaps, over that by true distances",
        "gwr_slope_error": "error of local slopes (GWR)",
        "pcnm_overlap": "share of the first 10 eigenvectors (PCNM)",
        "scan_overlap": "overlap of the scan's cluster with the true one",
    }
    figure, axes = new_figure(2, 5, size=(15.0, 6.0), sharex=True)
    for ax, (column, name) in zip(axes.ravel(), shown.items(), strict=True):
        for i, (d, part) in enumerate(mean.groupby("n_reference_sets")):
            ax.plot(part["reference_set_size"], part[column], color=COLOURS[i], linestyle=LINES[i], marker=MARKERS[i],
                    markersize=4, label=f"d = {d}")  # fmt: skip
        if f"{column}_true" in mean:
            ax.axhline(mean[f"{column}_true"].mean(), color="0.5", linewidth=0.8, linestyle=":")
        ax.set_title(name, fontsize=8)
        ax.set_ylim(bottom=0)
    for ax in axes[1]:
        ax.set_xlabel("points in a reference set, k")
    axes[0, 0].legend(loc="lower left")
    figure.suptitle(
        f"400 hospitals in England ({_source(results, 'england')}), simulated attribute; means over "
        f"{utility['dataset'].nunique()} data sets; dotted: by true distances",
        fontsize=9,
    )
    return figure


def files(results: Results, *, scenario: str) -> Figure:
    """Draw both files of {scenario} on the country's outline."""
    points = results.frames["files"]
    points = points[points["scenario"] == scenario]
    figure, axes = new_figure(1, 2, size=(8.0, 4.8), sharey=True)
    for ax, name in zip(axes, ("target", "identification"), strict=True):
        part = points[points["file"] == name]
        _outline(ax, scenario)
        for common, marker, colour, label in (
            (False, "o", "0.55", "in this file only"),
            (True, "^", COLOURS[3], "in both"),
        ):
            shown = part[part["common"] == common]
            ax.scatter(shown["lon_deg"], shown["lat_deg"], s=14 if common else 7, marker=marker, color=colour,
                       label=f"{label} ({len(shown)})", linewidths=0, zorder=2 + common)  # fmt: skip
        ax.set_title(f"{name} file, {len(part)} {STUDY.words[scenario].split()[0]}")
    axes[0].legend(loc="upper left", fontsize=7)
    axes[1].set_ylabel("")
    figure.suptitle(f"{STUDY.words[scenario]} ({_source(results, scenario)})", fontsize=9)
    return figure


def experiment(results: Results, *, frame: str, scenario: str, alpha: float) -> Figure:
    """Draw precision and recall of the attack on {scenario}, the {frame} experiment, alpha {alpha}: a line for each d.

    Bars are 95 % intervals over data sets; thin lines are a stronger clique search than the paper's.
    """
    summary = results.frames[f"{frame}_summary"]
    summary = summary[(summary["scenario"] == scenario) & (summary["alpha"] == alpha)]
    told = f"{STUDY.words[scenario]} ({_source(results, scenario)}), alpha = {alpha:g}"
    if summary.empty:
        return _not_run(told, results.profile)
    figure, axes = new_figure(1, 2, size=(9.0, 3.8), sharey=True)
    for ax, measure in zip(axes, ("precision", "recall"), strict=True):
        for i, (d, part) in enumerate(summary[summary["measure"] == measure].groupby("n_reference_sets")):
            part = part.sort_values("reference_set_size")
            # Points of one k side by side, so that their bars can be read.
            size = part["reference_set_size"] + 0.12 * (i - 1)
            look = {"color": COLOURS[i], "linestyle": LINES[i], "marker": MARKERS[i], "markersize": 4, "linewidth": 1.2}
            bars = (part["high"] - part["mean"]).fillna(0.0)
            ax.errorbar(size, part["mean"], yerr=bars, elinewidth=0.7, capsize=2, label=f"d = {d}", **look)
            ours = summary[(summary["measure"] == f"strong_{measure}") & (summary["n_reference_sets"] == d)]
            ours = ours.sort_values("reference_set_size")
            ax.plot(ours["reference_set_size"], ours["mean"], color=COLOURS[i], linestyle=LINES[i], linewidth=0.5)
            unproven = part["share_proven"] < 1
            ax.plot(size[unproven], part.loc[unproven, "mean"], "o", markersize=9, markerfacecolor="none",
                    markeredgecolor=COLOURS[i], markeredgewidth=0.7)  # fmt: skip
        ax.set_xlabel("points in a reference set, k")
        ax.set_ylabel(measure)
        ax.set_ylim(-0.03, 1.03)
        ax.yaxis.set_tick_params(labelleft=True)
        ax.xaxis.get_major_locator().set_params(integer=True)
    limit = {"color": "0.4", "linewidth": 0.8, "linestyle": (0, (6, 3)), "label": "the paper's\nlimit, 25 %"}
    axes[0].axhline(_RISK_LIMIT, **limit)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    figure.suptitle(
        f"{told}\nbars: 95 % interval of the mean of {int(summary['n'].max())} data sets; thin: a stronger search; "
        "ring: clique not proven maximum",
        fontsize=8,
    )
    return figure


def _not_run(told: str, profile: str) -> Figure:
    """Say that the trials of a figure are not among those of the profile, or of the parameters chosen."""
    figure, ax = new_figure(size=(9.0, 1.2))
    ax.set_axis_off()
    ax.text(0.5, 0.5, f"{told}\nnot run at {profile} with these parameters", ha="center", va="center", fontsize=9)
    return figure


def locating(results: Results) -> Figure:
    """Draw how closely three attacks place all records of a release, by method."""
    located = results.frames["locating"]
    by = ["label", "size"]
    order = located[by].drop_duplicates().itertuples(index=False)
    names = [tuple(row) for row in order]
    figure, axes = new_figure(1, 3, size=(11.5, 0.34 * len(names) + 1.6), sharey=True)
    rows = np.arange(len(names))[::-1]
    attacks = {
        "multilateration": "from the clique attack's matches",
        "registration": "without any match",
        "equalities": "from equal differences of released numbers",
    }
    n = int(located.groupby(by).size().min())
    for i, attack in enumerate(attacks):
        for ax, measure in zip(axes, ("median_km", "within_5km", "precision"), strict=True):
            if f"{attack}_{measure}" not in located:
                continue
            part = located.groupby(by, sort=False)[f"{attack}_{measure}"]
            judged = part.count()
            fewest = judged[judged > 0].min()
            label = attacks[attack] + (f" ({fewest} of {n})" if fewest < n else "")
            middle, low, high = part.median(), part.quantile(0.05), part.quantile(0.95)
            floor = 1e-6 if measure == "median_km" else 0.0
            y = rows + 0.22 * (1 - i)
            at = np.maximum(middle.loc[names].to_numpy(), floor)
            bars = np.stack([at - np.maximum(low.loc[names].to_numpy(), floor), high.loc[names].to_numpy() - at])
            look = {"fmt": MARKERS[i], "color": COLOURS[i], "markersize": 5, "elinewidth": 0.8}
            ax.errorbar(at, y, xerr=np.clip(bars, 0, None), label=label, **look)
    axes[0].set_xscale("log")
    axes[0].set_xlabel("median position error, km")
    axes[1].set_xlabel("share located within 5 km")
    axes[2].set_xlabel("precision of the second round")
    axes[0].set_yticks(rows, [", ".join(filter(None, name)) for name in names])
    for ax in axes:
        ax.grid(axis="y", color="0.92", linewidth=0.6)
        ax.set_axisbelow(True)
    for ax in axes[1:]:
        ax.set_xlim(-0.03, 1.03)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(f"simulated persons in Germany; median and 5-95 % of {n} releases", fontsize=8)
    return figure


def areas(results: Results) -> Figure:
    """Draw what reference places of other areas protect and cost: England at d = 20, alpha .5, by the area."""
    frame = results.frames["areas"]
    by = frame.groupby(["area", "reference_set_size", "dataset"], sort=False).mean(numeric_only=True)
    order = by["effective_k"].groupby(level="area").mean().sort_values(ascending=False).index
    rows = np.arange(len(order))[::-1]
    figure, axes = new_figure(1, 3, size=(9.5, 0.42 * len(order) + 1.6), sharey=True)
    shown = {
        "effective_k": "places of a set nearest to somebody",
        "precision": "precision of the attack",
        "nearest_neighbour": "right nearest neighbours",
    }
    for i, k in enumerate(sorted(frame["reference_set_size"].unique())):
        for ax, (measure, name) in zip(axes, shown.items(), strict=True):
            drawn = by[measure].xs(k, level="reference_set_size").groupby(level="area")
            middle = drawn.mean()[order].to_numpy()
            spread = np.array([confidence(drawn.get_group(area)) for area in order])
            bars = np.nan_to_num(np.clip(np.stack([middle - spread[:, 0], spread[:, 1] - middle]), 0, None))
            ax.errorbar(middle, rows + (0.12, -0.12)[i % 2], xerr=bars, fmt=MARKERS[i], color=COLOURS[i], markersize=5,
                        elinewidth=0.8, label=f"k = {k}")  # fmt: skip
            ax.set_xlabel(name)
    for ax in axes[:2]:
        ax.set_xlim(left=0)
    axes[2].locator_params(axis="x", nbins=4)
    countries = {"england": "England", "united_kingdom": "United Kingdom"}
    axes[0].set_yticks(rows, [countries.get(name, name.replace("_", " ")) for name in order])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(
        f"hospitals in England ({_source(results, 'england')}); mean and 95 % interval over "
        f"{frame['dataset'].nunique()} data sets",
        fontsize=8,
    )
    return figure


def ru_map(results: Results) -> Figure:
    """Draw risk against utility for every method that releases distances."""
    return plot_ru_panels(results.frames["ru_map"], risk_limit=_RISK_LIMIT)


def _panels() -> dict[str, Callable[[Results], Figure]]:
    panels: dict[str, Callable[[Results], Figure]] = {}
    number = 5
    for scenario in ("england", "germany"):
        for frame, alphas in (("first", (0.1, 0.5, 0.9)), ("second", (0.1, 0.5))):
            for alpha in alphas:
                name = f"figure-{number}-{scenario}-{frame}-alpha-{alpha:g}"
                panels[name] = partial(experiment, frame=frame, scenario=scenario, alpha=alpha)
                number += 1
    return panels


FIGURES: dict[str, Callable[[Results], Figure]] = in_house_style(
    {
        "figure-1-one-coordinate": figure_1,
        "appendix-city-pairs": city_pairs,
        "figure-2-utility": figure_2,
        "uses": uses,
        "figure-3-england-files": partial(files, scenario="england"),
        "figure-4-germany-files": partial(files, scenario="germany"),
        **_panels(),
        "reference-areas": areas,
        "locating": locating,
        "ru-map": ru_map,
    }
)
