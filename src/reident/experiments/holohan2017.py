"""Experiment of Holohan et al. (2017): k-anonymous classes, and Laplace noise on a number inside them.

Adult is the paper's file with heights drawn from a national survey. The paper's voter lists name living people and are
not used: lists of the same sizes are drawn. `trial` is one release with its attack; notebooks run it by `sweep`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from reident.base import FloatArray, IntArray
from reident.data.people import adult_with_height, voter_list
from reident.experiments.parameters import read_own
from reident.tables.anonymisation import KAnonymous, k_anonymise
from reident.tables.class_noise import confidence_suppression, expected_relative_error, relative_error
from reident.tables.class_noise_attacks import differencing_attack, nearest_record_attack
from reident.tables.hierarchy import Hierarchy
from reident.tables.k_epsilon import class_noise_scales, simulate_class_noise

CASES = ("adult", "florida", "michigan")

#: The confidences of VII-C.
CONFIDENCES = (0.7, 0.9, 0.99, 0.999, 0.9999, 0.99999)

#: How the paper's OLA chooses: at most 5 % suppressed, as it says. The loss it does not name: the discernibility of
#: the classes that are kept (El Emam et al. 2009) is the only one that gives Adult's row of Table IV.
CHOICE: dict[str, Any] = {"suppression_limit": 0.05, "loss": "discernibility", "charge_suppressed": False}

#: A public range for height: no adult is expected outside.
PUBLIC_BOUNDS_CM = (120.0, 220.0)

#: How ZIP codes of a drawn list differ: not at all, as people who live among their like, and twice as much.
POPULATIONS: dict[str, Any] = {
    "independent": False,
    "clustered": {"race": 0.25, "age": 0.05, "sex": 0.005},
    "strongly clustered": {"race": 0.5, "age": 0.1, "sex": 0.01},
}

#: Table I of the paper: alone or in marriage.
_MARITAL = dict.fromkeys(["Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"], "In marriage")
_MARITAL |= dict.fromkeys(["Never-married", "Divorced", "Separated", "Widowed"], "Alone")
_QUASI = {
    "adult": ("year_of_birth", "sex", "race", "marital_status"),
    "florida": ("zip_code", "sex", "year_of_birth", "race"),
    "michigan": ("zip_code", "sex", "year_of_birth"),
}


class Case(NamedTuple):
    """A table with the roles of its columns (Table III)."""

    table: pd.DataFrame
    k_quasi: tuple[str, ...]
    epsilon_quasi: str


@lru_cache(maxsize=16)
def draw(
    case: str,
    dataset: int = 2017,
    *,
    n_records: int = 0,
    spread: float = 1.0,
    k_quasi: tuple[str, ...] = (),
    epsilon_quasi: str = "",
) -> Case:
    """Draw the data set with this number, or read an own table if `case` is the name of a CSV file.

    `n_records` cuts the data (0: as many as published); `spread` multiplies the survey's standard deviations of
    height and weight. Of an own table `k_quasi` and `epsilon_quasi` name the columns.
    """
    n = n_records or None
    if case not in CASES:
        columns = [*k_quasi, epsilon_quasi]
        table = read_own(case, "table", columns)[columns].head(n)
        return Case(table.dropna().reset_index(drop=True), k_quasi, epsilon_quasi)
    rng = np.random.default_rng([dataset, CASES.index(case)])
    if case == "adult":
        whole = adult_with_height(spread=spread, rng=rng)
        return Case(whole.head(n) if n else whole, _QUASI[case], "height_cm")
    table = voter_list(case, n, spread=spread, rng=rng)
    return Case(table, _QUASI[case], "height_cm" if case == "florida" else "weight_kg")


def rounded(chosen: Case) -> pd.DataFrame:
    """Return the table with the epsilon-quasi-identifier in whole units, to be used as a k-quasi-identifier."""
    return chosen.table.assign(**{chosen.epsilon_quasi: chosen.table[chosen.epsilon_quasi].round().astype(int)})


def hierarchies_for(table: pd.DataFrame, columns: Sequence[str]) -> dict[str, Hierarchy]:
    """Return the hierarchies of Table I; numbers not listed there get eight levels, the widest of all values.

    The paper says that without the epsilon-quasi-identifier the lattice is eight times smaller, hence eight levels;
    their widths (1, 2, 4, ..., 64 units, all) are our choice.
    """
    return {column: _hierarchy(column, tuple(sorted(table[column].unique()))) for column in columns}


@lru_cache(maxsize=32)
def _hierarchy(column: str, values: tuple[Any, ...]) -> Hierarchy:
    if column == "year_of_birth":
        return Hierarchy.from_intervals(values, [2, 4, 8], origin=1900)
    if column == "sex" and {*values} <= {"female", "male"}:
        return Hierarchy([["female", "Person"], ["male", "Person"]])
    if column == "marital_status" and {*values} <= _MARITAL.keys():
        return Hierarchy.from_mapping(_MARITAL)
    if column == "zip_code":
        return Hierarchy.from_prefixes([str(value) for value in values])
    if isinstance(values[0], int | np.integer):
        return Hierarchy.from_intervals(values, [2, 4, 8, 16, 32, 64])
    return Hierarchy([[value, "*"] for value in values])


@lru_cache(maxsize=16)
def anonymous(
    method: str, k: int, loss: str = CHOICE["loss"], suppression_limit: float = CHOICE["suppression_limit"], **data: Any
) -> KAnonymous:
    """Return the k-anonymous version of the data set that `data` describes, as `draw` takes it."""
    chosen = draw(**data)
    table = chosen.table[[*chosen.k_quasi, chosen.epsilon_quasi]]
    return _k_anonymise(table, chosen.k_quasi, method, k, loss=loss, suppression_limit=suppression_limit)


def _k_anonymise(table: pd.DataFrame, quasi: Sequence[str], method: str, k: int, **choice: Any) -> KAnonymous:
    """Make these columns k-anonymous as the paper's OLA or Mondrian does; "published" is a textbook search."""
    if "hierarchies" not in choice:
        choice["hierarchies"] = hierarchies_for(table, quasi) if method == "ola" else None
    return k_anonymise(table, list(quasi), k=k, method=method, **CHOICE | choice)


@lru_cache(maxsize=256)  # the quick profile has 180
def released(method: str, k: int, **more: Any) -> tuple[FloatArray, IntArray]:
    """Return the values and classes of a k-anonymous version, as `anonymous` takes it, that noise is added to."""
    classes = anonymous(method, k, **more).classes
    chosen = draw(**{name: value for name, value in more.items() if name not in ("loss", "suppression_limit")})
    values = chosen.table[chosen.epsilon_quasi].to_numpy(dtype=np.float64)
    order = np.lexsort((values, classes))[int((classes < 0).sum()) :]  # sorted once, for the measures
    return values[order], classes[order]


def _data(
    case: str, dataset: int, n_records: int, spread: float, k_quasi: Sequence[str], epsilon_quasi: str
) -> dict[str, Any]:
    n_records = 0 if case == "adult" else n_records
    roles = {} if case in CASES else {"k_quasi": tuple(k_quasi), "epsilon_quasi": epsilon_quasi}
    return {"case": case, "dataset": dataset, "n_records": n_records, "spread": spread, **roles}


def trial(
    rng: np.random.Generator,
    *,
    method: str,
    k: int,
    epsilon: float,
    case: str = "adult",
    dataset: int = 2017,
    confidences: Sequence[float] = CONFIDENCES,
    mode: str = "class range",
    loss: str = CHOICE["loss"],
    suppression_limit: float = CHOICE["suppression_limit"],
    n_records: int = 0,
    spread: float = 1.0,
    k_quasi: Sequence[str] = (),
    epsilon_quasi: str = "",
) -> list[dict[str, Any]]:
    """Release once with the paper's noise and measure error, linking risk and suppression: a row a confidence.

    The row with confidence 0 is the release without additional suppression. In the mode "public bounds" the noise is
    scaled to `PUBLIC_BOUNDS_CM`. `linking_risk` is the share of the released records that are linked.
    """
    data = _data(case, dataset, n_records, spread, k_quasi, epsilon_quasi)
    choice: dict[str, Any] = {"loss": loss, "suppression_limit": suppression_limit}
    values, classes = released(method, k, **choice, **data)
    n_all = len(draw(**data).table)
    width = PUBLIC_BOUNDS_CM[1] - PUBLIC_BOUNDS_CM[0] if mode == "public bounds" else None
    scales = class_noise_scales(values, classes, epsilon=epsilon, width=width)
    noisy = simulate_class_noise(values, classes, scales, rng=rng)
    attack = nearest_record_attack(values, noisy, classes)
    row = {
        "error_expected": float((scales[classes] / np.abs(values)).mean()),
        "error": relative_error(values, noisy),
        "baseline": attack.baseline,
    }
    rows = [row | {"confidence": 0.0, "suppressed": 0.0, "linking_risk": attack.risk}]
    suppress = partial(confidence_suppression, values, noisy, classes, scales=scales, k=k)
    for confidence in confidences:
        gone = suppress(confidence=confidence)
        remaining = attack.linked[~gone.suppressed]
        more = {"confidence": confidence, "suppressed": gone.share}
        more["linking_risk"] = float(remaining.mean()) if remaining.size else 0.0
        more["suppressed_formula"] = (
            suppress(confidence=0.99, centre="original").share if confidence == 0.99 else np.nan
        )
        rows.append(row | more)
    for row in rows:
        row["total_suppressed"] = 1 - (1 - row["suppressed"]) * values.size / n_all
    return rows


def classes_trial(
    rng: np.random.Generator,  # noqa: ARG001 - nothing is drawn but the data
    *,
    method: str,
    k: int,
    case: str = "adult",
    dataset: int = 2017,
    loss: str = CHOICE["loss"],
    suppression_limit: float = CHOICE["suppression_limit"],
    n_records: int = 0,
    spread: float = 1.0,
    k_quasi: Sequence[str] = (),
    epsilon_quasi: str = "",
) -> dict[str, Any]:
    """Measure a k-anonymous version before any noise, without and with the number as one more quasi-identifier.

    Losses are the precision of III-A: by levels for OLA, by ranges for Mondrian.
    """
    data = _data(case, dataset, n_records, spread, k_quasi, epsilon_quasi)
    choice: dict[str, Any] = {"loss": loss, "suppression_limit": suppression_limit}
    chosen, release = draw(**data), anonymous(method, k, **choice, **data)
    values, classes = released(method, k, **choice, **data)
    columns = [*chosen.k_quasi, chosen.epsilon_quasi]
    everything = _k_anonymise(rounded(chosen)[columns], columns, method, k, **choice)
    whole = class_noise_scales(values, np.zeros(values.size, int), epsilon=1.0)[0]
    return {
        "error_at_epsilon_1": expected_relative_error(values, classes, epsilon=1.0),
        "error_of_whole_range": float((whole / np.abs(values)).mean()),
        "loss_alone": float(np.mean([release.column_losses[name] for name in chosen.k_quasi])),
        "loss_with_number": float(np.mean([everything.column_losses[name] for name in chosen.k_quasi])),
        "loss_of_number": everything.column_losses[chosen.epsilon_quasi],
    }


def time_trial(
    rng: np.random.Generator,
    *,
    method: str,
    k: int,
    case: str = "florida",
    dataset: int = 2017,
    algorithm: str = "ours",
    n_records: int = 0,
) -> dict[str, float]:
    """Time k-anonymity with the number as a quasi-identifier against (k, epsilon)-anonymity, in processor seconds.

    `algorithm` is "ours" or "published", the textbook searches.
    """
    chosen = draw(**_data(case, dataset, n_records, 1.0, (), ""))
    table, columns = rounded(chosen), [*chosen.k_quasi, chosen.epsilon_quasi]
    trees = {"hierarchies": hierarchies_for(table, columns) if method == "ola" else None}
    values = chosen.table[chosen.epsilon_quasi].to_numpy(dtype=np.float64)
    search = method if algorithm == "ours" else algorithm
    _k_anonymise(table.head(300), chosen.k_quasi, search, 2, **trees)  # compiles or loads the kernels
    started = time.process_time()
    everything = _k_anonymise(table, columns, search, k, **trees)
    with_all = time.process_time()
    alone = _k_anonymise(table, chosen.k_quasi, search, k, **trees)
    simulate_class_noise(values, alone.classes, class_noise_scales(values, alone.classes, epsilon=1.0), rng=rng)
    finished = time.process_time()
    return {
        "k_anonymity_s": with_all - started, "k_epsilon_s": finished - with_all,
        "factor": (with_all - started) / (finished - with_all),
        "nodes_factor": everything.n_checked / max(alone.n_checked, 1),
    }  # fmt: skip


def lists_trial(
    rng: np.random.Generator, *, case: str, population: str, ks: Sequence[int], n_records: int = 0
) -> list[dict[str, float]]:
    """Draw one list from a stated population and return the percentage that OLA suppresses for each k (Table IV)."""
    table = voter_list(case, n_records or None, clustered=POPULATIONS[population], rng=rng)
    quasi = [name for name in _QUASI["florida"] if name in table]
    trees = {"hierarchies": hierarchies_for(table, quasi)}
    releases = {k: _k_anonymise(table[quasi], quasi, "ola", k, **trees) for k in ks}
    return [{"k": k, "suppressed_percent": 100 * made.n_suppressed / len(table)} for k, made in releases.items()]


def differencing_trial(
    rng: np.random.Generator,
    *,
    mode: str,
    method: str,
    epsilon: float,
    k: int = 10,
    dataset: int = 2017,
    n_records: int = 0,
) -> dict[str, float]:
    """Release Adult's heights in one of two modes, and attack the tallest of every class (beyond the paper).

    The intruder knows all other records and that the tallest is taller than 170 cm.
    """
    values, classes = released(method, k, case="adult", dataset=dataset, n_records=n_records)
    low, high = PUBLIC_BOUNDS_CM
    values = np.clip(values, low, high)
    width = high - low if mode == "public bounds" else None
    scales = class_noise_scales(values, classes, epsilon=epsilon, width=width)
    noisy = simulate_class_noise(values, classes, scales, rng=rng)
    sizes = np.bincount(classes)
    tallest = (np.cumsum(sizes) - 1)[sizes > 1]  # values come class by class, ascending
    bounds = (min(170.0, float(values[tallest].min())), high)
    attack = differencing_attack(values, noisy, classes, tallest, epsilon=epsilon, bounds=bounds, width=width)
    table = attack.table
    return {
        "evidence": float(table["evidence"].replace(np.inf, np.nan).median()),
        "broken_share": attack.broken,
        "interval_cm": float((table["high"] - table["low"]).median()),
        "covered_share": float(table["value"].between(table["low"], table["high"]).mean()),
    }
