"""k-anonymity, its measures and secure noise against pycanon, anjana, crowds, anonypy and diffprivlib.

pycanon is timed in this process. The others pin libraries older than ours: they run in the interpreter that the
environment variable REIDENT_RIVALS names, and are left out, with a note, where it is not set. The lattices need the
hierarchies of ``adult/`` under REIDENT_DATA. ARX is a Java program and is not run here.

Seconds are of the processor: ours and the rivals' run in one thread, and a busy machine distorts them little.
"""

import importlib.util
import os
import subprocess
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import _table_rivals as rivals
from reident import (
    DataError,
    Hierarchy,
    discrete_laplace,
    k_anonymise,
    k_anonymity,
    l_diversity,
    t_closeness,
)
from reident.datasets import embedded_file, load_adult, remote_file

_TIMEOUT_S = 400
_NINE = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class",
)  # fmt: skip


def _seconds(call: Callable[[], Any], repeats: int = 3) -> float:
    call()
    times = []
    for _ in range(repeats):
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return float(np.median(times))


def _row(task: str, ours_s: float, rival: str = "", rival_s: float | None = None, note: str = "") -> dict[str, Any]:
    ratio = None if rival_s is None else rival_s / ours_s
    return {"task": task, "ours_s": ours_s, "rival": rival, "rival_s": rival_s, "ratio": ratio, "note": note}


def _rival(name: str, folder: Path | None) -> tuple[float | None, str]:
    interpreter = os.environ.get("REIDENT_RIVALS")
    if not interpreter:
        return None, "REIDENT_RIVALS is not set"
    script, table = str(Path(rivals.__file__)), str(embedded_file("adult_train.csv.gz"))
    try:
        done = subprocess.run(
            [interpreter, script, name, table, str(folder)], capture_output=True, text=True, timeout=_TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        return float(_TIMEOUT_S), f"stopped after {_TIMEOUT_S} s: the ratio is a lower bound"
    last = done.stdout.strip().splitlines()[-1:] or [""]
    try:
        return float(last[0]), ""
    except ValueError:
        return None, last[0] or done.stderr.strip().splitlines()[-1]


def _hierarchies(folder: str, files: dict[str, str], sep: str) -> dict[str, Hierarchy]:
    return {
        name: Hierarchy.from_csv(remote_file(f"adult/{folder}/{file}.csv"), sep=sep) for name, file in files.items()
    }


def _lattices(adult: pd.DataFrame) -> list[dict[str, Any]]:
    try:
        six = _hierarchies("hierarchies_six", dict(zip(rivals.QUASI, rivals.FILES, strict=True)), ",")
        nine = _hierarchies("hierarchies_nine", {name: name for name in _NINE}, ";")
        cleaned = pd.read_csv(remote_file("adult/adult_arx_30162.csv.gz"), sep=";", keep_default_na=False)
    except DataError as error:
        return [_row("lattices of Adult", float("nan"), note=str(error)[:90])]
    folder = remote_file("adult/hierarchies_six/age.csv").parent
    out = []
    ours = _seconds(lambda: k_anonymise(adult, rivals.QUASI, hierarchies=six, k=10, suppression_limit=0.05))
    for name in ("anjana", "crowds"):
        rival_s, note = _rival(name, folder)
        out.append(_row("1,512 nodes, k = 10, 5 % suppression", ours, name, rival_s, note))
    for limit in (0.0, 0.02):
        ours = _seconds(
            lambda limit=limit: k_anonymise(
                cleaned, _NINE, hierarchies=nine, k=10, suppression_limit=limit, method="optimal"
            )
        )
        out.append(_row(f"12,960 nodes, k = 10, {limit:.0%} suppression", ours, note="ARX is not run here"))
    return out + _million(adult, six)


def _million(adult: pd.DataFrame, six: dict[str, Hierarchy]) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.choice(adult[name].to_numpy(), 1_000_000) for name in rivals.QUASI})
    note = "Adult's columns drawn independently"
    by_lattice = _seconds(
        lambda: k_anonymise(table, rivals.QUASI, hierarchies=six, k=10, suppression_limit=0.02), repeats=1
    )
    by_mondrian = _seconds(lambda: k_anonymise(table, rivals.QUASI, k=10, method="mondrian"), repeats=1)
    return [
        _row("1,000,000 x 6 by lattice, 2 % suppression", by_lattice, note=note),
        _row("1,000,000 x 6 by Mondrian", by_mondrian, note=note),
    ]


def _measures(adult: pd.DataFrame) -> list[dict[str, Any]]:
    quasi = rivals.QUASI

    def ours() -> None:
        k_anonymity(adult, quasi)
        l_diversity(adult, quasi, "income")
        t_closeness(adult, quasi, "income")

    task = "k, distinct l and t of raw Adult"
    if importlib.util.find_spec("pycanon") is None:
        return [_row(task, _seconds(ours), "pycanon", note="not installed")]
    from pycanon import anonymity

    table = adult.astype({"income": object})
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        anonymity.k_anonymity(table, quasi)
        anonymity.l_diversity(table, quasi, ["income"])
        anonymity.t_closeness(table, quasi, ["income"])
    return [_row(task, _seconds(ours), "pycanon", time.process_time() - started)]


def rows() -> list[dict[str, Any]]:
    """Time lattice search, Mondrian, the measures and the noise."""
    adult = load_adult()
    out = _measures(adult)
    out += _lattices(adult)
    ours = _seconds(lambda: k_anonymise(adult, rivals.QUASI, k=10, method="mondrian"))
    folder = Path(os.environ.get("REIDENT_DATA", ".")) / "adult" / "hierarchies_six"
    rival_s, note = _rival("anonypy", folder)
    out.append(_row("Mondrian, 6 quasi-identifiers, k = 10", ours, "anonypy", rival_s, note))
    noise = _seconds(lambda: discrete_laplace(1.0, 2.0**-10, 30_000))
    rival_s, note = _rival("diffprivlib", folder)
    out.append(_row("30,000 secure Laplace values", noise, "diffprivlib", rival_s, note))
    return out
