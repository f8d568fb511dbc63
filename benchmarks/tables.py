"""k-anonymity and its measures against pycanon, anjana, crowds and anonypy.

pycanon is timed in this process. The others pin libraries older than ours: they run in the interpreter that the
environment variable REIDENT_RIVALS names, and are left out, with a note, where it is not set. The lattices need the
hierarchies of ``adult/`` under REIDENT_DATA. ARX is a Java program and is not run here.

Seconds are of the processor: ours and the rivals' run in one thread, and a busy machine distorts them little.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from functools import partial

import numpy as np
import pandas as pd

from benchmarks import _rivals, _rows
from benchmarks._rows import Row, within
from reident import DataError, k_anonymise
from reident.data.datasets import embedded_file, load_adult, remote_file
from reident.tables import Hierarchy, k_anonymity, l_diversity, t_closeness
from reident.tables.scoreboard import scoreboard_attack, simulate_ratings

seconds = partial(_rows.seconds, clock=time.process_time)

_NINE = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class",
)  # fmt: skip


def _hierarchies(folder: str, files: dict[str, str], sep: str) -> dict[str, Hierarchy]:
    return {
        name: Hierarchy.from_csv(remote_file(f"adult/{folder}/{file}.csv"), sep=sep) for name, file in files.items()
    }


def _six() -> dict[str, Hierarchy]:
    return _hierarchies("hierarchies_six", dict(zip(_rivals.QUASI, _rivals.FILES, strict=True)), ",")


def _lattices() -> list[Row]:
    try:
        six, nine = _six(), _hierarchies("hierarchies_nine", {name: name for name in _NINE}, ";")
        cleaned = pd.read_csv(remote_file("adult/adult_arx_30162.csv.gz"), sep=";", keep_default_na=False)
    except DataError as error:
        return [Row("lattices of Adult", None, note=f"not run: {error}"[:120])]
    adult = load_adult()
    ours = seconds(lambda: k_anonymise(adult, _rivals.QUASI, hierarchies=six, k=10, suppression_limit=0.05))
    folder = remote_file("adult/hierarchies_six/age.csv").parent
    out = []
    for name, goal in (("anjana", 20), ("crowds", 200)):
        told = _rivals.ask(name, embedded_file("adult_train.csv.gz"), folder)
        task = "1,512 nodes, k = 10, 5 % suppression"
        out.append(Row(task, ours, name, told["seconds"], goal, told["stopped"], told["note"]))
    for limit, allowed_s in ((0.0, 0.2), (0.02, 2.5)):
        spent = seconds(
            lambda limit=limit: k_anonymise(
                cleaned, _NINE, hierarchies=nine, k=10, suppression_limit=limit, method="optimal"
            )
        )
        out.append(within(f"12,960 nodes, k = 10, {limit:.0%} suppression", spent, allowed_s, "ARX is not run here"))
    return out


def _many(n: int, allowed_s: float) -> list[Row]:
    """Anonymise n x 6 by Mondrian, with few and with nearly all tuples distinct, and by the lattice."""
    adult = load_adult()
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.choice(adult[name].to_numpy(), n) for name in _rivals.QUASI})
    k_anonymise(table.iloc[:1000], _rivals.QUASI, k=10, method="mondrian")
    spent, _ = _rows.timed(lambda: k_anonymise(table, _rivals.QUASI, k=10, method="mondrian"))
    out = [within(f"{n:,} x 6 by Mondrian", spent, allowed_s, "Adult's columns drawn independently")]
    distinct = table.assign(age=rng.integers(0, max(n // 10, 100), n))
    spent, _ = _rows.timed(lambda: k_anonymise(distinct, _rivals.QUASI, k=10, method="mondrian"))
    out.append(within(f"{n:,} x 6 by Mondrian, nearly all tuples distinct", spent, allowed_s, _memory()))
    try:
        six = _six()
    except DataError as error:
        return [*out, Row(f"{n:,} x 6 by lattice", None, note=f"not run: {error}"[:120])]
    k_anonymise(table.iloc[:1000], _rivals.QUASI, hierarchies=six, k=10, suppression_limit=0.02)
    spent, _ = _rows.timed(lambda: k_anonymise(table, _rivals.QUASI, hierarchies=six, k=10, suppression_limit=0.02))
    return [*out, within(f"{n:,} x 6 by lattice, 2 % suppression", spent, allowed_s, _memory())]


def _memory() -> str:
    return f"peak of the process {_rows.peak_gib():.1f} GiB"


def _mondrian() -> list[Row]:
    adult = load_adult()
    ours = seconds(lambda: k_anonymise(adult, _rivals.QUASI, k=10, method="mondrian"))
    told = _rivals.ask("anonypy", embedded_file("adult_train.csv.gz"))
    task = "Mondrian, 6 quasi-identifiers, k = 10"
    return [Row(task, ours, "anonypy", told["seconds"], 100, told["stopped"], told["note"])]


def _measures() -> list[Row]:
    adult, quasi = load_adult(), _rivals.QUASI

    def ours() -> None:
        k_anonymity(adult, quasi)
        l_diversity(adult, quasi, "income")
        t_closeness(adult, quasi, "income")

    task = "k, distinct l and t of raw Adult"
    if importlib.util.find_spec("pycanon") is None:
        return [Row(task, seconds(ours), "pycanon", goal=300, note="not installed")]
    from pycanon import anonymity

    table = adult.astype({"income": object})

    def theirs() -> None:
        anonymity.k_anonymity(table, quasi)
        anonymity.l_diversity(table, quasi, ["income"])
        anonymity.t_closeness(table, quasi, ["income"])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rival_s, _ = _rows.timed(theirs, time.process_time)
    return [Row(task, seconds(ours), "pycanon", rival_s, 300)]


def _many_measures() -> list[Row]:
    n, quasi = 10_000_000, _rivals.QUASI
    adult, rng = load_adult(), np.random.default_rng(0)
    table = pd.DataFrame({name: rng.choice(adult[name].to_numpy(), n) for name in (*quasi, "income")})

    def measure(told: pd.DataFrame) -> None:
        k_anonymity(told, quasi)
        l_diversity(told, quasi, "income")
        t_closeness(told, quasi, "income")

    measure(table.iloc[:1000])
    spent, _ = _rows.timed(lambda: measure(table))
    return [within(f"k, distinct l and t of {n:,} x 7", spent, 20, _memory())]


def _scoreboard() -> list[Row]:
    """Name people by eight roughly known ratings each, of as many as Netflix released; drawing them is not counted."""
    rng = np.random.default_rng(1)
    ratings = simulate_ratings(480_000, 17_770, 100_000_000, rng=1)
    # One rating in ten, ordered by user: where a person's begin, so many that eight are theirs for most.
    order = np.argsort(ratings.users[::10], kind="stable") * 10
    starts = np.searchsorted(ratings.users[order], ratings.users[rng.integers(0, len(ratings.users), 1000)])
    known = []
    for start in starts:
        at = order[start : start + 8]
        items = np.searchsorted(ratings.indptr, at, side="right") - 1
        told = zip(items.tolist(), ratings.stars[at].tolist(), ratings.days[at].tolist(), strict=True)
        known.append(list(told))
    spent, found = _rows.timed(lambda: [scoreboard_attack(ratings, one) for one in known])
    named = np.mean([one.user is not None for one in found])
    note = f"480,000 users, {len(ratings.users):,} ratings: {named:.0%} named; {_memory()}"
    return [within("scoreboard, 1,000 attacks", spent, 60, note)]


GROUPS = {
    "measures": _measures,
    "mondrian": _mondrian,
    "lattices": _lattices,
    "million": lambda: _many(1_000_000, 1.5),
    "ten-million-measures": _many_measures,
    "ten-million": lambda: _many(10_000_000, 15),
    "scoreboard": _scoreboard,
}
