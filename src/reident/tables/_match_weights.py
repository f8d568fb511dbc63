"""Attack. Match weights of Fellegi and Sunter for numeric columns, estimated by splink without any true pair."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reident.base import FloatArray, IntArray, ParameterError

__all__ = ["MatchWeights", "check_splink", "estimate_weights", "heaviest_records"]

#: Pairs of records from which the weights are estimated at most; of more, evenly spaced released records are taken.
_PAIRS = 4_000_000

#: Pairs whose weights are held in memory at once.
_AT_ONCE = 1_000_000

#: Estimation ends where no m changes by more than this, or after so many rounds. Splink refuses an m below 1e-300; a
#: level that unlikely rules a match out in any case, so that fewer rounds are enough then.
_CONVERGED, _ROUNDS = 1e-4, (100, 30, 10, 3, 1)


@dataclass(frozen=True)
class MatchWeights:
    """What each level of agreement is worth.

    Attributes
    ----------
    limits : list of ndarray of float64
        For each column the greatest difference of each level but the last, ascending.
    m, u : list of ndarray of float64
        Share of true pairs, and of all pairs, in each level.
    """

    limits: list[FloatArray]
    m: list[FloatArray]
    u: list[FloatArray]

    def bits(self, column: int) -> FloatArray:
        """Return log2(m / u) of each level; an m below 1e-12 counts as that."""
        return np.asarray(np.log2(np.maximum(self.m[column], 1e-12) / self.u[column]))

    def table(self, names: list[str]) -> pd.DataFrame:
        """Return one row a column and level, closest first."""
        frames = [
            pd.DataFrame(
                {
                    "variable": name,
                    "level": np.arange(1, self.m[column].size + 1),
                    "at_most": np.append(self.limits[column], np.inf),
                    "m": self.m[column],
                    "u": self.u[column],
                    "bits": self.bits(column),
                }
            )
            for column, name in enumerate(names)
        ]
        return pd.concat(frames, ignore_index=True)


def check_splink() -> None:
    """Raise `ParameterError` where splink is not installed."""
    if importlib.util.find_spec("splink") is None:
        raise ParameterError(
            "`distance` = 'probabilistic' needs the package splink, which is not installed: install reident[linkage]"
        )


def estimate_weights(a: FloatArray, b: FloatArray) -> MatchWeights:
    """Estimate m by expectation maximisation and u from all pairs; a are released records, b the known ones.

    Levels halve: the closest holds the share 1 / 2**k of all pairs, about one known record a released one, the next as
    many again, and so on to the farthest, which holds half. The chance that two records match is fixed at one in the
    number of known records.
    """
    step = -(-len(a) * len(b) // _PAIRS)
    a = a[::step]
    shares = 0.5 ** np.arange(int(np.log2(len(b))), 0, -1)
    limits = []
    for column in range(a.shape[1]):
        gaps = np.abs(a[:, [column]] - b[:, column]).ravel()
        cuts = np.unique(np.quantile(gaps, shares, method="inverted_cdf"))
        limits.append(cuts[cuts < gaps.max()])
    for rounds in _ROUNDS[:-1]:
        try:
            return MatchWeights(limits, *_train(a, b, limits, rounds))
        except ValueError as error:
            if "m_probability" not in str(error):
                raise
    return MatchWeights(limits, *_train(a, b, limits, _ROUNDS[-1]))


def heaviest_records(
    a: FloatArray, b: FloatArray, weights: MatchWeights, pairs: IntArray
) -> tuple[IntArray, FloatArray, IntArray, FloatArray]:
    """Return each released record's heaviest known record, what that lacks, how many tie, and what the partner lacks.

    A weight is told by the bits that it lacks of the greatest possible one.
    """
    lacking = [weights.bits(column).max() - weights.bits(column) for column in range(a.shape[1])]
    nearest, tied = np.empty(len(a), np.int64), np.empty(len(a), np.int64)
    least, own = np.empty(len(a)), np.full(len(a), np.nan)
    rows = max(1, _AT_ONCE // len(b))
    for start in range(0, len(a), rows):
        part = slice(start, start + rows)
        total = np.zeros((len(a[part]), len(b)))
        for column, bits in enumerate(lacking):
            gaps = np.abs(a[part, [column]].reshape(-1, 1) - b[:, column])
            total += bits[np.searchsorted(weights.limits[column], gaps)]
        nearest[part] = total.argmin(axis=1)
        least[part] = total.min(axis=1)
        tied[part] = (total == least[part, None]).sum(axis=1)
        paired = np.flatnonzero(pairs[part] >= 0)
        own[start + paired] = total[paired, pairs[part][paired]]
    return nearest, least, tied, own


def _train(
    a: FloatArray, b: FloatArray, limits: list[FloatArray], rounds: int
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Let splink estimate m and u of each level; a column of one level tells nothing and stays out."""
    import duckdb
    import pyarrow as pa
    from splink import DuckDBAPI, Linker, SettingsCreator
    from splink.blocking_rule_library import CustomRule

    told = [column for column, cuts in enumerate(limits) if cuts.size]
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=[_comparison(f"c{column}", limits[column]) for column in told],
        blocking_rules_to_generate_predictions=[CustomRule("1=1")],
        probability_two_random_records_match=1.0 / max(len(b), 2),
        em_convergence=_CONVERGED,
        max_iterations=rounds,
    )
    m, u = [np.ones(1) for _ in limits], [np.ones(1) for _ in limits]
    if not told:
        return m, u
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        database = DuckDBAPI(connection)
        tables = [
            database.register(
                pa.table({"unique_id": np.arange(len(x)), **{f"c{column}": x[:, column] for column in told}})
            )
            for x in (a, b)
        ]
        linker = Linker(tables, settings, log_level=None)
        # All pairs, not a sample: one more than there are, because splink warns of a limit that it takes for unset.
        linker.training.estimate_u_using_random_sampling(
            max_pairs=float(len(a) * len(b) + 1), min_count_per_level=None, num_chunks=1
        )
        linker.training.estimate_parameters_using_expectation_maximisation(
            "1=1", estimate_without_term_frequencies=True, fix_probability_two_random_records_match=True
        )
        model = linker.misc.save_model_to_json()
    for column, comparison in zip(told, model["comparisons"], strict=True):
        levels = [level for level in comparison["comparison_levels"] if not level.get("is_null_level")]
        m[column] = np.array([level["m_probability"] for level in levels])
        u[column] = np.array([level["u_probability"] for level in levels])
    return m, u


def _comparison(name: str, limits: FloatArray) -> dict[str, Any]:
    """Return a comparison of splink: levels by absolute difference, whose m starts at a half and halves."""
    start = 0.5 ** np.arange(1, limits.size + 2)
    start[-1] *= 2
    left, right = f'"{name}_l"', f'"{name}_r"'
    conditions = [f"abs({left} - {right}) <= {limit!r}" for limit in limits.tolist()]
    return {
        "output_column_name": name,
        "comparison_levels": [
            {"sql_condition": f"{left} IS NULL OR {right} IS NULL", "is_null_level": True},
            *(
                {"sql_condition": condition, "m_probability": share}
                for condition, share in zip([*conditions, "ELSE"], start.tolist(), strict=True)
            ),
        ],
    }
