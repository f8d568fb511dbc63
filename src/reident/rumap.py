"""The numbers of a risk-utility map: risk against utility as the parameters of each method vary (`plotting` draws it).

The map of Duncan, Keller-McNulty and Stokes (2001) is a guide to thinking, not a verdict: utility lies on the
horizontal axis, risk on the vertical one, both in raw units, and every point says how far repetitions spread.
"""

from __future__ import annotations

import math
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
    afford,
    check_choice,
    check_columns,
    check_integer,
    check_real,
    check_rng,
    check_table,
)

__all__ = [
    "COLUMNS",
    "NOTHING",
    "ORIGINAL",
    "PANEL",
    "anchor",
    "anchor_both",
    "check_frame",
    "check_one_panel",
    "frontier",
    "pareto",
    "releases_of",
    "ru_frame",
]

#: The columns of a risk-utility frame; one row a release under one attack and one analysis.
COLUMNS = [
    *("method", "parameter", "value", "attack", "analysis"),
    *("risk", "risk_low", "risk_high", "risk_worst"),
    *("utility", "utility_low", "utility_high", "n", "undominated"),
]

#: The names of the two anchors: the data released as they are, and nothing released.
ORIGINAL, NOTHING = "original", "nothing released"

#: What heads a panel.
PANEL = ["attack", "analysis"]


def _quantile(values: FloatArray, share: float) -> float:
    if np.isfinite(values).all():
        return float(np.quantile(values, share))
    # Between a finite and an infinite utility there is nothing to interpolate: the next value outwards.
    place = share * (len(values) - 1)
    return float(np.sort(values)[math.floor(place) if share < 0.5 else math.ceil(place)])


def ru_frame(
    trials: pd.DataFrame,
    *,
    method: str,
    parameter: str | Sequence[str],
    risk: str,
    utility: str,
    attack: str,
    analysis: str,
    level: float = 0.9,
    n_bootstrap: int = 500,
    rng: RNGLike = 0,
) -> pd.DataFrame:
    """Summarise the trials of one or several methods as points of a risk-utility map.

    Parameters
    ----------
    trials : DataFrame
        One row a trial, as `reident._old_sweep.grid.run` returns.
    method : str
        A column of `trials` that names the method of each trial; any other text names the method of all of them.
    parameter : str or sequence of str
        The column, or columns, that vary along a method's curve.
    risk, utility : str
        Columns with the measured risk and utility. Missing risks (no link was made) count as 0.
    attack, analysis : str
        What the risk was measured by and what the utility was measured for; they head the panel.
    level : float, default 0.9
        Share of the repetitions between the `_low` and `_high` columns: quantiles of single releases, which is what a
        custodian draws, not an interval of the mean.
    n_bootstrap : int, default 500
        Draws of repetitions, with replacement, for the column `undominated`.
    rng : Generator, int or None
        Source of the draws; fixed by default.

    Returns
    -------
    DataFrame
        The columns `COLUMNS`. `value` is the parameter's value as text, several joined by a comma; `risk` and `utility`
        are means, `risk_worst` is the largest risk of a repetition, `n` the number of repetitions, `undominated` the
        share of draws in which no other release of the frame has both lower risk and higher utility.

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
    0  noise      1   0.8      2.0  2
    1  noise      2   0.4      1.0  2
    """
    check_table(trials, "trials")
    parameters = check_columns(trials, parameter, "parameter", table_name="trials")
    check_columns(trials, [risk], "risk", table_name="trials")
    check_columns(trials, [utility], "utility", table_name="trials")
    level = check_real(level, "level", low=0, high=1, open_low=True, open_high=True)
    n_bootstrap = check_integer(n_bootstrap, "n_bootstrap", low=1)
    told = f"{n_bootstrap:,} draws of {len(trials):,} trials"
    afford(24 * n_bootstrap * len(trials), "n_bootstrap", told, "a few hundred draws tell the same")
    rng = check_rng(rng)
    if not isinstance(method, str):
        raise ParameterError(f"`method` must be a column or a name, got {method!r}")
    named = trials.assign(**{"_method": trials[method] if method in trials.columns else method})
    named["_risk"] = named[risk].fillna(0.0)
    rows: list[dict[str, Any]] = []
    draws: list[tuple[FloatArray, FloatArray]] = []
    tail = (1 - level) / 2
    for key, group in named.groupby(["_method", *parameters], sort=False, observed=True):
        risks, utilities = group["_risk"].to_numpy(float), group[utility].to_numpy(float)
        picked = rng.integers(len(group), size=(n_bootstrap, len(group)))
        draws.append((risks[picked].mean(axis=1), utilities[picked].mean(axis=1)))
        rows.append(
            {
                "method": key[0],
                "parameter": ", ".join(parameters),
                "value": ", ".join(_text(part) for part in key[1:]),
                "attack": attack,
                "analysis": analysis,
                "risk": risks.mean(),
                "risk_low": _quantile(risks, tail),
                "risk_high": _quantile(risks, 1 - tail),
                "risk_worst": risks.max(),
                "utility": utilities.mean(),
                "utility_low": _quantile(utilities, tail),
                "utility_high": _quantile(utilities, 1 - tail),
                "n": len(group),
            }
        )
    drawn_risk, drawn_utility = (np.stack(parts) for parts in zip(*draws, strict=True))
    share = np.mean([_undominated(drawn_risk[:, b], drawn_utility[:, b]) for b in range(n_bootstrap)], axis=0)
    return pd.DataFrame(rows).assign(undominated=share)[COLUMNS]


def anchor(frame: pd.DataFrame, name: str, *, risk: float, utility: float) -> pd.DataFrame:
    """Append an anchor to a frame with one panel: `ORIGINAL` or `NOTHING`, with its risk and utility.

    An infinite utility is allowed (a reciprocal error of zero) and is drawn at the edge of the map.
    """
    check_choice(name, "name", [ORIGINAL, NOTHING])
    panel = check_one_panel(frame)
    row: dict[str, Any] = dict.fromkeys(COLUMNS, np.nan)
    row.update(method=name, parameter="", value="", n=1, **panel)
    row.update(dict.fromkeys(["risk", "risk_low", "risk_high", "risk_worst"], float(risk)))
    row.update(dict.fromkeys(["utility", "utility_low", "utility_high"], float(utility)))
    return pd.concat([frame, pd.DataFrame([row])], ignore_index=True)


def anchor_both(frame: pd.DataFrame, *, risk: float = 1.0, utility: float = 1.0) -> pd.DataFrame:
    """Append the original with its risk and utility, and nothing released, which has neither."""
    return anchor(anchor(frame, ORIGINAL, risk=risk, utility=utility), NOTHING, risk=0.0, utility=0.0)


def _undominated(risk: FloatArray, utility: FloatArray) -> BoolArray:
    """Tell for each release whether no other is at least as good on both axes and better on one."""
    no_worse = (risk[:, None] <= risk) & (utility[:, None] >= utility)
    better = (risk[:, None] < risk) | (utility[:, None] > utility)
    return np.asarray(~(no_worse & better).any(axis=0), dtype=np.bool_)


def releases_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are not anchors."""
    releases = frame[~frame["method"].isin([ORIGINAL, NOTHING])]
    if releases.empty:
        raise DataError("`frame` must hold at least one release besides the anchors")
    return releases


def pareto(frame: pd.DataFrame) -> BoolArray:
    """Tell for each row whether its release is undominated on the vector of all its risks and utilities.

    A release is a method with a value. It is dominated if another one, measured by the same attacks and analyses, is
    nowhere worse (higher risk or lower utility) and somewhere better. With one panel that is the usual frontier.
    Anchors take no part and are False.

    Parameters
    ----------
    frame : DataFrame
        As `ru_frame` returns, all panels.

    Returns
    -------
    ndarray of bool, shape (n,)
        In the order of the rows.

    Raises
    ------
    DataError
        If a column is absent or the frame is empty.
    """
    releases = releases_of(check_frame(frame))
    wide = releases.pivot_table(index=["method", "value"], columns=PANEL, values=["risk", "utility"], sort=False)
    losses = np.column_stack([wide["risk"].to_numpy(), -wide["utility"].to_numpy()])
    keep = []
    for i in range(len(losses)):
        # Releases that were not measured under the same attacks and analyses cannot be compared.
        no_worse = (losses <= losses[i]).all(axis=1)
        better = (losses < losses[i]).any(axis=1)
        keep.append(not bool((no_worse & better).any()))
    chosen = set(wide.index[np.array(keep, dtype=bool)])
    return np.array([key in chosen for key in zip(frame["method"], frame["value"], strict=True)], dtype=bool)


def frontier(frame: pd.DataFrame, *, risk_limit: float | None = None) -> pd.DataFrame:
    """Return the releases on the frontier, most useful first, with one sentence of advice each.

    Parameters
    ----------
    frame : DataFrame
        As `ru_frame` returns, one panel.
    risk_limit : float, optional
        The tolerable risk: the advice says which release is the most useful one below it.

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
    chosen = frame[pareto(frame)].sort_values("utility", ascending=False).reset_index(drop=True)
    if risk_limit is not None:
        check_real(risk_limit, "risk_limit", low=0)
    below = chosen.index[chosen["risk"] <= risk_limit] if risk_limit is not None else chosen.index[:0]
    sentences = []
    for position, row in chosen.iterrows():
        told = f"risk {row['risk']:.1%} (worst repetition {row['risk_worst']:.1%})"
        if len(below) and position == below[0]:
            told = f"most useful release with risk below {risk_limit:.0%}: {told}"
        elif risk_limit is not None:
            told += (
                " is tolerable, at less utility" if position in below else f" is above the limit of {risk_limit:.0%}"
            )
        sentences.append(told)
    return chosen.assign(advice=sentences)


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float | np.number) else str(value)


def check_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame that has the columns of `ru_frame`, or raise `DataError`."""
    check_table(frame, "frame")
    absent = [column for column in COLUMNS if column not in frame.columns]
    if absent:
        raise DataError(f"`frame` must have the columns of `ru_frame`, got none named {absent}")
    return frame


def check_one_panel(frame: pd.DataFrame) -> dict[str, str]:
    """Return the attack and the analysis of a frame that has one of each, or raise `ParameterError`."""
    pairs = check_frame(frame)[PANEL].drop_duplicates()
    if len(pairs) > 1:
        raise ParameterError(
            f"`frame` must hold one attack and one analysis, got {len(pairs)} pairs: risks by different attacks share "
            "no axis; see `plot_ru_panels`"
        )
    return {str(key): str(value) for key, value in pairs.iloc[0].items()}
