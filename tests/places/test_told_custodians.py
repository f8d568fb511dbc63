"""What notebook 07, the note and the guide tell custodians, on the runs that are kept."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from reident.studies.released_maps import reference_sets as example
from reident.studies.released_maps.trials import FITTING, country, people

from reident import great_circle_km, locate_by_population
from reident.data.datasets import embedded_file
from research_note import NOTE, exact_now, measured, note


def custodians():
    """What notebook 07 tells custodians, in one line."""
    notebook = json.loads((NOTE.parents[1] / "notebooks" / "07-distances-are-a-map.ipynb").read_text(encoding="utf-8"))
    return next(text for cell in notebook["cells"] if (text := "".join(cell["source"])).startswith("## For custodians"))


def plain_distances():
    runs = pd.read_csv(embedded_file("measured/plain_distances.csv"))
    assert runs["dataset"].min() >= 400
    assert (runs.groupby("release").size() == 10).all()
    return runs


def test_what_custodians_are_told_of_attacks_on_distances_was_measured():
    said = custodians()
    towns = pd.read_csv(embedded_file("measured/towns.csv"))
    exact, noisy = (towns[towns["release"] == name] for name in ("exact", "20 km of noise"))
    assert (exact["n"] == 500).all()
    assert (exact["within_25_km"] == 1).all()
    assert (noisy["within_25_km"] == 1).all()
    assert "of 500 records the place of every one within 25 km" in said
    half = f"half of them within {exact['median_km'].median():.1f} km"
    assert f"{half}, with 20 km of noise on each within {noisy['median_km'].median():.1f} km" in said
    recommended = exact_now().query("n == 500 and d == 20 and k == 30")
    sure = (recommended["located"] >= 0.95 * 500).sum()
    assert f"at least 95 % of 500 records to the metre, on {sure} of {len(recommended)} data sets" in said
    runs = plain_distances()
    km = runs.groupby("release")["median_km"].median()
    assert f"of 80 km: half of 300 records still within {km['noise of 80 km']:.0f} km" in said
    assert f"to 100 km: {km['rounded to 100 km']:.0f} km" in said
    assert f"releasing one pair in ten ({km['a tenth of the pairs']:.1f} km)" in said
    assert f"of 20: {km['20 records']:.0f} km, but nobody certified" in said
    assert runs["seconds"].quantile(0.9) < 10
    usual = runs[runs["release"] == "as they are"]
    assert usual["seconds"].median() < 2
    told = measured()
    foreign, own = told[told["kind"] == "england on germany"], told[told["kind"].isin(FITTING)]
    share = f"{own['certified_0.01'].sum() / own['n'].sum():.0%}".replace("%", " %")
    abroad = f"of {foreign['n'].sum():,} records of England laid on Germany {foreign['certified_0.01'].sum()}"
    assert f"{abroad} are certified, of Germany's own {share}" in said


def test_what_custodians_are_told_was_not_opened_was_measured():
    said, runs = custodians(), plain_distances()
    assert (runs.loc[runs["release"].str.contains("only|fiftieth"), "n"] == 300).all()
    near = runs.groupby("release")["within_5_km"].agg(["mean", "max"])
    assert near.loc["a fiftieth of the pairs", "max"] < 1 / 300
    mean, most = (f"{share:.0%}".replace("%", " %") for share in near.loc["only below 30 km"])
    assert (
        "of which one pair in fifty is released (nobody within 5 km) or only those below 30 km "
        f"({mean} within 5 km, of one file {most});"
    ) in said
    off = runs.loc[runs["release"] == "noise of 320 km", "median_km"].median()
    assert f"noise of 320 km (half are {off:.0f} km off or more)" in said
    few = runs[runs["release"] == "20 records"]
    assert (few["certified"] == 0).all()
    near = f"{few['within_25_km'].mean():.0%}".replace("%", " %")
    assert f"of files of 20 records nobody is certified, and {near} of the records lie within 25 km" in said


def test_labels_and_files_are_not_used_and_a_second_map_tells_the_country():
    # No label and no file: the attack takes distances alone, and finds the same whatever table comes with them.
    places, area = country("germany")
    homes = people(places, area, 100, np.random.default_rng([400, 1]))
    distances = great_circle_km(homes["lat_deg"], homes["lon_deg"])
    alone = locate_by_population(distances, places, area)
    labelled = locate_by_population((homes, distances), places, area)
    np.testing.assert_array_equal(alone.positions, labelled.positions)
    elsewhere = locate_by_population(distances, *country("england"))
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
