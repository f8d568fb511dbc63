"""Experiment of Holohan et al. (2017): k-anonymous classes, and Laplace noise on a number inside them.

Adult is the paper's file with heights drawn from a national survey. The paper's voter lists name living people and are
not used: lists of the same sizes are drawn. `trial` is one release with its attack; notebooks run it by `sweep`.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from reident.base import FloatArray, IntArray, Parameters, Row
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
CHOICE: Parameters = {"suppression_limit": 0.05, "loss": "released_discernibility"}

#: A public range for height: no adult is expected outside.
PUBLIC_BOUNDS_CM = (120.0, 220.0)

#: The range that noise is scaled to: that of the class, or the public one.
_WIDTH_OF = {"class range": None, "public bounds": PUBLIC_BOUNDS_CM[1] - PUBLIC_BOUNDS_CM[0]}

#: How ZIP codes of a drawn list differ: not at all, as people who live among their like, and twice as much.
POPULATIONS: dict[str, dict[str, float]] = {
    "independent": {},
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
_EPSILON_QUASI = {"adult": "height_cm", "florida": "height_cm", "michigan": "weight_kg"}


@dataclass(frozen=True, eq=False)
class Case:
    """Hold a table with the roles of its columns (Table III)."""

    table: pd.DataFrame
    k_quasi: tuple[str, ...]
    epsilon_quasi: str


def draw(
    case: str, dataset: int = 2017, n_records: int = 0, spread: float = 1.0, k_quasi: Sequence[str] = (),
    epsilon_quasi: str = "",
) -> Case:  # fmt: skip
    """Draw the data set with this number, or read an own table if `case` is the name of a CSV file.

    `n_records` cuts a voter list or an own table (0: as many as published); `spread` multiplies the survey's standard
    deviations of height and weight. Of an own table `k_quasi` and `epsilon_quasi` name the columns.
    """
    if case in CASES:
        return _draw(case, dataset, 0 if case == "adult" else n_records, spread, _QUASI[case], _EPSILON_QUASI[case])
    return _draw(case, dataset, n_records, spread, tuple(k_quasi), epsilon_quasi)


@lru_cache(maxsize=32)
def _draw(case: str, dataset: int, n_records: int, spread: float, k_quasi: tuple[str, ...], epsilon_quasi: str) -> Case:
    if case not in CASES:
        columns = [*k_quasi, epsilon_quasi]
        table = read_own(case, "table", columns)[columns].head(n_records or None).dropna().reset_index(drop=True)
        return Case(table, k_quasi, epsilon_quasi)
    rng = np.random.default_rng([dataset, CASES.index(case)])
    if case == "adult":
        return Case(adult_with_height(spread=spread, rng=rng), k_quasi, epsilon_quasi)
    return Case(voter_list(case, n_records or None, spread=spread, rng=rng), k_quasi, epsilon_quasi)


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


@lru_cache(maxsize=32)
def anonymous(
    chosen: Case, method: str, k: int, loss: str = CHOICE["loss"], limit: float = CHOICE["suppression_limit"]
) -> KAnonymous:
    """Return the k-anonymous version of a data set; `limit` is the share of records that may be suppressed."""
    table = chosen.table[[*chosen.k_quasi, chosen.epsilon_quasi]]
    return _k_anonymise(table, chosen.k_quasi, method, k, loss=loss, suppression_limit=limit)


def _k_anonymise(table: pd.DataFrame, quasi: Sequence[str], method: str, k: int, **choice: Any) -> KAnonymous:
    """Make these columns k-anonymous as the paper's OLA or Mondrian does; "published" is a textbook search."""
    if "hierarchies" not in choice:
        choice["hierarchies"] = hierarchies_for(table, quasi) if method == "ola" else None
    return k_anonymise(table, list(quasi), k=k, method=method, **CHOICE | choice)


@lru_cache(maxsize=256)  # the quick profile has 180
def released(
    chosen: Case, method: str, k: int, loss: str = CHOICE["loss"], limit: float = CHOICE["suppression_limit"]
) -> tuple[FloatArray, IntArray]:
    """Return the values and classes of a k-anonymous version that noise is added to, without suppressed records."""
    classes = anonymous(chosen, method, k, loss, limit).classes
    values = chosen.table[chosen.epsilon_quasi].to_numpy(dtype=float)
    order = np.lexsort((values, classes))[(classes < 0).sum() :]  # sorted once, for the measures
    return values[order], classes[order]


def _noisy(
    values: FloatArray, classes: IntArray, epsilon: float, mode: str, rng: Generator
) -> tuple[FloatArray, FloatArray]:
    """Return the scale of the noise of each class, and the noisy values."""
    scales = class_noise_scales(values, classes, epsilon=epsilon, width=_WIDTH_OF[mode])
    return scales, simulate_class_noise(values, classes, scales, rng=rng)


def trial(
    rng: Generator, *, method: str, k: int, epsilon: float, case: str = "adult", dataset: int = 2017,
    confidences: Sequence[float] = CONFIDENCES, mode: str = "class range", loss: str = CHOICE["loss"],
    suppression_limit: float = CHOICE["suppression_limit"], n_records: int = 0, spread: float = 1.0,
    k_quasi: Sequence[str] = (), epsilon_quasi: str = "",
) -> list[Row]:  # fmt: skip
    """Release once with the paper's noise and measure error, linking risk and suppression: a row a confidence.

    The row with confidence 0 is the release without additional suppression. In the mode "public bounds" the noise is
    scaled to `PUBLIC_BOUNDS_CM`. `linking_risk` is the share of the released records that are linked.
    """
    chosen = draw(case, dataset, n_records, spread, k_quasi, epsilon_quasi)
    values, classes = released(chosen, method, k, loss, suppression_limit)
    scales, noisy = _noisy(values, classes, epsilon, mode, rng)
    attack = nearest_record_attack(values, noisy, classes)
    row = {
        "error_expected": (scales[classes] / np.abs(values)).mean(),
        "error": relative_error(values, noisy),
        "baseline": attack.baseline,
    }
    rows = [row | {"confidence": 0.0, "suppressed": 0.0, "linking_risk": attack.risk}]
    suppress = partial(confidence_suppression, values, noisy, classes, scales=scales, k=k)
    for confidence in confidences:
        gone = suppress(confidence=confidence)
        remaining = attack.linked[~gone.suppressed]
        more = {"confidence": confidence, "suppressed": gone.share}
        more["linking_risk"] = remaining.mean() if remaining.size else 0.0
        if confidence == 0.99:
            more["suppressed_formula"] = suppress(confidence=confidence, centre="original").share
        rows.append(row | more)
    for row in rows:
        row["total_suppressed"] = 1 - (1 - row["suppressed"]) * values.size / len(chosen.table)
    return rows


def classes_trial(
    _: Generator, *, method: str, k: int, case: str = "adult", dataset: int = 2017, loss: str = CHOICE["loss"],
    suppression_limit: float = CHOICE["suppression_limit"], n_records: int = 0, spread: float = 1.0,
    k_quasi: Sequence[str] = (), epsilon_quasi: str = "",
) -> Row:  # fmt: skip
    """Measure a k-anonymous version before any noise, without and with the number as one more quasi-identifier.

    Losses are the precision of III-A: by levels for OLA, by ranges for Mondrian.
    """
    chosen = draw(case, dataset, n_records, spread, k_quasi, epsilon_quasi)
    release = anonymous(chosen, method, k, loss, suppression_limit)
    values, classes = released(chosen, method, k, loss, suppression_limit)
    columns = [*chosen.k_quasi, chosen.epsilon_quasi]
    everything = _k_anonymise(
        rounded(chosen)[columns], columns, method, k, loss=loss, suppression_limit=suppression_limit
    )
    whole = class_noise_scales(values, np.zeros(values.size, int), epsilon=1.0)[0]
    return {
        "error_at_epsilon_1": expected_relative_error(values, classes, epsilon=1.0),
        "error_of_whole_range": (whole / np.abs(values)).mean(),
        "loss_alone": np.mean([release.column_losses[name] for name in chosen.k_quasi]),
        "loss_with_number": np.mean([everything.column_losses[name] for name in chosen.k_quasi]),
        "loss_of_number": everything.column_losses[chosen.epsilon_quasi],
    }


def time_trial(
    rng: Generator, *, method: str, k: int, case: str = "florida", dataset: int = 2017, algorithm: str = "ours",
    n_records: int = 0,
) -> Row:  # fmt: skip
    """Time k-anonymity with the number as a quasi-identifier against (k, epsilon)-anonymity, in processor seconds.

    `algorithm` is "ours" or "published", the textbook searches.
    """
    chosen = draw(case, dataset, n_records)
    table, columns = rounded(chosen), [*chosen.k_quasi, chosen.epsilon_quasi]
    trees = {"hierarchies": hierarchies_for(table, columns) if method == "ola" else None}
    values = chosen.table[chosen.epsilon_quasi].to_numpy(dtype=float)
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


def lists_trial(rng: Generator, *, case: str, population: str, ks: Sequence[int], n_records: int = 0) -> list[Row]:
    """Draw one list from a stated population and return the percentage that OLA suppresses for each k (Table IV)."""
    table = voter_list(case, n_records or None, clustered=POPULATIONS[population], rng=rng)
    quasi = [name for name in _QUASI["florida"] if name in table]
    trees = {"hierarchies": hierarchies_for(table, quasi)}
    releases = {k: _k_anonymise(table[quasi], quasi, "ola", k, **trees) for k in ks}
    return [{"k": k, "suppressed_percent": 100 * made.n_suppressed / len(table)} for k, made in releases.items()]


def differencing_trial(
    rng: Generator, *, mode: str, method: str, epsilon: float, k: int = 10, dataset: int = 2017
) -> Row:
    """Release Adult's heights in one of two modes, and attack the tallest of every class (beyond the paper).

    The intruder knows all other records and that the tallest is taller than 170 cm.
    """
    values, classes = released(draw("adult", dataset), method, k)
    values = np.clip(values, *PUBLIC_BOUNDS_CM)
    _, noisy = _noisy(values, classes, epsilon, mode, rng)
    sizes = np.bincount(classes)
    tallest = (np.cumsum(sizes) - 1)[sizes > 1]  # values come class by class, ascending
    bounds = (min(170.0, float(values[tallest].min())), PUBLIC_BOUNDS_CM[1])
    width = _WIDTH_OF[mode]
    attack = differencing_attack(values, noisy, classes, tallest, epsilon=epsilon, bounds=bounds, width=width)
    table = attack.table
    return {
        "evidence": table["evidence"].replace(np.inf, np.nan).median(),
        "broken_share": attack.broken,
        "interval_cm": (table["high"] - table["low"]).median(),
        "covered_share": table["value"].between(table["low"], table["high"]).mean(),
    }
