"""What an assessment advises: the steps that are tried together, and the sentence that says what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from reident.methods import find
from reident.rumap import NOTHING, ORIGINAL
from reident.workbench.dataset import Dataset
from reident.workbench.making import Step, settings_of
from reident.workbench.map_plan import Plan, worst_attack
from reident.workbench.searching import MOST_JUDGED, PLACE, Search

__all__ = ["EVERY", "advice_of_maps", "slots_of", "slots_of_chain", "verdict"]

#: The name in the column `attack` of a line that takes all attacks together.
EVERY = "every attack that applies"
#: Sizes of classes tried beyond those of a map.
_LARGER = (50, 100, 200, 400)
#: How many times more records than the limit asks for the cells of grids hold that are tried.
_CROWDS = (1, 3, 8)
#: Sensitive values up to which classes are also tried whose shares are close to those of the file.
_VALUES = 50


def slots_of_chain(chain: Sequence[Mapping[str, Any]]) -> list[list[Step | None]]:
    """Return the steps of a recipe's chain, each with all combinations of its parameters' values."""
    slots: list[list[Step | None]] = []
    for told in chain:
        entry = find(told["method"], "anonymiser")
        given = {name: v if isinstance(v, list) else [v] for name, v in (told.get("parameters") or {}).items()}
        columns = told.get("columns")
        slots.append([Step.of(entry, settings, columns and list(columns)) for settings in settings_of(entry, given)])
    return slots


def slots_of(plans: Mapping[str, Plan], dataset: Dataset, limit: float) -> list[list[Step | None]]:
    """Return what is tried of table and places: the releases of the maps, larger classes, and to withhold them.

    What must be kept is not withheld: `PLACE`, or columns of the table.
    """
    slots: list[list[Step | None]] = []
    must_keep = dataset.must_keep
    for kind in ("table", "places"):
        if kind not in plans:
            continue
        tried = [Step.of(find(one["method"]), one["options"]) for one in plans[kind].settings[1:]]
        tried += _larger(tried, dataset, limit) if kind == "table" else _cells(tried, len(dataset), limit)
        needed = PLACE in must_keep if kind == "places" else bool(set(must_keep) - {PLACE})
        slots.append([*tried, *([] if needed else [None])])
    return slots if len(slots) > 1 else [[one for one in slot if one] for slot in slots]


def _larger(tried: Sequence[Step], dataset: Dataset, limit: float) -> list[Step]:
    """Return larger classes; where a sensitive column has few values, classes whose shares differ little from its own.

    A share that exceeds the file's by t gains t / (1 - share) over guessing: at most the limit if t is that small.
    """
    found: list[Step] = []
    classes = {step.entry.name: step for step in tried if step.entry.classes and "k" in step.settings}
    shares = pd.Series(dtype=float)
    if dataset.fewest:
        shares = pd.DataFrame(dataset.data)[dataset.fewest[0]].value_counts(normalize=True)
    close = float(np.floor(100 * limit * (1 - shares.max())) / 100) if 2 <= len(shares) <= _VALUES else 0.0
    for step in classes.values():
        usual = sorted({int(one.settings["k"]) for one in tried if one.entry.name == step.entry.name})
        sizes = [k for k in _LARGER if k > max(usual) and 2 * k <= len(dataset)]
        found += [Step.of(step.entry, {**step.settings, "k": k}) for k in sizes]
        if close > 0 and "t" in step.settings:
            found += [Step.of(step.entry, {**step.settings, "k": k, "t": close}) for k in [*usual, *sizes]]
    return found


def _cells(tried: Sequence[Step], n: int, limit: float) -> list[Step]:
    """Return grids whose cells hold enough records, or households, that each is one of many: others are left out."""
    least = int(np.ceil(1 / max(limit, 1e-3) - 1e-9))
    grids = [step for step in tried if step.settings.get("min_count") == 1]
    return [
        Step.of(step.entry, {**step.settings, "min_count": times * least})
        for step in grids
        for times in _CROWDS
        if 10 * times * least <= n
    ]


def verdict(found: Search | None, limit: float, tolerate: float, *, left_out: str = "") -> str:
    """Return what was found in a sentence; `left_out` says why nothing was searched."""
    if found is None:
        return f"no release was judged, and nothing is advised{left_out}"
    n, n_records = len(found.before.persons), len(found.original)
    rule = f"at most {tolerate:.0%} of persons above a risk of {limit:.0%}"
    before = round(found.before.share_above_limit * n)
    drawn = (
        f"; judged on a sample of {n_records} of the {round(n_records * found.scale)} records"
        if found.scale > 1
        else ""
    )
    if found.passed:
        last = found.advised
        share = float(last["share_above_limit"])
        left = n_records - len(found.released)
        held = f"; it leaves out {left} of the records" if left else ""
        held += (f"; it withholds {last['withheld']}" if last["withheld"] else "") + drawn
        return (
            f"{last['chain']}: {round(share * n)} of {n} persons above a risk of {limit:.0%}, against {before} in the "
            f"data as they are; the most useful of the releases tried that passes every attack of reident check{held}"
        )
    near = found.nearest
    if near is None:
        return f"no release could be made: nothing is advised ({before} of {n} persons are above {limit:.0%} now)"
    ended = ", where the search ended" if len(found.judged) % MOST_JUDGED == 0 else ""
    alone = ""
    if (part := found.alone) is not None:
        held = f", with {part['withheld']} withheld" if part["withheld"] else ""
        alone = f"; {part['chain']} by itself passes{held}"
    return (
        f"no release tried puts {rule}, and nothing is advised; {near['chain']} comes nearest of "
        f"{len(found.judged)} judged{ended} (at least {float(near['share_above_limit']):.1%} of persons above, most by "
        f"{near['attack']}){alone}{drawn}"
    )


def advice_of_maps(maps: Mapping[str, pd.DataFrame], limit: float, tolerate: float) -> pd.DataFrame:
    """Advise for each use first under all attacks together, since an intruder chooses, then under each."""
    rows = []
    for kind, frame in maps.items():
        for analysis, panels in frame.groupby("analysis", sort=False):
            best = _best(worst_attack(panels), limit, tolerate)
            rows.append({"data": kind, "attack": EVERY, "analysis": analysis, **best})
        for (attack, analysis), panel in frame.groupby(["attack", "analysis"], sort=False):
            rows.append({"data": kind, "attack": attack, "analysis": analysis, **_best(panel, limit, tolerate)})
    return pd.DataFrame(rows)


def _best(panel: pd.DataFrame, limit: float, tolerate: float) -> dict[str, Any]:
    """Return the most useful release that puts no more persons above the limit than tolerated, and a sentence."""
    original = panel[panel["method"] == ORIGINAL]
    releases = panel[~panel["method"].isin([ORIGINAL, NOTHING])]
    below = releases[releases["above_high"] <= tolerate].sort_values("utility", ascending=False, kind="stable")
    rule = f"at most {tolerate:.0%} of persons above a risk of {limit:.0%}"
    if len(original) and original["above_high"].iloc[0] <= tolerate:
        return {"advice": f"the data as they are put {rule} here"}
    if below.empty:
        least = releases.loc[releases["above_high"].idxmin()]
        name = f"{least['method']} {least['value']}".strip()
        return {"advice": f"no release tried puts {rule}; {name} comes nearest ({least['above_high']:.0%} of persons)"}
    row = below.iloc[0]
    before = f", against {original['above'].iloc[0]:.0%} of persons in the data as they are" if len(original) else ""
    chosen = f"{row['method']} with {row['parameter']} = {row['value']}" if row["value"] else str(row["method"])
    sentence = f"{chosen}: the most useful release tried with {rule}{before} (mean success {row['risk']:.0%})"
    return {**row[["method", "parameter", "value", "risk", "risk_high", "above_high", "utility"]], "advice": sentence}
