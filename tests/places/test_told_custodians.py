"""Statements of the note and the guide for custodians, against the measured runs."""

from pathlib import Path

import numpy as np
import pandas as pd

import reference_runs as example
from reident import great_circle_km
from reident.data.datasets import embedded_file
from reident.experiments.released_maps import FITTING, load_country, people
from reident.location import locate_by_population
from research_note import NOTE, exact_now, measured, note


def plain_distances():
    runs = pd.read_csv(embedded_file("measured/plain_distances.csv"))
    assert runs["dataset"].min() >= 400
    assert (runs.groupby("release").size() == 10).all()
    return runs


def test_plain_distances_give_places_away():
    towns = pd.read_csv(embedded_file("measured/towns.csv"))
    assert (towns.loc[towns["release"].isin(["exact", "20 km of noise"]), "within_25_km"] == 1).all()
    assert (towns["n"] == 500).all()
    recommended = exact_now().query("n == 500 and d == 20 and k == 30")
    assert len(recommended) == 20
    assert (recommended["located"] >= 0.95 * 500).all()
    runs = plain_distances()
    km = runs.groupby("release")["median_km"].median()
    assert km[["noise of 80 km", "rounded to 100 km", "a tenth of the pairs"]].max() < 10
    assert runs["seconds"].quantile(0.9) < 10
    kinds = measured().groupby("kind")[["certified_0.01", "n"]].sum()
    assert kinds.loc["england on germany", "certified_0.01"] == 0
    fitting = kinds.loc[list(FITTING)].sum()
    assert fitting["certified_0.01"] / fitting["n"] > 0.8


def test_sparse_and_very_noisy_distances_were_hardly_opened():
    runs = plain_distances()
    near = runs.groupby("release")["within_5_km"].agg(["mean", "max"])
    assert near.loc["a fiftieth of the pairs", "max"] < 1 / 300
    assert near.loc["only below 30 km", "mean"] < 0.05
    assert runs.loc[runs["release"] == "noise of 320 km", "median_km"].median() > 40
    few = runs[runs["release"] == "20 records"]
    assert (few["certified"] == 0).all()
    assert few["within_25_km"].mean() > 0.9


def test_labels_and_files_are_not_used_and_a_second_map_tells_the_country():
    # No label and no file: the attack takes distances alone, and finds the same whatever table comes with them.
    places, area = load_country("germany")
    homes = people(places, area, 100, np.random.default_rng([400, 1]))
    distances = great_circle_km(homes["lat_deg"], homes["lon_deg"])
    alone = locate_by_population(distances, places, area)
    labelled = locate_by_population((homes, distances), places, area)
    np.testing.assert_array_equal(alone.positions, labelled.positions)
    elsewhere = locate_by_population(distances, *load_country("england"))
    assert alone.certified().mean() > 0.5 > 0.05 > elsewhere.certified().mean()


def plain_rows():
    """The rows of the note's table of distances released in other ways, from the runs."""
    for release, part in plain_distances().groupby("release", sort=False):
        columns, off = ["within_5_km", "within_25_km", "certified", "certified_wrong"], part["median_km"]
        shares = " | ".join(f"{share:.0%}" for share in part[columns].mean())
        yield f"| {release} | {off.median():.1f} km | {off.max():.1f} km | {shares} |".replace("%", " %")


def test_the_note_says_what_defends_and_what_does_not():
    said = NOTE.read_text(encoding="utf-8")
    for row in plain_rows():
        assert row in said, row
    said, runs = note(), plain_distances()
    others = ["work places", "scatter supposed as 5 km", "scatter supposed as 22 km", "populations off by a half"]
    others = runs[runs["release"].isin([*others, "only 100 towns known"])]
    assert others["release"].nunique() == 5
    assert (others["within_25_km"] == 1).all()
    sure = others.groupby("release")["certified"].mean()
    assert sure[["scatter supposed as 22 km", "only 100 towns known"]].max() < 0.5 < 0.99 < sure.nlargest(3).min()
    assert "the 100 largest towns alone cost little: all records lie within 25 km; too large a scatter and few" in said
    worst = runs["certified_wrong"].max()
    assert f"up to {worst:.0%} of the records of one file".replace("%", " %") in said
    judged = pd.read_csv(embedded_file("measured/protection.csv"))
    means = judged.groupby("candidate")[["located", "nearest_neighbour"]].mean()
    assert (judged.groupby("candidate").size() == 3).all()
    unopened = means[means["located"] < 0.05]
    assert set(unopened.index) == {
        "blocks of 50", "a tenth of the pairs", "only below 30 km", "noise of 20 km", "5 sets of 30"
    }  # fmt: skip
    assert f"at most {unopened['located'].max():.0%} of the records".replace("%", " %") in said
    best, then = unopened["nearest_neighbour"].nlargest(2)
    assert unopened["nearest_neighbour"].idxmax() == "only below 30 km"
    assert f"keeps {best:.0%} of nearest neighbours, five sets of 30 {then:.0%}".replace("%", " %") in said
    assert unopened.loc["5 sets of 30", "nearest_neighbour"] == then


def test_the_guide_tells_custodians_what_was_measured():
    guide = " ".join((Path(__file__).parents[2] / "GUIDE.md").read_text(encoding="utf-8").split())
    found = example.summary().set_index(["d", "k", "n", "rounding_km", "noise_km", "missing"])

    recommended = found.loc[(20, 30, 500, 0, 0, 0)]
    sets = f"{recommended['sets with 95 % located']:.0f} of {recommended['data sets']:.0f} data sets"
    assert f"at least 95 % of 500 records back to the metre on {sets}" in guide
    now = example.by_release().query("n == 500 and k == 10")
    located = (now["located"] / (now["n"] * now["files"])).set_axis(now["release"])

    def given_back(release):
        return f"{located[release]:.0%}".replace("%", " %")

    rounded = ", to ".join(f"{km:g} km {given_back(f'rounded to {km:g} km')}" for km in (0.1, 0.5, 1, 3))
    noisy = ", of ".join(f"{km:g} km {given_back(f'noise of {km:g} km')}" for km in (0.1, 1, 5))
    said = f"20 sets of 10 give back of 500 records: rounded to {rounded}; with noise on each distance of {noisy}."
    assert said in guide
    assert (now["files"] == 3).all()
    assert "(Three data sets each;" in guide
    thirty = example.by_release().query("n == 500 and k == 30").set_index("release")
    half, whole = (thirty["located"] / (500 * thirty["files"]))[["rounded to 0.5 km", "rounded to 1 km"]]
    assert f"and rounded to 0.5 km {half:.0%} of them, to 1 km {whole:.0%}." in guide.replace(" %", "%")
    towns = pd.read_csv(embedded_file("measured/towns.csv")).groupby("release")["median_km"].median()
    assert f"with median errors of {towns['exact']:.1f} and {towns['20 km of noise']:.1f} km" in guide
    km = plain_distances().groupby("release")["median_km"].median()
    assert (
        f"Noise of 80 km on each distance ({km['noise of 80 km']:.0f} km), rounding to 100 km "
        f"({km['rounded to 100 km']:.0f} km) or leaving out nine pairs in ten ({km['a tenth of the pairs']:.0f} km)"
    ) in guide
    opened = pd.read_csv(embedded_file("measured/equalities.csv"))
    assert (opened.loc[opened["rounding_km"] == 0, "wrong"] == 0).all()
    assert (opened["wrong"] <= 1 / 500).all()
    exact = opened[opened["rounding_km"] == 0].groupby(["n_reference_sets", "reference_set_size"])["within_1m"]
    assert (exact.mean() > 0.95).all()
    rounded = opened[opened["rounding_km"] == 1]
    assert rounded["dataset"].nunique() == 3
    ten, thirty = (
        f"{one:.0%}".replace("%", " %") for one in rounded.groupby("reference_set_size")["within_1km"].mean()
    )
    assert f"rounding to 1 km gives {ten} back for 20 sets of 10, and {thirty} for 20 sets of 30" in guide
