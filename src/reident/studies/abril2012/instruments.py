"""What print and the data determine: the printed measures applied to draws, and ranges over all optimal measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from reident import FuzzyMeasure, LearnedLinkage, link_records, microaggregate, published
from reident.studies.abril2012.trials import draw_records, learn
from reident.tables.choquet._ranges import LinkageRanges

__all__ = [
    "INSTRUMENTS",
    "SETUPS",
    "determined_settings",
    "determined_trial",
    "instrument_trial",
    "joint_test",
    "ranges_of",
]

#: The printed measures: table, file, where it is printed, and the ratio that it had on the paper's own draw.
INSTRUMENTS = {
    "Table 3": ("M4-28", "measure_m4_28", 0.9375),
    "Table 4": ("M6-853", "measure_m6_853", 0.9925),
    "Table 5": ("M6-853", "weights_m6_853", 0.9875),
}

#: What the paper leaves open, one thing changed at a time.
SETUPS = (
    "as adopted",
    "the tool's pairs",
    "standardised columns",
    "originals to releases",
    "digits from the right",
    "columns by name",
)


def instrument_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Apply a printed measure to one draw under one set-up.

    `params`: data, drawn, instrument, setup.
    """
    inside, _ = draw_records(params["data"], rng, params["drawn"])
    file, name, _ = INSTRUMENTS[params["instrument"]]
    setup = params["setup"]
    if setup == "columns by name":
        inside = inside[sorted(inside.columns)]
    protected = microaggregate(
        inside,
        file,
        method="pairs" if setup == "the tool's pairs" else "mdav",
        scale="std" if setup == "standardised columns" else None,
    )
    measure = _printed(name, protected.columns, reverse=setup == "digits from the right")
    pair = (protected.table, inside) if setup != "originals to releases" else (inside, protected.table)
    return {
        "ratio": link_records(*pair, columns=protected.columns, distance=measure).ratio,
        "ratio_mean": link_records(*pair, columns=protected.columns).ratio,
    }


def _printed(name: str, columns: list[str], *, reverse: bool) -> FuzzyMeasure:
    """Return a printed measure, its first digit the first column, or the last."""
    printed = published("abril2012", name)
    codes = printed["code"].astype(str).str.zfill(len(columns)).str[:: -1 if reverse else 1]
    if "weight" in printed:
        by_place = {code.index("1"): weight for code, weight in zip(codes, printed["weight"], strict=True)}
        return FuzzyMeasure.from_weights({column: by_place[place] for place, column in enumerate(columns)})
    values = np.zeros(2 ** len(columns))
    values[[sum(1 << place for place, bit in enumerate(code) if bit == "1") for code in codes]] = printed["measure"]
    values[-1] = 1.0  # print has .999999 once
    return FuzzyMeasure(values, columns)


def determined_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Ask section 4.2's questions of all optimal measures of one draw.

    `params`: data, drawn, file, model, time_limit_s.
    """
    inside, _ = draw_records(params["data"], rng, params["drawn"])
    protected = microaggregate(inside, params["file"])
    learned = learn(
        protected.table, inside, columns=protected.columns, model=params["model"], time_limit_s=params["time_limit_s"]
    )
    ranges = learned.ranges(time_limit_s=params["time_limit_s"])
    first = ranges.measure.loc[[(protected.columns[0],)]].iloc[0]
    return {
        "proven": learned.is_optimal,
        "n_sets": ranges.n_sets,
        "complete": ranges.is_complete,
        "first_low": first["low"],
        "first_high": first["high"],
        "leader": ranges.leader or "",
        "best_pair": best_pair(ranges),
        "shapley_width": float((ranges.shapley["high"] - ranges.shapley["low"]).mean()),
    }


def best_pair(ranges: LinkageRanges) -> str:
    """Return the pair whose measure is above every other's in all optimal measures, "" if the ranges meet."""
    pairs = ranges.measure[[len(chosen) == 2 for chosen in ranges.measure.index]]
    best = pairs["low"].idxmax()
    others = pairs["high"][[chosen != best for chosen in pairs.index]]
    return " and ".join(best) if len(others) and pairs["low"].max() > others.max() else ""


def ranges_of(learned: Mapping[str, LearnedLinkage], time_limit_s: float) -> pd.DataFrame:
    """Return the ranges of every measure, Shapley value and interaction of the learned files, one row a value."""
    rows = []
    for name, one in learned.items():
        ranges = one.ranges(time_limit_s=time_limit_s)
        said = {"file": name.split()[0], "model": one.model, "n_sets": ranges.n_sets, "complete": ranges.is_complete}
        said |= {"leader": ranges.leader or "", "best_pair": best_pair(ranges)}
        measure = one.measure
        assert measure is not None
        shapley, crossed = measure.shapley(), measure.interaction()
        for chosen, row in ranges.measure.iterrows():
            code = "".join("01"[column in chosen] for column in one.columns)
            value = measure[list(chosen)]
            rows.append({**said, "what": "measure", "code": code, "learned": value, **row})
        for column, row in ranges.shapley.iterrows():
            rows.append({**said, "what": "shapley", "code": column, "learned": shapley[column], **row})
        for (first, second), row in ranges.interaction.iterrows():
            value = crossed.loc[first, second]
            rows.append({**said, "what": "interaction", "code": f"{first} and {second}", "learned": value, **row})
    return pd.DataFrame(rows)


def joint_test(trials: pd.DataFrame, files: list[str]) -> pd.DataFrame:
    """Test all printed simple means at once against the draws (Hotelling), with the shift that it would notice.

    One row: draws, files, the statistic and its p value, how many printed means lie above ours, and the shift of all
    files alike that the test would notice with a probability of 80 %. Empty where draws are too few.
    """
    printed = published("abril2012", "ratios").set_index("file")["mean"]
    wide = trials[trials["file"].isin(files)].pivot_table(index="repetition", columns="file", values="ratio_dbrl1")
    n, p = wide.shape
    if n <= p + 1 or not p:
        return pd.DataFrame()
    gap = printed[wide.columns].to_numpy() - wide.mean().to_numpy()
    inverse = np.linalg.inv(wide.cov().to_numpy() * (1 + 1 / n))
    factor = (n - p) / (p * (n - 1))
    limit = stats.f.ppf(0.95, p, n - p)
    one = np.ones(p)

    def power(shift: float) -> float:
        return float(stats.ncf.sf(limit, p, n - p, shift**2 * one @ inverse @ one))

    shifts = np.arange(0.0025, 0.5, 0.0025)
    noticed = [shift for shift in shifts if power(shift) >= 0.8]
    statistic = float(gap @ inverse @ gap)
    return pd.DataFrame(
        [
            {
                "draws": n,
                "files": p,
                "above": int((gap > 0).sum()),
                "mean_gap": float(gap.mean()),
                "statistic": statistic,
                "p_value": float(stats.f.sf(factor * statistic, p, n - p)),
                "noticed_shift": noticed[0] if noticed else np.nan,
            }
        ]
    )


def determined_settings(data: str, drawn: int, time_limit_s: float) -> list[dict[str, Any]]:
    """Return the settings of `determined_trial`: the measures that section 4.2 reads."""
    common = {"data": data, "drawn": drawn, "time_limit_s": time_limit_s}
    return [{**common, "file": "M4-28", "model": "choquet"}, {**common, "file": "M6-853", "model": "weighted_mean"}]
