"""Releases with the right answer of `check`: columns that hide something, columns that are new, files of cases."""

import hashlib

import numpy as np
import pandas as pd

N, QUASI = 1000, ["sex", "born", "plz", "income"]
ROLES = {"quasi": QUASI, "sensitive": "ill", "identifier": "nr"}


def people(n=N, seed=7):
    """Draw persons with an identifier, a household of one to five and a place that households share."""
    rng = np.random.default_rng(seed)
    born = pd.Timestamp("1930-01-01") + pd.to_timedelta(rng.integers(0, 80 * 365, n), unit="D")
    home = np.sort(rng.integers(0, n // 2, n))
    plz = np.array(["01067", "04109", "10115", "10117", "20095", "28195", "50667", "60311", "70173", "80331"])
    lat, lon = rng.uniform(47.5, 54.5, n // 2), rng.uniform(6.5, 14.5, n // 2)
    table = pd.DataFrame(
        {
            "nr": [f"p{number:06d}" for number in rng.permutation(900_000)[:n]],
            "sex": rng.choice(["f", "m"], n),
            "born": born.strftime("%Y-%m-%d"),
            "plz": rng.choice(plz, n, p=np.arange(10, 0, -1) / 55),
            "income": rng.lognormal(10, 0.5, n).round().astype(int),
            "ill": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
            "hh": [f"h{number:05d}" for number in home],
            "lat": lat[home],
            "lon": lon[home],
        }
    )
    return table.iloc[rng.permutation(n)].reset_index(drop=True)


def coarse(table):
    """Return a release that passes: sex, century of birth, two groups of postcodes, income in two bands."""
    century = table["born"].str[:2].map({"19": "19*", "20": "20*"})
    bands = ["[0, 22000)", "[22000, 10000000)"]
    income = pd.cut(table["income"], [0, 22000, 10**7], right=False, labels=bands)
    east = "{01067, 04109, 10115, 10117}"
    west = "{20095, 28195, 50667, 60311, 70173, 80331}"
    plz = np.where(table["plz"] < "2", east, west)
    return pd.DataFrame({"sex": table["sex"], "born": century, "plz": plz, "income": income.astype(str)})


def keyed(values, key="k", digits=12):
    return [hashlib.blake2b(str(value).encode(), key=key.encode()).hexdigest()[:digits] for value in values]


def recoded(values, rng):
    codes, distinct = pd.factorize(values)
    return rng.permutation(len(distinct))[codes]


def hidden():
    """Return columns that hide known values, by name: the released columns beside `coarse`, and further roles."""
    rng, table = np.random.default_rng(3), people()
    born, income = pd.to_datetime(table["born"]), table["income"]
    x, y = table["lat"] - table["lat"].mean(), table["lon"] - table["lon"].mean()
    places = {"places": ("lat", "lon")}
    shares = rng.integers(0, 60_000, N)
    noisy = np.where(rng.random(N) < 0.5, rng.integers(0, 20, N), pd.qcut(income, 20, labels=False))
    return {
        "log of income with noise": ({"score": np.log(income) + rng.normal(0, 0.001, N)}, {}),
        "parts of a date, recoded": (
            {k: recoded(v, rng) for k, v in {"a": born.dt.day, "b": born.dt.month, "c": born.dt.year}.items()}, {},
        ),
        "digits to base 9, recoded": ({f"d{i}": recoded(income // 9**i % 9, rng) for i in range(4)}, {}),
        "hash of postcode and a random bit": ({"k": keyed(table["plz"] + rng.choice(["0", "1"], N))}, {}),
        "sine": ({"score": np.sin(income / 1000)}, {}),
        "hash of all four": ({"k": keyed(table[QUASI].astype(str).agg("|".join, axis=1))}, {}),
        "sum of income and age": ({"points": income + 30 * (2024 - born.dt.year)}, {}),
        "digit of a sum": ({"digit": (income + born.dt.year) % 10}, {}),
        "turned map": ({"u": 3 * (0.8 * x - 0.6 * y), "v": 3 * (0.6 * x + 0.8 * y)}, places),
        "bins, half of them random": ({"bin": noisy}, {}),
        "household key": ({"key": recoded(table["hh"], rng)}, {"household": "hh"}),
        "record number modulo a prime": ({"k": np.arange(N) * 7919 % 100_003}, {}),
        "parity, exclusive or": ({"b": (born.dt.day % 2) ^ (table["sex"] == "f")}, {}),
        "hash of the date modulo 50": ({"h": [int(k, 16) % 50 for k in keyed(table["born"])]}, {}),
        "cell of the map, recoded": (
            {"cell": recoded((table["lat"] // 0.5).astype(str) + (table["lon"] // 0.5).astype(str), rng)}, places,
        ),
        "two shares of one value": ({"a": shares // 3000, "b": (income // 3000 - shares // 3000) % 20}, {}),
    }  # fmt: skip


def unrelated():
    """Return columns that say nothing of the original, by name."""
    rng = np.random.default_rng(13)
    return {
        "category": rng.choice(list("vwxyz"), N),
        "normal number": rng.normal(size=N),
        "interviewer": rng.integers(0, 100, N),
        "serial number": keyed(rng.permutation(N), "s"),
        "day": (pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 365, N), unit="D")).strftime("%Y-%m-%d"),
        "constant": np.full(N, "wave 3"),
        "answer with gaps": pd.Series(rng.choice(["yes", "no"], N)).mask(rng.random(N) < 0.2).to_numpy(object),
        "skewed category": rng.choice(list("abc"), N, p=[0.95, 0.04, 0.01]),
        "rare flag": rng.random(N) < 0.005,
        "random pairs": rng.permutation(np.arange(N) // 2),
    }
