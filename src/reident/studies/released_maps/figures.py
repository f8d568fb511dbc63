"""Figures: km against the size of the file, located against noise and rounding, the certificate's level, a map."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from reident.plotting import draw_lines, new_figure
from reident.plotting._labels import Label, place_labels
from reident.plotting._style import styled
from reident.studies.released_maps import reference_sets
from reident.studies.released_maps.trials import FITTING, LEVELS, WRONG_KM, country, errors_km, located_people

__all__ = [
    "isgp_figure",
    "level_figure",
    "map_figure",
    "noise_figure",
    "overlap_figure",
    "protection_figure",
    "reference_level_figure",
    "repair_figure",
    "rough_figure",
    "size_figure",
]

_KNOWN = {
    ("towns", -1): "towns and outline",
    ("outline", -1): "outline only",
    ("file", 50): "file, 50 shared",
    ("file", 5): "file, 5 shared",
    ("file", 0): "file, 0 shared",
}

#: A file that shares enough gives exact places, which a logarithmic axis has no room for.
_LEAST_KM = 0.1


@styled
def size_figure(frame: pd.DataFrame) -> Figure:
    """Draw the median error of all records against the number of records, a line for what the intruder knows."""
    exact = frame[(frame["sigma_km"] == 0) & (frame["step_km"] == 0)]
    figure, ax = new_figure(size=(5.2, 3.6))
    sizes = sorted(exact["n"].unique())
    lines = {}
    for (knowledge, common), name in _KNOWN.items():
        part = exact[(exact["knowledge"] == knowledge) & (exact["n_common"] == common)]
        if len(part):
            lines[name] = part.groupby("n")["median_km"].median().reindex(sizes).clip(lower=_LEAST_KM)
    draw_lines(ax, sizes, lines)
    ax.set(xscale="log", yscale="log", xlabel="released records", ylabel="error of the median record, km")
    ax.set_yticks([_LEAST_KM, 1, 10, 100], [f"{_LEAST_KM:g} or less", "1", "10", "100"])
    ax.set_xticks(sizes, [str(n) for n in sizes])
    ax.minorticks_off()
    ax.legend()
    return figure


@styled
def noise_figure(frame: pd.DataFrame) -> Figure:
    """Draw the error against noise on distances and against rounding, with towns and outline known."""
    towns = frame[frame["knowledge"] == "towns"]
    n = towns.loc[(towns["sigma_km"] > 0) | (towns["step_km"] > 0), "n"].iloc[0]
    figure, axes = new_figure(1, 2, size=(7.2, 3.2), sharey=True)
    labels = {"sigma_km": "noise on each distance, km (standard deviation)", "step_km": "distances rounded to, km"}
    for ax, (column, label) in zip(axes, labels.items(), strict=True):
        other = "step_km" if column == "sigma_km" else "sigma_km"
        part = towns[(towns["n"] == n) & (towns[other] == 0)]
        by = part.groupby(column)["median_km"]
        draw_lines(ax, range(by.ngroups), {"median data set": by.median(), "worst data set": by.max()})
        ax.set_xticks(range(by.ngroups), [f"{value:g}" for value in by.groups])
        ax.set(xlabel=label, yscale="log")
        ax.minorticks_off()
    low, high = axes[0].get_ylim()
    ticks = [tick for tick in (1, 2, 5, 10, 20, 50, 100) if low <= tick <= high]
    axes[0].set_yticks(ticks, [str(tick) for tick in ticks])
    axes[0].set_ylabel("error of the median record, km")
    axes[0].legend()
    figure.suptitle(f"{n} records, towns and outline known")
    return figure


@styled
def overlap_figure(runs: pd.DataFrame) -> Figure:
    """Draw who is placed within 5 km against the records that a file shares, and with towns alone, for each pattern."""
    figure, axes = new_figure(1, 3, size=(8.4, 3.3), sharey=True)
    for ax, (pattern, part) in zip(axes, runs.groupby("pattern", sort=False), strict=True):
        shares = part.pivot_table("within_5_km", "n_common", "release", sort=False)
        towns, by_file = shares.loc[-1], shares.drop(-1)
        lines = {f"{release}, a file": by_file[release] for release in shares}
        lines |= {f"{release}, towns and no file": [towns[release]] * len(by_file) for release in shares}
        draw_lines(ax, range(len(by_file)), lines)
        ax.set_xticks(range(len(by_file)), [str(n_common) for n_common in by_file.index])
        ax.set(xlabel="records that the file shares", title=pattern, ylim=(-0.04, 1.04))
    axes[0].set_ylabel("share placed within 5 km")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


@styled
def level_figure(runs: pd.DataFrame) -> Figure:
    """Draw the share of wrongly placed records that the certificate passes against its nominal level; its power."""
    failing = runs[runs["median_km"] > WRONG_KM]
    right = runs[runs["kind"].isin(FITTING)]
    figure, axes = new_figure(1, 2, size=(7.2, 3.4))
    actual = [failing[f"wrong_{level:g}"].sum() / failing["n_wrong"].sum() for level in LEVELS]
    any_wrong = [(failing[f"wrong_{level:g}"] > 0).mean() for level in LEVELS]
    # A logarithmic axis has no zero: where nobody was wrongly certified there is no point.
    shown = {"records": np.where(actual, actual, np.nan), "runs with any": np.where(any_wrong, any_wrong, np.nan)}
    draw_lines(axes[0], LEVELS, shown)
    axes[0].plot(LEVELS, LEVELS, color="0.5", linewidth=0.8, linestyle=":")
    axes[0].annotate("actual = nominal", (LEVELS[1], LEVELS[1]), (12, -8), textcoords="offset points", fontsize=7)
    axes[0].set(xscale="log", yscale="log", xlabel="nominal level", ylabel="wrongly certified")
    axes[0].set_title(f"{len(failing)} failing runs")
    axes[0].legend()
    sizes = right.groupby("n")
    power = {
        f"{n} records": [part[f"certified_{level:g}"].sum() / (n * len(part)) for level in LEVELS] for n, part in sizes
    }
    draw_lines(axes[1], LEVELS, power)
    axes[1].set(xscale="log", xlabel="nominal level", ylabel="share of records certified", ylim=(0, 1.03))
    axes[1].set_title(f"{len(right)} files that the map fits")
    axes[1].legend(loc="lower right")
    return figure


#: What was done to the distances whose records the second panel of `reference_level_figure` counts together.
_ROUGH = {
    "steps of 1 mm, 1 m": ("rounded to 1 mm", "rounded to 1 m"),
    "steps or noise of 0.1 km": ("rounded to 0.1 km", "noise of 0.1 km"),
    "steps of 0.5, 1 km": ("rounded to 0.5 km", "rounded to 1 km"),
    "steps of 3 km": ("rounded to 3 km",),
    "noise of 1 km": ("noise of 1 km",),
}


@styled
def reference_level_figure() -> Figure:
    """Draw how many records the certificate of `locate_by_reference_sets` passes wrongly, against its nominal level.

    Beside it its power: the share of the records that are placed right which it certifies, by what was released.
    """
    found = reference_sets.by_level()
    runs = reference_sets.rough_levels()
    wrong = found["of these wrong"]
    actual = {
        f"of the {found['placed wrong'].max()} placed wrong": wrong / found["placed wrong"],
        "files with any": found["in files"] / len(runs),
        "of the certified": wrong / found["certified"],
        "of those without a right place": wrong / found["no right place"],
    }
    figure, axes = new_figure(1, 2, size=(8.0, 3.6))
    draw_lines(axes[0], found["level"], {name: share.where(share > 0) for name, share in actual.items()})
    axes[0].plot(found["level"], found["level"], color="0.5", linewidth=0.8, linestyle=":")
    axes[0].annotate("actual = nominal", (0.0005, 0.0005), (4, -9), textcoords="offset points", fontsize=7)
    axes[0].set(xscale="log", yscale="log", xlabel="nominal level", ylabel="share wrongly certified", ylim=(5e-5, 15))
    axes[0].set_yticks([1e-4, 1e-3, 1e-2, 0.1, 1])
    axes[0].set_title(f"{len(runs)} rounded and noisy files")
    axes[0].legend(loc="upper left", ncols=2, fontsize=7)
    power = {}
    for name, releases in _ROUGH.items():
        part = runs[runs["release"].isin(releases)]
        certified = [part[f"certified_{level:g}"].sum() - part[f"wrong_{level:g}"].sum() for level in found["level"]]
        power[name] = np.array(certified) / part["placed_right"].sum()
    draw_lines(axes[1], found["level"], power)
    axes[1].set(xscale="log", xlabel="nominal level", ylabel="certified, of those placed right")
    axes[1].set_ylim(0, 1.03)
    axes[1].set_title(f"{runs['placed_right'].sum():,} records placed right")
    axes[1].legend(loc="lower right", title="released with", title_fontsize=8)
    return figure


@styled
def rough_figure() -> Figure:
    """Draw the share of records of an embedding that its reference sets place right, against rounding and noise."""
    found = reference_sets.by_release()
    found = found.assign(share=(found["located"] - found["wrong"]) / (found["n"] * found["files"]))
    figure, axes = new_figure(1, 2, size=(8.0, 3.4), sharey=True, width_ratios=(3, 2))
    for ax, done in zip(axes, ("rounded to ", "noise of "), strict=True):
        part = found[found["release"].str.startswith(done) & ~found["release"].str.contains("told")]
        sizes = [release.removeprefix(done) for release in part["release"].unique()]
        shares = part.assign(size=part["release"].str.removeprefix(done)).pivot_table("share", "size", ["d", "k", "n"])
        lines = {f"{d} sets of {k}, {n} records": shares[d, k, n].reindex(sizes) for d, k, n in shares}
        draw_lines(ax, range(len(sizes)), lines)
        ax.set_xticks(range(len(sizes)), sizes)
        ax.set(xlabel=f"each distance {done.strip()}" if "rounded" in done else "noise on each distance")
        ax.set_ylim(-0.04, 1.04)
    axes[0].set_ylabel("share of records placed right")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


@styled
def map_figure(**params: Any) -> Figure:
    """Draw one file on its country: where people live, where the attack puts them, and lines between."""
    homes, found = located_people(params)
    _, area = country(params["country"])
    off = errors_km(found.positions, homes)
    figure, ax = new_figure(size=(4.6, 5.4))
    for part in getattr(area, "geoms", [area]):
        ax.plot(*part.exterior.xy, color="0.6", linewidth=0.7)
    true, placed = (frame[["lon_deg", "lat_deg"]].to_numpy().T for frame in (homes, found.positions))
    ax.plot([true[0], placed[0]], [true[1], placed[1]], color="0.3", linewidth=0.5)
    ax.plot(*true, "o", markersize=3, color="#0072B2", label="home")
    ax.plot(*placed, "x", markersize=3, color="#D55E00", label="placed by the attack")
    ax.set(xlabel="longitude, degrees", ylabel="latitude, degrees")
    ax.set_aspect(1 / np.cos(np.radians(homes["lat_deg"].mean())))
    ax.set_title(f"{len(homes)} records, median error {np.median(off):.1f} km")
    figure.legend(loc="outside lower center", ncols=2)
    return figure


@styled
def protection_figure(frame: pd.DataFrame) -> Figure:
    """Draw each change of an embedding on the risk-utility map: who is located against whose neighbours are kept."""
    figure, ax = new_figure(size=(5.6, 4.4))
    means = frame.groupby("candidate", sort=False)[["nearest_neighbour", "located"]].mean()
    ax.plot(means["nearest_neighbour"], means["located"], "o", markersize=4, color="#0072B2")
    ax.set(xlabel="utility: nearest neighbours kept", ylabel="risk: share located", ylim=(-0.04, 1.08))
    ax.set_xlim(-0.05, 1.25)
    ax.set_xticks(np.linspace(0, 1, 6))
    place_labels(ax, [Label([(x, y)], name, "#0072B2") for name, x, y in means.itertuples()])
    return figure


_LINES = {
    "sets alone, up to a motion": "shape_median_km",
    "with a list of towns": "towns_median_km",
    "with a file": "file_median_km",
}


@styled
def isgp_figure(frame: pd.DataFrame) -> Figure:
    """Draw the median error against radius and spacing, the records shared, and the size of the file."""
    published = frame[frame["longest_km"] == 0]
    usual = published.iloc[0]
    same_grid = (published["radius_km"] == usual["radius_km"]) & (published["spacing_km"] == usual["spacing_km"])
    labels = (published["radius_km"].map("{:g}".format) + " / " + published["spacing_km"].map("{:g}".format)).rename(
        "grid"
    )
    most = published["n_common"] == usual["n_common"]
    panels = {
        "radius / spacing, km": (published[(published["n"] == usual["n"]) & most], labels),
        "records shared": (published[same_grid & (published["n"] == usual["n"])], published["n_common"]),
        "records": (published[same_grid & (most | (published["n"] != usual["n"]))], published["n"]),
    }
    figure, axes = new_figure(1, 3, size=(9.0, 3.2), sharey=True)
    for ax, (label, (part, by)) in zip(axes, panels.items(), strict=True):
        medians = part.groupby(by.loc[part.index], sort=label != "radius / spacing, km")[list(_LINES.values())].median()
        draw_lines(ax, range(len(medians)), {name: medians[column] for name, column in _LINES.items()})
        ax.set_xticks(range(len(medians)), [str(each) for each in medians.index])
        ax.set(xlabel=label, yscale="log")
    axes[0].set_ylabel("error of the median record, km")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


@styled
def repair_figure(frame: pd.DataFrame) -> Figure:
    """Draw the mask and its repairs: who is placed within 5 km against whose nearest neighbour is kept."""
    usual = frame.iloc[0]
    same = (
        frame[["n", "radius_km", "spacing_km", "n_common"]] == usual[["n", "radius_km", "spacing_km", "n_common"]]
    ).all(axis=1)
    means = frame[same].groupby(["noise", "longest_km"])[["nearest_neighbour", "within_5_km"]].mean()
    figure, ax = new_figure(size=(5.0, 3.8))
    for (noise, longest), row in means.iterrows():
        name = "as published" if longest == 0 else f"noise {noise:g}, ties to {longest:g} km"
        ax.plot(row["nearest_neighbour"], row["within_5_km"], "o", markersize=5, label=name)
    ax.set(xlabel="utility: nearest neighbours kept", ylabel="risk: share placed within 5 km", ylim=(-0.04, 1.06))
    figure.legend(loc="outside lower center", ncols=2, fontsize=7)
    return figure
