"""Summaries of the measured runs of attacks on reference sets, for the tests of the note and the guide."""

from __future__ import annotations

import pandas as pd

from reident.data.datasets import embedded_file

#: Seeds below belong to earlier code.
_FRESH = 9100
#: Nominal levels at which the certificate of each record is measured.
LEVELS = (0.05, 0.01, 0.003, 0.001, 0.0001)


def measured() -> pd.DataFrame:
    """Return the runs on data sets that were not looked at while the attack was built; `commit` names the code.

    Runs without a commit belong to earlier code.
    """
    runs = pd.read_csv(embedded_file("measured/reference_sets.csv"))
    return runs[runs["seed"] >= _FRESH]


def summary() -> pd.DataFrame:
    """Return, for each setting, how many of the records the present code located, over its data sets.

    Beside it, for small exact files, how many the recovered coordinates determine: whoever searches finds no more.
    """
    runs = measured()
    runs = runs[runs["commit"].notna()]
    runs = runs.assign(share=runs["located"] / runs["n"], determined=runs["determined"] / runs["n"])
    by = runs.groupby(["d", "k", "n", "rounding_km", "noise_km", "missing"])
    return pd.DataFrame(
        {
            "data sets": by.size(),
            "located, median share": by["share"].median(),
            "located, lowest share": by["share"].min(),
            "sets with 95 % located": by["share"].agg(lambda share: int((share >= 0.95).sum())),
            "determined, median share": by["determined"].median(),
            "wrong records": by["wrong"].sum(),
            "median error, km": by["median_error_km"].median(),
            "largest error, km": by["largest_error_km"].max(),
            "coordinates known": by["coordinates_known"].median(),
            "CPU seconds": by["cpu_seconds"].median(),
        }
    ).reset_index()


def levels_measured() -> pd.DataFrame:
    """Return the runs on rounded and noisy releases that show how far the certificates hold."""
    return pd.read_csv(embedded_file("measured/reference_level.csv"))


def by_release() -> pd.DataFrame:
    """Return, for each release of embedded people, who is placed and certified (level .01), and how many wrongly."""
    runs = levels_measured().query("kind == 'people'")
    runs = runs.assign(
        files=1,
        maps=runs["placed"] > 0,
        certified_maps=(runs["p_value"] <= 0.01) & (runs["placed"] > 0),
        located=runs["placed"] + runs["placed_elsewhere"],
        wrong=runs["wrong"] + runs["wrong_elsewhere"],
        slowest=runs["cpu_seconds"],
    )
    by = runs.groupby(["n", "d", "k", "release"], sort=False)
    counted = by[["files", "maps", "certified_maps", "located", "wrong", "certified_0.01", "wrong_0.01"]].sum()
    return counted.assign(slowest=by["slowest"].max()).reset_index()


def by_level() -> pd.DataFrame:
    """Return, for each nominal level, records certified of rounded or noisy releases, and how many of them wrongly.

    Beside it in how many files, the records that are placed wrong at all, and those that have no right place: placed
    wrong or not at all.
    """
    runs = rough_levels()
    wrong = runs["wrong"] + runs["wrong_elsewhere"]
    rows = [
        {
            "level": level,
            "certified": int(runs[f"certified_{level:g}"].sum()),
            "of these wrong": int(runs[f"wrong_{level:g}"].sum()),
            "in files": int((runs[f"wrong_{level:g}"] > 0).sum()),
            "placed wrong": int(wrong.sum()),
            "no right place": int((runs["n"] - runs["placed_right"]).sum()),
        }
        for level in LEVELS
    ]
    return pd.DataFrame(rows)


def rough_levels() -> pd.DataFrame:
    """Return the runs on rounded or noisy releases of people, with how many records each places right."""
    runs = levels_measured().query("kind == 'people' and release != 'exact'")
    wrong = runs["wrong"] + runs["wrong_elsewhere"]
    return runs.assign(placed_right=runs["placed"] + runs["placed_elsewhere"] - wrong)


def hidden_values() -> pd.DataFrame:
    """Return, for each release, the values that `recover_coordinates` claims, and those off by more than a step."""
    runs = pd.read_csv(embedded_file("measured/hidden_coordinates.csv"))
    runs = runs.assign(files=1, share=runs["wrong"] / runs["values"])
    by = runs.groupby(["n", "d", "k", "release"], sort=False)
    counted = by[["files", "values", "wrong"]].sum()
    return counted.assign(
        share=counted["wrong"] / counted["values"],
        worst_file=by["share"].max(),
        median_error_km=by["median_error_km"].median(),
    ).reset_index()
