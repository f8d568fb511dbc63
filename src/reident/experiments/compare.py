"""Compare the trials of an experiment with the claims of its document: one row a table or a sentence."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from reident.base import ParameterError, Row
from reident.data.datasets import published
from reident.experiments.claims import Claim
from reident.experiments.decide import (
    PublishedTable,
    components,
    datasets_needed,
    decide_sentence,
    decide_table,
    published_error,
)

#: The columns of ``claims.csv``; `_row` gives those of one claim.
COLUMNS = [
    "item", "place", "kind", "verdict", "published", "reproduced", "low", "high", "margin", "verdict_as_printed",
    "cells", "judged", "mean_deviation", "rms", "largest", "deviating", "n", "trials", "look", "datasets_needed",
    "data", "algorithm", "cut", "calibrated", "reason", "since", "note",
]  # fmt: skip


def compare(
    frame: pd.DataFrame,
    claims: Claim | Sequence[Claim],
    results: Mapping[str, Any] | None = None,
    *,
    data: str | None = None,
) -> pd.DataFrame:
    """Compare trials with the claims of a document and return one row a claim.

    A table is judged by `decide.decide_table`, a sentence by `decide.decide_sentence`, both at the looks of the
    claim's schedule: the first decisive look is the verdict. Independent draws are the values of the column
    ``dataset``, or of ``repetition`` in trials without data sets.

    Parameters
    ----------
    frame : DataFrame
        Trials as `sweep` returns them.
    claims : Claim, or sequence of Claim
        As `reident.claims` returns them.
    results : mapping of item to result, optional
        Results of the notebook for claims that `frame` alone does not answer: the value of an exact claim; the effects
        of a sentence (one row a draw, one column a contrast); a pair of frames for a table, trials and published cells,
        where both need a transformation.
    data : {"own", "public", "simulated"}, optional
        The data of the trials; by default what the claims say.

    Returns
    -------
    DataFrame
        The columns `COLUMNS`. `verdict` is agrees, differs, open, undecidable (the published numbers are too imprecise,
        whatever we run), not comparable, or document in error. `datasets_needed` is the number of data sets that the
        document would have needed, in the median cell. `low` and `high` bound the judged quantity: of a table the RMS
        of the true deviations, in margins; of a sentence the contrast nearest to its limit. `verdict_as_printed` takes
        the published numbers as they stand instead of as one draw of the paper's design. `deviating` names cells whose
        deviation is real, which is no verdict. `cut` is the share of searches that hit their limit.

    Raises
    ------
    ParameterError
        If `results` names a claim that there is not.
    """
    claims = [claims] if isinstance(claims, Claim) else claims
    if not isinstance(claims, list | tuple) or not all(isinstance(claim, Claim) for claim in claims):
        raise ParameterError(f"`claims` must be claims, as `reident.claims` returns them, got {claims!r}")
    results = dict(results or {})
    if unknown := results.keys() - {claim.item for claim in claims}:
        raise ParameterError(f"`results` must name claims, got {min(unknown)!r}")
    rows = [_row(frame, claim, results.get(claim.item), data or claim.data) for claim in claims]
    return pd.DataFrame(rows).reindex(columns=COLUMNS)


def _row(frame: pd.DataFrame, claim: Claim, result: Any, data: str) -> Row:
    row = {name: getattr(claim, name) for name in
           ("item", "place", "kind", "published", "reason", "since", "calibrated", "algorithm")}  # fmt: skip
    row |= {"data": data, "margin": claim.margin or np.nan, "verdict": "open", "note": claim.note}
    judged = {"exact": _exact, "sentence": _sentence, "table": _table}[claim.kind](frame, claim, result)
    row |= judged or {"note": "; ".join(filter(None, ["not run", claim.note]))}
    if not judged and claim.needs:
        row |= {"verdict": "not comparable", "note": f"needs {claim.needs}"}
    if row["verdict"] == "differs" and claim.erratum:
        row["verdict"] = "document in error"
    return row


def _exact(_: pd.DataFrame, claim: Claim, result: Any) -> Row:
    if result is None:
        return {}
    result = list(result) if isinstance(result, tuple) else result
    return {"reproduced": result, "verdict": "agrees" if result == claim.published else "differs"}


def _selected(frame: pd.DataFrame, claim: Claim, columns: Sequence[str]) -> pd.DataFrame:
    """Return the trials of a claim, none if they lack a column."""
    columns = [*columns, claim.measure or claim.value]
    if not {*columns} <= {*frame.columns}:
        return frame.iloc[:0].reindex(columns=[*frame.columns, *columns])
    return frame.query(claim.where) if claim.where else frame


def _draws(frame: pd.DataFrame) -> str:
    """Return the column of independent draws: data sets, or repetitions without data sets."""
    return "dataset" if "dataset" in frame else "repetition"


def _cut(frame: pd.DataFrame) -> float:
    return 1 - frame["is_optimal"].astype(float).mean() if "is_optimal" in frame else np.nan


def _sentence(frame: pd.DataFrame, claim: Claim, result: Any) -> Row:
    """Return the columns of a sentence: contrasts within limits."""
    cut = np.nan
    if result is None:
        effect = claim.effect
        trials = _selected(frame, claim, [effect["along"], *effect.get("each", [])]) if effect else frame.iloc[:0]
        if trials.empty:
            return {}
        result, limits = _effects(trials, claim)
        cut = _cut(trials)
    else:
        limits = np.tile(claim.limits or [-claim.margin, claim.margin], (result.shape[1], 1))
    result = result.dropna()
    if result.empty:
        return {}
    low, high = limits.T
    row = {"n": len(result), "cells": result.shape[1], "cut": cut}
    decision = decide_sentence(result.to_numpy(float), low, high, tuple(claim.schedule))
    used = result.iloc[: decision[1]] if decision else result
    mean, error = used.mean().to_numpy(), used.sem().fillna(np.inf).to_numpy()
    worst = np.minimum(mean - low, high - mean).argmin()  # so that a headline may say "at least" and "at most"
    row |= {"reproduced": mean[worst], "low": mean[worst] - 2 * error[worst], "high": mean[worst] + 2 * error[worst]}
    row |= {"deviating": _named(result.columns[(mean < low) | (mean > high)])}
    if decision is None or decision[0] == "open":
        return row | _open(claim, decision[1] if decision else 0)
    return row | {"verdict": decision[0], "look": decision[1]}


def _effects(frame: pd.DataFrame, claim: Claim) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the contrasts of a sentence, one row a draw, and the limits, one row a contrast.

    Rises and falls: no step against the direction by the margin, and the whole way more than the margin along it.
    Constant: all pairs of levels within the margin. Difference: the measure at `high` less that at `low`, within
    `limits`. Level: the mean within the margin of the published number.
    """
    effect, m, draws = claim.effect, claim.margin, _draws(frame)
    form, each = effect["form"], effect.get("each", [])
    means = frame.pivot_table(index=draws, columns=[*each, effect["along"]], values=claim.measure, sort=False)
    means = means.loc[frame[draws].unique()].sort_index(axis=1)
    groups = {key: means[key] for key in means.columns.droplevel(-1).unique()} if each else {(): means}
    contrasts: dict[Any, tuple[pd.Series, float, float]] = {}
    for key, block in groups.items():
        levels = list(block.columns)
        if form in ("rises", "falls") and len(levels) > 1:
            sign = 1 if form == "rises" else -1
            pairs = [(a, b, -m) for a, b in itertools.pairwise(levels)] + [(levels[0], levels[-1], m)]
            contrasts |= {(key, a, b): (sign * (block[b] - block[a]), low, np.inf) for a, b, low in pairs}
        elif form == "constant":
            earlier = [(a, b) for number, b in enumerate(levels) for a in levels[:number]]
            contrasts |= {(key, a, b): (block[b] - block[a], -m, m) for a, b in earlier}
        elif form == "difference" and {effect["high"], effect["low"]} <= {*levels}:
            gap = block[effect["high"]] - block[effect["low"]]
            contrasts[key, effect["high"], effect["low"]] = gap, *(claim.limits or [-m, np.inf])
        elif form == "level":
            contrasts |= {(key, a): (block[a], claim.published - m, claim.published + m) for a in levels}
    if not contrasts:
        return pd.DataFrame(), np.zeros((0, 2))
    values, *limits = zip(*contrasts.values(), strict=True)
    names = [" ".join(str(part) for part in np.hstack([np.atleast_1d(p) for p in name])) for name in contrasts]
    return pd.concat(values, axis=1, keys=names), np.array(limits, dtype=float).T


def _table(frame: pd.DataFrame, claim: Claim, result: Any) -> Row:
    """Return the columns of a published table."""
    trials, printed = (frame, None) if result is None else result
    trials, cells_by, value = _selected(trials, claim, claim.cells), claim.cells, claim.value or claim.measure
    if not cells_by:  # a single number
        trials, cells_by = trials.assign(cell="number"), ["cell"]
        printed = pd.DataFrame({"cell": ["number"], value: [claim.published]})
    elif printed is None and claim.table:
        printed = published(claim.stem, claim.table)
    if trials.empty or printed is None:
        return {}
    printed = printed.query(claim.where) if claim.where else printed
    cells = printed.groupby(cells_by)[value].mean().dropna()
    values, names = _values(trials, claim.measure or claim.value, cells_by, cells.index)
    if not values.size:
        return {}
    cells = cells.loc[names].astype(float)
    n_datasets, repetitions = claim.design["datasets"], int(claim.design["repetitions"])
    table = PublishedTable(
        cells.to_numpy(), np.full(len(cells), claim.margin), n_datasets, repetitions, claim.unit,
        schedule=tuple(claim.schedule),
    )  # fmt: skip
    decision, as_printed = decide_table(values, table), decide_table(values, replace(table, n_datasets=np.inf))
    used = values[: decision[1]] if decision else values
    deviation = np.nanmean(used, axis=(0, 1)) - table.published
    row = {
        "published": cells.mean(), "reproduced": cells.mean() + deviation.mean(), "cells": len(cells),
        "mean_deviation": deviation.mean(), "rms": np.sqrt((deviation**2).mean()),
        "largest": deviation[np.abs(deviation).argmax()], "n": len(values), "trials": int(np.isfinite(used).sum()),
        "cut": _cut(trials),
    }  # fmt: skip
    if decision is None or as_printed is None:  # too few data sets for the first look
        return row | _open(claim, 0)
    verdict, look = decision
    needed = [datasets_needed(e, claim.margin, int(n_datasets)) for e in published_error(components(used), table)]
    row |= {
        "low": verdict.rms[1], "high": verdict.rms[2], "judged": int(verdict.is_supported.sum()), "look": look,
        "datasets_needed": int(np.median(needed)), "deviating": _named(names[verdict.is_nonzero]),
        "verdict": verdict.verdict, "verdict_as_printed": as_printed[0].verdict,
    }  # fmt: skip
    if verdict.verdict == "undecidable" and used.shape[1] == 1 < repetitions:
        note = "one repetition a data set does not show the error of the published numbers"
        return row | {"verdict": "open", "note": "; ".join(filter(None, [note, claim.note]))}
    return row | (_open(claim, look) if row["verdict"] == "open" else {})


def _values(trials: pd.DataFrame, measure: str, cells_by: list[str], cells: pd.Index) -> tuple[np.ndarray, pd.Index]:
    """Return values[data set, repetition, cell], in the order of the trials, and the cells that were run."""
    draws = _draws(trials)
    trials = trials.assign(_repetition=0 if draws == "repetition" else trials.get("repetition", 0))
    wide = trials.pivot_table(index=[draws, "_repetition"], columns=cells_by, values=measure, sort=False)
    wide = wide.loc[:, wide.columns.isin(cells)]
    levels = [trials[name].unique() for name in (draws, "_repetition")]
    values = wide.reindex(pd.MultiIndex.from_product(levels)).to_numpy(float)
    return values.reshape(*map(len, levels), wide.shape[1]), wide.columns


def _open(claim: Claim, look: int) -> Row:
    """Return the columns of an open claim after `look` data sets, with the trials that the next look takes."""
    later = [n for n in claim.schedule if n > look]
    note = f"the {'next' if look else 'first'} look is at {later[0]} data sets" if later else "open at the last look"
    return {"verdict": "open", "look": look or np.nan, "note": "; ".join(filter(None, [note, claim.note]))}


def _named(cells: pd.Index) -> str:
    """Return the names of cells, at most eight of them."""
    names = [" ".join(map(str, cell)) if isinstance(cell, tuple) else str(cell) for cell in cells]
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
