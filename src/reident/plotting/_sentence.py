"""What a panel of a risk-utility map says without a drawing: nothing to choose by, or the same as another panel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from reident.rumap import NOTHING, ORIGINAL

__all__ = ["sentence"]

#: Risks closer than this are one level (or than a tenth of what the original risks above nothing, if that is less).
_SAME = 0.03

#: A panel that takes more letters to tell is drawn.
_LONG = 150


def sentence(part: pd.DataFrame, earlier: Sequence[tuple[str, pd.DataFrame]]) -> str | None:
    """Say what a panel shows if its risk has at most two levels or repeats an earlier panel's; None: draw it.

    Parameters
    ----------
    part : DataFrame
        The panel's rows, anchors included.
    earlier : sequence of (title, DataFrame)
        The releases of the panels that are drawn before it.
    """
    risks = part.drop_duplicates("method").set_index("method")["risk"]
    same = round(min(_SAME, 0.1 * abs(risks.get(ORIGINAL, 1.0) - risks.get(NOTHING, 0.0))), 4)
    releases = part[~part["method"].isin([ORIGINAL, NOTHING])]
    return _levels(releases, same) or _repeats(releases, earlier, same)


def _levels(releases: pd.DataFrame, same: float) -> str | None:
    order = releases.sort_values("risk", ascending=False)
    level = (-order["risk"].diff().fillna(0) > same).cumsum()
    groups = [group for _, group in order.groupby(level)]
    if len(groups) > 2 or any(np.ptp(group["risk"]) > same for group in groups):
        return None
    told = [f"risk {_span(g['risk'])} at utility {_span(g['utility'])}: {_who(g, releases)}" for g in groups]
    if sum(map(len, told)) > _LONG:
        return None
    return ("Nothing to choose by:", "Two levels of risk:")[len(groups) - 1] + "\n" + ";\n".join(told) + "."


def _repeats(releases: pd.DataFrame, earlier: Sequence[tuple[str, pd.DataFrame]], same: float) -> str | None:
    for title, other in earlier:
        both = releases.merge(other, on=["method", "value"], suffixes=("", "_other"))
        if not len(both) == len(releases) == len(other) or (both["utility"] - both["utility_other"]).abs().max() > 1e-6:
            continue
        differs = both[(both["risk"] - both["risk_other"]).abs() > same]
        if len(differs) <= min(3, len(both) // 2):
            told = [
                f"{row.method} {row.value}: {row.risk:.2f}, not {row.risk_other:.2f}" for row in differs.itertuples()
            ]
            return f"As {title},\nwithin {same:g}" + (" but for\n" + ";\n".join(told) if told else "") + "."
    return None


def _span(values: pd.Series) -> str:
    low, high = f"{values.min():.2f}", f"{values.max():.2f}"
    return low if low == high else f"{low} to {high}"


def _who(group: pd.DataFrame, releases: pd.DataFrame) -> str:
    if len(group) == len(releases):
        return "all releases"
    if len(group) > len(releases) / 2:
        return "all others"
    names = []
    for method, curve in group.groupby("method", sort=False):
        whole = len(curve) == (releases["method"] == method).sum()
        names.append(str(method) if whole else f"{method} {' '.join(curve['value'].astype(str))}")
    return "; ".join(names)
