"""Summarise trials as points of a risk-utility map (Duncan, Keller-McNulty and Stokes 2001); `plotting` draws it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from reident.base import (
    BoolArray,
    DataError,
    FloatArray,
    ParameterError,
    RNGLike,
    check_choice,
    check_columns,
    check_level,
    check_real,
    check_rng,
    check_table,
    check_text,
)

#: The columns of a risk-utility frame; one row a release under one attack and one analysis.
COLUMNS = [
    *("method", "parameter", "value", "unit", "label", "attack", "analysis"),
    *("risk", "risk_low", "risk_high", "risk_worst"),
    *("utility", "utility_low", "utility_high", "n", "undominated"),
]

#: The names of the two anchors: the data released as they are, and nothing released.
ORIGINAL, NOTHING = "original", "nothing released"
#: Draws of repetitions, with replacement, by which the frontier is tested.
_DRAWS = 500


def _quantile(values: FloatArray, share: float) -> float:
    # Between a finite and an infinite utility there is nothing to interpolate: the next value outwards.
    outwards: Any = "lower" if share < 0.5 else "higher"
    return float(np.quantile(values, share, method="linear" if np.isfinite(values).all() else outwards))


def ru_frame(
    trials: pd.DataFrame,
    *,
    method: str,
    parameter: str | Sequence[str],
    risk: str,
    utility: str,
    attack: str,
    analysis: str,
    unit: str = "",
    level: float = 0.9,
    rng: RNGLike = 0,
) -> pd.DataFrame:
    """Summarise the trials of one or several methods as points of a risk-utility map.

    Parameters
    ----------
    trials : DataFrame
        One row a trial, as `reident.sweep` returns.
    method : str
        A column of `trials` that names the method of each trial; any other text names the method of all of them.
    parameter : str or sequence of str
        The column, or columns, that vary along a method's curve.
    risk, utility : str
        Columns with the measured risk and utility. Missing risks (no link was made) count as 0.
    attack, analysis : str
        What the risk was measured by and what the utility was measured for; they head the panel.
    unit : str, default ""
        Unit of the parameter.
    level : float, default 0.9
        Share of the repetitions between the `_low` and `_high` columns: quantiles of single releases, which is what a
        custodian draws, not an interval of the mean.
    rng : Generator, int or None
        Source of the draws; fixed by default.

    Returns
    -------
    DataFrame
        The columns `COLUMNS`. `value` is the parameter's value, NaN for several and for texts; `label` is the text of
        all values, joined by a comma; `risk` and `utility` are means, `risk_worst` is the largest risk of a repetition,
        `n` the number of repetitions, `undominated` the share of draws in which no other release of the frame has both
        lower risk and higher utility.

    Raises
    ------
    ParameterError, DataError
        If a column is absent, or there is no trial.

    Notes
    -----
    Duncan, Keller-McNulty and Stokes (2001); Cox, Karr and Kinney (2011) on what such a map is not.

    Examples
    --------
    >>> trials = pd.DataFrame({"sigma_deg": [1, 1, 2, 2], "precision": [0.9, 0.7, 0.5, 0.3], "gain": [2.0, 2, 1, 1]})
    >>> frame = ru_frame(trials, method="noise", parameter="sigma_deg", risk="precision", utility="gain",
    ...                  attack="clique", analysis="distances")
    >>> frame[["method", "value", "risk", "utility", "n"]]
      method  value  risk  utility  n
    0  noise    1.0   0.8      2.0  2
    1  noise    2.0   0.4      1.0  2
    """
    check_table(trials, "trials")
    parameters = check_columns(trials, parameter, "parameter", table_name="trials")
    for column, name in ((risk, "risk"), (utility, "utility")):
        check_columns(trials, [column], name, table_name="trials")
    level = check_level(level, "level")
    rng = check_rng(rng)
    check_text(method, "method", optional=False)
    labelled = trials.assign(**{"_method": trials[method] if method in trials.columns else method})
    labelled["_risk"] = labelled[risk].fillna(0.0)
    rows: list[dict[str, Any]] = []
    draws: list[tuple[FloatArray, FloatArray]] = []
    tail = (1 - level) / 2
    for key, group in labelled.groupby(["_method", *parameters], sort=False, observed=True):
        risks, utilities = group["_risk"].to_numpy(float), group[utility].to_numpy(float)
        picked = rng.integers(len(group), size=(_DRAWS, len(group)))
        draws.append((risks[picked].mean(axis=1), utilities[picked].mean(axis=1)))
        row = {"method": key[0], "parameter": ", ".join(parameters), "unit": unit} | valued(key[1:])
        row |= {"attack": attack, "analysis": analysis, "n": len(group), "risk_worst": risks.max()}
        for name, values in (("risk", risks), ("utility", utilities)):
            row |= {name: values.mean(), f"{name}_low": _quantile(values, tail)}
            row[f"{name}_high"] = _quantile(values, 1 - tail)
        rows.append(row)
    mean_risk, mean_utility = (np.stack(parts) for parts in zip(*draws, strict=True))
    share = np.mean([_undominated(mean_risk[:, b], mean_utility[:, b]) for b in range(_DRAWS)], axis=0)
    return pd.DataFrame(rows).assign(undominated=share)[COLUMNS]


def anchor(frame: pd.DataFrame, name: str, *, risk: float, utility: float) -> pd.DataFrame:
    """Append an anchor, one of `ORIGINAL` and `NOTHING`, with its risk and utility to a frame with one panel.

    An infinite utility is allowed (a reciprocal error of zero) and is drawn at the edge of the map.
    """
    check_choice(name, "name", [ORIGINAL, NOTHING])
    panel = check_one_panel(frame)
    row: dict[str, Any] = {"method": name, "parameter": "", "unit": "", "label": "", "n": 1, **panel}
    row |= dict.fromkeys(["risk", "risk_low", "risk_high", "risk_worst"], float(risk))
    row |= dict.fromkeys(["utility", "utility_low", "utility_high"], float(utility))
    return pd.concat([frame, pd.DataFrame([row])], ignore_index=True)


def _undominated(risk: FloatArray, utility: FloatArray) -> BoolArray:
    """Detect releases that no other one dominates: none is as good on both axes and better on one."""
    no_worse = (risk[:, None] <= risk) & (utility[:, None] >= utility)
    better = (risk[:, None] < risk) | (utility[:, None] > utility)
    return np.asarray(~(no_worse & better).any(axis=0), dtype=np.bool_)


def releases_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are not anchors."""
    releases = frame[~frame["method"].isin([ORIGINAL, NOTHING])]
    if releases.empty:
        raise DataError("`frame` must hold at least one release besides the anchors")
    return releases


def frontier(frame: pd.DataFrame, *, limit: float | None = None) -> pd.DataFrame:
    """Return the releases that no other release dominates, most useful first, with one sentence of advice each.

    A release is dominated if another one has no higher risk and no lower utility, and is better in one of them. A
    release is within the limit if the upper end of its bar, `risk_high`, is.

    Parameters
    ----------
    frame : DataFrame
        As `ru_frame` returns, one panel. Anchors take no part.
    limit : float, optional
        Tolerable risk.

    Returns
    -------
    DataFrame
        The rows of the frontier, with a column `advice`.

    Raises
    ------
    DataError, ParameterError
        If a column is absent, the frame has several panels, or the limit is negative.
    """
    check_one_panel(frame)
    releases = releases_of(frame)
    undominated = _undominated(releases["risk"].to_numpy(float), releases["utility"].to_numpy(float))
    chosen = releases[undominated].sort_values("utility", ascending=False).reset_index(drop=True)
    risks = [f"risk {row.risk:.1%} (bar to {row.risk_high:.1%})" for row in chosen.itertuples()]
    if limit is None:
        return chosen.assign(advice=risks)
    within = chosen["risk_high"] <= check_real(limit, "limit", low=0)
    words = {True: f"within {limit:.0%}", False: f"above {limit:.0%}"}
    advice = [f"{words[allowed]}: {risk}" for risk, allowed in zip(risks, within, strict=True)]
    if within.any():
        advice[within.idxmax()] = f"most useful {advice[within.idxmax()]}"
    return chosen.assign(advice=advice)


def valued(values: Sequence[Any]) -> dict[str, Any]:
    """Return `value` of a single number, else NaN, and `label`, the text of all values."""
    are_numbers = [isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in values]
    texts = [f"{value:g}" if is_number else str(value) for value, is_number in zip(values, are_numbers, strict=True)]
    return {"value": float(values[0]) if are_numbers == [True] else np.nan, "label": ", ".join(texts)}


def check_one_panel(frame: pd.DataFrame) -> dict[str, str]:
    """Return the attack and the analysis of a frame as `ru_frame` returns it, or raise if it has several."""
    absent = [column for column in COLUMNS if column not in check_table(frame, "frame")]
    if absent:
        raise DataError(f"`frame` must have the columns of `ru_frame`, got none named {absent}")
    pairs = frame[["attack", "analysis"]].drop_duplicates()
    if len(pairs) > 1:
        raise ParameterError(
            f"`frame` must hold one attack and one analysis, got {len(pairs)} pairs: risks by different attacks share "
            "no axis; select one pair"
        )
    return {str(key): str(value) for key, value in pairs.iloc[0].items()}
