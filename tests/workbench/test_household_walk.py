"""A register of households and places, from the office's file to a release that was checked, on the command line."""

import numpy as np
import pandas as pd
import pytest
import yaml

from commands import call
from office import households


def written(folder, table):
    table.to_csv(folder / "haushalte.csv", sep=";", index=False, encoding="latin-1")
    call(folder, "open", "haushalte.csv", "--try", "grid:cell_m=5000", "--try", "mondrian:k=100", code=0)
    return folder / "recipe.yaml"


def with_chain(recipe, k, least):
    told = yaml.safe_load(recipe.read_text("utf-8"))
    told["chain"] = [
        {"method": "mondrian", "parameters": {"k": k}},
        {"method": "grid", "parameters": {"cell_m": 5000.0, "min_count": least}},
    ]
    recipe.write_text(yaml.safe_dump(told, allow_unicode=True), "utf-8")


def agrees(value, label):
    if value == "":
        return "(missing)" in label or label == "*"
    if label[:1] == "[":
        low, high = map(float, label.strip("[]").split(", "))
        return low <= float(value) <= high
    return value in label.strip("{}").split(", ") or label == "*"


def fewest(table, release):
    """The fewest records at the nearest released place that agree with each person; 0 where none does."""
    as_number = {name: (lambda text: float(text.replace(",", "."))) for name in ("Breite", "Länge")}
    places, homes = (t[["Breite", "Länge"]].map(as_number["Breite"]) for t in (release, table[table["Breite"] != ""]))
    cells = places.drop_duplicates().to_numpy()
    labels = release[["PLZ", "Alter", "Geschlecht"]]
    distinct = labels.drop_duplicates()
    found = []
    for row, home in homes.iterrows():
        gaps = np.hypot(cells[:, 0] - home["Breite"], (cells[:, 1] - home["Länge"]) * np.cos(np.radians(49)))
        there = labels[(places.to_numpy() == cells[gaps.argmin()]).all(axis=1)]
        fit = [all(agrees(table[name][row], label[name]) for name in labels) for _, label in distinct.iterrows()]
        found.append(len(there.merge(distinct[fit])))
    return np.array(found)


@pytest.mark.slow
def test_from_the_file_of_households_to_a_release_with_places_that_passed(tmp_path):
    table = households(360).reset_index(drop=True)
    recipe = written(tmp_path, table)
    assert "role: household" in recipe.read_text("utf-8")
    for k, least, code in ((160, 32, 0), (40, 1, 3)):
        with_chain(recipe, k, least)
        call(tmp_path, "protect", "--recipe", "recipe.yaml", "--out", f"release{k}", code=0)
        release = pd.read_csv(tmp_path / f"release{k}/release.csv", sep=";", dtype=str, encoding="latin-1")
        release = release.fillna("")
        judged = call(
            tmp_path, f"check --quick release{k} --against haushalte.csv --recipe recipe.yaml --out {k}", code=code
        )
        assert ("passed" in judged.stdout.splitlines()[0]) == (code == 0)
        assert len(release) > 0.3 * len(table)
        assert not set(release["Breite"] + release["Länge"]) & set(table["Breite"] + table["Länge"])
        counts = fewest(table, release)
        naive = (1 / counts[counts > 0] > 0.25).mean()
        above = yaml.safe_load((tmp_path / f"{k}/verdict.json").read_text("utf-8"))["share_above_limit"]
        assert above >= naive - 1e-9
        assert (naive == 0) == (code == 0)
