"""A patient file as German offices write them, to be opened, protected and checked."""

import numpy as np
import pandas as pd

from reident.data.datasets import load_places


def office(n=5000, seed=0):
    """Return a patient file as German offices write them: texts, decimal commas, leading zeros, gaps."""
    rng = np.random.default_rng(seed)
    towns = load_places("germany")
    home = towns.iloc[rng.choice(len(towns), n, p=towns["population"] / towns["population"].sum())]
    table = pd.DataFrame(
        {
            "Fall-Nr": [str(700_000 + 3 * i) for i in rng.permutation(n)],
            "Geschlecht": rng.choice(["m", "w"], n),
            "Alter": rng.integers(0, 99, n).astype(str),
            "PLZ": [f"{1000 + 37 * int(i):05d}" for i in rng.integers(0, 400, n)],
            "Beruf": rng.choice(["Bäcker", "Ärztin", "Lehrer", "Köchin"], n),
            "Einkommen": [f"{x:.2f}".replace(".", ",") for x in rng.lognormal(10, 0.5, n)],
            "Diagnose": rng.choice(["E11.9", "I10.0", "J45.1"], n),
            "Aufnahme": [f"{day:02d}.{month:02d}.2021" for day, month in rng.integers(1, 13, (n, 2))],
            "Breite": [f"{x:.5f}".replace(".", ",") for x in home["lat_deg"] + rng.normal(0, 0.02, n)],
            "Länge": [f"{x:.5f}".replace(".", ",") for x in home["lon_deg"] + rng.normal(0, 0.02, n)],
        }
    )
    for name, share in (("Beruf", 0.02), ("Einkommen", 0.03), ("Alter", 0.02)):
        table.loc[rng.random(n) < share, name] = ""
    table.loc[[3, 8], "Alter"] = ["unbekannt", "90+"]
    return table


def households(n_homes=600, seed=0):
    """Return such a file of persons who live together at 600 addresses in a region of some 30 km."""
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(n_homes), rng.choice([1, 2, 3, 4, 5], n_homes, p=[0.35, 0.3, 0.15, 0.15, 0.05]))
    town, n = rng.integers(0, 12, n_homes), len(home)
    middle = np.column_stack([rng.uniform(48.8, 49.0, 12), rng.uniform(11.5, 11.8, 12)])
    lat, lon = (middle[town, j] + rng.normal(0, 0.015, n_homes) for j in (0, 1))
    table = pd.DataFrame(
        {
            "Haushalt": [f"H{1000 + 7 * one}" for one in home],
            "PLZ": [f"{1067 + 211 * town[one]:05d}" for one in home],
            "Alter": rng.integers(0, 96, n).astype(str),
            "Geschlecht": rng.choice(["männlich", "weiblich"], n),
            "Diagnose": rng.choice(["Diabetes", "Grippe", "Nierenschwäche"], n, p=[0.4, 0.4, 0.2]),
            "Breite": [f"{x:.5f}".replace(".", ",") for x in lat[home]],
            "Länge": [f"{x:.5f}".replace(".", ",") for x in lon[home]],
        }
    )
    table.loc[rng.random(n) < 0.02, "Alter"] = ""
    table.loc[rng.random(n) < 0.01, ["Breite", "Länge"]] = ""
    return table.iloc[rng.permutation(n)]
