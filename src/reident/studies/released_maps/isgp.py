"""Intersecting sets of grid points: what the sets alone give away, what a file adds, and what a repair keeps.

After the abstract of Schnell, Klingwort and Farrow (2021); see `reident.mask_by_grid_sets` for what is not known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from reident._check import check_choice
from reident._types import FloatArray
from reident.places import spatial
from reident.places.distances import great_circle_km
from reident.places.grid_sets import SetDistances, mask_by_grid_sets, repair_grid_sets
from reident.places.population_location import locate_by_population
from reident.places.registration import registration_attack
from reident.places.shape import fit_shape, gaps_km, procrustes, unit_vectors
from reident.plotting import draw_lines, new_figure
from reident.studies.released_maps.trials import SCATTER_KM, country, errors_km, people
from reident.sweep import grid

__all__ = ["ISGP_PROFILES", "isgp_figure", "isgp_trial", "repair_figure", "run_isgp"]

#: Profile -> data sets, usual number of records, all numbers of records, radii and spacings (km), records shared.
ISGP_PROFILES: dict[str, tuple[int, int, tuple[int, ...], tuple[tuple[float, float], ...], tuple[int, ...]]] = {
    "smoke": (1, 60, (60,), ((150.0, 15.0),), (30,)),
    "quick": (1, 150, (50, 150), ((150.0, 15.0), (100.0, 15.0), (50.0, 10.0)), (50, 10)),
    "full": (
        10, 300, (100, 300, 1000),
        ((400.0, 20.0), (150.0, 15.0), (100.0, 10.0), (100.0, 15.0), (50.0, 10.0)), (60, 30, 20, 5, 0),
    ),
}  # fmt: skip
#: Repairs: standard deviation of the noise in a size, grid points, and the longest tie that is published, km.
_REPAIRS = ((5.0, 300.0), (20.0, 300.0), (80.0, 300.0), (20.0, 60.0), (80.0, 60.0), (80.0, 30.0))
_PUBLISHED = {"noise": 0.0, "longest_km": 0.0}


def run_isgp(profile: str = "quick", *, first_dataset: int = 100, **options: Any) -> pd.DataFrame:
    """Run the sweep of one profile: radius and spacing, records shared, size of the file, and repairs."""
    n_datasets, usual, sizes, grids, shared = ISGP_PROFILES[check_choice(profile, "profile", list(ISGP_PROFILES))]
    radius, spacing = grids[0]
    most = max(shared)
    cells: list[dict[str, Any]] = [
        {"n": usual, "radius_km": r, "spacing_km": s, "n_common": most, **_PUBLISHED} for r, s in grids
    ]
    at_usual = {"radius_km": radius, "spacing_km": spacing}
    cells += [{"n": usual, **at_usual, "n_common": common, **_PUBLISHED} for common in shared[1:]]
    cells += [{"n": n, **at_usual, "n_common": min(most, n), **_PUBLISHED} for n in sizes if n != usual]
    cells += [
        {"n": usual, **at_usual, "n_common": most, "noise": noise, "longest_km": longest}
        for noise, longest in (_REPAIRS if profile != "smoke" else _REPAIRS[:1])
    ]
    datasets = range(first_dataset, first_dataset + n_datasets)
    settings = [{**cell, "dataset": dataset} for cell in cells for dataset in datasets]
    return grid.run(settings, isgp_trial, stem="isgp_sets", **options)


def isgp_trial(params: dict[str, Any], _: np.random.Generator) -> dict[str, Any]:
    """Attack one release of sets: by the sets alone, with the map of towns, and with a file; measure its uses."""
    places, area = country("germany")
    n, n_common = params["n"], params["n_common"]
    rng = np.random.default_rng([params["dataset"], n, 23])
    everybody = people(places, area, 2 * n - n_common, rng)
    homes, known = everybody.iloc[:n], everybody.iloc[n - n_common :].rename(index="k{}".format)
    sets = mask_by_grid_sets(homes, radius_km=params["radius_km"], spacing_km=params["spacing_km"], rng=rng)
    made = sets.distances()
    if params["longest_km"]:
        made = repair_grid_sets(sets, noise=params["noise"], longest_km=params["longest_km"], rng=rng)
    table = homes.drop(columns=["lat_deg", "lon_deg"])
    towns = errors_km(
        locate_by_population(made.distances_km, places, area, made.sd_km, scatter_km=SCATTER_KM).positions, homes
    )
    found = registration_attack(
        (table, made.distances_km), known, quasi=list(table.columns), sd_km=made.sd_km, n_pairs=500, rng=rng
    )
    with_file, shape = errors_km(found.positions, homes), _shape_error_km(made, homes)
    true = great_circle_km(homes["lat_deg"], homes["lon_deg"])
    uses = spatial.distance_utilities(true, made.distances_km)
    return {
        "shape_median_km": float(np.median(shape)), "towns_median_km": float(np.median(towns)),
        "file_median_km": float(np.median(with_file)), "file_p_value": found.p_value,
        "within_5_km": float(max((towns <= 5).mean(), (with_file <= 5).mean())),
        "pairs_that_meet": float(np.isfinite(made.sd_km)[np.triu_indices(n, 1)].mean()),
        **{k: v for k, v in uses.items() if isinstance(v, float)},
    }  # fmt: skip


def _shape_error_km(made: SetDistances, homes: pd.DataFrame) -> FloatArray:
    """Return how far the shape that the sets give lies from the homes after the best motion, km."""
    true = unit_vectors(homes["lat_deg"], homes["lon_deg"])
    x = fit_shape(made.distances_km, made.sd_km).x
    weight = np.ones(len(x))
    for _ in range(10):
        gap = gaps_km(x @ procrustes(x, true, weight).T, true)
        weight = 1 / (1 + (gap / max(float(np.median(gap)), 1e-9)) ** 2)
    return gap


_LINES = {
    "sets alone, up to a motion": "shape_median_km",
    "with a list of towns": "towns_median_km",
    "with a file": "file_median_km",
}


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
